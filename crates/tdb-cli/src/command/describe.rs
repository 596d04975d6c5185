//! Words and JSON for schemas and boxes that several commands share.

use std::borrow::Cow;
use std::ops::Bound;

use serde_json::{Map, Value, json};
use tdb_exchange::{Field, range};
use tdb_rtree::{DimRange, NdRange};
use tdb_schema::{Attribute, Dimension, Domain};
use tdb_types::{CellValNum, Datatype, Scalar, datetime};

use tdb_array::Column;

use tdb_print::json_cell;

/// The type of a field's cells: `int32`, `int32[3]`, `string_utf8[]`; a question mark if they can be null.
pub(super) fn cell_type(datatype: Datatype, number: CellValNum, nullable: bool) -> String {
    let number = match number {
        CellValNum::ONE => String::new(),
        CellValNum::Var => "[]".to_owned(),
        CellValNum::Fixed(number) => format!("[{number}]"),
    };
    format!("{datatype}{number}{}", if nullable { "?" } else { "" })
}

/// A box in the syntax of `--range`: `pos=1..20, sample="a".."b"`.
pub(super) fn show_box(domain: &Domain, ranges: &NdRange) -> String {
    let sides = domain.dimensions().iter().zip(&ranges.0);
    let sides =
        sides.map(|(dimension, range)| format!("{}={}", dimension.name(), range::show(dimension.kind(), range)));
    sides.collect::<Vec<_>>().join(", ")
}

/// A box as an object of `[low, high]` by dimension.
pub(super) fn json_box(domain: &Domain, ranges: &NdRange) -> Value {
    let sides = domain.dimensions().iter().zip(&ranges.0).map(|(dimension, range)| {
        let datatype = dimension.datatype();
        let ends = match range {
            DimRange::Fixed { lo, hi } => {
                let value = |key| json_value(datatype, &Scalar::from_key(datatype.physical(), key).to_le_bytes());
                vec![value(*lo), value(*hi)]
            }
            DimRange::Var { lo, hi } => {
                let value = |bytes: &[u8]| json_cell(datatype, CellValNum::Var, bytes);
                let hi = match hi {
                    Bound::Included(hi) => value(hi),
                    // Only what is asked for ends otherwise.
                    Bound::Excluded(_) | Bound::Unbounded => Value::Null,
                };
                vec![value(lo), hi]
            }
        };
        (dimension.name().to_owned(), Value::Array(ends))
    });
    Value::Object(sides.collect::<Map<_, _>>())
}

/// One value as `tdb read` prints it in JSON.
pub(super) fn json_value(datatype: Datatype, bytes: &[u8]) -> Value {
    json_cell(datatype, CellValNum::ONE, bytes)
}

/// The first cell of a column as `tdb read` prints it in JSON.
pub(super) fn json_of(field: &Field, column: &Column) -> Value {
    let mut text = Vec::new();
    field.push_json(column, 0, &mut text);
    serde_json::from_slice(&text).unwrap_or_default()
}

/// What unwritten cells of an attribute read as.
pub(super) struct FillValue<'a> {
    pub(super) number: CellValNum,
    pub(super) bytes: Cow<'a, [u8]>,
    /// How often a cell repeats this one value; 1 if it is the whole cell.
    pub(super) repeated: u64,
}

impl<'a> FillValue<'a> {
    /// Bytes of cells that are shown whole. A few bytes of an old schema can ask for cells of gigabytes.
    const WHOLE: u64 = 4 << 10;

    pub(super) fn of(attribute: &'a Attribute) -> Self {
        let (number, pattern) = (attribute.cell_val_num(), attribute.fill_pattern());
        match attribute.cell_size() {
            Some(size) if size > Self::WHOLE && size > pattern.len() as u64 => {
                let repeated = size / (pattern.len() as u64).max(1);
                Self { number: CellValNum::ONE, bytes: pattern.into(), repeated }
            }
            _ => Self { number, bytes: attribute.fill_value(), repeated: 1 },
        }
    }

    /// The cell as JSON; null if it is too long for that, and its bytes have to do.
    pub(super) fn json(&self, datatype: Datatype) -> Value {
        match self.bytes.len() as u64 > Self::WHOLE {
            true => Value::Null,
            false => json_cell(datatype, self.number, &self.bytes),
        }
    }
}

/// The domain of a dimension as `[low, high]`; null if all strings are in it.
pub(super) fn json_domain(dimension: &Dimension) -> Value {
    let value = |scalar: Scalar| json_value(dimension.datatype(), &scalar.to_le_bytes());
    dimension.domain().map_or(Value::Null, |(low, high)| Value::Array(vec![value(low), value(high)]))
}

/// A tile extent as a number, for dates too: it is a length.
pub(super) fn json_extent(dimension: &Dimension) -> Value {
    match (dimension.extent_cells(), dimension.tile_extent()) {
        (Some(cells), _) => Value::from(cells),
        (None, Some(extent)) => json_value(dimension.datatype(), &extent.to_le_bytes()),
        (None, None) => Value::Null,
    }
}

/// A tile extent: a number of units, for dates too.
pub(super) fn extent(dimension: &Dimension) -> Option<String> {
    let extent = dimension.tile_extent()?;
    Some(dimension.extent_cells().map_or_else(|| extent.to_string(), |cells| cells.to_string()))
}

/// Milliseconds since 1970, as JSON: ISO form, or the number where there is none.
pub(super) fn json_time(milliseconds: u64) -> Value {
    datetime::timestamp(milliseconds).map_or_else(|| json!(milliseconds), Value::String)
}

/// Milliseconds since 1970 in ISO form, or as they are where there is none.
pub(super) fn show_time(milliseconds: u64) -> String {
    datetime::timestamp(milliseconds).unwrap_or_else(|| milliseconds.to_string())
}
