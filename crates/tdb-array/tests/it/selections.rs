//! Points, boxes and ranges: random selections of every fixture, compared with a plain evaluator
//! over all cells.

use std::cmp::Ordering;
use std::ops::Bound;

use tdb_array::{Array, ArrayError, Coordinate, Order, Query, QueryBox, QueryPart, WriteBatch, WriteColumn};
use tdb_rtree::DimRange;
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_testkit::fixtures::{self, Fixture};
use tdb_testkit::hostile::SplitMix64;
use tdb_types::{Datatype, Scalar};

use crate::arrays::{self, Known, Row, create, open, open_fixture, rows};

type Ends = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// A selection: cells inside a range of each dimension that has ranges, and inside a box or at a
/// point, if any. Coordinates are bytes of cells.
#[derive(Debug, Default)]
struct Selection {
    ranges: Vec<Vec<Ends>>,
    prefixes: Vec<Option<Vec<u8>>>,
    boxes: Option<Vec<Vec<Option<Ends>>>>,
    points: Option<Vec<Vec<Vec<u8>>>>,
}

fn compare(dimension: &Dimension, a: &[u8], b: &[u8]) -> Ordering {
    if dimension.is_var() {
        return a.cmp(b);
    }
    let number = |bytes| Scalar::from_le_bytes(dimension.physical(), bytes).unwrap();
    number(a).partial_cmp(&number(b)).unwrap_or(Ordering::Greater)
}

fn is_nan(dimension: &Dimension, value: &[u8]) -> bool {
    !dimension.is_var() && compare(dimension, value, value).is_ne()
}

fn is_in(dimension: &Dimension, (start, end): &Ends, value: &[u8]) -> bool {
    let starts = match start {
        Bound::Included(start) => compare(dimension, value, start).is_ge(),
        Bound::Excluded(start) => compare(dimension, value, start).is_gt(),
        Bound::Unbounded => true,
    };
    let ends = match end {
        Bound::Included(end) => compare(dimension, value, end).is_le(),
        Bound::Excluded(end) => compare(dimension, value, end).is_lt(),
        Bound::Unbounded => true,
    };
    starts && ends && !is_nan(dimension, value)
}

impl Selection {
    /// `true` if the selection contains a cell.
    fn holds(&self, schema: &ArraySchema, row: &Row) -> bool {
        let value = |dimension: usize| row[dimension].as_deref().unwrap();
        let all = || schema.dimensions().iter().enumerate();
        let in_ranges = all().all(|(index, dimension)| {
            let ranges = &self.ranges[index];
            let begins = self.prefixes[index].as_ref().map(|prefix| value(index).starts_with(prefix));
            ranges.is_empty() && begins.is_none()
                || begins == Some(true)
                || ranges.iter().any(|range| is_in(dimension, range, value(index)))
        });
        if self.boxes.is_none() && self.points.is_none() {
            return in_ranges;
        }
        let in_box = self.boxes.iter().flatten().any(|sides| {
            all()
                .zip(sides)
                .all(|((index, dimension), side)| side.as_ref().is_none_or(|side| is_in(dimension, side, value(index))))
        });
        let is_point = self.points.iter().flatten().any(|point| {
            all()
                .zip(point)
                .all(|((index, dimension), coordinate)| compare(dimension, value(index), coordinate).is_eq())
        });
        in_ranges && (in_box || is_point)
    }

