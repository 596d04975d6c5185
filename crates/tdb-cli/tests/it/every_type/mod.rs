//! Random cells of every type, for round trips through files.

use std::path::Path;

use tdb_array::tdb_schema::{ArrayDefinition, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder};
use tdb_array::tdb_types::{CellValNum, Datatype};
use tdb_array::{Array, Order, WriteBatch, WriteColumn};
use tdb_testkit::hostile::SplitMix64;

pub(crate) const ROWS: usize = 40;

/// One cell per row, with `None` for null.
pub(crate) type Cells = Vec<Option<Vec<u8>>>;

/// Texts that look like other values.
const TEXTS: &[&str] = &[
    "",
    "NaT",
    "null",
    "NA",
    "NaN",
    "true",
    "007",
    "1e5",
    "2020-01-01",
    "a,b",
    "\"",
    "\"\"",
    "a\nb",
    "a\r\nb",
    " x ",
    "\t",
    "\u{feff}x",
    "é",
    "𝄞",
    "#1",
    "#200",
    "{\"hex\":\"00\"}",
    "{\"index\":1}",
    "[1]",
    "\0",
    "\\",
    "'",
];

/// Returns a random value of a type, often an unusual one.
fn value(datatype: Datatype, random: &mut SplitMix64) -> Vec<u8> {
    let size = datatype.size();
    let bits = random.next();
    if datatype == Datatype::Float32 {
        let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.0, f32::MIN_POSITIVE / 4.0, f32::MAX, 0.1];
        let any = f32::from_bits(bits as u32);
        let value = if bits & 1 << 40 == 0 && !any.is_nan() { any } else { odd[(bits >> 41) as usize % odd.len()] };
        return value.to_le_bytes().into();
    }
    if datatype == Datatype::Float64 {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, 5e-324, f64::MAX, 0.1, 9007199254740993.0];
        let any = f64::from_bits(random.next());
        let value = if bits & 1 == 0 && !any.is_nan() { any } else { odd[(bits >> 1) as usize % odd.len()] };
        return value.to_le_bytes().into();
    }
    if datatype.is_datetime() || datatype.is_time() {
        let odd = [i64::MIN, i64::MIN + 1, i64::MAX, 0, -1, 1, 8030, 803_000, -1971, 1_700_000_000_000];
        let value = if bits & 1 == 0 { random.next() as i64 } else { odd[(bits >> 1) as usize % odd.len()] };
        return value.to_le_bytes().into();
    }
    let odd = [0, 1, u64::MAX, 1 << 63, u64::MAX >> 1];
    let bits = if bits & 1 == 0 { random.next() } else { odd[(bits >> 1) as usize % odd.len()] };
    bits.to_le_bytes()[..size].into()
}

/// Returns a random cell of a field: bytes, or text that looks like another value.
fn cell(datatype: Datatype, number: CellValNum, random: &mut SplitMix64) -> Vec<u8> {
    if number.is_var() && (datatype.is_string() || datatype == Datatype::Char) && random.below(3) > 0 {
        let text = TEXTS[random.below(TEXTS.len())];
        return match datatype.size() {
            1 => text.as_bytes().to_vec(),
            2 => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            _ => text.chars().flat_map(|text| u32::from(text).to_le_bytes()).collect(),
        };
    }
    let count = number.fixed().map_or_else(|| random.below(4), |number| number as usize);
    (0..count).flat_map(|_| value(datatype, random)).collect()
}

/// A field with its cells and enumeration.
pub(crate) struct Field {
    pub(crate) attribute: Attribute,
    pub(crate) cells: Cells,
    pub(crate) enumeration: Option<Enumeration>,
}

