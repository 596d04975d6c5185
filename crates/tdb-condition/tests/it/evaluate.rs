//! The semantics of conditions, rule by rule.

use std::sync::Arc;

use tdb_condition::{Condition, ConditionError, Value};
use tdb_schema::{ArraySchema, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder};
use tdb_types::{CellValNum, Cells, Datatype, FormatVersion, Offsets, Validity};

fn schema(attributes: impl IntoIterator<Item = Attribute>) -> ArraySchema {
    let x = Dimension::new("x", 0i32..=99);
    attributes.into_iter().fold(SchemaBuilder::sparse().dimension(x), SchemaBuilder::attribute).build().unwrap()
}

fn fixed<V: Value>(values: impl IntoIterator<Item = V>) -> Vec<u8> {
    values.into_iter().flat_map(|value| value.into_literal().bytes().to_vec()).collect()
}

/// Evaluates a condition on an attribute of fixed-size cells.
fn over(attribute: Attribute, condition: &Condition, cells: &[u8], validity: Option<&[u8]>) -> Vec<u8> {
    let size = attribute.cell_size().unwrap() as usize;
    let bound = condition.bind(&schema([attribute]), |_| None).unwrap();
    let mut truth = vec![false; cells.len() / size];
    bound.evaluate(&[Some(Cells::fixed(cells, size).with_validity(validity.map(Validity::Bytes)))], &mut truth);
    truth.into_iter().map(u8::from).collect()
}

/// Evaluates a condition on an attribute of strings.
fn over_strings(condition: &Condition, cells: &[&[u8]], validity: Option<&[u8]>) -> Vec<u8> {
    let attribute = Attribute::new("s", Datatype::StringUtf8).with_cell_val_num(CellValNum::Var).nullable(false);
    let bound = condition.bind(&schema([attribute]), |_| None).unwrap();
    let (data, offsets) = strings(cells);
    let mut truth = vec![true; cells.len()];
    let cells = Cells::var(Offsets::in_bytes(&offsets), &data).with_validity(validity.map(Validity::Bytes));
    bound.evaluate(&[Some(cells)], &mut truth);
    truth.into_iter().map(u8::from).collect()
}

/// An array whose attribute `a` has indices in the enumeration `c`.
fn enumerated() -> ArraySchema {
    let attribute = Attribute::new("a", Datatype::UInt8).with_enumeration("c").nullable(false);
    let x = Dimension::new("x", 0i32..=99);
    let reference = EnumerationRef { name: "c".to_owned(), file_name: "file".to_owned() };
    SchemaBuilder::sparse().dimension(x).attribute(attribute).enumeration(reference).build().unwrap()
}

fn strings(cells: &[&[u8]]) -> (Vec<u8>, Vec<u64>) {
    let mut offsets = vec![0];
    offsets.extend(cells.iter().scan(0, |end, cell| {
        *end += cell.len() as u64;
        Some(*end)
    }));
    (cells.concat(), offsets)
}

fn a() -> tdb_condition::Field {
    Condition::field("a")
}

fn s() -> tdb_condition::Field {
    Condition::field("s")
}

#[test]
fn only_nan_tests_distinguish_nans() {
    let attribute = || Attribute::new("a", Datatype::Float32).nullable(false);
    let (cells, validity) = (fixed([f32::NAN, -f32::NAN, f32::INFINITY, f32::NAN]), Some(&[1_u8, 1, 1, 0][..]));
    let truth = |condition: Condition| over(attribute(), &condition, &cells, validity);
    assert_eq!(truth(a().is_nan()), [1, 1, 0, 0]);
    assert_eq!(truth(a().is_nan().not()), [0, 0, 1, 0]);
    assert_eq!(truth(a().is_not_nan()), [0, 0, 1, 0]);
    assert_eq!(truth(a().gt(1.0) | a().is_nan()), [1, 1, 1, 0]);
    assert_eq!(truth("a is not nan or a is null".parse().unwrap()), [0, 0, 1, 1]);
    let error = a().is_nan().bind(&schema([Attribute::new("a", Datatype::Int32)]), |_| None).unwrap_err();
    assert_eq!(error.to_string(), "condition: no cell of field \"a\" can be NaN, because the datatype is int32");
    let error = a().is_nan().to_file(FormatVersion::DEFAULT).unwrap_err();
    assert!(matches!(error, ConditionError::NanTest { .. }), "{error}");
}

