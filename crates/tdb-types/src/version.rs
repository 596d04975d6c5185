//! Format versions and the table of their features.

use std::fmt;

use crate::{ByteReader, DecodeError, DecodeErrorKind, Result};

/// A version of the storage format, 1 to 23.
///
/// Schemas, fragments and generic tiles have independent versions, which differ if a newer library
/// appends to an array. Never use the version of one for another. Query features with
/// [`has`](Self::has) instead of comparing numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FormatVersion(u32);

/// The error for a version number unknown to this library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown format version {found}; this library reads versions {min} to {max}{newer}",
    min = FormatVersion::MIN, max = FormatVersion::MAX,
    newer = if *.found > FormatVersion::MAX.0 { "; try a newer release of this library" } else { "" }
)]
pub struct UnsupportedVersion {
    /// The version number.
    pub found: u32,
}

impl FormatVersion {
    /// The first version of the format.
    pub const MIN: Self = Self(1);
    /// The newest known version.
    pub const MAX: Self = Self(23);
    /// The default version for writing, which current releases of the reference library also write.
    pub const DEFAULT: Self = Self(22);

    /// Returns the version with this number.
    ///
    /// # Errors
    /// Fails if the number is 0 or greater than [`MAX`](Self::MAX).
    pub const fn new(number: u32) -> Result<Self, UnsupportedVersion> {
        if number < Self::MIN.0 || number > Self::MAX.0 {
            Err(UnsupportedVersion { found: number })
        } else {
            Ok(Self(number))
        }
    }

    /// Iterates over all versions, oldest first.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        (Self::MIN.0..=Self::MAX.0).map(Self)
    }

    /// Returns the version number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Returns `true` if this version has `feature`.
    #[must_use]
    pub const fn has(self, feature: Feature) -> bool {
        let row = feature.row();
        self.0 >= row.since && self.0 <= row.until
    }

    /// Reads a `u32` version.
    ///
    /// # Errors
    /// Fails if the bytes are truncated or the version is 0. Fails with
    /// [`DecodeErrorKind::UnsupportedVersion`] if the version is greater than [`MAX`](Self::MAX).
    pub fn read(reader: &mut ByteReader<'_>) -> Result<Self> {
        let offset = reader.offset();
        let found = reader.u32("format version")?;
        Self::new(found).map_err(|_| {
            if found < Self::MIN.0 {
                return DecodeError::invalid("format version", offset, found, "1 or above");
            }
            let kind = DecodeErrorKind::UnsupportedVersion { found, min: Self::MIN.0, max: Self::MAX.0 };
            DecodeError::new(kind, "format version", offset)
        })
    }
}

impl fmt::Display for FormatVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A row of the feature table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureRow {
    /// The feature.
    pub feature: Feature,
    /// The first version with the feature.
    pub since: u32,
    /// The last version with the feature, or [`FormatVersion::MAX`] if it was never removed.
    pub until: u32,
    /// The first release of the reference library that writes the version `since`, or `"none"` if
    /// no release writes it.
    pub release: &'static str,
    /// A one-line description.
    pub what: &'static str,
}

macro_rules! features {
    ($($name:ident: $since:literal $(..= $until:literal)?, $release:literal, $what:literal;)*) => {
        /// A property of some versions of the format.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Feature {
            $(#[doc = $what] $name,)*
        }

        /// All features, in the order of the variants of [`Feature`].
        pub const FEATURES: &[FeatureRow] = &[$(FeatureRow {
            feature: Feature::$name,
            since: $since,
            until: { let until = FormatVersion::MAX.0; $(let _ = until; let until = $until;)? until },
            release: $release,
            what: $what,
        }),*];
    };
}

