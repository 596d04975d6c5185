//! Statistics from metadata alone. They must equal the aggregates of all cells.

use std::sync::Arc;

use tdb_aggregate::{Measured, Sum, Summary, Total, ValueKind};
use tdb_array::{
    Aggregate, Array, ArrayError, ArrayOptions, Batch, CellsError, Exactness, InexactReason, Query, WriteBatch,
    WriteColumn, WriteIds,
};
use tdb_condition::field;
use tdb_fragment::UntrustedReason;
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder, SchemaEvolution};
use tdb_storage::{CountingStorage, Storage};
use tdb_testkit::{copy_files, fixtures};
use tdb_types::{CellValNum, Datatype};

use crate::arrays::{self, open, open_fixture};

fn value(found: &Batch) -> Option<Vec<u8>> {
    found.columns()[0].cell(0).map(<[u8]>::to_vec)
}

/// Aggregates over the cells, in groups by the first dimension, computed without metadata.
#[derive(Debug)]
struct Looked {
    cells: u64,
    count: u64,
    nulls: u64,
    bounds: Option<Summary>,
    /// `None` if the total of a group does not fit.
    total: Option<Total>,
}

fn look(query: &Query, schema: &ArraySchema, name: &str) -> Looked {
    let field = schema.field(name).and_then(|field| schema.field_type(field)).unwrap();
    let kind = ValueKind::of(field.datatype, field.cell_val_num);
    let counts = [Aggregate::count(), Aggregate::count_of(name), Aggregate::null_count(name)];
    let more = [Aggregate::min(name), Aggregate::max(name), Aggregate::sum(name)];
    let more: Vec<Aggregate> = more.into_iter().filter(|asked| query.can_aggregate(asked).is_ok()).collect();
    let (has_bounds, has_sum) = (more.contains(&Aggregate::min(name)), more.contains(&Aggregate::sum(name)));
    let mut looked = Looked { cells: 0, count: 0, nulls: 0, bounds: None, total: None };
    let mut bounds = Summary::new(kind, Measured { sum: false, bounds: true });
    let mut total = kind.number().map_or(Total::Unsigned(0), Total::zero);
    let groups = query.clone().group_by([schema.dimensions()[0].name()], counts.into_iter().chain(more)).unwrap();
    let mut groups = groups;
    for batch in groups.by_ref() {
        let batch = batch.unwrap();
        let sum = |place: usize| batch.columns()[place].values::<u64>().unwrap().iter().sum::<u64>();
        looked.cells += sum(1);
        looked.count += sum(2);
        looked.nulls += sum(3);
        if has_bounds {
            batch.columns()[4..6].iter().for_each(|column| bounds.add(&column.cells(), None));
        }
        if has_sum {
            let sums = batch.columns().last().unwrap();
            let each = |row: usize| sums.cell(row).map(|bytes| <[u8; 8]>::try_from(bytes).unwrap());
            (0..batch.len()).filter_map(each).for_each(|bytes| {
                total.add(match total {
                    Total::Signed(_) => Total::Signed(i64::from_le_bytes(bytes).into()),
                    Total::Unsigned(_) => Total::Unsigned(u64::from_le_bytes(bytes).into()),
                    Total::Float { .. } => Total::Float { sum: f64::from_le_bytes(bytes), overflowed: false },
                });
            });
        }
    }
    looked.bounds = has_bounds.then_some(bounds);
    looked.total = (has_sum && groups.saturated().is_empty()).then_some(total);
    looked
}

