//! Parts of queries: together they have the query's cells, each once, also in another process and
//! after later writes.

use std::sync::Arc;

use crate::arrays::{Row, create, open, rows};
use crate::dense::{LOW, any_case, len};
use crate::sparse_support::cases::cases;
use proptest::prelude::*;
use proptest::sample::Index;
use tdb_array::{
    Array, ArrayError, ArrayOptions, Order, Query, QueryBox, QueryPart, TimeRange, WriteBatch, WriteColumn, WriteIds,
};
use tdb_condition::field;
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_storage::Storage;
use tdb_types::Datatype;

/// Returns the cells of each part, after a round trip through bytes.
fn rows_of(parts: &[QueryPart], array: &tdb_array::Snapshot) -> Vec<Vec<Row>> {
    let read = |part: &QueryPart| {
        let sent = QueryPart::from_bytes(&part.to_bytes()).unwrap();
        assert_eq!(sent, *part);
        rows(sent.query(array).unwrap())
    };
    parts.iter().map(read).collect()
}

fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort();
    rows
}

/// Checks that the parts together have the query's cells. Returns the cells of each part.
fn check(query: &Query, parts: usize) -> Vec<Vec<Row>> {
    let split = query.split(parts).unwrap();
    assert!(!split.is_empty() && split.len() <= parts.max(1), "found {} parts, expected at most {parts}", split.len());
    let of_parts = rows_of(&split, query.array());
    assert_eq!(sorted(of_parts.concat()), sorted(rows(query.clone())), "{parts} parts");
    of_parts
}

const CASES: u32 = if cfg!(debug_assertions) { 80 } else { 10_000 };

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn of_sparse_arrays(case in cases(), parts in prop_oneof![0..4_usize, 4..12_usize]) {
        let array = case.array();
        let query = case.query(&array);
        let found = check(&query, parts);
        // Cells with equal coordinates are in the same part.
        let dimensions = case.schema.dim_count();
        let coordinates = |rows: &[Row]| rows.iter().map(|row| row[..dimensions].to_vec()).collect::<std::collections::BTreeSet<_>>();
        let all: Vec<_> = found.iter().map(|rows| coordinates(rows)).collect();
        for (index, own) in all.iter().enumerate() {
            prop_assert!(all[index + 1..].iter().all(|other| own.is_disjoint(other)));
        }
    }

    #[test]
    fn of_dense_arrays(case in any_case(), more in prop::collection::vec(more(), 4)) {
        let array = case.open(1);
        for (wanted, more) in case.queries.iter().zip(&more) {
            check(&more.query(wanted.query(&array), &case.schema), more.parts);
        }
    }

    /// Any bytes are rejected, or form a part that survives a round trip.
    #[test]
    fn damaged_parts(place in any::<Index>(), byte in any::<u8>()) {
        let (_folder, array) = grid(false);
        let query = array.read().range("y", 3..40).unwrap().boxes([QueryBox::new().range("x", 3..9)]).unwrap();
        let part = &query.filter(field("a").gt(3) | field("x").is_in([1, 2])).budget(7).split(3).unwrap()[0];
        let mut bytes = part.to_bytes();
        let place = place.index(bytes.len());
        bytes[place] = byte;
        if let Ok(part) = QueryPart::from_bytes(&bytes) {
            prop_assert_eq!(QueryPart::from_bytes(&part.to_bytes()).unwrap(), part.clone());
            let _ = part.query(&array).and_then(|query| query.plan());
        }
    }
}

/// Additions to a query of a dense array, and the number of its parts.
#[derive(Clone, Debug)]
struct More {
    boxes: Option<Vec<[(Index, Index); 3]>>,
    filter: Option<(i32, bool)>,
    only_dimensions: bool,
    parts: usize,
}

