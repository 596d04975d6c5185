//! What metadata alone says of cells: nothing but what the aggregates of all cells are, and without a look at them.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::sync::Arc;

use tdb_aggregate::Sum;
use tdb_array::{
    Aggregate, Array, ArrayError, ArrayOptions, Batch, CreateOptions, Names, NewCells, NewColumn, Query, Stated,
    WhyUnknown,
};
use tdb_condition::field;
use tdb_filters::EncryptionKey;
use tdb_fragment::Distrust;
use tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::fixtures;
use tdb_types::{Datatype, Scalar};

fn value(found: &Batch) -> Option<Vec<u8>> {
    found.columns()[0].cell(0).map(<[u8]>::to_vec)
}

/// How many of a field's statistics are exact; each that is, is the aggregate.
fn check(query: &Query, name: &str) -> usize {
    let found = query.statistics(name).unwrap();
    let aggregate = |aggregate: Aggregate| value(query.clone().aggregate([aggregate]).unwrap().batch());
    let mut exact = 0;
    let mut same = |what: &str, found: Option<Option<Vec<u8>>>, asked: Aggregate| {
        if let Some(found) = found {
            assert_eq!(found, aggregate(asked), "{what} of {name}");
            exact += 1;
        }
    };
    let number = |stated: &Stated<u64>| stated.exact().map(|number| Some(number.to_le_bytes().to_vec()));
    same("cells", number(&found.cells), Aggregate::count());
    same("count", number(&found.count), Aggregate::count_of(name));
    same("nulls", number(&found.nulls), Aggregate::null_count(name));
    same("min", found.min.exact().cloned(), Aggregate::min(name));
    same("max", found.max.exact().cloned(), Aggregate::max(name));
    let bytes = |sum: Sum| match sum {
        Sum::I64(sum) => sum.to_le_bytes().to_vec(),
        Sum::U64(sum) => sum.to_le_bytes().to_vec(),
        Sum::F64(sum) => sum.to_le_bytes().to_vec(),
    };
    same("sum", found.sum.exact().map(|sum| sum.map(bytes)), Aggregate::sum(name));
    exact
}

#[test]
fn every_fixture() {
    let (mut exact, mut all) = (0, 0);
    for fixture in fixtures::all().into_iter().chain(fixtures::of_older_releases()) {
        let options = ArrayOptions::new().threads(1);
        let options = match fixture.expected().key() {
            Some(key) => options.key(EncryptionKey::new(key)),
            None => options,
        };
        let array = options.open_on(fixture.array_storage() as Arc<dyn Storage>).unwrap();
        let schema = array.schema().clone();
        for name in schema.fields().filter_map(|field| schema.field_name(field)) {
            exact += check(&array.read(), name);
            // A box around a fragment's cells has whole tiles.
            let some = array.fragments().unwrap().first().and_then(tdb_array::Fragment::non_empty_coordinates);
            if let Some(sides) = some {
                let mut sides = schema.dimensions().iter().zip(sides);
                let query =
                    sides.try_fold(array.read(), |query, (dimension, side)| query.range(dimension.name(), side).ok());
                if let Some(query) = query {
                    exact += check(&query, name);
                }
            }
            all += 12;
        }
    }
    println!("{exact} of {all} are exact");
    assert!(exact * 5 > all, "{exact} of {all}");
}

fn create(builder: SchemaBuilder) -> Arc<dyn Storage> {
    let storage = Arc::new(MemoryStorage::new()) as Arc<dyn Storage>;
    let dimension = Dimension::new("x", Datatype::Int32, Scalar::I32(0), Scalar::I32(999));
    let schema = builder.dimension(dimension.with_tile_extent(Scalar::I32(10)));
    let schema =
        schema.attribute(Attribute::new("f", Datatype::Float64)).attribute(Attribute::new("i", Datatype::Int64));
    let definition = ArrayDefinition::new(schema.build().unwrap()).unwrap();
    CreateOptions::new().create_on(&storage, &definition).unwrap();
    storage
}

fn open(storage: &Arc<dyn Storage>) -> Array {
    ArrayOptions::new().threads(1).open_on(storage.clone()).unwrap()
}

fn write(storage: &Arc<dyn Storage>, x: &[i32], f: &[f64], i: &[i64]) {
    open(storage).write().cells(NewCells::new().with("x", x).with("f", f).with("i", i)).unwrap();
}

