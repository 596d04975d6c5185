//! Aggregates of every fixture, in total and by group, compared with a plain computation over all
//! cells.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tdb_array::{
    Aggregate, AggregateFunction, Array, ArrayOptions, Batch, Coordinate, Fragment, Query, QueryBox, WriteBatch,
    WriteColumn,
};
use tdb_condition::{Operator, field};
use tdb_fragment::Tiles;
use tdb_rtree::{DimRange, NdRange};
use tdb_schema::{Attribute, Dimension, FieldRef, FieldType, SchemaBuilder};
use tdb_storage::Storage;
use tdb_testkit::fixtures::{self, Fixture};
use tdb_types::{ArrayType, CellValNum, Datatype, PhysicalType, Scalar};

use crate::arrays::{Cell, Row, create, is_number, is_text, open, open_fixture, rows, with_key};

/// A random aggregate query.
#[derive(Clone, Debug)]
struct Question {
    /// Two cells whose coordinates are the ends of the range along each dimension.
    range: Option<(Index, Index)>,
    /// A field, a cell with the value to compare, and whether the condition is "at least" or
    /// "unequal".
    filter: Option<(Index, Index, bool)>,
    by: Vec<Index>,
    budget: Option<usize>,
    /// Pairs of cells at opposite corners of boxes.
    boxes: Vec<(Index, Index)>,
    /// Aggregates to compute one by one.
    alone: Vec<Index>,
}

fn questions() -> impl Strategy<Value = Question> {
    (
        prop::option::of((any::<Index>(), any::<Index>())),
        prop::option::of((any::<Index>(), any::<Index>(), any::<bool>())),
        prop::collection::vec(any::<Index>(), 0..3),
        prop_oneof![3 => Just(None), 1 => Just(Some(1)), 1 => Just(Some(3000))],
        prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec((any::<Index>(), any::<Index>()), 1..4)],
        prop::collection::vec(any::<Index>(), 8),
    )
        .prop_map(|(range, filter, by, budget, boxes, alone)| Question { range, filter, by, budget, boxes, alone })
}

/// An array with all fields and cells.
struct Known {
    array: Array,
    names: Vec<String>,
    kinds: Vec<FieldType>,
    nullable: Vec<bool>,
    enumerated: Vec<bool>,
    rows: Vec<Row>,
    /// Fragments of a dense array, oldest first.
    layers: Vec<Layer>,
}

/// The cells that a fragment wrote in a dense array.
struct Layer {
    ranges: NdRange,
    /// `true` for each field that the fragment stores.
    has: Vec<bool>,
    /// The written cells, if the fragment does not cover its ranges. A written cell differs from
    /// the first field's fill value when only this fragment is read.
    written: Option<HashSet<Row>>,
}

impl Layer {
    fn all(fixture: &Fixture, array: &Array, names: &[String]) -> Vec<Self> {
        let layer = |fragment: &Fragment| {
            let has = names.iter().map(|name| fragment.schema().field(name).is_some()).collect();
            let written = (!matches!(fragment.footer().tiles(), Tiles::Dense(_))).then(|| {
                let alone = with_key(ArrayOptions::new().threads(1), fixture).between(fragment.time());
                let alone = alone.open_on(fixture.array_storage() as Arc<dyn Storage>).unwrap();
                let first = alone.schema().attributes()[0].name().to_owned();
                let dimensions = alone.schema().dimensions().iter().map(|dimension| dimension.name().to_owned());
                let fields: Vec<String> = dimensions.chain([first]).collect();
                let fill = alone.schema().attributes()[0].fill_value().to_vec();
                let mut rows = rows(alone.read().select(&fields).unwrap());
                rows.retain(|row| row.last().unwrap().as_ref() != Some(&fill));
                rows.iter_mut().for_each(|row| drop(row.pop()));
                rows.into_iter().collect()
            });
            Self { ranges: fragment.non_empty_domain().unwrap().clone(), has, written }
        };
        let is_dense = array.schema().array_type() == ArrayType::Dense;
        if is_dense { array.fragments().unwrap().iter().map(layer).collect() } else { Vec::new() }
    }