fn more() -> impl Strategy<Value = More> {
    let side = || (any::<Index>(), any::<Index>());
    let boxes = prop::option::weighted(0.3, prop::collection::vec([side(), side(), side()], 0..5));
    let filter = prop::option::of((any::<i32>(), any::<bool>()));
    (boxes, filter, prop::bool::weighted(0.2), prop_oneof![1..5_usize, 5..50_usize])
        .prop_map(|(boxes, filter, only_dimensions, parts)| More { boxes, filter, only_dimensions, parts })
}

impl More {
    fn query(&self, mut query: Query, schema: &ArraySchema) -> Query {
        if let Some(boxes) = &self.boxes {
            let boxed = |sides: &[(Index, Index); 3]| {
                schema.dimensions().iter().zip(sides).fold(QueryBox::new(), |all, (dimension, (a, b))| {
                    let [a, b] = [a, b].map(|end| LOW + end.index(len(dimension) as usize) as i64);
                    all.range(dimension.name(), a.min(b)..=a.max(b))
                })
            };
            query = query.boxes(boxes.iter().map(boxed)).unwrap();
        }
        let attributes = schema.attributes().iter().map(Attribute::name).filter(|_| !self.only_dimensions);
        query = query.select(schema.dimensions().iter().map(Dimension::name).chain(attributes)).unwrap();
        let Some((least, only_matching)) = self.filter else { return query };
        query = query.filter(field("i4").ge(least));
        if only_matching { query.only_matching() } else { query }
    }
}

/// 100 by 60 cells in tiles of 10 by 10, in two fragments. Every second cell if sparse.
fn grid(dense: bool) -> (tempfile::TempDir, Array) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array");
    let dimension = |name, end| Dimension::new(name, 0i32..=end);
    let dimension = |name, end| dimension(name, end).with_tile(10);
    let builder = if dense { SchemaBuilder::dense() } else { SchemaBuilder::sparse().capacity(50) };
    let schema = builder.dimension(dimension("y", 99)).dimension(dimension("x", 59));
    let schema = schema.attribute(Attribute::new("a", Datatype::Int32)).build().unwrap();
    Array::create(&path, schema).unwrap();
    for half in 0..2 {
        let (y, x): (Vec<i32>, Vec<i32>) =
            (half * 50..half * 50 + 50).flat_map(|y| (0..60).map(move |x| (y, x))).unzip();
        let a: Vec<i32> = y.iter().zip(&x).map(|(y, x)| y * 100 + x).collect();
        let write = Array::open(&path).unwrap().write();
        let cells = WriteBatch::new().with("a", &a);
        match dense {
            true => write.range("y", half * 50..half * 50 + 50).unwrap().cells(cells).unwrap(),
            false => write.cells(cells.with("y", &y).with("x", &x)).unwrap(),
        };
    }
    let array = Array::open(&path).unwrap();
    (folder, array)
}

/// With enough tiles, no part has more than twice its share, and no dense tile is read by two
/// parts.
#[test]
fn parts_are_balanced() {
    for dense in [true, false] {
        let (_folder, array) = grid(dense);
        for parts in [2, 3, 4, 5, 7, 12] {
            let query = array.read().select(["a"]).unwrap();
            let cells: Vec<usize> = check(&query, parts).iter().map(Vec::len).collect();
            assert_eq!(cells.len(), parts);
            let most = *cells.iter().max().unwrap();
            assert!(most * parts <= 6000 * 3 / 2, "{parts} parts, dense {dense}: {cells:?}");
            if dense {
                let split = query.split(parts).unwrap();
                let tiles = |part: &QueryPart| part.query(&array).unwrap().plan().unwrap().tile_count();
                assert_eq!(split.iter().map(tiles).sum::<usize>(), 60, "{parts} parts");
            }
        }
        // Shares are based on the requested cells, not on all cells.
        let query = array.read().range("y", 40..60).unwrap().range("x", 20..).unwrap();
        let cells: Vec<usize> = check(&query, 4).iter().map(Vec::len).collect();
        assert!(cells.len() == 4 && cells.iter().all(|cells| (150..=250).contains(cells)), "{cells:?}");
        // Tiles excluded by the condition have no weight.
        let query = array.read().filter(field("a").ge(8000)).only_matching();
        let cells: Vec<usize> = check(&query, 2).iter().map(Vec::len).collect();
        assert!(cells.iter().all(|cells| (400..=800).contains(cells)), "{cells:?}");
    }
}

