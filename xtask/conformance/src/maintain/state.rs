//! What an array holds, at every time that matters.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use tdb_array::tdb_fragment::FragmentField;
use tdb_array::{Array, TimeRange};
use tdb_cases::case::{Case, Question};
use tdb_cases::compare::difference;
use tdb_cases::history::History;
use tdb_cases::ours::{self, Reading, describe};
use tdb_cases::reads::{read_again, settled, with_coordinates};
use tdb_cases::scalars::integer_of;
use tdb_cases::selection::Selection;
use tdb_reference::Reference;
use tdb_reference::model::{Bytes, MetadataEntry, QuerySpec, ReadColumn, ReadResult, WriteSpec};
use tdb_types::{ArrayType, Layout, TimestampedName};

/// From when to when an array is opened; the end of all times is now.
pub type Window = (u64, u64);

/// What is read in a window: cells, and metadata.
#[derive(Clone, Debug)]
pub struct Seen {
    pub cells: ReadResult,
    pub metadata: Vec<MetadataEntry>,
}

/// What our library reads in each window, or why it can't.
pub type State = BTreeMap<Window, Result<Seen, String>>;

/// The windows that matter: until each time at which something happens, before all, now; and some that begin later.
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

/// What is read of the whole array in a window.
fn question(case: &Case, window: Window) -> Question {
    let layout = match case.array.array_type {
        ArrayType::Dense => Layout::RowMajor,
        ArrayType::Sparse => Layout::GlobalOrder,
    };
    let timestamps = (window != (0, u64::MAX)).then_some(window);
    let query = QuerySpec { timestamps, ..QuerySpec::all(layout) };
    let (selection, aggregates, budget) = (Selection::default(), Vec::new(), None);
    Question { query, selection, aggregates, budget, tiny_budget: usize::MAX, threads: 1 }
}

/// What our library reads in a window.
pub fn our_view(case: &Case, uri: &str, window: Window) -> Result<Seen, String> {
    let question = question(case, window);
    let mut options = ours::options(case).threads(1);
    if window != (0, u64::MAX) {
        options = options.between(TimeRange { start: window.0, end: window.1 });
    }
    let array = options.open(uri).map_err(|error| describe(&error))?;
    let mut spec = question.query.clone();
    if spec.fields.is_empty() {
        let names = array.schema().attributes().iter().map(tdb_schema::Attribute::name);
        let dimensions = array.schema().dimensions().iter().map(tdb_schema::Dimension::name);
        let is_sparse = case.array.array_type == ArrayType::Sparse;
        spec.fields = dimensions.filter(|_| is_sparse).chain(names).map(str::to_owned).collect();
    }
    let reading = ours::read(&array, &spec, None)?;
    let entries = array.metadata().map_err(|error| describe(&error))?;
    let entries = entries.iter().map(|(key, value)| MetadataEntry {
        key: key.into_owned(),
        datatype: value.datatype(),
        count: value.count(),
        value: Bytes(value.as_bytes().to_vec()),
    });
    Ok(Seen { cells: result_of(&array, reading), metadata: entries.collect() })
}

/// As the library's results are.
fn result_of(array: &Array, reading: Reading) -> ReadResult {
    let schema = array.schema();
    let columns = reading.columns.into_iter().filter_map(|column| {
        let kind = schema.field(&column.name).and_then(|field| schema.field_type(field))?;
        Some(ReadColumn { datatype: kind.datatype, cell_val_num: kind.cell_val_num.fixed(), column })
    });
    ReadResult { cells: reading.cells, columns: columns.collect(), submits: 1 }
}

/// How both sides' views of a window compare.
pub enum Compared {
    Same,
    /// What differs, and the cells that do.
    Cells(String, Differing),
    Metadata(String),
    /// The library can't read it.
    TheirError(String),
    OurError(String),
}

/// Compares what ours reads in a window with what the library does.
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
        // Now and then something before has damaged the process's memory; the next one is new.
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

/// What differs between two views of the same cells.
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
    // An entry without a value says nothing of how many it has.
    let same = expected.len() == got.len()
        && expected.iter().zip(&got).all(|(a, b)| (&a.key, a.datatype, &a.value) == (&b.key, b.datatype, &b.value));
    (!same).then(|| format!("metadata: expected {expected:?}, got {got:?}"))
}

/// The coordinates of the cells in which two views differ.
#[derive(Debug, Default)]
pub struct Differing {
    /// Coordinates of cells that are in one of both alone.
    pub coordinates: HashSet<Vec<u8>>,
    /// Of these, those that the first has no cell of.
    pub only_in_second: HashSet<Vec<u8>>,
    /// The coordinates of cells that the first has, and the second hasn't.
    pub lost: HashSet<Vec<u8>>,
    /// The coordinates of cells that the second has, and the first hasn't.
    pub gained: HashSet<Vec<u8>>,
}