    fn apply(&self, mut query: Query, schema: &ArraySchema) -> Result<Query, ArrayError> {
        for (index, dimension) in schema.dimensions().iter().enumerate() {
            let mut ends = self.ranges[index].iter().map(|ends| coordinates(dimension, ends));
            query = match self.ranges[index].len() {
                1 => query.range(dimension.name(), ends.next().unwrap())?,
                _ => query.ranges(dimension.name(), ends)?,
            };
            if let Some(prefix) = &self.prefixes[index] {
                query = query.prefix(dimension.name(), prefix)?;
            }
        }
        if let Some(boxes) = &self.boxes {
            let boxes = boxes.iter().map(|sides| {
                let sides = schema.dimensions().iter().zip(sides);
                sides.fold(QueryBox::new(), |all, (dimension, side)| match side {
                    Some(side) => all.range(dimension.name(), coordinates(dimension, side)),
                    None => all,
                })
            });
            query = query.boxes(boxes)?;
        }
        if let Some(points) = &self.points {
            let mut cells = WriteBatch::new();
            let columns: Vec<Vec<u8>> = (0..schema.dim_count())
                .map(|index| points.iter().flat_map(|point| point[index].iter().copied()).collect())
                .collect();
            for (index, dimension) in schema.dimensions().iter().enumerate() {
                let column = match dimension.is_var() {
                    true => WriteColumn::strings(points.iter().map(|point| &point[index])),
                    false => WriteColumn::bytes(&columns[index]),
                };
                cells = cells.with(dimension.name(), column);
            }
            query = query.points(cells)?;
        }
        Ok(query)
    }
}

fn coordinates(dimension: &Dimension, (start, end): &Ends) -> (Bound<Coordinate>, Bound<Coordinate>) {
    let coordinate = |bytes: &Vec<u8>| match dimension.is_var() {
        true => Coordinate::Bytes(bytes.clone()),
        false => Scalar::from_le_bytes(dimension.physical(), bytes).unwrap().into(),
    };
    (start.as_ref().map(coordinate), end.as_ref().map(coordinate))
}

impl Known {
    /// Returns a coordinate: usually a cell's, else an end of the domain or a coordinate near a
    /// cell.
    fn coordinate(&self, index: usize, random: &mut SplitMix64) -> Vec<u8> {
        let dimension = &self.array.schema().dimensions()[index];
        let of_cell = |random: &mut SplitMix64| self.rows[random.below(self.rows.len())][index].clone().unwrap();
        let value = of_cell(random);
        if dimension.is_var() {
            let mut value = value;
            match random.below(6) {
                0 => value.push(b'a'),
                1 => value.push(u8::MAX),
                2 => drop(value.pop()),
                3 if random.below(3) == 0 => value = Vec::new(),
                _ => {}
            }
            return value;
        }
        let DimRange::Fixed { lo, hi } = self.array.schema().limits(index) else { unreachable!() };
        let bytes = |key: u64| tdb_types::from_ordered_key(dimension.physical(), key).to_vec();
        let key = Scalar::from_le_bytes(dimension.physical(), &value).unwrap().key();
        let key = match random.below(8) {
            0 => lo,
            1 => hi,
            2 => key.saturating_add(1).clamp(lo, hi),
            3 => key.saturating_sub(1).clamp(lo, hi),
            _ => key.clamp(lo, hi),
        };
        if is_nan(dimension, &bytes(key)) { bytes(lo) } else { bytes(key) }
    }

    fn ends(&self, index: usize, random: &mut SplitMix64) -> Ends {
        let dimension = &self.array.schema().dimensions()[index];
        let (a, b) = (self.coordinate(index, random), self.coordinate(index, random));
        let (a, b) = if compare(dimension, &a, &b).is_le() { (a, b) } else { (b, a) };
        let ends = match random.below(6) {
            0 => (Bound::Unbounded, Bound::Included(b)),
            1 => (Bound::Included(a), Bound::Unbounded),
            2 => (Bound::Included(a), Bound::Excluded(b)),
            3 => (Bound::Excluded(a), Bound::Included(b)),
            4 => (Bound::Included(a.clone()), Bound::Included(a)),
            _ => (Bound::Included(a), Bound::Included(b)),
        };
        // Ranges must not be empty.
        let given = self.array.read().range(dimension.name(), coordinates(dimension, &ends));
        if given.is_ok() { ends } else { (Bound::Unbounded, Bound::Unbounded) }
    }

