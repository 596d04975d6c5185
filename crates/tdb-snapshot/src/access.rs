//! Limits, key and environment for reading an array's files.

use tdb_filters::{BoundPipeline, EncryptionKey, FilterError, FilterPipeline, TileKind};
use tdb_generic_tile::{GenericTileDecoder, GenericTileEncoder};
use tdb_storage::Storage;
use tdb_types::{FormatVersion, Limits};

use crate::tiles::BlockRoom;
use crate::{Environment, TimeRange};

/// The means to read an array's files: limits, encryption key, and source of time and random bytes.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Bounds on memory allocated because of sizes stated in files.
    pub limits: Limits,
    /// The key, if the array is encrypted.
    pub key: Option<EncryptionKey>,
    /// The clock and the source of random bytes.
    pub environment: Environment,
    /// The remaining capacity for the coordinate bounds of blocks of cells.
    pub(crate) blocks: BlockRoom,
}

impl Access {
    /// Returns a decoder for the generic tiles of the array.
    pub fn decoder(&self) -> GenericTileDecoder {
        GenericTileDecoder::new(self.limits).with_key(self.key.clone())
    }

    /// Reads a file that consists of a generic tile.
    ///
    /// # Errors
    /// The file cannot be read, or exceeds the limit.
    pub fn read(&self, storage: &dyn Storage, path: &str) -> crate::Result<Vec<u8>> {
        Ok(storage.read_up_to(path, self.limits.generic_tile_bytes)?)
    }

    /// Returns the maximum size of a file made of generic tiles. Filters can enlarge incompressible
    /// data a little.
    pub(crate) fn most_stored(&self) -> u64 {
        let most = self.limits.generic_tile_bytes;
        most.saturating_add(most / 16).saturating_add(64 << 10)
    }

    /// Returns an encoder for new generic tiles of the array, with this version in the header.
    /// Encrypts if the array has a key.
    ///
    /// # Errors
    /// Random bytes for encryption are not available.
    pub fn encoder(&self, version: FormatVersion) -> crate::Result<GenericTileEncoder> {
        let encoder = GenericTileEncoder::new(version);
        Ok(match &self.key {
            Some(key) => encoder.encrypting(key.clone(), self.environment.random_ivs()?),
            None => encoder,
        })
    }

    /// Returns the time range `asked`, or by default all times up to now. By default, files with
    /// future timestamps are invisible.
    ///
    /// # Errors
    /// The clock cannot be read.
    pub fn time(&self, asked: Option<TimeRange>) -> crate::Result<TimeRange> {
        asked.map_or_else(|| self.environment.now().map(TimeRange::until), Ok)
    }

    /// Binds a filter pipeline to tiles of cells. Adds decryption and encryption if the array has a
    /// key.
    ///
    /// # Errors
    /// A filter does not support these tiles.
    pub fn bind(&self, filters: &FilterPipeline, kind: TileKind) -> Result<BoundPipeline, FilterError> {
        match &self.key {
            Some(key) => BoundPipeline::bind_with_key(&filters.encrypted(), kind, Some(key)),
            None => BoundPipeline::bind(filters, kind),
        }
    }
}