/// Checks that exact statistics equal the aggregates over the cells. Returns their number.
fn compare(query: &Query, schema: &ArraySchema, name: &str) -> usize {
    let (found, looked) = (query.statistics(name).unwrap(), look(query, schema, name));
    let is = |what: &str, stated: &Exactness<u64>, looked: u64| match stated {
        Exactness::Exact(number) => {
            assert_eq!(*number, looked, "{what} of {name}");
            1
        }
        Exactness::Unknown(_) => 0,
    };
    let mut exact = is("cells", &found.cells, looked.cells)
        + is("count", &found.count, looked.count)
        + is("nulls", &found.nulls, looked.nulls);
    for (place, stated) in [&found.min, &found.max].into_iter().enumerate() {
        let Exactness::Exact(stated) = stated else { continue };
        let bounds = looked.bounds.as_ref().and_then(Summary::bounds);
        let bound = bounds.map(|bounds| if place == 0 { bounds.0 } else { bounds.1 });
        assert_eq!(stated.as_deref(), bound, "min, max of {name}");
        exact += 1;
    }
    if let Exactness::Exact(stated) = &found.sum {
        exact += 1;
        match (stated, looked.total) {
            (Some(Sum::F64(sum)), Some(Total::Float { sum: looked, .. })) => {
                let is_near = (sum - looked).abs() <= 1e-9 * looked.abs().max(1.0);
                assert!(
                    is_near || sum.to_bits() == looked.to_bits() || sum.is_nan() && looked.is_nan(),
                    "{name}: {sum}, {looked}"
                );
            }
            (Some(sum), Some(looked)) => assert_eq!((*sum, true), looked.sum(), "sum of {name}"),
            (None, _) => assert_eq!(looked.count, 0),
            (_, None) => {}
        }
    }
    exact
}

#[test]
fn every_fixture_as_a_look_at_each_cell_gives() {
    let (mut exact, mut all) = (0, 0);
    for fixture in fixtures::all().into_iter().chain(fixtures::of_older_releases()) {
        let array = open_fixture(&fixture, 1);
        let schema = array.schema().clone();
        // A domain may have too many unwritten cells to visit.
        let Some(sides) = array.non_empty_coordinates().unwrap() else { continue };
        let within = |sides: Vec<_>| {
            let mut sides = schema.dimensions().iter().zip(sides);
            sides.try_fold(array.read(), |query, (dimension, side)| query.range(dimension.name(), side))
        };
        let Ok(query) = within(sides) else { continue };
        // A box around a fragment's cells consists of complete tiles.
        let first = array.fragments().unwrap()[0].non_empty_coordinates().and_then(|sides| within(sides).ok());
        let names: Vec<&str> = schema.fields().filter_map(|field| schema.field_name(field)).collect();
        for name in &names {
            exact += compare(&query, &schema, name);
            all += 6;
            let whole = (!schema.is_dense()).then(|| array.read());
            for query in whole.iter().chain(&first) {
                exact += compare(query, &schema, name);
                all += 6;
            }
        }
        // Statistics requested together equal separate requests and a second request.
        let one_by_one: Vec<_> = names.iter().map(|name| query.statistics(name).unwrap()).collect();
        // Compared as text, since NaN is unequal to NaN.
        assert_eq!(
            format!("{:?}", query.statistics_of(&names).unwrap()),
            format!("{one_by_one:?}"),
            "{}",
            fixture.name()
        );
    }
    println!("{exact} of {all} statistics are exact");
    assert!(exact * 3 > all, "{exact} of {all}");
}

fn create(builder: SchemaBuilder) -> Arc<dyn Storage> {
    let dimension = Dimension::new("x", 0i32..=999);
    let schema = builder.dimension(dimension.with_tile(10));
    let schema =
        schema.attribute(Attribute::new("f", Datatype::Float64)).attribute(Attribute::new("i", Datatype::Int64));
    arrays::create(schema.build().unwrap())
}

fn write(storage: &Arc<dyn Storage>, x: &[i32], f: &[f64], i: &[i64]) {
    open(storage).write().cells(WriteBatch::new().with("x", x).with("f", f).with("i", i)).unwrap();
}

