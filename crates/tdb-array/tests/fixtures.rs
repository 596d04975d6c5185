//! Every query of every fixture: what the reference library read of arrays that it wrote, cell for cell.

#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tdb_array::{Array, ArrayError, ArrayOptions, Batch, Coordinate, Order, Query, TimeRange};
use tdb_filters::EncryptionKey;
use tdb_rtree::DimRange;
use tdb_schema::DimensionLabel;
use tdb_testkit::fixtures::{self, Fixture};
use tdb_types::{Datatype, FormatVersion};

/// Budgets that make one batch, many, and one for each cell.
const BUDGETS: [usize; 3] = [64 << 20, 100, 1];

const THREADS: [usize; 2] = [1, 2];

#[test]
fn dense_arrays_read_as_the_reference_library_reads_them() {
    check_all("dense");
}

#[test]
fn sparse_arrays_read_as_the_reference_library_reads_them() {
    check_all("sparse");
}

#[test]
fn dense_arrays_of_older_releases_read_as_the_newest_reads_them() {
    check_these(fixtures::of_older_releases(), "dense");
}

#[test]
fn sparse_arrays_of_older_releases_read_as_the_newest_reads_them() {
    check_these(fixtures::of_older_releases(), "sparse");
}

/// Versions 1 and 23: arrays of the versions beside them, whose schemas and metadata our serialisers wrote anew. Release
/// 2.30.0 reads those of version 1; what those of version 23 hold it said before they became that.
#[test]
fn arrays_of_versions_that_no_release_writes() {
    let ours = fixtures::of_older_releases().into_iter().filter(|fixture| fixture.entry().writer == fixtures::OURS);
    let ours: Vec<_> = ours.collect();
    let mut versions = BTreeMap::<u32, usize>::new();
    for fixture in &ours {
        let array = Array::open(fixture.array_dir()).unwrap();
        let version = array.schema().version();
        assert!(fixture.name().starts_with(&format!("v{version}-")), "{}: {version}", fixture.name());
        for fragment in array.fragments() {
            let footer = fragment.footer();
            assert_eq!(footer.version(), version, "{}", fixture.name());
            let has_bounds = version == FormatVersion::MAX && !footer.is_dense();
            assert_eq!(footer.has_global_order_bounds(), has_bounds, "{}", fixture.name());
        }
        *versions.entry(version.number()).or_default() += 1;
    }
    assert!(versions.keys().eq(&[1, 23]) && versions.values().all(|arrays| *arrays >= 10), "{versions:?}");
    check_these(ours.clone(), "dense");
    check_these(ours, "sparse");
}

/// The whole of what the fixtures of a few recipes hold, and that these versions are among theirs.
fn in_versions(versions: impl IntoIterator<Item = u32>, recipes: &[&str]) {
    let all = fixtures::all().into_iter().chain(fixtures::of_older_releases());
    check_versions(versions, all.filter(|fixture| recipes.contains(&fixture.entry().recipe.as_str())));
}

fn check_versions(versions: impl IntoIterator<Item = u32>, fixtures: impl Iterator<Item = Fixture>) {
    let mut seen = BTreeSet::new();
    for fixture in fixtures {
        let version = fixture.name().strip_prefix('v').and_then(|name| name.split('-').next());
        seen.insert(version.and_then(|version| version.parse::<u32>().ok()).unwrap());
        for query in fixture.expected().queries.iter().filter(|query| !asks_for_times(query)) {
            let checked = check(&fixture, query, BUDGETS[0], 1);
            checked.unwrap_or_else(|why| panic!("{}, {}: {why}", fixture.name(), query.name));
        }
    }
    let missing: Vec<u32> = versions.into_iter().filter(|version| !seen.contains(version)).collect();
    assert!(missing.is_empty(), "no fixtures of versions {missing:?}");
}

/// Any nullable field, in arrays of any kind.
#[test]
fn nullable_cells() {
    let nullable = |fixture: &Fixture| {
        let queries = fixture.expected().queries;
        queries.iter().any(|query| query.columns.iter().any(|column| column.nullable))
    };
    let all = fixtures::all().into_iter().chain(fixtures::of_older_releases());
    check_versions(7..=23, all.filter(nullable));
}

/// Fragments over each other, every kind of cell.
#[test]
fn dense_cells() {
    in_versions(1..=23, &["dense", "dense-overlapping"]);
}

/// Cells at the same places in several fragments.
#[test]
fn sparse_cells() {
    in_versions(1..=23, &["sparse", "sparse-overlapping"]);
}

