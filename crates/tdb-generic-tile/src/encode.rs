//! From payloads to stored bytes.

use tdb_filters::{BoundPipeline, EncryptionKey, FilterPipeline, Scratch};
use tdb_types::{ByteWriter, Datatype, Encryption, FormatVersion};

use crate::kind::tile_kind;
use crate::{GenericTile, GenericTileError, GenericTileHeader, Result};

/// Writes generic tiles one after the other, with buffers and codec contexts used again.
#[derive(Debug)]
pub struct GenericTileEncoder {
    /// What every tile's header says, but for the sizes.
    header: GenericTileHeader,
    key: Option<EncryptionKey>,
    scratch: Scratch,
    filtered: Vec<u8>,
}

impl GenericTileEncoder {
    /// Tiles as the reference library writes them, filtered by zlib at level 1, with this version in their headers.
    #[must_use]
    pub fn new(version: FormatVersion) -> Self {
        let header = GenericTileHeader {
            version,
            persisted_size: 0,
            tile_size: 0,
            datatype: Datatype::Char,
            cell_size: 1,
            encryption: Encryption::None,
            pipeline_size: 0,
            pipeline: FilterPipeline::generic_tile(),
        };
        Self { header, key: None, scratch: Scratch::new(), filtered: Vec::new() }
    }

    /// The same with another pipeline, which readers honour though no library writes any but the usual one.
    #[must_use]
    pub fn with_pipeline(mut self, pipeline: FilterPipeline) -> Self {
        self.header.pipeline = pipeline;
        self
    }

    /// The same with tiles that are encrypted, as all of an encrypted array are. Each chunk takes a few initialisation
    /// vectors from `ivs`, none of which the key may meet twice; see [`Scratch::with_ivs`].
    #[must_use]
    pub fn encrypting(mut self, key: EncryptionKey, ivs: impl FnMut() -> [u8; 12] + Send + Sync + 'static) -> Self {
        self.header.encryption = Encryption::Aes256Gcm;
        self.key = Some(key);
        self.scratch = self.scratch.with_ivs(ivs);
        self
    }

    /// Appends a tile that holds `payload`.
    ///
    /// # Errors
    /// A filter that this build doesn't have, that can't work on bytes, or that the version can't express. Then nothing is
    /// written.
    pub fn encode(&mut self, payload: &[u8], writer: &mut ByteWriter) -> Result<()> {
        let failed = |source| GenericTileError::Encode { source };
        let mut header = self.header.clone();
        if self.key.is_some() {
            header.pipeline = header.pipeline.encrypted();
        }
        let pipeline = BoundPipeline::bind_with_key(&header.pipeline, tile_kind(&header), self.key.as_ref());
        let pipeline = pipeline.map_err(failed)?;
        self.filtered.clear();
        pipeline.encode_tile(payload, None, &mut self.filtered, &mut self.scratch).map_err(failed)?;
        header.tile_size = payload.len() as u64;
        header.persisted_size = self.filtered.len() as u64;
        header.write(writer).map_err(failed)?;
        writer.bytes(&self.filtered);
        Ok(())
    }
}

impl GenericTile {
    /// Writes a generic tile that holds `payload` as the reference library writes it today: filtered by zlib at level 1,
    /// [the default version](FormatVersion::DEFAULT) in the header. For another version, or for many tiles, there is
    /// [`GenericTileEncoder`].
    ///
    /// # Errors
    /// This build has no zlib.
    pub fn write(payload: &[u8], writer: &mut ByteWriter) -> Result<()> {
        GenericTileEncoder::new(FormatVersion::DEFAULT).encode(payload, writer)
    }
}
