//! Compares the output of `tdb read` with the reference library, for every query of every fixture.

use crate::support::{Key, tdb};
use serde_json::Value;
use tdb_testkit::fixtures::{self, Column, Order, Query};
use tdb_types::Datatype;

/// Queries that the command does not support, by the end of the fixture name and the query name.
const OTHERS: [(&str, &str); 7] = [
    // Labels are no fields, and are read from the label arrays in `__labels`.
    ("-dense-labels", "one label, row-major"),
    ("-dense-labels", "another label, row-major"),
    // The command cannot select the timestamps of cells.
    ("-sparse-overlapping", "with timestamps, row-major"),
    ("-sparse-consolidated", "timestamps, row-major"),
    ("-sparse-consolidated-vacuumed", "timestamps, row-major"),
    // Without ranges, the reference library reads a dense array beyond its current domain, unlike
    // this command.
    ("-dense-current-domain", "all, row-major"),
    // The reference library repeats cells where ranges overlap.
    ("-by-2.30.0-dense-1d", "ranges out of order and overlapping, row-major"),
];

/// Returns the arguments of `tdb` for the query.
fn words(array: &str, query: &Query) -> Vec<String> {
    let order = query.layout.trim_end_matches("-order");
    let mut words = vec!["read".to_owned(), array.to_owned(), "--raw".to_owned(), format!("--order={order}")];
    words.extend(query.timestamps.map(|(first, last)| format!("--between={first}..{last}")));
    words.extend(query.columns.iter().map(|column| format!("--select={}", column.name)));
    for dimension in &query.ranges {
        for (first, last) in &dimension.ranges {
            let (first, last) = (coordinate(first), coordinate(last));
            words.push(format!("--range={}={first}..{last}", dimension.dimension));
        }
    }
    words
}

/// Formats a coordinate for the command line.
fn coordinate(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::String(bits) if bits.starts_with("0x") && bits.len() == 10 => {
            format!("{:?}", f32::from_bits(u32::from_str_radix(&bits[2..], 16).unwrap()))
        }
        Value::String(bits) if bits.starts_with("0x") && bits.len() == 18 => {
            format!("{:?}", f64::from_bits(u64::from_str_radix(&bits[2..], 16).unwrap()))
        }
        Value::String(text) => Value::from(text.as_str()).to_string(),
        other => panic!("coordinate {other}"),
    }
}

/// Returns the bytes of a cell in the output of `tdb read --raw`. Every NaN becomes the same NaN,
/// because JSON has a single word for it.
fn bytes(datatype: Datatype, value: &Value) -> Vec<u8> {
    match value {
        Value::Array(values) => values.iter().flat_map(|value| bytes(datatype, value)).collect(),
        Value::Object(object) => tdb_types::hex::decode(object["hex"].as_str().unwrap()).unwrap(),
        Value::Bool(value) => vec![u8::from(*value)],
        Value::String(text) if datatype.is_float() => number(datatype, text),
        Value::String(text) => match datatype.size() {
            1 => text.as_bytes().to_vec(),
            2 => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            _ => text.chars().flat_map(|character| u32::from(character).to_le_bytes()).collect(),
        },
        Value::Number(value) => number(datatype, &value.to_string()),
        Value::Null => unreachable!("nulls have no bytes"),
    }
}

fn number(datatype: Datatype, text: &str) -> Vec<u8> {
    let scalar = tdb_types::Scalar::parse(datatype.physical(), text);
    scalar.unwrap_or_else(|| panic!("{text} is no {datatype}")).to_le_bytes().to_vec()
}

/// Returns the cells of a column of `expected.json`, with all NaNs made equal.
fn expected_cells(column: &Column, datatype: Datatype) -> Vec<Option<Vec<u8>>> {
    let columns = column.to_bytes();
    let size = datatype.size() * column.cell_val_num.unwrap_or(0) as usize;
    let cell = |index: usize| match &columns.offsets {
        Some(offsets) => columns.values[offsets[index] as usize..offsets[index + 1] as usize].to_vec(),
        None => columns.values[index * size..(index + 1) * size].to_vec(),
    };
    let valid = |index: usize| columns.validity.as_ref().is_none_or(|validity| validity[index] == 1);
    let cells = (0..column.values.len()).map(|index| valid(index).then(|| one_nan(datatype, cell(index))));
    cells.collect()
}

fn one_nan(datatype: Datatype, bytes: Vec<u8>) -> Vec<u8> {
    match datatype {
        Datatype::Float32 => {
            let values = bytes.as_chunks::<4>().0.iter().map(|value| f32::from_le_bytes(*value));
            values.flat_map(|value| if value.is_nan() { f32::NAN } else { value }.to_le_bytes()).collect()
        }
        Datatype::Float64 => {
            let values = bytes.as_chunks::<8>().0.iter().map(|value| f64::from_le_bytes(*value));
            values.flat_map(|value| if value.is_nan() { f64::NAN } else { value }.to_le_bytes()).collect()
        }
        _ => bytes,
    }
}

type Rows = Vec<Vec<Option<Vec<u8>>>>;

fn expected_rows(query: &Query, datatypes: &[Datatype]) -> Rows {
    let columns: Vec<_> =
        query.columns.iter().zip(datatypes).map(|(column, datatype)| expected_cells(column, *datatype)).collect();
    (0..query.cells).map(|row| columns.iter().map(|column| column[row].clone()).collect()).collect()
}

fn printed_rows(stdout: &str, query: &Query, datatypes: &[Datatype]) -> Rows {
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        let cell = |(column, datatype): (&Column, &Datatype)| match &row[&column.name] {
            Value::Null => None,
            value => Some(bytes(*datatype, value)),
        };
        query.columns.iter().zip(datatypes).map(cell).collect()
    };
    stdout.lines().map(row).collect()
}

fn compare(printed: &Rows, wanted: &Rows, query: &Query, name: &str) {
    assert_eq!(printed.len(), wanted.len(), "{name}: rows");
    for (row, (printed, wanted)) in printed.iter().zip(wanted).enumerate() {
        for ((printed, wanted), column) in printed.iter().zip(wanted).zip(&query.columns) {
            assert_eq!(printed, wanted, "{name}: row {row}, {} ({})", column.name, column.datatype);
        }
    }
}

#[test]
fn every_query_of_every_fixture() {
    let (mut asked, mut others) = (0, 0);
    for fixture in fixtures::all() {
        let expected = fixture.expected();
        let key = expected.encryption_key.as_ref().map(|key| Key::new(key.as_bytes()));
        for query in &expected.queries {
            if OTHERS.iter().any(|(end, name)| fixture.name().ends_with(end) && query.name == *name) {
                others += 1;
                continue;
            }
            let mut words = words(&fixture.array_dir().to_string_lossy(), query);
            let name = format!("{}: {}", fixture.name(), query.name);
            words.extend(key.iter().flat_map(Key::words));
            let run = tdb(&words);
            assert_eq!(run.code, Some(0), "{name}: {run}");
            let datatypes: Vec<Datatype> =
                query.columns.iter().map(|column| Datatype::from_name(&column.datatype).unwrap()).collect();
            let mut wanted = expected_rows(query, &datatypes);
            let mut printed = printed_rows(&run.stdout, query, &datatypes);
            if query.order == Order::Any {
                wanted.sort();
                printed.sort();
            }
            compare(&printed, &wanted, query, &name);
            asked += 1;
        }
    }
    assert_eq!(others, OTHERS.len(), "unsupported queries");
    assert!(asked > 250, "{asked} queries");
}