/// Attributes of each datatype that there was.
#[test]
fn datatypes() {
    in_versions(
        [1, 2, 4, 5, 8, 10, 11, 14, 21, 22, 23],
        &["dense-datatypes", "dense-every-datatype", "dense-every-datatype-var"],
    );
}

#[test]
fn fill_values() {
    in_versions(6..=22, &["dense-fill-values"]);
}

#[test]
fn float_dimensions() {
    in_versions(1..=22, &["sparse-floats", "sparse-float32", "sparse-float64"]);
}

#[test]
fn date_dimensions() {
    in_versions(5..=22, &["sparse-dates", "sparse-datetime"]);
}

#[test]
fn string_dimensions() {
    in_versions(5..=23, &["sparse-strings", "sparse-two-strings"]);
}

#[test]
fn duplicates() {
    in_versions(5..=23, &["sparse-dups"]);
}

#[test]
fn hilbert_order() {
    in_versions(7..=23, &["sparse-hilbert", "sparse-hilbert-mixed", "sparse-hilbert-int", "sparse-hilbert-float"]);
}

/// Names that are no names of files.
#[test]
fn names_of_fields() {
    in_versions(1..=22, &["sparse-names", "dense-anonymous"]);
}

#[test]
fn filters() {
    in_versions(1..=22, &["dense-filters"]);
}

#[test]
fn filters_of_coordinates() {
    in_versions(1..=22, &["sparse-coords-filters", "sparse-bare-coords"]);
}

/// Run lengths and dictionaries.
#[test]
fn filters_of_strings() {
    in_versions(12..=23, &["sparse-string-filters"]);
}

/// Filters that see the datatype of the one before.
#[test]
fn filters_behind_others() {
    in_versions(15..=19, &["dense-staged-filters"]);
}

/// Tiles of several chunks.
#[test]
fn chunks() {
    in_versions(1..=22, &["sparse-chunks", "sparse-big-tiles"]);
}

/// Sparse ones, and from format 3 dense ones.
#[test]
fn consolidated_fragments() {
    in_versions(1..=22, &["sparse-consolidated-vacuumed", "dense-consolidated"]);
}

#[test]
fn consolidated_footers() {
    in_versions([5, 8, 9, 11, 12, 16, 21, 22], &["sparse-joined-footers", "sparse-consolidated-footers"]);
}

#[test]
fn consolidated_commits() {
    in_versions([12, 16, 19, 21, 22], &["sparse-joined-commits", "sparse-consolidated-commits"]);
}

/// Fragments by releases that came later.
#[test]
fn later_releases() {
    in_versions([2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 15, 19], &["dense-appended", "sparse-appended"]);
}

#[test]
fn evolved_schemas() {
    in_versions([10, 11, 12, 17, 21, 22, 23], &["dense-evolved", "sparse-evolved"]);
}

#[test]
fn deletes() {
    in_versions([16, 18, 21, 22, 23], &["sparse-deletes", "sparse-consolidated-deletes"]);
}

#[test]
fn labels() {
    in_versions([18, 21, 22], &["dense-labels"]);
}

#[test]
fn enumerations() {
    in_versions(20..=23, &["dense-enumerations"]);
}

#[test]
fn current_domains() {
    in_versions([22, 23], &["dense-current-domain", "sparse-current-domain"]);
}

#[test]
fn encryption() {
    in_versions([2, 4, 5, 8, 10, 11, 15, 19, 21, 22], &["dense-encrypted", "sparse-encrypted"]);
}

#[test]
fn images() {
    in_versions([17, 19, 21, 22], &["dense-images-rgba", "dense-images-rgb-lossy"]);
}

fn check_all(array_type: &str) {
    check_these(fixtures::all(), array_type);
}

