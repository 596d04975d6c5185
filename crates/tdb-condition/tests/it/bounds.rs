//! Results over bounds and known values, for all ranges of small numbers. The results must be
//! correct and as precise as possible.

use tdb_condition::{BoundCondition, CellBounds, Condition, ConditionError, Matches, Nulls, Operator, field};
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_types::{Cells, Datatype};

fn schema(attributes: &[(&str, Datatype)]) -> ArraySchema {
    let x = Dimension::new("x", 0i32..=99);
    let builder = SchemaBuilder::sparse().dimension(x);
    let attributes = attributes.iter().map(|(name, datatype)| Attribute::new(*name, *datatype));
    attributes.fold(builder, SchemaBuilder::attribute).build().unwrap()
}

fn bind(condition: &Condition, datatype: Datatype) -> BoundCondition {
    condition.bind(&schema(&[("a", datatype)]), |_| None).unwrap()
}

/// Evaluates a condition over cells between two values.
fn between(condition: &Condition, datatype: Datatype, low: &[u8], high: &[u8], nulls: Nulls) -> Matches {
    bind(condition, datatype).over_bounds(|_| CellBounds { range: Some((low, high)), nulls })
}

fn holds(operator: Operator, cell: i32, value: i32) -> bool {
    match operator {
        Operator::Less => cell < value,
        Operator::LessOrEqual => cell <= value,
        Operator::Greater => cell > value,
        Operator::GreaterOrEqual => cell >= value,
        Operator::Equal => cell == value,
        Operator::NotEqual => cell != value,
    }
}

/// Summarizes the results of cells.
fn of_all(mut truth: impl Iterator<Item = bool> + Clone) -> Matches {
    match (truth.clone().any(|truth| truth), truth.all(|truth| truth)) {
        (false, _) => Matches::None,
        (_, true) => Matches::All,
        _ => Matches::Unknown,
    }
}

#[test]
fn tests_are_decided_exactly_if_bounds_suffice() {
    for (low, high) in (-2..=2).flat_map(|low| (low..=2).map(move |high| (low, high))) {
        let bytes = [low, high].map(i32::to_le_bytes);
        let found = |condition: &Condition, nulls| between(condition, Datatype::Int32, &bytes[0], &bytes[1], nulls);
        for value in -4..=4 {
            for operator in Operator::ALL {
                let condition = field("a").compare(operator, value);
                let expected = of_all((low..=high).map(|cell| holds(operator, cell, value)));
                assert_eq!(found(&condition, Nulls::None), expected, "{condition} in {low}..={high}");
                // Null cells satisfy no condition.
                let expected = if expected == Matches::All { Matches::Unknown } else { expected };
                assert_eq!(found(&condition, Nulls::Unknown), expected, "{condition} in {low}..={high}, or null");
                assert_eq!(found(&condition, Nulls::All), Matches::None, "{condition} of nulls");
            }
            // Sets are decided only for ranges of a single value and for ranges without members.
            let members = [value, value + 2];
            let is_apart = members.iter().all(|member| *member < low || *member > high);
            for (condition, is_negated) in [(field("a").is_in(members), false), (field("a").not_in(members), true)] {
                let expected = match () {
                    () if is_apart == is_negated && (is_apart || low == high) => Matches::All,
                    () if is_apart || low == high => Matches::None,
                    () => Matches::Unknown,
                };
                assert_eq!(found(&condition, Nulls::None), expected, "{condition} in {low}..={high}");
            }
        }
    }
}

#[test]
fn zeros_are_equal_and_nans_equal_nothing() {
    let within = |condition: Condition, low: f64, high: f64| {
        between(&condition, Datatype::Float64, &low.to_le_bytes(), &high.to_le_bytes(), Nulls::None)
    };
    for zero in [0.0, -0.0] {
        assert_eq!(within(field("a").eq(0.0), zero, zero), Matches::All);
        // Equal floats may differ in bytes, and sets compare bytes.
        assert_eq!(within(field("a").is_in([0.0]), zero, zero), Matches::Unknown);
        assert_eq!(within(field("a").not_in([0.0]), zero, zero), Matches::Unknown);
    }
    for zero in [0.0, -0.0] {
        assert_eq!(within(field("a").is_in([zero]), -0.0, 1.0), Matches::Unknown);
        assert_eq!(within(field("a").not_in([zero]), 0.0, 1.0), Matches::Unknown);
        assert_eq!(within(field("a").ne(zero), 0.0, 0.0), Matches::None);
        assert_eq!(within(field("a").ge(zero) & field("a").le(zero), -zero, zero), Matches::All);
    }
    for (nothing, anything) in [
        (field("a").eq(f64::NAN), field("a").ne(f64::NAN)),
        (field("a").is_in([f64::NAN]), field("a").not_in([f64::NAN])),
    ] {
        assert_eq!(within(nothing, 0.0, 1.0), Matches::None);
        assert_eq!(within(anything, 0.0, 1.0), Matches::All);
    }
    assert_eq!(within(field("a").is_nan(), 0.0, 1.0), Matches::None);
    assert_eq!(within(field("a").gt(1.0) | field("a").is_nan(), 0.0, 1.0), Matches::None);
    assert_eq!(within(field("a").is_not_nan(), 0.0, 1.0), Matches::All);
    let unknown = bind(&field("a").is_nan(), Datatype::Float64).over_bounds(|_| CellBounds::default());
    assert_eq!(unknown, Matches::Unknown);
}

