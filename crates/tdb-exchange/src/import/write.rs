//! The second pass, which writes the accepted rows. It reads the files again if the first pass did
//! not keep the parsed rows.

use tdb_array::{Array, ArrayError, CellProblem, CellsError, Duplicates};
use tdb_schema::ArrayDefinition;

use super::cells::Cells;
use super::check::{Checked, Kept};
use super::observer::{Observer, Pass};
use super::options::Import;
use super::places::{At, Line};
use super::runs::Runs;
use super::source::Visitor;
use crate::error::{Error, Result};

/// Minimum memory in bytes of unsorted rows that are moved to a temporary file.
const LEAST_RUN: usize = 1 << 16;

/// The number of cells and fragments that an import has written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// Number of cells in all fragments.
    pub cells: u64,
    /// Number of fragments.
    pub fragments: usize,
}

impl Import {
    /// Writes the accepted rows, one fragment per `budget` bytes. If the rows of a dense array are
    /// not in row-major order, sorts them first, in temporary files if they exceed the budget. If
    /// the import fails, `imported` contains the fragments that it has written before.
    ///
    /// # Errors
    /// Fails if the files cannot be read or have changed since the check, if a temporary file
    /// cannot be written, or if a fragment cannot be written.
    pub fn write(
        &self,
        array: &Array,
        definition: &ArrayDefinition,
        checked: &mut Checked,
        imported: &mut Imported,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let runs = Runs::new(self.budget);
        let kept = checked.kept.take();
        let (lines, positions, keys) = Default::default();
        let mut pass =
            Writer { import: self, array, checked, imported, observer, lines, positions, keys, runs, pushed: 0 };
        let mut cells = match kept {
            None => self.source.walk(self.target(definition), &mut pass)?,
            Some(Kept { mut cells, rows }) => {
                pass.pushed(&mut cells, &rows)?;
                cells
            }
        };
        pass.observer.pass_ended();
        if pass.pushed != checked.rows {
            return Err(pass.changed());
        }
        if !pass.runs.is_empty() {
            pass.spill(&mut cells)?;
            cells.without_dimensions();
            pass.merge(&mut cells)?;
        }
        match cells.len {
            0 => Ok(()),
            count => pass.flush(&mut cells, count),
        }
    }
}

struct Writer<'a> {
    import: &'a Import,
    array: &'a Array,
    checked: &'a Checked,
    imported: &'a mut Imported,
    observer: &'a mut dyn Observer,
    /// Lines of the unwritten cells.
    lines: Vec<Line>,
    /// Positions of the unwritten cells in the subarray. Empty for a sparse array, or if the rows
    /// are in row-major order.
    positions: Vec<u64>,
    keys: Vec<u64>,
    runs: Runs,
    pushed: u64,
}

impl Visitor for Writer<'_> {
    fn wants(&self, number: u64) -> bool {
        !self.checked.replaced.contains(number)
    }

    fn pushed(&mut self, cells: &mut Cells, rows: &[At]) -> Result<()> {
        let before = self.pushed;
        self.pushed += rows.len() as u64;
        if self.pushed > self.checked.rows {
            // The first pass has not checked the additional rows.
            return Err(self.changed());
        }
        self.lines.extend(rows.iter().map(|at| at.line));
        if !self.array.schema().is_dense() {
            return if self.fits(cells, self.import.budget) { Ok(()) } else { self.flush(cells, cells.len) };
        }
        self.locate(cells, before, rows)?;
        match self.checked.bounds.sorted {
            true => self.flush_slices(cells),
            false if self.fits(cells, self.import.budget.max(LEAST_RUN)) => Ok(()),
            false => self.spill(cells),
        }
    }

    fn rejected(&mut self, _: At, _: &str) {}

    fn progress(&mut self, done: u64, total: u64) {
        self.observer.progress(Pass::Write, done, total);
    }
}

