//! Filtering and unfiltering of a tile with a filter list.

use std::time::Instant;

use tdb_array::tdb_filters::{BoundPipeline, Filter, FilterPipeline, Scratch, TileKind};
use tdb_array::tdb_schema::FieldRef;
use tdb_array::{ArrayError, Monitor};
use tdb_types::{CellValNum, Feature, FormatVersion};

use super::candidates;
use super::tile::TileBytes;
use crate::report::Trial;
use crate::seen::Seen;

/// The filter lists to try on a field.
pub(super) struct Lists {
    /// Filter lists. The first is the array's.
    lists: Vec<List>,
    /// Prefixes of the array's filter list: the first filter, the first two, and so on, without the
    /// complete list.
    stages: Vec<List>,
}

/// A filter list bound to the parts of a tile.
struct List {
    text: String,
    values: BoundPipeline,
    offsets: Option<BoundPipeline>,
}

/// Measurements of a tile.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measured {
    pub(super) stored: u64,
    pub(super) encoding: u64,
    pub(super) decoding: u64,
}

/// Measurements of several tiles.
#[derive(Debug, Default)]
pub(super) struct Tried {
    pub(super) tiles: u64,
    /// Measurements by filter list. `None` if the list does not support the cells.
    lists: Vec<Option<Measured>>,
    stages: Vec<Option<Measured>>,
    /// Measurements of the array's filter list by tile size, in percent of the current size.
    pub(super) sizes: Vec<(u64, Measured)>,
}

/// Divisors of the tile size in trials.
const PARTS: [usize; 2] = [4, 16];

impl Lists {
    /// Returns the filter lists to try on a field. Returns `None` if the field's own list does not
    /// support the field.
    pub(super) fn of(seen: &Seen, field: FieldRef) -> Option<Self> {
        let schema = seen.schema();
        let version = seen.array.version_of_new_fragments();
        let kind = schema.field_type(field)?;
        let is_var = kind.cell_val_num == CellValNum::Var;
        let own = schema.filters_in(version, field).into_owned();
        let bind = |list: &FilterPipeline| {
            let values = match kind.cell_val_num {
                CellValNum::Fixed(number) => TileKind::fixed(kind.datatype, number.get(), version),
                CellValNum::Var => TileKind::var_data(kind.datatype, version),
            };
            let offsets = is_var.then(|| BoundPipeline::bind(schema.offsets_filters(), TileKind::offsets(version)));
            Some(List {
                text: list.to_string(),
                values: BoundPipeline::bind(list, values).ok()?,
                offsets: offsets.transpose().ok()?,
            })
        };
        let mut lists = vec![bind(&own)?];
        let known = |list: &FilterPipeline| list.filters.iter().all(|filter| is_known(filter, version));
        lists.extend(candidates::of(&own, kind.datatype, is_var).iter().filter(|list| known(list)).filter_map(bind));
        let firsts = (1..own.filters.len())
            .map(|count| FilterPipeline { filters: own.filters[..count].to_vec(), ..own.clone() });
        Some(Self { lists, stages: firsts.filter_map(|list| bind(&list)).collect() })
    }

    /// Tries each filter list on a tile, until `monitor` is cancelled.
    pub(super) fn try_on(&self, tile: &TileBytes, monitor: &Monitor) -> Result<Tried, ArrayError> {
        let mut scratch = Scratch::new();
        let mut on = |list: &List| list.measure(tile, &mut scratch, monitor);
        let lists = self.lists.iter().map(&mut on).collect::<Result<_, _>>()?;
        let stages = self.stages.iter().map(&mut on).collect::<Result<_, _>>()?;
        let mut sizes: Vec<(u64, Measured)> = Vec::new();
        for parts in PARTS.iter().rev().copied().filter(|parts| tile.len() >= 2 * parts) {
            let ends: Vec<usize> = (0..=parts).map(|part| part * tile.len() / parts).collect();
            let mut sum = Measured::default();
            for ends in ends.windows(2) {
                let part = tile.part(ends[0]..ends[1]);
                if let Some(measured) = self.lists[0].measure(&part, &mut Scratch::new(), monitor)? {
                    sum.add(measured);
                }
            }
            sizes.push((100 / parts as u64, sum));
        }
        Ok(Tried { tiles: 1, lists, stages, sizes })
    }

    /// Tries the array's filter list on a tile.
    pub(super) fn own(&self, tile: &TileBytes, monitor: &Monitor) -> Result<Option<Measured>, ArrayError> {
        self.lists[0].measure(tile, &mut Scratch::new(), monitor)
    }