#[test]
fn reasons_for_inexact_statistics() {
    let storage = create(SchemaBuilder::sparse().capacity(4));
    write(&storage, &[1, 2, 3, 4, 5, 6, 7, 8], &[1.0; 8], &[5; 8]);
    let query = |storage: &Arc<dyn Storage>| open(storage).read();
    let found = query(&storage).statistics("i").unwrap();
    assert_eq!(found.cells, Exactness::Exact(8));
    assert_eq!(
        (found.sum, found.min),
        (Exactness::Exact(Some(Sum::I64(40))), Exactness::Exact(Some(5i64.to_le_bytes().to_vec())))
    );
    // A box of complete tiles, and a box that cuts a tile.
    let within = |end: i32| query(&storage).range("x", 1..=end).unwrap().statistics("i").unwrap().cells;
    assert_eq!((within(4), within(5)), (Exactness::Exact(4), Exactness::Unknown(InexactReason::PartOfTile)));
    let filtered = |least: i64| query(&storage).filter(field("i").ge(least)).statistics("i").unwrap().cells;
    assert_eq!((filtered(5), filtered(6)), (Exactness::Exact(8), Exactness::Exact(0)));
    write(&storage, &[20, 21], &[f64::NAN, 2.0], &[i64::MAX, i64::MAX]);
    let found = query(&storage).statistics("f").unwrap();
    assert_eq!((found.cells, found.nulls), (Exactness::Exact(10), Exactness::Exact(0)));
    assert_eq!(found.min, Exactness::Unknown(InexactReason::Distrusted(UntrustedReason::MayHideNan)));
    let found = query(&storage).statistics("i").unwrap();
    assert_eq!(found.sum, Exactness::Unknown(InexactReason::Distrusted(UntrustedReason::Saturated)));
    assert_eq!(query(&storage).filter(field("i").ge(6)).statistics("i").unwrap().cells, Exactness::Exact(2));
    write(&storage, &[3], &[1.0], &[9]);
    assert_eq!(query(&storage).statistics("i").unwrap().cells, Exactness::Unknown(InexactReason::Overlap));
    let storage = create(SchemaBuilder::sparse());
    write(&storage, &[1, 2, 3], &[1.0; 3], &[5, 6, 7]);
    open(&storage).delete_cells(&field("i").eq(6), &WriteIds::new()).unwrap();
    let later = open(&storage).reopened().unwrap().read();
    assert_eq!(later.statistics("i").unwrap().cells, Exactness::Unknown(InexactReason::Deletes));
    assert!(matches!(later.statistics("nothing"), Err(ArrayError::Cells(CellsError::UnknownField { .. }))));
}

#[test]
fn dense_cells_that_nobody_wrote_count() {
    let storage = create(SchemaBuilder::dense());
    assert_eq!(open(&storage).statistics("i").unwrap().cells, Exactness::Exact(1000));
    let cells = WriteBatch::new().with("f", &[1.0f64; 20]).with("i", &[3i64; 20]);
    open(&storage).write().range("x", 10..30).unwrap().cells(cells).unwrap();
    let found = open(&storage).statistics("i").unwrap();
    assert_eq!(
        (found.cells, found.count, found.sum),
        (Exactness::Exact(1000), Exactness::Exact(20), Exactness::Exact(Some(Sum::I64(60))))
    );
    let cut = open(&storage).read().range("x", 15..40).unwrap().statistics("i").unwrap();
    assert_eq!((cut.cells, cut.sum), (Exactness::Exact(25), Exactness::Unknown(InexactReason::PartOfTile)));
}

#[test]
fn dimension_bounds_equal_mbrs() {
    let storage = create(SchemaBuilder::sparse().capacity(4));
    write(&storage, &[999, 2, 3, 400, 5, 6, 7, 0], &[1.0; 8], &[5; 8]);
    let ends = |array: &Array| {
        let found = array.statistics("x").unwrap();
        (found.min, found.max, found.sum)
    };
    let exact = |x: i32| Exactness::Exact(Some(x.to_le_bytes().to_vec()));
    assert_eq!(ends(&open(&storage)), (exact(0), exact(999), Exactness::Exact(Some(Sum::I64(1422)))));
    write(&storage, &[1000 - 2, 401], &[1.0; 2], &[5; 2]);
    let overlap = Exactness::Unknown(InexactReason::Overlap);
    assert_eq!(ends(&open(&storage)).1, overlap);
    // Metadata does not identify deleted cells.
    let storage = create(SchemaBuilder::sparse());
    write(&storage, &[1, 2, 3], &[1.0; 3], &[5, 6, 7]);
    open(&storage).delete_cells(&field("i").eq(7), &WriteIds::new()).unwrap();
    assert_eq!(ends(&open(&storage)).1, Exactness::Unknown(InexactReason::Deletes));
    // The MBRs of dense tiles extend beyond the written cells.
    let storage = create(SchemaBuilder::dense());
    let cells = WriteBatch::new().with("f", &[1.0f64; 20]).with("i", &[3i64; 20]);
    open(&storage).write().range("x", 10..30).unwrap().cells(cells).unwrap();
    assert!(matches!(ends(&open(&storage)).1, Exactness::Unknown(_)));
    // Floats have NaNs and two zeros.
    let y = Dimension::new("y", -9.0f64..=9.0);
    let schema = SchemaBuilder::sparse().dimension(y).dimension(Dimension::string("s"));
    let storage = arrays::create(schema.attribute(Attribute::new("i", Datatype::Int64)).build().unwrap());
    let cells = WriteBatch::new().with("y", &[1.0f64, -0.0]).with("s", WriteColumn::strings(["b", ""]));
    open(&storage).write().cells(cells.with("i", &[1i64, 2])).unwrap();
    assert!(matches!(open(&storage).statistics("y").unwrap().min, Exactness::Unknown(_)));
    let strings = open(&storage).statistics("s").unwrap();
    assert_eq!((strings.min, strings.max), (Exactness::Exact(Some(Vec::new())), Exactness::Exact(Some(b"b".to_vec()))));
}

