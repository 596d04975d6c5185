//! Minimum and maximum.

use crate::kind::ValueKind;
use crate::number::{is_less, is_nan};

/// The minimum and maximum of values, in little-endian bytes. Both are NaN if all values are NaN.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bounds(Option<(Vec<u8>, Vec<u8>)>);

impl Bounds {
    pub(crate) fn get(&self) -> Option<(&[u8], &[u8])> {
        self.0.as_ref().map(|(min, max)| (&min[..], &max[..]))
    }

    /// Adds values between `min` and `max`, which must be among the values.
    pub(crate) fn add(&mut self, kind: ValueKind, min: &[u8], max: &[u8]) {
        let Some((low, high)) = &mut self.0 else {
            self.0 = Some((min.to_vec(), max.to_vec()));
            return;
        };
        if comes_before(kind, min, low) {
            replace(low, min);
        }
        if comes_after(kind, max, high) {
            replace(high, max);
        }
    }

    /// Returns the memory use in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.0.as_ref().map_or(0, |(min, max)| min.capacity() + max.capacity())
    }
}

fn replace(old: &mut Vec<u8>, new: &[u8]) {
    old.clear();
    old.extend_from_slice(new);
}

/// Returns `true` if the value replaces the minimum.
pub(crate) fn comes_before(kind: ValueKind, value: &[u8], least: &[u8]) -> bool {
    match kind {
        ValueKind::Bytes => value < least,
        _ => kind.number().is_some_and(|physical| {
            is_less(physical, value, least) || is_nan(physical, least) && !is_nan(physical, value)
        }),
    }
}

/// Returns `true` if the value replaces the maximum.
pub(crate) fn comes_after(kind: ValueKind, value: &[u8], greatest: &[u8]) -> bool {
    match kind {
        ValueKind::Bytes => value > greatest,
        _ => kind.number().is_some_and(|physical| {
            is_less(physical, greatest, value) || is_nan(physical, greatest) && !is_nan(physical, value)
        }),
    }
}
