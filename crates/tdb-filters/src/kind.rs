//! Properties of a tile relevant to filters.

use tdb_types::{Datatype, Feature, FormatVersion};

/// The role of a tile within a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TileRole {
    /// Cells of fixed size.
    Fixed,
    /// Offsets of cells of variable size.
    Offsets,
    /// Contiguous values of cells of variable size.
    VarData,
    /// One byte per cell, 0 for null.
    Validity,
    /// All coordinates of each cell ([`Feature::CombinedCoordinates`]).
    Coordinates {
        /// Number of coordinates per cell.
        dimensions: u32,
    },
    /// The payload of a generic tile.
    Generic,
}

/// The datatype seen by each filter of a pipeline.
///
/// The reference library changed this rule without a new format version. Releases up to 2.16 passed
/// the tile's datatype to every filter. Later releases pass the output datatype of the preceding
/// filter. The rules differ only for pipelines with float scale, XOR or delta filters, whose output
/// datatype differs from their input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ElementTypes {
    /// The output datatype of the preceding filter, or the datatype of the tile for the first
    /// filter. Always correct for writing.
    #[default]
    Stage,
    /// The datatype of the tile.
    Tile,
}

impl ElementTypes {
    /// Returns the rule used by the writer of a fragment.
    ///
    /// `fragment` is the fragment's format version. `library` is the version in the header of the
    /// first generic tile of the fragment's metadata file. This is the newest version known to the
    /// writing library, regardless of the array's version.
    #[must_use]
    pub fn of_fragment(fragment: FormatVersion, library: Option<FormatVersion>) -> Self {
        let stage = |version: FormatVersion| version.has(Feature::StageDatatypes);
        if stage(fragment) || library.is_some_and(stage) { Self::Stage } else { Self::Tile }
    }
}

/// A description of tiles, as needed by filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TileKind {
    /// Datatype of the values.
    pub datatype: Datatype,
    /// Size in bytes of a cell, or of a value for cells of variable size.
    pub cell_size: u64,
    /// The role of the tile within the field.
    pub role: TileRole,
    /// Format version of the fragment, or of the generic tile's header.
    pub version: FormatVersion,
    /// The rule for the datatype seen by each filter.
    pub element_types: ElementTypes,
}

impl TileKind {
    /// Creates a kind with cells of `cell_size` bytes, or with values of this size for cells of
    /// variable size.
    ///
    /// The other constructors derive the size from the role.
    #[must_use]
    pub const fn new(datatype: Datatype, cell_size: u64, role: TileRole, version: FormatVersion) -> Self {
        Self { datatype, cell_size, role, version, element_types: ElementTypes::Stage }
    }

    /// Creates a kind for cells of `cell_val_num` values.
    #[must_use]
    pub fn fixed(datatype: Datatype, cell_val_num: u32, version: FormatVersion) -> Self {
        // Neither factor exceeds 32 bits, so the product cannot overflow.
        let cell_size = datatype.size() as u64 * u64::from(cell_val_num);
        Self::new(datatype, cell_size, TileRole::Fixed, version)
    }

    /// Creates a kind for the values of cells of variable size.
    #[must_use]
    pub fn var_data(datatype: Datatype, version: FormatVersion) -> Self {
        Self { role: TileRole::VarData, ..Self::fixed(datatype, 1, version) }
    }

    /// Creates a kind for the offsets of cells of variable size.
    #[must_use]
    pub fn offsets(version: FormatVersion) -> Self {
        Self { role: TileRole::Offsets, ..Self::fixed(Datatype::UInt64, 1, version) }
    }

    /// Creates a kind for the validity of nullable cells.
    #[must_use]
    pub fn validity(version: FormatVersion) -> Self {
        Self { role: TileRole::Validity, ..Self::fixed(Datatype::UInt8, 1, version) }
    }

    /// Creates a kind for cells of `dimensions` coordinates.
    #[must_use]
    pub fn coordinates(datatype: Datatype, dimensions: u32, version: FormatVersion) -> Self {
        Self { role: TileRole::Coordinates { dimensions }, ..Self::fixed(datatype, dimensions, version) }
    }

    /// Creates a kind for the payload of a generic tile.
    #[must_use]
    pub fn generic(version: FormatVersion) -> Self {
        Self { role: TileRole::Generic, ..Self::fixed(Datatype::Char, 1, version) }
    }

    /// Sets the rule for the datatypes of filters.
    #[must_use]
    pub fn with_element_types(mut self, element_types: ElementTypes) -> Self {
        self.element_types = element_types;
        self
    }
}
