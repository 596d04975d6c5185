//! Values of metadata, enumerations and bounds from what people type.

use tdb_types::{CellValNum, Datatype, Scalar};

use crate::cells::datetime;
use crate::failure::{Failure, Result};

/// The little-endian bytes of what `text` says: text as it is; numbers, truths, and dates in ISO form, several with commas
/// between them where a cell may have many; opaque bytes as hexadecimal digits.
///
/// # Errors
/// It is nothing of that type.
pub(crate) fn bytes(datatype: Datatype, number: CellValNum, text: &str) -> Result<Vec<u8>> {
    match datatype {
        Datatype::StringAscii | Datatype::StringUtf8 | Datatype::GeomWkt => return Ok(text.as_bytes().to_vec()),
        Datatype::Char => return Ok(text.as_bytes().to_vec()),
        Datatype::Blob | Datatype::GeomWkb | Datatype::Any => {
            return hex(text).ok_or_else(|| no_value(datatype, text, "write two hexadecimal digits for each byte"));
        }
        _ if datatype.is_string() => {
            return Err(Failure::usage(format!("text can't be written as {datatype}; use string_utf8")));
        }
        _ => {}
    }
    if text.is_empty() && number.is_var() {
        return Ok(Vec::new());
    }
    let values = if number == CellValNum::ONE { vec![text] } else { text.split(',').collect() };
    let mut bytes = Vec::new();
    for value in values {
        bytes.extend_from_slice(&scalar(datatype, value.trim())?.to_le_bytes());
    }
    Ok(bytes)
}

/// One number, truth or date.
///
/// # Errors
/// It is nothing of that type.
pub(crate) fn scalar(datatype: Datatype, text: &str) -> Result<Scalar> {
    let plain = text.replace('_', "");
    let truth = (datatype == Datatype::Bool).then(|| ["false", "true"].iter().position(|word| *word == text)).flatten();
    let date = || datetime::parse(datatype, text).map(|(first, _)| Scalar::I64(first));
    truth
        .and_then(|truth| u8::try_from(truth).ok().map(Scalar::U8))
        .or_else(|| Scalar::parse(datatype.physical(), &plain))
        .or_else(date)
        .ok_or_else(|| no_value(datatype, text, "check the value and the type"))
}

fn no_value(datatype: Datatype, text: &str, hint: &str) -> Failure {
    Failure::usage(format!("{text:?} is no value of {datatype}")).with_hint(hint)
}

fn hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        let many = |datatype, text| bytes(datatype, CellValNum::Var, text).unwrap();
        assert_eq!(many(Datatype::UInt16, "1, 2_000"), [1, 0, 208, 7]);
        assert_eq!(many(Datatype::StringUtf8, "a,é"), "a,é".as_bytes());
        assert_eq!(many(Datatype::Blob, "00ff"), [0, 255]);
        assert_eq!(many(Datatype::Bool, "true,false,1"), [1, 0, 1]);
        assert_eq!(many(Datatype::DatetimeDay, "1970-01-03"), 2i64.to_le_bytes());
        assert_eq!(many(Datatype::Int8, ""), [0u8; 0]);
        for (datatype, text) in
            [(Datatype::UInt8, "256"), (Datatype::Blob, "0"), (Datatype::Blob, "é"), (Datatype::Int8, "x")]
        {
            assert!(bytes(datatype, CellValNum::Var, text).is_err(), "{text}");
        }
        assert!(bytes(Datatype::Int8, CellValNum::ONE, "1,2").is_err());
    }
}
