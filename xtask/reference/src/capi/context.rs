//! The context of all calls: configuration, thread pools, last error.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::ptr;

use super::handle::Handle;
use super::symbols::{In, Library, Ptr, Status, Text};
use crate::{Error, Result};

/// A context of the library with its configuration.
pub(crate) struct Context {
    library: &'static Library,
    handle: Handle,
    config: Handle,
    /// The encryption key, for releases with a key argument.
    key: Option<Vec<u8>>,
}

const AES_256_GCM: u32 = 1;

/// Encryption arguments of older releases: the code of AES-256-GCM, and a key with its length.
pub(super) struct KeyArguments {
    pub(super) encryption: u32,
    pub(super) key: In,
    pub(super) length: u32,
}

impl Context {
    pub(crate) fn new(library: &'static Library, settings: &BTreeMap<String, String>) -> Result<Self> {
        let symbols = &library.symbols;
        let (mut config, mut context, mut error) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let allocate = symbols.tiledb_config_alloc.ok_or_else(|| library.missing("tiledb_config_alloc"))?;
        // SAFETY: both pointers point to variables for the results.
        let status = unsafe { allocate(&mut config, &mut error) };
        expect_ok(library, status, error)?;
        let config = Handle::new(config, symbols.tiledb_config_free)?;
        let set = symbols.tiledb_config_set.ok_or_else(|| library.missing("tiledb_config_set"))?;
        for (name, value) in settings {
            let (name, value) = (c_string(name)?, c_string(value)?);
            // SAFETY: both strings end with a zero byte, and the library copies them.
            let status = unsafe { set(config.pointer(), name.as_ptr(), value.as_ptr(), &mut error) };
            expect_ok(library, status, error)?;
        }
        let allocate = symbols.tiledb_ctx_alloc.ok_or_else(|| library.missing("tiledb_ctx_alloc"))?;
        // SAFETY: the configuration is alive, and the library copies it.
        if unsafe { allocate(config.pointer(), &mut context) } != 0 {
            return Err(Error::Library("cannot create the context: a setting has an invalid value".to_owned()));
        }
        let key = settings.get("sm.encryption_key").map(|key| key.clone().into_bytes());
        Ok(Self { library, handle: Handle::new(context, symbols.tiledb_ctx_free)?, config, key })
    }

    /// Returns the key arguments if arrays are encrypted. The pointer refers to memory of the
    /// context.
    pub(super) fn key(&self) -> Option<KeyArguments> {
        self.key.as_ref().map(|key| KeyArguments {
            encryption: AES_256_GCM,
            key: key.as_ptr().cast(),
            length: key.len() as u32,
        })
    }

    pub(super) fn library(&self) -> &'static Library {
        self.library
    }

    pub(super) fn pointer(&self) -> Ptr {
        self.handle.pointer()
    }

    pub(super) fn config(&self) -> Ptr {
        self.config.pointer()
    }

    /// Converts a failed status to the library's error message.
    pub(super) fn check(&self, status: Status) -> Result<()> {
        if status == 0 {
            return Ok(());
        }
        let mut error = ptr::null_mut();
        if let Some(last_error) = self.library.symbols.tiledb_ctx_get_last_error {
            // SAFETY: the pointer points to a variable for the error, which may stay null.
            unsafe { last_error(self.pointer(), &mut error) };
        }
        expect_ok(self.library, status, error)
    }

    /// Returns the contents of a string object.
    pub(super) fn text_of(&self, string: &Handle) -> Result<String> {
        let view = self.library.symbols.tiledb_string_view.ok_or_else(|| self.library.missing("tiledb_string_view"))?;
        let (mut data, mut length): (Text, usize) = (ptr::null(), 0);
        // SAFETY: the string is alive. The view is valid as long as the string, and is copied
        // below.
        let bytes = unsafe {
            self.check(view(string.pointer(), &mut data, &mut length))?;
            if length == 0 { &[] } else { std::slice::from_raw_parts(data.cast::<u8>(), length) }
        };
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }
}

/// Returns the message of an error object if the status is a failure.
fn expect_ok(library: &Library, status: Status, error: Ptr) -> Result<()> {
    if status == 0 {
        return Ok(());
    }
    let Ok(error) = Handle::new(error, library.symbols.tiledb_error_free) else {
        return Err(Error::Library(format!("status {status} without a message")));
    };
    let mut message: Text = ptr::null();
    if let Some(get_message) = library.symbols.tiledb_error_message {
        // SAFETY: the error is alive, and the pointer points to a variable for the message.
        unsafe { get_message(error.pointer(), &mut message) };
    }
    Err(Error::Library(copied(message).unwrap_or_else(|| format!("status {status} without a message"))))
}

/// Copies a string of the library. Returns `None` for a null pointer.
pub(super) fn copied(text: Text) -> Option<String> {
    // SAFETY: the library's strings end with a zero byte, and stay valid until the next call.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// Converts a string for the C interface.
pub(super) fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::Library(format!("{text:?} contains a zero byte")))
}
