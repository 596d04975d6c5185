//! The chunks of a Zarr array, read and written.

use std::borrow::Cow;
use std::cell::Cell;
use std::fs;
use std::num::NonZeroU64;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use tdb_array::tdb_types::saturating_len;
use zarrs::array::{
    Array, ArrayBytes, ArrayBytesOffsets, ArrayMetadata, ArrayShardedReadableExt, ArrayShardedReadableExtCache,
    ArrayToBytesCodecTraits, CodecOptions,
};

use crate::cells::Cells;
use crate::codec::{self, MAX_UNBOUNDED};
use crate::codecs;
use crate::element::Form;
use crate::error::{Error, Result};
use crate::keys::Keys;
use crate::node::ArrayNode;
use crate::store::Folder;

/// A chunk of more bytes isn't held in memory.
pub(crate) const MAX_CHUNK: u64 = 1 << 30;
/// A shard of more chunks isn't read.
const MAX_IN_SHARD: u64 = 1 << 22;
/// Indices of shards that are kept, and how many chunks they may have together, each of 16 bytes. One is always kept.
const KEPT_SHARDS: u64 = 16;
const KEPT_CHUNKS: u64 = 1 << 20;
/// What a cell of any length takes beside its bytes: where it lies, twice.
const VAR_OVERHEAD: u64 = 16;

thread_local! {
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread is caught by this crate, and told as an error: for those who have hooks that tell of panics.
#[must_use]
pub fn is_caught() -> bool {
    IS_CAUGHT.get()
}

/// The chunks of an array: those within shards, if it has shards.
pub(crate) struct Chunks {
    path: PathBuf,
    array: Array<Folder>,
    /// Of an array of shards: indices, and how many of them are kept.
    cache: Option<(ArrayShardedReadableExtCache, usize)>,
    keys: Keys,
    /// Of a single chunk.
    pub(crate) shape: Vec<u64>,
    form: Form,
}

impl Chunks {
    /// Checks what metadata say, and gets the codecs ready.
    ///
    /// # Errors
    /// The metadata contradict themselves, or there is no such codec.
    pub(crate) fn open(node: &ArrayNode) -> Result<Self> {
        codec::register();
        let unsupported = |why: String| Error::unsupported(&node.path, why);
        let shape = match codecs::shape_in_shards(&node.codecs) {
            Some(shape) => shape,
            None => node.chunks.clone(),
        };
        let elements = |shape: &[u64]| shape.iter().try_fold(1, |count: u64, len| count.checked_mul(*len));
        let size = match node.element.form.size() {
            Some(size) => size as u64,
            None => VAR_OVERHEAD.max(node.fill.len() as u64),
        };
        let bytes = elements(&shape).and_then(|count| count.checked_mul(size));
        if bytes.is_none_or(|bytes| bytes > MAX_CHUNK) {
            let why = format!("its chunks of {shape:?} have more than the {MAX_CHUNK} bytes that are held in memory");
            return Err(unsupported(why));
        }
        let is_divided = shape.len() == node.chunks.len()
            && shape.iter().zip(&node.chunks).all(|(inner, outer)| *inner > 0 && outer.is_multiple_of(*inner));
        let in_shard = elements(&node.chunks).zip(elements(&shape)).map(|(outer, inner)| outer / inner.max(1));
        if !is_divided || in_shard.is_none_or(|count| count > MAX_IN_SHARD) {
            let why =
                format!("its shards of {:?} don't consist of up to {MAX_IN_SHARD} chunks of {shape:?}", node.chunks);
            return Err(unsupported(why));
        }
        let codecs = codecs::bounded(&node.codecs).map_err(unsupported)?;
        let is_sharded = shape != node.chunks || codecs::shape_in_shards(&node.codecs).is_some();
        let array = open(&node.path, &node.shape, &node.chunks, node.element.form, &node.fill, &codecs, &node.keys)?;
        let kept = (KEPT_CHUNKS / in_shard.unwrap_or(1).max(1)).clamp(1, KEPT_SHARDS);
        let cache = is_sharded.then(|| (ArrayShardedReadableExtCache::new(&array), saturating_len(kept)));
        Ok(Self { path: node.path.clone(), array, cache, keys: node.keys.clone(), shape, form: node.element.form })
    }

    /// The cells of a chunk, row by row, and full; none if nobody has written it.
    ///
    /// # Errors
    /// It can't be read.
    pub(crate) fn read(&self, chunk: &[u64]) -> Result<Option<Cells>> {
        let options = options();
        let bytes = self.caught(chunk, || match &self.cache {
            None => self.array.retrieve_chunk_if_exists_opt::<ArrayBytes<'static>>(chunk, &options),
            Some((cache, kept)) => {
                if cache.len() > *kept {
                    cache.clear();
                }
                self.array.retrieve_subchunk_opt::<ArrayBytes<'static>>(cache, chunk, &options).map(Some)
            }
        })?;
        let count = self.shape.iter().product::<u64>();
        let wrong = |why: &str| Error::Chunk { path: self.path.clone(), chunk: chunk.to_vec(), why: why.to_owned() };
        Ok(match bytes {
            None => None,
            Some(ArrayBytes::Fixed(values)) => {
                let expected = self.form.size().map(|size| size as u64 * count);
                if expected != Some(values.len() as u64) {
                    return Err(wrong("it unpacks to another number of bytes than it should"));
                }
                Some(Cells { values: values.into_owned(), offsets: None })
            }
            Some(ArrayBytes::Variable(bytes)) => {
                let (values, offsets) = bytes.into_parts();
                let offsets: Vec<u64> = offsets.iter().map(|offset| *offset as u64).collect();
                let is_sound = offsets.windows(2).all(|pair| pair[0] <= pair[1])
                    && offsets.last().is_some_and(|end| *end <= values.len() as u64)
                    && offsets.len() as u64 == count + 1;
                if !is_sound {
                    return Err(wrong("its cells aren't as many as there should be"));
                }
                Some(Cells { values: values.into_owned(), offsets: Some(offsets) })
            }
            Some(ArrayBytes::Optional(_)) => return Err(wrong("its cells are of another type")),
        })
    }

    /// Writes the cells of a full chunk.
    ///
    /// # Errors
    /// They can't be packed, or the file can't be written.
    pub(crate) fn write(&self, chunk: &[u64], cells: Cells) -> Result<()> {
        let packed = self.caught(chunk, || {
            let cells = match cells.offsets {
                None => ArrayBytes::new_flen(cells.values),
                Some(offsets) => {
                    let offsets: Vec<usize> = offsets.into_iter().map(|at| usize::try_from(at).unwrap_or(0)).collect();
                    let offsets = ArrayBytesOffsets::new(offsets).map_err(|error| error.to_string())?;
                    ArrayBytes::new_vlen(cells.values, offsets).map_err(|error| error.to_string())?
                }
            };
            let shape: Vec<NonZeroU64> = self.shape.iter().filter_map(|len| NonZeroU64::new(*len)).collect();
            let (array, options) = (&self.array, options());
            let packed = array.codecs().encode(cells, &shape, array.data_type(), array.fill_value(), &options);
            packed.map(Cow::into_owned).map_err(|error| error.to_string())
        })?;
        let path = self.path.join(self.keys.path(chunk));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Error::io(folder))?;
        }
        fs::write(&path, packed).map_err(Error::io(&path))
    }

    /// Runs what others' code does with bytes that nobody has checked. A panic is an error of the chunk as any other.
    fn caught<T, E: std::fmt::Display>(&self, chunk: &[u64], run: impl FnOnce() -> Result<T, E>) -> Result<T> {
        let why = match caught(run) {
            Some(Ok(value)) => return Ok(value),
            Some(Err(error)) => error.to_string(),
            None => "its parts contradict one another".to_owned(),
        };
        Err(Error::Chunk { path: self.path.clone(), chunk: chunk.to_vec(), why })
    }
}

