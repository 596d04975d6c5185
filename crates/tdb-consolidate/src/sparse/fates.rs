//! Deletion of cells: time and condition.

use std::collections::HashMap;
use std::sync::Arc;

use tdb_cells::CellBuffers;
use tdb_condition::BoundCondition;
use tdb_fragment::FragmentField;
use tdb_schema::FieldRef;
use tdb_snapshot::{Fragment, Result, Snapshot};
use tdb_types::saturating_len;

use super::columns::{Fated, Times, numbers};
use super::fields::Fields;

/// The deletions of a fragment's cells: the deletions stored in the fragment, and later delete
/// commits.
#[derive(Debug, Default)]
pub(super) struct Fates {
    stored: Option<Stored>,
    /// Later delete commits, oldest first.
    deletes: Vec<Delete>,
}

/// The index of each condition of the new fragment, by the path of the delete commit.
pub(super) type Numbers = HashMap<String, u64>;

/// Numbers the conditions from 0.
pub(super) fn numbers_of(conditions: &[String]) -> Numbers {
    conditions.iter().zip(0..).map(|(path, number)| (path.clone(), number)).collect()
}

/// Deletions stored in the fragment.
#[derive(Debug)]
struct Stored {
    times: usize,
    indexes: usize,
    /// For each condition of the fragment, its index in the new fragment.
    conditions: Vec<u64>,
}

/// A delete commit to apply.
#[derive(Debug)]
struct Delete {
    stays: Arc<BoundCondition>,
    /// Index and cell size of each field of the condition. The size is `None` for variable length.
    fields: Vec<(usize, Option<usize>)>,
    /// Cells written after this time stay. `None` if the commit applies to all cells.
    until: Option<u64>,
    time: u64,
    index: u64,
}

impl Fates {
    /// Creates the deletions of a fragment. `conditions` holds the conditions of the new fragment.
    pub(super) fn of(array: &Snapshot, fragment: &Fragment, conditions: &Numbers, fields: &mut Fields) -> Result<Self> {
        let index = |path: &str| conditions.get(path).copied().unwrap_or(u64::MAX);
        let mut fates = Self::default();
        if fragment.footer().header().has_delete_metadata {
            let mut place =
                |field| -> Result<usize> { Ok(fields.first(fragment.tiles_of(field)?, Some(size_of::<u64>()))) };
            fates.stored = Some(Stored {
                times: place(FragmentField::DeleteTimestamps)?,
                indexes: place(FragmentField::DeleteConditionIndex)?,
                conditions: fragment.processed_conditions()?.iter().map(|path| index(path)).collect(),
            });
        }
        for delete in array.deletes_for(fragment)? {
            let mut needed = Vec::with_capacity(delete.stays.fields().len());
            for field in delete.stays.fields() {
                let size = field.cells.cell_size().map(saturating_len);
                let own = match field.field {
                    FieldRef::Attribute(index) => FragmentField::Attribute(index),
                    FieldRef::Dimension(index) => FragmentField::Dimension(index),
                };
                needed.push((fields.first(fragment.tiles_of(own)?, size), size));
            }
            let (until, time, index) = (delete.until, delete.time, index(&delete.path));
            fates.deletes.push(Delete { stays: delete.stays, fields: needed, until, time, index });
        }
        Ok(fates)
    }

    /// Returns the deletions of a tile's cells, or `None` if the fragment has no deletions.
    pub(super) fn of_tile(&self, loaded: &[CellBuffers], times: &Times, cells: usize) -> Option<Fated> {
        if self.stored.is_none() && self.deletes.is_empty() {
            return None;
        }
        let mut fated = match &self.stored {
            Some(stored) => {
                let known = |index: u64| stored.conditions.get(saturating_len(index)).copied().unwrap_or(u64::MAX);
                let indexes = numbers(&loaded[stored.indexes]).into_iter().map(known).collect();
                Fated { times: numbers(&loaded[stored.times]), indexes }
            }
            None => Fated { times: vec![u64::MAX; cells], indexes: vec![u64::MAX; cells] },
        };
        let mut stays = vec![true; cells];
        for delete in &self.deletes {
            let views = delete.fields.iter().map(|(place, size)| Some(loaded[*place].cells(size.unwrap_or(1))));
            let views: Vec<_> = views.collect();
            delete.stays.evaluate(&views, &mut stays);
            for (cell, stays) in stays.iter().enumerate() {
                let is_later = delete.until.is_some_and(|until| times.of(cell) > until);
                if !stays && !is_later && delete.time < fated.times[cell] {
                    (fated.times[cell], fated.indexes[cell]) = (delete.time, delete.index);
                }
            }
        }
        Some(fated)
    }
}
