//! Judges aggregates of the reference library.

use tdb_reference::model::AggregateFunction;

use super::plain::{Answer, Sum, Values};

/// The judgement of an aggregate.
pub enum Judgement {
    /// The aggregate matches the values.
    Same,
    /// The aggregate is wrong for a known reason that applies to all arrays.
    Known(&'static str),
    Wrong,
}

/// Judges an aggregate that the library computed over some values.
pub fn judge(values: &Values, function: AggregateFunction, theirs: &Answer) -> Judgement {
    if values.are_same(function, &values.answer(function), theirs) {
        return Judgement::Same;
    }
    let known = match function {
        AggregateFunction::Count | AggregateFunction::NullCount => None,
        AggregateFunction::Min | AggregateFunction::Max => of_bounds(values, theirs),
        AggregateFunction::Sum => of_sums(values, theirs, &values.most()),
        AggregateFunction::Mean => of_means(values, theirs),
    };
    known.map_or(Judgement::Wrong, Judgement::Known)
}

fn of_bounds(values: &Values, theirs: &Answer) -> Option<&'static str> {
    let Answer::Value(bytes) = theirs else { return None };
    let nothing = values.count() == 0 && bytes.iter().all(|byte| *byte == 0);
    if nothing && !values.kind.nullable {
        return Some("returns 0 or an empty string as minimum and maximum of no values");
    }
    if values.has_zero_bytes() && values.has(bytes) {
        return Some("uses minimum and maximum strings of tiles that were compared up to a zero byte");
    }
    (values.has_nan() && (values.kind.is_nan(bytes) || values.has(bytes)))
        .then_some("compares NaNs with other values, with a result that depends on their positions")
}

fn of_means(values: &Values, theirs: &Answer) -> Option<&'static str> {
    let is_nan = matches!(theirs, Answer::Float(mean) if mean.is_nan());
    if values.count() == 0 && is_nan && !values.kind.nullable {
        return Some("returns NaN as mean of no values");
    }
    of_sums(values, theirs, &Answer::Float(f64::MAX))
}

fn of_sums(values: &Values, theirs: &Answer, most: &Answer) -> Option<&'static str> {
    let (special, passes) = match values.sum() {
        Sum::Integer { passes, .. } => (false, passes),
        Sum::Float { special, passes, .. } => (special, passes),
    };
    let is_stopped = theirs == most || *theirs == Answer::Null && values.kind.nullable;
    match (special, passes, is_stopped) {
        (true, _, true) => Some("treats infinities as sums that overflow"),
        (true, _, false) => Some("adds up sums of tiles with infinities, treated as overflows"),
        (false, true, true) => Some("stops sums at the first intermediate overflow"),
        (false, true, false) => Some("adds up sums of tiles that stopped at an overflow"),
        (false, false, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain::{Answer, Values};
    use super::{Judgement, judge};
    use tdb_cases::values::Kind;
    use tdb_reference::model::AggregateFunction::{self, Max, Mean, Min, NullCount, Sum};
    use tdb_reference::model::{Bytes, Column, bytes_of};
    use tdb_types::Datatype;

    fn values(datatype: Datatype, values: Bytes, validity: Option<&[u8]>) -> Values {
        let cells = values.len() / datatype.size();
        let kind = Kind { datatype, cell_val_num: Some(1), nullable: validity.is_some(), enumerated: false };
        let validity = validity.map(|validity| Bytes(validity.to_vec()));
        let column = Column { values, validity, ..Column::default() };
        Values::new(kind, &column, &vec![1; cells])
    }

    fn integers(numbers: &[i64]) -> Values {
        values(Datatype::Int64, bytes_of(numbers.iter().copied()), None)
    }

    fn floats(numbers: &[f64]) -> Values {
        values(Datatype::Float64, bytes_of(numbers.iter().copied()), None)
    }

    fn verdict(values: &Values, function: AggregateFunction, theirs: Answer) -> &'static str {
        match judge(values, function, &theirs) {
            Judgement::Same => "same",
            Judgement::Known(_) => "known",
            Judgement::Wrong => "wrong",
        }
    }

    #[test]
    fn sums_may_saturate_only_if_some_order_overflows() {
        let small = integers(&[5, -6, 8]);
        assert_eq!(verdict(&small, Sum, Answer::Integer(7)), "same");
        assert_eq!(verdict(&small, Sum, Answer::Integer(8)), "wrong");
        assert_eq!(verdict(&small, Sum, Answer::Integer(i64::MAX.into())), "wrong");
        let passing = integers(&[i64::MAX, 5, -6]);
        assert_eq!(verdict(&passing, Sum, Answer::Integer(i128::from(i64::MAX) - 1)), "same");
        assert_eq!(verdict(&passing, Sum, Answer::Integer(i64::MAX.into())), "known");
        assert_eq!(verdict(&passing, Mean, Answer::Float(f64::MAX)), "known");
        let too_large = integers(&[i64::MAX, 1]);
        assert_eq!(verdict(&too_large, Sum, Answer::Integer(i64::MAX.into())), "same");
    }

    #[test]
    fn floats_are_equal_up_to_rounding() {
        let numbers = floats(&[0.1, 0.2, 0.3]);
        assert_eq!(verdict(&numbers, Sum, Answer::Float(0.6)), "same");
        assert_eq!(verdict(&numbers, Sum, Answer::Float(0.6 + 1e-9)), "wrong");
        assert_eq!(verdict(&numbers, Sum, Answer::Float(f64::MAX)), "wrong");
        let infinite = floats(&[1.0, f64::INFINITY]);
        assert_eq!(verdict(&infinite, Sum, Answer::Float(f64::INFINITY)), "same");
        assert_eq!(verdict(&infinite, Sum, Answer::Float(f64::MAX)), "known");
    }

    #[test]
    fn nans_excuse_only_existing_values() {
        let value = |number: f64| Answer::Value(number.to_le_bytes().to_vec());
        let numbers = floats(&[3.0, f64::NAN, 1.0]);
        assert_eq!(verdict(&numbers, Min, value(1.0)), "same");
        assert_eq!(verdict(&numbers, Min, value(3.0)), "known");
        assert_eq!(verdict(&numbers, Min, value(f64::NAN)), "known");
        assert_eq!(verdict(&numbers, Max, value(4.0)), "wrong");
        assert_eq!(verdict(&floats(&[3.0, 1.0]), Min, value(3.0)), "wrong");
        assert_eq!(verdict(&floats(&[-0.0]), Min, value(0.0)), "same");
    }

    #[test]
    fn aggregates_of_no_values() {
        let nothing = integers(&[]);
        assert_eq!(verdict(&nothing, Sum, Answer::Integer(0)), "same");
        assert_eq!(verdict(&nothing, Min, Answer::Value(vec![0; 8])), "known");
        assert_eq!(verdict(&nothing, Min, Answer::Value(vec![1; 8])), "wrong");
        assert_eq!(verdict(&nothing, Mean, Answer::Float(f64::NAN)), "known");
        let nulls = values(Datatype::UInt8, Bytes(vec![7, 9]), Some(&[0, 0]));
        assert_eq!(verdict(&nulls, NullCount, Answer::Count(2)), "same");
        assert_eq!(verdict(&nulls, Sum, Answer::Null), "same");
        assert_eq!(verdict(&nulls, Max, Answer::Value(vec![9])), "wrong");
    }
}