/// Characters compare as signed bytes, but their bounds are those of unsigned bytes.
#[test]
fn bounds_of_signed_characters_are_ignored() {
    for operator in Operator::ALL {
        let condition = field("a").compare(operator, 0_i8);
        assert_eq!(between(&condition, Datatype::Char, &[1], &[0xff], Nulls::None), Matches::Unknown, "{condition}");
        assert_eq!(between(&condition, Datatype::Char, &[1], &[0x7f], Nulls::None), Matches::Unknown, "{condition}");
    }
}

fn two_fields(condition: &Condition) -> BoundCondition {
    condition.bind(&schema(&[("a", Datatype::Int32), ("b", Datatype::Int64)]), |_| None).unwrap()
}

#[test]
fn known_fields_leave_no_test() {
    let cells = 5_i32.to_le_bytes();
    let assuming = |condition: Condition| {
        let bound = two_fields(&condition);
        let known: Vec<_> =
            bound.fields().iter().map(|field| (&*field.name == "a").then(|| Cells::fixed(&cells, 4))).collect();
        bound.assuming(&known)
    };
    let (yes, no) = (|| field("a").eq(5), || field("a").lt(5));
    assert_eq!(assuming(yes() & yes()).constant(), Some(true));
    assert_eq!(assuming(yes() & no()).constant(), Some(false));
    assert_eq!(assuming(no() | no()).constant(), Some(false));
    assert_eq!(assuming(no() | yes()).constant(), Some(true));
    assert_eq!(assuming(field("b").eq(1) | yes()).constant(), Some(true));
    assert_eq!(assuming(field("b").eq(1) & no()).constant(), Some(false));
    assert_eq!(assuming(field("b").eq(1) & yes()).constant(), None);
    assert_eq!(assuming(field("b").eq(1) | no()).constant(), None);
}

#[test]
fn parts_have_only_their_own_fields() {
    let condition = (field("a").lt(1) | field("b").lt(2)) & field("b").gt(0) & (field("b").lt(9) | field("a").gt(7));
    let parts = two_fields(&condition).parts();
    let names = |part: &BoundCondition| part.fields().iter().map(|field| field.name.to_string()).collect::<Vec<_>>();
    let mut of_parts: Vec<_> = parts.iter().map(names).collect();
    // The cheapest part comes first.
    assert_eq!(of_parts[0], ["b"]);
    of_parts.iter_mut().for_each(|names| names.sort());
    assert_eq!(of_parts[1..], [["a", "b"], ["a", "b"]]);
    for (a, b) in (-1..10_i32).flat_map(|a| (-1..11_i64).map(move |b| (a, b))) {
        let (a_bytes, b_bytes) = (a.to_le_bytes(), b.to_le_bytes());
        let holds = |part: &BoundCondition| {
            let cells = part.fields().iter().map(|field| match &*field.name {
                "a" => Some(Cells::fixed(&a_bytes, 4)),
                _ => Some(Cells::fixed(&b_bytes, 8)),
            });
            let mut truth = [false];
            part.evaluate(&cells.collect::<Vec<_>>(), &mut truth);
            truth[0]
        };
        assert_eq!(parts.iter().all(holds), (a < 1 || b < 2) && b > 0 && (b < 9 || a > 7), "{a}, {b}");
    }
}

#[test]
fn floats_that_overflow_are_rejected() {
    let schema = schema(&[("a", Datatype::Float32)]);
    let bind = |value: f64| field("a").lt(value).bind(&schema, |_| None);
    for value in [1e300, -1e39] {
        assert!(matches!(bind(value), Err(ConditionError::NotAValue { .. })), "{value}");
    }
    assert!(bind(f64::INFINITY).is_ok() && bind(f64::from(f32::MAX)).is_ok() && bind(0.1).is_ok());
}
