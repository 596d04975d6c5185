use proptest::prelude::*;

use super::*;

fn json(datatype: Datatype, number: CellValNum, bytes: &[u8]) -> String {
    let mut out = Vec::new();
    CellKind::of(datatype, number, false).json(bytes, &mut out);
    String::from_utf8(out).unwrap()
}

fn one(datatype: Datatype, bytes: &[u8]) -> String {
    json(datatype, CellValNum::ONE, bytes)
}

#[test]
fn integers_keep_all_digits() {
    assert_eq!(one(Datatype::UInt64, &u64::MAX.to_le_bytes()), "18446744073709551615");
    assert_eq!(one(Datatype::Int64, &i64::MIN.to_le_bytes()), "-9223372036854775808");
    assert_eq!(one(Datatype::TimeMs, &(-5i64).to_le_bytes()), "-5");
    assert_eq!(one(Datatype::Bool, &[1]), "true");
    assert_eq!(one(Datatype::Bool, &[7]), "7");
}

#[test]
fn floats_that_json_has_no_word_for() {
    assert_eq!(one(Datatype::Float64, &f64::NAN.to_le_bytes()), "\"NaN\"");
    assert_eq!(one(Datatype::Float32, &f32::INFINITY.to_le_bytes()), "\"inf\"");
    assert_eq!(one(Datatype::Float64, &f64::NEG_INFINITY.to_le_bytes()), "\"-inf\"");
    assert_eq!(one(Datatype::Float64, &(-0.0f64).to_le_bytes()), "-0.0");
    assert_eq!(one(Datatype::Float32, &0.1f32.to_le_bytes()), "0.1");
    assert_eq!(one(Datatype::Float64, &1e300f64.to_le_bytes()), "1e300");
}

#[test]
fn strings() {
    assert_eq!(json(Datatype::StringUtf8, CellValNum::Var, "a\"ü\n".as_bytes()), "\"a\\\"ü\\n\"");
    assert_eq!(json(Datatype::StringAscii, CellValNum::Var, &[0xff, 0x41]), r#"{"hex":"ff41"}"#);
    assert_eq!(json(Datatype::StringUtf16, CellValNum::Var, &[0x3d, 0xd8, 0x00, 0xde]), "\"😀\"");
    assert_eq!(json(Datatype::StringUtf16, CellValNum::Var, &[0x3d, 0xd8]), r#"{"hex":"3dd8"}"#);
    assert_eq!(json(Datatype::StringUcs4, CellValNum::Var, &[0x41, 0, 0, 0]), "\"A\"");
    assert_eq!(json(Datatype::StringUtf32, CellValNum::Var, &[0, 0, 0x11, 0]), r#"{"hex":"00001100"}"#);
    assert_eq!(one(Datatype::Char, b"x"), "\"x\"");
    assert_eq!(json(Datatype::GeomWkt, CellValNum::Var, b"POINT (1 2)"), "\"POINT (1 2)\"");
}

#[test]
fn bytes_and_runs() {
    assert_eq!(json(Datatype::Blob, CellValNum::Var, b"\0a"), r#"{"hex":"0061"}"#);
    assert_eq!(json(Datatype::Blob, CellValNum::Var, b""), r#"{"hex":""}"#);
    assert_eq!(json(Datatype::Int16, CellValNum::Var, &[1, 0, 255, 255]), "[1,-1]");
    assert_eq!(json(Datatype::Int16, CellValNum::Var, &[]), "[]");
    let two = CellValNum::from_code(2).unwrap();
    assert_eq!(json(Datatype::DatetimeDay, two, &[0; 16]), r#"["1970-01-01","1970-01-01"]"#);
}

#[test]
fn dates() {
    assert_eq!(one(Datatype::DatetimeDay, &i64::MIN.to_le_bytes()), "\"NaT\"");
    // After the year 9999.
    assert_eq!(one(Datatype::DatetimeDay, &i64::MAX.to_le_bytes()), "\"9223372036854775807D\"");
    let mut out = Vec::new();
    CellKind::of(Datatype::DatetimeDay, CellValNum::ONE, true).json(&1i64.to_le_bytes(), &mut out);
    assert_eq!(out, b"1");
}

#[test]
fn text() {
    let text = |datatype, bytes: &[u8]| CellKind::of(datatype, CellValNum::ONE, false).text(bytes);
    assert_eq!(text(Datatype::Float64, &f64::NAN.to_le_bytes()), "NaN");
    assert_eq!(text(Datatype::Blob, &[0xab]), "ab");
    assert_eq!(text(Datatype::DatetimeYear, &[0; 8]), "1970");
    assert_eq!(text(Datatype::Bool, &[0]), "false");
}

proptest! {
    #[test]
    fn json_holds_every_float(bits: u64) {
        let value = f64::from_bits(bits);
        prop_assume!(value.is_finite());
        let back: f64 = one(Datatype::Float64, &value.to_le_bytes()).parse().unwrap();
        prop_assert_eq!(back.to_bits(), bits);
    }

    #[test]
    fn json_holds_every_string(bytes: Vec<u8>) {
        let text = json(Datatype::StringUtf8, CellValNum::Var, &bytes);
        let back = match serde_json::from_str(&text).unwrap() {
            serde_json::Value::String(text) => text.into_bytes(),
            object => {
                let hex = object["hex"].as_str().unwrap().to_owned();
                (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
            }
        };
        prop_assert_eq!(back, bytes);
    }
}
