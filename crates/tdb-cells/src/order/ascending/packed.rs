//! Comparison of cells in the same space tile as packed integers.

use tdb_schema::global_order::GlobalOrder;
use tdb_schema::hilbert::CoordinateColumn;
use tdb_schema::{ArraySchema, Dimension, Tiling};
use tdb_types::{PhysicalType, with_physical};

use super::known::Ascending;

/// A check that compares cells by distance from the low corner of the space tile. The distances of
/// all dimensions fit into a word. The check is branch-free, so that the compiler can compare
/// several cells at once.
#[derive(Clone, Debug)]
pub(super) struct PackedCheck {
    /// From the most to the least significant.
    parts: Vec<Part>,
    distinct: bool,
}

/// The part of the word for a dimension.
#[derive(Clone, Copy, Debug)]
struct Part {
    dimension: usize,
    physical: PhysicalType,
    tiling: Option<Tiling>,
    /// The key of the domain's low end.
    low: u64,
    /// The number of coordinates in a space tile, or in the domain without tiles.
    extent: u64,
    bits: u32,
}

/// The maximum total number of bits of all distances. The sign bit of differences must remain free.
const MOST_BITS: u32 = 63;

impl PackedCheck {
    /// Returns `None` for the Hilbert order, if a dimension is not an integer, or if the distances
    /// do not fit into a word.
    pub(super) fn new(schema: &ArraySchema, global: &GlobalOrder, distinct: bool) -> Option<Self> {
        if global.hilbert().is_some() {
            return None;
        }
        let tiled = global.tile_dimensions();
        let part = |index: &usize| Part::of(*index, &schema.dimensions()[*index], tiled.contains(index));
        let parts = global.cell_dimensions().iter().map(part).collect::<Option<Vec<_>>>()?;
        let bits: u32 = parts.iter().map(|part| part.bits).sum();
        (bits <= MOST_BITS).then_some(Self { parts, distinct })
    }

    /// Checks the leading cells in the space tile of the first cell. Returns their number, if in
    /// order.
    pub(super) fn ascending(&self, columns: &[CoordinateColumn<'_>], packed: &mut Vec<u64>) -> Ascending {
        packed.clear();
        let mut inside = usize::MAX;
        for (number, part) in self.parts.iter().enumerate() {
            let (values, physical) = match columns[part.dimension] {
                CoordinateColumn::Values(values) => (values, part.physical),
                CoordinateColumn::Keys(keys) => (bytemuck::cast_slice(keys), PhysicalType::U64),
                CoordinateColumn::Strings { .. } => return Ascending::Some(0),
            };
            if number == 0 {
                packed.resize(values.len() / physical.size(), 0);
            }
            inside = inside.min(part.append(physical, values, packed));
        }
        let is_all = inside >= packed.len();
        packed.truncate(inside);
        let least = u64::from(self.distinct);
        let followers = packed.get(1..).unwrap_or_default();
        // Packed numbers leave the highest bit free. Only a difference below the minimum sets the
        // bit.
        let differences = packed.iter().zip(followers).map(|(a, b)| b.wrapping_sub(*a).wrapping_sub(least));
        let is_ascending = differences.fold(0, |all, difference| all | difference) >> MOST_BITS == 0;
        match (is_ascending, is_all) {
            (true, true) => Ascending::All,
            (true, false) => Ascending::Some(packed.len()),
            (false, _) => Ascending::Never,
        }
    }
}

impl Part {
    fn of(index: usize, dimension: &Dimension, is_tiled: bool) -> Option<Self> {
        let physical = dimension.physical();
        if dimension.is_var() || physical.is_float() {
            return None;
        }
        let (low, high) = dimension.domain_keys()?;
        let tiling = is_tiled.then(|| dimension.tiling());
        let extent = match tiling {
            Some(tiling) => tiling.extent_cells()?,
            None => (high - low).checked_add(1)?,
        };
        let bits = u64::BITS - (extent - 1).leading_zeros();
        Some(Self { dimension: index, physical, tiling, low, extent, bits })
    }

    /// Appends the distance of each coordinate to the word of the cell. Returns the number of
    /// leading cells in the space tile of the first cell.
    fn append(&self, physical: PhysicalType, values: &[u8], packed: &mut [u64]) -> usize {
        with_physical!(
            physical,
            T => self.append_keys(values, packed, |b| u64::from(T::from_le_bytes(b).abs_diff(T::MIN))),
            _ => 0
        )
    }

    #[inline]
    fn append_keys<const N: usize>(&self, values: &[u8], packed: &mut [u64], key: impl Fn([u8; N]) -> u64) -> usize {
        let (values, _) = values.as_chunks::<N>();
        let Some(first) = values.first() else { return 0 };
        let tile = self.tiling.map_or(0, |tiling| tiling.index(key(*first)));
        let start = self.low.wrapping_add(tile.wrapping_mul(self.extent));
        let bits = self.bits;
        let mut all = 0;
        for (packed, value) in packed.iter_mut().zip(values) {
            // For coordinates below the tile, the distance wraps around to a value above the
            // extent.
            let distance = key(*value).wrapping_sub(start);
            all |= distance;
            *packed = *packed << bits | distance;
        }
        // No distance exceeds the bitwise OR of all distances.
        if all < self.extent {
            return values.len();
        }
        let outside = values.iter().position(|value| key(*value).wrapping_sub(start) >= self.extent);
        outside.unwrap_or(values.len())
    }
}