fn exact<T: tdb_array::Value>(value: T) -> Exactness<Option<Vec<u8>>> {
    Exactness::Exact(Some(WriteColumn::values(&[value]).as_bytes().to_vec()))
}

#[test]
fn complete_fragments_need_no_tile_statistics() {
    let storage = create(SchemaBuilder::sparse().capacity(2));
    let x: Vec<i32> = (0..200).collect();
    let f: Vec<f64> = x.iter().map(|x| f64::from(*x) / 2.0).collect();
    let i: Vec<i64> = x.iter().map(|x| i64::from(*x) - 50).collect();
    write(&storage, &x, &f, &i);
    let counting = CountingStorage::new(storage.clone());
    let array = ArrayOptions::new().threads(1).open_on(Arc::new(counting.clone())).unwrap();
    array.fragments().unwrap();
    let before = counting.counters();
    let found = array.read().statistics_of(["i", "x"]).unwrap();
    let after = counting.counters();
    assert_eq!((found[0].min.clone(), found[0].max.clone()), (exact(-50i64), exact(149i64)));
    assert_eq!((found[1].min.clone(), found[1].max.clone()), (exact(0i32), exact(199i32)));
    assert_eq!(found[0].sum, Exactness::Exact(Some(Sum::I64((-50..150).sum()))));
    // The totals were read with the footer.
    assert_eq!((after.opens - before.opens, after.reads - before.reads), (0, 0));
    // Totals of floats over several tiles are unreliable, but totals of single tiles are reliable
    // and read once.
    let floats = || array.statistics("f").unwrap();
    assert_eq!((floats().min, floats().max), (exact(0.0f64), exact(99.5f64)));
    let read = counting.counters().reads - after.reads;
    assert!(read <= 4 && counting.counters().opens == after.opens, "{read}");
    assert_eq!(floats().cells, Exactness::Exact(200));
    assert_eq!(counting.counters().reads - after.reads, read);
    // A box that cuts the fragment but no tile.
    let cut = array.read().range("x", 10..=19).unwrap().statistics_of(["i", "x", "f"]).unwrap();
    assert_eq!(
        (cut[0].max.clone(), cut[1].min.clone(), cut[2].max.clone()),
        (exact(-31i64), exact(10i32), exact(9.5f64))
    );
    assert_eq!(counting.counters().opens, after.opens);
}