    fn selection(&self, single: bool, random: &mut SplitMix64) -> Selection {
        let dimensions = self.array.schema().dimensions();
        let mut selection = Selection::default();
        for (index, dimension) in dimensions.iter().enumerate() {
            let count = random.below(if single { 2 } else { 4 });
            let mut ranges: Vec<Ends> = (0..count).map(|_| self.ends(index, random)).collect();
            if random.below(4) == 0 {
                // Repeat a range.
                ranges.extend(ranges.first().cloned());
            }
            selection.ranges.push(ranges);
            let prefix = (dimension.is_var() && count == 0 && random.below(2) == 0).then(|| {
                let mut prefix = self.coordinate(index, random);
                prefix.truncate(random.below(3));
                prefix
            });
            selection.prefixes.push(prefix);
        }
        let kind = random.below(4);
        if kind & 1 == 1 {
            let count = [0, 1, 3, 20][random.below(4)];
            let sides = |random: &mut SplitMix64| {
                (0..dimensions.len()).map(|index| (random.below(4) > 0).then(|| self.ends(index, random))).collect()
            };
            selection.boxes = Some((0..count).map(|_| sides(random)).collect());
        }
        if kind & 2 == 2 {
            let count = [0, 1, 5, 60][random.below(4)];
            let mut points: Vec<Vec<Vec<u8>>> = Vec::new();
            for _ in 0..count {
                let row = &self.rows[random.below(self.rows.len())];
                let is_outside = row[..dimensions.len()]
                    .iter()
                    .zip(dimensions)
                    .any(|(value, dimension)| is_nan(dimension, value.as_deref().unwrap()));
                points.push(match random.below(4) {
                    0 if !points.is_empty() => points[random.below(points.len())].clone(),
                    1 | 2 if !is_outside => {
                        row[..dimensions.len()].iter().map(|value| value.clone().unwrap()).collect()
                    }
                    _ => (0..dimensions.len()).map(|index| self.coordinate(index, random)).collect(),
                });
            }
            selection.points = Some(points);
        }
        selection
    }
}

fn check(
    name: &str,
    known: &Known,
    selection: &Selection,
    order: Order,
    budget: usize,
    random: &mut SplitMix64,
) -> bool {
    let schema = known.array.schema();
    let context = format!("{name}, {order}, {budget}: {selection:?}");
    let query = known.array.read().order(order).budget(budget);
    let query = selection.apply(query, schema).unwrap_or_else(|error| panic!("{error}: {context}"));
    let is_set = selection.boxes.is_some() || selection.points.is_some();
    let expected: Vec<Row> = known.rows.iter().filter(|row| selection.holds(schema, row)).cloned().collect();
    let plan = query.plan().unwrap();
    assert!(expected.is_empty() || schema.is_dense() || !plan.fragments.is_empty(), "{context}");
    let places: Vec<usize> = match random.below(3) {
        0 => (0..known.names.len()).collect(),
        _ => vec![known.names.len() - 1],
    };
    let query = query.select(places.iter().map(|place| &known.names[*place])).unwrap();
    let parts = query.split([1, 2, 3, 7][random.below(4)]).unwrap();
    let found = rows(query);
    check_parts(&known.array, &parts, &found, &context);
    let only = |row: &Row| places.iter().map(|place| row[*place].clone()).collect::<Row>();
    let mut expected: Vec<Row> = expected.iter().map(only).collect();
    let mut found = found;
    // Cells with equal coordinates have no order.
    if order != Order::Unordered && schema.allows_duplicates() && places.len() > 1 {
        let coordinates = |rows: &[Row]| rows.iter().map(|row| row[..schema.dim_count()].to_vec()).collect::<Vec<_>>();
        assert!(coordinates(&found) == coordinates(&expected), "{context}");
    }
    if order == Order::Unordered || schema.allows_duplicates() {
        expected.sort();
        found.sort();
    }
    assert!(found == expected, "{context}: found {}, expected {}", found.len(), expected.len());
    !expected.is_empty() && is_set
}

