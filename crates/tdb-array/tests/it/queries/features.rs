//! Features of arrays, and the fixtures that have them.

#![allow(dead_code)] // not all tests use all features

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use tdb_testkit::fixtures::{self, Fixture};

/// A feature of some arrays.
pub struct Feature {
    pub name: &'static str,
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
        println!("{}", self.name);
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

const fn feature(
    name: &'static str,
    versions: &'static [RangeInclusive<u32>],
    recipes: &'static [&'static str],
) -> Feature {
    Feature { name, versions, recipes }
}

/// Cells with equal coordinates in several fragments.
pub const SPARSE_CELLS: Feature = feature("sparse cells", &[1..=23], &["sparse", "sparse-overlapping"]);

pub const IMAGES: Feature =
    feature("images", &[17..=17, 19..=19, 21..=22], &["dense-images-rgba", "dense-images-rgb-lossy"]);

/// Features that this library writes into new arrays.
pub const WRITTEN: &[Feature] = &[
    // Overlapping fragments with every kind of cell.
    feature("dense cells", &[1..=23], &["dense", "dense-overlapping"]),
    SPARSE_CELLS,
    // Attributes of every datatype that existed.
    feature(
        "datatypes",
        &[1..=2, 4..=5, 8..=8, 10..=11, 14..=14, 21..=23],
        &["dense-datatypes", "dense-every-datatype", "dense-every-datatype-var"],
    ),
    feature("fill values", &[6..=22], &["dense-fill-values"]),
    feature("float dimensions", &[1..=22], &["sparse-floats", "sparse-float32", "sparse-float64"]),
    feature("date dimensions", &[5..=22], &["sparse-dates", "sparse-datetime"]),
    feature("string dimensions", &[5..=23], &["sparse-strings", "sparse-two-strings"]),
    feature("duplicates", &[5..=23], &["sparse-dups"]),
    feature(
        "hilbert order",
        &[7..=23],
        &["sparse-hilbert", "sparse-hilbert-mixed", "sparse-hilbert-int", "sparse-hilbert-float"],
    ),
    // Field names that are not valid file names.
    feature("names of fields", &[1..=22], &["sparse-names", "dense-anonymous"]),
    feature("filters", &[1..=22], &["dense-filters"]),
    feature("filters of coordinates", &[1..=22], &["sparse-coords-filters", "sparse-bare-coords"]),
    // RLE and dictionary filters.
    feature("filters of strings", &[12..=23], &["sparse-string-filters"]),
    // Filters that see the datatype of the previous filter.
    feature("filters behind others", &[15..=19], &["dense-staged-filters"]),
    // Tiles of several chunks.
    feature("chunks", &[1..=22], &["sparse-chunks", "sparse-big-tiles"]),
    feature("labels", &[18..=18, 21..=22], &["dense-labels"]),
    feature("enumerations", &[20..=23], &["dense-enumerations"]),
    feature("current domains", &[22..=23], &["dense-current-domain", "sparse-current-domain"]),
    feature(
        "encryption",
        &[2..=2, 4..=5, 8..=8, 10..=11, 15..=15, 19..=19, 21..=22],
        &["dense-encrypted", "sparse-encrypted"],
    ),
];

/// Features of arrays with a longer history, and images.
pub const READ_ONLY: &[Feature] = &[
    // Sparse fragments, and from format 3 on dense fragments.
    feature("consolidated fragments", &[1..=22], &["sparse-consolidated-vacuumed", "dense-consolidated"]),
    feature(
        "consolidated footers",
        &[5..=5, 8..=9, 11..=12, 16..=16, 21..=22],
        &["sparse-joined-footers", "sparse-consolidated-footers"],
    ),
    feature(
        "consolidated commits",
        &[12..=12, 16..=16, 19..=19, 21..=22],
        &["sparse-joined-commits", "sparse-consolidated-commits"],
    ),
    // Fragments written by later releases.
    feature("later releases", &[2..=6, 8..=13, 15..=15, 19..=19], &["dense-appended", "sparse-appended"]),
    feature("evolved schemas", &[10..=12, 17..=17, 21..=23], &["dense-evolved", "sparse-evolved"]),
    feature("deletes", &[16..=16, 18..=18, 21..=23], &["sparse-deletes", "sparse-consolidated-deletes"]),
    IMAGES,
];