#[test]
fn totals_hide_overflows() {
    // The sum of both tiles overflows. The tiles have exact sums, but the total does not.
    let storage = create(SchemaBuilder::sparse().capacity(1));
    write(&storage, &[1, 2, 3], &[1.0; 3], &[i64::MAX, 5, -7]);
    assert_eq!(
        open(&storage).statistics("i").unwrap().sum,
        Exactness::Unknown(InexactReason::Distrusted(UntrustedReason::Saturated))
    );
    let storage = create(SchemaBuilder::sparse().capacity(2));
    write(&storage, &[1, 2, 3, 4], &[1.0; 4], &[i64::MAX - 9, 5, -i64::MAX, 4]);
    let found = open(&storage).statistics("i").unwrap();
    assert_eq!(found.sum, Exactness::Exact(Some(Sum::I64(0))));
    let storage = create(SchemaBuilder::sparse().capacity(2));
    write(&storage, &[1, 2, 3, 4], &[1.0; 4], &[i64::MAX - 9, 5, i64::MAX - 9, 5]);
    let found = open(&storage).statistics("i").unwrap();
    assert_eq!((found.sum, found.max), (Exactness::Unknown(InexactReason::TooLarge), exact(i64::MAX - 9)));
    // A NaN after a sum that saturated. The next tile brings the sum back into the range.
    for order in [[f64::MAX, f64::MAX, f64::NAN, -1.0, -2.0, -3.0], [-1.0, -2.0, -3.0, f64::NAN, f64::MAX, f64::MAX]] {
        let storage = create(SchemaBuilder::sparse().capacity(3));
        write(&storage, &[1, 2, 3, 4, 5, 6], &order, &[1; 6]);
        let found = open(&storage).statistics("f").unwrap();
        assert!(matches!(found.min, Exactness::Unknown(InexactReason::Distrusted(_))), "{found:?}");
        assert!(matches!(found.max, Exactness::Unknown(InexactReason::Distrusted(_))), "{found:?}");
    }
}

#[test]
fn fragments_that_do_not_meet() {
    // The boxes of the fragments intersect, but their tiles do not.
    let storage = create(SchemaBuilder::sparse().capacity(2));
    write(&storage, &[1, 2, 101, 102], &[1.0; 4], &[1, 2, 3, 4]);
    write(&storage, &[51, 52, 151, 152], &[1.0; 4], &[5, 6, 7, 8]);
    let found = open(&storage).statistics("i").unwrap();
    assert_eq!((found.cells, found.max), (Exactness::Exact(8), exact(8i64)));
    // The cell of a third fragment is between two cells of a tile. Metadata is then inconclusive.
    write(&storage, &[152, 153], &[1.0; 2], &[9, 9]);
    let overlap = Exactness::Unknown(InexactReason::Overlap);
    assert_eq!(open(&storage).statistics("i").unwrap().cells, overlap);
    // Outside of the query, the overlap does not matter.
    let below = open(&storage).read().range("x", 0..=151).unwrap().statistics("i").unwrap();
    assert_eq!(below.cells, Exactness::Unknown(InexactReason::PartOfTile));
    let below = open(&storage).read().range("x", 0..=149).unwrap().statistics("i").unwrap();
    assert_eq!((below.cells, below.max), (Exactness::Exact(6), exact(6i64)));
    // With duplicates, no cell is hidden.
    let storage = create(SchemaBuilder::sparse().allows_duplicates(true));
    write(&storage, &[1, 1, 2], &[1.0; 3], &[1, 2, 3]);
    write(&storage, &[1, 2], &[1.0; 2], &[9, -9]);
    let found = open(&storage).statistics("i").unwrap();
    assert_eq!((found.cells, found.min, found.max), (Exactness::Exact(5), exact(-9i64), exact(9i64)));
}

#[test]
fn many_fragments() {
    let storage = create(SchemaBuilder::sparse());
    let array = open(&storage);
    for start in (0..600).step_by(2) {
        let (x, i) = ([start, start + 1], [i64::from(start), 7]);
        array.write().cells(WriteBatch::new().with("x", &x).with("f", &[1.5f64, -0.5]).with("i", &i)).unwrap();
    }
    let found = open(&storage).read().statistics_of(["i", "f", "x"]).unwrap();
    assert_eq!((found[0].cells.clone(), found[0].max.clone()), (Exactness::Exact(600), exact(598i64)));
    assert_eq!((found[1].min.clone(), found[1].sum.clone()), (exact(-0.5f64), Exactness::Exact(Some(Sum::F64(300.0)))));
    assert_eq!(found[2].max, exact(599i32));
    write(&storage, &[300], &[1.0], &[1]);
    assert_eq!(open(&storage).statistics("i").unwrap().cells, Exactness::Unknown(InexactReason::Overlap));
}