/// Checks that serialized parts together have all cells, each as often as the query.
fn check_parts(array: &Array, parts: &[QueryPart], all: &[Row], context: &str) {
    let mut found = Vec::new();
    for part in parts {
        let bytes = part.to_bytes();
        let read = QueryPart::from_bytes(&bytes).unwrap();
        assert_eq!(read, *part);
        found.extend(rows(read.query(array).unwrap()));
    }
    let mut all = all.to_vec();
    all.sort();
    found.sort();
    assert!(found == all, "{} parts: found {}, expected {}: {context}", parts.len(), found.len(), all.len());
}

fn over(fixtures: Vec<Fixture>, cases: usize, threads: usize) {
    let mut random = SplitMix64::new(7);
    let mut compared = 0;
    for fixture in fixtures {
        let array = open_fixture(&fixture, threads);
        for order in [Order::RowMajor, Order::ColMajor, Order::Global, Order::Unordered] {
            let known = Known::read(array.clone(), order);
            if known.rows.is_empty() || known.rows.len() > 5_000 {
                continue;
            }
            for case in 0..cases {
                let mut selection = known.selection(false, &mut random);
                if order == Order::Global && selection.boxes.is_none() && selection.points.is_none() {
                    selection = known.selection(true, &mut random);
                }
                if check(fixture.name(), &known, &selection, order, [1 << 22, 300][case % 2], &mut random) {
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

/// A sparse array of two dimensions with cells at even coordinates, in two fragments.
fn even(dense: bool) -> Array {
    let dimension = |name| Dimension::new(name, -50i32..=49);
    let dimension = |name| dimension(name).with_tile(10);
    let builder = if dense { SchemaBuilder::dense() } else { SchemaBuilder::sparse() };
    let schema = builder.dimension(dimension("y")).dimension(dimension("x"));
    let storage = create(schema.attribute(Attribute::new("a", Datatype::Int32)).build().unwrap());
    let write = |cells: &[(i32, i32, i32)]| {
        let column = |part: fn(&(i32, i32, i32)) -> i32| cells.iter().map(part).collect::<Vec<i32>>();
        let (y, x, a) = (column(|cell| cell.0), column(|cell| cell.1), column(|cell| cell.2));
        let cells = WriteBatch::new().with("a", &a);
        let cells = if dense { cells } else { cells.with("y", &y).with("x", &x) };
        open(&storage).write().cells(cells).unwrap();
    };
    let step = if dense { 1 } else { 2 };
    let all = (-50..50).step_by(step).flat_map(|y| (-50..50).step_by(step).map(move |x| (y, x, y * 100 + x)));
    write(&all.collect::<Vec<_>>());
    if !dense {
        // A newer cell that hides an older cell.
        write(&[(10, 20, 7)]);
    }
    open(&storage)
}

fn values(query: Query) -> Vec<i32> {
    arrays::values(query, "a")
}

#[test]
fn points_are_zipped_and_unique() {
    let array = even(false);
    let points = [("y", &[10i32, -50, 10, 48, 3]), ("x", &[20i32, -50, 20, -48, 3])];
    for order in [Order::RowMajor, Order::Global] {
        assert_eq!(values(array.read().order(order).points(points).unwrap()), [-5050, 7, 4752], "{order}");
    }
    // Points and boxes add up. Ranges and conditions restrict them.
    let query = array.read().order(Order::RowMajor).points(points).unwrap().points([("y", &[0i32]), ("x", &[0i32])]);
    let query = query.unwrap().boxes([QueryBox::new().range("y", -2..=0).range("x", ..=-48)]).unwrap();
    assert_eq!(values(query.clone()), [-5050, -250, -248, -50, -48, 0, 7, 4752]);
    assert_eq!(values(query.clone().range("x", -49..).unwrap()), [-248, -48, 0, 7, 4752]);
    let condition = |text: &str| text.parse::<tdb_condition::Condition>().unwrap();
    assert_eq!(values(query.clone().filter(condition("a > -50 and x > -50"))), [-48, 0, 7, 4752]);
    // A hidden cell does not reappear if the newer cell does not match.
    assert_eq!(values(query.filter(condition("a > 1000"))), [4752]);
    // An empty list of points selects no cells.
    assert_eq!(values(array.read().points([("y", &[0i32; 0]), ("x", &[0i32; 0])]).unwrap()), [0i32; 0]);
    assert_eq!(values(array.read().boxes([]).unwrap()), [0i32; 0]);
}

#[test]
fn dense_points_with_a_condition() {
    let array = even(true);
    let points = [("y", &[10i32, -50, 10, 49, 3]), ("x", &[20i32, -50, 20, -49, 3])];
    let query = array.read().points(points).unwrap();
    assert_eq!(values(query.clone()), [-5050, 303, 1020, 4851]);
    assert_eq!(values(query.clone().order(Order::ColMajor)), [-5050, 4851, 303, 1020]);
    assert_eq!(values(query.clone().order(Order::Global).budget(1)), [-5050, 303, 1020, 4851]);
    let query = query.filter("a < 1000".parse::<tdb_condition::Condition>().unwrap());
    assert_eq!(values(query.clone().only_matching()), [-5050, 303]);
    assert_eq!(values(query), [-5050, 303, i32::MIN, i32::MIN]);
}

#[test]
fn what_is_no_selection() {
    let array = even(false);
    let query = || array.read();
    let error = |query: Result<Query, ArrayError>| query.map(drop).unwrap_err().to_string();
    let errors = [
        error(query().points([("y", &[1i32])])),
        error(query().points([("y", &[1i32]), ("z", &[1i32])])),
        error(query().points([("y", &[1i32]), ("y", &[1i32])])),
        error(query().points([("y", WriteColumn::values(&[1i32, 2])), ("x", WriteColumn::values(&[1i32]))])),
        error(query().points([("y", WriteColumn::values(&[1i64])), ("x", WriteColumn::values(&[1i64]))])),
        error(
            query().points([("y", WriteColumn::options([Some(1i32), None])), ("x", WriteColumn::values(&[1i32, 2]))]),
        ),
        error(query().points([("y", &[1i32, 2, 50]), ("x", &[1i32, 2, 3])])),
        error(query().boxes([QueryBox::new(), QueryBox::new().range("x", 3..3)])),
        error(query().boxes([QueryBox::new().range("x", 3..5).range("x", 7..9)])),
        error(query().boxes([QueryBox::new().range("x", 30..=50)])),
        error(query().boxes([QueryBox::new().range("z", 3..)])),
        error(query().prefix("x", "1")),
        error(
            query().ranges("x", [(Bound::Included(3), Bound::Included(4)), (Bound::Included(6), Bound::Included(5))]),
        ),
    ];
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn both_zeros_are_outside_of_a_range_that_leaves_out_zero() {
    let dimension = Dimension::new("x", -1.0f64..=1.0);
    let schema = SchemaBuilder::sparse().dimension(dimension).attribute(Attribute::new("a", Datatype::Int32));
    let storage = create(schema.allows_duplicates(true).build().unwrap());
    let cells = WriteBatch::new().with("x", &[-0.5f64, -0.0, 0.0, 0.5]).with("a", &[1i32, 2, 3, 4]);
    open(&storage).write().cells(cells).unwrap();
    let array = open(&storage);
    let found =
        |range: (Bound<f64>, Bound<f64>)| values(array.read().order(Order::RowMajor).range("x", range).unwrap());
    for zero in [0.0, -0.0] {
        assert_eq!(found((Bound::Excluded(zero), Bound::Unbounded)), [4]);
        assert_eq!(found((Bound::Unbounded, Bound::Excluded(zero))), [1]);
        assert_eq!(found((Bound::Included(zero), Bound::Unbounded)), [2, 3, 4]);
        assert_eq!(values(array.read().order(Order::RowMajor).points([("x", &[zero])]).unwrap()), [2, 3]);
    }
}

#[test]
fn every_fixture() {
    over(fixtures::all(), 8, 1);
}

#[test]
fn every_fixture_with_two_threads() {
    over(fixtures::all(), 2, 2);
}

#[test]
fn fixtures_of_older_releases() {
    over(fixtures::of_older_releases(), 3, 1);
}
