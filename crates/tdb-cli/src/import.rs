//! From rows to an array: first all of them are looked at, then they are written.

mod cells;
mod dense;
mod infer;
mod lines;
mod places;
mod quotes;
mod rows;

use std::collections::BTreeMap;

use tdb_array::{Array, ArrayError, CellProblem, Duplicates, Names};
use tdb_schema::{ArraySchema, Enumeration};

use crate::failure::{Exit, Failure, Result};
use crate::progress::Progress;
use crate::terminal::{Terminal, message};
use cells::Cells;
use dense::Bounds;
use places::{At, Places};

pub(crate) use infer::Guesses;
pub(crate) use rows::{Input, RowsFormat};

/// Rejected rows that are reported one by one.
const MAX_REPORTED: u64 = 20;

/// How rows are to be understood.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) input: Input,
    /// What stands for a null cell in CSV.
    pub(crate) null: String,
    /// Whether columns without a field are passed over.
    pub(crate) ignore_others: bool,
    /// Whether rows that can't be imported are left out, and not a reason to import none.
    pub(crate) skip_rejects: bool,
}

/// What a first pass has found.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// Rows that can be imported.
    pub(crate) rows: u64,
    pub(crate) rejected: u64,
    bounds: Bounds,
    /// The numbers of rows in whose place later ones stand, in ascending order.
    replaced: Vec<u64>,
}

/// What was written.
#[derive(Debug, Default)]
pub(crate) struct Imported {
    pub(crate) cells: u64,
    pub(crate) fragments: usize,
}

/// How to write.
#[derive(Debug)]
pub(crate) struct Writing {
    pub(crate) names: Names,
    /// Whether of rows with equal coordinates the last one counts.
    pub(crate) keep_last: bool,
    /// Bytes of cells to gather before they are written.
    pub(crate) budget: usize,
}

impl Reading {
    /// Looks at all rows to find out what they hold.
    ///
    /// # Errors
    /// The file can't be read, or none of its rows.
    pub(crate) fn guess(&self) -> Result<Guesses> {
        let mut rows = self.input.rows()?;
        let mut guesses = Guesses::new(rows.columns());
        let mut first = None;
        while let Some((line, row)) = rows.next(self.input.name())? {
            match row {
                Ok(row) => guesses.add(row, &self.null),
                Err(why) if first.is_none() => first = Some((line, why)),
                Err(_) => {}
            }
        }
        match first {
            Some((line, why)) if guesses.is_empty() => {
                Err(Failure::new(Exit::Finding, format!("{}:{line}: {why}; no row could be read", self.input.name())))
            }
            _ => Ok(guesses),
        }
    }

    /// Looks at all rows for those that an array of this schema can't take, and reports them.
    ///
    /// # Errors
    /// There are some, and they shall not be skipped; the file can't be read; its columns aren't the array's.
    pub(crate) fn check(
        &self,
        schema: &ArraySchema,
        enumeration: impl Fn(&str) -> Result<Enumeration>,
        writing: &Writing,
        terminal: Terminal,
    ) -> Result<Checked> {
        let mut rows = self.input.rows()?;
        let mut cells = Cells::new(schema, enumeration, rows.columns(), &self.null, self.ignore_others)?;
        let mut progress = Progress::new(terminal.stderr);
        let (mut checked, mut keys, mut place) = (Checked::default(), Vec::new(), Vec::new());
        // Of equal coordinates in a sparse array the last ones win anyhow.
        let is_unique = !schema.allows_duplicates() && (schema.is_dense() || !writing.keep_last);
        let mut places = is_unique.then(|| Places::new(writing.budget));
        let mut number = 0;
        while let Some((line, row)) = rows.next(self.input.name())? {
            number += 1;
            match row.and_then(|row| cells.push(row)) {
                Ok(()) => {
                    checked.rows += 1;
                    if schema.is_dense() {
                        cells.keys(0, &mut keys);
                        checked.bounds.add(&keys);
                    }
                    if let Some(places) = &mut places {
                        cells.place(0, &mut place);
                        places.add(&place, At { number, line })?;
                    }
                    cells.clear();
                }
                Err(why) => {
                    checked.rejected += 1;
                    if checked.rejected <= MAX_REPORTED {
                        eprintln!("{}:{line}: {}", self.input.name(), message(&why));
                    }
                }
            }
            show(&mut progress, "checking", self.input.progress());
        }
        progress.finish();
        if checked.rejected > MAX_REPORTED {
            eprintln!("and {} more rows", checked.rejected - MAX_REPORTED);
        }
        if checked.rejected > 0 && !self.skip_rejects {
            let message = format!("{} of {} rows can't be imported", checked.rejected, checked.rows + checked.rejected);
            return Err(Failure::new(Exit::Finding, format!("{message}; nothing was written"))
                .with_hint("mend them, or leave them out with --skip-rejects"));
        }
        if let Some(places) = places {
            self.check_unique(places, &mut checked, schema, writing.keep_last)?;
        }
        if schema.is_dense() {
            checked.bounds.check(schema)?;
        }
        Ok(checked)
    }