#[test]
fn fields_that_came_later_and_nulls() {
    for builder in [SchemaBuilder::sparse().capacity(2), SchemaBuilder::dense()] {
        let is_dense = builder
            .clone()
            .dimension(Dimension::new("x", 0i32..=9))
            .attribute(Attribute::new("a", Datatype::Int8))
            .build()
            .unwrap()
            .is_dense();
        let storage = create(builder);
        let cells = |new: bool| {
            let cells = WriteBatch::new().with("f", &[1.0f64; 10]).with("i", &[3i64; 10]);
            if new {
                let values = [Some(4i32), None, None, None, None, None, None, None, Some(6), None];
                cells.with("n", WriteColumn::options(values))
            } else {
                cells
            }
        };
        let x = |start: i32| (start..start + 10).collect::<Vec<i32>>();
        let put = |new: bool, start: i32| {
            let array = open(&storage);
            let x = x(start);
            match is_dense {
                true => array.write().range("x", start..start + 10).unwrap().cells(cells(new)).unwrap(),
                false => array.write().cells(cells(new).with("x", &x[..])).unwrap(),
            }
        };
        put(false, 0);
        let added = Attribute::new("n", Datatype::Int32).nullable(true);
        open(&storage).evolve(&SchemaEvolution::new().add_attribute(added), &WriteIds::new()).unwrap();
        put(true, 20);
        let array = open(&storage);
        let found = array.statistics("n").unwrap();
        let looked = look(&array.read().range("x", 0..30).unwrap(), array.schema(), "n");
        assert_eq!(
            (found.count, found.nulls),
            (Exactness::Exact(looked.count), Exactness::Exact(looked.nulls)),
            "dense: {is_dense}"
        );
        // A sparse fragment that lacks the field has fill values.
        let bounds = looked.bounds.as_ref().and_then(Summary::bounds).unwrap();
        assert_eq!((found.min, found.max), (Exactness::Exact(Some(bounds.0.to_vec())), exact(6i32)));
        assert_eq!(found.sum, Exactness::Exact(Some(looked.total.unwrap().sum().0)));
    }
}