fn check_these(fixtures: Vec<Fixture>, array_type: &str) {
    let mut queries = 0;
    let mut failures = Vec::new();
    for fixture in fixtures {
        let expected = fixture.expected();
        if expected.array_type != array_type {
            continue;
        }
        for query in expected.queries.iter().filter(|query| !asks_for_times(query)) {
            queries += 1;
            let failure = BUDGETS.iter().flat_map(|budget| THREADS.map(|threads| (*budget, threads))).find_map(
                |(budget, threads)| {
                    let failure = check(&fixture, query, budget, threads);
                    failure.err().map(|why| format!("{}: budget {budget}, {threads} threads: {why}", query.name))
                },
            );
            failures.extend(failure.map(|why| format!("{}: {why}", fixture.name())));
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(queries > 10, "{queries} queries of {array_type} fixtures");
}

/// The times at which cells were written are no field of a query yet.
fn asks_for_times(query: &fixtures::Query) -> bool {
    query.columns.iter().any(|column| column.name == "__timestamps")
}

fn check(fixture: &Fixture, query: &fixtures::Query, budget: usize, threads: usize) -> Result<(), String> {
    let columns = read(fixture, query, budget, threads).map_err(|error| error.to_string())?;
    compare(columns, &inside_current_domain(fixture, query))
}

/// The cells of each field, none where they are null.
type Columns = BTreeMap<String, Vec<Option<Vec<u8>>>>;

fn read(fixture: &Fixture, query: &fixtures::Query, budget: usize, threads: usize) -> Result<Columns, ArrayError> {
    let mut options = ArrayOptions::new().threads(threads);
    if let Some((start, end)) = query.timestamps {
        options = options.between(TimeRange { start, end });
    }
    let array = with_key(options, fixture).open(fixture.array_dir())?;
    let labels: Vec<&DimensionLabel> = array.schema().labels().iter().filter(|label| asks_for(query, label)).collect();
    if !labels.is_empty() {
        return read_labels(fixture, &array, query, &labels, budget);
    }
    let names: Vec<&str> = query.columns.iter().map(|column| column.name.as_str()).collect();
    let mut columns: Columns = names.iter().map(|name| ((*name).to_owned(), Vec::new())).collect();
    for batch in
        with_ranges(array.read(), &array, query)?.select(names)?.order(order(query)).budget(budget).batches()?
    {
        append(&mut columns, &batch?, budget);
    }
    Ok(columns)
}

fn with_key(options: ArrayOptions, fixture: &Fixture) -> ArrayOptions {
    match fixture.expected().key() {
        Some(key) => options.key(EncryptionKey::new(key)),
        None => options,
    }
}

fn asks_for(query: &fixtures::Query, label: &DimensionLabel) -> bool {
    query.columns.iter().any(|column| column.name == label.name)
}

/// The labels of a dimension are the cells of a dense array of their own.
fn read_labels(
    fixture: &Fixture,
    array: &Array,
    query: &fixtures::Query,
    labels: &[&DimensionLabel],
    budget: usize,
) -> Result<Columns, ArrayError> {
    let mut columns = Columns::new();
    for label in labels {
        let name = array.schema().dimensions()[label.dimension as usize].name();
        let label_array = with_key(ArrayOptions::new(), fixture).open(fixture.array_dir().join(&label.uri))?;
        let mut ranges = query.clone();
        ranges.ranges.retain(|range| range.dimension == name);
        let index = label_array.schema().dimensions()[0].name().to_owned();
        ranges.ranges.iter_mut().for_each(|range| range.dimension.clone_from(&index));
        let reading = with_ranges(label_array.read(), &label_array, &ranges)?.select([&label.attribute])?;
        let mut read = Columns::from([(label.attribute.clone(), Vec::new())]);
        for batch in reading.order(order(query)).budget(budget).batches()? {
            append(&mut read, &batch?, budget);
        }
        columns.extend(read.into_values().map(|cells| (label.name.clone(), cells)));
    }
    Ok(columns)
}

/// The query, as if it had been asked for the current domain where it has no range.
///
/// There the reference library returns all of a dense array's domain, however large. (On the first dimension it was
/// asked for the current domain, since it doesn't answer without any range.)
fn inside_current_domain(fixture: &Fixture, query: &fixtures::Query) -> fixtures::Query {
    let mut query = query.clone();
    // What can't be opened without its time has no current domain.
    let Ok(array) = with_key(ArrayOptions::new(), fixture).open(fixture.array_dir()) else { return query };
    let schema = array.schema();
    let Some(current) = schema.current_domain().filter(|_| schema.is_dense() && query.ranges.is_empty()) else {
        return query;
    };
    assert_eq!(query.layout, "row-major");
    let mut inside = vec![true];
    for (index, (dimension, range)) in schema.dimensions().iter().zip(&current.0).enumerate() {
        let DimRange::Fixed { lo, hi } = *range else { unreachable!("dense") };
        let (first, last) = if index == 0 { (lo, hi) } else { dimension.domain_keys().unwrap() };
        let outer = std::mem::take(&mut inside);
        inside = outer
            .into_iter()
            .flat_map(|outer| (first..=last).map(move |key| outer && lo <= key && key <= hi))
            .collect();
    }
    assert_eq!(inside.len(), query.cells);
    for column in &mut query.columns {
        let mut cells = inside.iter();
        column.values.retain(|_| *cells.next().unwrap());
        query.cells = column.values.len();
    }
    query
}

fn with_ranges(mut query: Query, array: &Array, expected: &fixtures::Query) -> Result<Query, ArrayError> {
    for dimension in &expected.ranges {
        let schema = array.schema();
        if let Some(label) = schema.labels().iter().find(|label| label.name == dimension.dimension) {
            for (start, end) in &dimension.ranges {
                let range = coordinate(start, label.datatype)..=coordinate(end, label.datatype);
                query = query.label_range(&label.name, range)?;
            }
            continue;
        }
        let datatype = schema
            .dimensions()
            .iter()
            .find(|known| known.name() == dimension.dimension)
            .map_or_else(|| panic!("no dimension {}", dimension.dimension), tdb_schema::Dimension::datatype);
        for (start, end) in &dimension.ranges {
            query = query.range(&dimension.dimension, coordinate(start, datatype)..=coordinate(end, datatype))?;
        }
    }
    Ok(query)
}

fn append(columns: &mut Columns, batch: &Batch, budget: usize) {
    assert!(!batch.is_empty(), "an empty batch");
    assert!(budget > 1 || batch.len() <= 4, "{} cells in a budget of a byte", batch.len());
    for (name, cells) in columns {
        let column = batch.column(name).unwrap();
        cells.extend((0..column.len()).map(|cell| column.cell(cell).map(<[u8]>::to_vec)));
    }
}

fn order(query: &fixtures::Query) -> Order {
    match query.layout.as_str() {
        "row-major" => Order::RowMajor,
        "col-major" => Order::ColMajor,
        "global" => Order::Global,
        "unordered" => Order::Unordered,
        other => panic!("layout {other}"),
    }
}

fn coordinate(value: &Value, datatype: Datatype) -> Coordinate {
    match value {
        Value::Number(number) if number.is_u64() => number.as_u64().unwrap().into(),
        Value::Number(number) => number.as_i64().unwrap().into(),
        Value::String(bits) if datatype == Datatype::Float64 => f64::from_bits(hex(bits)).into(),
        Value::String(bits) if datatype == Datatype::Float32 => {
            f32::from_bits(u32::try_from(hex(bits)).unwrap()).into()
        }
        Value::String(text) => text.as_str().into(),
        Value::Object(object) => {
            let digits = object["hex"].as_str().unwrap();
            let bytes = (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap());
            bytes.collect::<Vec<u8>>().into()
        }
        other => panic!("coordinate {other}"),
    }
}

fn hex(bits: &str) -> u64 {
    u64::from_str_radix(bits.strip_prefix("0x").unwrap(), 16).unwrap()
}

fn compare(mut columns: Columns, query: &fixtures::Query) -> Result<(), String> {
    let mut expected: Columns = query.columns.iter().map(|column| (column.name.clone(), cells(column))).collect();
    if let Some((name, cells)) = columns.iter().find(|(_, cells)| cells.len() != query.cells) {
        return Err(format!("{} cells of {name} instead of {}", cells.len(), query.cells));
    }
    if query.order == fixtures::Order::Any {
        (columns, expected) = (sorted(&columns), sorted(&expected));
    }
    for (name, cells) in &columns {
        if let Some(at) = (0..cells.len()).find(|&at| cells[at] != expected[name][at]) {
            return Err(format!("{name}, cell {at}: {:?} instead of {:?}", cells[at], expected[name][at]));
        }
    }
    Ok(())
}

fn cells(column: &fixtures::Column) -> Vec<Option<Vec<u8>>> {
    let bytes = column.to_bytes();
    let size = column.cell_val_num.map(|number| number as usize * column.value_size());
    (0..column.values.len())
        .map(|cell| {
            let range = match (&bytes.offsets, size) {
                (Some(offsets), _) => offsets[cell] as usize..offsets[cell + 1] as usize,
                (None, Some(size)) => cell * size..(cell + 1) * size,
                (None, None) => unreachable!("cells of variable length have offsets"),
            };
            let valid = bytes.validity.as_ref().is_none_or(|validity| validity[cell] != 0);
            valid.then(|| bytes.values[range].to_vec())
        })
        .collect()
}

/// The same cells, in an order that follows from them.
fn sorted(columns: &Columns) -> Columns {
    let len = columns.values().next().map_or(0, Vec::len);
    let mut rows: Vec<Vec<&Option<Vec<u8>>>> =
        (0..len).map(|row| columns.values().map(|cells| &cells[row]).collect()).collect();
    rows.sort();
    let column = |index: usize| rows.iter().map(|row| row[index].clone()).collect();
    columns.keys().enumerate().map(|(index, name)| (name.clone(), column(index))).collect()
}
