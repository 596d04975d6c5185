use super::*;
use crate::flow::Metadata;

fn integers(width: u64, datatype: Datatype, scale: (f64, f64), bytes: &[u8]) -> Vec<u8> {
    let filter = FloatScale::new(datatype, scale.0, scale.1, width).unwrap();
    let (mut meta, mut ends, mut out) = (Vec::new(), Vec::new(), Vec::new());
    let mut lost = None;
    filter.encode(&mut Metadata::new(&mut meta, &mut ends), Some(bytes), &mut out, &mut lost).unwrap();
    assert_eq!(lost.is_none(), filter.check(bytes).is_ok());
    out
}

fn f64s(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn i64s(values: &[f64], scale: (f64, f64)) -> Vec<i64> {
    let out = integers(8, Datatype::Float64, scale, &f64s(values));
    out.as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect()
}

#[test]
fn halves_round_away_from_zero() {
    let values: [f64; 8] = [0.5, -0.5, 1.5, 2.5, -2.5, 0.49999999999999994, 4503599627370497.5, 9007199254740993.0];
    let rounded: Vec<i64> = values.iter().map(|value| value.round() as i64).collect();
    assert_eq!(i64s(&values, (1.0, 0.0)), rounded);
    assert_eq!(i64s(&[10.5, -7.0], (0.25, 3.0)), [30, -40]);
}

#[test]
fn values_out_of_range_convert_as_on_x86() {
    let values = f64s(&[300.0, 70_000.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1.0]);
    let out = |width| integers(width, Datatype::Float64, (1.0, 0.0), &values);
    assert_eq!(out(1), [44, 112, 0, 0, 0, 0, 255]);
    let wide: Vec<i16> = out(2).as_chunks().0.iter().map(|bytes| i16::from_le_bytes(*bytes)).collect();
    assert_eq!(wide, [300, 4464, 0, 0, 0, 0, -1]);
    let wider: Vec<i32> = out(4).as_chunks().0.iter().map(|bytes| i32::from_le_bytes(*bytes)).collect();
    assert_eq!(wider, [300, 70_000, i32::MIN, i32::MIN, i32::MIN, i32::MIN, -1]);
    let widest: Vec<i64> = out(8).as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect();
    assert_eq!(widest, [300, 70_000, i64::MIN, i64::MIN, i64::MIN, i64::MIN, -1]);
}

#[test]
fn low_bits_match_plain_rounding() {
    let plain = |value: f64| {
        let rounded = value.round();
        if (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&rounded) { rounded as i32 } else { i32::MIN }
    };
    let wide = [0.0, 0.5, 1.0, 1.5, 2.5, 0.49999999999999994, 2147483647.0, 2147483648.0, 2147483647.49, 2147483647.5];
    let wider = [2147483648.49, 2147483648.5, 1e15, 2251799813685248.0, 4503599627370497.5, 9e18, 1e300, f64::INFINITY];
    let steps = (0..4000).map(|step| f64::from(step) * 0.25 - 500.0);
    for value in wide.into_iter().chain(wider).chain(steps) {
        for value in [value, -value, value.next_up(), value.next_down(), -value.next_up()] {
            assert_eq!(low_bits(value), plain(value), "{value:?}");
        }
    }
    assert_eq!(low_bits(f64::NAN), i32::MIN);
}

#[test]
fn floats_of_4_bytes_are_reduced_in_their_own_precision() {
    // In `f32`, 16,777,216 + 1 is rounded, because 16,777,217 is not representable.
    let bytes: Vec<u8> = [0.25f32, 16_777_216.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let out = integers(4, Datatype::Float32, (0.1, -1.0), &bytes);
    let expected: Vec<u8> = [0.25f32, 16_777_216.0]
        .iter()
        .flat_map(|value| (((value - -1.0f32) / 0.1f32).round() as i32).to_le_bytes())
        .collect();
    assert_eq!(out, expected);
}

#[test]
fn invalid_options_are_rejected() {
    let new = |datatype, scale, offset, width| FloatScale::new(datatype, scale, offset, width).map(|_| ());
    let message = |result: Result<(), FilterError>| result.unwrap_err().to_string();
    let double = Datatype::Float64;
    insta::assert_snapshot!(
        message(new(double, 0.0, 0.0, 4)),
        @"float_scale: scale: found 0, expected a normal number other than 0"
    );
    insta::assert_snapshot!(
        message(new(double, f64::NAN, 0.0, 4)),
        @"float_scale: scale: found NaN, expected a normal number other than 0"
    );
    insta::assert_snapshot!(
        message(new(double, 1.0, f64::INFINITY, 4)),
        @"float_scale: offset: found inf, expected a finite number"
    );
    insta::assert_snapshot!(
        message(new(double, 1.0, 0.0, 3)),
        @"float_scale: byte width: found 3, expected 1, 2, 4 or 8"
    );
    insta::assert_snapshot!(
        message(new(Datatype::Int16, 1.0, 0.0, 4)),
        @"float_scale does not support int16; use it on values of 4 or 8 bytes"
    );
}
