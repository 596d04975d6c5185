//! The abilities of each release of the reference library.
//!
//! The C interface detects a missing function by symbol, and a job fails with the name of the
//! function. Recipes and generated cases need the abilities in advance.

use super::releases::Release;

/// A row of the table of abilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbilityRow {
    pub ability: Ability,
    /// The first release with the ability.
    pub since: [u32; 3],
    /// A function of the C interface that was added with the ability. `reference-check` uses it to
    /// verify the row.
    pub function: Option<&'static str>,
}

macro_rules! abilities {
    ($($name:ident: $since:expr, $function:expr, $what:literal;)*) => {
        /// An ability that only some releases have.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Ability {
            $(#[doc = $what] $name,)*
        }

        /// All abilities, in the order of their first releases.
        pub const ABILITIES: &[AbilityRow] = &[$(AbilityRow {
            ability: Ability::$name,
            since: $since,
            function: $function,
        }),*];
    };
}

abilities! {
    ManyRanges: [1, 6, 0], None, "reads of several ranges on a dimension";
    Dates: [1, 6, 0], None, "date datatypes, on which 1.5 crashes";
    Metadata: [1, 7, 0], Some("tiledb_array_put_metadata"), "metadata of arrays";
    OwnDimensions: [2, 0, 0], Some("tiledb_dimension_set_filter_list"), "dimensions of several datatypes, and of strings, each with filters";
    EmptyCells: [2, 0, 0], Some("tiledb_dimension_get_cell_val_num"), "empty cells of variable size";
    Duplicates: [2, 0, 0], Some("tiledb_array_schema_set_allows_dups"), "cells with equal coordinates";
    Vacuum: [2, 0, 0], Some("tiledb_array_vacuum"), "consolidation that keeps the old fragments until a vacuum";
    WriteTimes: [2, 0, 0], None, "writes with a given timestamp";
    Checksums: [2, 0, 0], None, "MD5 and SHA-256 filters";
    FillValues: [2, 1, 0], Some("tiledb_attribute_set_fill_value"), "custom fill values";
    Nullable: [2, 2, 0], Some("tiledb_attribute_set_nullable"), "nullable attributes";
    Hilbert: [2, 2, 0], None, "Hilbert cell order";
    FragmentInfo: [2, 2, 0], Some("tiledb_fragment_info_alloc"), "fragment information";
    OpenedBetween: [2, 3, 0], Some("tiledb_array_set_open_timestamp_start"), "arrays opened from a start timestamp";
    Conditions: [2, 3, 0], Some("tiledb_query_condition_alloc"), "reads with a condition";
    Times: [2, 3, 0], None, "time-of-day datatypes";
    Evolution: [2, 4, 0], Some("tiledb_array_evolve"), "attributes added and dropped";
    Upgrade: [2, 5, 0], Some("tiledb_array_upgrade_version"), "rewriting a schema in the release's format version";
    ValidityFilters: [2, 6, 0], Some("tiledb_array_schema_set_validity_filter_list"), "filters on validity";
    Blobs: [2, 7, 0], None, "the datatype blob";
    Groups: [2, 8, 0], Some("tiledb_group_add_member"), "groups with members and metadata";
    RleStrings: [2, 8, 0], None, "run-length encoding of strings";
    ConsolidatedCommits: [2, 8, 0], None, "commit files consolidated into one";
    DictionaryStrings: [2, 9, 0], None, "dictionary encoding of strings, as the only filter";
    GroupConsolidation: [2, 10, 0], Some("tiledb_group_consolidate_metadata"), "consolidation of a group's metadata";
    Booleans: [2, 10, 0], None, "the datatype bool, on which 2.9 crashes";
    CellTimestamps: [2, 11, 0], None, "consolidation of sparse fragments that keeps the time of each cell";
    FloatScale: [2, 11, 0], None, "the float scale filter";
    Xor: [2, 12, 0], None, "the XOR filter";
    FiltersBehindDictionaries: [2, 12, 0], None, "dictionary encoding of strings with further filters";
    Deletes: [2, 12, 0], None, "deletion by a condition";
    Webp: [2, 13, 0], None, "the WebP filter";
    Utf8RunLengths: [2, 14, 0], None, "run-length and dictionary encoding of UTF-8 strings";
    Labels: [2, 15, 0], Some("tiledb_array_schema_add_dimension_label"), "dimension labels";
    Negation: [2, 16, 0], Some("tiledb_query_condition_negate"), "negated conditions";
    Delta: [2, 16, 0], None, "the delta filter";
    Unchunked: [2, 16, 0], None, "tiles in one chunk, with a maximum chunk size of zero";
    Enumerations: [2, 17, 0], Some("tiledb_array_schema_add_enumeration"), "enumerated attributes";
    Membership: [2, 17, 0], Some("tiledb_query_condition_alloc_set_membership"), "set membership conditions";
    DeltaReinterpreted: [2, 17, 0], None, "delta filters on another datatype than that of the field";
    TemporalIntegers: [2, 17, 0], None, "bit-width reduction and positive delta of dates and times";
    Aggregates: [2, 18, 0], Some("tiledb_query_get_default_channel"), "aggregates of reads";
    Geometries: [2, 21, 0], None, "geometry datatypes";
    CurrentDomains: [2, 25, 0], Some("tiledb_array_schema_set_current_domain"), "current domains";
}

impl Release {
    /// `true` if this release has the ability.
    pub fn can(self, ability: Ability) -> bool {
        self.numbers() >= ABILITIES[ability as usize].since
    }

    /// Returns the library's version as numbers, which compare in release order.
    pub fn numbers(self) -> [u32; 3] {
        let mut numbers = [0; 3];
        for (place, number) in numbers.iter_mut().zip(self.library.split('.')) {
            *place = number.parse().unwrap_or(0);
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::super::releases::{NEWEST, RELEASES, release};
    use super::{ABILITIES, Ability};

    #[test]
    fn rows_are_at_the_index_of_their_ability() {
        assert!(ABILITIES.iter().enumerate().all(|(index, row)| row.ability as usize == index));
        assert!(ABILITIES.iter().map(|row| row.since).is_sorted());
    }

    #[test]
    fn newest_release_has_all_abilities_and_oldest_none() {
        let newest = release(NEWEST).expect("a known release");
        assert!(ABILITIES.iter().all(|row| newest.can(row.ability) && !RELEASES[0].can(row.ability)));
        assert!(release("2.2.2").expect("a known release").can(Ability::Nullable));
        assert!(!release("2.10.4").expect("a known release").can(Ability::FloatScale));
    }
}