#[test]
fn nulls_fail_every_comparison() {
    let attribute = || Attribute::new("a", Datatype::Int32).nullable(false);
    let (cells, validity) = (fixed([1, 2, 3]), Some(&[1_u8, 0, 1][..]));
    let truth = |condition: Condition| over(attribute(), &condition, &cells, validity);
    assert_eq!(truth(a().eq(2)), [0, 0, 0]);
    assert_eq!(truth(a().ne(2)), [1, 0, 1]);
    assert_eq!(truth(a().ne(1)), [0, 0, 1]);
    assert_eq!(truth(a().is_in([1, 2])), [1, 0, 0]);
    assert_eq!(truth(a().is_in([1]).not()), [0, 0, 1]);
    assert_eq!(truth(a().is_null()), [0, 1, 0]);
    assert_eq!(truth(a().is_null().not()), [1, 0, 1]);
    assert_eq!(truth(a().eq(1).or(a().is_null())), [1, 1, 0]);
    let never_null = |condition: Condition| over(Attribute::new("a", Datatype::Int32), &condition, &cells, None);
    assert_eq!(never_null(a().is_null()), [0, 0, 0]);
    assert_eq!(never_null(a().is_not_null()), [1, 1, 1]);
}

#[test]
fn floats_compare_as_in_ieee_754_also_in_sets() {
    let cells = fixed([0.0, -0.0, f32::NAN, 1.5, f32::NEG_INFINITY]);
    let truth = |condition: Condition| over(Attribute::new("a", Datatype::Float32), &condition, &cells, None);
    assert_eq!(truth(a().eq(0.0_f32)), [1, 1, 0, 0, 0]);
    assert_eq!(truth(a().ne(0.0_f32)), [0, 0, 1, 1, 1]);
    assert_eq!(truth(a().lt(0.0_f32)), [0, 0, 0, 0, 1]);
    assert_eq!(truth(a().lt(0.0_f32).not()), [1, 1, 0, 1, 0]);
    assert_eq!(truth(a().eq(f32::NAN)), [0; 5]);
    assert_eq!(truth(a().ne(f32::NAN)), [1; 5]);
    assert_eq!(truth(a().is_in([0.0_f32, 1.5])), [1, 1, 0, 1, 0]);
    assert_eq!(truth(a().not_in([-0.0_f32])), [0, 0, 1, 1, 1]);
    assert_eq!(truth(a().is_in([f32::NAN])), [0; 5]);
    assert_eq!(truth(a().not_in([f32::NAN])), [1; 5]);
    assert_eq!(truth(a().is_in([f32::NAN, 1.5])), [0, 0, 0, 1, 0]);
    assert_eq!(truth("a in (0, nan)".parse().unwrap()), [1, 1, 0, 0, 0]);
    assert_eq!(truth("not (a in (-0.0, nan))".parse().unwrap()), [0, 0, 1, 1, 1]);
}

#[test]
fn sets_of_stored_conditions_compare_bytes() {
    let schema = schema([Attribute::new("a", Datatype::Float32)]);
    let cells = fixed([0.0, -0.0, f32::NAN, 1.5]);
    let truth = |condition: &Condition| {
        let mut truth = [false; 4];
        condition.bind_stored(&schema, &schema).unwrap().evaluate(&[Some(Cells::fixed(&cells, 4))], &mut truth);
        truth.map(u8::from)
    };
    assert_eq!(truth(&a().is_in([0.0_f32, 1.5])), [1, 0, 0, 1]);
    assert_eq!(truth(&a().not_in([-0.0_f32])), [1, 0, 1, 1]);
    assert_eq!(truth(&a().is_in([f32::NAN])), [0, 0, 1, 0]);
    assert_eq!(truth(&a().eq(0.0_f32)), [1, 1, 0, 0]);
    // The stored form, compared by bytes, has the same result.
    for condition in [a().is_in([0.0_f32, f32::NAN, 1.5]), a().not_in([-0.0_f32]), a().is_in([f32::NAN])] {
        let mut by_value = [false; 4];
        condition.bind(&schema, |_| None).unwrap().evaluate(&[Some(Cells::fixed(&cells, 4))], &mut by_value);
        let stored = condition.to_stored(&schema, |_| None).unwrap();
        assert_eq!(truth(&stored), by_value.map(u8::from), "{condition}");
    }
}

