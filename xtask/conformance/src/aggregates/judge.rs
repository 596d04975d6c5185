//! What to make of a result of the library's.

use super::plain::{Answer, Sum, Values};
use tdb_reference::model::AggregateFunction;

/// What to make of it.
pub enum Judgement {
    /// It is what the values come to.
    Same,
    /// It is not, for a reason that holds for all arrays.
    Known(&'static str),
    Wrong,
}

/// Judges a result of the library's over some values.
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
        return Some("gives 0, or a string without bytes, as least and greatest of no values");
    }
    if values.has_zero_bytes() && values.has(bytes) {
        return Some("believes least and greatest strings of tiles that were compared up to a zero byte");
    }
    (values.has_nan() && (values.kind.is_nan(bytes) || values.has(bytes)))
        .then_some("compares NaNs with other values, and gives one or the other by where they stand")
}

fn of_means(values: &Values, theirs: &Answer) -> Option<&'static str> {
    let is_nan = matches!(theirs, Answer::Float(mean) if mean.is_nan());
    if values.count() == 0 && is_nan && !values.kind.nullable {
        return Some("gives NaN as mean of no values");
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
        (true, _, true) => Some("takes infinities for sums that don't fit"),
        (true, _, false) => Some("adds up sums of tiles with infinities as those that don't fit"),
        (false, true, true) => Some("stops sums at the first overflow on the way"),
        (false, true, false) => Some("adds up sums of tiles that stopped at an overflow"),
        (false, false, _) => None,
    }
}