    fn wrote(&self, coordinates: &[Cell], physical: &[PhysicalType]) -> bool {
        if let Some(written) = &self.written {
            return written.contains(coordinates);
        }
        self.ranges.0.iter().zip(coordinates).zip(physical).all(|((range, coordinate), physical)| {
            let key = Scalar::from_le_bytes(*physical, coordinate.as_ref().unwrap()).unwrap().key();
            matches!(range, DimRange::Fixed { lo, hi } if (lo..=hi).contains(&&key))
        })
    }
}

impl Known {
    fn read(fixture: &Fixture, array: Array) -> Self {
        let schema = array.schema().clone();
        let fields: Vec<FieldRef> = schema.fields().collect();
        let names: Vec<String> = fields.iter().map(|field| schema.field_name(*field).unwrap().to_owned()).collect();
        let kinds = fields.iter().map(|field| schema.field_type(*field).unwrap()).collect();
        let attribute = |field: &FieldRef| match field {
            FieldRef::Attribute(index) => schema.attributes().get(*index),
            FieldRef::Dimension(_) => None,
        };
        let nullable = fields.iter().map(|field| attribute(field).is_some_and(tdb_schema::Attribute::is_nullable));
        let nullable = nullable.collect();
        let enumerated = fields.iter().map(|field| attribute(field).is_some_and(|found| found.enumeration().is_some()));
        let enumerated = enumerated.collect();
        let rows = rows(array.read().select(&names).unwrap());
        let layers = Layer::all(fixture, &array, &names);
        Self { array, names, kinds, nullable, enumerated, rows, layers }
    }

    /// `true` if a cell has a value of a field, or null. Unwritten cells of dense arrays have
    /// neither.
    fn has(&self, place: usize, row: &Row) -> bool {
        let schema = self.array.schema();
        if schema.array_type() == ArrayType::Sparse {
            return true;
        }
        let at = |name: &str| self.names.iter().position(|known| known == name).unwrap();
        let coordinates: Row = schema.dimensions().iter().map(|found| row[at(found.name())].clone()).collect();
        let physical: Vec<_> = schema.dimensions().iter().map(tdb_schema::Dimension::physical).collect();
        let is_coordinate = schema.dimensions().iter().any(|found| found.name() == self.names[place]);
        let newest = self.layers.iter().rfind(|layer| layer.wrote(&coordinates, &physical));
        newest.is_some_and(|layer| is_coordinate || layer.has[place])
    }

    fn query(&self, question: &Question) -> Query {
        let mut query = self.array.read();
        if let Some((low, high)) = question.range {
            for (dimension, low, high) in self.ends(low, high) {
                query = query.range(&dimension, low..=high).unwrap();
            }
        }
        let boxed = |(low, high): &(Index, Index)| {
            let ends = self.ends(*low, *high).into_iter();
            ends.fold(QueryBox::new(), |boxed, (dimension, low, high)| boxed.range(&dimension, low..=high))
        };
        if !question.boxes.is_empty() {
            query = query.boxes(question.boxes.iter().map(boxed)).unwrap();
        }
        if let Some((place, cell, is_unlike)) = question.filter {
            let place = place.index(self.names.len());
            let cell = &self.rows[cell.index(self.rows.len())][place];
            let operator = if is_unlike { Operator::NotEqual } else { Operator::GreaterOrEqual };
            let field = field(self.names[place].clone());
            query = match cell {
                Some(cell) if self.has_order(place) && !self.enumerated[place] => {
                    query.filter(field.compare(operator, cell.clone()))
                }
                _ => query.filter(if is_unlike { field.is_null() } else { field.is_not_null() }),
            };
        }
        match question.budget {
            Some(budget) => query.budget(budget),
            None => query,
        }
    }

