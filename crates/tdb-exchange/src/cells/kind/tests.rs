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
fn floats() {
    assert_eq!(one(Datatype::Float64, &(-0.0f64).to_le_bytes()), "-0.0");
    assert_eq!(one(Datatype::Float64, &1e300f64.to_le_bytes()), "1e300");
}

#[test]
fn strings() {
    assert_eq!(json(Datatype::StringUtf8, CellValNum::Var, "a\"ü\n".as_bytes()), "\"a\\\"ü\\n\"");
    assert_eq!(json(Datatype::StringUtf16, CellValNum::Var, &[0x3d, 0xd8, 0x00, 0xde]), "\"😀\"");
    assert_eq!(json(Datatype::StringUtf16, CellValNum::Var, &[0x3d, 0xd8]), r#"{"hex":"3dd8"}"#);
    assert_eq!(json(Datatype::StringUtf32, CellValNum::Var, &[0, 0, 0x11, 0]), r#"{"hex":"00001100"}"#);
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
