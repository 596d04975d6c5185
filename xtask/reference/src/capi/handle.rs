//! Objects of the library, freed once.

use std::ptr;

use super::symbols::{Free, FreeInContext, Ptr};
use crate::{Error, Result};

/// An object of the library.
pub(super) struct Handle {
    pointer: Ptr,
    freeing: Freeing,
}

/// How an object is freed.
enum Freeing {
    Alone(Free),
    InContext(FreeInContext, Ptr),
}

impl Handle {
    /// Takes over an object that the library has just made, with the function that frees it.
    pub(super) fn new(pointer: Ptr, free: Option<Free>) -> Result<Self> {
        match free {
            Some(free) if !pointer.is_null() => Ok(Self { pointer, freeing: Freeing::Alone(free) }),
            _ => Err(no_object()),
        }
    }

    /// The same for an object whose function wants the context, which must outlive it.
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
        // SAFETY: the pointer came from the library together with this function, and is dropped once.
        match self.freeing {
            Freeing::Alone(free) => unsafe { free(&mut self.pointer) },
            // SAFETY: as above; the context outlives the object.
            Freeing::InContext(free, context) => {
                unsafe { free(context, &mut self.pointer) };
            }
        }
        self.pointer = ptr::null_mut();
    }
}

fn no_object() -> Error {
    Error::Library("the library returned no object, or can't free it".to_owned())
}
