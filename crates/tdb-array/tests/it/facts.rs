//! The public accessors of fragments, columns and labels.

use std::ops::RangeInclusive;

use tdb_array::tdb_condition::Condition;
use tdb_array::{Array, ArrayError, ArrayOptions, Batch, Coordinate, Order, WriteColumn};
use tdb_schema::{Attribute, Dimension, DimensionLabel, SchemaBuilder};
use tdb_testkit::fixtures::Fixture;
use tdb_types::{ArrayType, DataOrder, Datatype, FormatVersion, SharedBuffer};

use crate::arrays::count;

/// Returns the arrays of all fixtures without a key, with their names.
fn arrays() -> impl Iterator<Item = (String, Array)> {
    let open = tdb_testkit::fixtures::all().into_iter().filter(|fixture| !fixture.name().ends_with("-encrypted"));
    open.map(|fixture| (fixture.name().to_owned(), open_on(&fixture)))
}

fn named(name: &str) -> Array {
    open_on(&tdb_testkit::fixtures::named(name))
}

fn open_on(fixture: &Fixture) -> Array {
    ArrayOptions::new().open_on(fixture.array_storage()).unwrap()
}

fn batch(array: &Array, fields: &[&str]) -> Batch {
    let query = array.read().select(fields).unwrap().order(Order::RowMajor);
    query.batches().unwrap().next().unwrap().unwrap()
}

/// Cells, tiles and MBRs are consistent in every format.
#[test]
fn properties_of_fragments_are_consistent() {
    let (mut dense, mut sparse) = (0, 0);
    for (name, array) in arrays() {
        for fragment in array.fragments().unwrap() {
            let time = fragment.time();
            assert_eq!((time.start, time.end), (fragment.name().start(), fragment.name().end()), "{name}");
            let cells: u64 = (0..fragment.tile_count()).map(|tile| fragment.cells_in_tile(tile).unwrap()).sum();
            assert_eq!(cells, fragment.cell_count(), "{name}");
            assert_eq!(fragment.cells_in_tile(fragment.tile_count()), None, "{name}");
            assert!(fragment.bytes().unwrap() > 0, "{name}");
            let leaves = if fragment.footer().is_dense() { 0 } else { fragment.tile_count() };
            assert_eq!(fragment.rtree().unwrap().leaf_count(), leaves, "{name}");
            assert_eq!(fragment.mbr(fragment.tile_count()).unwrap(), None, "{name}");
            if fragment.array_type() == ArrayType::Sparse {
                sparse += 1;
                continue;
            }
            dense += 1;
            for tile in 0..fragment.tile_count() {
                let sides = fragment.mbr(tile).unwrap().unwrap().into_iter().map(|side| match side.into_inner() {
                    (Coordinate::Integer(low), Coordinate::Integer(high)) => high - low + 1,
                    other => panic!("{other:?} in a dense array"),
                });
                assert_eq!(
                    sides.product::<i128>(),
                    fragment.cells_in_tile(tile).unwrap().into(),
                    "{name}, tile {tile}"
                );
            }
            // The union of the MBRs of all tiles is the box of the fragment.
            let boxes = (0..fragment.tile_count()).map(|tile| fragment.mbr(tile).unwrap().unwrap());
            let union = boxes.reduce(|union, next| union.into_iter().zip(next).map(hull).collect());
            assert_eq!(union, fragment.non_empty_coordinates(), "{name}");
        }
    }
    assert!(dense > 50 && sparse > 100, "only {dense} dense fragments, {sparse} sparse fragments");
}

fn hull((a, b): (RangeInclusive<Coordinate>, RangeInclusive<Coordinate>)) -> RangeInclusive<Coordinate> {
    let number = |coordinate: &Coordinate| match coordinate {
        Coordinate::Integer(number) => *number,
        other => panic!("{other} in a dense array"),
    };
    let low = number(a.start()).min(number(b.start()));
    Coordinate::Integer(low)..=Coordinate::Integer(number(a.end()).max(number(b.end())))
}

/// A range from an MBR is a valid query range and finds the cells of the tile.
#[test]
fn mbrs_are_coordinates() {
    for name in ["v22-by-2.30.0-sparse-2d", "v22-by-2.30.0-sparse-mixed", "v5-by-2.0.8-sparse-strings"] {
        let array = named(name);
        for fragment in array.fragments().unwrap() {
            for tile in 0..fragment.tile_count() {
                let mbr = fragment.mbr(tile).unwrap().unwrap();
                let dimensions = array.schema().dimensions().iter().zip(mbr);
                let query = dimensions
                    .fold(array.read(), |query, (dimension, range)| query.range(dimension.name(), range).unwrap());
                assert!(count(query) > 0, "{name}, tile {tile}");
            }
        }
    }
}

