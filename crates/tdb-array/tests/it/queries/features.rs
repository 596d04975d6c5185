//! Features of arrays, and the fixtures that have them.

#![allow(dead_code)] // not all tests look at all of them

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use tdb_testkit::fixtures::{self, Fixture};

/// A feature of some arrays.
pub struct Feature {
    /// Format versions that must have fixtures.
    versions: &'static [RangeInclusive<u32>],
    /// Recipes of the fixtures.
    recipes: &'static [&'static str],
}

impl Feature {
    /// Returns the fixtures of the feature's recipes, of all releases.
    ///
    /// # Panics
    /// Panics if a required version has no fixture.
    pub fn fixtures(&self) -> Vec<Fixture> {
        let mine = |fixture: &Fixture| self.recipes.contains(&fixture.entry().recipe.as_str());
        of_versions(self.versions, mine)
    }
}

/// Returns the fixtures that satisfy a predicate. Each of these versions must have a fixture.
pub fn of_versions(versions: &[RangeInclusive<u32>], is_one: impl Fn(&Fixture) -> bool) -> Vec<Fixture> {
    let all = fixtures::all().into_iter().chain(fixtures::of_older_releases());
    let these: Vec<Fixture> = all.filter(is_one).collect();
    let seen: BTreeSet<u32> = these.iter().map(version).collect();
    let missing: Vec<u32> = versions.iter().cloned().flatten().filter(|version| !seen.contains(version)).collect();
    assert!(missing.is_empty(), "no fixtures of versions {missing:?}");
    these
}

/// Returns the format version from a fixture's name.
pub fn version(fixture: &Fixture) -> u32 {
    let version = fixture.name().strip_prefix('v').and_then(|name| name.split('-').next());
    version.and_then(|version| version.parse().ok()).unwrap()
}

/// Overlapping fragments with every kind of cell.
pub const DENSE_CELLS: Feature = Feature { versions: &[1..=23], recipes: &["dense", "dense-overlapping"] };

/// Cells with equal coordinates in several fragments.
pub const SPARSE_CELLS: Feature = Feature { versions: &[1..=23], recipes: &["sparse", "sparse-overlapping"] };

/// Attributes of every datatype that existed.
pub const DATATYPES: Feature = Feature {
    versions: &[1..=2, 4..=5, 8..=8, 10..=11, 14..=14, 21..=23],
    recipes: &["dense-datatypes", "dense-every-datatype", "dense-every-datatype-var"],
};

pub const FILL_VALUES: Feature = Feature { versions: &[6..=22], recipes: &["dense-fill-values"] };

pub const FLOAT_DIMENSIONS: Feature =
    Feature { versions: &[1..=22], recipes: &["sparse-floats", "sparse-float32", "sparse-float64"] };

pub const DATE_DIMENSIONS: Feature = Feature { versions: &[5..=22], recipes: &["sparse-dates", "sparse-datetime"] };

pub const STRING_DIMENSIONS: Feature =
    Feature { versions: &[5..=23], recipes: &["sparse-strings", "sparse-two-strings"] };

pub const DUPLICATES: Feature = Feature { versions: &[5..=23], recipes: &["sparse-dups"] };

pub const HILBERT_ORDER: Feature = Feature {
    versions: &[7..=23],
    recipes: &["sparse-hilbert", "sparse-hilbert-mixed", "sparse-hilbert-int", "sparse-hilbert-float"],
};

/// Field names that are not valid file names.
pub const NAMES_OF_FIELDS: Feature = Feature { versions: &[1..=22], recipes: &["sparse-names", "dense-anonymous"] };

pub const FILTERS: Feature = Feature { versions: &[1..=22], recipes: &["dense-filters"] };

pub const FILTERS_OF_COORDINATES: Feature =
    Feature { versions: &[1..=22], recipes: &["sparse-coords-filters", "sparse-bare-coords"] };

/// RLE and dictionary filters.
pub const FILTERS_OF_STRINGS: Feature = Feature { versions: &[12..=23], recipes: &["sparse-string-filters"] };

/// Filters that see the datatype of the previous filter.
pub const FILTERS_BEHIND_OTHERS: Feature = Feature { versions: &[15..=19], recipes: &["dense-staged-filters"] };

/// Tiles of several chunks.
pub const CHUNKS: Feature = Feature { versions: &[1..=22], recipes: &["sparse-chunks", "sparse-big-tiles"] };

/// Sparse fragments, and from format 3 on dense fragments.
pub const CONSOLIDATED_FRAGMENTS: Feature =
    Feature { versions: &[1..=22], recipes: &["sparse-consolidated-vacuumed", "dense-consolidated"] };

pub const CONSOLIDATED_FOOTERS: Feature = Feature {
    versions: &[5..=5, 8..=9, 11..=12, 16..=16, 21..=22],
    recipes: &["sparse-joined-footers", "sparse-consolidated-footers"],
};

pub const CONSOLIDATED_COMMITS: Feature = Feature {
    versions: &[12..=12, 16..=16, 19..=19, 21..=22],
    recipes: &["sparse-joined-commits", "sparse-consolidated-commits"],
};

/// Fragments written by later releases.
pub const LATER_RELEASES: Feature =
    Feature { versions: &[2..=6, 8..=13, 15..=15, 19..=19], recipes: &["dense-appended", "sparse-appended"] };

pub const EVOLVED_SCHEMAS: Feature =
    Feature { versions: &[10..=12, 17..=17, 21..=23], recipes: &["dense-evolved", "sparse-evolved"] };

pub const DELETES: Feature =
    Feature { versions: &[16..=16, 18..=18, 21..=23], recipes: &["sparse-deletes", "sparse-consolidated-deletes"] };

pub const LABELS: Feature = Feature { versions: &[18..=18, 21..=22], recipes: &["dense-labels"] };

pub const ENUMERATIONS: Feature = Feature { versions: &[20..=23], recipes: &["dense-enumerations"] };

pub const CURRENT_DOMAINS: Feature =
    Feature { versions: &[22..=23], recipes: &["dense-current-domain", "sparse-current-domain"] };

pub const ENCRYPTION: Feature = Feature {
    versions: &[2..=2, 4..=5, 8..=8, 10..=11, 15..=15, 19..=19, 21..=22],
    recipes: &["dense-encrypted", "sparse-encrypted"],
};

pub const IMAGES: Feature =
    Feature { versions: &[17..=17, 19..=19, 21..=22], recipes: &["dense-images-rgba", "dense-images-rgb-lossy"] };
