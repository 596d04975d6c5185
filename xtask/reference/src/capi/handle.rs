//! Owned objects of the library.

use std::ptr;

use super::symbols::{Free, FreeInContext, Ptr};
use crate::{Error, Result};

/// An object of the library, which is freed once.
pub(super) struct Handle {
    pointer: Ptr,
    freeing: Freeing,
}

/// How to free an object.
enum Freeing {
    Alone(Free),
    InContext(FreeInContext, Ptr),
}

impl Handle {
    /// Takes ownership of a new object. `free` frees the object.
    pub(super) fn new(pointer: Ptr, free: Option<Free>) -> Result<Self> {
        match free {
            Some(free) if !pointer.is_null() => Ok(Self { pointer, freeing: Freeing::Alone(free) }),
            _ => Err(no_object()),
        }
    }

    /// Takes ownership of a new object whose free function takes the context. The context must
    /// outlive the object.
    pub(super) fn in_context(pointer: Ptr, free: Option<FreeInContext>, context: Ptr) -> Result<Self> {
        match free {
            Some(free) if !pointer.is_null() => Ok(Self { pointer, freeing: Freeing::InContext(free, context) }),
            _ => Err(no_object()),
        }
    }

    pub(super) fn pointer(&self) -> Ptr {
        self.pointer
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the library returned the pointer for this function, and the handle is dropped
        // once.
        match self.freeing {
            Freeing::Alone(free) => unsafe { free(&mut self.pointer) },
            // SAFETY: as above, and the context outlives the object.
            Freeing::InContext(free, context) => {
                unsafe { free(context, &mut self.pointer) };
            }
        }
        self.pointer = ptr::null_mut();
    }
}

fn no_object() -> Error {
    Error::Library("the library returned no object, or cannot free it".to_owned())
}
