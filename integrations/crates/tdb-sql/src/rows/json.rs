//! Cells as JSON.

use std::fmt::{Debug, Write};

use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::{ArrowPrimitiveType, DataType, Float16Type, Float32Type, Float64Type};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};

/// Text format of cells of all types.
pub(super) const OPTIONS: FormatOptions<'static> = FormatOptions::new().with_display_error(true);

/// JSON form of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The text.
    Plain,
    /// The text, in quotes.
    Quoted,
    /// Depends on the value: floats, which include NaN and infinities, lists and structs.
    Composed,
}

impl Form {
    pub(super) fn of(datatype: &DataType) -> Self {
        match datatype {
            DataType::Boolean => Self::Plain,
            DataType::Float16 | DataType::Float32 | DataType::Float64 => Self::Composed,
            datatype if datatype.is_numeric() => Self::Plain,
            datatype if datatype.is_nested() => Self::Composed,
            _ => Self::Quoted,
        }
    }
}

/// `true` if a cell is null.
pub(super) fn is_null(array: &dyn Array, row: usize) -> bool {
    array.is_null(row) || array.data_type() == &DataType::Null
}

/// Appends a cell. Numbers, booleans, lists and structs have a JSON form. NaN, infinities and all
/// other types become the same text as in tables and CSV.
pub(super) fn push(array: &dyn Array, row: usize, out: &mut String) {
    if is_null(array, row) {
        out.push_str("null");
        return;
    }
    match array.data_type() {
        DataType::Float64 => push_float::<Float64Type>(array, row, out),
        DataType::Float32 => push_float::<Float32Type>(array, row, out),
        DataType::Float16 => push_float::<Float16Type>(array, row, out),
        DataType::List(_) => push_list(array.as_list::<i32>().value(row).as_ref(), out),
        DataType::LargeList(_) => push_list(array.as_list::<i64>().value(row).as_ref(), out),
        DataType::FixedSizeList(..) => push_list(array.as_fixed_size_list().value(row).as_ref(), out),
        DataType::Struct(fields) => {
            out.push('{');
            for (index, (field, column)) in fields.iter().zip(array.as_struct().columns()).enumerate() {
                if index > 0 {
                    out.push(',');
                }
                push_string(field.name(), out);
                out.push(':');
                push(column.as_ref(), row, out);
            }
            out.push('}');
        }
        datatype => {
            let text = match ArrayFormatter::try_new(array, &OPTIONS) {
                Ok(formatter) => formatter.value(row).to_string(),
                Err(error) => error.to_string(),
            };
            if Form::of(datatype) == Form::Plain { out.push_str(&text) } else { push_string(&text, out) }
        }
    }
}

fn push_list(values: &dyn Array, out: &mut String) {
    out.push('[');
    for row in 0..values.len() {
        if row > 0 {
            out.push(',');
        }
        push(values, row, out);
    }
    out.push(']');
}

/// Appends a float with the fewest digits that read back as the same value: `1.5`, `-0.0`, `1e100`.
fn push_float<T: ArrowPrimitiveType<Native: Into<f64> + Debug>>(array: &dyn Array, row: usize, out: &mut String) {
    let value = array.as_primitive::<T>().value(row);
    let digits = format!("{value:?}");
    if value.into().is_finite() { out.push_str(&digits) } else { push_string(&digits, out) }
}

/// Appends a quoted string.
pub(super) fn push_string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            character if character < ' ' => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            character => out.push(character),
        }
    }
    out.push('"');
}
