//! Text and JSON of schemas and subarrays, for several commands.

use std::borrow::Cow;
use std::ops::Bound;

use serde_json::{Map, Value, json};
use tdb_exchange::{Field, range};
use tdb_rtree::{DimRange, NdRange};
use tdb_schema::{Attribute, Dimension, Domain};
use tdb_types::{CellValNum, Datatype, Scalar, datetime};

use tdb_array::Column;

use tdb_print::json_cell;

/// Returns the type of the cells of a field: `int32`, `int32[3]` or `string_utf8[]`, with `?` if
/// nullable.
pub(super) fn cell_type(datatype: Datatype, number: CellValNum, nullable: bool) -> String {
    let number = match number {
        CellValNum::ONE => String::new(),
        CellValNum::Var => "[]".to_owned(),
        CellValNum::Fixed(number) => format!("[{number}]"),
    };
    format!("{datatype}{number}{}", if nullable { "?" } else { "" })
}

/// Returns the ranges of all dimensions in the syntax of `--range`: `pos=1..20, sample="a".."b"`.
pub(super) fn show_box(domain: &Domain, ranges: &NdRange) -> String {
    let sides = domain.dimensions().iter().zip(&ranges.0);
    let sides =
        sides.map(|(dimension, range)| format!("{}={}", dimension.name(), range::show(dimension.kind(), range)));
    sides.collect::<Vec<_>>().join(", ")
}

/// Returns the ranges of all dimensions as a JSON object of `[low, high]` by name.
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
                    // Only ranges of queries have other ends.
                    Bound::Excluded(_) | Bound::Unbounded => Value::Null,
                };
                vec![value(lo), hi]
            }
        };
        (dimension.name().to_owned(), Value::Array(ends))
    });
    Value::Object(sides.collect::<Map<_, _>>())
}

/// Returns one value in the JSON form of `tdb read`.
pub(super) fn json_value(datatype: Datatype, bytes: &[u8]) -> Value {
    json_cell(datatype, CellValNum::ONE, bytes)
}

/// Returns the first cell of a column in the JSON form of `tdb read`.
pub(super) fn json_of(field: &Field, column: &Column) -> Value {
    let mut text = Vec::new();
    field.push_json(column, 0, &mut text);
    serde_json::from_slice(&text).unwrap_or_default()
}

/// The value of unwritten cells of an attribute.
pub(super) struct FillValue<'a> {
    pub(super) number: CellValNum,
    pub(super) bytes: Cow<'a, [u8]>,
    /// Number of repetitions of this value in a cell, or 1 if it is the complete cell.
    pub(super) repeated: u64,
}

impl<'a> FillValue<'a> {
    /// Maximum bytes of a cell that is shown completely. A few bytes of an old schema can request
    /// cells of gigabytes.
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

    /// Returns the cell as JSON, or null if too long. Then only the bytes are shown.
    pub(super) fn json(&self, datatype: Datatype) -> Value {
        match self.bytes.len() as u64 > Self::WHOLE {
            true => Value::Null,
            false => json_cell(datatype, self.number, &self.bytes),
        }
    }
}

/// Returns the domain of a dimension as `[low, high]`, or null for an unlimited domain of strings.
pub(super) fn json_domain(dimension: &Dimension) -> Value {
    let value = |scalar: Scalar| json_value(dimension.datatype(), &scalar.to_le_bytes());
    dimension.domain().map_or(Value::Null, |(low, high)| Value::Array(vec![value(low), value(high)]))
}

/// Returns a tile extent as a number, or null if there is none. For dates it is a number of units.
pub(super) fn json_extent(dimension: &Dimension) -> Value {
    match (dimension.extent_cells(), dimension.tile_extent()) {
        (Some(cells), _) => Value::from(cells),
        (None, Some(extent)) => json_value(dimension.datatype(), &extent.to_le_bytes()),
        (None, None) => Value::Null,
    }
}

/// Returns a tile extent as text. For dates it is a number of units.
pub(super) fn extent(dimension: &Dimension) -> Option<String> {
    let extent = dimension.tile_extent()?;
    Some(dimension.extent_cells().map_or_else(|| extent.to_string(), |cells| cells.to_string()))
}

/// Converts milliseconds since 1970 to JSON, in ISO form, or as a number outside the range of ISO
/// dates.
pub(super) fn json_time(milliseconds: u64) -> Value {
    datetime::timestamp(milliseconds).map_or_else(|| json!(milliseconds), Value::String)
}

/// Formats milliseconds since 1970 in ISO form, or as a number outside the range of ISO dates.
pub(super) fn show_time(milliseconds: u64) -> String {
    datetime::timestamp(milliseconds).unwrap_or_else(|| milliseconds.to_string())
}
