//! Text and JSON forms of the bytes of one cell.

use std::io::Write as _;

use tdb_types::{CellValNum, Datatype, PhysicalType, Scalar, datetime, hex};

/// A kind of cell, which determines the printed form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// A number, or a list of numbers.
    Number {
        /// The physical type of a number.
        physical: PhysicalType,
        /// `true` if a cell is a list.
        many: bool,
    },
    /// A boolean, or a list of booleans.
    Bool {
        /// `true` if a cell is a list.
        many: bool,
    },
    /// A date, or a list of dates.
    Date {
        /// The datetime type, which sets the unit.
        datatype: Datatype,
        /// `true` if a cell is a list.
        many: bool,
    },
    /// Text with code units of `unit` bytes.
    Text {
        /// Bytes per code unit: 1, 2 or 4.
        unit: usize,
    },
    /// Opaque bytes.
    Bytes,
}

impl CellKind {
    /// Returns the kind of cells of this type. If `raw`, dates are printed as stored integers.
    #[must_use]
    pub fn of(datatype: Datatype, number: CellValNum, raw: bool) -> Self {
        let many = number != CellValNum::ONE;
        let physical = datatype.physical();
        match datatype {
            Datatype::Bool => Self::Bool { many },
            Datatype::Any => Self::Bytes,
            Datatype::Char | Datatype::GeomWkt => Self::Text { unit: 1 },
            _ if datatype.is_string() => Self::Text { unit: datatype.size() },
            _ if datatype.is_bytes() => Self::Bytes,
            _ if datatype.is_datetime() && !raw => Self::Date { datatype, many },
            _ => Self::Number { physical, many },
        }
    }

    /// Returns `true` if a table aligns the cells to the right.
    pub(crate) fn is_numeric(self) -> bool {
        matches!(self, Self::Number { many: false, .. })
    }

    /// Splits a list cell into the bytes of its values. Returns `None` if the kind is not a list,
    /// or if the bytes end within a value.
    pub fn values(self, bytes: &[u8]) -> Option<impl Iterator<Item = &[u8]>> {
        let size = match self {
            Self::Number { physical, many: true } => physical.size(),
            Self::Bool { many: true } => 1,
            Self::Date { many: true, .. } => 8,
            _ => return None,
        };
        bytes.len().is_multiple_of(size).then(|| bytes.chunks_exact(size))
    }

    /// Returns the first bytes of a cell, up to `most` bytes. Ends after a complete value or
    /// character.
    #[must_use]
    pub fn beginning(self, bytes: &[u8], most: usize) -> &[u8] {
        if bytes.len() <= most {
            return bytes;
        }
        // Round down to a multiple of every value size. A character has at most four bytes.
        let most = most & !15;
        let is_text = |len: &usize| matches!(self, Self::Text { unit } if decode(&bytes[..*len], unit).is_some());
        let len = (most.saturating_sub(4)..=most).rev().find(is_text).unwrap_or(most);
        &bytes[..len]
    }

    /// Returns `true` if the cell is a single NaT, which JSON and CSV show as null.
    #[must_use]
    pub fn is_no_time(self, bytes: &[u8]) -> bool {
        matches!(self, Self::Date { many: false, .. }) && is_no_time(bytes)
    }

    /// Returns `true` if the text of a cell may be empty. CSV needs quotes to distinguish an empty
    /// text from null.
    pub(crate) fn may_be_empty(self) -> bool {
        matches!(self, Self::Text { .. } | Self::Bytes)
    }

    /// Appends the cell as JSON without loss. `docs/reference/cli.md` describes the forms.
    pub fn json(self, bytes: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Number { physical, many } => each(bytes, physical.size(), many, out, |bytes, out| {
                push_number(physical, bytes, out);
            }),
            Self::Bool { many } => each(bytes, 1, many, out, |bytes, out| match bytes {
                [0] => out.extend_from_slice(b"false"),
                [1] => out.extend_from_slice(b"true"),
                _ => push_number(PhysicalType::U8, bytes, out),
            }),
            Self::Date { datatype, many } => each(bytes, 8, many, out, |bytes, out| {
                push_string(&date(datatype, bytes), out);
            }),
            Self::Text { unit } => match decode(bytes, unit) {
                Some(text) => push_string(&text, out),
                None => push_hex(bytes, out),
            },
            Self::Bytes => push_hex(bytes, out),
        }
    }

    /// Returns the complete cell as text for CSV.
    #[must_use]
    pub fn text(self, bytes: &[u8]) -> String {
        let mut text = Vec::new();
        self.push_text(bytes, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Appends the cell in the form of [`text`](Self::text).
    pub(crate) fn push_text(self, bytes: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Date { datatype, many: false } => out.extend_from_slice(date(datatype, bytes).as_bytes()),
            Self::Number { physical, many: false } => match Scalar::from_le_bytes(physical, bytes) {
                // `Debug` prints the fewest digits that parse to the same float, with an exponent
                // if that is shorter.
                Some(Scalar::F32(value)) => push(out, format_args!("{value:?}")),
                Some(Scalar::F64(value)) => push(out, format_args!("{value:?}")),
                Some(Scalar::I64(value)) => push(out, format_args!("{value}")),
                Some(value) => push(out, format_args!("{value}")),
                None => push_digits(bytes, out),
            },
            Self::Text { unit } => {
                let start = out.len();
                let is_text = push_decoded(bytes, unit, out);
                // Text that looks like a hex object is itself printed as a hex object, to keep both
                // distinct.
                if !is_text || is_hex_object(&out[start..]) {
                    out.truncate(start);
                    push_hex(bytes, out);
                }
            }
            Self::Bytes => push_digits(bytes, out),
            Self::Number { .. } | Self::Date { .. } | Self::Bool { .. } => self.json(bytes, out),
        }
    }
}

