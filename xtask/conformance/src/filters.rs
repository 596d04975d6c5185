//! Random filter chains over bytes that need not be whole values. Both sides filter each tile and
//! read the other side's tile.
//!
//! The library loses bytes in some chains and then returns uninitialized memory, so each read is
//! repeated in new processes. If all its reads are right, tdb's must be too. The library must
//! always read tdb's tiles right.

use std::path::Path;

use tdb_array::{Array, CreateOptions};
use tdb_cases::build;
use tdb_cases::case::{Case, seed_of};
use tdb_cases::ours::{self, Manner, describe};
use tdb_cases::random::Random;
use tdb_cases::runner::{CaseKind, Run};
use tdb_cases::scalars::float_bytes;
use tdb_cases::tally::Counts;
use tdb_cases::verdict::{End, Failure, Verdict};
use tdb_cases::writer::start;
use tdb_reference::model::{ArraySpec, Column, FilterSpec, QuerySpec, WriteSpec, attribute, dimension, var_column};
use tdb_reference::{NEWEST, Reference};
use tdb_types::Datatype::{
    self, DatetimePs, Float32, Float64, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64,
};
use tdb_types::{FormatVersion, Layout};

/// Number of reads by the library.
const TIMES: usize = 3;

const VALUES: [Datatype; 11] = [Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64, Float32, Float64, DatetimePs];
const REINTERPRETED: [Datatype; 7] = [Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32];

/// Names of counters.
const BOTH: &str = "tiles filtered by both sides and read by both";
/// Tiles that the library writes but does not always read right.
const UNREAD: &str = "tiles that the library wrote but does not always read";
/// The part of these tiles that tdb reads right.
const UNREAD_BUT_OURS: &str = "tiles that only tdb always reads";
/// Tiles with values that the library lost. tdb refuses to read such tiles.
const LOST: &str = "tiles with values lost";
/// Tiles by the library that nobody can read back. tdb refuses to write such tiles.
const PARTIAL: &str = "tiles refused by tdb because the library loses bytes";
const REFUSED: &str = "tiles refused by both";
/// Tiles that only tdb writes, and both sides read.
const ONLY_OURS: &str = "tiles filtered by tdb alone and read by both";

/// The kind of cases of this module.
pub struct Filters {
    pub seed: u64,
}

impl CaseKind for Filters {
    type Case = Tile;
    type Sides = Reference;

    fn command(&self) -> String {
        "filters".to_owned()
    }

    fn start(&self) -> tdb_reference::Result<Reference> {
        start(NEWEST)
    }

    fn case(&self, index: u64) -> Option<Tile> {
        Some(Tile::random(&mut Random::new(seed_of(self.seed ^ 0xf117_e200, index))))
    }

    fn examine(&self, tile: &Tile, run: Run<'_, Reference>) -> Result<Verdict, End> {
        let outcome = tile.examine(run.sides, run.folder, run.counts);
        Ok(outcome.map_err(|detail| Failure::changed(format!("{detail:.2000}")))?)
    }

    fn smaller(&self, tile: &Tile) -> Vec<Tile> {
        tile.smaller()
    }

    fn print(&self, tile: &Tile, _: u64, _: Option<usize>) -> String {
        let attribute = &tile.spec.attributes[0];
        format!("{} {:?}\n{:?}", attribute.datatype, attribute.filters.filters, tile.column)
    }
}

/// Returns the summary lines.
pub fn lines(counts: &Counts) -> Vec<String> {
    let [both, only_ours, refused, partial] = [BOTH, ONLY_OURS, REFUSED, PARTIAL].map(|name| counts.get(name));
    let [unread, unread_but_ours, lost] = [UNREAD, UNREAD_BUT_OURS, LOST].map(|name| counts.get(name));
    vec![
        format!(
            "{both} tiles filtered by both sides and read by both, {only_ours} by tdb alone; {refused} refused by both, {partial} by tdb alone because the library loses bytes"
        ),
        format!(
            "{unread} tiles that the library wrote but does not always read, {unread_but_ours} of them read by tdb; {lost} with lost values"
        ),
    ]
}

/// A tile and its filters.
#[derive(Clone, Debug)]
pub struct Tile {
    spec: ArraySpec,
    column: Column,
    /// `true` if a filter rounds values. Then both sides are compared with each other instead of
    /// the input.
    rounds: bool,
}

