//! Detection of rows with equal coordinates, for any number of rows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use super::cells::Place;
use crate::error::{Error, Result};

/// The coordinates of a row, and the identity of the row. Coordinates that do not fit into a number
/// are replaced by a hash of 128 bits with a random key, so that files cannot provoke collisions.
type Row = (u128, At);

/// The identity of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    /// Number of the row, counted over all files.
    pub(super) number: u64,
    /// Position for error messages.
    pub(super) line: Line,
}

/// A file index and a line or row number, packed into 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Line(pub(super) u64);

/// Bits of the line number. The file index has the other 24 bits.
const LINE_BITS: u32 = 40;

impl Line {
    pub(super) fn new(file: usize, line: u64) -> Self {
        Self((file as u64) << LINE_BITS | line & ((1 << LINE_BITS) - 1))
    }

    /// Returns the index of the file, from 0.
    pub(super) fn file(self) -> usize {
        (self.0 >> LINE_BITS) as usize
    }

    /// Returns the number of the line.
    pub(super) fn line(self) -> u64 {
        self.0 & ((1 << LINE_BITS) - 1)
    }
}

/// Bytes of a row in a temporary file.
const SIZE: usize = 16 + 8 + 8;

/// Minimum number of rows in memory, about 8 MiB. With fewer rows per run, the sort would need too
/// many open files.
const LEAST: usize = 1 << 18;

/// The coordinates of all rows, in memory or in sorted runs in temporary files.
#[derive(Debug)]
pub(super) struct Places {
    keys: [RandomState; 2],
    rows: Vec<Row>,
    /// Maximum number of rows in memory.
    most: usize,
    runs: Vec<File>,
}

impl Places {
    /// Creates an empty table that takes about `budget` bytes of memory.
    pub(super) fn new(budget: usize) -> Self {
        let keys = [RandomState::new(), RandomState::new()];
        Self { keys, rows: Vec::new(), most: rows_in(budget), runs: Vec::new() }
    }

    /// Raises the budget.
    pub(super) fn may_take(&mut self, budget: usize) {
        self.most = self.most.max(rows_in(budget));
    }

    /// Adds the coordinates of a row.
    ///
    /// # Errors
    /// Fails if a temporary file cannot be written.
    pub(super) fn add(&mut self, place: Place<'_>, at: At) -> Result<()> {
        if self.rows.len() == self.most {
            self.spill()?;
        }
        let place = match place {
            // Numbers have the order of the coordinates, so that rows in order are sorted quickly.
            Place::Number(number) => number,
            Place::Bytes(bytes) => {
                let [high, low] = self.keys.each_ref().map(|key| u128::from(key.hash_one(bytes)));
                high << 64 | low
            }
        };
        self.rows.push((place, at));
        Ok(())
    }

    fn spill(&mut self) -> Result<()> {
        self.rows.sort_unstable();
        let run = write_run(&self.rows).map_err(failed)?;
        self.runs.push(run);
        self.rows.clear();
        Ok(())
    }

    /// Calls `found` for each row that repeats the coordinates of an earlier row. The arguments are
    /// the first row with these coordinates, the previous row with these coordinates, and the row
    /// itself.
    ///
    /// # Errors
    /// Fails if a temporary file cannot be written or read.
    pub(super) fn repeated(mut self, found: impl FnMut(At, At, At)) -> Result<()> {
        if self.runs.is_empty() {
            self.rows.sort_unstable();
            group(self.rows.into_iter().map(Ok), found)
        } else {
            self.spill()?;
            Merge::new(self.runs).and_then(|merge| group(merge, found))
        }
        .map_err(failed)
    }
}

/// Wraps an error of a temporary file.
pub(super) fn failed(source: io::Error) -> Error {
    Error::Io { name: "a temporary file".to_owned(), source }
}

/// Returns the number of rows that fit into a budget.
fn rows_in(budget: usize) -> usize {
    // A growing vector briefly needs twice its size.
    (budget / 2 / size_of::<Row>()).max(LEAST)
}

/// Finds repeated coordinates in sorted rows, as in [`Places::repeated`].
fn group(rows: impl Iterator<Item = io::Result<Row>>, mut found: impl FnMut(At, At, At)) -> io::Result<()> {
    let mut last: Option<(u128, At, At)> = None;
    for row in rows {
        let (place, at) = row?;
        let first = match last {
            Some((other, first, before)) if other == place => {
                found(first, before, at);
                first
            }
            _ => at,
        };
        last = Some((place, first, at));
    }
    Ok(())
}

fn write_run(rows: &[Row]) -> io::Result<File> {
    // An unnamed file, which the system deletes on close.
    let mut file = BufWriter::new(tempfile::tempfile()?);
    for (place, At { number, line }) in rows {
        file.write_all(&place.to_le_bytes())?;
        file.write_all(&number.to_le_bytes())?;
        file.write_all(&line.0.to_le_bytes())?;
    }
    let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

/// A merge of sorted runs.
struct Merge {
    runs: Vec<BufReader<File>>,
    next: BinaryHeap<Reverse<(Row, usize)>>,
}

impl Merge {
    fn new(runs: Vec<File>) -> io::Result<Self> {
        let runs = runs.into_iter().map(|run| BufReader::with_capacity(1 << 16, run)).collect();
        let mut merge = Self { runs, next: BinaryHeap::new() };
        for run in 0..merge.runs.len() {
            merge.advance(run)?;
        }
        Ok(merge)
    }

    fn advance(&mut self, run: usize) -> io::Result<()> {
        let mut bytes = [0; SIZE];
        match self.runs[run].read_exact(&mut bytes) {
            Ok(()) => {
                let (place, at) = bytes.split_at(16);
                let (number, line) = at.split_at(8);
                let word = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).map_err(io::Error::other);
                let place = u128::from_le_bytes(place.try_into().map_err(io::Error::other)?);
                self.next.push(Reverse(((place, At { number: word(number)?, line: Line(word(line)?) }), run)));
                Ok(())
            }
            // The run has ended, because runs consist of complete rows.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl Iterator for Merge {
    type Item = io::Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        let Reverse((row, run)) = self.next.pop()?;
        Some(self.advance(run).map(|()| row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_place_are_found_in_memory_and_in_files() {
        for (budget, is_number) in [(usize::MAX, false), (usize::MAX, true), (0, false), (0, true)] {
            let mut places = Places::new(budget);
            let rows = 3 * LEAST as u64;
            let at = |number| At { number, line: Line::new(0, 2 * number) };
            for number in 1..=rows {
                let place = number % (rows - 10);
                let bytes = place.to_le_bytes();
                let place = if is_number { Place::Number(place.into()) } else { Place::Bytes(&bytes) };
                places.add(place, at(number)).unwrap();
            }
            assert_eq!(places.runs.len(), if budget == 0 { 2 } else { 0 });
            let mut found = Vec::new();
            places.repeated(|first, before, at| found.push((first, before, at))).unwrap();
            found.sort_unstable();
            let wanted: Vec<_> = (1..=10).map(|number| (at(number), at(number), at(number + rows - 10))).collect();
            assert_eq!(found, wanted);
        }
    }
}
