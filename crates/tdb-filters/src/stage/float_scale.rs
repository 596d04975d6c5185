//! Float scale: floats stored as integers, in units of `scale` from `offset`. The filter loses
//! precision.
//!
//! Values are read as `f32` if the incoming datatype has 4 bytes, and as `f64` if it has 8,
//! regardless of the datatype.

use tdb_types::{ByteReader, Datatype};

use crate::FilterError;
use crate::flow::{Metadata, Sink, split_mut};
use crate::stage::parts::{self, Parts};

const FILTER: &str = "float_scale";

#[derive(Clone, Copy, Debug)]
pub(crate) struct FloatScale {
    scale: f64,
    offset: f64,
    width: Width,
    float: Float,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Float {
    F32,
    F64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    One,
    Two,
    Four,
    Eight,
}

impl FloatScale {
    pub(crate) fn new(datatype: Datatype, scale: f64, offset: f64, byte_width: u64) -> Result<Self, FilterError> {
        let invalid = |option, found: f64, expected| {
            let found = found.to_string();
            Err(FilterError::InvalidOption { filter: FILTER, option, found, expected })
        };
        if !scale.is_normal() {
            return invalid("scale", scale, "a normal number other than 0");
        }
        if !offset.is_finite() {
            return invalid("offset", offset, "a finite number");
        }
        let width = match byte_width {
            1 => Width::One,
            2 => Width::Two,
            4 => Width::Four,
            8 => Width::Eight,
            other => {
                let (option, found) = ("byte width", other.to_string());
                return Err(FilterError::InvalidOption { filter: FILTER, option, found, expected: "1, 2, 4 or 8" });
            }
        };
        let float = match datatype.size() {
            4 => Float::F32,
            8 => Float::F64,
            _ => {
                let hint = "use it on values of 4 or 8 bytes";
                return Err(FilterError::UnsupportedDatatype { filter: FILTER, datatype, hint });
            }
        };
        Ok(Self { scale, offset, width, float })
    }

    pub(crate) fn decode(self, meta: &mut ByteReader<'_>, data: &[u8], sink: &mut Sink<'_>) -> Result<(), FilterError> {
        let (width, size) = (self.width.bytes(), self.float.bytes());
        let partial =
            FilterError::Corrupt { filter: FILTER, what: "the length of a part is not a multiple of the integer size" };
        let mut parts = Parts::read(meta, data, FILTER)?;
        let mut out = sink.take((data.len() / width * size) as u64)?;
        while let Some(part) = parts.next()? {
            if !part.len().is_multiple_of(width) {
                return Err(partial);
            }
            self.decode_part(part, split_mut(&mut out, FILTER, (part.len() / width * size) as u64)?);
        }
        Ok(())
    }

    fn decode_part(self, part: &[u8], out: &mut [u8]) {
        match self.width {
            Width::One => self.restore(part.as_chunks().0, out, i8::from_le_bytes),
            Width::Two => self.restore(part.as_chunks().0, out, i16::from_le_bytes),
            Width::Four => self.restore(part.as_chunks().0, out, i32::from_le_bytes),
            Width::Eight => self.restore(part.as_chunks().0, out, i64::from_le_bytes),
        }
    }

    /// Converts each integer to the result's type first. The remaining arithmetic uses `f64`.
    fn restore<const N: usize, I: Integer>(self, integers: &[[u8; N]], out: &mut [u8], load: impl Fn([u8; N]) -> I) {
        let Self { scale, offset, .. } = self;
        match self.float {
            Float::F32 => {
                for (to, from) in out.as_chunks_mut().0.iter_mut().zip(integers) {
                    let value = scale * f64::from(load(*from).to_f32()) + offset;
                    let value = value as f32;
                    *to = value.to_le_bytes();
                }
            }
            Float::F64 => {
                for (to, from) in out.as_chunks_mut().0.iter_mut().zip(integers) {
                    *to = (scale * load(*from).to_f64() + offset).to_le_bytes();
                }
            }
        }
    }

    pub(crate) fn encode(
        self,
        meta: &mut Metadata<'_>,
        data: Option<&[u8]>,
        out: &mut Vec<u8>,
        lost: &mut Option<FilterError>,
    ) -> Result<(), FilterError> {
        let Some(part) = data else { return parts::write(meta, &[]) };
        let size = self.float.bytes();
        if !part.len().is_multiple_of(size) {
            // The reference library loses the remaining bytes and cannot read the chunk.
            return Err(FilterError::PartialValue { filter: FILTER, len: part.len() as u64, unit: size as u64 });
        }
        let start = out.len();
        out.resize(start + part.len() / size * self.width.bytes(), 0);
        let to = &mut out[start..];
        let fits = match self.width {
            Width::One => self.reduce(part, to.as_chunks_mut().0, |value| i8::to_le_bytes(low_bits(value) as i8)),
            Width::Two => self.reduce(part, to.as_chunks_mut().0, |value| i16::to_le_bytes(low_bits(value) as i16)),
            Width::Four => self.reduce(part, to.as_chunks_mut().0, |value| low_bits(value).to_le_bytes()),
            Width::Eight => self.reduce(part, to.as_chunks_mut().0, |value| nearest(value).to_le_bytes()),
        };
        if !fits && lost.is_none() {
            *lost = self.check(part).err();
        }
        parts::write(meta, &[out.len() - start])
    }

