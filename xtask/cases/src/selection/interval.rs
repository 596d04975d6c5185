//! Intervals of coordinates along a dimension.

use std::ops::{Bound, RangeBounds};

use tdb_types::{Datatype, PhysicalType, Scalar};

use crate::scalars::{integer_bytes, integer_of, order_of, type_limits};
use tdb_reference::model::Bytes;

/// A byte string after all coordinates of cells, which are shorter and have no greater bytes.
const LAST: [u8; 41] = [b'~'; 41];

/// The coordinates between two bounds, or strings with a prefix.
#[derive(Clone, Debug, PartialEq)]
pub enum Interval {
    Ends(Bound<Bytes>, Bound<Bytes>),
    Prefix(Bytes),
}

impl Interval {
    /// Returns the interval of a closed range.
    pub fn closed((low, high): &(Bytes, Bytes)) -> Self {
        Self::Ends(Bound::Included(low.clone()), Bound::Included(high.clone()))
    }

    /// `true` if the interval contains a coordinate.
    pub fn holds(&self, datatype: Datatype, value: &[u8]) -> bool {
        let order = |bytes: &Bytes| order_of(datatype, bytes);
        match self {
            Self::Prefix(prefix) => value.starts_with(prefix),
            Self::Ends(start, end) => {
                (start.as_ref().map(order), end.as_ref().map(order)).contains(&order_of(datatype, value))
            }
        }
    }

    /// Returns the closed range with the same cells. `limits` replaces open ends. Returns `None` if
    /// the interval is empty.
    pub fn as_range(&self, datatype: Datatype, limits: &(Bytes, Bytes)) -> Option<(Bytes, Bytes)> {
        let (start, end) = match self {
            Self::Ends(start, end) => (start, end),
            Self::Prefix(prefix) => return Some((prefix.clone(), Bytes(behind(prefix)))),
        };
        let low = match start {
            Bound::Included(low) => low.clone(),
            Bound::Excluded(low) => next(datatype, low)?,
            Bound::Unbounded => limits.0.clone(),
        };
        let high = match end {
            Bound::Included(high) => high.clone(),
            Bound::Excluded(high) => previous(datatype, high)?,
            Bound::Unbounded => limits.1.clone(),
        };
        (order_of(datatype, &low) <= order_of(datatype, &high)).then_some((low, high))
    }
}

/// Returns the maximum string of the maximum length with a prefix.
fn behind(prefix: &[u8]) -> Vec<u8> {
    [prefix, LAST.get(prefix.len()..).unwrap_or_default()].concat()
}

/// Returns the next coordinate.
fn next(datatype: Datatype, value: &Bytes) -> Option<Bytes> {
    let physical = datatype.physical();
    match Scalar::from_le_bytes(physical, value) {
        _ if datatype == Datatype::StringAscii => Some(Bytes([value, &[0][..]].concat())),
        Some(Scalar::F32(value)) => Some(Bytes(value.next_up().to_le_bytes().to_vec())),
        Some(Scalar::F64(value)) => Some(Bytes(value.next_up().to_le_bytes().to_vec())),
        _ => moved(physical, value, 1),
    }
}

/// Returns the previous coordinate. For strings, returns the previous string that a cell may have.
fn previous(datatype: Datatype, value: &Bytes) -> Option<Bytes> {
    let physical = datatype.physical();
    match Scalar::from_le_bytes(physical, value) {
        _ if datatype == Datatype::StringAscii => {
            let (last, start) = value.split_last()?;
            match last.checked_sub(1) {
                // No string is between a string and the same string with another zero byte.
                None => Some(Bytes(start.to_vec())),
                Some(last) => Some(Bytes(behind(&[start, &[last]].concat()))),
            }
        }
        Some(Scalar::F32(value)) => Some(Bytes(value.next_down().to_le_bytes().to_vec())),
        Some(Scalar::F64(value)) => Some(Bytes(value.next_down().to_le_bytes().to_vec())),
        _ => moved(physical, value, -1),
    }
}

fn moved(physical: PhysicalType, value: &Bytes, by: i128) -> Option<Bytes> {
    let (least, greatest) = type_limits(physical);
    let value = integer_of(physical, value) + by;
    (least..=greatest).contains(&value).then(|| integer_bytes(physical, value))
}

#[cfg(test)]
mod tests {
    use std::ops::Bound::{Excluded, Included, Unbounded};

    use super::{Bytes, Datatype, Interval};

    fn text(text: &str) -> Bytes {
        Bytes(text.as_bytes().to_vec())
    }

    #[test]
    fn ranges_contain_the_same_strings() {
        let strings = ["", "a", "a~", "ab", "b", "b\0", "ba", "c", "~", "~~~~"].map(text);
        let limits = (text(""), Bytes(super::LAST.to_vec()));
        let mut ends = vec![Unbounded];
        ends.extend(strings.iter().flat_map(|string| [Included(string.clone()), Excluded(string.clone())]));
        let pairs = ends.iter().flat_map(|low| ends.iter().map(|high| Interval::Ends(low.clone(), high.clone())));
        let prefixes = strings.iter().cloned().map(Interval::Prefix);
        for interval in pairs.chain(prefixes) {
            let range = interval.as_range(Datatype::StringAscii, &limits).map(|range| Interval::closed(&range));
            for string in &strings {
                let holds = range.as_ref().is_some_and(|range| range.holds(Datatype::StringAscii, string));
                assert_eq!(
                    interval.holds(Datatype::StringAscii, string),
                    holds,
                    "{string:?} in {interval:?}, {range:?}"
                );
            }
        }
    }

    #[test]
    fn both_zeros_are_excluded_together() {
        let zero = |sign: f64| Bytes((0.0 * sign).to_le_bytes().to_vec());
        let limits = (Bytes((-1f64).to_le_bytes().to_vec()), Bytes(1f64.to_le_bytes().to_vec()));
        for sign in [1.0, -1.0] {
            for interval in
                [Interval::Ends(Excluded(zero(sign)), Unbounded), Interval::Ends(Unbounded, Excluded(zero(sign)))]
            {
                let range = interval.as_range(Datatype::Float64, &limits).map(|range| Interval::closed(&range));
                for other in [zero(1.0), zero(-1.0)] {
                    assert!(!interval.holds(Datatype::Float64, &other));
                    assert!(range.as_ref().is_some_and(|range| !range.holds(Datatype::Float64, &other)));
                }
            }
        }
    }
}