#[test]
fn strings_compare_by_unsigned_bytes() {
    let cells: [&[u8]; 6] = [b"", b"a", b"ab", b"\xff", b"b", b"a\0"];
    let truth = |condition: Condition| over_strings(&condition, &cells, None);
    assert_eq!(truth(s().lt("a")), [1, 0, 0, 0, 0, 0]);
    assert_eq!(truth(s().ge("a")), [0, 1, 1, 1, 1, 1]);
    assert_eq!(truth(s().eq("a")), [0, 1, 0, 0, 0, 0]);
    assert_eq!(truth(s().gt("b")), [0, 0, 0, 1, 0, 0]);
    assert_eq!(truth(s().eq("")), [1, 0, 0, 0, 0, 0]);
    assert_eq!(truth(s().is_in(["a", ""])), [1, 1, 0, 0, 0, 0]);
    assert_eq!(truth(s().not_in([&b"a"[..], b"\xff"])), [1, 0, 1, 0, 1, 1]);
    let nulls = Some(&[0_u8, 1, 1, 1, 1, 1][..]);
    assert_eq!(over_strings(&s().lt("b"), &cells, nulls), [0, 1, 1, 0, 0, 1]);
}

#[test]
fn strings_of_fixed_size_compare_with_their_zeros() {
    let attribute = || Attribute::new("a", Datatype::StringAscii).with_cell_val_num(CellValNum::from_code(3).unwrap());
    let truth = |condition: Condition| over(attribute(), &condition, b"abcabdb\0\0\xff\xff\xffa\0\0", None);
    assert_eq!(truth(a().lt("abd")), [1, 0, 0, 0, 1]);
    assert_eq!(truth(a().eq("b")), [0; 5]);
    assert_eq!(truth(a().lt("b")), [1, 1, 0, 0, 1]);
    assert_eq!(truth(a().eq("b\0\0")), [0, 0, 1, 0, 0]);
    assert_eq!(truth(a().gt("abcd")), [0, 1, 1, 1, 0]);
    assert_eq!(truth(a().is_in(["abc", "a\0\0"])), [1, 0, 0, 0, 1]);
    let schema = schema([attribute()]);
    let error = a().is_in(["ab"]).bind(&schema, |_| None).unwrap_err();
    assert!(matches!(error, ConditionError::WrongSize { expected: 3, found: 2, .. }), "{error}");
}

#[test]
fn characters_are_signed_and_compared_whole() {
    let one = |condition: Condition| over(Attribute::new("a", Datatype::Char), &condition, b"ab\xff\x80z\0", None);
    assert_eq!(one(a().lt("b")), [1, 0, 1, 1, 0, 1]);
    assert_eq!(one(a().ge("b")), [0, 1, 0, 0, 1, 0]);
    assert_eq!(one(a().is_in(["a", "z"])), [1, 0, 0, 0, 1, 0]);
    let three = Attribute::new("a", Datatype::Char).with_cell_val_num(CellValNum::from_code(3).unwrap());
    assert_eq!(over(three, &a().eq("abc"), b"abcabdb\0\0", None), [1, 0, 0]);
}

#[test]
fn bools_and_times_are_numbers() {
    let bools = |condition: Condition| over(Attribute::new("a", Datatype::Bool), &condition, &[0, 1, 1], None);
    assert_eq!(bools(a().eq(true)), [0, 1, 1]);
    assert_eq!(bools(a().lt(true)), [1, 0, 0]);
    let cells = fixed([-1_i64, 0, 7]);
    let days = |condition: Condition| over(Attribute::new("a", Datatype::DatetimeDay), &condition, &cells, None);
    assert_eq!(days(a().ge(0_i64)), [0, 1, 1]);
}

