//! Columns that Python passes: arrays of NumPy, or lists.

use numpy::{PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyList, PyString, PyTuple};
use tdb_array::tdb_cells::{pack_validity, scalar_of};
use tdb_array::tdb_schema::{ArraySchema, FieldType};
use tdb_array::tdb_types::{Buffer, CellValNum, Datatype, PhysicalType};
use tdb_array::{Coordinate, WriteColumn};

use crate::error::{Failure, Result};
use crate::value::coordinate;

/// The number of cells of a list between two checks for signals.
const CELLS_OF_A_CHECK: usize = 1 << 14;

/// The cells of a field.
#[derive(Debug)]
pub(crate) struct Input<'py> {
    values: Values<'py>,
    offsets: Option<Vec<u64>>,
    validity: Option<Vec<u8>>,
}

macro_rules! numbers {
    ($($type:ident $variant:ident,)*) => {
        /// Values of cells. Those of NumPy are borrowed.
        #[derive(Debug)]
        enum Values<'py> {
            $($variant(PyReadonlyArray1<'py, $type>),)*
            Owned(Vec<u8>),
        }

        impl<'py> Values<'py> {
            /// Borrows a contiguous array of the type. `None` for another array.
            fn of_array(physical: PhysicalType, values: &Bound<'py, PyAny>) -> Option<Self> {
                match physical {
                    $(PhysicalType::$variant => {
                        let array = values.extract::<PyReadonlyArray1<'py, $type>>().ok()?;
                        array.as_slice().is_ok().then_some(Self::$variant(array))
                    })*
                }
            }

            fn column(&self) -> WriteColumn<'_> {
                match self {
                    $(Self::$variant(array) => WriteColumn::values(array.as_slice().unwrap_or_default()),)*
                    Self::Owned(bytes) => WriteColumn::bytes(bytes),
                }
            }
        }
    };
}

numbers! {
    i8 I8,
    u8 U8,
    i16 I16,
    u16 U16,
    i32 I32,
    u32 U32,
    i64 I64,
    u64 U64,
    f32 F32,
    f64 F64,
}

impl<'py> Input<'py> {
    /// Converts the column of a field of the schema.
    pub(crate) fn of_field(
        schema: &ArraySchema,
        name: &str,
        values: &Bound<'py, PyAny>,
        valid: Option<&Bound<'py, PyAny>>,
    ) -> Result<Self> {
        let kind = schema.field(name).and_then(|field| schema.field_type(field));
        let kind = kind.ok_or_else(|| tdb_array::tdb_cells::CellsError::UnknownField {
            name: name.to_owned(),
            known: schema.fields().filter_map(|field| schema.field_name(field)).map(str::to_owned).collect(),
        })?;
        Self::new(name, kind, values, valid)
    }

    /// Converts a column: a contiguous array of the physical type, a list, or a tuple of
    /// - `"lists"`, such an array, and offsets as a `uint64` array,
    /// - `"fixed"`, a `uint8` array, and the bytes per text, padded with zeros,
    /// - `"unicode"`, a `uint32` array, and the characters per text, padded with zeros.
    ///
    /// `valid` has a byte per cell.
    pub(crate) fn new(
        name: &str,
        kind: FieldType,
        values: &Bound<'py, PyAny>,
        valid: Option<&Bound<'py, PyAny>>,
    ) -> Result<Self> {
        let mut input = Self::unmasked(name, kind, values)?;
        if let Some(valid) = valid {
            let valid = valid.extract::<PyReadonlyArray1<'py, u8>>()?;
            input.validity = Some(packed(valid.as_slice().unwrap_or_default()));
        }
        Ok(input)
    }

