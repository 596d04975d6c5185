//! Zarr data types, and their TileDB datatypes.

use serde_json::{Value, json};
use tdb_array::tdb_schema::Attribute;
use tdb_array::tdb_types::{CellValNum, Datatype};

/// A Zarr data type, with the equivalent TileDB datatype.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Element {
    /// Data type as in `zarr.json`.
    pub(crate) name: Value,
    pub(crate) form: Form,
    pub(crate) datatype: Datatype,
    /// Number of TileDB values per cell.
    pub(crate) per_cell: CellValNum,
}

/// Binary form of elements. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Bool,
    /// Signed integer.
    Signed(usize),
    Unsigned(usize),
    /// Float.
    Float(usize),
    /// Pair of floats. The size includes both.
    Complex(usize),
    /// Date or duration: a 64-bit integer.
    Time,
    /// Raw bytes.
    Raw(usize),
    /// String of this number of UTF-32 code points.
    Utf32(usize),
    /// String of variable length.
    Text,
    /// Bytes of variable length.
    Bytes,
}

/// Units of dates and times, with their names in NumPy.
const UNITS: [(&str, Datatype, Option<Datatype>); 13] = [
    ("Y", Datatype::DatetimeYear, None),
    ("M", Datatype::DatetimeMonth, None),
    ("W", Datatype::DatetimeWeek, None),
    ("D", Datatype::DatetimeDay, None),
    ("h", Datatype::DatetimeHr, Some(Datatype::TimeHr)),
    ("m", Datatype::DatetimeMin, Some(Datatype::TimeMin)),
    ("s", Datatype::DatetimeSec, Some(Datatype::TimeSec)),
    ("ms", Datatype::DatetimeMs, Some(Datatype::TimeMs)),
    ("us", Datatype::DatetimeUs, Some(Datatype::TimeUs)),
    ("ns", Datatype::DatetimeNs, Some(Datatype::TimeNs)),
    ("ps", Datatype::DatetimePs, Some(Datatype::TimePs)),
    ("fs", Datatype::DatetimeFs, Some(Datatype::TimeFs)),
    ("as", Datatype::DatetimeAs, Some(Datatype::TimeAs)),
];

/// Types with the same name in Zarr and TileDB.
const NUMBERS: [(&str, Form, Datatype); 11] = [
    ("bool", Form::Bool, Datatype::Bool),
    ("int8", Form::Signed(1), Datatype::Int8),
    ("int16", Form::Signed(2), Datatype::Int16),
    ("int32", Form::Signed(4), Datatype::Int32),
    ("int64", Form::Signed(8), Datatype::Int64),
    ("uint8", Form::Unsigned(1), Datatype::UInt8),
    ("uint16", Form::Unsigned(2), Datatype::UInt16),
    ("uint32", Form::Unsigned(4), Datatype::UInt32),
    ("uint64", Form::Unsigned(8), Datatype::UInt64),
    ("float32", Form::Float(4), Datatype::Float32),
    ("float64", Form::Float(8), Datatype::Float64),
];

/// Maximum size of fixed elements in bytes. Larger elements are not used in practice, and their
/// fill value takes memory as a list of numbers.
const MAX_ELEMENT: u64 = 1 << 20;
/// Maximum size of cells in bytes.
const MAX_CELL: u64 = 1 << 24;

impl Form {
    /// Returns the element size in bytes. Returns `None` for variable length.
    pub(crate) fn size(self) -> Option<usize> {
        match self {
            Self::Bool => Some(1),
            Self::Signed(size) | Self::Unsigned(size) | Self::Float(size) | Self::Complex(size) | Self::Raw(size) => {
                Some(size)
            }
            Self::Time => Some(8),
            Self::Utf32(chars) => Some(chars * 4),
            Self::Text | Self::Bytes => None,
        }
    }

    /// Returns a data type with the same binary layout. This crate interprets the bytes.
    pub(crate) fn stored_as(self) -> Value {
        match self {
            Self::Complex(size) => json!(format!("complex{}", size * 8)),
            Self::Raw(size) => json!(format!("r{}", size * 8)),
            Self::Utf32(chars) => {
                json!({ "name": "fixed_length_utf32", "configuration": { "length_bytes": chars * 4 } })
            }
            Self::Text => json!("string"),
            Self::Bytes => json!("bytes"),
            Self::Bool | Self::Signed(_) | Self::Unsigned(_) | Self::Float(_) | Self::Time => {
                json!(format!("uint{}", self.size().unwrap_or(1) * 8))
            }
        }
    }
}