#[test]
fn enumerations_are_compared_by_position() {
    let colours = |ordered: bool| {
        let colours = Enumeration::strings("c", "file", Datatype::StringAscii, ["red", "green", "blue"]).unwrap();
        Arc::new(if ordered { colours.ordered() } else { colours })
    };
    let schema = enumerated();
    let truth = |condition: &Condition, ordered| {
        let bound = condition.bind(&schema, |name| (name == "c").then(|| colours(ordered)))?;
        let mut truth = [false; 4];
        let cells = Cells::fixed(&[0, 1, 2, 1], 1).with_validity(Validity::Bytes(&[1, 1, 1, 0]));
        bound.evaluate(&vec![Some(cells); bound.fields().len()], &mut truth);
        Ok::<_, ConditionError>(truth.map(u8::from))
    };
    assert_eq!(truth(&a().eq("green"), false).unwrap(), [0, 1, 0, 0]);
    assert_eq!(truth(&a().ne("green"), false).unwrap(), [1, 0, 1, 0]);
    assert_eq!(truth(&a().eq("black"), false).unwrap(), [0; 4]);
    // Null cells satisfy no comparison, also if the result is constant for all other cells.
    assert_eq!(truth(&a().ne("black"), false).unwrap(), [1, 1, 1, 0]);
    assert_eq!(truth(&a().eq("black").not(), false).unwrap(), [1, 1, 1, 0]);
    assert_eq!(truth(&a().gt("black").not(), true).unwrap(), [0; 4]);
    assert_eq!(truth(&a().is_in(["black"]).not(), false).unwrap(), [1, 1, 1, 0]);
    assert_eq!(truth(&(a().ne("black") | a().is_null()), false).unwrap(), [1; 4]);
    let always = Condition::Constant { field: "a".to_owned(), truth: true, value: vec![0] };
    assert_eq!(truth(&always, false).unwrap(), [1, 1, 1, 0]);
    assert_eq!(truth(&always.negation(), false).unwrap(), [0; 4]);
    assert_eq!(truth(&a().is_in(["red", "black"]), false).unwrap(), [1, 0, 0, 0]);
    assert_eq!(truth(&a().not_in(["black"]), false).unwrap(), [1, 1, 1, 0]);
    assert_eq!(truth(&a().gt("red"), true).unwrap(), [0, 1, 1, 0]);
    assert_eq!(truth(&a().le("black"), true).unwrap(), [0; 4]);
    assert!(matches!(truth(&a().gt("red"), false), Err(ConditionError::Unordered { .. })));
    assert!(matches!(a().eq("red").bind(&schema, |_| None), Err(ConditionError::EnumerationMissing { .. })));
    // Delete commits store indices.
    let stored = a().eq(1_u8).bind_stored(&schema, &schema).unwrap();
    let mut stays = [false; 3];
    stored.evaluate(&[Some(Cells::fixed(&[0, 1, 2], 1))], &mut stays);
    assert_eq!(stays, [false, true, false]);
}

/// An index in an enumeration of floats has the same result as its value in a column of floats.
#[test]
fn floats_of_enumerations_compare_as_floats() {
    let values = [2.5_f64, -0.0, 0.0, f64::NAN, 7.0, f64::INFINITY];
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    for held in [&bytes[..], &bytes[..16], &bytes[16..]] {
        let count = held.len() / 8;
        let first = if held.len() == 32 { 2 } else { 0 };
        let floats = Enumeration::fixed("c", "file", Datatype::Float64, held).unwrap();
        let floats = Arc::new(floats.ordered());
        let schema = enumerated();
        let cells: Vec<u8> = (0..count as u8).chain([0]).collect();
        let validity: Vec<u8> = (0..=count).map(|cell| u8::from(cell < count)).collect();
        let truth = |condition: &Condition| {
            let bound = condition.bind(&schema, |_| Some(floats.clone())).unwrap();
            let mut found = vec![false; count + 1];
            let view = Cells::fixed(&cells, 1).with_validity(Validity::Bytes(&validity));
            bound.evaluate(&vec![Some(view); bound.fields().len()], &mut found);
            found.into_iter().map(u8::from).collect::<Vec<u8>>()
        };
        for wanted in values {
            let set = || vec![wanted, 2.5];
            for condition in [
                a().eq(wanted),
                a().ne(wanted),
                a().is_in(set()),
                a().not_in(set()),
                a().is_in([wanted]).not(),
                a().eq(wanted).not(),
                a().is_nan(),
                a().is_nan().not(),
            ] {
                let plain = Attribute::new("a", Datatype::Float64).nullable(true);
                let mut column = held.to_vec();
                column.extend([0; 8]);
                let expected = over(plain, &condition, &column, Some(&validity));
                assert_eq!(truth(&condition), expected, "{condition} of {:?}", &values[first..first + count]);
            }
        }
        // Indices define the order. Zeros of both signs are equal.
        if count == values.len() {
            assert_eq!(truth(&a().lt(0.0)), [1, 0, 0, 0, 0, 0, 0]);
            assert_eq!(truth(&a().le(-0.0)), [1, 1, 1, 0, 0, 0, 0]);
            assert_eq!(truth(&a().gt(-0.0)), [0, 0, 0, 1, 1, 1, 0]);
            assert_eq!(truth(&a().ge(f64::NAN)), [0; 7]);
            let stored = a().eq(0.0).to_stored(&schema, |_| Some(floats.clone())).unwrap();
            assert_eq!(stored, a().is_in([vec![1_u8], vec![2]]));
            assert!(a().eq(f64::NAN).to_stored(&schema, |_| Some(floats.clone())).is_err());
        }
    }
}

