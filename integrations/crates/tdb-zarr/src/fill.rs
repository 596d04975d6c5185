//! Fill values in `zarr.json`, and as bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use crate::element::Form;

/// Converts a fill value to JSON.
///
/// # Errors
/// A string is invalid.
pub(crate) fn to_json(form: Form, bytes: &[u8]) -> Result<Value, String> {
    let integer = || {
        let mut word = [0; 8];
        word[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
        u64::from_le_bytes(word)
    };
    Ok(match form {
        Form::Bool => json!(bytes.first().is_some_and(|byte| *byte != 0)),
        Form::Unsigned(_) => json!(integer()),
        Form::Signed(size) => {
            let unused = 64 - 8 * u32::try_from(size.min(8)).unwrap_or(8);
            json!((integer() << unused).cast_signed() >> unused)
        }
        Form::Time => json!(integer().cast_signed()),
        Form::Float(_) => float_to_json(bytes),
        Form::Complex(size) => json!([float_to_json(&bytes[..size / 2]), float_to_json(&bytes[size / 2..])]),
        Form::Raw(_) | Form::Bytes => json!(BASE64.encode(bytes)),
        Form::Text => match std::str::from_utf8(bytes) {
            Ok(text) => json!(text),
            Err(_) => return Err("the fill value is not valid UTF-8".to_owned()),
        },
        Form::Utf32(_) => {
            let (chars, _) = bytes.as_chunks::<4>();
            let text = chars.iter().map(|char| char::from_u32(u32::from_le_bytes(*char)));
            let text: Option<String> = text.take_while(|char| *char != Some('\0')).collect();
            json!(text.ok_or("the fill value is not valid UTF-32")?)
        }
    })
}

/// Converts a float to JSON. The canonical NaN and infinities have names, and other NaNs are bits.
fn float_to_json(bytes: &[u8]) -> Value {
    let (value, is_canonical) = match *bytes {
        [a, b, c, d] => {
            let value = f32::from_le_bytes([a, b, c, d]);
            (f64::from(value), value.to_bits() == 0x7fc0_0000)
        }
        [a, b, c, d, e, f, g, h] => {
            let value = f64::from_le_bytes([a, b, c, d, e, f, g, h]);
            (value, value.to_bits() == 0x7ff8_0000_0000_0000)
        }
        _ => return bits_to_json(bytes),
    };
    match value {
        _ if value.is_nan() && is_canonical => json!("NaN"),
        _ if value.is_nan() => bits_to_json(bytes),
        f64::INFINITY => json!("Infinity"),
        f64::NEG_INFINITY => json!("-Infinity"),
        _ => json!(value),
    }
}

fn bits_to_json(bytes: &[u8]) -> Value {
    let digits: String = bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect();
    json!(format!("0x{digits}"))
}

/// Converts a fill value from JSON. Null, allowed in version 2, becomes zeros.
///
/// # Errors
/// The value does not fit the type.
pub(crate) fn from_json(form: Form, value: &Value) -> Result<Vec<u8>, String> {
    let wrong = || format!("{value} is not a valid fill value of the data type");
    let is_short = |size: usize, bytes: &Vec<u8>| bytes.len() <= size;
    if value.is_null() {
        return Ok(vec![0; form.size().unwrap_or(0)]);
    }
    match form {
        Form::Bool => match value {
            Value::Bool(value) => Ok(vec![u8::from(*value)]),
            _ => value.as_u64().filter(|value| *value < 2).map(|value| vec![u8::from(value == 1)]).ok_or_else(wrong),
        },
        Form::Signed(size) | Form::Unsigned(size) => {
            let is_signed = matches!(form, Form::Signed(_));
            integer(value, is_signed, size).ok_or_else(wrong)
        }
        Form::Time if value.as_str() == Some("NaT") => Ok(i64::MIN.to_le_bytes().to_vec()),
        Form::Time => integer(value, true, 8).ok_or_else(wrong),
        Form::Float(size) => float(value, size).ok_or_else(wrong),
        Form::Complex(size) => match value.as_array().map(Vec::as_slice) {
            Some([real, imaginary]) => {
                let parts = [real, imaginary].map(|part| float(part, size / 2));
                parts.into_iter().collect::<Option<Vec<_>>>().map(|parts| parts.concat()).ok_or_else(wrong)
            }
            _ => Err(wrong()),
        },
        Form::Raw(size) => {
            let mut bytes = bytes(value).filter(|bytes| is_short(size, bytes)).ok_or_else(wrong)?;
            bytes.resize(size, 0);
            Ok(bytes)
        }
        Form::Bytes => bytes(value).ok_or_else(wrong),
        Form::Text => match value {
            // Version 2 writes 0 for an empty string.
            Value::Number(number) if number.as_u64() == Some(0) => Ok(Vec::new()),
            _ => value.as_str().map(|text| text.as_bytes().to_vec()).ok_or_else(wrong),
        },
        Form::Utf32(chars) => {
            let text = value.as_str().filter(|text| text.chars().count() <= chars).ok_or_else(wrong)?;
            let mut bytes: Vec<u8> = text.chars().flat_map(|char| u32::from(char).to_le_bytes()).collect();
            bytes.resize(chars * 4, 0);
            Ok(bytes)
        }
    }
}

fn integer(value: &Value, is_signed: bool, size: usize) -> Option<Vec<u8>> {
    // Some writers store integers as floats.
    let whole = |value: f64| (value.fract() == 0.0 && value.abs() < 9e15).then_some(value);
    let number = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
    #[allow(clippy::cast_possible_truncation)] // the value is integral and small
    let number = number.or_else(|| value.as_f64().and_then(whole).map(|value| value as i128))?;
    let bits = 8 * u32::try_from(size).ok()?;
    let range = if is_signed { -(1 << (bits - 1))..1 << (bits - 1) } else { 0..1 << bits };
    range.contains(&number).then(|| number.to_le_bytes()[..size].to_vec())
}

fn float(value: &Value, size: usize) -> Option<Vec<u8>> {
    let number = match value.as_str() {
        Some("NaN") => f64::NAN,
        Some("Infinity") => f64::INFINITY,
        Some("-Infinity") => f64::NEG_INFINITY,
        Some(text) => {
            let digits = text.strip_prefix("0x").filter(|digits| digits.len() == size * 2)?;
            let bits = u64::try_from(tdb_array::tdb_types::hex::number(digits)?).ok()?;
            return Some(bits.to_le_bytes()[..size].to_vec());
        }
        None => value.as_f64()?,
    };
    match size {
        2 => Some(half(number)?.to_le_bytes().to_vec()),
        #[allow(clippy::cast_possible_truncation)] // loses precision only as far as the type demands
        4 => Some((number as f32).to_le_bytes().to_vec()),
        _ => Some(number.to_le_bytes().to_vec()),
    }
}

/// Returns the bits of a 16-bit float. Returns `None` if the number is no 16-bit float.
fn half(number: f64) -> Option<u16> {
    if number.is_nan() {
        return Some(0x7e00);
    }
    #[allow(clippy::cast_possible_truncation)] // exact for 16-bit floats
    let single = number as f32;
    (0..=u16::MAX).find(|bits| half_to_single(*bits).to_bits() == single.to_bits())
}

/// Converts a 16-bit float to 32 bits without loss.
pub(crate) fn half_to_single(half: u16) -> f32 {
    let sign = u32::from(half >> 15) << 31;
    let (exponent, fraction) = (u32::from(half >> 10 & 0x1f), u32::from(half & 0x3ff));
    let bits = match exponent {
        // Subnormal 16-bit floats are normal in 32 bits.
        0 => {
            #[allow(clippy::cast_precision_loss)] // ten bits
            let value = fraction as f32 * 2.0_f32.powi(-24);
            value.to_bits()
        }
        0x1f => 0x7f80_0000 | fraction << 13,
        _ => (exponent + 112) << 23 | fraction << 13,
    };
    f32::from_bits(sign | bits)
}

/// Decodes bytes: base 64, or a list of numbers, or 0 for no bytes.
fn bytes(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::String(text) => BASE64.decode(text).ok(),
        Value::Array(bytes) => bytes.iter().map(|byte| u8::try_from(byte.as_u64()?).ok()).collect(),
        Value::Number(number) if number.as_u64() == Some(0) => Some(Vec::new()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fill_values_survive_a_round_trip() {
        let nan = 0x7fc0_0001_u32.to_le_bytes();
        for (form, bytes) in [
            (Form::Bool, vec![1]),
            (Form::Signed(1), vec![0x80]),
            (Form::Signed(8), i64::MIN.to_le_bytes().to_vec()),
            (Form::Unsigned(8), vec![0xff; 8]),
            (Form::Time, i64::MIN.to_le_bytes().to_vec()),
            (Form::Float(4), nan.to_vec()),
            (Form::Float(4), f32::NAN.to_le_bytes().to_vec()),
            (Form::Float(8), 0.1_f64.to_le_bytes().to_vec()),
            (Form::Float(8), f64::NEG_INFINITY.to_le_bytes().to_vec()),
            (Form::Raw(3), vec![0x80, 0, 1]),
            (Form::Text, "é\0".into()),
            (Form::Bytes, vec![0x80]),
        ] {
            assert_eq!(from_json(form, &to_json(form, &bytes).unwrap()).unwrap(), bytes, "{form:?}");
        }
        assert!(to_json(Form::Text, &[0x80]).is_err());
    }

    #[test]
    fn invalid_fill_values_are_refused() {
        for (form, value) in [
            (Form::Signed(1), json!(128)),
            (Form::Unsigned(1), json!(-1)),
            (Form::Unsigned(4), json!(0.5)),
            (Form::Float(4), json!("0x7f")),
            (Form::Bool, json!(2)),
            (Form::Raw(2), json!("AAAA")),
            (Form::Text, json!(1)),
            (Form::Complex(8), json!([1])),
            (Form::Time, json!("today")),
        ] {
            assert!(from_json(form, &value).is_err(), "{form:?} {value}");
        }
    }

    #[test]
    fn half_floats_convert_exactly() {
        for (bits, value) in [(0x3c00, 1.0), (0xc000, -2.0), (0x0001, 2.0_f32.powi(-24)), (0x7bff, 65504.0)] {
            assert_eq!((half_to_single(bits), half(f64::from(value))), (value, Some(bits)));
        }
        assert!(half_to_single(0x7c00).is_infinite() && half_to_single(0x7e01).is_nan());
        assert_eq!(half(1e9), None);
    }
}
