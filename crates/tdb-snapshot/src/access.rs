//! What reading an array's files takes apart from their bytes.

use tdb_filters::{BoundPipeline, EncryptionKey, FilterError, FilterPipeline, TileKind};
use tdb_generic_tile::{GenericTileDecoder, GenericTileEncoder};
use tdb_storage::Storage;
use tdb_types::{FormatVersion, Limits};

use crate::tiles::BlockRoom;
use crate::{Environment, TimeRange};

/// The limits that reading keeps to, the key of an encrypted array, and where the time and random bytes come from.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Bounds on what files may make a reader allocate.
    pub limits: Limits,
    /// The key, if the array is encrypted.
    pub key: Option<EncryptionKey>,
    /// The clock and the source of random bytes.
    pub environment: Environment,
    /// For what reads find out about parts of tiles.
    pub(crate) blocks: BlockRoom,
}

impl Access {
    /// For the generic tiles of the array.
    pub fn decoder(&self) -> GenericTileDecoder {
        let decoder = GenericTileDecoder::new(self.limits);
        match &self.key {
            Some(key) => decoder.with_key(key.clone()),
            None => decoder,
        }
    }

    /// The bytes of a file that is one generic tile.
    pub fn read(&self, storage: &dyn Storage, path: &str) -> crate::Result<Vec<u8>> {
        Ok(storage.read_up_to(path, self.limits.generic_tile_bytes)?)
    }

    /// Most bytes that what is made of generic tiles may have as it is stored: filters make what doesn't compress a little
    /// longer.
    pub(crate) fn most_stored(&self) -> u64 {
        let most = self.limits.generic_tile_bytes;
        most.saturating_add(most / 16).saturating_add(64 << 10)
    }

    /// For new generic tiles of the array, with this version in their headers.
    pub fn encoder(&self, version: FormatVersion) -> crate::Result<GenericTileEncoder> {
        let encoder = GenericTileEncoder::new(version);
        Ok(match &self.key {
            Some(key) => encoder.encrypting(key.clone(), self.environment.random_ivs()?),
            None => encoder,
        })
    }

    /// The range of time that was asked for; by default everything up to now, so that what is dated in the future stays
    /// invisible.
    pub fn time(&self, asked: Option<TimeRange>) -> crate::Result<TimeRange> {
        asked.map_or_else(|| self.environment.now().map(TimeRange::until), Ok)
    }

    /// For tiles of cells under these filters.
    pub fn bind(&self, filters: &FilterPipeline, kind: TileKind) -> Result<BoundPipeline, FilterError> {
        match &self.key {
            Some(key) => BoundPipeline::bind_with_key(&filters.encrypted(), kind, Some(key)),
            None => BoundPipeline::bind(filters, kind),
        }
    }
}