impl Element {
    fn new(name: Value, form: Form, datatype: Datatype) -> Self {
        Self { name, form, datatype, per_cell: CellValNum::ONE }
    }

    fn with_values(self, per_cell: CellValNum) -> Self {
        Self { per_cell, ..self }
    }

    /// Returns the element of validity: one boolean per cell.
    pub(crate) fn truth() -> Self {
        Self::new(json!("bool"), Form::Bool, Datatype::Bool)
    }

    /// Returns the element for an attribute, and the length of the additional axis for cells with
    /// several values.
    ///
    /// # Errors
    /// Returns the reason why Zarr lacks a suitable type.
    pub(crate) fn of_attribute(attribute: &Attribute) -> Result<(Self, Option<u64>), String> {
        let (datatype, number) = (attribute.datatype(), attribute.cell_val_num());
        if attribute.cell_size().is_some_and(|size| size > MAX_CELL) {
            return Err(format!("its cells have more than {MAX_CELL} bytes"));
        }
        match number.fixed() {
            Some(count) if is_bytes_of_text(datatype) && u64::from(count) > MAX_ELEMENT => {
                Err(format!("its strings have more than {MAX_ELEMENT} bytes"))
            }
            None => Ok((Self::of_variable(datatype)?, None)),
            Some(count) if is_bytes_of_text(datatype) => {
                let name = json!({ "name": "null_terminated_bytes", "configuration": { "length_bytes": count } });
                Ok((Self::new(name, Form::Raw(count as usize), datatype).with_values(number), None))
            }
            Some(count) => {
                let element = Self::of_value(datatype)?.with_values(number);
                Ok((element, (count > 1).then_some(u64::from(count))))
            }
        }
    }

    /// Returns the element for a single value.
    fn of_value(datatype: Datatype) -> Result<Self, String> {
        if let Some((name, form, _)) = NUMBERS.iter().find(|(_, _, known)| *known == datatype) {
            return Ok(Self::new(json!(name), *form, datatype));
        }
        for (unit, date, time) in UNITS {
            let kind = match datatype {
                _ if datatype == date => "datetime64",
                _ if Some(datatype) == time => "timedelta64",
                _ => continue,
            };
            let configuration = json!({ "unit": unit, "scale_factor": 1 });
            let name = json!({ "name": format!("numpy.{kind}"), "configuration": configuration });
            return Ok(Self::new(name, Form::Time, datatype));
        }
        match datatype.size() {
            1 => Ok(Self::new(json!("uint8"), Form::Unsigned(1), datatype)),
            2 => Ok(Self::new(json!("uint16"), Form::Unsigned(2), datatype)),
            4 => Ok(Self::new(json!("uint32"), Form::Unsigned(4), datatype)),
            _ => Err(format!("no Zarr data type for {datatype}")),
        }
    }

    fn of_variable(datatype: Datatype) -> Result<Self, String> {
        let element = match datatype {
            Datatype::StringUtf8 | Datatype::StringAscii | Datatype::GeomWkt => {
                Self::new(json!("string"), Form::Text, datatype)
            }
            Datatype::Char | Datatype::Blob | Datatype::GeomWkb | Datatype::Any => {
                Self::new(json!("variable_length_bytes"), Form::Bytes, datatype)
            }
            _ => return Err(format!("no Zarr data type for cells with a variable number of {datatype} values")),
        };
        Ok(element.with_values(CellValNum::Var))
    }

