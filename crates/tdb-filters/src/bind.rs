//! Pipelines bound to a kind of tile.

mod decode;
mod encode;
mod stages;

use tdb_types::{Datatype, Feature, FormatVersion};

use crate::chunking::{Chunking, is_text};
use crate::stage::Stage;
use crate::stage::string_codec::StringCodec;
use crate::{EncryptionKey, Filter, FilterError, FilterPipeline, TileKind, TileRole};

/// A pipeline bound to a kind of tile.
///
/// Binding decides the datatype at each filter, the filters to skip, and the chunking. A bound
/// pipeline is cheap to share between threads. Each thread needs a separate
/// [`Scratch`](crate::Scratch).
#[derive(Clone, Debug)]
pub struct BoundPipeline {
    kind: TileKind,
    /// The active filters, in pipeline order.
    stages: Vec<Stage>,
    /// The string codec of the first filter, if the pipeline starts with one.
    strings: Option<StringCodec>,
    /// `true` if the format version requires offsets inside the filtered data.
    carries_offsets: bool,
    chunking: Chunking,
    /// Value size and number of dimensions of coordinates stored dimension by dimension.
    transposed: Option<(usize, usize)>,
    verify: bool,
}

impl BoundPipeline {
    /// Binds `pipeline` to tiles of `kind`.
    ///
    /// Filters that this library or build cannot run are rejected when tiles are encoded or
    /// decoded, not here.
    ///
    /// # Errors
    /// Fails if a filter does not support the datatype at its position, an option is invalid, or
    /// the cell size of `kind` is invalid.
    pub fn bind(pipeline: &FilterPipeline, kind: TileKind) -> Result<Self, FilterError> {
        Self::bind_with_key(pipeline, kind, None)
    }

    /// Binds `pipeline` to tiles of `kind` in an array encrypted with `key`.
    ///
    /// # Errors
    /// The errors of [`bind`](Self::bind).
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

    /// Enables or disables the verification of checksums during decoding. Verification is enabled
    /// by default.
    #[must_use]
    pub fn verifying_checksums(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Adapts the pipeline to writing into an array whose schema has this version.
    ///
    /// The reference library's readers use the version of the schema, not of the fragment, to
    /// decide if tiles of strings [carry their offsets](Self::carries_offsets).
    #[must_use]
    pub fn in_array_of(mut self, schema: FormatVersion) -> Self {
        self.carries_offsets &= self.strings.is_some_and(|codec| carries_offsets(codec, self.kind.datatype, schema));
        self
    }

    /// Returns the kind of tile.
    #[must_use]
    pub fn kind(&self) -> &TileKind {
        &self.kind
    }

    /// Returns `true` if the format version requires offsets inside the filtered data tile. Readers
    /// then use [`decode_strings`](Self::decode_strings), and writers write offsets tiles without
    /// chunks.
    #[must_use]
    pub fn carries_offsets(&self) -> bool {
        self.carries_offsets
    }

    /// Returns `true` if the pipeline can store offsets inside the filtered data tile.
    ///
    /// Some releases of the reference library wrote such tiles against the rule of the format
    /// version. The offsets tile then has no chunks. If this function returns `true`, and the
    /// offsets tile of at least one cell has no chunks, a reader must call
    /// [`decode_strings`](Self::decode_strings).
    #[must_use]
    pub fn can_carry_offsets(&self) -> bool {
        self.strings.is_some()
    }

    /// Checks that the tile consists of whole cells.
    fn check_len(&self, len: usize) -> Result<(), FilterError> {
        let (what, found) = ("length of the tile", len as u64);
        if found.is_multiple_of(self.kind.cell_size) {
            Ok(())
        } else {
            Err(FilterError::InvalidTile { what, found, expected: "a multiple of the cell size" })
        }
    }

    /// Returns `true` if the data of a chunk are the unchanged bytes of the cells, so that decoding
    /// only copies.
    #[must_use]
    pub fn is_verbatim(&self) -> bool {
        self.stages.is_empty() && self.transposed.is_none()
    }
}

/// Returns the size of a cell in memory, in bytes.
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

/// Returns the unit of chunk sizes, in bytes: a cell, or a single coordinate for combined
/// coordinates.
fn chunk_unit(kind: &TileKind, cell_size: usize) -> usize {
    match kind.role {
        TileRole::Coordinates { .. } => kind.datatype.size(),
        _ => cell_size,
    }
}

/// Returns the string codec of the first active filter. Returns `None` if this filter is not a
/// string codec, or if the tile does not hold strings.
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

/// Returns value size and number of dimensions if coordinates are stored dimension by dimension.
/// Format version 1 stores them in this order only with a compressor.
fn transposed(pipeline: &FilterPipeline, kind: &TileKind) -> Option<(usize, usize)> {
    let TileRole::Coordinates { dimensions } = kind.role else { return None };
    let splits = kind.version.has(Feature::SplitCoordinates) || pipeline.filters.iter().any(Filter::is_compressor);
    let dimensions = usize::try_from(dimensions).ok()?;
    splits.then_some((kind.datatype.size(), dimensions))
}