/// Fragments to be vacuumed according to release 2.30.0, for all fixtures readable by this release.
#[test]
fn fragments_that_a_vacuum_would_remove() {
    let with_replaced = [
        "v10-by-2.4.3-sparse-consolidated",
        "v12-by-2.8.3-sparse-consolidated",
        "v15-by-2.11.3-sparse-consolidated",
        "v21-by-2.24.2-sparse-consolidated",
        "v22-by-2.30.0-dense-consolidated",
        "v22-by-2.30.0-sparse-consolidated",
        "v5-by-2.0.8-sparse-consolidated",
    ];
    for (name, array) in arrays().filter(|(name, _)| !name.contains("-by-tdb-")) {
        let replaced: Vec<u64> = array.directory().replaced.iter().map(|entry| entry.name.start()).collect();
        let expected: &[u64] = match with_replaced.contains(&name.as_str()) {
            true => &[1_700_000_000_000, 1_700_000_001_000, 1_700_000_002_000],
            false => &[],
        };
        assert_eq!(replaced, expected, "{name}");
    }
}

/// Fragments count until the time at which the consolidated fragment replaces them.
#[test]
fn fragments_are_replaced_from_some_time_on() {
    let fixture = tdb_testkit::fixtures::named("v22-by-2.30.0-dense-consolidated");
    let at = |time| ArrayOptions::new().at(time).open_on(fixture.array_storage()).unwrap();
    let counts = |array: &Array| (array.fragments().unwrap().len(), array.directory().replaced.len());
    assert_eq!(counts(&at(1_700_000_001_000)), (2, 0));
    assert_eq!(counts(&at(1_700_000_002_000)), (1, 3));
}

/// Slices of every kind of field hold the right cells and share the memory of the values.
#[test]
fn slices_of_batches() {
    let mut columns = 0;
    for (name, array) in arrays().filter(|(name, _)| name.starts_with("v22-")) {
        let Some(whole) = array.read().order(Order::Global).batches().unwrap().next() else { continue };
        let whole = whole.unwrap();
        let len = whole.len();
        for range in
            [0..len, 0..0, len..len, 1..len.max(1), len / 3..len - len / 4, 0..len.min(8), len.min(3)..len.min(16)]
        {
            let slice = whole.slice(range.clone());
            assert_eq!(slice.len(), range.len());
            for (part, column) in slice.columns().iter().zip(whole.columns()) {
                assert_eq!((part.name(), part.len()), (column.name(), range.len()));
                let cells = (0..part.len()).map(|cell| part.cell(cell)).collect::<Vec<_>>();
                let expected = range.clone().map(|cell| column.cell(cell)).collect::<Vec<_>>();
                assert_eq!(cells, expected, "{name}: {} of {range:?}", part.name());
                let valid = expected.iter().filter(|cell| cell.is_some()).count();
                assert_eq!(part.null_count(), part.len() - valid);
                // No bits are set after the last cell.
                let bits =
                    part.validity().map(|bits| bits.iter().map(|bits| bits.count_ones() as usize).sum::<usize>());
                assert!(bits.is_none_or(|bits| bits == valid), "{name}: {} of {range:?}", part.name());
                assert_eq!(part.offsets().and_then(|offsets| offsets.first()), part.offsets().map(|_| &0));
                let shares = part.bytes().is_empty() || column.bytes().as_ptr_range().contains(&part.bytes().as_ptr());
                assert!(shares, "{name}");
                let again = part.slice(0..part.len());
                assert_eq!(&again, part);
                columns += 1;
            }
        }
    }
    assert!(columns > 1000, "{columns}");
}

/// Buffers outlive their batch.
#[test]
fn buffers_can_be_shared() {
    let array = named("v22-by-2.30.0-sparse-2d");
    let field = array.schema().attributes()[0].name().to_owned();
    let column = batch(&array, &[&field]).slice(1..3).into_columns().remove(0);
    let (bytes, address) = (column.bytes().to_vec(), column.bytes().as_ptr());
    let (values, ..): (SharedBuffer, _, _) = column.into_buffers();
    assert_eq!((values.as_ref(), values.as_ptr()), (&bytes[..], address));
}