    fn unmasked(name: &str, kind: FieldType, values: &Bound<'py, PyAny>) -> Result<Self> {
        let physical = kind.datatype.physical();
        if let Ok(list) = values.cast::<PyList>() {
            return Self::of_list(name, kind, list);
        }
        if let Ok(parts) = values.cast::<PyTuple>() {
            let (form, values, extra) = parts.extract::<(String, Bound<'py, PyAny>, Bound<'py, PyAny>)>()?;
            return match form.as_str() {
                "lists" => {
                    let offsets = extra.extract::<PyReadonlyArray1<'py, u64>>()?;
                    let offsets = offsets.as_slice().unwrap_or_default().to_vec();
                    let values = Values::of_array(physical, &values).ok_or_else(|| wrong(name, kind.datatype, &values));
                    Ok(Self { values: values?, offsets: Some(offsets), validity: None })
                }
                "fixed" => {
                    let bytes = values.extract::<PyReadonlyArray1<'py, u8>>()?;
                    Ok(padded(bytes.as_slice().unwrap_or_default(), extra.extract()?))
                }
                _ => {
                    let units = values.extract::<PyReadonlyArray1<'py, u32>>()?;
                    of_unicode(name, units.as_slice().unwrap_or_default(), extra.extract()?)
                }
            };
        }
        let array = Values::of_array(physical, values).ok_or_else(|| wrong(name, kind.datatype, values))?;
        Ok(Self { values: array, offsets: None, validity: None })
    }

    fn of_list(name: &str, kind: FieldType, list: &Bound<'py, PyList>) -> Result<Self> {
        let FieldType { datatype, cell_val_num: number, .. } = kind;
        let is_text = number.is_var() && datatype.size() == 1 && (datatype.is_string() || datatype.is_bytes());
        let (mut values, mut offsets, mut valid) = (Vec::new(), vec![0_u64], Vec::with_capacity(list.len()));
        for (cell, item) in list.iter().enumerate() {
            if cell % CELLS_OF_A_CHECK == 0 {
                list.py().check_signals()?;
            }
            valid.push(u8::from(!item.is_none()));
            let before = values.len();
            match () {
                () if item.is_none() => {
                    let size = number.fixed().unwrap_or(0) as usize * datatype.size();
                    values.resize(before + size, 0);
                }
                () if is_text || datatype.size() == 1 && number != CellValNum::ONE && is_bytes(&item) => {
                    push_text(&mut values, name, cell, &item)?;
                    let (found, expected) = (values.len() - before, number.fixed());
                    if let Some(expected) = expected.filter(|expected| *expected as usize != found) {
                        return Err(Failure::cell(
                            name,
                            cell,
                            format_args!("found {found} bytes, expected {expected}"),
                        ));
                    }
                }
                () if number == CellValNum::ONE => push(&mut values, name, cell, datatype, &item)?,
                () => {
                    let items = item.try_iter().map_err(|_| {
                        let found = item.get_type().name().map(|name| name.to_string()).unwrap_or_default();
                        Failure::cell(name, cell, format_args!("expected a sequence of {datatype}, found {found}"))
                    })?;
                    for item in items {
                        push(&mut values, name, cell, datatype, &item?)?;
                    }
                    let found = (values.len() - before) / datatype.size();
                    let expected = number.fixed().filter(|expected| *expected as usize != found);
                    if let Some(expected) = expected {
                        return Err(Failure::cell(
                            name,
                            cell,
                            format_args!("found {found} values, expected {expected}"),
                        ));
                    }
                }
            }
            offsets.push((values.len() / datatype.size()) as u64);
        }
        let validity = valid.contains(&0).then(|| packed(&valid));
        Ok(Self { values: Values::Owned(values), offsets: number.is_var().then_some(offsets), validity })
    }

    pub(crate) fn column(&self) -> WriteColumn<'_> {
        let mut column = self.values.column();
        if let Some(offsets) = &self.offsets {
            column = column.with_offsets(&offsets[..]);
        }
        if let Some(validity) = &self.validity {
            column = column.with_validity(&validity[..]);
        }
        column
    }
}

/// Packs a byte per cell into a bit per cell.
fn packed(valid: &[u8]) -> Vec<u8> {
    let mut bits = Buffer::new();
    pack_validity(valid, &mut bits);
    bits.to_vec()
}

fn is_bytes(item: &Bound<'_, PyAny>) -> bool {
    item.is_instance_of::<PyBytes>() || item.is_instance_of::<PyString>()
}