#[test]
fn why_it_is_not_known() {
    let storage = create(SchemaBuilder::sparse().capacity(4));
    write(&storage, &[1, 2, 3, 4, 5, 6, 7, 8], &[1.0; 8], &[5; 8]);
    let query = |storage: &Arc<dyn Storage>| open(storage).read();
    let found = query(&storage).statistics("i").unwrap();
    assert_eq!(found.cells, Stated::Exact(8));
    assert_eq!(
        (found.sum, found.min),
        (Stated::Exact(Some(Sum::I64(40))), Stated::Exact(Some(5i64.to_le_bytes().to_vec())))
    );
    // A box of whole tiles, and one that cuts a tile.
    let within = |end: i32| query(&storage).range("x", 1..=end).unwrap().statistics("i").unwrap().cells;
    assert_eq!((within(4), within(5)), (Stated::Exact(4), Stated::Unknown(WhyUnknown::PartOfTile)));
    let filtered = |least: i64| query(&storage).filter(field("i").ge(least)).statistics("i").unwrap().cells;
    assert_eq!((filtered(5), filtered(6)), (Stated::Exact(8), Stated::Exact(0)));
    write(&storage, &[20, 21], &[f64::NAN, 2.0], &[i64::MAX, i64::MAX]);
    let found = query(&storage).statistics("f").unwrap();
    assert_eq!((found.cells, found.nulls), (Stated::Exact(10), Stated::Exact(0)));
    assert_eq!(found.min, Stated::Unknown(WhyUnknown::Distrusted(Distrust::MayHideNan)));
    let found = query(&storage).statistics("i").unwrap();
    assert_eq!(found.sum, Stated::Unknown(WhyUnknown::Distrusted(Distrust::Saturated)));
    assert_eq!(query(&storage).filter(field("i").ge(6)).statistics("i").unwrap().cells, Stated::Exact(2));
    write(&storage, &[3], &[1.0], &[9]);
    assert_eq!(query(&storage).statistics("i").unwrap().cells, Stated::Unknown(WhyUnknown::Overlap));
    let storage = create(SchemaBuilder::sparse());
    write(&storage, &[1, 2, 3], &[1.0; 3], &[5, 6, 7]);
    open(&storage).delete_cells(&field("i").eq(6), &Names::new()).unwrap();
    let later = open(&storage).reopened().unwrap().read();
    assert_eq!(later.statistics("i").unwrap().cells, Stated::Unknown(WhyUnknown::Deletes));
    assert!(matches!(later.statistics("nothing"), Err(ArrayError::UnknownField { .. })));
}

#[test]
fn dense_cells_that_nobody_wrote_count() {
    let storage = create(SchemaBuilder::dense());
    assert_eq!(open(&storage).statistics("i").unwrap().cells, Stated::Exact(1000));
    let cells = NewCells::new().with("f", &[1.0f64; 20]).with("i", &[3i64; 20]);
    open(&storage).write().range("x", 10..30).unwrap().cells(cells).unwrap();
    let found = open(&storage).statistics("i").unwrap();
    assert_eq!(
        (found.cells, found.count, found.sum),
        (Stated::Exact(1000), Stated::Exact(20), Stated::Exact(Some(Sum::I64(60))))
    );
    let cut = open(&storage).read().range("x", 15..40).unwrap().statistics("i").unwrap();
    assert_eq!((cut.cells, cut.sum), (Stated::Exact(25), Stated::Unknown(WhyUnknown::PartOfTile)));
}

#[test]
fn ends_of_dimensions_are_those_of_boxes() {
    let storage = create(SchemaBuilder::sparse().capacity(4));
    write(&storage, &[999, 2, 3, 400, 5, 6, 7, 0], &[1.0; 8], &[5; 8]);
    let ends = |array: &Array| {
        let found = array.statistics("x").unwrap();
        (found.min, found.max, found.sum)
    };
    let exact = |x: i32| Stated::Exact(Some(x.to_le_bytes().to_vec()));
    assert_eq!(ends(&open(&storage)), (exact(0), exact(999), Stated::Exact(Some(Sum::I64(1422)))));
    write(&storage, &[1000 - 2, 401], &[1.0; 2], &[5; 2]);
    let overlap = Stated::Unknown(WhyUnknown::Overlap);
    assert_eq!(ends(&open(&storage)).1, overlap);
    // Of deleted cells nobody knows which they were.
    let storage = create(SchemaBuilder::sparse());
    write(&storage, &[1, 2, 3], &[1.0; 3], &[5, 6, 7]);
    open(&storage).delete_cells(&field("i").eq(7), &Names::new()).unwrap();
    assert_eq!(ends(&open(&storage)).1, Stated::Unknown(WhyUnknown::Deletes));
    // The boxes of dense tiles are of more than was written.
    let storage = create(SchemaBuilder::dense());
    let cells = NewCells::new().with("f", &[1.0f64; 20]).with("i", &[3i64; 20]);
    open(&storage).write().range("x", 10..30).unwrap().cells(cells).unwrap();
    assert!(matches!(ends(&open(&storage)).1, Stated::Unknown(_)));
    // Floats have NaNs and two zeros.
    let storage = Arc::new(MemoryStorage::new()) as Arc<dyn Storage>;
    let y = Dimension::new("y", Datatype::Float64, Scalar::F64(-9.0), Scalar::F64(9.0));
    let schema = SchemaBuilder::sparse().dimension(y).dimension(Dimension::string("s"));
    let definition = ArrayDefinition::new(schema.attribute(Attribute::new("i", Datatype::Int64)).build().unwrap());
    CreateOptions::new().create_on(&storage, &definition.unwrap()).unwrap();
    let cells = NewCells::new().with("y", &[1.0f64, -0.0]).with("s", NewColumn::strings(["b", ""]));
    open(&storage).write().cells(cells.with("i", &[1i64, 2])).unwrap();
    assert!(matches!(open(&storage).statistics("y").unwrap().min, Stated::Unknown(_)));
    let strings = open(&storage).statistics("s").unwrap();
    assert_eq!((strings.min, strings.max), (Stated::Exact(Some(Vec::new())), Stated::Exact(Some(b"b".to_vec()))));
}