#[test]
fn no_time_is_null() {
    const NAT: i64 = i64::MIN;
    let x = Dimension::new("x", 0i32..=99).with_tile(2);
    for (dense, nullable) in [(false, false), (false, true), (true, false), (true, true)] {
        let builder = if dense { SchemaBuilder::dense() } else { SchemaBuilder::sparse().capacity(2) };
        let of = |name: &str, datatype| match Attribute::new(name, datatype) {
            attribute if nullable => attribute.nullable(false),
            attribute => attribute,
        };
        let builder = builder.dimension(x.clone()).attribute(of("d", Datatype::DatetimeDay));
        let schema = builder.attribute(of("t", Datatype::TimeSec)).build().unwrap();
        let storage = arrays::create(schema);
        let put = |start: i32, values: &[i64]| {
            let x: Vec<i32> = (start..).take(values.len()).collect();
            let column = || match nullable {
                true => WriteColumn::options(values.iter().map(|value| (*value != 7).then_some(*value))),
                false => WriteColumn::values(values),
            };
            let cells = WriteBatch::new().with("d", column()).with("t", column());
            match dense {
                true => open(&storage).write().range("x", start..start + x.len() as i32).unwrap().cells(cells).unwrap(),
                false => open(&storage).write().cells(cells.with("x", &x[..])).unwrap(),
            }
        };
        let seven = |value: i64| if nullable { None } else { Some(value) };
        // Tiles without NaT, with some, and with NaT only. 7 is null in nullable fields.
        put(0, &[5, 9, NAT, 3, NAT, NAT]);
        put(10, &[NAT, NAT, NAT, 7]);
        let query = open(&storage).read().range("x", 0..=13).unwrap();
        let query = if dense { query.filter(field("x").le(5i32) | field("x").ge(10i32)) } else { query };
        for name in ["d", "t"] {
            let exact = compare(&query, open(&storage).schema(), name);
            // Metadata does not show how many cells meet a condition.
            assert!(dense || exact > 0, "{name}");
            let known = [5, 9, 3].into_iter().chain(seven(7));
            let count = known.clone().count() as u64;
            let asked = [
                Aggregate::count(),
                Aggregate::count_of(name),
                Aggregate::null_count(name),
                Aggregate::min(name),
                Aggregate::max(name),
                Aggregate::mean(name),
                Aggregate::count_distinct(name),
                Aggregate::median(name),
            ];
            // From metadata where it suffices, separately and together, and from the cells.
            let is_negative = field(name).ne(-1i64) | field(name).is_null();
            for query in [query.clone(), query.clone().filter(is_negative)] {
                let all = query.clone().aggregate(asked.clone()).unwrap();
                let number = |aggregate: &Aggregate| {
                    let alone = query.clone().aggregate([aggregate.clone()]).unwrap();
                    let found = value(alone.batch());
                    assert_eq!(
                        all.batch().column(&aggregate.to_string()).unwrap().cell(0),
                        found.as_deref(),
                        "{aggregate}"
                    );
                    i64::from_le_bytes(found.unwrap().try_into().unwrap())
                };
                let found: Vec<i64> = asked.iter().map(number).collect();
                let sum: i64 = known.clone().sum();
                let mean = sum / count as i64;
                assert_eq!(found, [10, count as i64, 10 - count as i64, 3, 9, mean, count as i64, 5], "{name}");
                let histogram = query.clone().histogram(name, 3).unwrap().unwrap();
                assert_eq!((histogram.low, histogram.high, histogram.outside), (3.0, 9.0, 0));
                assert_eq!(histogram.counts.iter().sum::<u64>(), count);
                let groups = query.clone().group_by([name], [Aggregate::count(), Aggregate::max(name)]).unwrap();
                let groups: Vec<Batch> = groups.map(Result::unwrap).collect();
                let [groups] = &groups[..] else { panic!("one batch") };
                let last = groups.len() - 1;
                assert_eq!(groups.len() as u64, count + 1);
                assert_eq!((groups.columns()[0].cell(last), groups.columns()[2].cell(last)), (None, None));
                assert_eq!(groups.columns()[1].values::<u64>().unwrap()[last], 10 - count);
            }
        }
        // Statistics include the null count if a tile has only nulls.
        let nothing = open(&storage).read().range("x", 10..=11).unwrap();
        let found = nothing.statistics("d").unwrap();
        assert_eq!((found.count, found.nulls), (Exactness::Exact(0), Exactness::Exact(2)));
        assert_eq!((found.min, found.max), (Exactness::Exact(None), Exactness::Exact(None)));
        let found = nothing.aggregate([Aggregate::sum("t"), Aggregate::min("d")]).unwrap();
        let sum = if nullable { None } else { Some(0) };
        assert_eq!((found.value::<i64>("sum(t)").unwrap(), found.value::<i64>("min(d)").unwrap()), (sum, None));
        assert_eq!(found.tiles_read(), 0);
        let some = open(&storage).read().range("x", 2..=3).unwrap();
        assert!(matches!(some.statistics("d").unwrap().nulls, Exactness::Unknown(_)));
    }
    // Coordinates are never null.
    let d = Dimension::new("d", NAT..=9i64).with_datatype(Datatype::DatetimeDay);
    let schema = SchemaBuilder::sparse().dimension(d).attribute(Attribute::new("a", Datatype::Int8)).build().unwrap();
    let storage = arrays::create(schema);
    open(&storage).write().cells(WriteBatch::new().with("d", &[NAT, 3]).with("a", &[1i8, 2])).unwrap();
    let array = open(&storage);
    let found = array.statistics("d").unwrap();
    assert_eq!((found.min, found.nulls), (exact(NAT), Exactness::Exact(0)));
    let groups: Vec<Batch> = array.read().group_by(["d"], []).unwrap().map(Result::unwrap).collect();
    assert_eq!(groups[0].column("d").unwrap().values::<i64>().unwrap(), [NAT, 3]);
}

#[test]
fn dense_fragments() {
    let storage = create(SchemaBuilder::dense());
    let put = |start: i32, count: usize, value: i64| {
        let values = vec![value; count];
        let floats = vec![0.5f64; count];
        let cells = WriteBatch::new().with("f", &floats[..]).with("i", &values[..]);
        open(&storage).write().range("x", start..start + count as i32).unwrap().cells(cells).unwrap();
    };
    put(0, 100, 1);
    put(100, 50, -4);
    let found = open(&storage).statistics("i").unwrap();
    assert_eq!(
        (found.cells, found.count, found.min, found.sum),
        (Exactness::Exact(1000), Exactness::Exact(150), exact(-4i64), Exactness::Exact(Some(Sum::I64(-100))))
    );
    // Three tiles of the first fragment are completely overwritten and do not count.
    put(30, 30, 9);
    let found = open(&storage).statistics("i").unwrap();
    assert_eq!(
        (found.count, found.max, found.sum),
        (Exactness::Exact(150), exact(9i64), Exactness::Exact(Some(Sum::I64(140))))
    );
    // A part of a tile: only its number of cells is known.
    put(205, 3, 7);
    let found = open(&storage).statistics("i").unwrap();
    assert!(matches!(found.max, Exactness::Unknown(_)), "{found:?}");
    let storage = create(SchemaBuilder::dense());
    let cells = WriteBatch::new().with("f", &[0.5f64; 3]).with("i", &[7i64; 3]);
    open(&storage).write().range("x", 205..208).unwrap().cells(cells).unwrap();
    let found = open(&storage).statistics("i").unwrap();
    assert_eq!(
        (found.count, found.max),
        (Exactness::Exact(3), Exactness::Unknown(InexactReason::Distrusted(UntrustedReason::EdgeTile)))
    );
}

