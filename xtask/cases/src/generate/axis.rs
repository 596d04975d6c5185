//! Random dimensions, with a pool of coordinates that the cells of an array share.

use tdb_types::Datatype;

use super::super::random::Random;
use super::filters::{self, Purpose};
use super::text;
use crate::scalars::{float_bytes, float_of, integer_bytes, integer_of, order_of, type_limits};
use tdb_reference::model::{Bytes, DimensionSpec};

/// A dimension with a pool of coordinates.
#[derive(Clone, Debug)]
pub struct Axis {
    pub spec: DimensionSpec,
    /// For integers: the bounds of the current domain, or else of the domain.
    pub low: i128,
    pub high: i128,
    pub extent: i128,
    /// The maximum coordinate that is written, for dense arrays.
    pub written: i128,
    /// Coordinates of cells and ends of ranges. They are inside of the current domain, sorted and
    /// distinct.
    pub pool: Vec<Bytes>,
}

/// Generates a dimension of a dense array with at most `most` coordinates.
pub fn dense(random: &mut Random, name: String, datatype: Datatype, most: usize) -> Axis {
    let physical = datatype.physical();
    let (least, greatest) = type_limits(physical);
    let room = usize::try_from(greatest - 1).unwrap_or(usize::MAX).min(most);
    let size = random.between(1, room) as i128;
    let extent = match random.below(6) {
        0 => size,
        1 => 1,
        _ => random.integer(1, size),
    };
    if random.percent(25) {
        return dense_to_the_end(random, name, datatype, most, (size, extent));
    }
    let tiles = (size + extent - 1) / extent;
    // The last tile must end before the maximum of the type, even if the domain ends earlier.
    let most = greatest - least;
    let (size, tiles) = if tiles * extent > most { (most / extent * extent, most / extent) } else { (size, tiles) };
    let highest_start = greatest - tiles * extent;
    let low = match random.below(6) {
        0 => least,
        1 => highest_start.max(least),
        2 | 3 => 0,
        4 => 1,
        _ => random.integer((-1000).max(least), 1000.min(highest_start).max(least)),
    };
    let low = low.clamp(least, highest_start.max(least));
    integer_axis(random, name, datatype, (low, low + size - 1, extent), false)
}

/// Generates a dimension whose domain ends at the maximum of the datatype. The last tile ends at
/// this maximum or beyond.
fn dense_to_the_end(
    random: &mut Random,
    name: String,
    datatype: Datatype,
    most: usize,
    (size, extent): (i128, i128),
) -> Axis {
    let physical = datatype.physical();
    let (least, greatest) = type_limits(physical);
    let (size, extent) = match physical.size() {
        // The library refuses tiles that end beyond the maximum of 64-bit types.
        8 => (size / extent * extent, extent),
        // All coordinates of the type but one.
        1 if most > 255 && random.percent(30) => (255, random.integer(1, greatest)),
        _ => (size, extent),
    };
    let low = if size == 255 { least + 1 } else { greatest + 1 - size };
    let mut axis = integer_axis(random, name, datatype, (low, greatest, extent), false);
    // If the last tile contains no cells, the library can write the array.
    if random.percent(50) && axis.last_tile() > low {
        axis.written = axis.last_tile() - 1;
    }
    axis
}

fn integer_axis(
    random: &mut Random,
    name: String,
    datatype: Datatype,
    (low, high, extent): (i128, i128, i128),
    ascending: bool,
) -> Axis {
    let physical = datatype.physical();
    let purpose = Purpose::Values { datatype, var: false, ascending, constant: false };
    // Dense arrays store no coordinates, but their schemas store the filters.
    let filters = if random.percent(60) { filters::pipeline(random, purpose) } else { Default::default() };
    let bytes = |value| integer_bytes(physical, value);
    let spec =
        DimensionSpec { name, datatype, domain: Some((bytes(low), bytes(high))), extent: Some(bytes(extent)), filters };
    Axis { spec, low, high, extent, written: high, pool: Vec::new() }
}