    /// Returns the lower and the higher coordinate of two cells along each dimension.
    fn ends(&self, low: Index, high: Index) -> Vec<(String, Coordinate, Coordinate)> {
        let [a, b] = [low, high].map(|index| &self.rows[index.index(self.rows.len())]);
        let ends = self.array.schema().dimensions().iter().map(|dimension| {
            let place = self.names.iter().position(|name| name == dimension.name()).unwrap();
            let (a, b) = (a[place].as_ref().unwrap(), b[place].as_ref().unwrap());
            let (low, high) = match dimension.is_var() {
                true => (Coordinate::Bytes(a.min(b).clone()), Coordinate::Bytes(a.max(b).clone())),
                false => {
                    let [a, b] = [a, b].map(|bytes| Scalar::from_le_bytes(dimension.physical(), bytes).unwrap());
                    let (low, high) = if a.key() <= b.key() { (a, b) } else { (b, a) };
                    (low.into(), high.into())
                }
            };
            (dimension.name().to_owned(), low, high)
        });
        ends.collect()
    }

    fn is_number(&self, place: usize) -> bool {
        is_number(self.kinds[place])
    }

    fn has_order(&self, place: usize) -> bool {
        is_text(self.kinds[place]) || self.is_number(place)
    }

    /// Returns all aggregates of a field.
    fn aggregates(&self, place: usize) -> Vec<Aggregate> {
        let name = &self.names[place];
        let mut all = vec![Aggregate::count_of(name), Aggregate::null_count(name), Aggregate::count_distinct(name)];
        if self.has_order(place) {
            all.extend([Aggregate::min(name), Aggregate::max(name), Aggregate::median(name)]);
            all.extend([0.0, 0.9, 1.0].map(|part| Aggregate::quantile(name, part)));
        }
        if self.is_number(place) && !self.enumerated[place] {
            all.push(Aggregate::mean(name));
            if !self.kinds[place].datatype.is_datetime() {
                all.push(Aggregate::sum(name));
            }
        }
        all
    }

    fn number(&self, place: usize, cell: &[u8]) -> Scalar {
        Scalar::from_le_bytes(self.kinds[place].datatype.physical(), cell).unwrap()
    }

    /// Returns a representative of values that compare equal.
    fn canonical(&self, place: usize, cell: &Cell) -> Cell {
        let cell = cell.as_ref()?;
        if !self.is_number(place) {
            return Some(cell.clone());
        }
        let datatype = self.kinds[place].datatype;
        let is_attribute = self.array.schema().attributes().iter().any(|known| known.name() == self.names[place]);
        // NaT is null.
        let is_time = is_attribute && (datatype.is_datetime() || datatype.is_time());
        if is_time && *cell == i64::MIN.to_le_bytes() {
            return None;
        }
        Some(match self.number(place, cell) {
            Scalar::F32(value) if value.is_nan() => f32::NAN.to_le_bytes().to_vec(),
            Scalar::F64(value) if value.is_nan() => f64::NAN.to_le_bytes().to_vec(),
            Scalar::F32(value) => (value + 0.0).to_le_bytes().to_vec(),
            Scalar::F64(value) => (value + 0.0).to_le_bytes().to_vec(),
            _ => cell.clone(),
        })
    }