#[test]
fn strings_with_nul_and_empty_arrays() {
    let x = Dimension::new("x", 0i32..=99);
    let text = Attribute::new("s", Datatype::StringAscii).with_cell_val_num(CellValNum::Var);
    let schema = SchemaBuilder::sparse().capacity(2).dimension(x).attribute(text).build().unwrap();
    let storage = arrays::create(schema);
    let put = |x: &[i32], s: &[&str]| {
        open(&storage).write().cells(WriteBatch::new().with("x", x).with("s", WriteColumn::strings(s))).unwrap();
    };
    let found = open(&storage).read().statistics_of(["s", "x", "s"]).unwrap();
    assert_eq!(found.len(), 3);
    for found in &found {
        assert_eq!((found.cells.clone(), found.min.clone()), (Exactness::Exact(0), Exactness::Exact(None)));
    }
    assert_eq!(
        (found[0].sum.clone(), found[1].sum.clone()),
        (Exactness::Unknown(InexactReason::NotOfThisType), Exactness::Exact(Some(Sum::I64(0))))
    );
    put(&[1, 2, 3], &["b", "", "zz"]);
    let found = open(&storage).statistics("s").unwrap();
    assert_eq!((found.min, found.max), (Exactness::Exact(Some(Vec::new())), Exactness::Exact(Some(b"zz".to_vec()))));
    put(&[11, 12, 13], &["zz\0a", "zz\0", "zzz"]);
    let found = open(&storage).statistics("s").unwrap();
    let why = Exactness::Unknown(InexactReason::Distrusted(UntrustedReason::ComparedUpToNul));
    assert!(found.max == why || found.max == Exactness::Exact(Some(b"zzz".to_vec())), "{found:?}");
    put(&[21, 22], &["\0", "zzz\0b"]);
    assert_eq!(open(&storage).statistics("s").unwrap().max, why);
    assert_eq!(
        open(&storage).read().ranges("x", Vec::<std::ops::Range<i32>>::new()).unwrap().cell_count().unwrap(),
        Exactness::Exact(8)
    );
}

#[test]
fn a_fragment_of_other_dimensions_is_an_error() {
    let storage = create(SchemaBuilder::sparse());
    write(&storage, &[1, 2], &[1.0; 2], &[1, 2]);
    write(&storage, &[11, 12], &[1.0; 2], &[1, 2]);
    let x = Dimension::new("x", 0i32..=999).with_tile(10);
    let schema = SchemaBuilder::sparse().dimension(x).dimension(Dimension::string("y"));
    let schema =
        schema.attribute(Attribute::new("f", Datatype::Float64)).attribute(Attribute::new("i", Datatype::Int64));
    let two = arrays::create(schema.build().unwrap());
    let cells = WriteBatch::new().with("x", &[1, 5][..]).with("y", WriteColumn::strings(["a", "b"]));
    open(&two).write().cells(cells.with("f", &[1.0f64; 2]).with("i", &[1i64, 2])).unwrap();
    // Adds the fragment and the schema of the other array to the first.
    copy_files(&*two, &*storage);
    // With either schema.
    let array = open(&storage);
    for path in array.schema_paths() {
        let error = array.by_schema(path).unwrap().read().statistics_of(["i", "x"]).unwrap_err();
        assert_eq!(error.category(), tdb_array::ErrorCategory::Corrupt, "{error}");
    }
}