    /// Returns the result of each filter list, the array's list first. Returns `None` if the array's
    /// list does not support the cells.
    pub(super) fn trials(&self, tried: &Tried) -> Option<Vec<Trial>> {
        tried.lists.first()?.as_ref()?;
        let trial = |(list, measured): (&List, &Option<Measured>)| {
            let Measured { stored, encoding, decoding } = (*measured)?;
            Some(Trial { filters: list.text.clone(), stored, encoding, decoding })
        };
        Some(self.lists.iter().zip(&tried.lists).filter_map(trial).collect())
    }

    /// Returns the size after each filter of the array's list. The last size is the stored one.
    pub(super) fn stages(&self, tried: &Tried) -> Vec<(String, u64)> {
        let stages = self.stages.iter().zip(&tried.stages);
        let stages = stages.chain(self.lists.iter().take(1).zip(&tried.lists));
        stages.filter_map(|(list, measured)| Some((list.text.clone(), measured.as_ref()?.stored))).collect()
    }
}

/// Returns `true` if all releases that read the format version support the filter.
fn is_known(filter: &Filter, version: FormatVersion) -> bool {
    match filter {
        Filter::Dictionary { .. } => version.has(Feature::DictionaryStringOffsets),
        // Introduced in release 2.12. Formats from 17 on belong to later releases.
        Filter::Xor => version.has(Feature::Utf8StringOffsets),
        _ => true,
    }
}

impl Measured {
    fn add(&mut self, other: Self) {
        self.stored += other.stored;
        self.encoding += other.encoding;
        self.decoding += other.decoding;
    }
}

impl Tried {
    pub(super) fn add(&mut self, one: &Self) {
        if self.tiles == 0 {
            (self.lists, self.stages, self.sizes) = (one.lists.clone(), one.stages.clone(), one.sizes.clone());
            self.tiles = one.tiles;
            return;
        }
        self.tiles += one.tiles;
        let both = |sum: &mut Option<Measured>, one: &Option<Measured>| match (sum.as_mut(), one) {
            (Some(sum), Some(one)) => sum.add(*one),
            _ => *sum = None,
        };
        self.lists.iter_mut().zip(&one.lists).for_each(|(sum, one)| both(sum, one));
        self.stages.iter_mut().zip(&one.stages).for_each(|(sum, one)| both(sum, one));
        // Only sizes tried on every tile are kept. Small tiles are not divided.
        self.sizes.retain(|(share, _)| one.sizes.iter().any(|(other, _)| other == share));
        for (share, sum) in &mut self.sizes {
            one.sizes.iter().filter(|(other, _)| other == share).for_each(|(_, one)| sum.add(*one));
        }
    }
}

impl List {
    /// Filters and unfilters a tile. Returns `None` if the list fails or does not restore the tile.
    ///
    /// Takes the shorter time of two runs. The first run also allocates memory and codec contexts.
    fn measure(
        &self,
        tile: &TileBytes,
        scratch: &mut Scratch,
        monitor: &Monitor,
    ) -> Result<Option<Measured>, ArrayError> {
        let mut once =
            || if monitor.is_cancelled() { Err(ArrayError::Cancelled) } else { Ok(self.once(tile, scratch)) };
        let (Some(cold), Some(warm)) = (once()?, once()?) else { return Ok(None) };
        let (encoding, decoding) = (cold.encoding.min(warm.encoding), cold.decoding.min(warm.decoding));
        Ok(Some(Measured { stored: warm.stored, encoding, decoding }))
    }

    fn once(&self, tile: &TileBytes, scratch: &mut Scratch) -> Option<Measured> {
        let (mut values, mut offsets) = (Vec::new(), Vec::new());
        let starts = tile.offsets.as_deref().and_then(|offsets| offsets.split_last()).map(|(_, starts)| starts);
        let begin = Instant::now();
        self.values.encode_tile(&tile.values, starts, &mut values, scratch).ok()?;
        match (&self.offsets, starts) {
            (Some(_), Some(_)) if self.values.carries_offsets() => offsets.extend_from_slice(&0_u64.to_le_bytes()),
            (Some(pipeline), Some(starts)) => {
                let bytes: Vec<u8> = starts.iter().flat_map(|start| start.to_le_bytes()).collect();
                pipeline.encode_tile(&bytes, None, &mut offsets, scratch).ok()?;
            }
            _ => {}
        }
        let encoding = nanoseconds(begin);
        let mut out = vec![0; tile.values.len()];
        let begin = Instant::now();
        if self.values.carries_offsets() {
            self.values.decode_strings(&values, &mut out, &mut Vec::new(), tile.len() as u64, scratch).ok()?;
        } else {
            self.values.decode_tile(&values, &mut out, scratch).ok()?;
        }
        let decoding = nanoseconds(begin);
        let stored = values.len() as u64 + offsets.len() as u64;
        (out == tile.values).then_some(Measured { stored, encoding, decoding })
    }
}

fn nanoseconds(begin: Instant) -> u64 {
    u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