    /// Parses the `data_type` of a Zarr array.
    ///
    /// # Errors
    /// Returns the reason why an array cannot hold the type.
    pub(crate) fn of_zarr(data_type: &Value) -> Result<Self, String> {
        let name = data_type.as_str().or_else(|| data_type.get("name")?.as_str());
        let name = name.ok_or_else(|| format!("data type {data_type} has no name"))?;
        let of = |form, datatype| Self::new(data_type.clone(), form, datatype);
        if let Some((_, form, datatype)) = NUMBERS.iter().find(|(known, ..)| *known == name) {
            return Ok(of(*form, *datatype));
        }
        let configured = |key: &str| data_type.get("configuration").and_then(|all| all.get(key));
        let length = || {
            let length = configured("length_bytes").and_then(Value::as_u64);
            let length = length.filter(|length| (1..=MAX_ELEMENT).contains(length));
            length.ok_or_else(|| format!("data type {name}: expected length_bytes from 1 to {MAX_ELEMENT}"))
        };
        let values = |count: u64| u32::try_from(count).ok().and_then(CellValNum::from_code).unwrap_or(CellValNum::ONE);
        Ok(match name {
            "float16" => of(Form::Float(2), Datatype::Float32),
            "complex64" => of(Form::Complex(8), Datatype::Float32).with_values(values(2)),
            "complex128" => of(Form::Complex(16), Datatype::Float64).with_values(values(2)),
            "numpy.datetime64" | "numpy.timedelta64" => {
                let unit = configured("unit").and_then(Value::as_str).unwrap_or("generic");
                let unit = if unit == "μs" { "us" } else { unit };
                let known = UNITS.iter().find(|(known, ..)| *known == unit);
                let datatype =
                    known.and_then(|(_, date, time)| if name.contains("date") { Some(*date) } else { *time });
                let scale = configured("scale_factor").and_then(Value::as_u64).unwrap_or(1);
                match datatype {
                    Some(datatype) if scale == 1 => of(Form::Time, datatype),
                    _ => {
                        return Err(format!(
                            "unsupported unit of {name}, {scale} {unit}; convert it to one of {}",
                            units(name)
                        ));
                    }
                }
            }
            "null_terminated_bytes" => {
                let length = length()?;
                let length_in_memory = usize::try_from(length).unwrap_or(1);
                of(Form::Raw(length_in_memory), Datatype::StringAscii).with_values(values(length))
            }
            "raw_bytes" => {
                let length = length()?;
                of(Form::Raw(usize::try_from(length).unwrap_or(1)), Datatype::Blob).with_values(values(length))
            }
            "fixed_length_utf32" => {
                let chars = usize::try_from(length()? / 4).unwrap_or(1).max(1);
                of(Form::Utf32(chars), Datatype::StringUtf8).with_values(CellValNum::Var)
            }
            "string" => of(Form::Text, Datatype::StringUtf8).with_values(CellValNum::Var),
            "variable_length_bytes" | "bytes" | "binary" => {
                of(Form::Bytes, Datatype::Blob).with_values(CellValNum::Var)
            }
            _ => return Self::of_raw_bits(data_type, name),
        })
    }

    /// Parses `r16` and similar types.
    fn of_raw_bits(data_type: &Value, name: &str) -> Result<Self, String> {
        let bits = name.strip_prefix('r').and_then(|bits| bits.parse::<u64>().ok());
        let bytes = bits.filter(|bits| bits.is_multiple_of(8)).map(|bits| bits / 8);
        let bytes = bytes.filter(|bytes| (1..=MAX_ELEMENT).contains(bytes)).and_then(|bytes| u32::try_from(bytes).ok());
        match bytes.and_then(|bytes| Some((bytes, CellValNum::from_code(bytes)?))) {
            Some((bytes, number)) => {
                Ok(Self::new(data_type.clone(), Form::Raw(bytes as usize), Datatype::Blob).with_values(number))
            }
            None => Err(format!("unsupported data type {name}; convert it to a type in docs/guides/zarr.md")),
        }
    }
}

/// Returns `true` if a cell of several values is one string.
fn is_bytes_of_text(datatype: Datatype) -> bool {
    matches!(datatype, Datatype::Char | Datatype::StringAscii | Datatype::StringUtf8)
}

fn units(name: &str) -> String {
    let known = UNITS.iter().filter(|(_, _, time)| name.contains("date") || time.is_some());
    known.map(|(unit, ..)| *unit).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_type_names_survive_a_round_trip() {
        for datatype in (0..=u8::MAX).filter_map(Datatype::from_code) {
            let attribute = Attribute::new("a", datatype);
            let Ok((element, axis)) = Element::of_attribute(&attribute) else { panic!("{datatype}") };
            assert_eq!(axis, None);
            let read = Element::of_zarr(&element.name).unwrap();
            assert_eq!((read.form.size(), &read.name), (element.form.size(), &element.name), "{datatype}");
        }
    }

    #[test]
    fn unsupported_data_types_are_refused_by_name() {
        for (name, word) in [
            (json!("bfloat16"), "bfloat16"),
            (json!("r12"), "r12"),
            (json!({ "name": "numpy.datetime64", "configuration": { "unit": "generic" } }), "generic"),
            (json!({ "name": "numpy.timedelta64", "configuration": { "unit": "D", "scale_factor": 1 } }), "h, m, s"),
            (json!({ "name": "numpy.datetime64", "configuration": { "unit": "s", "scale_factor": 7 } }), "7 s"),
            (json!({ "name": "null_terminated_bytes", "configuration": { "length_bytes": u64::MAX } }), "length_bytes"),
            (json!({ "name": "structured" }), "structured"),
            (json!([1]), "no name"),
        ] {
            let why = Element::of_zarr(&name).unwrap_err();
            assert!(why.contains(word), "{why}");
        }
    }
}