impl Tile {
    fn random(random: &mut Random) -> Self {
        let datatype = *random.pick(&VALUES);
        let mut filters: Vec<FilterSpec> = (0..random.between(1, 4)).map(|_| filter(random)).collect();
        // Float scaling rounds, and would change the output of earlier filters. It can only come
        // first.
        let mut index = 0;
        filters.retain(|filter| {
            index += 1;
            index == 1 || !matches!(filter, FilterSpec::ScaleFloat { .. })
        });
        let rounds = rounds(&filters);
        let count = *random.pick(&[1, 2, 3, 5, 9, 20, 60, 400]);
        // Some tiles have several chunks.
        let longest = *random.pick(&[1, 3, 12, 12, 300]);
        let highest = *random.pick(&[5, 50, 120, 300, 30_000, 70_000, 1 << 30, 1 << 40]);
        let (ascends, mut last) = (random.percent(50), 0);
        let mut cells = Vec::new();
        for _ in 0..count {
            let mut cell = Vec::new();
            for _ in 0..random.between(1, longest) {
                let drawn = random.between(0, highest);
                last = if ascends { (last + drawn % (highest / 500 + 2)).min(highest) } else { drawn };
                cell.extend(value(datatype, last as u64));
            }
            cells.push(cell);
        }
        let attribute = attribute("a", datatype).var().filters(filters);
        let spec = ArraySpec::dense([dimension("i", UInt64, [0, count as u64 - 1], count as u64)], [attribute]);
        Self { spec, column: var_column("a", cells), rounds }
    }

    /// Returns tiles with one filter fewer, or with half of the cells.
    fn smaller(&self) -> Vec<Self> {
        let without = |index: usize| {
            let mut tile = self.clone();
            let filters = &mut tile.spec.attributes[0].filters.filters;
            filters.remove(index);
            tile.rounds = rounds(filters);
            tile
        };
        let mut smaller: Vec<Self> = (0..self.spec.attributes[0].filters.filters.len()).map(without).collect();
        let count = self.column.count(1);
        for half in [0..count / 2, count / 2..count] {
            if !half.is_empty() && half.len() < count {
                let column = self.column.of_places(count, half.clone());
                let dimension = dimension("i", UInt64, [0, half.len() as u64 - 1], half.len() as u64);
                let spec = ArraySpec::dense([dimension], self.spec.attributes.clone());
                smaller.push(Self { spec, column, rounds: self.rounds });
            }
        }
        smaller
    }

    fn examine(&self, reference: &mut Reference, folder: &Path, counts: &mut Counts) -> Result<Verdict, String> {
        let [theirs, ours] = ["theirs", "ours"].map(|name| folder.join(name).to_string_lossy().into_owned());
        let definition = build::definition(&self.spec, FormatVersion::DEFAULT);
        let definition = match (reference.create(&theirs, &self.spec), definition) {
            // The subcommand `create` tests refusals.
            (Err(_), Err(_)) => return not_created(),
            (Err(refusal), Ok(_)) => return Err(format!("the library refuses to create the array: {refusal}")),
            (Ok(()), Err(error)) if error.to_string().contains("does not support") => return not_created(),
            (Ok(()), Err(error)) => return Err(format!("tdb refuses an array that the library creates: {error}")),
            (Ok(()), Ok(definition)) => definition,
        };
        CreateOptions::new().create(&ours, &definition).map_err(|error| describe(&error))?;
        let write =
            WriteSpec { layout: Layout::RowMajor, subarray: None, timestamp: None, cells: vec![self.column.clone()] };
        let by_library = reference.write(&theirs, &write).map_err(|error| error.to_string());
        let case = Case::of(self.spec.clone());
        let by_us = ours::write(&ours, &case, &write, Manner { max_fragment_size: None, ..Manner::by(0) });
        let read_theirs = if by_library.is_ok() { self.theirs(reference, &theirs, counts)? } else { None };
        match (&by_library, &by_us) {
            (_, Ok(())) => self.ours(reference, &ours, read_theirs.as_ref())?,
            (Err(_), Err(_)) => counts.add(REFUSED, 1),
            // Some parts happen to have a multiple of the value size.
            (Ok(()), Err(error)) if error.contains("not a multiple of the value size") => counts.add(PARTIAL, 1),
            // The library stores other values instead.
            (Ok(()), Err(error)) if self.rounds && error.contains("float_scale") => counts.add(REFUSED, 1),
            (Ok(()), Err(_)) if read_theirs.is_none() => counts.add(REFUSED, 1),
            (Ok(()), Err(error)) => {
                return Err(format!("tdb refuses cells that the library writes and reads: {error}"));
            }
        }
        if by_us.is_ok() {
            counts.add(if read_theirs.is_some() { BOTH } else { ONLY_OURS }, 1);
        }
        Ok(Verdict::Agreed { reads: 0, cells: 0, excuses: Vec::new() })
    }

    /// Reads the library's tile with both sides. Returns the cells if the library reads them right
    /// every time.
    fn theirs(&self, reference: &mut Reference, uri: &str, counts: &mut Counts) -> Result<Option<Column>, String> {
        let read: Vec<_> = (0..TIMES).map(|_| by_library(reference, uri)).collect();
        let settled = match &read[0] {
            Ok(first) if read.iter().all(|read| read.as_ref().ok() == Some(first)) => Some(first.clone()),
            _ => None,
        };
        let settled = settled.filter(|read| self.is_right(read));
        let own = by_us(uri);
        match (&settled, &own) {
            (Some(theirs), Ok(ours)) if theirs == ours => {}
            // The library's result is right only because of the contents of uninitialized memory.
            (_, Err(error)) if error.contains("the writer lost the bytes") => {
                counts.add(LOST, 1);
                return Ok(None);
            }
            (Some(_), Ok(ours)) => return Err(format!("the library reads its tile right, tdb reads {ours:?}")),
            (Some(_), Err(error)) => return Err(format!("the library reads its tile right, tdb fails: {error}")),
            (None, own) => {
                counts.add(UNREAD, 1);
                counts.add(UNREAD_BUT_OURS, u64::from(own.as_ref().is_ok_and(|own| self.is_right(own))));
            }
        }
        Ok(settled)
    }