/// Generates a dimension of a sparse array. `alone` is `true` for the only dimension, whose
/// coordinates ascend in the files.
pub fn sparse(random: &mut Random, name: String, datatype: Datatype, alone: bool) -> Axis {
    if datatype == Datatype::StringAscii {
        let purpose = Purpose::Values { datatype, var: true, ascending: false, constant: false };
        let filters = if random.percent(60) { filters::pipeline(random, purpose) } else { Default::default() };
        let filters = if filters::needs_bytes(&filters) { Default::default() } else { filters };
        let spec = DimensionSpec { name, datatype, domain: None, extent: None, filters };
        return Axis { spec, low: 0, high: 0, extent: 1, written: 0, pool: Vec::new() };
    }
    if datatype.is_float() {
        return float_axis(random, name, datatype);
    }
    let (least, greatest) = type_limits(datatype.physical());
    let most = greatest - least - 1;
    let size = match random.below(5) {
        0 => random.integer(1, 20.min(most)),
        1 | 2 => random.integer(1, 1000.min(most)),
        3 => random.integer(1, most),
        _ => most,
    };
    let extent_limit = size.min(greatest);
    let extent = match random.below(5) {
        0 => extent_limit,
        1 => 1,
        2 => random.integer(1, extent_limit),
        _ => random.integer(1, 30.min(extent_limit)),
    };
    if random.percent(20) {
        // The domain ends at the maximum of the datatype. The last tile may end beyond it, but not
        // beyond 64 bits.
        let size = if datatype.size() == 8 { size / extent * extent } else { size };
        return integer_axis(random, name, datatype, (greatest + 1 - size, greatest, extent), alone);
    }
    let tiles = (size + extent - 1) / extent;
    // The last tile must end before the maximum of the type.
    let (size, tiles) = if tiles * extent > most { (most / extent * extent, most / extent) } else { (size, tiles) };
    let highest_start = greatest - tiles * extent;
    let low = match random.below(5) {
        0 => least,
        1 => highest_start,
        2 => 0,
        3 => -(size / 2),
        _ => random.integer(least, highest_start),
    };
    let low = low.clamp(least, highest_start);
    integer_axis(random, name, datatype, (low, low + size - 1, extent), alone)
}

fn float_axis(random: &mut Random, name: String, datatype: Datatype) -> Axis {
    let (low, high) =
        *random.pick(&[(-10.5, 97.25), (0.0, 1.0), (-1e6, 1e6), (-0.0, 100.0), (-3.0, -0.0), (-1e30, 1e30)]);
    let extent = (high - low) * *random.pick(&[1.0, 0.5, 0.3, 0.013, 0.0001]);
    let purpose = Purpose::Values { datatype, var: false, ascending: false, constant: false };
    let filters = if random.percent(60) { filters::pipeline(random, purpose) } else { Default::default() };
    // Scaling may move coordinates out of the domain or change their order.
    let filters = if filters::scale_of(&filters).is_some() { Default::default() } else { filters };
    let (domain, extent) = ([low, high].map(|end| float_bytes(datatype, end)), float_bytes(datatype, extent));
    let spec = DimensionSpec { name, datatype, domain: Some(domain.into()), extent: Some(extent), filters };
    Axis { spec, low: 0, high: 0, extent: 1, written: 0, pool: Vec::new() }
}

impl Axis {
    /// Returns the first coordinate of the last tile of the domain.
    fn last_tile(&self) -> i128 {
        let (low, high) = self.ends();
        low + (high - low) / self.extent * self.extent
    }

    /// Returns the bounds of the domain, even if there is a current domain.
    fn ends(&self) -> (i128, i128) {
        let integer = |bytes: &Bytes| integer_of(self.spec.datatype.physical(), bytes);
        self.spec.domain.as_ref().map_or((0, 0), |(low, high)| (integer(low), integer(high)))
    }

    /// `true` if the last tile ends at or beyond the end of the datatype.
    pub fn is_beyond(&self) -> bool {
        self.last_tile() + self.extent > type_limits(self.spec.datatype.physical()).1
    }

    /// `true` if cells are written in such a tile. The library cannot consolidate them.
    pub fn is_written_to_the_end(&self) -> bool {
        self.is_beyond() && self.written >= self.last_tile()
    }

