//! Encoding and decoding of chunks, by the codecs of zarrs. The input is untrusted.

use std::borrow::Cow;
use std::cell::Cell;
use std::num::NonZeroU64;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use zarrs::array::{
    Array, ArrayBytes, ArrayBytesOffsets, ArrayMetadata, ArrayToBytesCodecTraits, BytesRepresentation, CodecOptions,
};

use crate::cells::Cells;
use crate::codec;
use crate::element::Form;
use crate::error::{Error, Result};
use crate::keys::Keys;

thread_local! {
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Returns `true` while this crate catches panics on this thread and converts them to errors. Panic
/// hooks can use this function to skip such panics.
#[must_use]
pub fn is_caught() -> bool {
    IS_CAUGHT.get()
}

/// Codecs for chunks of one shape and type.
pub(crate) struct Coder {
    /// A dummy array of one chunk, never stored.
    array: Array<()>,
    shape: Vec<NonZeroU64>,
    form: Form,
}

impl Coder {
    /// Prepares the codecs.
    ///
    /// # Errors
    /// The metadata is inconsistent, or a codec is unknown.
    pub(crate) fn new(path: &Path, shape: &[u64], form: Form, fill: &[u8], codecs: &[Value]) -> Result<Self> {
        codec::register();
        let metadata = json!({
            "zarr_format": 3,
            "node_type": "array",
            "shape": shape,
            "data_type": form.stored_as(),
            "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": shape } },
            "chunk_key_encoding": Keys::WRITTEN.to_metadata(),
            "fill_value": stored_fill(form, fill)?,
            "codecs": codecs,
        });
        let metadata = serde_json::from_value(metadata).map_err(|error| Error::metadata(path, error.to_string()))?;
        match caught(|| Array::new_with_metadata(Arc::new(()), "/", ArrayMetadata::V3(metadata))) {
            Some(Ok(array)) => {
                Ok(Self { array, shape: shape.iter().filter_map(|len| NonZeroU64::new(*len)).collect(), form })
            }
            Some(Err(error)) => Err(Error::metadata(path, error.to_string())),
            None => Err(Error::metadata(path, "its parts contradict each other")),
        }
    }

    /// Returns the encoded size in bytes, if it is the same for all chunks.
    pub(crate) fn packed_len(&self) -> Option<u64> {
        let array = &self.array;
        let packed = array.codecs().encoded_representation(&self.shape, array.data_type(), array.fill_value());
        match packed {
            Ok(BytesRepresentation::FixedSize(len)) => Some(len),
            _ => None,
        }
    }

    /// Encodes a full chunk.
    ///
    /// # Errors
    /// Returns the reason.
    pub(crate) fn encode(&self, cells: Cells) -> Result<Vec<u8>, String> {
        told(|| {
            let cells = match cells.offsets {
                None => ArrayBytes::new_flen(cells.values),
                Some(offsets) => {
                    let offsets: Vec<usize> = offsets.into_iter().map(|at| usize::try_from(at).unwrap_or(0)).collect();
                    let offsets = ArrayBytesOffsets::new(offsets).map_err(|error| error.to_string())?;
                    ArrayBytes::new_vlen(cells.values, offsets).map_err(|error| error.to_string())?
                }
            };
            let array = &self.array;
            let packed = array.codecs().encode(cells, &self.shape, array.data_type(), array.fill_value(), &options());
            packed.map(Cow::into_owned).map_err(|error| error.to_string())
        })
    }

    /// Decodes a full chunk to cells in row-major order.
    ///
    /// # Errors
    /// Returns the reason.
    pub(crate) fn decode(&self, packed: Vec<u8>) -> Result<Cells, String> {
        let array = &self.array;
        let bytes = told(|| {
            let bytes =
                array.codecs().decode(packed.into(), &self.shape, array.data_type(), array.fill_value(), &options());
            bytes.map(ArrayBytes::into_owned).map_err(|error| error.to_string())
        })?;
        let count = self.shape.iter().map(|len| len.get()).product::<u64>();
        match bytes {
            ArrayBytes::Fixed(values) => {
                let expected = self.form.size().map(|size| size as u64 * count);
                if expected != Some(values.len() as u64) {
                    return Err("unexpected uncompressed size".to_owned());
                }
                Ok(Cells { values: values.into_owned(), offsets: None })
            }
            ArrayBytes::Variable(bytes) => {
                let (values, offsets) = bytes.into_parts();
                let offsets: Vec<u64> = offsets.iter().map(|offset| *offset as u64).collect();
                let is_sound = offsets.windows(2).all(|pair| pair[0] <= pair[1])
                    && offsets.last().is_some_and(|end| *end <= values.len() as u64)
                    && offsets.len() as u64 == count + 1;
                if !is_sound {
                    return Err("unexpected number of cells".to_owned());
                }
                Ok(Cells { values: values.into_owned(), offsets: Some(offsets) })
            }
            ArrayBytes::Optional(_) => Err("unexpected type of cells".to_owned()),
        }
    }
}

/// Runs code of other crates on untrusted input. Converts a panic to an error.
fn told<T>(run: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    caught(run).unwrap_or_else(|| Err("its parts contradict each other".to_owned()))
}

fn caught<T>(run: impl FnOnce() -> T) -> Option<T> {
    let before = IS_CAUGHT.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    IS_CAUGHT.set(before);
    result.ok()
}

fn options() -> CodecOptions {
    // Single-threaded, because each thread processes a separate chunk.
    CodecOptions::default().with_concurrent_target(1)
}

/// Returns the fill value in terms of the storage type of chunks.
fn stored_fill(form: Form, fill: &[u8]) -> Result<Value> {
    let bits = |bytes: &[u8]| {
        let digits: String = bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect();
        json!(format!("0x{digits}"))
    };
    Ok(match form {
        Form::Complex(size) => json!([bits(&fill[..size / 2]), bits(&fill[size / 2..])]),
        Form::Raw(_) | Form::Bytes => json!(fill),
        Form::Text | Form::Utf32(_) => {
            crate::fill::to_json(form, fill).map_err(|why| Error::refused("a field", why))?
        }
        _ => {
            let mut word = [0; 8];
            word[..fill.len().min(8)].copy_from_slice(&fill[..fill.len().min(8)]);
            json!(u64::from_le_bytes(word))
        }
    })
}
