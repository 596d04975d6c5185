//! Labels among the columns of a result.

use crate::query::SelectedLabel;
use crate::{Batch, Result};

/// Puts the columns of labels into batches, and takes out dimensions that were read for them alone.
#[derive(Debug)]
pub(super) struct LabelColumns {
    labels: Vec<SelectedLabel>,
    /// How many of the fields that are read were selected; those behind them are read for labels.
    shown: usize,
}

impl LabelColumns {
    pub(super) fn new(labels: Vec<SelectedLabel>, shown: usize) -> Self {
        Self { labels, shown }
    }

    /// The batch as the query selected it.
    pub(super) fn insert(&self, batch: Batch) -> Result<Batch> {
        if self.labels.is_empty() {
            return Ok(batch);
        }
        let len = batch.len();
        let mut columns = batch.into_columns();
        let found = self.labels.iter().map(|selected| selected.label.column(&columns[selected.coordinates]));
        let found = found.collect::<Result<Vec<_>>>()?;
        columns.truncate(self.shown);
        // In the order of their places, so that each of them is right when it is its turn.
        for (selected, column) in self.labels.iter().zip(found) {
            columns.insert(selected.place, column);
        }
        Ok(Batch::new(columns, len))
    }
}