/// Runs `push` on the only value of a cell or, if `many`, on each value of a list, within brackets.
/// Prints a hex object if the bytes of a list end within a value.
fn each(bytes: &[u8], size: usize, many: bool, out: &mut Vec<u8>, push: impl Fn(&[u8], &mut Vec<u8>)) {
    if !many {
        return push(bytes, out);
    }
    if !bytes.len().is_multiple_of(size) {
        return push_hex(bytes, out);
    }
    out.push(b'[');
    for (index, value) in bytes.chunks_exact(size).enumerate() {
        if index > 0 {
            out.push(b',');
        }
        push(value, out);
    }
    out.push(b']');
}

fn is_no_time(bytes: &[u8]) -> bool {
    bytes == i64::MIN.to_le_bytes()
}

/// Returns the digits of a `{"hex":"..."}` object, or `None` for other values.
pub(crate) fn hex_member(value: &serde_json::Value) -> Option<&str> {
    value.as_object().filter(|members| members.len() == 1)?.get("hex")?.as_str()
}

/// Returns `true` if the text looks like a `{"hex":"..."}` object.
fn is_hex_object(text: &[u8]) -> bool {
    text.first() == Some(&b'{') && serde_json::from_slice(text).is_ok_and(|value| hex_member(&value).is_some())
}

/// Appends text with code units of `unit` bytes as UTF-8. Returns `false` if the bytes are not
/// valid text. The appended bytes are then invalid.
fn push_decoded(bytes: &[u8], unit: usize, out: &mut Vec<u8>) -> bool {
    if unit == 1 {
        out.extend_from_slice(bytes);
        return std::str::from_utf8(bytes).is_ok();
    }
    decode(bytes, unit).is_some_and(|text| {
        out.extend_from_slice(text.as_bytes());
        true
    })
}

/// Returns a date in ISO form, or as a count of units if the date is outside the range of ISO
/// dates.
fn date(datatype: Datatype, bytes: &[u8]) -> String {
    let value = bytes.try_into().map_or(i64::MIN, i64::from_le_bytes);
    datetime::display(datatype, value).unwrap_or_default()
}

fn push_number(physical: PhysicalType, bytes: &[u8], out: &mut Vec<u8>) {
    match Scalar::from_le_bytes(physical, bytes) {
        Some(Scalar::F32(value)) if !value.is_finite() => push(out, format_args!("\"{value:?}\"")),
        Some(Scalar::F64(value)) if !value.is_finite() => push(out, format_args!("\"{value:?}\"")),
        Some(Scalar::F32(value)) => push(out, format_args!("{value:?}")),
        Some(Scalar::F64(value)) => push(out, format_args!("{value:?}")),
        Some(value) => push(out, format_args!("{value}")),
        None => push_hex(bytes, out),
    }
}

fn push(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to a vector cannot fail.
    let _ = out.write_fmt(text);
}

/// Appends a JSON string.
pub(super) fn push_string(text: &str, out: &mut Vec<u8>) {
    let _ = serde_json::to_writer(out, text);
}

fn push_hex(bytes: &[u8], out: &mut Vec<u8>) {
    push(out, format_args!("{{\"hex\":\"{}\"}}", hex::encode(bytes)));
}

fn push_digits(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(hex::encode(bytes).as_bytes());
}

/// Decodes text with code units of `unit` bytes. Returns `None` if the bytes are not valid text.
fn decode(bytes: &[u8], unit: usize) -> Option<String> {
    match unit {
        1 => std::str::from_utf8(bytes).ok().map(str::to_owned),
        2 => {
            let (units, []) = bytes.as_chunks::<2>() else { return None };
            char::decode_utf16(units.iter().map(|unit| u16::from_le_bytes(*unit))).collect::<Result<_, _>>().ok()
        }
        _ => {
            let (units, []) = bytes.as_chunks::<4>() else { return None };
            units.iter().map(|unit| char::from_u32(u32::from_le_bytes(*unit))).collect()
        }
    }
}

#[cfg(test)]
mod tests;
