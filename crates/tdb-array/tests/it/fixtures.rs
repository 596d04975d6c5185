//! Every query of every fixture, compared cell by cell with the reference library.

use std::collections::BTreeMap;

use tdb_array::{Array, ArrayError, ArrayOptions};
use tdb_testkit::fixtures::{self, Fixture};
use tdb_types::FormatVersion;

use crate::arrays::with_key;
use crate::queries::features::{self, Feature, of_versions};
use crate::queries::{check, is_comparable};

/// Memory limits for a single batch, for many, and for one batch per cell.
const BUDGETS: [usize; 3] = [64 << 20, 100, 1];

/// Number of threads, and the function that opens the array.
type Way = (usize, fn(&Fixture, ArrayOptions) -> Result<Array, ArrayError>);

const WAYS: [Way; 2] = [(1, open), (2, open_folder)];

#[test]
fn dense_arrays_read_as_the_reference_library_reads_them() {
    check_these(fixtures::all(), "dense", 150);
}

#[test]
fn sparse_arrays_read_as_the_reference_library_reads_them() {
    check_these(fixtures::all(), "sparse", 480);
}

#[test]
fn dense_arrays_of_older_releases_read_as_the_newest_reads_them() {
    check_these(fixtures::of_older_releases(), "dense", 360);
}

#[test]
fn sparse_arrays_of_older_releases_read_as_the_newest_reads_them() {
    check_these(fixtures::of_older_releases(), "sparse", 1300);
}

/// Arrays of versions 1 and 23, created from arrays of the neighboring versions by rewriting
/// schemas and metadata. Release 2.30.0 reads the arrays of version 1. The expected values for
/// version 23 come from the original arrays.
#[test]
fn arrays_of_versions_that_no_release_writes() {
    let ours = fixtures::of_older_releases().into_iter().filter(|fixture| fixture.entry().writer == fixtures::OURS);
    let ours: Vec<_> = ours.collect();
    let mut versions = BTreeMap::<u32, usize>::new();
    for fixture in &ours {
        let array = ArrayOptions::new().open_on(fixture.array_storage()).unwrap();
        let version = array.schema().version();
        assert!(fixture.name().starts_with(&format!("v{version}-")), "{}: {version}", fixture.name());
        for fragment in array.fragments().unwrap() {
            let footer = fragment.footer();
            assert_eq!(footer.version(), version, "{}", fixture.name());
            let has_bounds = version == FormatVersion::MAX && !footer.is_dense();
            assert_eq!(footer.has_global_order_bounds(), has_bounds, "{}", fixture.name());
        }
        *versions.entry(version.number()).or_default() += 1;
    }
    assert!(versions.keys().eq(&[1, 23]) && versions.values().all(|arrays| *arrays >= 10), "{versions:?}");
    check_these(ours.clone(), "dense", 11);
    check_these(ours, "sparse", 11);
}

/// Reads all fixtures of a feature completely.
fn read_all(feature: &Feature) {
    read_these(feature.fixtures());
}

fn read_these(fixtures: Vec<Fixture>) {
    for fixture in fixtures {
        let mut cells = 0;
        for query in fixture.expected().queries.iter().filter(|query| is_comparable(query)) {
            let checked = check(&|options| open(&fixture, options), query, BUDGETS[0], 1);
            checked.unwrap_or_else(|why| panic!("{}, {}: {why}", fixture.name(), query.name));
            cells += query.cells * query.columns.len();
        }
        assert!(cells > 0, "{} shows nothing", fixture.name());
    }
}

fn open(fixture: &Fixture, options: ArrayOptions) -> Result<Array, ArrayError> {
    with_key(options, fixture).open_on(fixture.array_storage())
}

fn open_folder(fixture: &Fixture, options: ArrayOptions) -> Result<Array, ArrayError> {
    with_key(options, fixture).open(fixture.array_dir())
}

/// Nullable fields in arrays of any kind.
#[test]
fn nullable_cells() {
    let nullable = |fixture: &Fixture| {
        let queries = fixture.expected().queries;
        queries.iter().any(|query| query.columns.iter().any(|column| column.nullable))
    };
    read_these(of_versions(&[7..=23], nullable));
}

#[test]
fn dense_cells() {
    read_all(&features::DENSE_CELLS);
}

#[test]
fn sparse_cells() {
    read_all(&features::SPARSE_CELLS);
}

#[test]
fn datatypes() {
    read_all(&features::DATATYPES);
}

#[test]
fn fill_values() {
    read_all(&features::FILL_VALUES);
}

#[test]
fn float_dimensions() {
    read_all(&features::FLOAT_DIMENSIONS);
}

#[test]
fn date_dimensions() {
    read_all(&features::DATE_DIMENSIONS);
}

#[test]
fn string_dimensions() {
    read_all(&features::STRING_DIMENSIONS);
}

#[test]
fn duplicates() {
    read_all(&features::DUPLICATES);
}

#[test]
fn hilbert_order() {
    read_all(&features::HILBERT_ORDER);
}

#[test]
fn names_of_fields() {
    read_all(&features::NAMES_OF_FIELDS);
}

#[test]
fn filters() {
    read_all(&features::FILTERS);
}

#[test]
fn filters_of_coordinates() {
    read_all(&features::FILTERS_OF_COORDINATES);
}

#[test]
fn filters_of_strings() {
    read_all(&features::FILTERS_OF_STRINGS);
}

#[test]
fn filters_behind_others() {
    read_all(&features::FILTERS_BEHIND_OTHERS);
}

#[test]
fn chunks() {
    read_all(&features::CHUNKS);
}

#[test]
fn consolidated_fragments() {
    read_all(&features::CONSOLIDATED_FRAGMENTS);
}

#[test]
fn consolidated_footers() {
    read_all(&features::CONSOLIDATED_FOOTERS);
}

#[test]
fn consolidated_commits() {
    read_all(&features::CONSOLIDATED_COMMITS);
}

#[test]
fn later_releases() {
    read_all(&features::LATER_RELEASES);
}

#[test]
fn evolved_schemas() {
    read_all(&features::EVOLVED_SCHEMAS);
}

#[test]
fn deletes() {
    read_all(&features::DELETES);
}

#[test]
fn labels() {
    read_all(&features::LABELS);
}

#[test]
fn enumerations() {
    read_all(&features::ENUMERATIONS);
}

#[test]
fn current_domains() {
    read_all(&features::CURRENT_DOMAINS);
}

#[test]
fn encryption() {
    read_all(&features::ENCRYPTION);
}

#[test]
fn images() {
    read_all(&features::IMAGES);
}

/// Checks every query of these fixtures. Requires at least `at_least` queries.
fn check_these(fixtures: Vec<Fixture>, array_type: &str, at_least: usize) {
    let mut queries = 0;
    let mut failures = Vec::new();
    for fixture in fixtures {
        let expected = fixture.expected();
        if expected.array_type != array_type {
            continue;
        }
        for query in expected.queries.iter().filter(|query| is_comparable(query)) {
            queries += 1;
            let ways = BUDGETS.iter().flat_map(|budget| WAYS.map(|(threads, open)| (*budget, threads, open)));
            let failure = ways.into_iter().find_map(|(budget, threads, open)| {
                let failure = check(&|options| open(&fixture, options), query, budget, threads);
                failure.err().map(|why| format!("{}: budget {budget}, {threads} threads: {why}", query.name))
            });
            failures.extend(failure.map(|why| format!("{}: {why}", fixture.name())));
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(queries >= at_least, "{queries} queries of {array_type} fixtures");
}