#[test]
fn unsuitable_values_are_rejected() {
    let two = Attribute::new("two", Datatype::Int32).with_cell_val_num(CellValNum::from_code(2).unwrap());
    let wide = Attribute::new("wide", Datatype::StringUtf16).with_cell_val_num(CellValNum::Var);
    let blob = Attribute::new("blob", Datatype::Blob).with_cell_val_num(CellValNum::Var);
    let schema = schema([Attribute::new("a", Datatype::Int32), two, wide, blob]);
    let bind = |condition: &Condition| condition.bind(&schema, |_| None);
    assert!(matches!(bind(&Condition::field("b").eq(1)), Err(ConditionError::UnknownField { .. })));
    assert!(matches!(bind(&a().eq(&[0; 8])), Err(ConditionError::WrongSize { expected: 4, found: 8, .. })));
    assert!(matches!(bind(&a().is_in([&[0; 8]])), Err(ConditionError::WrongSize { expected: 4, found: 8, .. })));
    for value in ["1e9", "2.5", "one", "3000000000", ""] {
        assert!(matches!(bind(&a().eq(value)), Err(ConditionError::NotAValue { .. })), "{value}");
    }
    for wrong in [a().eq(1_i64 << 40), a().eq(2.5), a().eq(f64::NAN), a().is_in([1e300]), a().ge(u64::MAX)] {
        assert!(matches!(bind(&wrong), Err(ConditionError::NotAValue { .. })), "{wrong}");
    }
    assert_eq!(bind(&a().eq(7_i64)).unwrap(), bind(&a().eq(7.0_f32)).unwrap());
    assert_eq!(bind(&a().eq("-7")).unwrap(), bind(&a().eq(-7_i8)).unwrap());
    for name in ["two", "wide", "blob"] {
        let error = bind(&Condition::field(name).eq("12345678")).unwrap_err();
        assert!(matches!(error, ConditionError::NotComparable { .. }), "{error}");
        assert!(bind(&Condition::field(name).is_null()).is_ok());
    }
}

#[test]
fn stored_conditions_support_dropped_fields_and_null_tests() {
    let old = schema([Attribute::new("a", Datatype::Int32).nullable(false), Attribute::new("gone", Datatype::Int32)]);
    let new = schema([Attribute::new("a", Datatype::Int64)]);
    let cells = |bytes| Some(Cells::fixed(bytes, 4).with_validity(Validity::Bytes(&[1, 0])));
    let numbers = fixed([5, 5]);
    let truth = |condition: &Condition, own: &ArraySchema, newest: &ArraySchema| {
        let bound = condition.bind_stored(own, newest).unwrap();
        let mut truth = [true; 2];
        bound.evaluate(&vec![cells(&numbers[..]); bound.fields().len()], &mut truth);
        truth
    };
    assert_eq!(truth(&Condition::field("gone").eq(5), &old, &new), [true, false]);
    assert_eq!(truth(&Condition::field("gone").ne(4), &new, &new), [false; 2], "the dropped field does not exist");
    assert_eq!(truth(&a().eq(5_i64), &old, &new), [false; 2], "the value has the type of the replacement");
    assert!(a().eq(5_i64).bind_stored(&old, &old).is_err(), "no field has this type");
    assert_eq!(truth(&a().eq(""), &old, &old), [false, true], "a test for null");
    assert_eq!(truth(&a().ne(""), &old, &old), [true, false]);
}