features! {
    LegacyFragmentMetadata: 1 ..= 2, "1.4", "Fragment metadata is one generic tile, without a footer.";
    CombinedCoordinates: 1 ..= 4, "1.4", "Dimensions share one datatype, the coordinate filters and one data file, `__coords.tdb`.";
    UntruncatedFloatTiles: 1 ..= 4, "1.4", "Cells with floating-point coordinates are stored without regard to space tiles.";
    WrappedTileIndices: 1 ..= 9, "1.4", "Cells are sorted by tile indices that overflow if a signed domain is wider than the datatype's maximum.";
    NamedAttributes: 1 ..= 4, "1.4", "An attribute without a name is called `__attr`.";
    SplitCoordinates: 2, "1.5", "Tiles of combined coordinates store one dimension after the other even without a compressor.";
    FragmentFooter: 3, "1.6", "Fragment metadata is a sequence of generic tiles and a raw footer.";
    LockFile: 1 ..= 10, "1.4", "An array has an empty file `__lock.tdb`, which its writers lock.";
    TypedRTree: 3 ..= 4, "1.6", "The R-tree stores the number of dimensions and their common datatype.";
    UncomputedDateRanges: 3 ..= 4, "1.6", "Stored ranges of dates are uninitialized memory.";
    MetadataFolder: 4, "1.7", "A new array has a metadata folder, and an older array gets it with the first metadata.";
    PerDimensionFiles: 5, "2.0", "Each dimension has a separate datatype, cell length, filters and data files.";
    AllowsDuplicates: 5, "2.0", "A schema states whether duplicate coordinates are allowed.";
    UncertainStringRanges: 5 ..= 9, "2.0", "A stored range that begins at the empty string does not bound the strings of a tile or fragment.";
    RootCommits: 5 ..= 11, "2.0", "A fragment in the array's folder is committed by a file `<name>.ok` next to it.";
    FillValue: 6, "2.1", "An attribute has a fill value.";
    Validity: 7, "2.2", "Attributes may be nullable, with validity tiles and validity filters.";
    OpenHilbertRange: 7 ..= 8, "2.2", "Integer coordinates are scaled along the Hilbert curve as if the domain were one value larger.";
    SurplusTileEntries: 7 ..= 8, "2.2", "Per-tile lists of a fragment with nullable attributes may have surplus entries.";
    RawFileNames: 1 ..= 7, "1.4", "Data files are named by the field's raw name.";
    PercentFileNames: 8 ..= 8, "2.2.3", "Data files are named by the field's percent-encoded name.";
    IndexedFileNames: 9, "2.3", "Data files are named by the field's index in the schema.";
    RelativeFragmentNames: 9, "2.3", "Consolidated fragment metadata names fragments without their folder.";
    PromotedTileIndices: 9 ..= 13, "2.3", "Cells are sorted by tile indices that wrap around if an 8-bit or 16-bit domain begins below zero.";
    SchemaFolder: 10, "2.4", "Schemas are stored in `__schema`; a footer names the fragment's schema.";
    FooterLength: 10, "2.4", "The footer is followed by its length, even if all dimensions are of fixed size.";
    TileStatistics: 11, "2.7", "Tiles have a minimum, a maximum, a sum and a null count.";
    CellAlignedVarChunks: 11, "2.7", "Chunks of variable-length data end at cell boundaries.";
    OtherHilbertStrings: 11 ..= 12, "2.7", "The Hilbert bucket of a string also includes bytes after its end.";
    FragmentStatistics: 12, "2.8", "Fragments have a minimum, a maximum, a sum and a null count per field.";
    CommitsFolder: 12, "2.8", "Fragments are stored in `__fragments` and commits in `__commits`.";
    RleStringOffsets: 12, "2.8", "Run-length encoding of ASCII strings includes their offsets.";
    DictionaryStringOffsets: 13, "2.9", "Dictionary encoding of ASCII strings includes their offsets.";
    CellTimestamps: 14, "2.10", "A fragment may store a timestamp per cell.";
    UnorderedVersions: 14 ..= 15, "2.10", "Versions of a cell within a fragment are unordered.";
    DeleteMetadata: 15, "2.11", "A fragment may store a deletion time per cell.";
    PartialTimeOverlap: 15, "2.11", "A sparse fragment that partly overlaps the opening time range is filtered cell by cell.";
    ProcessedConditionsTile: 15, "2.11", "Fragment metadata stores the delete conditions already applied.";
    ProcessedConditions: 16, "2.12", "The footer stores the offset of the conditions already applied.";
    DeleteCommits: 16, "2.12", "A delete commit deletes cells by a condition.";
    AttributeOrder: 17, "2.14", "An attribute may declare an order of its values.";
    Utf8StringOffsets: 17, "2.14", "Run-length and dictionary encoding of UTF-8 strings include their offsets.";
    DimensionLabels: 18, "2.15", "Dimensions may have labels.";
    RelativeVacuum: 19, "2.16", "Vacuum files hold paths relative to the array.";
    DeltaReinterpret: 19, "2.16", "The delta filter exists and stores the datatype that it processes.";
    Enumerations: 20, "2.17", "Attributes may refer to enumerations.";
    DoubleDeltaReinterpret: 20, "2.17", "The double delta filter stores the datatype that it processes.";
    BareOldDimensions: 20, "2.17", "In an array whose schema has combined coordinates, new fragments store dimensions without filters.";
    TemporalIntegerFilters: 20, "2.17", "Bit-width reduction and positive delta support dates and times.";
    StageDatatypes: 20, "2.17", "A filter processes the output datatype of the previous filter, not the tile's datatype.";
    SoundStringStatistics: 21, "2.19", "Statistics of nullable fixed-size strings are reliable.";
    CurrentDomain: 22, "2.25", "A schema may restrict its domain to a current domain.";
    FooterSections: 23, "none", "A footer ends with optional, self-describing sections.";
    GlobalOrderBounds: 23, "none", "Sparse fragments may store the first and last coordinates of each tile.";
}

impl Feature {
    /// Returns the feature's row in the table.
    #[must_use]
    pub const fn row(self) -> &'static FeatureRow {
        &FEATURES[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    #[test]
    fn table() {
        let mut text = String::new();
        for row in FEATURES {
            let FeatureRow { feature, since, until, release, what } = row;
            let until = if *until == FormatVersion::MAX.0 { String::new() } else { until.to_string() };
            writeln!(text, "{:<24} {since:>2}-{until:<2} {release:<6} {what}", format!("{feature:?}")).unwrap();
        }
        insta::assert_snapshot!(text);
    }

    #[test]
    fn rows_are_indexed_by_their_feature() {
        for (index, row) in FEATURES.iter().enumerate() {
            assert_eq!(row.feature as usize, index);
            assert!(row.since <= row.until && row.until <= FormatVersion::MAX.0);
            assert_eq!(row.feature.row(), row);
        }
    }

    #[test]
    fn unknown_version_numbers_are_rejected() {
        assert!(FormatVersion::new(0).is_err());
        let error = FormatVersion::new(24).unwrap_err();
        assert!(error.to_string().contains("24") && error.to_string().contains("23"));
        assert_eq!(FormatVersion::all().count(), 23);
    }
}
