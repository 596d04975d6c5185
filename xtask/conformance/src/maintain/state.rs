//! The contents of an array at every relevant time.

use std::collections::{BTreeMap, HashMap, HashSet};

use tdb_array::TimeRange;
use tdb_array::tdb_fragment::FragmentField;
use tdb_cases::case::{Case, Question};
use tdb_cases::compare::difference;
use tdb_cases::entries::entries_of;
use tdb_cases::evaluation::typed;
use tdb_cases::history::History;
use tdb_cases::ours::{self, Reading, describe};
use tdb_cases::reads::{read_again, settled, with_coordinates};
use tdb_cases::scalars::integer_of;
use tdb_reference::Reference;
use tdb_reference::model::{Bytes, MetadataEntry, QuerySpec, ReadResult, WriteSpec};
use tdb_types::{Layout, TimestampedName};

/// The time range with which an array is opened. An end of `u64::MAX` means now.
pub type Window = (u64, u64);

/// The cells and metadata that are read in a window.
#[derive(Clone, Debug)]
pub struct Seen {
    pub cells: ReadResult,
    pub metadata: Vec<MetadataEntry>,
}

/// The reads of tdb in each window, or their errors.
pub type State = BTreeMap<Window, Result<Seen, String>>;

/// Returns the relevant windows: up to the time of each operation, before all operations, up to
/// now, and some with a later start.
pub fn windows(history: &History) -> Vec<Window> {
    let mut times: Vec<u64> = history.turns.iter().filter_map(|turn| turn.deed.time()).collect();
    times.sort_unstable();
    times.dedup();
    let first = times.first().copied().unwrap_or(1);
    let mut windows = vec![(0, first - 1)];
    windows.extend(times.iter().map(|time| (0, *time)));
    let middle = times.len() / 2;
    windows.extend(times.get(middle).map(|time| (*time, *time)));
    windows.extend(times.get(1).map(|time| (*time, u64::MAX)));
    windows.extend(times.get(middle / 2).zip(times.last()).map(|(start, end)| (*start, *end)));
    windows.push((0, u64::MAX));
    windows.sort_unstable();
    windows.dedup();
    windows
}

/// Returns a question about all cells in a window.
fn question(case: &Case, window: Window) -> Question {
    let layout = if case.is_dense() { Layout::RowMajor } else { Layout::GlobalOrder };
    let timestamps = (window != (0, u64::MAX)).then_some(window);
    let query = QuerySpec { timestamps, ..QuerySpec::all(layout) };
    Question::of(query)
}

/// Reads all cells and metadata in a window with tdb.
pub fn our_view(case: &Case, uri: &str, window: Window) -> Result<Seen, String> {
    let question = question(case, window);
    let array = ours::open(uri, case, &question)?;
    let names = array.schema().attributes().iter().map(tdb_schema::Attribute::name);
    let dimensions = array.schema().dimensions().iter().map(tdb_schema::Dimension::name);
    let fields = dimensions.filter(|_| !case.is_dense()).chain(names).map(str::to_owned).collect();
    let reading = ours::read(&array, &QuerySpec { fields, ..question.query }, None)?;
    let metadata = entries_of(array.metadata().map_err(|error| describe(&error))?);
    Ok(Seen { cells: typed(&array, reading), metadata })
}

/// The result of comparing the reads of both sides in a window.
pub enum Compared {
    Same,
    /// A description of the difference, and the differing cells.
    Cells(String, Differing),
    Metadata(String),
    /// The library failed to read.
    TheirError(String),
    OurError(String),
}

