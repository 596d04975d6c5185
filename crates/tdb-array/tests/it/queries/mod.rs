//! Queries of fixtures, and their comparison with the reference library.

#![allow(unreachable_pub)] // shared by tests

use std::collections::BTreeMap;

use serde_json::Value;
use tdb_array::{Array, ArrayError, ArrayOptions, Batch, Coordinate, Order, Query, TimeRange};
use tdb_rtree::DimRange;
use tdb_schema::DimensionLabel;
use tdb_testkit::fixtures::{self};
use tdb_types::Datatype;

pub mod features;

/// `true` if the library can answer like the reference library. Queries have no field for
/// timestamps of cells, and the reference library repeats the cells of overlapping ranges.
pub fn is_comparable(query: &fixtures::Query) -> bool {
    !query.has_overlapping_ranges() && query.columns.iter().all(|column| column.name != "__timestamps")
}

/// A function that opens the array of a query.
pub type Open<'a> = &'a dyn Fn(ArrayOptions) -> Result<Array, ArrayError>;

/// Checks the result of a query.
pub fn check(open: Open<'_>, query: &fixtures::Query, budget: usize, threads: usize) -> Result<(), String> {
    let columns = read(open, query, budget, threads).map_err(|error| error.to_string())?;
    compare(columns, &inside_current_domain(open, query))
}

/// Cells by field. `None` for null.
type Columns = BTreeMap<String, Vec<Option<Vec<u8>>>>;

fn read(open: Open<'_>, query: &fixtures::Query, budget: usize, threads: usize) -> Result<Columns, ArrayError> {
    let mut options = ArrayOptions::new().threads(threads);
    if let Some((start, end)) = query.timestamps {
        options = options.between(TimeRange { start, end });
    }
    let array = open(options)?;
    let labels: Vec<&DimensionLabel> = array.schema().labels().iter().filter(|label| asks_for(query, label)).collect();
    if !labels.is_empty() {
        return read_labels(&array, query, &labels, budget);
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

fn asks_for(query: &fixtures::Query, label: &DimensionLabel) -> bool {
    query.columns.iter().any(|column| column.name == label.name)
}

/// Reads labels as the cells of a separate dense array.
fn read_labels(
    array: &Array,
    query: &fixtures::Query,
    labels: &[&DimensionLabel],
    budget: usize,
) -> Result<Columns, ArrayError> {
    let mut columns = Columns::new();
    for label in labels {
        let name = array.schema().dimensions()[label.dimension as usize].name();
        let opened = array.label(&label.name)?;
        let label_array = opened.array();
        let mut ranges = query.clone();
        ranges.ranges.retain(|range| range.dimension == name);
        let index = label_array.schema().dimensions()[0].name().to_owned();
        ranges.ranges.iter_mut().for_each(|range| range.dimension.clone_from(&index));
        let reading =
            with_ranges(tdb_array::Query::new(label_array), label_array, &ranges)?.select([&label.attribute])?;
        let mut read = Columns::from([(label.attribute.clone(), Vec::new())]);
        for batch in reading.order(order(query)).budget(budget).batches()? {
            append(&mut read, &batch?, budget);
        }
        columns.extend(read.into_values().map(|cells| (label.name.clone(), cells)));
    }
    Ok(columns)
}

/// Restricts the query to the current domain where it has no range.
///
/// Without ranges, the reference library returns the complete domain of a dense array, however
/// large. On the first dimension, the query has the current domain as a range, because the
/// reference library requires at least one range.
fn inside_current_domain(open: Open<'_>, query: &fixtures::Query) -> fixtures::Query {
    let mut query = query.clone();
    // Arrays that cannot be opened at the default time have no current domain.
    let Ok(array) = open(ArrayOptions::new()) else { return query };
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

fn with_ranges(mut query: Query, array: &tdb_array::Snapshot, expected: &fixtures::Query) -> Result<Query, ArrayError> {
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
    assert!(budget > 1 || batch.len() <= 4, "{} cells in a batch with a budget of one byte", batch.len());
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
        return Err(format!("found {} cells of {name}, expected {}", cells.len(), query.cells));
    }
    if !columns.keys().eq(expected.keys()) {
        return Err(format!("found fields {:?}, expected {:?}", columns.keys(), expected.keys()));
    }
    if query.order == fixtures::Order::Any {
        (columns, expected) = (sorted(&columns), sorted(&expected));
    }
    for (name, cells) in &columns {
        if let Some(at) = (0..cells.len()).find(|&at| cells[at] != expected[name][at]) {
            return Err(format!("{name}, cell {at}: found {:?}, expected {:?}", cells[at], expected[name][at]));
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

/// Returns the cells in a canonical order.
fn sorted(columns: &Columns) -> Columns {
    let len = columns.values().next().map_or(0, Vec::len);
    let mut rows: Vec<Vec<&Option<Vec<u8>>>> =
        (0..len).map(|row| columns.values().map(|cells| &cells[row]).collect()).collect();
    rows.sort();
    let column = |index: usize| rows.iter().map(|row| row[index].clone()).collect();
    columns.keys().enumerate().map(|(index, name)| (name.clone(), column(index))).collect()
}