impl Writer<'_> {
    /// Returns `true` if the budget has room for more cells.
    fn fits(&self, cells: &Cells, budget: usize) -> bool {
        // The sort needs another word per position.
        cells.bytes() + size_of::<Line>() * self.lines.len() + 2 * size_of::<u64>() * self.positions.len() < budget
    }

    /// Records the positions of these rows in the subarray, if a sort needs them. `before` rows
    /// precede these rows.
    fn locate(&mut self, cells: &Cells, before: u64, rows: &[At]) -> Result<()> {
        for (row, at) in rows.iter().enumerate() {
            cells.keys(cells.len - rows.len() + row, &mut self.keys);
            match self.checked.bounds.position(&self.keys) {
                Some(position) if !self.checked.bounds.sorted => self.positions.push(position),
                Some(position) if position == before + row as u64 => {}
                _ => return Err(self.moved(at.line)),
            }
        }
        Ok(())
    }

    /// Moves all cells to a temporary file.
    fn spill(&mut self, cells: &mut Cells) -> Result<()> {
        self.runs.spill(&self.positions, &self.lines, |cell, bytes| cells.record(cell, bytes))?;
        self.positions.clear();
        self.lines.clear();
        cells.clear();
        Ok(())
    }

    /// Reads the cells back in row-major order, and writes all cells except for the last part,
    /// which stays in `cells`.
    fn merge(&mut self, cells: &mut Cells) -> Result<()> {
        let (runs, rows) = (std::mem::replace(&mut self.runs, Runs::new(0)), self.checked.rows);
        let mut next = 0;
        runs.merge(|position, line, bytes| {
            // Each position must occur exactly once.
            if position != next || !cells.take(bytes) {
                return Err(self.moved(line));
            }
            next += 1;
            self.lines.push(line);
            self.observer.progress(Pass::Sort, next, rows);
            self.flush_slices(cells)
        })?;
        self.observer.pass_ended();
        Ok(())
    }

    /// Writes complete slices of the subarray if the budget is exceeded.
    fn flush_slices(&mut self, cells: &mut Cells) -> Result<()> {
        if self.fits(cells, self.import.budget) {
            return Ok(());
        }
        match self.checked.bounds.whole_slices(self.imported.cells, cells.len, self.array.schema()) {
            0 => Ok(()),
            count => self.flush(cells, count),
        }
    }

    /// Writes the first `count` cells as a fragment.
    fn flush(&mut self, cells: &mut Cells, count: usize) -> Result<()> {
        let (checked, schema) = (self.checked, self.array.schema());
        let mut write = self.array.write().ids(self.import.names.clone()).any_utf8();
        let order = self.order()?;
        if schema.is_dense() {
            write = checked.bounds.place(count, self.imported.cells, write, schema)?;
        } else if self.import.keep_last && !schema.allows_duplicates() {
            write = write.duplicates(Duplicates::KeepLast);
        }
        let columns = cells.columns(schema.is_dense(), count, order.as_deref());
        let written = write.cells(columns).map_err(|error| self.failure(error))?;
        self.imported.cells += written.cells;
        self.imported.fragments += written.fragments.len();
        cells.remove_first(count);
        self.lines.drain(..count);
        Ok(())
    }

    /// Returns the row-major order of all cells, or `None` if no sort is needed.
    fn order(&mut self) -> Result<Option<Vec<usize>>> {
        if self.positions.is_empty() {
            return Ok(None);
        }
        let positions = std::mem::take(&mut self.positions);
        let mut order: Vec<usize> = (0..positions.len()).collect();
        order.sort_unstable_by_key(|cell| positions[*cell]);
        // Each position must occur exactly once.
        if let Some((_, cell)) = (0..).zip(&order).find(|(wanted, cell)| positions[**cell] != *wanted) {
            return Err(self.moved(self.lines[*cell]));
        }
        self.lines = order.iter().map(|cell| self.lines[*cell]).collect();
        Ok(Some(order))
    }

    fn moved(&self, line: Line) -> Error {
        Error::Changed {
            place: self.import.source.place(line),
            what: "the row was at another position before".to_owned(),
        }
    }

    fn changed(&self) -> Error {
        let (name, pushed, rows) = (self.import.source.name(), self.pushed, self.checked.rows);
        let what = if pushed > rows { format!("more than {rows} rows") } else { format!("{pushed} rows") };
        Error::Changed { place: name, what: format!("expected {rows} rows, found {what}") }
    }

    /// Converts an error about a cell to an error about a line. Returns other errors unchanged.
    fn failure(&self, error: ArrayError) -> Error {
        let line = |cell: u64| usize::try_from(cell).ok().and_then(|cell| self.lines.get(cell)).copied();
        let place =
            |line: Option<Line>| line.map_or_else(|| self.import.source.name(), |line| self.import.source.place(line));
        match &error {
            // The first pass found no duplicates, so the file has changed.
            ArrayError::Cells(CellsError::Cell { cell, problem: CellProblem::Duplicate { other }, .. }) => {
                let (first, second) = (line(*cell).min(line(*other)), line(*cell).max(line(*other)));
                let what = format!("now repeats the coordinates of {}", place(first));
                Error::Changed { place: place(second), what }
            }
            ArrayError::Cells(CellsError::Cell { cell, field, problem }) => {
                Error::Cell { place: place(line(*cell)), field: field.clone(), reason: problem.to_string() }
            }
            _ => error.into(),
        }
    }
}