/// Compares tdb's read in a window with the library's.
pub fn compare(
    case: &Case,
    ours: &Result<Seen, String>,
    reference: &mut Reference,
    uri: &str,
    window: Window,
) -> Compared {
    let question = question(case, window);
    let theirs = match read_again(reference, uri, &with_coordinates(case, &question)).0 {
        Ok(theirs) => theirs,
        Err(_) if ours.is_err() => return Compared::Same,
        Err(error) => return Compared::TheirError(error.to_string()),
    };
    let ours = match ours {
        Ok(ours) => ours,
        Err(error) => return Compared::OurError(error.clone()),
    };
    if let Some(detail) = other_cells(case, &theirs, &ours.cells) {
        return Compared::Cells(detail, Differing::of(case, &theirs, &ours.cells));
    }
    let within = (window != (0, u64::MAX)).then_some(window);
    let theirs = match reference.metadata(uri, within) {
        // An earlier job sometimes corrupts the memory of the process, so the job runs again in a
        // new process.
        Err(tdb_reference::Error::Crashed { .. }) => reference.metadata(uri, within),
        read => read,
    };
    match theirs {
        Ok(theirs) => match other_metadata(&theirs, &ours.metadata) {
            Some(detail) => Compared::Metadata(detail),
            None => Compared::Same,
        },
        Err(error) => Compared::TheirError(error.to_string()),
    }
}

/// Returns the first difference between two reads of the same cells.
pub fn other_cells(case: &Case, expected: &ReadResult, got: &ReadResult) -> Option<String> {
    let question = question(case, (0, u64::MAX));
    let order = settled(case, &question, expected);
    if expected.columns.len() != got.columns.len() && expected.cells + got.cells > 0 {
        return Some(format!("{} columns expected, {} got", expected.columns.len(), got.columns.len()));
    }
    difference(expected, &Reading::of(got), &order)
}

pub fn other_metadata(expected: &[MetadataEntry], got: &[MetadataEntry]) -> Option<String> {
    let sorted = |entries: &[MetadataEntry]| {
        let mut entries = entries.to_vec();
        entries.sort_by(|a, b| a.key.cmp(&b.key));
        entries
    };
    let (expected, got) = (sorted(expected), sorted(got));
    // The value count of an entry without a value is not defined.
    let same = expected.len() == got.len()
        && expected.iter().zip(&got).all(|(a, b)| (&a.key, a.datatype, &a.value) == (&b.key, b.datatype, &b.value));
    (!same).then(|| format!("metadata: expected {expected:?}, got {got:?}"))
}

/// Coordinates of the cells in which two reads differ.
#[derive(Debug, Default)]
pub struct Differing {
    /// Coordinates of cells in only one of both reads.
    pub coordinates: HashSet<Vec<u8>>,
    /// Coordinates of which only the second read contains a cell.
    pub only_in_second: HashSet<Vec<u8>>,
    /// Coordinates of cells that only the first read contains.
    pub lost: HashSet<Vec<u8>>,
    /// Coordinates of cells that only the second read contains.
    pub gained: HashSet<Vec<u8>>,
}

impl Differing {
    pub fn of(case: &Case, expected: &ReadResult, got: &ReadResult) -> Self {
        let mut counts: HashMap<(Vec<u8>, Vec<u8>), i64> = HashMap::new();
        for (result, one) in [(expected, 1), (got, -1)] {
            for cell in 0..result.cells {
                *counts.entry(row(case, result, cell)).or_default() += one;
            }
        }
        let of = |sign: i64| -> HashSet<Vec<u8>> {
            counts.iter().filter(|(_, count)| count.signum() == sign).map(|((place, _), _)| place.clone()).collect()
        };
        let (lost, gained) = (of(1), of(-1));
        let coordinates = lost.union(&gained).cloned().collect();
        let only_in_second = gained.difference(&lost).cloned().collect();
        Self { coordinates, only_in_second, lost, gained }
    }
}

/// Returns the coordinates of a cell, and all of its bytes.
fn row(case: &Case, result: &ReadResult, cell: usize) -> (Vec<u8>, Vec<u8>) {
    let (mut place, mut whole) = (Vec::new(), Vec::new());
    if case.is_dense() {
        place = cell.to_le_bytes().to_vec();
        whole.clone_from(&place);
    }
    for column in &result.columns {
        let bytes = column.column.cell(result.cells, cell);
        if case.array.dimension(&column.column.name).is_some() {
            append(&mut place, bytes);
        }
        append(&mut whole, bytes);
        whole.extend(column.column.validity.as_ref().map(|validity| validity[cell]));
    }
    (place, whole)
}

fn append(place: &mut Vec<u8>, bytes: &[u8]) {
    place.extend((bytes.len() as u64).to_le_bytes());
    place.extend(bytes);
}

