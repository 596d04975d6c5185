//! The first pass, which finds rows that cannot be imported.

use std::collections::BTreeMap;

use tdb_schema::{ArrayDefinition, ArraySchema};

use super::cells::Cells;
use super::dense::Bounds;
use super::observer::{Observer, Pass};
use super::options::{Import, MAX_REPORTED};
use super::places::{At, Places};
use super::replaced::Replaced;
use super::source::{Source, Visitor};
use crate::error::{Error, Result};

/// The result of the first pass over the rows.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Checked {
    /// Number of rows that can be imported.
    pub rows: u64,
    /// Number of rows that cannot be imported.
    pub rejected: u64,
    pub(super) bounds: Bounds,
    /// The rows that later rows supersede.
    pub(super) replaced: Replaced,
    /// The parsed rows, or `None` if they exceed the budget.
    pub(super) kept: Option<Kept>,
}

/// The parsed rows of the first pass. With them, the second pass need not read the files again.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) cells: Cells,
    pub(super) rows: Vec<At>,
}

impl Import {
    /// Checks all rows against an array of this definition, and reports rejected rows.
    ///
    /// # Errors
    /// Fails if rows are rejected and `skip_rejects` is not set, if rows repeat coordinates that
    /// must be unique, if the rows for a dense array do not fill a subarray, if the files cannot be
    /// read, if a temporary file cannot be written, or if the columns do not match the array.
    pub fn check(&self, definition: &ArrayDefinition, observer: &mut dyn Observer) -> Result<Checked> {
        let schema = definition.schema();
        // A sparse write with `KeepLast` resolves repeated coordinates itself.
        let is_unique = !schema.allows_duplicates() && (schema.is_dense() || !self.keep_last);
        let mut pass = Check {
            source: &self.source,
            observer,
            is_dense: schema.is_dense(),
            // The kept rows and the table of coordinates share the budget evenly.
            places: is_unique.then(|| Places::new(self.budget / 2)),
            kept: Some(Vec::new()),
            budget: self.budget,
            checked: Checked::default(),
            keys: Vec::new(),
            place: Vec::new(),
        };
        let cells = self.source.walk(self.target(definition), &mut pass)?;
        let Check { mut checked, places, kept, observer, .. } = pass;
        observer.pass_ended();
        checked.kept = kept.map(|rows| Kept { cells, rows });
        if checked.rejected > MAX_REPORTED {
            observer.more_rejected(checked.rejected - MAX_REPORTED);
        }
        if checked.rejected > 0 && !self.skip_rejects {
            let (rejected, rows) = (checked.rejected, checked.rows + checked.rejected);
            return Err(Error::Rejected { rejected, rows });
        }
        if let Some(places) = places {
            self.check_unique(places, &mut checked, schema, observer)?;
        }
        if schema.is_dense() {
            checked.bounds.check(schema)?;
        }
        Ok(checked)
    }

    /// Reports rows with repeated coordinates. If `keep_last` is set, instead marks each row as
    /// superseded whose coordinates a later row repeats.
    fn check_unique(
        &self,
        places: Places,
        checked: &mut Checked,
        schema: &ArraySchema,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let (mut count, mut told) = (0, BTreeMap::new());
        places.repeated(|first, before, at| {
            count += 1;
            if self.keep_last {
                checked.replaced.add(before.number);
                return;
            }
            told.insert(at.number, (at.line, first.line));
            if told.len() as u64 > MAX_REPORTED {
                told.pop_last();
            }
        })?;
        if self.keep_last {
            checked.rows -= count;
            checked.bounds.leave_out(count);
            if count > 0 {
                checked.kept = None;
            }
            return Ok(());
        }
        for (line, first) in told.values() {
            let first = self.source.place_beside(*first, *line);
            observer.rejected(&self.source.place(*line), &format!("repeats the coordinates of {first}"));
        }
        if count > MAX_REPORTED {
            observer.more_rejected(count - MAX_REPORTED);
        }
        match count {
            0 => Ok(()),
            _ => Err(Error::Repeated { repeated: count, rows: checked.rows, is_dense: schema.is_dense() }),
        }
    }
}

struct Check<'a> {
    source: &'a Source,
    observer: &'a mut dyn Observer,
    is_dense: bool,
    places: Option<Places>,
    /// The rows so far, or `None` if rows were dropped from the cells.
    kept: Option<Vec<At>>,
    budget: usize,
    checked: Checked,
    keys: Vec<u64>,
    place: Vec<u8>,
}

impl Visitor for Check<'_> {
    fn wants(&self, _: u64) -> bool {
        true
    }

    fn pushed(&mut self, cells: &mut Cells, rows: &[At]) -> Result<()> {
        self.checked.rows += rows.len() as u64;
        let first = cells.len - rows.len();
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
            self.observer.rejected(&self.source.place(at.line), why);
        }
    }

    fn progress(&mut self, done: u64, total: u64) {
        self.observer.progress(Pass::Check, done, total);
    }
}

impl Check<'_> {
    /// Keeps the rows that were just pushed. If the kept rows reach half of the budget, drops all
    /// rows.
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