    /// Reads tdb's tile with both sides.
    fn ours(&self, reference: &mut Reference, uri: &str, theirs: Option<&Column>) -> Result<(), String> {
        let own = by_us(uri).map_err(|error| format!("tdb cannot read its tile: {error}"))?;
        let read =
            by_library(reference, uri).map_err(|error| format!("the library cannot read tdb's tile: {error}"))?;
        if own != read {
            return Err(format!("the library reads {read:?} from tdb's tile, tdb reads {own:?}"));
        }
        if !self.is_right(&own) || (self.rounds && theirs.is_some_and(|theirs| *theirs != own)) {
            return Err(format!("tdb's tile differs from the input, or from the library's result: {own:?}"));
        }
        Ok(())
    }

    /// `true` if these are the given cells. Ignores values if a filter rounds.
    fn is_right(&self, read: &Column) -> bool {
        read.offsets == self.column.offsets && (self.rounds || read.values == self.column.values)
    }
}

/// `true` if a filter rounds values.
fn rounds(filters: &[FilterSpec]) -> bool {
    filters.iter().any(|filter| matches!(filter, FilterSpec::ScaleFloat { .. }))
}

fn not_created() -> Result<Verdict, String> {
    Ok(Verdict::Excused("the array is not created".to_owned()))
}

/// Reads the cells with the library, in a new process.
fn by_library(reference: &mut Reference, uri: &str) -> Result<Column, String> {
    reference.restart();
    let mut read = reference.read(uri, &QuerySpec::all(Layout::RowMajor)).map_err(|error| error.to_string())?;
    let place = read.columns.iter().position(|column| column.column.name == "a").ok_or("no cells")?;
    Ok(read.columns.swap_remove(place).column)
}

/// Reads the cells with tdb.
fn by_us(uri: &str) -> Result<Column, String> {
    let array = Array::open(uri).map_err(|error| describe(&error))?;
    let mut read = ours::read(&array, &QuerySpec::all(Layout::RowMajor), None)?;
    let place = read.columns.iter().position(|column| column.name == "a").ok_or("no cells")?;
    Ok(read.columns.swap_remove(place))
}

/// Converts a number to a value of the datatype.
fn value(datatype: Datatype, number: u64) -> Vec<u8> {
    match datatype {
        Float32 | Float64 => float_bytes(datatype, number as f64).0,
        // Keeps the low bytes and clears the sign bit.
        datatype => {
            let size = datatype.size();
            let most = u64::MAX >> (65 - 8 * size as u32);
            number.min(most).to_le_bytes()[..size].to_vec()
        }
    }
}

fn filter(random: &mut Random) -> FilterSpec {
    let window = |random: &mut Random| Some(*random.pick(&[8, 16, 24, 64, 100, 256, 1000, 4096]));
    let reinterpret = |random: &mut Random| random.percent(70).then(|| *random.pick(&REINTERPRETED));
    match random.weighted(&[20, 8, 12, 20, 9, 9, 9, 5, 8]) {
        0 => FilterSpec::BitWidthReduction { window: window(random) },
        1 => FilterSpec::PositiveDelta { window: window(random) },
        2 => FilterSpec::Delta { reinterpret: reinterpret(random) },
        3 => FilterSpec::DoubleDelta { reinterpret: reinterpret(random) },
        4 => FilterSpec::Xor,
        5 => FilterSpec::Byteshuffle,
        6 => FilterSpec::Bitshuffle,
        7 => FilterSpec::ScaleFloat { factor: 1.0, offset: 0.0, byte_width: *random.pick(&[1, 2, 4, 8]) },
        _ => random.pick(&[FilterSpec::ChecksumMd5, FilterSpec::GZIP, FilterSpec::LZ4, FilterSpec::Rle]).clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tile_shrinks_while_it_fails() {
        let kind = Filters { seed: 1 };
        let has_xor = |tile: &Tile| tile.spec.attributes[0].filters.filters.contains(&FilterSpec::Xor);
        let cells = |tile: &Tile| tile.column.count(1);
        let mut tiles = (0..).filter_map(|index| kind.case(index));
        let tile =
            tiles.find(|tile| has_xor(tile) && tile.smaller().len() > 3 && cells(tile) > 8).expect("one of many");
        let failure = || Failure::changed("it has the filter".to_owned());
        let (tile, _) = kind.shrink(tile, failure(), &mut |smaller| has_xor(smaller).then(failure));
        assert_eq!(tile.spec.attributes[0].filters.filters, [FilterSpec::Xor]);
        assert_eq!((cells(&tile), tile.rounds), (1, false));
        assert_eq!(tile.spec.dimensions, [dimension("i", UInt64, [0, 0u64], 1u64)]);
    }
}
