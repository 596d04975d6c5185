//! Random chains of filters behind each other, over bytes that need not be whole values: each tile is filtered by both sides,
//! and both read what the other wrote.
//!
//! The library loses bytes in some chains and then reads whatever its memory holds, so it is asked several times, each time in
//! a new process. Where it reads right every time, so must we; and what we write it must read right.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use tdb_array::{Array, CreateOptions};
use tdb_types::Datatype::{
    self, DatetimePs, Float32, Float64, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64,
};
use tdb_types::{FormatVersion, Layout};

use super::case::{Case, seed_of};
use super::ours::{self, Manner, describe};
use super::random::Random;
use super::{Arguments, JOB_PATIENCE, create, scratch_folder};
use tdb_reference::model::{ArraySpec, Column, FilterSpec, QuerySpec, WriteSpec, attribute, dimension, var_column};
use tdb_reference::{NEWEST, Reference};

/// Cases, unless told otherwise.
const CASES: u64 = 300;
/// How often the library is asked.
const TIMES: usize = 3;

const VALUES: [Datatype; 11] = [Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64, Float32, Float64, DatetimePs];
const REINTERPRETED: [Datatype; 7] = [Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32];

#[derive(Default)]
struct Tally {
    /// Both wrote, and both read both.
    agreed: u64,
    /// The library wrote what it doesn't read right, or not every time; of these, what we read right.
    unread: u64,
    unread_but_ours: u64,
    /// Values that the library lost, which we refuse to guess.
    lost: u64,
    /// Refused by us as it can't be read back, although the library wrote it.
    partial: u64,
    refused_by_both: u64,
    /// Written by us alone, and read by both.
    only_ours: u64,
    not_created: u64,
    failed: u64,
}

/// Filters on both sides.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let mut reference = Reference::start(NEWEST)?;
    reference.patience(JOB_PATIENCE);
    let (started, mut tally) = (Instant::now(), Tally::default());
    let cases = arguments.cases.unwrap_or(CASES);
    for index in arguments.case.map_or(0..cases, |case| case..case + 1) {
        let random = &mut Random::new(seed_of(arguments.seed ^ 0xf117_e200, index));
        let tile = Tile::random(random);
        if arguments.case.is_some() {
            println!("{tile:?}");
        }
        let folder = tempfile::tempdir_in(scratch_folder())?;
        if let Err(detail) = tile.examine(&mut reference, folder.path(), &mut tally) {
            tally.failed += 1;
            let chain = &tile.spec.attributes[0].filters.filters;
            let seed = arguments.seed;
            let datatype = tile.spec.attributes[0].datatype;
            println!(
                "\nFAILED: replay with --filters --seed {seed} --case {index}\n{datatype} {chain:?}\n{detail:.2000}"
            );
            if tally.failed >= arguments.failures as u64 {
                break;
            }
        }
    }
    let Tally { agreed, unread, unread_but_ours, lost, partial, refused_by_both, only_ours, not_created, failed } =
        tally;
    println!(
        "{agreed} tiles filtered by both sides and read by both, {only_ours} by ours alone; {refused_by_both} refused by both, {partial} by ours alone since the library loses bytes, {not_created} not created"
    );
    println!(
        "{unread} that the library wrote but doesn't always read, of which ours read {unread_but_ours}; values lost in {lost}; {failed} differences, in {:.1} seconds",
        started.elapsed().as_secs_f64()
    );
    if failed > 0 { Err(format!("{failed} differences").into()) } else { Ok(()) }
}

/// One tile and its filters.
#[derive(Debug)]
struct Tile {
    spec: ArraySpec,
    column: Column,
    /// Whether the filters round: then the sides are held against each other.
    rounds: bool,
}

