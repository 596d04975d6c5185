//! Every query of every fixture, compared cell by cell with the reference library.

use std::collections::BTreeMap;

use tdb_array::{Array, ArrayError, ArrayOptions};
use tdb_testkit::fixtures::{self, Fixture};
use tdb_types::FormatVersion;

use crate::arrays::with_key;
use crate::queries::features::{self, of_versions};
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

/// Each feature has fixtures in its versions. The tests above compare the cells of these fixtures.
#[test]
fn features() {
    let show_cells = |name: &str, fixtures: Vec<Fixture>| {
        for fixture in fixtures {
            let queries = fixture.expected().queries;
            let cells =
                queries.iter().filter(|query| is_comparable(query)).map(|query| query.cells * query.columns.len());
            assert!(cells.sum::<usize>() > 0, "{name}: {} returns no cells", fixture.name());
        }
    };
    for feature in features::WRITTEN.iter().chain(features::READ_ONLY) {
        show_cells(feature.name, feature.fixtures());
    }
    let has_nulls = |fixture: &Fixture| {
        let queries = fixture.expected().queries;
        queries.iter().any(|query| query.columns.iter().any(|column| column.nullable))
    };
    show_cells("nullable cells", of_versions(&[7..=23], has_nulls));
}

fn open(fixture: &Fixture, options: ArrayOptions) -> Result<Array, ArrayError> {
    with_key(options, fixture).open_on(fixture.array_storage())
}

fn open_folder(fixture: &Fixture, options: ArrayOptions) -> Result<Array, ArrayError> {
    with_key(options, fixture).open(fixture.array_dir())
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