    /// Chooses the coordinates of cells.
    pub fn fill_pool(&mut self, random: &mut Random, count: usize) {
        let datatype = self.spec.datatype;
        let mut pool = match (&self.spec.domain, datatype.is_float()) {
            (None, _) => string_pool(random, count),
            (Some((low, high)), true) => float_pool(random, datatype, (low, high), count),
            (Some(_), false) => self.integer_pool(random, count),
        };
        pool.sort_by_key(|bytes| order_of(datatype, bytes));
        pool.dedup();
        self.pool = pool;
    }

    fn integer_pool(&self, random: &mut Random, count: usize) -> Vec<Bytes> {
        let physical = self.spec.datatype.physical();
        let size = self.high - self.low + 1;
        let window = if random.percent(50) { size } else { size.min(random.integer(1, 2 * count as i128)) };
        let start = random.integer(self.low, self.high - window + 1);
        let mut pool: Vec<i128> = (0..count).map(|_| random.integer(start, start + window - 1)).collect();
        if random.percent(50) {
            pool.extend([self.low, self.high]);
        }
        pool.into_iter().map(|value| integer_bytes(physical, value)).collect()
    }

    /// Generates a random range.
    pub fn range(&self, random: &mut Random) -> (Bytes, Bytes) {
        let datatype = self.spec.datatype;
        let mut ends = [self.range_end(random), self.range_end(random)];
        if random.percent(25) {
            ends[1] = ends[0].clone();
        }
        ends.sort_by_key(|bytes| order_of(datatype, bytes));
        let [low, high] = ends;
        (low, high)
    }

    /// Generates a coordinate: the coordinate of a cell, a bound of the domain, or an arbitrary
    /// value.
    pub fn range_end(&self, random: &mut Random) -> Bytes {
        let datatype = self.spec.datatype;
        let is_integer = self.spec.domain.is_some() && !datatype.is_float();
        match random.below(10) {
            0 if is_integer => integer_bytes(datatype.physical(), self.low),
            1 if is_integer => integer_bytes(datatype.physical(), self.high),
            2 | 3 if is_integer => integer_bytes(datatype.physical(), random.integer(self.low, self.high)),
            4 if self.spec.domain.is_none() => text::string(random),
            _ if self.pool.is_empty() => integer_bytes(datatype.physical(), random.integer(self.low, self.high)),
            _ => random.pick(&self.pool).clone(),
        }
    }
}

fn float_pool(random: &mut Random, datatype: Datatype, (low, high): (&Bytes, &Bytes), count: usize) -> Vec<Bytes> {
    let value = |bytes: &Bytes| float_of(datatype, bytes);
    let (first, last) = (value(low), value(high));
    let mut pool: Vec<Bytes> = (0..count)
        .map(|_| {
            let part = (random.bits() >> 40) as f64 / (1u64 << 24) as f64;
            let part = if random.percent(40) { (part * 8.0).floor() / 8.0 } else { part };
            float_bytes(datatype, first + (last - first) * part)
        })
        .collect();
    if random.percent(50) {
        pool.extend([low.clone(), high.clone()]);
    }
    if first <= 0.0 && last >= 0.0 {
        pool.push(float_bytes(datatype, 0.0));
    }
    pool.retain(|bytes| (first..=last).contains(&value(bytes)));
    // Uses zeros of one sign only. The library's readers disagree on whether both zeros are the
    // same coordinate.
    let zero = *random.pick(&[0.0, -0.0]);
    pool.iter_mut().filter(|bytes| value(bytes) == 0.0).for_each(|bytes| *bytes = float_bytes(datatype, zero));
    if pool.is_empty() {
        pool.push(low.clone());
    }
    pool
}

/// Generates strings. Most pools have no empty strings and no zero bytes, which the library handles
/// unreliably.
fn string_pool(random: &mut Random, count: usize) -> Vec<Bytes> {
    let mut pool = text::strings(random, count);
    if random.percent(75) {
        pool.retain(|string| !string.is_empty() && !string.contains(&0));
    }
    if pool.is_empty() {
        pool.push(Bytes(b"x".to_vec()));
    }
    pool
}
