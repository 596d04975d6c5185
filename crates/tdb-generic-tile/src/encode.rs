//! Encoding of generic tiles.

use std::result::Result as StdResult;

use tdb_filters::{BoundPipeline, EncryptionKey, FilterError, FilterPipeline, Scratch};
use tdb_types::{ByteWriter, Datatype, Encryption, FormatVersion};

use crate::filtered::Filtered;
use crate::kind::tile_kind;
use crate::work::Work;
use crate::{GenericTile, GenericTileError, GenericTileHeader, Result};

/// An encoder of generic tiles that reuses buffers and codec contexts.
#[derive(Debug)]
pub struct GenericTileEncoder {
    /// The header of every tile, except for the sizes.
    header: GenericTileHeader,
    key: Option<EncryptionKey>,
    work: Work,
}

impl GenericTileEncoder {
    /// Creates an encoder of tiles like those of the reference library: filtered by zlib at level
    /// 1, with this version in the header.
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

    /// Replaces the default pipeline. Readers accept any pipeline of up to
    /// [`GenericTileHeader::MAX_FILTERS`] filters, but the reference library writes only the
    /// default.
    #[must_use]
    pub fn with_pipeline(mut self, pipeline: FilterPipeline) -> Self {
        self.header.pipeline = pipeline;
        self.work = Work { scratch: std::mem::take(&mut self.work.scratch), ..Work::default() };
        self
    }

    /// Encrypts the tiles, as required in an encrypted array.
    ///
    /// `ivs` supplies an initialization vector for each part of a chunk. A vector must never repeat
    /// with the same key. See [`Scratch::with_ivs`].
    #[must_use]
    pub fn encrypting(mut self, key: EncryptionKey, ivs: impl FnMut() -> [u8; 12] + Send + Sync + 'static) -> Self {
        self.header.encryption = Encryption::Aes256Gcm;
        self.key = Some(key);
        self.work = Work { scratch: Scratch::new().with_ivs(ivs), ..Work::default() };
        self
    }

    /// Appends a tile with this payload to `writer`.
    ///
    /// # Errors
    /// Fails without writing if the build does not include a filter, a filter does not support
    /// `char` cells, or the version does not support a filter. Also fails if the pipeline has an
    /// encryption filter but the encoder has no key.
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

    /// Filters a payload. [`Filtered::tile`] then returns the result.
    fn filter(&mut self, payload: &[u8]) -> StdResult<(), FilterError> {
        // Encrypted tiles are never cached, since each needs new initialization vectors.
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
    /// Writes a generic tile with this payload, in the form that current releases of the reference
    /// library write.
    ///
    /// The tile is filtered by zlib at level 1, with [the default version](FormatVersion::DEFAULT)
    /// in the header. For another version or for many tiles, use a [`GenericTileEncoder`].
    ///
    /// # Errors
    /// Fails if the build does not include zlib.
    pub fn write(payload: &[u8], writer: &mut ByteWriter) -> Result<()> {
        GenericTileEncoder::new(FormatVersion::DEFAULT).encode(payload, writer)
    }
}