/// Conditions evaluate columns directly.
#[test]
fn conditions_over_columns() {
    let mut tested = 0;
    for (name, array) in arrays().filter(|(name, _)| name.starts_with("v22-")) {
        for attribute in array.schema().attributes().iter().filter(|attribute| attribute.is_nullable()) {
            let field = attribute.name();
            let bound = Condition::field(field).is_null().bind(array.schema(), |_| None).unwrap();
            for batch in array.read().select([field]).unwrap().batches().unwrap() {
                let batch = batch.unwrap();
                let column = batch.column(field).unwrap();
                let mut truth = vec![false; column.len()];
                bound.evaluate(&[Some(column.cells())], &mut truth);
                let expected: Vec<bool> = (0..column.len()).map(|cell| !column.is_valid(cell)).collect();
                assert_eq!(truth, expected, "{name}: {field}");
                tested += column.null_count();
            }
        }
    }
    assert!(tested > 10, "{tested} nulls");
    // Offsets of columns count values, while offsets of tiles count bytes.
    let array = named("v22-by-2.30.0-dense-labels");
    let label = array.label("name").unwrap();
    let names = batch(&label.array().clone().into(), &[&label.description().attribute]);
    let column = &names.columns()[0];
    let bound = Condition::field(column.name()).ge("b").bind(label.array().schema(), |_| None).unwrap();
    let mut truth = vec![false; column.len()];
    bound.evaluate(&[Some(column.cells())], &mut truth);
    assert_eq!(truth, [false, true, true, true, true, true]);
}

/// `height` increases along `y`: -1.5, 0, 0.25, 8 at 1 to 4. `name` increases along `x`: a, b, ba,
/// c, d, zz at 0 to 5.
#[test]
fn labels_are_columns() {
    let array = named("v22-by-2.30.0-dense-labels");
    let (height, name) = (array.label("height").unwrap(), array.label("name").unwrap());
    let cells = batch(&array, &["y", "x"]);
    let heights = height.column(cells.column("y").unwrap()).unwrap();
    let names = name.column(cells.column("x").unwrap()).unwrap();
    assert_eq!((heights.name(), names.name()), ("height", "name"));
    let expected: Vec<f64> = [-1.5, 0.0, 0.25, 8.0].into_iter().flat_map(|height| [height; 6]).collect();
    assert_eq!(heights.values::<f64>().unwrap(), expected);
    let text = |cell| String::from_utf8(names.cell(cell).unwrap().to_vec()).unwrap();
    assert_eq!((0..24).map(text).collect::<Vec<_>>(), ["a", "b", "ba", "c", "d", "zz"].repeat(4));

    // In any order, with gaps, and without cells.
    let some = array.read().select(["x"]).unwrap().range("x", 1..=1).unwrap().range("x", 5..=5).unwrap();
    let some = some.range("x", 3..=3).unwrap().range("y", 2..=3).unwrap();
    let some = some.batches().unwrap().next().unwrap().unwrap();
    let names = name.column(some.column("x").unwrap()).unwrap();
    let text = |cell| String::from_utf8(names.cell(cell).unwrap().to_vec()).unwrap();
    assert_eq!((0..6).map(text).collect::<Vec<_>>(), ["b", "c", "zz"].repeat(2));
    let none = name.column(&some.column("x").unwrap().slice(2..2)).unwrap();
    assert_eq!((none.len(), none.offsets()), (0, Some(&[0][..])));
    // Another dimension of the same type, and a column other than a dimension.
    for other in [cells.column("y").unwrap(), &heights] {
        let error = name.column(other).unwrap_err();
        assert!(matches!(&error, ArrayError::Label { name, .. } if name == "name"), "{error}");
        assert!(error.to_string().contains("expected coordinates of dimension \"x\" (int32)"), "{error}");
    }
}

/// Labels can be selected like fields, at any position, with or without their dimensions.
#[test]
fn labels_are_selected() {
    let array = named("v22-by-2.30.0-dense-labels");
    for budget in [usize::MAX, 1] {
        let select = ["name", "a", "height", "x"];
        let query = array.read().select(select).unwrap().range("y", 2..=3).unwrap().range("x", 4..=5).unwrap();
        let mut found = Vec::new();
        for batch in query.budget(budget).batches().unwrap() {
            let batch = batch.unwrap();
            let names: Vec<&str> = batch.columns().iter().map(tdb_array::Column::name).collect();
            assert_eq!(names, select);
            for cell in 0..batch.len() {
                let name = String::from_utf8(batch.columns()[0].cell(cell).unwrap().to_vec()).unwrap();
                let height = batch.column("height").unwrap().values::<f64>().unwrap()[cell];
                let [a, x] = ["a", "x"].map(|field| batch.column(field).unwrap().values::<i32>().unwrap()[cell]);
                found.push((name, a, height, x));
            }
        }
        let row = |name: &str, a, height, x| (name.to_owned(), a, height, x);
        let expected = [row("d", 10, 0.0, 4), row("zz", 11, 0.0, 5), row("d", 16, 0.25, 4), row("zz", 17, 0.25, 5)];
        assert_eq!(found, expected);
    }
    let error = array.read().select(["name", "name"]).unwrap_err().to_string();
    assert!(error.contains("twice"), "{error}");
    let error = array.read().select(["nam"]).unwrap_err().to_string();
    assert!(error.contains("height"), "{error}");
}