    /// Writes the integers. Returns `true` if all values are in range.
    fn reduce<const N: usize>(self, part: &[u8], out: &mut [[u8; N]], store: impl Fn(f64) -> [u8; N]) -> bool {
        let (least, most) = self.width.bounds();
        let fits = |scaled: f64| (scaled >= least) & (scaled <= most);
        let mut all_fit = true;
        match self.float {
            Float::F32 => {
                // All arithmetic uses `f32`, like the values.
                let (scale, offset) = (self.scale as f32, self.offset as f32);
                for (to, from) in out.iter_mut().zip(part.as_chunks().0) {
                    let scaled = f64::from((f32::from_le_bytes(*from) - offset) / scale);
                    all_fit &= fits(scaled);
                    *to = store(scaled);
                }
            }
            Float::F64 => {
                let Self { scale, offset, .. } = self;
                for (to, from) in out.iter_mut().zip(part.as_chunks().0) {
                    let scaled = (f64::from_le_bytes(*from) - offset) / scale;
                    all_fit &= fits(scaled);
                    *to = store(scaled);
                }
            }
        }
        all_fit
    }

    /// Checks that each value fits in an integer, apart from rounding.
    pub(crate) fn check(self, values: &[u8]) -> Result<(), FilterError> {
        let (least, most) = self.width.bounds();
        let lost = |scaled: f64| !(least..=most).contains(&scaled);
        // The same arithmetic as in `reduce`.
        let found = match self.float {
            Float::F32 => {
                let mut values = values.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
                let (scale, offset) = (self.scale as f32, self.offset as f32);
                let place = values.clone().position(|value| lost(f64::from((value - offset) / scale)));
                place.zip(place.and_then(|place| values.nth(place)).map(|value| format!("{value:?}")))
            }
            Float::F64 => {
                let mut values = values.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
                let place = values.clone().position(|value| lost((value - self.offset) / self.scale));
                place.zip(place.and_then(|place| values.nth(place)).map(|value| format!("{value:?}")))
            }
        };
        match found {
            Some((index, value)) => {
                let (index, value, expected) = (index as u64, value.into(), self.expected().into());
                Err(FilterError::OutOfRange { filter: FILTER, index, value, expected })
            }
            None => Ok(()),
        }
    }

    /// Formats the range of values.
    fn expected(self) -> String {
        let Self { scale, offset, .. } = self;
        let (least, most) = self.width.bounds();
        let ends = [least, most].map(|end| scale * end.round_ties_even() + offset);
        let width = self.width.bytes();
        let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        format!("{low:?} to {high:?} (scale {scale}, offset {offset}, byte width {width})")
    }
}

impl Float {
    fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

impl Width {
    /// Returns the minimum and maximum float that round to an integer of this width.
    fn bounds(self) -> (f64, f64) {
        let within = |least: f64, most: f64| ((least - 0.5).next_up(), (most + 0.5).next_down());
        match self {
            Self::One => within(i8::MIN.into(), i8::MAX.into()),
            Self::Two => within(i16::MIN.into(), i16::MAX.into()),
            Self::Four => within(i32::MIN.into(), i32::MAX.into()),
            // Floats of this magnitude are whole numbers.
            Self::Eight => (i64::MIN as f64, (i64::MAX as f64).next_down()),
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
            Self::Eight => 8,
        }
    }
}

trait Integer {
    fn to_f32(self) -> f32;
    fn to_f64(self) -> f64;
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        #[allow(clippy::cast_lossless)] // the format requires rounding
        impl Integer for $type {
            #[inline(always)]
            fn to_f32(self) -> f32 {
                self as f32
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    )*};
}

integers!(i8 i16 i32 i64);

/// Rounds to the nearest integer, halves away from zero. Returns `i64::MIN` if the result
/// overflows.
///
/// Avoids `f64::round`, which is a function call per value.
#[inline(always)]
fn nearest(value: f64) -> i64 {
    let truncated = value as i64;
    let rest = value - truncated as f64;
    let rounded = truncated.wrapping_add(i64::from(rest >= 0.5)).wrapping_sub(i64::from(rest <= -0.5));
    // `i64::MAX` is not representable as a float. This bound is the next larger float.
    const BOUND: f64 = 9_223_372_036_854_775_808.0;
    if (-BOUND..BOUND).contains(&value) { rounded } else { i64::MIN }
}

/// Rounds to the nearest integer, halves away from zero. Returns `i32::MIN` on overflow, like x86
/// and therefore the reference library. Narrower integers use the low bits.
///
/// The function avoids float-to-integer conversions, which old processors lack for vectors of
/// `f64`. In the range where the last bit of a float has the value 1, addition rounds, and the low
/// bits contain the integer.
#[inline(always)]
fn low_bits(value: f64) -> i32 {
    // The added half keeps negative numbers in the same range of floats.
    const LAST_BIT_IS_ONE: f64 = 6_755_399_441_055_744.0; // 2^52 + 2^51
    let even = (value + LAST_BIT_IS_ONE) - LAST_BIT_IS_ONE;
    // The addition rounded halves to even.
    let rest = value - even;
    let up = if (rest == 0.5) & (value > 0.0) { 1.0 } else { 0.0 };
    let down = if (rest == -0.5) & (value < 0.0) { 1.0 } else { 0.0 };
    let rounded = even + up - down;
    let fits = (rounded >= f64::from(i32::MIN)) & (rounded <= f64::from(i32::MAX));
    let bits = (rounded + LAST_BIT_IS_ONE).to_bits() as i32;
    if fits { bits } else { i32::MIN }
}

#[cfg(test)]
mod tests;