fn one_dimension(dimension: Dimension, duplicates: bool) -> Arc<dyn Storage> {
    let schema = SchemaBuilder::sparse().dimension(dimension).capacity(4).allows_duplicates(duplicates);
    create(schema.attribute(Attribute::new("a", Datatype::Int64)).build().unwrap())
}

#[test]
fn floats_on_both_sides_of_zero_and_up_to_the_ends() {
    let dimension = Dimension::new("x", f64::MIN..=f64::MAX);
    let storage = one_dimension(dimension, true);
    let values =
        [f64::MIN, -1e300, -1.0, -f64::MIN_POSITIVE, -5e-324, -0.0, 0.0, -0.0, 0.0, 5e-324, 1.0, 1e9, f64::MAX];
    for _ in 0..2 {
        let numbers: Vec<i64> = (0..values.len() as i64).collect();
        let cells = WriteBatch::new().with("x", &values).with("a", &numbers);
        open(&storage).write().cells(cells).unwrap();
    }
    let array = open(&storage);
    for parts in 1..30 {
        let zeros = |rows: &Vec<Row>| {
            let value = |row: &Row| f64::from_le_bytes(row[0].clone().unwrap().try_into().unwrap());
            rows.iter().filter(|row| value(row) == 0.0).count()
        };
        let of_parts = check(&array.read(), parts);
        assert!(of_parts.iter().map(zeros).all(|zeros| zeros == 0 || zeros == 8), "{parts}");
        check(&array.read().range("x", -0.0..=0.0).unwrap(), parts);
        check(&array.read().range("x", -5e-324..=5e-324).unwrap(), parts);
    }
}

#[test]
fn strings_and_the_largest_integers() {
    let storage = one_dimension(Dimension::string("s"), false);
    let all: Vec<String> = (0..200).map(|number| "ab".repeat(number % 9) + &format!("{number:x}\u{0}")).collect();
    let mut all: Vec<Vec<u8>> = all.into_iter().map(String::into_bytes).collect();
    all.extend([vec![], vec![b'a'], vec![b'a', 0], vec![127, 127]]);
    for part in 0..3 {
        let some: Vec<&Vec<u8>> = all.iter().skip(part).step_by(part + 1).collect();
        let numbers: Vec<i64> = (0..some.len() as i64).collect();
        let cells = WriteBatch::new().with("s", WriteColumn::strings(some)).with("a", &numbers);
        open(&storage).write().cells(cells).unwrap();
    }
    let array = open(&storage);
    for parts in [1, 2, 3, 7, 20, 200] {
        assert!(check(&array.read(), parts).len() > parts / 10);
        check(&array.read().prefix("s", "ab").unwrap().prefix("s", "abab").unwrap().order(Order::RowMajor), parts);
        check(&array.read().range("s", "a".."ababab0").unwrap(), parts);
    }
    let end = u64::MAX;
    let dimension = Dimension::new("x", 1u64..=end);
    let storage = one_dimension(dimension, false);
    let (x, a): (Vec<u64>, Vec<i64>) = (0..40).map(|number| (end - number * number, number as i64)).unzip();
    open(&storage).write().cells(WriteBatch::new().with("x", &x).with("a", &a)).unwrap();
    let array = open(&storage);
    for parts in [2, 3, 7, 50] {
        assert!(check(&array.read(), parts).iter().filter(|rows| !rows.is_empty()).count() > 1);
        check(&array.read().points([("x", &[end, end - 1, end - 4, 3])]).unwrap(), parts);
    }
}