/// Labels count toward the batch size: long labels reduce the number of cells.
#[test]
fn labels_keep_to_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array");
    let side = |name, high| Dimension::new(name, 0i32..=high).with_tile(high + 1);
    let label = DimensionLabel::new(0, "long", DataOrder::Increasing, Datatype::StringAscii);
    let schema = SchemaBuilder::dense().dimension(side("x", 9)).dimension(side("y", 9_999)).label(label);
    let schema = schema.attribute(Attribute::new("a", Datatype::Int8)).build().unwrap();
    Array::create(&path, schema).unwrap();
    let array = Array::open(&path).unwrap();
    array.write().cells([("a", &[7i8; 100_000])]).unwrap();
    let long: Vec<String> = (0..10).map(|place| place.to_string().repeat(10_000)).collect();
    let labels = array.label("long").unwrap();
    tdb_array::Write::new(labels.array()).cells([("label", WriteColumn::strings(&long))]).unwrap();

    // The labels are read in several batches.
    let array = Array::open(&path).unwrap();
    let huge: Vec<String> = (0..10).map(|place| place.to_string().repeat(600_000)).collect();
    tdb_array::Write::new(labels.array()).cells([("label", WriteColumn::strings(&huge))]).unwrap();
    let column = Array::open(&path).unwrap().label("long").unwrap();
    let column = column.column(&batch(&array, &["x"]).columns()[0].slice(0..1)).unwrap();
    assert_eq!(column.cell(0).unwrap(), huge[0].as_bytes());
    let every =
        array.read().select(["x"]).unwrap().range("y", 0..=0).unwrap().batches().unwrap().next().unwrap().unwrap();
    let column = Array::open(&path).unwrap().label("long").unwrap().column(&every.columns()[0]).unwrap();
    assert!((0..10).all(|cell| column.cell(cell) == Some(huge[cell].as_bytes())));
    tdb_array::Write::new(labels.array()).cells([("label", WriteColumn::strings(&long))]).unwrap();

    let array = Array::open(&path).unwrap();
    for budget in [64 << 10, 1 << 20, 5_000] {
        let query = array.read().select(["a", "long"]).unwrap().range("y", 0..=99).unwrap().budget(budget);
        let mut cells = 0;
        for batch in query.batches().unwrap() {
            let batch = batch.unwrap();
            assert!(batch.memory() <= budget + budget / 4 || batch.len() == 1, "{} bytes", batch.memory());
            for cell in 0..batch.len() {
                let label = batch.column("long").unwrap().cell(cell).unwrap();
                assert_eq!(label, long[(cells + cell) / 100].as_bytes());
            }
            cells += batch.len();
        }
        assert_eq!(cells, 1000);
    }
    // Also with the default memory limit.
    let most = array.read().select(["long", "a"]).unwrap().batches().unwrap().map(|batch| batch.unwrap().memory());
    assert!(most.take(3).all(|bytes| bytes <= 8 << 20));
    let plan = array.read().select(["long", "a"]).unwrap().plan().unwrap();
    assert_eq!((plan.fields, plan.labels), (vec!["a".to_owned()], vec!["long".to_owned()]));
}

/// A definition read from an array of one format can be used for another format.
#[test]
fn definitions_of_other_formats() {
    let definition = named("v22-by-2.30.0-sparse-2d").definition().unwrap();
    let cells = |array: &Array| {
        let batch = array.read().order(Order::RowMajor).batches().unwrap().next().unwrap().unwrap();
        batch.columns().to_vec()
    };
    let expected = cells(&named("v22-by-2.30.0-sparse-2d"));
    for version in FormatVersion::all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("array");
        Array::create(&path, definition.clone().with_version(version).unwrap()).unwrap();
        let array = Array::open(&path).unwrap();
        assert_eq!(array.schema().version(), version);
        array.write().cells(&batch(&named("v22-by-2.30.0-sparse-2d"), &names(&array))).unwrap();
        assert_eq!(cells(&Array::open(&path).unwrap()), expected, "{version}");
    }
    // A feature that the format lacks is rejected by name.
    let labelled = named("v22-by-2.30.0-dense-labels").definition().unwrap();
    let older = labelled.clone().with_version(FormatVersion::new(21).unwrap()).unwrap();
    assert!(older.labels().count() == 3 && older.labels().all(|(_, schema)| schema.version().number() == 21));
    let error = labelled.with_version(FormatVersion::new(9).unwrap()).unwrap_err().to_string();
    assert!(error.contains("label"), "{error}");
}

fn names(array: &Array) -> Vec<&str> {
    let schema = array.schema();
    let dimensions = schema.dimensions().iter().map(Dimension::name);
    dimensions.chain(schema.attributes().iter().map(Attribute::name)).collect()
}