impl Differing {
    pub fn of(case: &Case, expected: &ReadResult, got: &ReadResult) -> Self {
        let mut counts: HashMap<(Vec<u8>, Vec<u8>), i64> = HashMap::new();
        for (result, one) in [(expected, 1), (got, -1)] {
            for cell in 0..result.cells {
                *counts.entry(row(case, &result.columns, cell)).or_default() += one;
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

/// The coordinates of a cell, and all of it.
fn row(case: &Case, columns: &[ReadColumn], cell: usize) -> (Vec<u8>, Vec<u8>) {
    let (mut place, mut whole) = (Vec::new(), Vec::new());
    if case.array.array_type == ArrayType::Dense {
        place = cell.to_le_bytes().to_vec();
        whole.clone_from(&place);
    }
    for column in columns {
        let bytes = cell_of(column, cell);
        if case.array.dimension_names().any(|name| name == column.column.name) {
            append(&mut place, &bytes);
        }
        append(&mut whole, &bytes);
        whole.extend(column.column.validity.as_ref().map(|validity| validity[cell]));
    }
    (place, whole)
}

fn append(place: &mut Vec<u8>, bytes: &[u8]) {
    place.extend((bytes.len() as u64).to_le_bytes());
    place.extend(bytes);
}

fn cell_of(column: &ReadColumn, cell: usize) -> Vec<u8> {
    let range: Range<usize> = match &column.column.offsets {
        Some(offsets) => offsets[cell] as usize..offsets[cell + 1] as usize,
        None => {
            let size = column.cell_val_num.unwrap_or(1) as usize * column.datatype.size();
            cell * size..(cell + 1) * size
        }
    };
    column.column.values[range].to_vec()
}

/// When the cells at each coordinates were written, and how often at each time; dense cells go by their numbers in row-major
/// order.
#[derive(Debug, Default)]
pub struct Ties(HashMap<Vec<u8>, BTreeMap<u64, u32>>);

impl Ties {
    /// Takes a write into account.
    pub fn add(&mut self, case: &Case, write: &WriteSpec) {
        let own: HashSet<Vec<u8>> = places(case, write).into_iter().collect();
        for place in own {
            *self.0.entry(place).or_default().entry(write.timestamp.unwrap_or(0)).or_default() += 1;
        }
    }

    /// Forgets writes of times that no fragment has any more.
    pub fn keep(&mut self, fragments: &[Counted]) {
        let is_there =
            |time: &u64| fragments.iter().any(|counted| (counted.name.start()..=counted.name.end()).contains(time));
        self.0.values_mut().for_each(|times| times.retain(|time, _| is_there(time)));
    }

    /// Whether cells of these coordinates were written at the same time within a window. The library then takes either of them,
    /// now and then even where a newer one follows.
    pub fn are_at(&self, place: &[u8], (start, end): Window) -> bool {
        self.0.get(place).is_some_and(|times| times.range(start..=end).any(|(_, writes)| *writes > 1))
    }

    /// Whether cells of these coordinates were written more than once.
    pub fn is_overwritten(&self, place: &[u8]) -> bool {
        self.0.get(place).is_some_and(|times| times.values().sum::<u32>() > 1)
    }

    /// Whether cells of any coordinates were written at the same time within a window.
    pub fn are_in(&self, (start, end): Window) -> bool {
        self.0.values().any(|times| times.range(start..=end).any(|(_, writes)| *writes > 1))
    }
}

/// The coordinates of all cells of a write.
fn places(case: &Case, write: &WriteSpec) -> Vec<Vec<u8>> {
    if let Some(subarray) = &write.subarray {
        return dense_places(case, subarray);
    }
    let columns = case.array.dimensions.iter().filter_map(|dimension| {
        let column = write.cells.iter().find(|column| column.name == dimension.name)?;
        Some((column, dimension.datatype.size()))
    });
    let columns: Vec<_> = columns.collect();
    let cells = columns.first().map_or(0, |(column, size)| {
        column.offsets.as_ref().map_or(column.values.len() / size, |offsets| offsets.len().saturating_sub(1))
    });
    let place = |cell: usize| {
        let mut place = Vec::new();
        for (column, size) in &columns {
            let range = match &column.offsets {
                Some(offsets) => offsets[cell] as usize..offsets[cell + 1] as usize,
                None => cell * size..(cell + 1) * size,
            };
            append(&mut place, &column.values[range]);
        }
        place
    };
    (0..cells).map(place).collect()
}

/// The numbers of the cells of a box.
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

/// The fragments that count now.
#[derive(Clone, Debug)]
pub struct Counted {
    pub name: TimestampedName,
    /// Attributes of its schema.
    pub attributes: Vec<String>,
    pub domain: Option<tdb_rtree::NdRange>,
    /// Whether each of its cells has its own time.
    pub has_times: bool,
}

/// The fragments that count now, and the names of files of metadata.
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
