//! Conversion of file columns to cells.

use std::collections::{BTreeMap, HashMap};

use super::cells::{Cells, Field};
use super::column::Given;
use super::column_files::ColumnBatch;
use crate::error::{Error, Result};

/// The outcome of a batch. Rows are numbered from 0 within the batch.
#[derive(Debug, Default)]
pub(super) struct Appended {
    pub(super) pushed: Vec<usize>,
    /// Rejected rows with the reason.
    pub(super) rejected: BTreeMap<usize, String>,
}

impl Cells {
    /// Appends those rows of a batch that are wanted and that the array can hold.
    ///
    /// # Errors
    /// Fails if the number of cells of a column differs from the number of rows that are not
    /// rejected.
    pub(super) fn append(&mut self, batch: &ColumnBatch<'_>, wanted: impl Fn(usize) -> bool) -> Result<Appended> {
        let mut appended = Appended { rejected: batch.rejected.iter().cloned().collect(), ..Appended::default() };
        // The columns have no cells for rejected rows.
        let rows: Vec<usize> = (0..batch.rows).filter(|row| !appended.rejected.contains_key(row)).collect();
        let columns: HashMap<&str, _> = batch.cells.columns().collect();
        let mut all = Vec::new();
        for field in &self.fields {
            let column = columns.get(field.name.as_str()).copied();
            let other = || Error::ColumnLength { column: field.name.clone(), cells: rows.len() };
            let given = Given::new(column, rows.len(), &field.column).ok_or_else(other)?;
            field.reject(&given, |cell, why| {
                appended.rejected.entry(rows[cell]).or_insert_with(|| format!("{}: {why}", field.name));
            });
            all.push(given);
        }
        let is_taken = |cell: &usize| !appended.rejected.contains_key(&rows[*cell]) && wanted(rows[*cell]);
        let taken: Vec<usize> = (0..rows.len()).filter(is_taken).collect();
        for (field, given) in self.fields.iter_mut().zip(&all) {
            if let Some(no_time) = field.no_time().filter(|_| given.has_nulls()) {
                taken.iter().for_each(|cell| match given.is_null(*cell) {
                    true => field.column.push_bytes(&no_time),
                    false => field.column.push(given, *cell),
                });
            } else if taken.len() == rows.len() {
                field.column.extend(given);
            } else {
                taken.iter().for_each(|cell| field.column.push(given, *cell));
            }
        }
        self.len += taken.len();
        appended.pushed = taken.into_iter().map(|cell| rows[cell]).collect();
        Ok(appended)
    }
}

impl Field {
    /// Calls `reject` for each cell that the field cannot hold.
    fn reject(&self, given: &Given<'_>, mut reject: impl FnMut(usize, String)) {
        if !self.nullable && given.has_nulls() && (self.no_time().is_none() || given.column.is_none()) {
            for cell in (0..given.len).filter(|cell| given.is_null(*cell)) {
                reject(cell, "null, but the field is not nullable".to_owned());
            }
        }
        if self.is_restricted() {
            for cell in (0..given.len).filter(|cell| !given.is_null(*cell)) {
                if let Err(why) = self.check(given.bytes(cell..cell + 1)) {
                    reject(cell, why);
                }
            }
        }
    }
}