fn caught<T>(run: impl FnOnce() -> T) -> Option<T> {
    let before = IS_CAUGHT.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    IS_CAUGHT.set(before);
    result.ok()
}

fn options() -> CodecOptions {
    // Chunks are many, and each of them small: threads take one each.
    CodecOptions::default().with_concurrent_target(1)
}

fn open(
    path: &Path,
    shape: &[u64],
    chunks: &[u64],
    form: Form,
    fill: &[u8],
    codecs: &[Value],
    keys: &Keys,
) -> Result<Array<Folder>> {
    let metadata = json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": form.stored_as(),
        "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": chunks } },
        "chunk_key_encoding": keys.to_metadata(),
        "fill_value": stored_fill(form, fill)?,
        "codecs": codecs,
    });
    let metadata =
        ArrayMetadata::V3(serde_json::from_value(metadata).map_err(|error| Error::metadata(path, error.to_string()))?);
    // What is packed is seldom longer than what it was.
    let folder = Arc::new(Folder::new(path, MAX_CHUNK + MAX_CHUNK / 4 + MAX_UNBOUNDED as u64 / 4));
    match caught(|| Array::new_with_metadata(folder, "/", metadata)) {
        Some(Ok(array)) => Ok(array),
        Some(Err(error)) => Err(Error::metadata(path, error.to_string())),
        None => Err(Error::metadata(path, "its parts contradict one another")),
    }
}

/// The fill value in the words of the type that chunks are stored as.
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
