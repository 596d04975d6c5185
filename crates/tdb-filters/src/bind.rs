//! A pipeline bound to a kind of tile.

mod decode;
mod encode;
mod stages;

use tdb_types::{Datatype, Feature, FormatVersion};

use crate::chunking::{Chunking, is_text};
use crate::stage::Stage;
use crate::stage::string_codec::StringCodec;
use crate::{EncryptionKey, Filter, FilterError, FilterPipeline, TileKind, TileRole};

/// A pipeline bound to a kind of tile: which datatype reaches which filter, which filters have nothing to do, how the
/// tile is cut into chunks; all decided once. Cheap to share between threads; each brings its own
/// [`Scratch`](crate::Scratch).
#[derive(Clone, Debug)]
pub struct BoundPipeline {
    kind: TileKind,
    /// The filters that have something to do, in the order of the pipeline.
    stages: Vec<Stage>,
    /// The first of them, if it can work on whole strings.
    strings: Option<StringCodec>,
    /// Whether it does, by the version's rule.
    carries_offsets: bool,
    chunking: Chunking,
    /// Bytes of a value and number of dimensions of coordinates that are stored one dimension after the other.
    transposed: Option<(usize, usize)>,
    verify: bool,
}

impl BoundPipeline {
    /// Binds `pipeline` to tiles of `kind`.
    ///
    /// A filter that this library or this build can't run is refused when cells have to go through it, not here.
    ///
    /// # Errors
    /// A filter that can't work on the datatype that reaches it, or an option without a meaning.
    pub fn bind(pipeline: &FilterPipeline, kind: TileKind) -> Result<Self, FilterError> {
        Self::bind_with_key(pipeline, kind, None)
    }

    /// Binds `pipeline` to tiles of `kind` in an array encrypted with `key`.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    pub fn bind_with_key(
        pipeline: &FilterPipeline,
        kind: TileKind,
        key: Option<&EncryptionKey>,
    ) -> Result<Self, FilterError> {
        let cell_size = cell_size(&kind)?;
        let stages = stages::stages(pipeline, &kind, cell_size, key)?;
        let strings = string_codec(pipeline, &kind);
        Ok(Self {
            chunking: Chunking::new(pipeline, &kind, chunk_unit(&kind, cell_size)),
            transposed: transposed(pipeline, &kind),
            carries_offsets: strings.is_some_and(|codec| carries_offsets(codec, kind.datatype, kind.version)),
            verify: true,
            kind,
            stages,
            strings,
        })
    }

    /// The same pipeline, which compares digests or not. It does by default.
    #[must_use]
    pub fn verifying_checksums(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// The same pipeline for writing into an array whose schema has this version: readers of the reference library go by it,
    /// and not by the fragment's version, to decide whether strings [carry their offsets](Self::carries_offsets).
    #[must_use]
    pub fn in_array_of(mut self, schema: FormatVersion) -> Self {
        self.carries_offsets &= self.strings.is_some_and(|codec| carries_offsets(codec, self.kind.datatype, schema));
        self
    }

    /// What the tiles hold.
    #[must_use]
    pub fn kind(&self) -> &TileKind {
        &self.kind
    }

    /// Whether, by the version's rule, filtered tiles carry the offsets of their cells: use
    /// [`decode_strings`](Self::decode_strings), and write offsets tiles without chunks.
    #[must_use]
    pub fn carries_offsets(&self) -> bool {
        self.carries_offsets
    }

    /// Whether filtered tiles can carry offsets at all. Some releases of the reference library wrote such tiles where
    /// the version's rule says otherwise; their offsets tile has no chunks, which shows it. So a reader that finds cells
    /// but an offsets tile without chunks uses [`decode_strings`](Self::decode_strings) if this is true.
    #[must_use]
    pub fn can_carry_offsets(&self) -> bool {
        self.strings.is_some()
    }

    /// A tile consists of whole cells.
    fn check_len(&self, len: usize) -> Result<(), FilterError> {
        let (what, found) = ("length of the tile", len as u64);
        if found.is_multiple_of(self.kind.cell_size) {
            Ok(())
        } else {
            Err(FilterError::InvalidTile { what, found, expected: "a multiple of the cell size" })
        }
    }

    /// Whether a chunk's data are the bytes of its cells, so that decoding is copying.
    #[must_use]
    pub fn is_verbatim(&self) -> bool {
        self.stages.is_empty() && self.transposed.is_none()
    }
}

/// Bytes of a cell, in memory.
fn cell_size(kind: &TileKind) -> Result<usize, FilterError> {
    let (what, found) = ("cell size", kind.cell_size);
    let value_size = kind.datatype.size() as u64;
    if let TileRole::Coordinates { dimensions } = kind.role
        && kind.cell_size != value_size * u64::from(dimensions)
    {
        return Err(FilterError::InvalidTile { what, found, expected: "one value per dimension" });
    }
    match usize::try_from(kind.cell_size) {
        Ok(size) if size > 0 && kind.cell_size.is_multiple_of(value_size) => Ok(size),
        _ => Err(FilterError::InvalidTile { what, found, expected: "a multiple of the datatype's size" }),
    }
}

/// Chunks are cut at multiples of this: cells, but coordinates are cut within each dimension.
fn chunk_unit(kind: &TileKind, cell_size: usize) -> usize {
    match kind.role {
        TileRole::Coordinates { .. } => kind.datatype.size(),
        _ => cell_size,
    }
}

/// The filter of whole strings that a pipeline starts with, if the tile holds such strings.
fn string_codec(pipeline: &FilterPipeline, kind: &TileKind) -> Option<StringCodec> {
    if kind.role != TileRole::VarData || !is_text(kind.datatype) {
        return None;
    }
    match pipeline.filters.iter().find(|filter| !matches!(filter, Filter::None))? {
        Filter::Rle { .. } => Some(StringCodec::Rle),
        Filter::Dictionary { .. } => Some(StringCodec::Dictionary),
        _ => None,
    }
}

fn carries_offsets(codec: StringCodec, datatype: Datatype, version: FormatVersion) -> bool {
    version.has(match (datatype, codec) {
        (Datatype::StringAscii, StringCodec::Rle) => Feature::RleStringOffsets,
        (Datatype::StringAscii, StringCodec::Dictionary) => Feature::DictionaryStringOffsets,
        _ => Feature::Utf8StringOffsets,
    })
}

/// Coordinates are stored one dimension after the other, in the first version only where there is a compressor.
fn transposed(pipeline: &FilterPipeline, kind: &TileKind) -> Option<(usize, usize)> {
    let TileRole::Coordinates { dimensions } = kind.role else { return None };
    let splits = kind.version.has(Feature::SplitCoordinates) || pipeline.filters.iter().any(Filter::is_compressor);
    let dimensions = usize::try_from(dimensions).ok()?;
    splits.then_some((kind.datatype.size(), dimensions))
}
