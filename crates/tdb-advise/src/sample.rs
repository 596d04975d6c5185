//! Trials of other filters and tile sizes on a sample of tiles.

mod candidates;
mod tile;
mod trial;

use std::collections::BTreeSet;

use tdb_array::tdb_fragment::FragmentField;
use tdb_array::tdb_schema::FieldRef;
use tdb_array::{Fragment, Monitor, StoredTiles, TileReader};

use crate::costs::{ENUMERATION, SAMPLE_BYTES};
use crate::report::FieldTrials;
use crate::seen::{Seen, spread};
use crate::wanted::Sample;
use tdb_job::Result;
use tile::TileBytes;
use trial::{Lists, Measured, Tried};

/// Decodes a sample of tiles of each field in the schema, and tries other filters and tile sizes.
pub(super) fn take(seen: &Seen, sample: Sample, monitor: &Monitor) -> Result<Vec<FieldTrials>> {
    let workers = seen.array.tile_workers(monitor);
    let mut all = Vec::new();
    let names: Vec<String> = seen.readable_fields().map(|field| field.name.clone()).collect();
    for name in names {
        let Some(field) = seen.schema().field(&name) else { continue };
        let Some(lists) = Lists::of(seen, field) else { continue };
        let places = places(seen, &name, field, sample)?;
        let bytes = places.iter().map(|(tiles, _)| tiles.bytes() / tiles.len().max(1)).sum();
        let job = |(tiles, tile): (StoredTiles, u64), reader: &mut TileReader<'_>| {
            let cells = TileBytes::of(&tiles.read(tile, reader)?);
            // A filter list that does not support these cells is skipped.
            Ok((lists.try_on(&cells, monitor)?, cells))
        };
        let measured = workers.map(bytes, places, job)?;
        all.extend(summed(&name, &lists, &measured, monitor)?);
    }
    Ok(all)
}

/// Selects evenly spread tiles of a field in all fragments with this field.
fn places(seen: &Seen, name: &str, field: FieldRef, sample: Sample) -> Result<Vec<(StoredTiles, u64)>> {
    let fragments = seen.fragments()?;
    let same = |fragment: &&Fragment| {
        fragment.schema().field(name).and_then(|own| fragment.schema().field_type(own))
            == seen.schema().field_type(field)
    };
    let fragments: Vec<&Fragment> = fragments.iter().filter(same).collect();
    let count: u64 = fragments.iter().map(|fragment| fragment.tile_count()).sum();
    let wanted = usize::try_from(sample.of(count)).unwrap_or(usize::MAX);
    let mut places: Vec<(StoredTiles, u64)> = Vec::new();
    let (mut before, mut fragments, mut room) = (0_u64, fragments.into_iter().peekable(), SAMPLE_BYTES);
    let mut open: Option<StoredTiles> = None;
    for number in spread(usize::try_from(count).unwrap_or(usize::MAX), wanted) {
        let number = number as u64;
        while fragments.peek().is_some_and(|fragment| before + fragment.tile_count() <= number) {
            before += fragments.next().map_or(0, Fragment::tile_count);
            open = None;
        }
        let Some(fragment) = fragments.peek() else { break };
        let tiles = match &open {
            Some(tiles) => tiles.clone(),
            None => {
                let own = own_field(fragment, name);
                let Some(tiles) = own.and_then(|own| fragment.stored_tiles(own).ok()) else { continue };
                open.insert(tiles).clone()
            }
        };
        let decoded = seen.fields.iter().find(|known| known.name == name).map_or(0, |known| known.tile.0);
        // Selects at least one tile, whatever its size.
        if decoded > room && !places.is_empty() {
            break;
        }
        room = room.saturating_sub(decoded);
        places.push((tiles, number - before));
    }
    Ok(places)
}

fn own_field(fragment: &Fragment, name: &str) -> Option<FragmentField> {
    Some(match fragment.schema().field(name)? {
        FieldRef::Attribute(index) => FragmentField::Attribute(index),
        FieldRef::Dimension(index) => FragmentField::Dimension(index),
    })
}

fn summed(
    name: &str,
    lists: &Lists,
    measured: &[(Tried, TileBytes)],
    monitor: &Monitor,
) -> Result<Option<FieldTrials>> {
    let mut tried = Tried::default();
    let (mut cells, mut decoded, tiles) = (0, 0, measured.len() as u64);
    let mut different = Some(BTreeSet::new());
    let mut joined = Joined::default();
    for (one, tile) in measured {
        tried.add(one);
        cells += tile.len() as u64;
        decoded += tile.bytes();
        if tile.offsets.is_none() {
            different = None;
        }
        if let Some(known) = &mut different {
            note(tile, known);
            if known.len() > ENUMERATION {
                different = None;
            }
        }
        joined.push(tile);
    }
    let Some(trials) = lists.trials(&tried).filter(|_| tiles > 0) else { return Ok(None) };
    let mut sizes = tried.sizes.clone();
    sizes.extend(joined.try_with(lists, &tried, monitor)?);
    Ok(Some(FieldTrials {
        name: name.to_owned(),
        tiles,
        cells,
        decoded,
        trials,
        sizes: sizes.into_iter().map(|(share, measured)| (share, measured.stored)).collect(),
        stages: lists.stages(&tried),
        different: different.map(|known| known.len() as u64),
    }))
}

/// Adds the distinct values of a tile, up to a maximum.
fn note(tile: &TileBytes, known: &mut BTreeSet<Vec<u8>>) {
    let Some(offsets) = &tile.offsets else { return };
    for ends in offsets.windows(2) {
        let range = usize::try_from(ends[0]).unwrap_or(0)..usize::try_from(ends[1]).unwrap_or(0);
        let value = &tile.values[range];
        if !known.contains(value) {
            known.insert(value.to_vec());
        }
        if known.len() > ENUMERATION {
            return;
        }
    }
}

/// Tiles of a sample, joined into one.
#[derive(Default)]
struct Joined {
    tile: Option<TileBytes>,
    tiles: u64,
}

impl Joined {
    /// Appends a tile, unless the joined tile already has 8 MiB.
    fn push(&mut self, tile: &TileBytes) {
        match &mut self.tile {
            None => self.tile = Some(tile.clone()),
            Some(own) if own.bytes() < SAMPLE_BYTES / 8 => own.join(tile),
            Some(_) => return,
        }
        self.tiles += 1;
    }

    /// Filters the joined tile with the array's own filters. Scales the size to the whole sample.
    /// Returns `None` for fewer than two tiles, or if the filters do not support the tile.
    fn try_with(self, lists: &Lists, tried: &Tried, monitor: &Monitor) -> Result<Option<(u64, Measured)>> {
        let (Some(tile), tiles) = (self.tile.filter(|_| self.tiles >= 2), self.tiles) else { return Ok(None) };
        let Some(mut measured) = lists.own(&tile, monitor)? else { return Ok(None) };
        measured.stored = super::costs::scaled(measured.stored, tried.tiles, tiles);
        Ok(Some((100 * tiles, measured)))
    }
}
