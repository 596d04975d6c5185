//! Objects of the library, freed once.

use std::ptr;

use super::symbols::{Free, Ptr};
use crate::{Error, Result};

/// An object of the library.
pub(super) struct Handle {
    pointer: Ptr,
    free: Free,
}

impl Handle {
    /// Takes over an object that the library has just made, with the function that frees it.
    pub(super) fn new(pointer: Ptr, free: Option<Free>) -> Result<Self> {
        match free {
            Some(free) if !pointer.is_null() => Ok(Self { pointer, free }),
            _ => Err(Error::Library("the library returned no object, or can't free it".to_owned())),
        }
    }

    pub(super) fn pointer(&self) -> Ptr {
        self.pointer
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the pointer came from the library together with this function, and is dropped once.
        unsafe { (self.free)(&mut self.pointer) };
        self.pointer = ptr::null_mut();
    }
}