impl Tile {
    fn random(random: &mut Random) -> Self {
        let datatype = *random.pick(&VALUES);
        let mut filters: Vec<FilterSpec> = (0..random.between(1, 4)).map(|_| filter(random)).collect();
        // It rounds, and so changes what filters before it have made.
        let mut index = 0;
        filters.retain(|filter| {
            index += 1;
            index == 1 || !matches!(filter, FilterSpec::ScaleFloat { .. })
        });
        let rounds = filters.iter().any(|filter| matches!(filter, FilterSpec::ScaleFloat { .. }));
        let count = *random.pick(&[1, 2, 3, 5, 9, 20, 60, 400]);
        // Some tiles are of several chunks.
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

    fn examine(&self, reference: &mut Reference, folder: &Path, tally: &mut Tally) -> Result<(), String> {
        let [theirs, ours] = ["theirs", "ours"].map(|name| folder.join(name).to_string_lossy().into_owned());
        let definition = create::build::definition(&self.spec, FormatVersion::DEFAULT);
        if let Err(refusal) = reference.create(&theirs, &self.spec) {
            tally.not_created += 1;
            // What comes of it is for `--create`.
            return if definition.is_err() { Ok(()) } else { Err(format!("the library doesn't create it: {refusal}")) };
        }
        let definition = match definition {
            Ok(definition) => definition,
            Err(error) if error.to_string().contains("does not work") => {
                tally.not_created += 1;
                return Ok(());
            }
            Err(error) => return Err(format!("we don't create what the library creates: {error}")),
        };
        CreateOptions::new().create(&ours, &definition).map_err(|error| describe(&error))?;
        let write =
            WriteSpec { layout: Layout::RowMajor, subarray: None, timestamp: None, cells: vec![self.column.clone()] };
        let by_library = reference.write(&theirs, &write).map_err(|error| error.to_string());
        let array = self.spec.clone();
        let case = Case { array, steps: Vec::new(), questions: Vec::new(), encrypted: false, disordered: false };
        let by_us = ours::write(&ours, &case, &write, Manner { max_fragment_size: None, ..Manner::by(0) });
        let read_theirs = if by_library.is_ok() { self.theirs(reference, &theirs, tally)? } else { None };
        match (&by_library, &by_us) {
            (_, Ok(())) => self.ours(reference, &ours, read_theirs.as_ref())?,
            (Err(_), Err(_)) => tally.refused_by_both += 1,
            // Some parts are of so many bytes by chance.
            (Ok(()), Err(error)) if error.contains("not a whole number of values") => tally.partial += 1,
            (Ok(()), Err(_)) if read_theirs.is_none() => tally.refused_by_both += 1,
            (Ok(()), Err(error)) => return Err(format!("we don't write what the library writes and reads: {error}")),
        }
        if by_us.is_ok() {
            let count = if read_theirs.is_some() { &mut tally.agreed } else { &mut tally.only_ours };
            *count += 1;
        }
        Ok(())
    }

    /// Has both sides read what the library wrote. Gives the cells if it reads them every time, and right, where it can.
    fn theirs(&self, reference: &mut Reference, uri: &str, tally: &mut Tally) -> Result<Option<Column>, String> {
        let read: Vec<_> = (0..TIMES).map(|_| by_library(reference, uri)).collect();
        let settled = match &read[0] {
            Ok(first) if read.iter().all(|read| read.as_ref().ok() == Some(first)) => Some(first.clone()),
            _ => None,
        };
        let settled = settled.filter(|read| self.is_right(read));
        let own = by_us(uri);
        match (&settled, &own) {
            (Some(theirs), Ok(ours)) if theirs == ours => {}
            // It is right by what happened to lie in the memory.
            (_, Err(error)) if error.contains("the writer has lost the bytes") => {
                tally.lost += 1;
                return Ok(None);
            }
            (Some(_), Ok(ours)) => return Err(format!("the library reads its own right, we read {ours:?}")),
            (Some(_), Err(error)) => return Err(format!("the library reads its own right, we don't: {error}")),
            (None, own) => {
                tally.unread += 1;
                tally.unread_but_ours += u64::from(own.as_ref().is_ok_and(|own| self.is_right(own)));
            }
        }
        Ok(settled)
    }

    /// Has both sides read what we wrote.
    fn ours(&self, reference: &mut Reference, uri: &str, theirs: Option<&Column>) -> Result<(), String> {
        let own = by_us(uri).map_err(|error| format!("we don't read our own: {error}"))?;
        let read = by_library(reference, uri).map_err(|error| format!("the library doesn't read ours: {error}"))?;
        if own != read {
            return Err(format!("of ours the library reads {read:?}, and we {own:?}"));
        }
        if !self.is_right(&own) || (self.rounds && theirs.is_some_and(|theirs| *theirs != own)) {
            return Err(format!("what we wrote isn't what was given, or what the library makes of it: {own:?}"));
        }
        Ok(())
    }

    /// Whether these are the cells that were given, as far as no filter rounds.
    fn is_right(&self, read: &Column) -> bool {
        read.offsets == self.column.offsets && (self.rounds || read.values == self.column.values)
    }
}

/// The cells as the library reads them, in a process of its own.
fn by_library(reference: &mut Reference, uri: &str) -> Result<Column, String> {
    reference.restart();
    let mut read = reference.read(uri, &QuerySpec::all(Layout::RowMajor)).map_err(|error| error.to_string())?;
    let place = read.columns.iter().position(|column| column.column.name == "a").ok_or("no cells")?;
    Ok(read.columns.swap_remove(place).column)
}

/// The cells as we read them.
fn by_us(uri: &str) -> Result<Column, String> {
    let array = Array::open(uri).map_err(|error| describe(&error))?;
    let mut read = ours::read(&array, &QuerySpec::all(Layout::RowMajor), None)?;
    let place = read.columns.iter().position(|column| column.name == "a").ok_or("no cells")?;
    Ok(read.columns.swap_remove(place))
}

/// A number as a value.
fn value(datatype: Datatype, number: u64) -> Vec<u8> {
    match datatype {
        Float32 => (number as f32).to_le_bytes().to_vec(),
        Float64 => (number as f64).to_le_bytes().to_vec(),
        // The low bytes, but no sign.
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
