//! Compares the time fields of cells in consolidated fragments: time of the write, time of the
//! delete, and the condition.

use std::collections::BTreeSet;

use tdb_array::tdb_fragment::FragmentField;
use tdb_array::{Array, Fragment, Monitor, TimeRange};
use tdb_cases::case::Case;
use tdb_cases::ours::{self, describe};

use super::state::Counted;

/// The result of comparing the new fragments of both sides.
pub enum Carried {
    /// All tiles are identical. The number of tiles.
    Same(u64),
    /// The fragments differ in a way that no reader sees.
    Excused(&'static str),
    /// The fragments cannot be paired, or have other times.
    Other,
    Differs(String),
}

const FIELDS: [FragmentField; 3] =
    [FragmentField::Timestamps, FragmentField::DeleteTimestamps, FragmentField::DeleteConditionIndex];

/// Compares the fragments of tdb's array and of the library's array that are not in `before`.
/// `leaves_older` is `true` if a purge by the library may have kept older cells in place of deleted
/// ones.
pub fn compare(case: &Case, uris: [&str; 2], before: &[Counted], leaves_older: bool) -> Result<Carried, String> {
    let open = |uri: &str| ours::options(case).threads(1).between(TimeRange::ALL).open(uri);
    let arrays = uris.map(open);
    let [Ok(ours), Ok(theirs)] = arrays else { return Err(format!("consolidated arrays: {arrays:?}")) };
    let is_new = |fragment: &&Fragment| !before.iter().any(|counted| counted.name == *fragment.name());
    let new = |array: &Array| -> Result<Vec<Fragment>, String> {
        let fragments = array.fragments().map_err(|error| describe(&error))?;
        Ok(fragments.iter().filter(is_new).cloned().collect())
    };
    let (own, others) = (new(&ours)?, new(&theirs)?);
    // Several fragments of one time cannot be paired by name.
    let times = |fragments: &[Fragment]| fragments.iter().map(Fragment::time).collect::<Vec<_>>();
    let is_ambiguous = times(&own).windows(2).any(|pair| pair[0] == pair[1]);
    if is_ambiguous || times(&own) != times(&others) {
        return Ok(Carried::Other);
    }
    let mut tiles = 0;
    let mut excuse = None;
    for (own, other) in own.iter().zip(&others) {
        let [conditions, expected] = [own, other].map(Fragment::processed_conditions);
        let conditions = conditions.map_err(|error| describe(&error))?;
        let expected = expected.map_err(|error| describe(&error))?;
        // The library lists a condition twice if two source fragments had it. Condition numbers
        // then refer to other positions.
        let distinct: BTreeSet<_> = expected.iter().collect();
        if distinct.len() < expected.len() {
            return Ok(Carried::Other);
        }
        if conditions != expected && is_reordered_within_times(&conditions, &expected) {
            return Ok(Carried::Other);
        }
        if conditions != expected {
            return Ok(Carried::Differs(format!("conditions {expected:?}, got {conditions:?}")));
        }
        let (got, expected) = (stored(&ours, own)?, stored(&theirs, other)?);
        if got == expected {
            tiles += got.iter().map(|field| field.len() as u64).sum::<u64>();
            continue;
        }
        let (mut got, mut expected) = (cells(&ours, own)?, cells(&theirs, other)?);
        if case.array.allows_dups {
            // The order of cells with equal coordinates is not defined.
            [&mut got, &mut expected].into_iter().for_each(|cells| sort_equal(cells));
            excuse = Some("puts cells of the same coordinates in another order");
        } else {
            // No reader sees the other cells.
            expected.dedup_by(|cell, before| (&cell.place, cell.carried[0]) == (&before.place, before.carried[0]));
            excuse = Some("keeps several cells of one time and the same coordinates, of which readers see one");
        }
        if leaves_older && got != expected {
            let mut kept = got.iter().peekable();
            expected.retain(|cell| kept.next_if(|own| *own == cell).is_some());
            excuse = Some("keeps older cells in place of deleted ones in a purge");
        }
        if let Some(number) =
            (0..got.len().max(expected.len())).find(|number| got.get(*number) != expected.get(*number))
        {
            let [got, expected] = [&got, &expected].map(|cells| cells.get(number));
            return Ok(Carried::Differs(format!("cell {number}: {expected:?}, got {got:?}")));
        }
    }
    Ok(excuse.map_or(Carried::Same(tiles), Carried::Excused))
}

/// `true` if two lists of condition files differ only in the order of files with the same time,
/// which is not defined.
fn is_reordered_within_times(one: &[String], other: &[String]) -> bool {
    // Names end with an identifier and a version.
    let times = |names: &[String]| -> Vec<Option<String>> {
        names.iter().map(|name| name.rsplitn(3, '_').nth(2).map(str::to_owned)).collect()
    };
    let distinct = |names: &[String]| names.iter().cloned().collect::<BTreeSet<_>>();
    times(one) == times(other) && distinct(one) == distinct(other)
}

/// A cell with its time fields.
#[derive(Debug, PartialEq, Eq)]
struct Cell {
    /// Coordinates, one per dimension.
    place: Vec<Vec<u8>>,
    /// Write time, delete time, and condition number. `None` if the fragment lacks the field.
    carried: [Option<u64>; 3],
}

fn sort_equal(cells: &mut [Cell]) {
    cells.chunk_by_mut(|a, b| a.place == b.place).for_each(|equal| equal.sort_by_key(|cell| cell.carried));
}

fn cells(array: &Array, fragment: &Fragment) -> Result<Vec<Cell>, String> {
    let dimensions = (0..array.schema().dim_count()).map(FragmentField::Dimension);
    let column = |field| Ok(values(array, fragment, field)?.concat());
    let places = dimensions.map(column).collect::<Result<Vec<Vec<Vec<u8>>>, String>>()?;
    let carried = FIELDS.into_iter().map(column).collect::<Result<Vec<Vec<Vec<u8>>>, String>>()?;
    let count = places.first().map_or(0, Vec::len);
    let number = |field: usize, cell: usize| {
        carried[field].get(cell).and_then(|bytes| bytes.first_chunk::<8>()).map(|bytes| u64::from_le_bytes(*bytes))
    };
    let cell = |cell: usize| Cell {
        place: places.iter().map(|column| column[cell].clone()).collect(),
        carried: [0, 1, 2].map(|field| number(field, cell)),
    };
    Ok((0..count).map(cell).collect())
}

/// Reads the unfiltered bytes of each tile of each time field. A field that the fragment lacks has
/// no tiles.
fn stored(array: &Array, fragment: &Fragment) -> Result<Vec<Vec<Vec<u8>>>, String> {
    let tiles = |field| Ok(values(array, fragment, field)?.into_iter().map(|tile| tile.concat()).collect());
    FIELDS.into_iter().map(tiles).collect()
}

/// Reads the bytes of each cell of each tile of a field.
fn values(array: &Array, fragment: &Fragment, field: FragmentField) -> Result<Vec<Vec<Vec<u8>>>, String> {
    let is_dimension = matches!(field, FragmentField::Dimension(_));
    if !is_dimension && fragment.footer().slot(field).is_none() {
        return Ok(Vec::new());
    }
    let tiles = fragment.stored_tiles(field).map_err(|error| describe(&error))?;
    let read = |tile: u64, reader: &mut tdb_array::TileReader<'_>| {
        let cells = tiles.read(tile, reader)?;
        Ok((0..cells.len()).map(|cell| cells.cell(cell).to_vec()).collect())
    };
    let workers = array.tile_workers(&Monitor::new());
    workers.map(tiles.bytes(), (0..tiles.len()).collect(), read).map_err(|error| describe(&error))
}
