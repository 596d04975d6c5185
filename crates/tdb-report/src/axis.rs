//! Mapping of coordinates to positions in a picture.

use std::ops::Bound;

use tdb_rtree::DimRange;
use tdb_schema::Dimension;
use tdb_types::{Datatype, Scalar, datetime};

/// One dimension as an axis of a picture, with positions from 0 to 1.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) name: String,
    datatype: Datatype,
    scale: Scale,
    pub(crate) low: String,
    pub(crate) high: String,
}

#[derive(Clone, Debug)]
enum Scale {
    /// Numbers, from the minimum to one unit after the maximum.
    Linear { low: f64, high: f64, unit: f64 },
    /// Strings, by their rank among the known strings.
    Ranked(Vec<Vec<u8>>),
}

impl Axis {
    /// Creates an axis that spans all ranges.
    pub(crate) fn of<'a>(dimension: &Dimension, ranges: impl Iterator<Item = &'a DimRange>) -> Self {
        let datatype = dimension.datatype();
        let (mut keys, mut strings) = (None::<(u64, u64)>, Vec::new());
        for range in ranges {
            match range {
                DimRange::Fixed { lo, hi } => {
                    let (low, high) = keys.unwrap_or((*lo, *hi));
                    keys = Some((low.min(*lo), high.max(*hi)));
                }
                DimRange::Var { lo, hi } => {
                    strings.push(lo.clone());
                    strings.push(end(lo, hi).to_vec());
                }
            }
        }
        let name = dimension.name().to_owned();
        if dimension.is_var() {
            strings.sort();
            strings.dedup();
            let show =
                |text: Option<&Vec<u8>>| text.map_or(String::new(), |text| String::from_utf8_lossy(text).into_owned());
            let (low, high) = (show(strings.first()), show(strings.last()));
            return Self { name, datatype, scale: Scale::Ranked(strings), low, high };
        }
        let (low, high) = keys.or(dimension.domain_keys()).unwrap_or((0, 0));
        let unit = if dimension.extent_cells().is_some() || !datatype.is_float() { 1.0 } else { 0.0 };
        let scale = Scale::Linear { low: number(datatype, low), high: number(datatype, high) + unit, unit };
        Self { name, datatype, scale, low: shown(datatype, low), high: shown(datatype, high) }
    }

    /// Returns the start and end position of a range.
    pub(crate) fn span(&self, range: &DimRange) -> (f64, f64) {
        match (&self.scale, range) {
            (Scale::Linear { low, high, unit }, DimRange::Fixed { lo, hi }) => {
                let at = |value: f64| if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 };
                (at(number(self.datatype, *lo)), at(number(self.datatype, *hi) + unit))
            }
            (Scale::Ranked(known), DimRange::Var { lo, hi }) => {
                let count = ratio(known.len().max(1), 1);
                let at = |text: &[u8]| known.partition_point(|other| other.as_slice() < text);
                (ratio(at(lo), 1) / count, (ratio(at(end(lo, hi)) + 1, 1) / count).min(1.0))
            }
            _ => (0.0, 1.0),
        }
    }

    /// Returns the position of a coordinate.
    pub(crate) fn place(&self, bytes: &[u8]) -> f64 {
        match &self.scale {
            Scale::Linear { .. } => match Scalar::from_le_bytes(self.datatype.physical(), bytes) {
                Some(scalar) => {
                    let key = scalar.key();
                    self.span(&DimRange::Fixed { lo: key, hi: key }).0
                }
                None => 0.0,
            },
            Scale::Ranked(_) => self.span(&DimRange::strings(bytes, bytes)).0,
        }
    }
}

fn end<'a>(lo: &'a [u8], hi: &'a Bound<Vec<u8>>) -> &'a [u8] {
    match hi {
        Bound::Included(hi) | Bound::Excluded(hi) => hi,
        Bound::Unbounded => lo,
    }
}

/// Returns a ratio of two counts.
#[allow(clippy::cast_precision_loss)] // for pictures
pub(crate) fn ratio(part: usize, of: usize) -> f64 {
    if of == 0 { 0.0 } else { part as f64 / of as f64 }
}

fn number(datatype: Datatype, key: u64) -> f64 {
    Scalar::from_key(datatype.physical(), key).to_f64()
}

/// Formats a coordinate, dates in ISO form.
pub(crate) fn shown(datatype: Datatype, key: u64) -> String {
    let scalar = Scalar::from_key(datatype.physical(), key);
    let date = match scalar {
        Scalar::I64(value) => datetime::display(datatype, value),
        _ => None,
    };
    date.unwrap_or_else(|| scalar.to_string())
}

/// Returns the index of the bin that contains a position from 0 to 1.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // the cast saturates, and `min` bounds it
pub(crate) fn bin(place: f64, bins: usize) -> usize {
    ((place * ratio(bins, 1)) as usize).min(bins - 1)
}

/// Formats a number with about six significant digits.
pub(crate) fn short(value: f64) -> String {
    let exact = value.to_string();
    let size = value.abs();
    if exact.len() <= 9 || !value.is_finite() {
        return exact;
    }
    if !(1e-4..1e9).contains(&size) {
        return format!("{value:.4e}");
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // the range is -4 to 9
    let digits = (5.0 - size.log10().floor()).clamp(0.0, 9.0) as usize;
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_are_short() {
        let shown = [0.1, -4.776_301_979, 1e300, 123_456_789.123, 0.000_123_456_789, 12345.0].map(short);
        assert_eq!(shown, ["0.1", "-4.7763", "1.0000e300", "123456789", "0.000123457", "12345"]);
    }
}