fn wrong(name: &str, datatype: Datatype, values: &Bound<'_, PyAny>) -> Failure {
    let found = match values.cast::<PyUntypedArray>() {
        Ok(array) => format!("an array of {} with {} dimensions", array.dtype(), array.ndim()),
        Err(_) => values.get_type().to_string(),
    };
    Failure::column(name, format_args!("expected a contiguous array of {datatype}, found {found}"))
}

/// Appends the bytes of text.
fn push_text(values: &mut Vec<u8>, name: &str, cell: usize, item: &Bound<'_, PyAny>) -> Result<()> {
    if let Ok(text) = item.cast::<PyString>() {
        let text = text.to_str().map_err(|_| Failure::cell(name, cell, "the text has a lone surrogate"))?;
        values.extend_from_slice(text.as_bytes());
    } else if let Ok(bytes) = item.cast::<PyBytes>() {
        values.extend_from_slice(bytes.as_bytes());
    } else if let Ok(bytes) = item.cast::<PyByteArray>() {
        values.extend_from_slice(&bytes.to_vec());
    } else {
        let found = item.get_type().name()?;
        return Err(Failure::cell(name, cell, format_args!("expected str or bytes, found {found}")));
    }
    Ok(())
}

/// Appends a number.
fn push(bytes: &mut Vec<u8>, name: &str, cell: usize, datatype: Datatype, item: &Bound<'_, PyAny>) -> Result<()> {
    if let (Ok(value), Datatype::Bool) = (item.cast::<PyBool>(), datatype) {
        bytes.push(u8::from(value.is_true()));
        return Ok(());
    }
    let wrong = |_| Failure::cell(name, cell, format_args!("{item} is not a valid {datatype}"));
    let value = coordinate(name, datatype, item, false).map_err(wrong)?;
    if item.is_instance_of::<PyString>() {
        let last = coordinate(name, datatype, item, true).map_err(wrong)?;
        // The text of a time between two values.
        if matches!((&value, last), (Coordinate::Integer(first), Coordinate::Integer(last)) if *first > last) {
            return Err(wrong(Failure::usage("")));
        }
    }
    let is_nan = matches!(value, Coordinate::Float(value) if value.is_nan());
    let physical = datatype.physical();
    match (scalar_of(physical, &value), physical) {
        (Some(value), _) => bytes.extend_from_slice(&value.to_le_bytes()),
        // `scalar_of` is for coordinates, which are never NaN.
        (None, PhysicalType::F32) if is_nan => bytes.extend_from_slice(&f32::NAN.to_le_bytes()),
        (None, PhysicalType::F64) if is_nan => bytes.extend_from_slice(&f64::NAN.to_le_bytes()),
        _ => return Err(wrong(Failure::usage(""))),
    }
    Ok(())
}

/// Splits texts of equal width, without the zeros at their ends.
fn padded(bytes: &[u8], width: usize) -> Input<'static> {
    let (mut values, mut offsets) = (Vec::with_capacity(bytes.len()), vec![0]);
    for text in bytes.chunks_exact(width.max(1)) {
        let len = text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        values.extend_from_slice(&text[..len]);
        offsets.push(values.len() as u64);
    }
    Input { values: Values::Owned(values), offsets: Some(offsets), validity: None }
}

fn of_unicode(name: &str, units: &[u32], width: usize) -> Result<Input<'static>> {
    let (mut values, mut offsets) = (String::with_capacity(units.len()), vec![0]);
    for (cell, text) in units.chunks_exact(width.max(1)).enumerate() {
        let len = text.iter().rposition(|unit| *unit != 0).map_or(0, |last| last + 1);
        for unit in &text[..len] {
            let unit = char::from_u32(*unit);
            values.push(unit.ok_or_else(|| Failure::cell(name, cell, "the text has a lone surrogate"))?);
        }
        offsets.push(values.len() as u64);
    }
    Ok(Input { values: Values::Owned(values.into_bytes()), offsets: Some(offsets), validity: None })
}