    /// Tells of rows with the coordinates of others, or leaves out all but the last ones.
    fn check_unique(&self, places: Places, checked: &mut Checked, schema: &ArraySchema, keep_last: bool) -> Result<()> {
        let (mut count, mut told) = (0, BTreeMap::new());
        places.repeated(|first, before, at| {
            count += 1;
            if keep_last {
                checked.replaced.push(before.number);
                return;
            }
            told.insert(at.number, (at.line, first.line));
            if told.len() as u64 > MAX_REPORTED {
                told.pop_last();
            }
        })?;
        if keep_last {
            checked.replaced.sort_unstable();
            checked.rows -= count;
            checked.bounds.leave_out(count);
            return Ok(());
        }
        for (line, first) in told.values() {
            eprintln!("{}:{line}: the coordinates are those of line {first}", self.input.name());
        }
        if count > MAX_REPORTED {
            eprintln!("and {} more rows", count - MAX_REPORTED);
        }
        if count == 0 {
            return Ok(());
        }
        let message = format!("{count} of {} rows have the coordinates of others; nothing was written", checked.rows);
        let hint = match schema.is_dense() {
            true => "--keep-last takes the last row of each cell",
            false => {
                "--keep-last takes the last row of each cell; --allow-duplicates makes a new array that takes them all"
            }
        };
        Err(Failure::new(Exit::Finding, message).with_hint(hint))
    }

    /// Writes the rows that were found good, each time that enough are together as a fragment.
    ///
    /// # Errors
    /// Two of them have the same coordinates, and may not; whatever can't be written.
    pub(crate) fn write(
        &self,
        array: &Array,
        checked: &Checked,
        writing: &Writing,
        imported: &mut Imported,
        terminal: Terminal,
    ) -> Result<()> {
        let schema = array.schema();
        let mut rows = self.input.rows()?;
        let enumeration = |name: &str| Ok(Enumeration::clone(&*array.enumeration(name)?));
        let mut cells = Cells::new(schema, enumeration, rows.columns(), &self.null, self.ignore_others)?;
        let mut progress = Progress::new(terminal.stderr);
        let mut lines = Vec::new();
        let (mut number, mut pushed) = (0_u64, 0);
        while let Some((line, row)) = rows.next(self.input.name())? {
            number += 1;
            let is_replaced = checked.replaced.binary_search(&number).is_ok();
            if !is_replaced && row.and_then(|row| cells.push(row)).is_ok() {
                lines.push(line);
                pushed += 1;
            }
            if pushed > checked.rows {
                // Nobody has looked at this one.
                break;
            }
            let is_enough = cells.len() > 0 && cells.bytes() + 8 * lines.len() >= writing.budget;
            if is_enough && (!schema.is_dense() || checked.bounds.ends_slice(cells.len())) {
                self.flush(array, checked, writing, &cells, &lines, imported)?;
                cells.clear();
                lines.clear();
            }
            show(&mut progress, "writing", self.input.progress());
        }
        progress.finish();
        if pushed != checked.rows {
            let name = self.input.name();
            let why = format!(
                "{name}: {pushed} rows are there now, of {} before: the file has changed meanwhile",
                checked.rows
            );
            return Err(Failure::new(Exit::Finding, why));
        }
        if cells.len() > 0 {
            self.flush(array, checked, writing, &cells, &lines, imported)?;
        }
        Ok(())
    }

    fn flush(
        &self,
        array: &Array,
        checked: &Checked,
        writing: &Writing,
        cells: &Cells,
        lines: &[u64],
        imported: &mut Imported,
    ) -> Result<()> {
        let mut write = array.write().names(writing.names.clone());
        let mut order = None;
        if array.schema().is_dense() {
            (write, order) = checked.bounds.place(cells, imported.cells, write, array.schema())?;
        } else if writing.keep_last && !array.schema().allows_duplicates() {
            write = write.duplicates(Duplicates::KeepLast);
        }
        let columns = cells.columns(array.schema().is_dense(), order.as_deref());
        let written = write.cells(columns).map_err(|error| self.failure(error, lines))?;
        imported.cells += written.cells;
        imported.fragments += written.fragments.len();
        Ok(())
    }

    /// An error about cells in words about lines.
    fn failure(&self, error: ArrayError, lines: &[u64]) -> Failure {
        let line = |cell: u64| usize::try_from(cell).ok().and_then(|cell| lines.get(cell)).copied().unwrap_or_default();
        let name = self.input.name();
        match &error {
            // A check of all rows has found none.
            ArrayError::Cell { cell, problem: CellProblem::Duplicate { other }, .. } => {
                let (first, second) = (line(*cell).min(line(*other)), line(*cell).max(line(*other)));
                let why = format!("{name}:{second}: the coordinates are those of line {first}");
                Failure::new(Exit::Finding, format!("{why}, and were not before: the file has changed meanwhile"))
            }
            ArrayError::Cell { cell, field, problem } => {
                Failure::new(Exit::Finding, format!("{name}:{}: {field}: {problem}", line(*cell)))
            }
            _ => error.into(),
        }
    }
}

/// A bar over the bytes of the file, for each pass over it: `size`, and how many of them were seen.
fn show(progress: &mut Progress, pass: &'static str, (size, seen): (u64, u64)) {
    if let Some(bar) = progress.line("{msg} {wide_bar} {bytes} of {total_bytes}, {eta} left", Some(size)) {
        bar.set_message(pass);
        bar.set_position(seen);
    }
}