    /// Returns sorted values, NaNs last.
    fn sorted(&self, place: usize, cells: &[&Row]) -> Vec<Vec<u8>> {
        let mut values: Vec<Vec<u8>> = cells.iter().filter_map(|row| self.canonical(place, &row[place])).collect();
        match self.is_number(place) {
            true => values.sort_by(|a, b| {
                let [a, b] = [a, b].map(|cell| self.number(place, cell));
                let is_nan = |value: Scalar| value.to_f64().is_nan();
                a.partial_cmp(&b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
            }),
            false => values.sort(),
        }
        values
    }

    fn check(&self, aggregate: &Aggregate, place: usize, cells: &[&Row], found: Cell) {
        let cells: Vec<&Row> = cells.iter().copied().filter(|row| self.has(place, row)).collect();
        let cells = &cells[..];
        let values = self.sorted(place, cells);
        let count = |count: usize| Some((count as u64).to_le_bytes().to_vec());
        let context = format!("{aggregate} of {}", values.len());
        let is_comparable = |cell: &&Vec<u8>| !self.is_number(place) || !self.number(place, cell).to_f64().is_nan();
        let expected = match aggregate.function() {
            AggregateFunction::Count => count(values.len()),
            AggregateFunction::NullCount => {
                count(cells.iter().filter(|row| self.canonical(place, &row[place]).is_none()).count())
            }
            AggregateFunction::CountDistinct => {
                let mut distinct = values.clone();
                distinct.dedup();
                count(distinct.len())
            }
            AggregateFunction::Min => values.iter().find(is_comparable).or(values.first()).cloned(),
            AggregateFunction::Max => values.iter().rfind(is_comparable).or(values.first()).cloned(),
            AggregateFunction::Quantile(part) => {
                let rank = ((part * 10.0).round() as usize * values.len()).div_ceil(10).max(1);
                values.get(rank - 1).cloned()
            }
            AggregateFunction::Mean | AggregateFunction::Sum => {
                return self.check_sum(aggregate, place, &values, found, &context);
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(self.canonical_like(aggregate, place, &found), expected, "{context}");
    }

    fn canonical_like(&self, aggregate: &Aggregate, place: usize, found: &Cell) -> Cell {
        match aggregate.function() {
            AggregateFunction::Min | AggregateFunction::Max => self.canonical(place, found),
            _ => found.clone(),
        }
    }

    fn check_sum(&self, aggregate: &Aggregate, place: usize, values: &[Vec<u8>], found: Cell, context: &str) {
        let numbers: Vec<Scalar> = values.iter().map(|cell| self.number(place, cell)).collect();
        let is_mean = aggregate.function() == AggregateFunction::Mean;
        if values.is_empty() {
            let zero = (!is_mean && !self.nullable[place]).then(|| vec![0; 8]);
            assert_eq!(found, zero, "{context}");
            return;
        }
        let datatype = self.kinds[place].datatype;
        let physical = datatype.physical();
        if is_mean && (datatype.is_datetime() || datatype.is_time()) {
            let sum: i128 = numbers.iter().map(|value| value.to_integer().unwrap()).sum();
            let mean = sum.div_euclid(values.len() as i128);
            assert_eq!(found, Some((mean as i64).to_le_bytes().to_vec()), "{context}");
            return;
        }
        if physical.is_float() || is_mean {
            let values = || numbers.iter().map(|value| value.to_f64());
            let special = values().filter(|value| !value.is_finite()).reduce(|sum, value| sum + value);
            let sum = special.unwrap_or_else(|| values().sum());
            let magnitude: f64 = values().map(f64::abs).sum();
            let found = found.map(|found| f64::from_le_bytes(found.try_into().unwrap()));
            let count = if is_mean { values().count() as f64 } else { 1.0 };
            match (found, sum.is_finite(), special.is_some()) {
                (Some(found), true, _) => {
                    let difference = (found - sum / count).abs();
                    assert!(
                        difference <= magnitude / count * 1e-12 || magnitude.is_infinite(),
                        "{context}: {found} {sum}"
                    );
                }
                (Some(found), false, true) => assert!(found == sum || found.is_nan() && sum.is_nan(), "{context}"),
                (Some(found), false, false) => assert!(found == f64::MAX || is_mean, "{context}"),
                (None, ..) => assert!(!sum.is_finite() && self.nullable[place], "{context}"),
            }
            return;
        }
        let sum: i128 = numbers.iter().map(|value| value.to_integer().unwrap()).sum();
        let expected = match physical.is_signed_integer() {
            true => i64::try_from(sum).map(i64::to_le_bytes).map_err(|_| i64::MAX.to_le_bytes()),
            false => u64::try_from(sum).map(u64::to_le_bytes).map_err(|_| u64::MAX.to_le_bytes()),
        };
        let expected = match expected {
            Ok(bytes) => Some(bytes.to_vec()),
            Err(most) => (!self.nullable[place]).then(|| most.to_vec()),
        };
        assert_eq!(found, expected, "{context}");
    }
}

fn check(fixture: &Fixture, known: &Known, question: &Question) {
    let query = known.query(question);
    println!("{}: {question:?}", fixture.name());
    let cells = rows(query.clone().only_matching().select(&known.names).unwrap());
    let aggregates: Vec<(usize, Aggregate)> = (0..known.names.len())
        .flat_map(|place| known.aggregates(place).into_iter().map(move |aggregate| (place, aggregate)))
        .collect();
    let asked = || std::iter::once(Aggregate::count()).chain(aggregates.iter().map(|(_, aggregate)| aggregate.clone()));

    let whole = query.clone().aggregate(asked()).unwrap();
    let all: Vec<&Row> = cells.iter().collect();
    assert_eq!(whole.value::<u64>("count").unwrap(), Some(cells.len() as u64));
    for ((place, aggregate), column) in aggregates.iter().zip(&whole.batch().columns()[1..]) {
        assert_eq!(column.name(), aggregate.to_string());
        known.check(aggregate, *place, &all, column.cell(0).map(<[u8]>::to_vec));
    }
    for place in (0..known.names.len()).filter(|place| known.is_number(*place) && !known.enumerated[*place]) {
        let values = cells.iter().filter(|row| known.has(place, row));
        let values = values
            .filter_map(|row| known.canonical(place, &row[place]))
            .map(|cell| known.number(place, &cell).to_f64());
        let finite: Vec<f64> = values.clone().filter(|value| value.is_finite()).collect();
        let found = query.clone().histogram(&known.names[place], 3).unwrap();
        let ends = || finite.iter().copied().reduce(f64::min).zip(finite.iter().copied().reduce(f64::max));
        let Some((low, high)) = ends().filter(|(low, high)| (high - low).is_finite()) else {
            assert_eq!(found, None, "{}", known.names[place]);
            continue;
        };
        let found = found.unwrap();
        assert_eq!((found.low, found.high), (low, high));
        let mut counts = [0; 3];
        finite.iter().for_each(|value| counts[(((value - low) * (3.0 / (high - low))) as usize).min(2)] += 1);
        assert_eq!(found.counts, counts);
        assert_eq!(found.outside, (values.count() - finite.len()) as u64);
    }
    // Metadata may suffice for a single field but not for all fields together.
    for index in &question.alone {
        let (place, aggregate) = &aggregates[index.index(aggregates.len())];
        let alone = query.clone().aggregate([aggregate.clone()]).unwrap();
        known.check(aggregate, *place, &all, alone.batch().columns()[0].cell(0).map(<[u8]>::to_vec));
    }
    let count = query.clone().aggregate([Aggregate::count()]).unwrap();
    assert_eq!(count.value::<u64>("count").unwrap(), Some(cells.len() as u64));

    let mut by: Vec<usize> = question.by.iter().map(|index| index.index(known.names.len())).collect();
    by.sort_unstable();
    by.dedup();
    let mut groups: BTreeMap<Row, Vec<&Row>> = BTreeMap::new();
    for row in &cells {
        groups.entry(by.iter().map(|place| known.canonical(*place, &row[*place])).collect()).or_default().push(row);
    }
    // With little memory, each group needs a separate pass.
    if question.budget == Some(1) && groups.len() > 20 {
        return;
    }
    let names = by.iter().map(|place| &known.names[*place]);
    let mut found = 0;
    for batch in query.group_by(names, asked()).unwrap() {
        let batch = batch.unwrap();
        found += batch.len();
        for cell in 0..batch.len() {
            let columns = batch.columns();
            let key: Row = columns[..by.len()].iter().map(|column| column.cell(cell).map(<[u8]>::to_vec)).collect();
            let cells = groups.get(&key).unwrap_or_else(|| panic!("no group {key:?}"));
            assert_eq!(columns[by.len()].values::<u64>().unwrap()[cell], cells.len() as u64);
            for ((place, aggregate), column) in aggregates.iter().zip(&columns[by.len() + 1..]) {
                known.check(aggregate, *place, cells, column.cell(cell).map(<[u8]>::to_vec));
            }
        }
    }
    assert_eq!(found, groups.len());
}

fn over(fixtures: Vec<Fixture>, cases: usize) {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[9; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut compared = 0;
    for (number, fixture) in fixtures.into_iter().enumerate() {
        let known = Known::read(&fixture, open_fixture(&fixture, 1 + number % 2));
        if known.rows.is_empty() || known.rows.len() > 2_000 {
            continue;
        }
        for _ in 0..cases {
            check(&fixture, &known, &questions().new_tree(&mut runner).unwrap().current());
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn every_fixture() {
    over(fixtures::all(), 3);
}

#[test]
fn fixtures_of_older_releases() {
    over(fixtures::of_older_releases(), 2);
}

#[test]
fn undefined_aggregates_are_rejected() {
    let array = open_fixture(&fixtures::named("v22-by-2.30.0-dense-2d-row-row"), 1);
    let refused = |aggregates: &[Aggregate]| array.read().aggregate(aggregates.to_vec()).unwrap_err().to_string();
    assert!(refused(&[Aggregate::sum("nothing")]).contains("nothing"));
    let error = refused(&[Aggregate::quantile("a", 1.5)]);
    assert_eq!(error, "quantile(a, 1.5): found 1.5, expected a number from 0 to 1");
    let error = refused(&[Aggregate::quantile("a", f64::NAN)]);
    assert_eq!(error, "quantile(a, NaN): found NaN, expected a number from 0 to 1");
    let error = refused(&[Aggregate::sum("a"), Aggregate::sum("a")]);
    assert_eq!(error, r#"duplicate column name "sum(a)" in the result"#);
    let error = array.read().histogram("a", 1 << 20).unwrap_err();
    assert_eq!(error.to_string(), "histogram(a): found 1048576 intervals, expected at most 65536");
}

/// Lossless images still lose the colors of transparent pixels. The statistics describe the
/// original pixels.
#[test]
fn statistics_of_images_with_transparency_are_not_believed() {
    let known = |name: &str| {
        let fixture = fixtures::named(name);
        let found =
            open_fixture(&fixture, 1).read().aggregate([Aggregate::sum("pixels"), Aggregate::max("pixels")]).unwrap();
        (found.tiles_known() > 0, found.tiles_read() > 0)
    };
    for name in ["v22-by-2.30.0-dense-images-rgba", "v22-by-2.30.0-dense-images-bgra"] {
        assert_eq!(known(name), (false, true), "{name}");
    }
    assert!(known("v22-by-2.30.0-dense-images-rgb").0);
}

/// A single written tile in a domain too large to visit.
#[test]
fn a_dense_array_that_is_hardly_written() {
    let side = |name| {
        let dimension = Dimension::new(name, 0u64..=u64::MAX - 10);
        dimension.with_tile(4)
    };
    let builder = SchemaBuilder::dense().dimension(side("y")).dimension(side("x"));
    let builder =
        builder.attribute(Attribute::new("a", Datatype::Int32)).attribute(Attribute::new("f", Datatype::Float32));
    let storage = create(builder.build().unwrap());
    let array = open(&storage);
    let cells = WriteBatch::new().with("a", &[1i32, 2, 3, 4, 5, 6, 7, 8]).with("f", &[0.5f32; 8]);
    array.write().range("y", 8u64..=9).unwrap().range("x", 4u64..=7).unwrap().cells(cells).unwrap();

    let array = open(&storage);
    let query = || array.read();
    let asked = [Aggregate::count(), Aggregate::count_of("a"), Aggregate::max("a"), Aggregate::min("f")];
    let found = query().aggregate(asked).unwrap();
    // More cells than a `u64` can count, few of them with values.
    assert_eq!(found.value::<u64>("count").unwrap(), Some(u64::MAX));
    assert_eq!(found.value::<u64>("count(a)").unwrap(), Some(8));
    assert_eq!((found.value::<i32>("max(a)").unwrap(), found.value::<f32>("min(f)").unwrap()), (Some(8), Some(0.5)));
    let histogram = query().histogram("f", 2).unwrap().unwrap();
    assert_eq!((histogram.counts, histogram.outside), (vec![8, 0], 0));
    let groups = query().group_by(["a"], [Aggregate::count(), Aggregate::count_distinct("f")]).unwrap();
    let groups: Vec<Batch> = groups.map(Result::unwrap).collect();
    assert_eq!(groups[0].column("count").unwrap().values::<u64>().unwrap(), [u64::MAX, 1, 1, 1, 1, 1, 1, 1, 1]);
    let distinct = groups[0].column("count_distinct(f)").unwrap().values::<u64>().unwrap();
    assert_eq!(distinct, [0, 1, 1, 1, 1, 1, 1, 1, 1]);
    // Cells after the written cells, within the same tile.
    let edge = query().range("y", 8u64..=11).unwrap().range("x", 4u64..=7).unwrap();
    assert_eq!(edge.aggregate([Aggregate::count()]).unwrap().value::<u64>("count").unwrap(), Some(16));
}

/// Short and long cells in one tile. The memory limit admits only a few cells.
#[test]
fn long_cells_of_a_dense_array() {
    let dimension = Dimension::new("x", 0u32..=4095);
    let builder = SchemaBuilder::dense().dimension(dimension.with_tile(4096));
    let name = Attribute::new("s", Datatype::StringAscii).with_cell_val_num(CellValNum::Var);
    let storage = create(builder.attribute(name).build().unwrap());
    let long = |cell: usize| (3000..3020).contains(&cell);
    let cells: Vec<String> =
        (0..4096).map(|cell| "x".repeat(if long(cell) { 50_000 } else { 0 }) + &cell.to_string()).collect();
    open(&storage).write().cells(WriteBatch::new().with("s", WriteColumn::strings(&cells))).unwrap();
    for threads in [1, 2] {
        let array = ArrayOptions::new().threads(threads).open_on(storage.clone()).unwrap();
        let query = || array.read().budget(400_000);
        let found =
            query().aggregate([Aggregate::count(), Aggregate::max("s"), Aggregate::count_distinct("s")]).unwrap();
        let columns = found.batch().columns();
        assert_eq!(columns[0].values::<u64>().unwrap(), [4096]);
        assert_eq!(columns[1].cell(0), cells.iter().max().map(String::as_bytes));
        assert_eq!(columns[2].values::<u64>().unwrap(), [4096]);
    }
}

/// A fragment excluded by its statistics, next to a fragment with longer cells than estimated.
#[test]
fn excluded_tiles_stay_excluded_if_works_are_halved() {
    let dimension = Dimension::new("x", 0u32..=1999);
    let builder = SchemaBuilder::dense().dimension(dimension.with_tile(1000));
    let builder = builder.attribute(Attribute::new("a", Datatype::Int32));
    let builder = builder.attribute(Attribute::new("s", Datatype::StringAscii).with_cell_val_num(CellValNum::Var));
    let storage = create(builder.build().unwrap());
    let write = |first: u32, number: i32, cells: Vec<String>| {
        let numbers = [number; 1000];
        let column = WriteBatch::new().with("a", &numbers).with("s", WriteColumn::strings(&cells));
        open(&storage).write().range("x", first..=first + 999).unwrap().cells(column).unwrap();
    };
    write(0, 1, (0..1000).map(|cell| if cell < 750 { String::new() } else { "x".repeat(3200) }).collect());
    write(1000, 10, vec![String::new(); 1000]);
    for threads in [1, 2, 8] {
        let array = ArrayOptions::new().threads(threads).open_on(storage.clone()).unwrap();
        let query = array.read().range("x", 750u32..=1499).unwrap().filter(field("a").lt(5)).budget(400_000);
        let found = query.aggregate([Aggregate::count(), Aggregate::count_of("s"), Aggregate::min("a")]).unwrap();
        assert_eq!(found.value::<u64>("count").unwrap(), Some(250), "{threads} threads");
        assert_eq!(found.value::<u64>("count(s)").unwrap(), Some(250));
        assert_eq!(found.value::<i32>("min(a)").unwrap(), Some(1));
    }
}
