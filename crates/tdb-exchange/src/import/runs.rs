//! External sort of rows by position, with sorted runs in temporary files.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use super::places::{Line, failed};
use crate::error::Result;

/// Maximum number of open runs. Before a further run is added, all runs are merged into one.
const MOST: usize = 256;

/// Bytes of the header of a record: position, line and byte length of the row.
const HEAD: usize = 8 + 8 + 8;

/// Sorted runs of rows.
#[derive(Debug)]
pub(super) struct Runs {
    files: Vec<File>,
    most: usize,
    /// Total read buffer of all runs, in bytes.
    buffers: usize,
}

/// A row of a run.
struct Record {
    position: u64,
    line: Line,
    row: Vec<u8>,
}

impl Runs {
    /// Creates a sort without rows. A merge takes a quarter of `budget` of memory, but at least 1
    /// MiB.
    pub(super) fn new(budget: usize) -> Self {
        Self { files: Vec::new(), most: MOST, buffers: (budget / 4).max(1 << 20) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Writes a run of rows with these positions and lines. `bytes` serializes the row with the
    /// given index.
    ///
    /// # Errors
    /// Fails if a temporary file cannot be written.
    pub(super) fn spill(
        &mut self,
        positions: &[u64],
        lines: &[Line],
        mut bytes: impl FnMut(usize, &mut Vec<u8>),
    ) -> Result<()> {
        let mut order: Vec<usize> = (0..positions.len().min(lines.len())).collect();
        order.sort_unstable_by_key(|row| positions[*row]);
        let mut record = Record { position: 0, line: Line(0), row: Vec::new() };
        let write = |run: &mut BufWriter<File>| {
            for row in order {
                (record.position, record.line) = (positions[row], lines[row]);
                record.row.clear();
                bytes(row, &mut record.row);
                record.write(run)?;
            }
            Ok(())
        };
        if self.files.len() >= self.most {
            self.join().map_err(failed)?;
        }
        self.files.push(run(write).map_err(failed)?);
        Ok(())
    }

    /// Calls `take` for each row with its position, line and bytes, in the order of the positions.
    ///
    /// # Errors
    /// Fails if a temporary file cannot be read, or if `take` fails.
    pub(super) fn merge(mut self, mut take: impl FnMut(u64, Line, &[u8]) -> Result<()>) -> Result<()> {
        let mut merge = self.begin().map_err(failed)?;
        while let Some(record) = merge.next().map_err(failed)? {
            take(record.position, record.line, &record.row)?;
        }
        Ok(())
    }

    /// Merges all runs into one.
    fn join(&mut self) -> io::Result<()> {
        let mut merge = self.begin()?;
        let joined = run(|run| {
            while let Some(record) = merge.next()? {
                record.write(run)?;
            }
            Ok(())
        })?;
        self.files.push(joined);
        Ok(())
    }

    fn begin(&mut self) -> io::Result<Merge> {
        let files = std::mem::take(&mut self.files);
        let size = (self.buffers / files.len().max(1)).clamp(1 << 12, 1 << 18);
        let runs = files.into_iter().map(|file| BufReader::with_capacity(size, file)).collect();
        let mut merge = Merge { runs, next: BinaryHeap::new(), record: None };
        for run in 0..merge.runs.len() {
            merge.advance(run)?;
        }
        Ok(merge)
    }
}

/// Creates a temporary file with the output of `write`, positioned at the start. The file is
/// unnamed, and the system deletes it on close.
fn run(write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<File> {
    let mut run = BufWriter::with_capacity(1 << 16, tempfile::tempfile()?);
    write(&mut run)?;
    let mut file = run.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

impl Record {
    fn write(&self, run: &mut impl Write) -> io::Result<()> {
        run.write_all(&self.position.to_le_bytes())?;
        run.write_all(&self.line.0.to_le_bytes())?;
        run.write_all(&(self.row.len() as u64).to_le_bytes())?;
        run.write_all(&self.row)
    }
}

/// A merge of sorted runs.
struct Merge {
    runs: Vec<BufReader<File>>,
    /// For each run: position, line and byte length of its next row, and the index of the run.
    next: BinaryHeap<Reverse<(u64, Line, u64, usize)>>,
    /// The record that was read last.
    record: Option<Record>,
}

impl Merge {
    /// Reads the header of the next row of a run.
    fn advance(&mut self, run: usize) -> io::Result<()> {
        let mut head = [0; HEAD];
        match self.runs[run].read_exact(&mut head) {
            Ok(()) => {
                let mut words = head.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_le_bytes));
                let mut word = || words.next().unwrap_or(0);
                self.next.push(Reverse((word(), Line(word()), word(), run)));
                Ok(())
            }
            // The run has ended, because runs consist of complete rows.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn next(&mut self) -> io::Result<Option<&Record>> {
        let Some(Reverse((position, line, size, run))) = self.next.pop() else { return Ok(None) };
        let mut row = self.record.take().map_or_else(Vec::new, |record| record.row);
        row.clear();
        if (&mut self.runs[run]).take(size).read_to_end(&mut row)? as u64 != size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.advance(run)?;
        Ok(Some(self.record.insert(Record { position, line, row })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_in_order_from_many_runs() {
        // 7 and 1000 are coprime, so each position occurs once.
        let positions: Vec<u64> = (0..1000).map(|row| row * 7 % 1000).collect();
        for (most, files) in [(MOST, 200), (3, 2)] {
            let mut runs = Runs { most, ..Runs::new(0) };
            for part in positions.chunks(5) {
                let lines: Vec<Line> = part.iter().map(|position| Line::new(1, position + 1)).collect();
                let bytes = |row: usize, bytes: &mut Vec<u8>| bytes.resize(part[row] as usize % 11, part[row] as u8);
                runs.spill(part, &lines, bytes).unwrap();
            }
            assert_eq!(runs.files.len(), files);
            let mut wanted = 0..1000;
            runs.merge(|position, line, bytes| {
                assert_eq!(Some(position), wanted.next());
                assert_eq!((line.file(), line.line()), (1, position + 1));
                assert_eq!(bytes, vec![position as u8; position as usize % 11]);
                Ok(())
            })
            .unwrap();
            assert_eq!(wanted.next(), None);
        }
    }
}
