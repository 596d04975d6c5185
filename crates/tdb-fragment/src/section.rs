//! The sections of fragment metadata: generic tiles, loaded on demand.

use std::fmt;

use tdb_types::{Feature, FormatVersion};

use crate::field::{FieldSlots, FragmentField, Part};
use crate::layout::List;

/// A section of fragment metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SectionId {
    /// The R-tree of the MBRs of tiles. It has no leaves in a dense fragment.
    RTree,
    /// The start of each tile of a field in the data file of cells or offsets.
    TileOffsets(FragmentField),
    /// The start of each tile of a variable-size field in the data file of values.
    TileVarOffsets(FragmentField),
    /// The unfiltered size of each tile of values of a variable-size field, in bytes.
    TileVarSizes(FragmentField),
    /// The start of each tile of a nullable field in the data file of validity.
    TileValidityOffsets(FragmentField),
    /// The minimum of each tile.
    TileMins(FragmentField),
    /// The maximum of each tile.
    TileMaxs(FragmentField),
    /// The sum of the values of each tile.
    TileSums(FragmentField),
    /// The number of null cells of each tile.
    TileNullCounts(FragmentField),
    /// The minimum, maximum, sum and null count of each field in the whole fragment.
    FragmentStatistics,
    /// The delete and update conditions already applied to the fragment.
    ProcessedConditions,
    /// The coordinate, in this dimension, of each tile's first cell in global order.
    GlobalOrderMins(usize),
    /// The coordinate, in this dimension, of each tile's last cell in global order.
    GlobalOrderMaxs(usize),
}

impl SectionId {
    /// Returns the section with the tile offsets of a part.
    #[must_use]
    pub fn offsets_of(field: FragmentField, part: Part) -> Self {
        match part {
            Part::Fixed => Self::TileOffsets(field),
            Part::Var => Self::TileVarOffsets(field),
            Part::Validity => Self::TileValidityOffsets(field),
        }
    }

    /// Returns the sections with the statistics of a field's tiles, in the order of
    /// [`SectionReader::tile_statistics`](crate::SectionReader::tile_statistics).
    #[must_use]
    pub fn statistics_of(field: FragmentField) -> [Self; 4] {
        [Self::TileMins(field), Self::TileMaxs(field), Self::TileSums(field), Self::TileNullCounts(field)]
    }

    /// Returns the footer list with the section's offset, and the index in the list.
    ///
    /// Returns `None` for the global order bounds, whose offsets are in an optional section of the
    /// footer.
    pub(crate) fn place(self, slots: &FieldSlots) -> Option<(List, usize)> {
        let (list, field) = match self {
            Self::RTree => return Some((List::RTree, 0)),
            Self::FragmentStatistics => return Some((List::FragmentStatistics, 0)),
            Self::ProcessedConditions => return Some((List::ProcessedConditions, 0)),
            Self::TileOffsets(field) => (List::TileOffsets, field),
            Self::TileVarOffsets(field) => (List::TileVarOffsets, field),
            Self::TileVarSizes(field) => (List::TileVarSizes, field),
            Self::TileValidityOffsets(field) => (List::TileValidityOffsets, field),
            Self::TileMins(field) => (List::TileMins, field),
            Self::TileMaxs(field) => (List::TileMaxs, field),
            Self::TileSums(field) => (List::TileSums, field),
            Self::TileNullCounts(field) => (List::TileNullCounts, field),
            Self::GlobalOrderMins(_) | Self::GlobalOrderMaxs(_) => return None,
        };
        Some((list, slots.slot(field)?))
    }

    /// Iterates over all sections of a file of `version`, in file order. Files of formats 1 and 2
    /// have no sections.
    ///
    /// File order is the order of the footer's lists, with the global order bounds between the
    /// maximums and the sums. The footer has no offset of the processed conditions in format 15.
    /// The footer has no offsets of the global order bounds if the fragment has no bounds.
    pub fn in_file_order(
        version: FormatVersion,
        slots: FieldSlots,
        dimensions: usize,
        dense: bool,
    ) -> impl Iterator<Item = Self> {
        type PerField = fn(FragmentField) -> SectionId;
        let fields =
            move |list: List, of: PerField| slots.iter().map(of).take(list.len_in(version, &slots)).collect::<Vec<_>>();
        let bounds = if !dense && version.has(Feature::GlobalOrderBounds) { dimensions } else { 0 };
        let one = |there: bool, id: Self| there.then_some(id);
        one(version.has(Feature::FragmentFooter), Self::RTree)
            .into_iter()
            .chain(fields(List::TileOffsets, Self::TileOffsets))
            .chain(fields(List::TileVarOffsets, Self::TileVarOffsets))
            .chain(fields(List::TileVarSizes, Self::TileVarSizes))
            .chain(fields(List::TileValidityOffsets, Self::TileValidityOffsets))
            .chain(fields(List::TileMins, Self::TileMins))
            .chain(fields(List::TileMaxs, Self::TileMaxs))
            .chain((0..bounds).map(Self::GlobalOrderMins))
            .chain((0..bounds).map(Self::GlobalOrderMaxs))
            .chain(fields(List::TileSums, Self::TileSums))
            .chain(fields(List::TileNullCounts, Self::TileNullCounts))
            .chain(one(version.has(Feature::FragmentStatistics), Self::FragmentStatistics))
            .chain(one(version.has(Feature::ProcessedConditionsTile), Self::ProcessedConditions))
    }
}

impl fmt::Display for SectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RTree => f.write_str("R-tree"),
            Self::TileOffsets(field) => write!(f, "tile offsets of {field}"),
            Self::TileVarOffsets(field) => write!(f, "tile var offsets of {field}"),
            Self::TileVarSizes(field) => write!(f, "tile var sizes of {field}"),
            Self::TileValidityOffsets(field) => write!(f, "tile validity offsets of {field}"),
            Self::TileMins(field) => write!(f, "tile mins of {field}"),
            Self::TileMaxs(field) => write!(f, "tile maxs of {field}"),
            Self::TileSums(field) => write!(f, "tile sums of {field}"),
            Self::TileNullCounts(field) => write!(f, "tile null counts of {field}"),
            Self::FragmentStatistics => f.write_str("fragment statistics"),
            Self::ProcessedConditions => f.write_str("processed conditions"),
            Self::GlobalOrderMins(dimension) => write!(f, "global order mins of dimension {dimension}"),
            Self::GlobalOrderMaxs(dimension) => write!(f, "global order maxs of dimension {dimension}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(version: u32, dense: bool) -> String {
        let version = FormatVersion::new(version).unwrap();
        let slots = FieldSlots::new(version, 1, 1, false, false);
        let ids = SectionId::in_file_order(version, slots, 1, dense);
        ids.map(|id| id.to_string()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn file_order() {
        assert_eq!(names(2, true), "");
        insta::assert_snapshot!("v4", names(4, true));
        insta::assert_snapshot!("v6", names(6, true));
        insta::assert_snapshot!("v23_sparse", names(23, false));
    }
}
