//! Metadata of arrays, and macros for metadata of groups. The functions for groups differ only by
//! name.

use std::ptr;

use tdb_types::Datatype;

use super::array::purpose;
use super::calls::call;
use super::context::{Context, c_string};
use super::symbols::{In, Text};
use crate::model::{Bytes, MetadataEntry};
use crate::{Error, Result};

/// Puts entries and deletes keys of an object that is open for writes, with the given functions.
macro_rules! change_entries {
    ($context:expr, $pointer:expr, $put:expr, $delete:expr, $put_one:ident, $delete_one:ident) => {
        for entry in $put {
            let (key, datatype) = (c_string(&entry.key)?, u32::from(entry.datatype.code()));
            let value = $crate::capi::metadata::value_pointer(entry);
            call!($context, $put_one($pointer, key.as_ptr(), datatype, entry.count, value))?;
        }
        for key in $delete {
            call!($context, $delete_one($pointer, c_string(key)?.as_ptr()))?;
        }
    };
}

/// Returns all entries of an object that is open for reads, sorted by key, with the given
/// functions.
macro_rules! all_entries {
    ($context:expr, $pointer:expr, $count:ident, $entry:ident) => {{
        let mut count = 0;
        call!($context, $count($pointer, &mut count)).and_then(|()| {
            let entry = |index| {
                let mut raw = $crate::capi::metadata::RawEntry::default();
                call!(
                    $context,
                    $entry(
                        $pointer,
                        index,
                        &mut raw.key,
                        &mut raw.key_length,
                        &mut raw.datatype,
                        &mut raw.count,
                        &mut raw.value,
                    )
                )?;
                raw.copied()
            };
            (0..count).map(entry).collect::<Result<Vec<MetadataEntry>>>()
        })
    }};
}

pub(super) use {all_entries, change_entries};

impl Context {
    /// Puts entries and deletes keys in one metadata file.
    pub(crate) fn change_metadata(
        &self,
        uri: &str,
        put: &[MetadataEntry],
        delete: &[String],
        timestamp: Option<u64>,
    ) -> Result<()> {
        let array = self.open_to_change(uri, purpose::WRITE, timestamp)?;
        change_entries!(self, array.pointer(), put, delete, tiledb_array_put_metadata, tiledb_array_delete_metadata);
        self.close(&array)
    }

    /// Returns all entries, sorted by key.
    pub(crate) fn metadata(&self, uri: &str, timestamps: Option<(u64, u64)>) -> Result<Vec<MetadataEntry>> {
        let array = self.open_to_read(uri, timestamps)?;
        let entries =
            all_entries!(self, array.pointer(), tiledb_array_get_metadata_num, tiledb_array_get_metadata_from_index)?;
        self.close(&array)?;
        Ok(entries)
    }
}

/// Returns a pointer to the value, or null if the value is empty.
pub(super) fn value_pointer(entry: &MetadataEntry) -> In {
    if entry.value.is_empty() { ptr::null() } else { entry.value.as_ptr().cast() }
}

/// An entry in the library's memory.
pub(super) struct RawEntry {
    pub(super) key: Text,
    pub(super) key_length: u32,
    pub(super) datatype: u32,
    pub(super) count: u32,
    pub(super) value: In,
}

impl Default for RawEntry {
    fn default() -> Self {
        Self { key: ptr::null(), key_length: 0, datatype: 0, count: 0, value: ptr::null() }
    }
}

impl RawEntry {
    pub(super) fn copied(&self) -> Result<MetadataEntry> {
        // SAFETY: the library has just returned this key and its length.
        let key = unsafe { copied_bytes(self.key.cast(), self.key_length as usize) };
        let datatype = u8::try_from(self.datatype).ok().and_then(Datatype::from_code);
        let datatype =
            datatype.ok_or_else(|| Error::Library(format!("metadata of unknown datatype {}", self.datatype)))?;
        // For an empty value the library returns a null pointer and a count of 1.
        let count = if self.value.is_null() { 0 } else { self.count };
        // SAFETY: the library has just returned this value, which has `count` values of this
        // datatype.
        let value = unsafe { copied_bytes(self.value.cast(), count as usize * datatype.size()) };
        Ok(MetadataEntry { key: String::from_utf8_lossy(&key).into_owned(), datatype, count, value: Bytes(value) })
    }
}

/// Copies bytes of the library.
///
/// # Safety
/// `pointer` must be null or point to `length` bytes.
unsafe fn copied_bytes(pointer: *const u8, length: usize) -> Vec<u8> {
    // SAFETY: required from the caller.
    if pointer.is_null() { Vec::new() } else { unsafe { std::slice::from_raw_parts(pointer, length) }.to_vec() }
}
