//! From payloads to stored bytes.

use std::result::Result as StdResult;

use tdb_filters::{BoundPipeline, EncryptionKey, FilterError, FilterPipeline, Scratch};
use tdb_types::{ByteWriter, Datatype, Encryption, FormatVersion};

use crate::filtered::Filtered;
use crate::kind::tile_kind;
use crate::work::Work;
use crate::{GenericTile, GenericTileError, GenericTileHeader, Result};

/// Writes generic tiles one after the other, with buffers and codec contexts used again.
#[derive(Debug)]
pub struct GenericTileEncoder {
    /// What every tile's header says, but for the sizes.
    header: GenericTileHeader,
    key: Option<EncryptionKey>,
    work: Work,
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
        Self { work: Work::take(&header), header, key: None }
    }

    /// The same with another pipeline, which readers honour though no library writes any but the usual one.
    #[must_use]
    pub fn with_pipeline(mut self, pipeline: FilterPipeline) -> Self {
        self.header.pipeline = pipeline;
        self.work = Work { scratch: std::mem::take(&mut self.work.scratch), ..Work::default() };
        self
    }

    /// The same with tiles that are encrypted, as all of an encrypted array are. Each chunk takes a few initialisation
    /// vectors from `ivs`, none of which the key may meet twice; see [`Scratch::with_ivs`].
    #[must_use]
    pub fn encrypting(mut self, key: EncryptionKey, ivs: impl FnMut() -> [u8; 12] + Send + Sync + 'static) -> Self {
        self.header.encryption = Encryption::Aes256Gcm;
        self.key = Some(key);
        self.work = Work { scratch: Scratch::new().with_ivs(ivs), ..Work::default() };
        self
    }

    /// Appends a tile that holds `payload`.
    ///
    /// # Errors
    /// A filter that this build doesn't have, that can't work on bytes, or that the version can't express. Then nothing is
    /// written.
    pub fn encode(&mut self, payload: &[u8], writer: &mut ByteWriter) -> Result<()> {
        self.filter(payload).map_err(|source| GenericTileError::Encode { source })?;
        let mut header = self.header.clone();
        if self.key.is_some() {
            header.pipeline = header.pipeline.encrypted();
        }
        header.tile_size = payload.len() as u64;
        header.persisted_size = self.work.filtered.tile().len() as u64;
        header.write(writer).map_err(|source| GenericTileError::Encode { source })?;
        writer.bytes(self.work.filtered.tile());
        Ok(())
    }

    /// Filters a payload; [`Filtered::tile`] then has what came of it.
    fn filter(&mut self, payload: &[u8]) -> StdResult<(), FilterError> {
        // Of encrypted tiles no two are alike.
        let is_kept = self.key.is_none() && payload.len() <= Filtered::LARGEST;
        if is_kept && self.work.filtered.find(payload) {
            return Ok(());
        }
        let pipeline = match &mut self.work.pipeline {
            Some(pipeline) => pipeline,
            none => none.insert(bind(&self.header, self.key.as_ref())?),
        };
        pipeline.encode_tile(payload, None, self.work.filtered.start(), &mut self.work.scratch)?;
        if is_kept {
            self.work.filtered.keep(payload);
        }
        Ok(())
    }
}

impl Drop for GenericTileEncoder {
    fn drop(&mut self) {
        if self.key.is_none() {
            std::mem::take(&mut self.work).give_back(&self.header);
        }
    }
}

fn bind(header: &GenericTileHeader, key: Option<&EncryptionKey>) -> StdResult<BoundPipeline, FilterError> {
    let pipeline = match key {
        Some(_) => header.pipeline.encrypted(),
        None => header.pipeline.clone(),
    };
    BoundPipeline::bind_with_key(&pipeline, tile_kind(header), key)
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
