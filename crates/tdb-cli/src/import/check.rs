//! The first pass: which rows the array can't take.

use std::collections::BTreeMap;

use tdb_schema::{ArrayDefinition, ArraySchema};

use super::cells::Cells;
use super::dense::Bounds;
use super::places::{At, Places};
use super::reading::{MAX_REPORTED, Reading, Writing};
use super::replaced::Replaced;
use super::source::{Source, Visitor};
use crate::failure::{Exit, Failure, Result};
use crate::terminal::{Terminal, message};

/// What a first pass has found.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// Rows that can be imported.
    pub(crate) rows: u64,
    pub(crate) rejected: u64,
    pub(super) bounds: Bounds,
    /// The rows in whose place later ones stand.
    pub(super) replaced: Replaced,
    /// All rows that can be imported, unless they are too many for the budget.
    pub(super) kept: Option<Kept>,
}

/// Rows that need not be read again to be written.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) cells: Cells,
    pub(super) rows: Vec<At>,
}

/// Looks at all rows for those that an array made from this can't take, and reports them.
///
/// # Errors
/// There are some, and they shall not be skipped; the files can't be read; their columns aren't the array's.
pub(crate) fn check(
    reading: &Reading,
    definition: &ArrayDefinition,
    writing: &Writing,
    terminal: Terminal,
) -> Result<Checked> {
    let schema = definition.schema();
    // Of equal coordinates in a sparse array the last ones win anyhow.
    let is_unique = !schema.allows_duplicates() && (schema.is_dense() || !writing.keep_last);
    let mut pass = Pass {
        source: &reading.source,
        is_dense: schema.is_dense(),
        // Rows that are kept may take half of the budget, and their places the other.
        places: is_unique.then(|| Places::new(writing.budget / 2)),
        kept: Some(Vec::new()),
        budget: writing.budget,
        checked: Checked::default(),
        keys: Vec::new(),
        place: Vec::new(),
    };
    let cells = reading.source.walk(reading.target(definition), &mut pass, ("checking", terminal.stderr))?;
    let Pass { mut checked, places, kept, .. } = pass;
    checked.kept = kept.map(|rows| Kept { cells, rows });
    if checked.rejected > MAX_REPORTED {
        eprintln!("and {} more rows", checked.rejected - MAX_REPORTED);
    }
    if checked.rejected > 0 && !reading.skip_rejects {
        let message = format!("{} of {} rows can't be imported", checked.rejected, checked.rows + checked.rejected);
        return Err(Failure::new(Exit::Finding, format!("{message}; nothing was written"))
            .with_hint("mend them, or leave them out with --skip-rejects"));
    }
    if let Some(places) = places {
        check_unique(&reading.source, places, &mut checked, schema, writing.keep_last)?;
    }
    if schema.is_dense() {
        checked.bounds.check(schema)?;
    }
    Ok(checked)
}

struct Pass<'a> {
    source: &'a Source,
    is_dense: bool,
    places: Option<Places>,
    /// The rows so far, if all of them are among the cells.
    kept: Option<Vec<At>>,
    budget: usize,
    checked: Checked,
    keys: Vec<u64>,
    place: Vec<u8>,
}

impl Visitor for Pass<'_> {
    fn wants(&self, _: u64) -> bool {
        true
    }

    fn pushed(&mut self, cells: &mut Cells, rows: &[At]) -> Result<()> {
        self.checked.rows += rows.len() as u64;
        let first = cells.len() - rows.len();
        for (cell, at) in (first..).zip(rows) {
            if self.is_dense {
                cells.keys(cell, &mut self.keys);
                self.checked.bounds.add(&self.keys);
            }
            if let Some(places) = &mut self.places {
                places.add(cells.place(cell, &mut self.place), *at)?;
            }
        }
        self.keep(cells, rows);
        Ok(())
    }

    fn rejected(&mut self, at: At, why: &str) {
        self.checked.rejected += 1;
        if self.checked.rejected <= MAX_REPORTED {
            eprintln!("{}: {}", self.source.place(at.line), message(why));
        }
    }
}

impl Pass<'_> {
    /// Keeps the last rows with those before, unless they are too many.
    fn keep(&mut self, cells: &mut Cells, rows: &[At]) {
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(rows);
            if cells.bytes() + size_of_val(&**kept) < self.budget / 2 {
                return;
            }
            self.kept = None;
            self.places.iter_mut().for_each(|places| places.may_take(self.budget));
        }
        cells.clear();
    }
}

/// Tells of rows with the coordinates of others, or leaves out all but the last ones.
fn check_unique(
    source: &Source,
    places: Places,
    checked: &mut Checked,
    schema: &ArraySchema,
    keep_last: bool,
) -> Result<()> {
    let (mut count, mut told) = (0, BTreeMap::new());
    places.repeated(|first, before, at| {
        count += 1;
        if keep_last {
            checked.replaced.add(before.number);
            return;
        }
        told.insert(at.number, (at.line, first.line));
        if told.len() as u64 > MAX_REPORTED {
            told.pop_last();
        }
    })?;
    if keep_last {
        checked.rows -= count;
        checked.bounds.leave_out(count);
        if count > 0 {
            checked.kept = None;
        }
        return Ok(());
    }
    for (line, first) in told.values() {
        let first = source.place_beside(*first, *line);
        eprintln!("{}: the coordinates are those of {first}", source.place(*line));
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