#[test]
fn empty_queries_have_one_part() {
    for dense in [true, false] {
        let (_folder, array) = grid(dense);
        let nothing = array.read().boxes([]).unwrap();
        assert_eq!(check(&nothing, 5), [Vec::<Row>::new()]);
        assert_eq!(check(&array.read(), 0).len(), 1);
    }
    let storage = one_dimension(Dimension::string("s"), false);
    let empty = open(&storage);
    assert_eq!(check(&empty.read(), 5), [Vec::<Row>::new()]);
}

/// Parts read the original snapshot despite later writes, consolidations and deletes.
#[test]
fn parts_are_of_one_snapshot() {
    let (folder, array) = grid(false);
    let path = folder.path().join("array");
    let all = sorted(rows(array.read()));
    let parts: Vec<Vec<u8>> = array.read().split(4).unwrap().iter().map(QueryPart::to_bytes).collect();
    let open = || {
        let parts = parts.iter().map(|bytes| QueryPart::from_bytes(bytes).unwrap().open(&ArrayOptions::new()));
        parts.collect::<Result<Vec<Query>, ArrayError>>()
    };
    let read = || sorted(open().unwrap().into_iter().flat_map(rows).collect());
    assert_eq!(read(), all);
    // Written at the same time as existing fragments.
    let time = array.time().end;
    let cells = || WriteBatch::new().with("y", &[10i32]).with("x", &[20i32]).with("a", &[-1i32]);
    Array::open(&path).unwrap().write().ids(WriteIds::new().at(time)).cells(cells()).unwrap();
    Array::open(&path).unwrap().write().cells(cells()).unwrap();
    assert_eq!(read(), all);
    Array::open(&path).unwrap().reopened().unwrap().delete_cells(&field("a").gt(3000), &WriteIds::new()).unwrap();
    assert_eq!(read(), all);
    // The original array, opened at another time.
    let later = Array::open(&path).unwrap().reopened().unwrap();
    let read_on = |array: &Array| sorted(rows_of(&array_parts(&parts), array).concat());
    assert_eq!(read_on(&later), all);
    assert_ne!(sorted(rows(later.read())), all);
    assert_eq!(read_on(&array), all);
}

fn array_parts(parts: &[Vec<u8>]) -> Vec<QueryPart> {
    parts.iter().map(|bytes| QueryPart::from_bytes(bytes).unwrap()).collect()
}

#[test]
fn a_part_whose_fragments_are_gone_is_refused() {
    let (folder, array) = grid(false);
    let part = array.read().split(2).unwrap().remove(0);
    let folders: Vec<String> = array.fragments().unwrap().iter().map(|fragment| fragment.folder().to_owned()).collect();
    for fragment in folders {
        std::fs::remove_dir_all(folder.path().join("array").join(fragment)).unwrap();
    }
    for commit in std::fs::read_dir(folder.path().join("array/__commits")).unwrap() {
        std::fs::remove_file(commit.unwrap().path()).unwrap();
    }
    let error = part.open(&ArrayOptions::new()).map(drop).unwrap_err();
    assert!(matches!(error, ArrayError::Outdated { .. }), "{error}");
    assert!(error.to_string().contains("split the query again"), "{error}");
    assert_eq!(part.time(), TimeRange::until(array.time().end));
}

#[test]
fn parts_of_another_array_or_version_are_refused() {
    let (_folder, array) = grid(false);
    let (_other_folder, other) = grid(true);
    let part = array.read().split(2).unwrap().remove(1);
    assert!(part.query(&other).is_err());
    let mut bytes = part.to_bytes();
    for end in 0..bytes.len() {
        assert!(QueryPart::from_bytes(&bytes[..end]).is_err(), "{end}");
    }
    bytes.push(0);
    assert!(QueryPart::from_bytes(&bytes).is_err());
    bytes.pop();
    bytes[8] = 2;
    let error = QueryPart::from_bytes(&bytes).unwrap_err();
    assert!(error.to_string().contains("version"), "{error}");
}