/// Returns fields of every datatype and number of values, nullable or not, and fields with
/// enumerations of several types.
pub(crate) fn fields(random: &mut SplitMix64) -> Vec<Field> {
    let numbers = [1, 3, u32::MAX].map(|code| CellValNum::from_code(code).unwrap());
    let mut fields = Vec::new();
    for datatype in Datatype::ALL {
        for (number, nullable) in numbers.into_iter().flat_map(|number| [(number, false), (number, true)]) {
            let name = format!("{datatype}, {number:?}, {nullable}");
            let attribute = Attribute::new(name, *datatype).with_cell_val_num(number);
            let attribute = if nullable { attribute.nullable(false) } else { attribute };
            let dimension = Dimension::new("x", 0i32..=999);
            if SchemaBuilder::sparse().dimension(dimension).attribute(attribute.clone()).build().is_err() {
                continue;
            }
            let mut cell = || (!nullable || random.below(3) > 0).then(|| cell(*datatype, number, random));
            let cells = (0..ROWS).map(|_| cell()).collect();
            fields.push(Field { attribute, cells, enumeration: None });
        }
    }
    let dates: Vec<u8> = [i64::MIN, 0, i64::MAX, -1].iter().flat_map(|date| date.to_le_bytes()).collect();
    let floats: Vec<u8> = [f32::NAN, -0.0, 0.0, 0.1].iter().flat_map(|float| float.to_le_bytes()).collect();
    let integers: Vec<u8> = [i64::MIN, i64::MAX, 0].iter().flat_map(|number| number.to_le_bytes()).collect();
    let enumerations = [
        Enumeration::strings("texts", "", Datatype::StringUtf8, TEXTS.iter().copied()).unwrap(),
        Enumeration::strings("bytes", "", Datatype::Blob, [&b""[..], b"\xff", b"ab"]).unwrap(),
        Enumeration::fixed("dates", "", Datatype::DatetimeDay, dates).unwrap(),
        Enumeration::fixed("floats", "", Datatype::Float32, floats).unwrap(),
        Enumeration::fixed("truths", "", Datatype::Bool, vec![1, 0]).unwrap(),
        Enumeration::fixed("no truths", "", Datatype::Bool, vec![1, 2, 0]).unwrap(),
        Enumeration::fixed("integers", "", Datatype::Int64, integers).unwrap().ordered(),
        Enumeration::strings("uneven", "", Datatype::Int32, [&b"ab"[..], b"abcd", b"", b"abcde"]).unwrap(),
        Enumeration::strings("uneven dates", "", Datatype::DatetimeDay, [&b"ab"[..], b"cd"]).unwrap(),
    ];
    for enumeration in enumerations {
        for nullable in [false, true] {
            let name = format!("{}, {nullable}", enumeration.name());
            let attribute = Attribute::new(name, Datatype::UInt8).with_enumeration(enumeration.name());
            let attribute = if nullable { attribute.nullable(false) } else { attribute };
            let mut cell = || {
                // Some positions have no value.
                let position = [0, 1, 2, 3, 7, 200][random.below(6)];
                (!nullable || random.below(3) > 0).then_some(vec![position])
            };
            let cells = (0..ROWS).map(|_| cell()).collect();
            fields.push(Field { attribute, cells, enumeration: Some(enumeration.clone()) });
        }
    }
    assert!(fields.len() > 200, "only {} fields", fields.len());
    fields
}

fn column(field: &Field) -> WriteColumn<'static> {
    let size = field.attribute.datatype().size();
    let (mut values, mut offsets, mut valid) = (Vec::new(), vec![0], vec![0; ROWS.div_ceil(8)]);
    for (index, cell) in field.cells.iter().enumerate() {
        let zeros = field.attribute.cell_val_num().fixed().map_or(0, |number| number as usize * size);
        match cell {
            Some(cell) => values.extend_from_slice(cell),
            None => values.resize(values.len() + zeros, 0),
        }
        offsets.push((values.len() / size) as u64);
        valid[index / 8] |= u8::from(cell.is_some()) << (index % 8);
    }
    let offsets = field.attribute.cell_val_num().is_var().then_some(offsets);
    WriteColumn::owned(values, offsets, None).with_validity(valid)
}

/// Creates a dense or sparse array of these fields.
pub(crate) fn create(path: &Path, fields: &[Field], is_dense: bool) {
    let builder = if is_dense { SchemaBuilder::dense() } else { SchemaBuilder::sparse() };
    let dimension = Dimension::new("x", 0i32..=ROWS as i32 - 1);
    let mut builder = builder.dimension(dimension.with_tile(7));
    let mut enumerations: Vec<&Enumeration> = Vec::new();
    for field in fields {
        builder = builder.attribute(field.attribute.clone());
        if let Some(enumeration) = &field.enumeration
            && enumerations.iter().all(|known| known.name() != enumeration.name())
        {
            builder = builder.enumeration(EnumerationRef::unplaced(enumeration.name()));
            enumerations.push(enumeration);
        }
    }
    let definition = ArrayDefinition::new(builder.build().unwrap()).unwrap();
    let with = |definition: ArrayDefinition, known: &Enumeration| definition.with_enumeration(known.clone()).unwrap();
    let definition = enumerations.into_iter().fold(definition, with);
    Array::create(path, &definition).unwrap();
    let places: Vec<u8> = (0..ROWS as i32).flat_map(i32::to_le_bytes).collect();
    let cells = match is_dense {
        true => WriteBatch::new(),
        false => WriteBatch::new().with("x", WriteColumn::owned(places, None, None)),
    };
    let cells = fields.iter().fold(cells, |cells, field| cells.with(field.attribute.name().to_owned(), column(field)));
    Array::open(path).unwrap().write().any_utf8().cells(cells).unwrap();
}

/// Compares the cells of an array.
pub(crate) fn check(path: &Path, expected: &[Cells]) {
    let array = Array::open(path).unwrap();
    let batch = array.read().order(Order::RowMajor).batches().unwrap().next().unwrap().unwrap();
    assert_eq!(batch.len(), ROWS);
    for (attribute, expected) in array.schema().attributes().iter().zip(expected) {
        let column = batch.column(attribute.name()).unwrap();
        for (row, expected) in expected.iter().enumerate() {
            let found = column.cell(row).map(<[u8]>::to_vec);
            assert_eq!(found, *expected, "{}, row {row}", attribute.name());
        }
    }
}
