//! Reading and writing of the chunks of a Zarr array.

use std::fs;
use std::path::PathBuf;

use crate::cells::Cells;
use crate::codec::MAX_UNBOUNDED;
use crate::codecs;
use crate::coder::Coder;
use crate::error::{Error, Result};
use crate::files;
use crate::keys::Keys;
use crate::node::ArrayNode;
use crate::shards::Shards;

/// Maximum chunk size in bytes, uncompressed.
pub(crate) const MAX_CHUNK: u64 = 1 << 30;
/// Maximum chunk size in bytes, compressed. Compression seldom increases the size.
const MAX_PACKED: u64 = MAX_CHUNK + MAX_CHUNK / 4 + MAX_UNBOUNDED as u64 / 4;
/// Maximum number of chunks per shard.
const MAX_IN_SHARD: u64 = 1 << 22;
/// Memory overhead in bytes of a cell of variable length: two positions.
const VAR_OVERHEAD: u64 = 16;

/// The chunks of an array, including those within shards.
pub(crate) struct Chunks {
    path: PathBuf,
    keys: Keys,
    coder: Coder,
    shards: Option<Shards>,
    /// Shape of a chunk.
    pub(crate) shape: Vec<u64>,
}

impl Chunks {
    /// Checks the metadata, and prepares the codecs.
    ///
    /// # Errors
    /// The metadata is inconsistent, a codec is unknown, or the chunks or shards are too large.
    pub(crate) fn open(node: &ArrayNode) -> Result<Self> {
        let unsupported = |why: String| Error::unsupported(&node.path, why);
        let codecs = codecs::bounded(&node.codecs).map_err(unsupported)?;
        let sharding = codecs::sharding(&codecs).map_err(|why| Error::metadata(&node.path, why))?;
        let shape = sharding.as_ref().map_or(&node.chunks, |sharding| &sharding.shape).clone();
        check_size(node, &shape)?;
        let codecs = sharding.as_ref().map_or(codecs, |sharding| sharding.codecs.clone());
        let coder = Coder::new(&node.path, &shape, node.element.form, &node.fill, &codecs)?;
        let shards = match &sharding {
            None => None,
            Some(sharding) => Some(Shards::new(&node.path, sharding, in_shard(node, &shape)?)?),
        };
        Ok(Self { path: node.path.clone(), keys: node.keys.clone(), coder, shards, shape })
    }

    /// Reads the cells of a full chunk, in row-major order. Returns `None` if the chunk does not
    /// exist.
    ///
    /// # Errors
    /// The chunk is unreadable.
    pub(crate) fn read(&self, chunk: &[u64]) -> Result<Option<Cells>> {
        let packed = match &self.shards {
            None => {
                let path = self.path.join(self.keys.path(chunk));
                files::read(&path, MAX_PACKED).map_err(|error| self.wrong(chunk, error.to_string()))?
            }
            Some(shards) => {
                let (shard, within) = shards.shard_of(chunk);
                let path = self.path.join(self.keys.path(&shard));
                let read = shards.read(&path, (&shard, within), MAX_PACKED);
                read.map_err(|why| self.wrong(chunk, format!("{}: {why}", path.display())))?
            }
        };
        let cells = packed.map(|packed| self.coder.decode(packed)).transpose();
        cells.map_err(|why| self.wrong(chunk, why))
    }

    /// Calls `each` for the chunks in a file: a single chunk, or the existing chunks of a shard.
    ///
    /// # Errors
    /// The index of a shard is unreadable, or `each` fails.
    pub(crate) fn each_in_file(&self, file: &[u64], mut each: impl FnMut(&[u64]) -> Result<()>) -> Result<()> {
        let Some(shards) = &self.shards else { return each(file) };
        let path = self.path.join(self.keys.path(file));
        let damaged = |why: String| Error::Shard { path: path.clone(), why };
        shards.each_chunk(&path, file, each).map_err(damaged)?
    }

    /// Writes the cells of a full chunk.
    ///
    /// # Errors
    /// Encoding fails, or the file cannot be written.
    pub(crate) fn write(&self, chunk: &[u64], cells: Cells) -> Result<()> {
        let packed = self.coder.encode(cells).map_err(|why| self.wrong(chunk, why))?;
        let path = self.path.join(self.keys.path(chunk));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Error::io(folder))?;
        }
        fs::write(&path, packed).map_err(Error::io(&path))
    }

    fn wrong(&self, chunk: &[u64], why: String) -> Error {
        Error::Chunk { path: self.path.clone(), chunk: chunk.to_vec(), why }
    }
}

fn elements(shape: &[u64]) -> Option<u64> {
    shape.iter().try_fold(1, |count: u64, len| count.checked_mul(*len))
}

/// Checks that a chunk fits into memory.
fn check_size(node: &ArrayNode, shape: &[u64]) -> Result<()> {
    let size = match node.element.form.size() {
        Some(size) => size as u64,
        None => VAR_OVERHEAD.max(node.fill.len() as u64),
    };
    let bytes = elements(shape).and_then(|count| count.checked_mul(size));
    if bytes.is_none_or(|bytes| bytes > MAX_CHUNK) {
        let why = format!("chunks of {shape:?} exceed the limit of {MAX_CHUNK} bytes in memory");
        return Err(Error::unsupported(&node.path, why));
    }
    Ok(())
}

/// Returns the number of chunks per shard along each dimension.
fn in_shard(node: &ArrayNode, shape: &[u64]) -> Result<Vec<u64>> {
    let divided = node.chunks.iter().zip(shape).map(|(shard, chunk)| {
        let is_whole = *chunk > 0 && shard.is_multiple_of(*chunk);
        is_whole.then(|| shard / chunk)
    });
    let divided: Option<Vec<u64>> = divided.collect();
    let divided = divided.filter(|divided| {
        shape.len() == node.chunks.len() && elements(divided).is_some_and(|count| count <= MAX_IN_SHARD)
    });
    divided.ok_or_else(|| {
        let why =
            format!("shards of {:?} cannot be divided into up to {MAX_IN_SHARD} chunks of {shape:?}", node.chunks);
        Error::unsupported(&node.path, why)
    })
}
