//! Parser of values of metadata, enumerations and bounds.

use tdb_types::datetime::{Written, WrittenError};
use tdb_types::{CellValNum, Datatype, Scalar, datetime};

use crate::cells::{encode, unhex};
use crate::error::{Error, Result};

/// Parses `text` to little-endian bytes. Text types take the text unchanged. Opaque types take
/// hexadecimal digits. Other types take numbers, booleans or ISO dates, separated by commas if a
/// cell has several values.
///
/// # Errors
/// Fails if `text` is not a valid value of the type.
pub fn bytes(datatype: Datatype, number: CellValNum, text: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if datatype.is_string() || matches!(datatype, Datatype::Char | Datatype::GeomWkt) {
        encode(text, datatype.size(), &mut bytes);
        return Ok(bytes);
    }
    if datatype.is_bytes() || datatype == Datatype::Any {
        unhex(text, &mut bytes).map_err(|_| Error::Value { datatype, text: text.to_owned() })?;
        return Ok(bytes);
    }
    if text.is_empty() && number.is_var() {
        return Ok(Vec::new());
    }
    let values = if number == CellValNum::ONE { vec![text] } else { text.split(',').collect() };
    for value in values {
        bytes.extend_from_slice(&scalar(datatype, value.trim())?.to_le_bytes());
    }
    Ok(bytes)
}

/// Parses one number, boolean or date. A date that spans several values, such as a month, becomes
/// the first of these values.
///
/// # Errors
/// Fails if `text` is not a valid value of the type.
pub fn scalar(datatype: Datatype, text: &str) -> Result<Scalar> {
    match datetime::written(datatype, text) {
        Ok(Written::One(value)) => Ok(value),
        Ok(Written::Period(first, _)) => Ok(Scalar::I64(first)),
        Err(WrittenError::NotAValue) => Err(Error::Value { datatype, text: text.to_owned() }),
        Err(why) => Err(Error::Date(why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        let many = |datatype, text| bytes(datatype, CellValNum::Var, text).unwrap();
        assert_eq!(many(Datatype::UInt16, "1, 2_000"), [1, 0, 208, 7]);
        assert_eq!(many(Datatype::StringUtf8, "a,é"), "a,é".as_bytes());
        assert_eq!(many(Datatype::StringUtf16, "é"), [0xe9, 0]);
        assert_eq!(many(Datatype::Blob, "00ff"), [0, 255]);
        assert_eq!(many(Datatype::Bool, "true,false,1"), [1, 0, 1]);
        assert_eq!(many(Datatype::DatetimeDay, "1970-01-03"), 2i64.to_le_bytes());
        assert_eq!(many(Datatype::DatetimeDay, "1972, 7, 19724D"), [730i64, 7, 19_724].map(i64::to_le_bytes).concat());
        assert_eq!(many(Datatype::Int8, ""), [0u8; 0]);
        for (datatype, text) in [
            (Datatype::UInt8, "256"),
            (Datatype::Blob, "0"),
            (Datatype::Blob, "é"),
            (Datatype::Blob, "+f"),
            (Datatype::Int8, "x"),
            (Datatype::DatetimeDay, "19724"),
        ] {
            assert!(bytes(datatype, CellValNum::Var, text).is_err(), "{text}");
        }
        assert!(bytes(Datatype::Int8, CellValNum::ONE, "1,2").is_err());
    }
}
