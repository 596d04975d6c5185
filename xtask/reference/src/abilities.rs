//! What each release of the reference library can do: the one place that says so.
//!
//! The C interface knows a release that lacks a function by the missing symbol, and such a job ends with an error that
//! names it. Recipes and generated cases have to know beforehand.

use super::releases::Release;

/// One row of the table of abilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbilityRow {
    pub ability: Ability,
    /// The first release that can.
    pub since: [u32; 3],
    /// The function of the C interface that came with it, by which `reference-check` sees that the row is right.
    pub function: Option<&'static str>,
    pub what: &'static str,
}

macro_rules! abilities {
    ($($name:ident: $since:expr, $function:expr, $what:literal;)*) => {
        /// Something that not every release can do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Ability {
            $(#[doc = $what] $name,)*
        }

        /// Every ability, in the order in which the library gained them.
        pub const ABILITIES: &[AbilityRow] = &[$(AbilityRow {
            ability: Ability::$name,
            since: $since,
            function: $function,
            what: $what,
        }),*];
    };
}

abilities! {
    ManyRanges: [1, 6, 0], None, "reads of several ranges on a dimension";
    Dates: [1, 6, 0], None, "dates as datatypes; 1.5 crashes on them";
    Metadata: [1, 7, 0], Some("tiledb_array_put_metadata"), "metadata of arrays";
    OwnDimensions: [2, 0, 0], Some("tiledb_dimension_set_filter_list"), "dimensions of several datatypes, and of strings, each with filters";
    EmptyCells: [2, 0, 0], Some("tiledb_dimension_get_cell_val_num"), "cells of variable size without bytes";
    Duplicates: [2, 0, 0], Some("tiledb_array_schema_set_allows_dups"), "cells with equal coordinates";
    Vacuum: [2, 0, 0], Some("tiledb_array_vacuum"), "consolidation that leaves the old fragments until a vacuum";
    WriteTimes: [2, 0, 0], None, "writes at another time than the clock's";
    Checksums: [2, 0, 0], None, "MD5 and SHA-256 filters";
    FillValues: [2, 1, 0], Some("tiledb_attribute_set_fill_value"), "fill values of one's own";
    Nullable: [2, 2, 0], Some("tiledb_attribute_set_nullable"), "nullable attributes";
    Hilbert: [2, 2, 0], None, "cells along the Hilbert curve";
    FragmentInfo: [2, 2, 0], Some("tiledb_fragment_info_alloc"), "telling what fragments an array has";
    OpenedBetween: [2, 3, 0], Some("tiledb_array_set_open_timestamp_start"), "arrays opened from a time on";
    Conditions: [2, 3, 0], Some("tiledb_query_condition_alloc"), "reads with a condition";
    Times: [2, 3, 0], None, "times of day as datatypes";
    Evolution: [2, 4, 0], Some("tiledb_array_evolve"), "attributes added and dropped";
    Upgrade: [2, 5, 0], Some("tiledb_array_upgrade_version"), "rewriting a schema at the release's format version";
    ValidityFilters: [2, 6, 0], Some("tiledb_array_schema_set_validity_filter_list"), "filters on validity";
    Blobs: [2, 7, 0], None, "the datatype blob";
    Groups: [2, 8, 0], Some("tiledb_group_add_member"), "groups with members and metadata";
    RleStrings: [2, 8, 0], None, "run lengths of strings";
    ConsolidatedCommits: [2, 8, 0], None, "commit files consolidated into one";
    DictionaryStrings: [2, 9, 0], None, "dictionaries of strings, as the only filter";
    GroupConsolidation: [2, 10, 0], Some("tiledb_group_consolidate_metadata"), "consolidation of a group's metadata";
    Booleans: [2, 10, 0], None, "the datatype bool; 2.9 crashes on it";
    CellTimestamps: [2, 11, 0], None, "consolidation of sparse fragments that keeps the time of each cell";
    FloatScale: [2, 11, 0], None, "the float scale filter";
    Xor: [2, 12, 0], None, "the XOR filter";
    FiltersBehindDictionaries: [2, 12, 0], None, "dictionaries of strings with further filters";
    Deletes: [2, 12, 0], None, "deletion by a condition";
    Webp: [2, 13, 0], None, "the WebP filter";
    Utf8RunLengths: [2, 14, 0], None, "run lengths and dictionaries of UTF-8 strings";
    Labels: [2, 15, 0], Some("tiledb_array_schema_add_dimension_label"), "dimension labels";
    Negation: [2, 16, 0], Some("tiledb_query_condition_negate"), "conditions negated";
    Delta: [2, 16, 0], None, "the delta filter";
    Unchunked: [2, 16, 0], None, "tiles in one chunk, by a largest chunk size of zero";
    Enumerations: [2, 17, 0], Some("tiledb_array_schema_add_enumeration"), "enumerated attributes";
    Membership: [2, 17, 0], Some("tiledb_query_condition_alloc_set_membership"), "conditions on being one of several values";
    DeltaReinterpreted: [2, 17, 0], None, "delta filters that work on another datatype than the field's";
    TemporalIntegers: [2, 17, 0], None, "bit-width reduction and positive delta of dates and times";
    Aggregates: [2, 18, 0], Some("tiledb_query_get_default_channel"), "aggregates of reads";
    Geometries: [2, 21, 0], None, "geometries as datatypes";
    CurrentDomains: [2, 25, 0], Some("tiledb_array_schema_set_current_domain"), "current domains";
}

impl Release {
    /// Whether this release can do that.
    pub fn can(self, ability: Ability) -> bool {
        self.numbers() >= ABILITIES[ability as usize].since
    }

    /// The library's version as numbers, which compare as releases do.
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
    fn rows_stand_where_their_ability_looks_for_them() {
        assert!(ABILITIES.iter().enumerate().all(|(index, row)| row.ability as usize == index));
        assert!(ABILITIES.iter().map(|row| row.since).is_sorted());
    }

    #[test]
    fn the_newest_can_everything_and_the_oldest_nothing() {
        let newest = release(NEWEST).expect("it is listed");
        assert!(ABILITIES.iter().all(|row| newest.can(row.ability) && !RELEASES[0].can(row.ability)));
        assert!(release("2.2.2").expect("it is listed").can(Ability::Nullable));
        assert!(!release("2.10.4").expect("it is listed").can(Ability::FloatScale));
    }
}