/// The write times at each coordinate, with the number of writes at each time. Dense cells are
/// identified by their row-major position.
#[derive(Debug, Default)]
pub struct Ties(HashMap<Vec<u8>, BTreeMap<u64, u32>>);

impl Ties {
    /// Adds the cells of a write.
    pub fn add(&mut self, case: &Case, write: &WriteSpec) {
        let own: HashSet<Vec<u8>> = places(case, write).into_iter().collect();
        for place in own {
            *self.0.entry(place).or_default().entry(write.timestamp.unwrap_or(0)).or_default() += 1;
        }
    }

    /// Removes times that no fragment covers any longer.
    pub fn keep(&mut self, fragments: &[Counted]) {
        let is_there =
            |time: &u64| fragments.iter().any(|counted| (counted.name.start()..=counted.name.end()).contains(time));
        self.0.values_mut().for_each(|times| times.retain(|time, _| is_there(time)));
    }

    /// `true` if cells with these coordinates were written more than once at one time in a window.
    /// The library then returns any of these cells, sometimes even if a newer cell follows.
    pub fn are_at(&self, place: &[u8], (start, end): Window) -> bool {
        self.0.get(place).is_some_and(|times| times.range(start..=end).any(|(_, writes)| *writes > 1))
    }

    /// `true` if cells of these coordinates were written more than once.
    pub fn is_overwritten(&self, place: &[u8]) -> bool {
        self.0.get(place).is_some_and(|times| times.values().sum::<u32>() > 1)
    }

    /// `true` if cells of any coordinates were written more than once at one time in a window.
    pub fn are_in(&self, (start, end): Window) -> bool {
        self.0.values().any(|times| times.range(start..=end).any(|(_, writes)| *writes > 1))
    }
}

/// Returns the coordinates of all cells of a write.
fn places(case: &Case, write: &WriteSpec) -> Vec<Vec<u8>> {
    if let Some(subarray) = &write.subarray {
        return dense_places(case, subarray);
    }
    let columns = case.array.dimension_names().filter_map(|name| write.cells.iter().find(|own| own.name == name));
    let (columns, cells): (Vec<_>, _) = (columns.collect(), case.array.cells_of(write));
    let place = |cell: usize| {
        let mut place = Vec::new();
        columns.iter().for_each(|column| append(&mut place, column.cell(cells, cell)));
        place
    };
    (0..cells).map(place).collect()
}

/// Returns the row-major positions of the cells of a subarray.
fn dense_places(case: &Case, subarray: &[(Bytes, Bytes)]) -> Vec<Vec<u8>> {
    let mut numbers = vec![0_i128];
    for (dimension, (low, high)) in case.array.dimensions.iter().zip(subarray) {
        let integer = |bytes: &Bytes| integer_of(dimension.datatype.physical(), bytes);
        let Some((first, last)) = dimension.domain.as_ref().map(|(first, last)| (integer(first), integer(last))) else {
            return Vec::new();
        };
        let along = integer(low) - first..=integer(high) - first;
        let widened = |number: &i128| {
            let start = number * (last - first + 1);
            along.clone().map(move |own| start + own)
        };
        numbers = numbers.iter().flat_map(widened).collect();
    }
    numbers.into_iter().map(|number| (number as usize).to_le_bytes().to_vec()).collect()
}

/// A visible fragment.
#[derive(Clone, Debug)]
pub struct Counted {
    pub name: TimestampedName,
    /// Attributes of the fragment's schema.
    pub attributes: Vec<String>,
    pub domain: Option<tdb_rtree::NdRange>,
    /// `true` if the fragment stores a time for each cell.
    pub has_times: bool,
}

/// Returns the visible fragments.
pub fn counted(case: &Case, uri: &str) -> Result<Vec<Counted>, String> {
    let array = ours::options(case).threads(1).between(TimeRange::ALL).open(uri).map_err(|error| describe(&error))?;
    let fragments = array.fragments().map_err(|error| describe(&error))?;
    Ok(fragments
        .iter()
        .map(|fragment| Counted {
            name: fragment.name().clone(),
            attributes: fragment.schema().attributes().iter().map(|own| own.name().to_owned()).collect(),
            domain: fragment.non_empty_domain().cloned(),
            has_times: fragment.footer().slot(FragmentField::Timestamps).is_some(),
        })
        .collect())
}
