//! Arrays of each datatype.

use std::num::NonZeroU32;
use std::path::Path;

use tdb_datafusion::tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_datafusion::tdb_array::tdb_types::{CellValNum, Datatype, PhysicalType, Scalar};
use tdb_datafusion::tdb_array::{Array, WriteBatch, WriteColumn};

use super::told::is_null;

/// Number of values per cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    One,
    Two,
    Any,
}

pub(super) const NUMBERS: [Number; 3] = [Number::One, Number::Two, Number::Any];

/// Two fragments of several tiles.
pub(super) const ROWS: usize = 18;

impl Number {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Two => "two",
            Self::Any => "any",
        }
    }

    fn cell_val_num(self) -> CellValNum {
        match self {
            Self::One => CellValNum::ONE,
            Self::Two => CellValNum::Fixed(NonZeroU32::new(2).unwrap()),
            Self::Any => CellValNum::Var,
        }
    }

    /// Returns the number of values in a row.
    fn count(self, row: usize) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Any => row % 4,
        }
    }
}

/// Returns values of a datatype near the limits of its SQL type, and some between.
fn values(datatype: Datatype) -> Vec<Scalar> {
    let long = |values: &[i64]| values.iter().map(|value| Scalar::I64(*value)).collect();
    match datatype {
        // ASCII only, because single bytes above are not UTF-8.
        Datatype::StringAscii | Datatype::StringUtf8 | Datatype::GeomWkt => {
            b"aAz~0".iter().map(|byte| Scalar::U8(*byte)).collect()
        }
        Datatype::Char => [i8::MIN, -1, 0, 1, i8::MAX].map(Scalar::I8).to_vec(),
        Datatype::Bool => [0, 1, 0, 255, 2].map(Scalar::U8).to_vec(),
        // Arrow dates count days in 32 bits. Arrow seconds have 64 bits, like TileDB's.
        Datatype::DatetimeYear => long(&[-1970, -30, 0, 54, 8029, 6_000_000]),
        Datatype::DatetimeMonth => long(&[-23_640, -1, 0, 649, 96_348, i64::MAX]),
        Datatype::DatetimeWeek => long(&[-306_783_378, -1, 0, 2800, 306_783_378, 306_783_379]),
        Datatype::DatetimeDay => long(&[i32::MIN.into(), -1, 0, 19_000, i32::MAX.into(), i64::MIN, 1 << 31]),
        Datatype::DatetimeHr => {
            long(&[-2_562_047_788_015_215, -1, 0, 400_000, 2_562_047_788_015_215, i64::MIN, i64::MAX])
        }
        Datatype::DatetimeMin => {
            long(&[-153_722_867_280_912_930, -1, 0, 28_000_000, 153_722_867_280_912_930, i64::MIN + 1])
        }
        Datatype::TimeHr => long(&[0, 1, 12, 22, 23, 1_000_000]),
        Datatype::TimeMin => long(&[0, 1, 720, 1438, 1439, 1 << 62]),
        Datatype::TimeSec => long(&[0, 1, 43_200, 86_398, 86_399, i64::MIN, -1 << 32]),
        Datatype::TimeMs => long(&[0, 1, 43_200_000, 86_399_998, 86_399_999, i64::MIN, i64::MAX]),
        _ => ends(datatype.physical()),
    }
}

/// Returns the limits of a type.
fn ends(physical: PhysicalType) -> Vec<Scalar> {
    macro_rules! integers {
        ($($physical:ident: $type:ty;)*) => {
            match physical {
                $(PhysicalType::$physical => {
                    [<$type>::MIN, 1, 0, 77, <$type>::MAX].map(Scalar::$physical).to_vec()
                })*
                PhysicalType::F32 => [f32::NEG_INFINITY, f32::NAN, 1.5, f32::MIN_POSITIVE, f32::MAX].map(Scalar::F32).to_vec(),
                PhysicalType::F64 => [f64::NEG_INFINITY, f64::NAN, 1.5, f64::MIN_POSITIVE, f64::MAX].map(Scalar::F64).to_vec(),
            }
        };
    }
    integers! { I8: i8; U8: u8; I16: i16; U16: u16; I32: i32; U32: u32; I64: i64; U64: u64; }
}

/// Generates the cells of some rows: every value repeats, and every fifth cell is null if nullable.
fn column(datatype: Datatype, number: Number, is_nullable: bool, rows: std::ops::Range<usize>) -> WriteColumn<'static> {
    let mut values = values(datatype);
    if number != Number::One && (datatype.is_datetime() || datatype.is_time()) {
        // Does not test the order of lists with nulls.
        values.retain(|value| !is_null(datatype, value.to_integer().unwrap()));
    }
    let (mut bytes, mut offsets, mut validity) = (Vec::new(), vec![0u64], vec![0u8; rows.len().div_ceil(8)]);
    for (place, row) in rows.clone().enumerate() {
        for value in 0..number.count(row) {
            bytes.extend_from_slice(&values[(row * row + value * 3) % values.len()].to_le_bytes());
        }
        offsets.push((bytes.len() / datatype.size()) as u64);
        if row % 5 != 2 {
            validity[place / 8] |= 1 << (place % 8);
        }
    }
    WriteColumn::owned(bytes, (number == Number::Any).then_some(offsets), is_nullable.then_some(validity))
}

fn x() -> Dimension {
    Dimension::new("x", 0i32..=99)
}

/// Creates an array with the attributes `one`, `two` and `any` of a datatype, and nullable ones.
pub(super) fn write(path: &Path, datatype: Datatype) {
    let numbers = NUMBERS.into_iter().filter(|number| datatype != Datatype::Any || *number == Number::Any);
    let fields: Vec<(String, Number, bool)> = numbers
        .flat_map(|number| {
            [(number.name().to_owned(), number, false), (format!("{}_or_null", number.name()), number, true)]
        })
        .collect();
    let attribute = |(name, number, is_nullable): &(String, Number, bool)| {
        Attribute::new(name.as_str(), datatype).with_cell_val_num(number.cell_val_num()).nullable(*is_nullable)
    };
    let builder = SchemaBuilder::sparse().dimension(x()).capacity(4);
    let schema = fields.iter().map(attribute).fold(builder, SchemaBuilder::attribute).build().unwrap();
    Array::create(path, schema).unwrap();
    for rows in [0..11, 11..ROWS] {
        let xs: Vec<i32> = rows.clone().map(|row| row as i32).collect();
        let cells = fields.iter().fold(WriteBatch::new().with("x", &xs), |cells, (name, number, is_nullable)| {
            cells.with(name.clone(), column(datatype, *number, *is_nullable, rows.clone()))
        });
        Array::open(path).unwrap().write().cells(cells).unwrap();
    }
}

/// Creates an array of one cell. The coordinate `odd` has no SQL value.
pub(super) fn write_one(path: &Path, datatype: Datatype, value: i64) {
    let odd = Dimension::new("odd", i64::MIN + 1..=i64::MAX - 1).with_datatype(datatype);
    let schema = SchemaBuilder::sparse().dimension(odd).attribute(Attribute::new("a", Datatype::Int32));
    Array::create(path, schema.build().unwrap()).unwrap();
    Array::open(path).unwrap().write().cells(WriteBatch::new().with("odd", &[value]).with("a", &[7i32])).unwrap();
}
