//! The second pass: the rows that were found good are written.

use tdb_array::{Array, ArrayError, CellProblem, Duplicates};
use tdb_schema::ArrayDefinition;

use super::cells::Cells;
use super::check::Checked;
use super::places::{At, Line};
use super::reading::{Imported, Reading, Writing};
use super::source::{Source, Visitor};
use crate::failure::{Exit, Failure, Result};
use crate::terminal::Terminal;

/// Writes the rows that were found good, each time that enough are together as a fragment.
///
/// # Errors
/// Two of them have the same coordinates, and may not; whatever can't be written.
pub(crate) fn write(
    reading: &Reading,
    array: &Array,
    definition: &ArrayDefinition,
    (checked, writing): (&Checked, &Writing),
    imported: &mut Imported,
    terminal: Terminal,
) -> Result<()> {
    let source = &reading.source;
    let mut pass = Pass { source, array, checked, writing, imported, lines: Vec::new(), pushed: 0 };
    let mut cells = source.walk(reading.target(definition), &mut pass, ("writing", terminal.stderr))?;
    if pass.pushed != checked.rows {
        return Err(pass.changed());
    }
    match cells.len() {
        0 => Ok(()),
        count => pass.flush(&mut cells, count),
    }
}

struct Pass<'a> {
    source: &'a Source,
    array: &'a Array,
    checked: &'a Checked,
    writing: &'a Writing,
    imported: &'a mut Imported,
    /// Where the cells come from that aren't written yet.
    lines: Vec<Line>,
    pushed: u64,
}

impl Visitor for Pass<'_> {
    fn wants(&self, number: u64) -> bool {
        self.checked.replaced.binary_search(&number).is_err()
    }

    fn pushed(&mut self, cells: &mut Cells, rows: &[At]) -> Result<()> {
        self.pushed += rows.len() as u64;
        if self.pushed > self.checked.rows {
            // Nobody has looked at some of them.
            return Err(self.changed());
        }
        self.lines.extend(rows.iter().map(|at| at.line));
        if cells.bytes() + size_of::<Line>() * self.lines.len() < self.writing.budget {
            return Ok(());
        }
        let is_dense = self.array.schema().is_dense();
        match if is_dense { self.checked.bounds.whole_slices(cells.len()) } else { cells.len() } {
            0 => Ok(()),
            count => self.flush(cells, count),
        }
    }

    fn rejected(&mut self, _: At, _: &str) {}
}

impl Pass<'_> {
    /// Writes the first of the cells as a fragment.
    fn flush(&mut self, cells: &mut Cells, count: usize) -> Result<()> {
        let (checked, writing, schema) = (self.checked, self.writing, self.array.schema());
        let mut write = self.array.write().names(writing.names.clone());
        let mut order = None;
        if schema.is_dense() {
            (write, order) = checked.bounds.place(cells, count, self.imported.cells, write, schema)?;
        } else if writing.keep_last && !schema.allows_duplicates() {
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

    fn changed(&self) -> Failure {
        let (name, pushed, rows) = (self.source.name(), self.pushed, self.checked.rows);
        let what = if pushed > rows { format!("more than {rows} rows") } else { format!("{pushed} rows") };
        let why = format!("{name}: {what} are there now, of {rows} before: the file has changed meanwhile");
        Failure::new(Exit::Finding, why)
    }

    /// An error about cells in words about lines.
    fn failure(&self, error: ArrayError) -> Failure {
        let line = |cell: u64| usize::try_from(cell).ok().and_then(|cell| self.lines.get(cell)).copied();
        let place = |line: Option<Line>| line.map_or_else(|| self.source.name(), |line| self.source.place(line));
        match &error {
            // A check of all rows has found none.
            ArrayError::Cell { cell, problem: CellProblem::Duplicate { other }, .. } => {
                let (first, second) = (line(*cell).min(line(*other)), line(*cell).max(line(*other)));
                let why = format!("{}: the coordinates are those of {}", place(second), place(first));
                Failure::new(Exit::Finding, format!("{why}, and were not before: the file has changed meanwhile"))
            }
            ArrayError::Cell { cell, field, problem } => {
                Failure::new(Exit::Finding, format!("{}: {field}: {problem}", place(line(*cell))))
            }
            _ => error.into(),
        }
    }
}
