//! What a tile holds, as far as its filters must know.

use tdb_types::{Datatype, Feature, FormatVersion};

/// Which of the tiles of a field this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TileRole {
    /// Cells of fixed size.
    Fixed,
    /// Offsets of variable-size cells.
    Offsets,
    /// The values of variable-size cells, back to back.
    VarData,
    /// One byte per cell: 0 for null.
    Validity,
    /// All coordinates of each cell ([`Feature::CombinedCoordinates`]).
    Coordinates {
        /// Coordinates of a cell.
        dimensions: u32,
    },
    /// The payload of a generic tile.
    Generic,
}

/// Which datatype each filter of a pipeline works on.
///
/// The reference library changed this without a new format version: its releases up to 2.16 gave every filter the
/// datatype of the tile, later ones give each filter what the one before it puts out. Only float scale, XOR and the
/// delta filters put out another type than they take, so only pipelines with one of those are ambiguous.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ElementTypes {
    /// What the filter before it puts out. Always right for writing.
    #[default]
    Stage,
    /// The datatype of the tile.
    Tile,
}

impl ElementTypes {
    /// How the library that wrote a fragment typed its filters.
    ///
    /// `fragment` is the format version of the fragment; `library` is the one in the header of the first generic tile
    /// of its metadata file, which is the newest version that the writing library knew, whatever the array's.
    #[must_use]
    pub fn of_fragment(fragment: FormatVersion, library: Option<FormatVersion>) -> Self {
        let stage = |version: FormatVersion| version.has(Feature::StageDatatypes);
        if stage(fragment) || library.is_some_and(stage) { Self::Stage } else { Self::Tile }
    }
}

/// What a tile holds, as far as its filters must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TileKind {
    /// Datatype of the values.
    pub datatype: Datatype,
    /// Bytes of one cell; of one value where cells vary in size.
    pub cell_size: u64,
    /// Which of the tiles of a field this is.
    pub role: TileRole,
    /// Format version of the fragment, or of the generic tile's header.
    pub version: FormatVersion,
    /// Which datatype each filter works on.
    pub element_types: ElementTypes,
}

impl TileKind {
    /// Any kind: cells of `cell_size` bytes, or values of that size where cells vary in size.
    ///
    /// The constructors below know the sizes that follow from a role.
    #[must_use]
    pub const fn new(datatype: Datatype, cell_size: u64, role: TileRole, version: FormatVersion) -> Self {
        Self { datatype, cell_size, role, version, element_types: ElementTypes::Stage }
    }

    /// Cells of `cell_val_num` values each.
    #[must_use]
    pub fn fixed(datatype: Datatype, cell_val_num: u32, version: FormatVersion) -> Self {
        // Neither factor exceeds 32 bits.
        let cell_size = datatype.size() as u64 * u64::from(cell_val_num);
        Self::new(datatype, cell_size, TileRole::Fixed, version)
    }

    /// Values of cells that vary in size.
    #[must_use]
    pub fn var_data(datatype: Datatype, version: FormatVersion) -> Self {
        Self { role: TileRole::VarData, ..Self::fixed(datatype, 1, version) }
    }

    /// Offsets of cells that vary in size.
    #[must_use]
    pub fn offsets(version: FormatVersion) -> Self {
        Self { role: TileRole::Offsets, ..Self::fixed(Datatype::UInt64, 1, version) }
    }

    /// Validity of nullable cells.
    #[must_use]
    pub fn validity(version: FormatVersion) -> Self {
        Self { role: TileRole::Validity, ..Self::fixed(Datatype::UInt8, 1, version) }
    }

    /// Cells of `dimensions` coordinates each.
    #[must_use]
    pub fn coordinates(datatype: Datatype, dimensions: u32, version: FormatVersion) -> Self {
        Self { role: TileRole::Coordinates { dimensions }, ..Self::fixed(datatype, dimensions, version) }
    }

    /// The payload of a generic tile.
    #[must_use]
    pub fn generic(version: FormatVersion) -> Self {
        Self { role: TileRole::Generic, ..Self::fixed(Datatype::Char, 1, version) }
    }

    /// The same kind with filters typed like this.
    #[must_use]
    pub fn with_element_types(mut self, element_types: ElementTypes) -> Self {
        self.element_types = element_types;
        self
    }
}
