//! Slices of batches, for smaller requested batches and for room for labels.

use tdb_cells::Batch;
use tdb_query::Memory;
use tdb_snapshot::Result;

use crate::label::FoundLabels;
use crate::query::SelectedLabel;

/// Slices batches to keep the budget, and adds the columns of labels.
#[derive(Debug)]
pub(super) struct Parts {
    labels: Vec<SelectedLabel>,
    /// The number of selected fields. Further fields are read for labels.
    shown: usize,
    /// The maximum size of a part in bytes.
    budget: usize,
    /// Additional room of a part, to avoid a subsequent small part.
    slack: usize,
    /// A partly consumed batch, and the index of the first remaining cell.
    rest: Option<(Batch, usize)>,
    /// The number of cells in the last part with labels, as an estimate for the next part.
    last: usize,
}

impl Parts {
    pub(super) fn new(labels: Vec<SelectedLabel>, shown: usize, memory: &Memory) -> Self {
        let Memory { part: budget, slack, .. } = *memory;
        Self { labels, shown, budget, slack, rest: None, last: usize::MAX }
    }

    /// Adds a batch. The previous batch must be consumed.
    pub(super) fn push(&mut self, batch: Batch) {
        self.rest = Some((batch, 0));
    }

    /// Returns the next part. Returns `None` if the batch is consumed.
    ///
    /// # Errors
    /// Labels cannot be read. The rest of the batch is then dropped.
    pub(super) fn next(&mut self) -> Result<Option<Batch>> {
        let Some((batch, given)) = self.rest.take() else { return Ok(None) };
        let part = if self.labels.is_empty() { self.plain(&batch, given) } else { self.labelled(&batch, given)? };
        let given = given + part.len();
        self.rest = (given < batch.len()).then_some((batch, given));
        Ok(Some(part))
    }

    /// Returns a part without labels.
    fn plain(&self, batch: &Batch, given: usize) -> Batch {
        // A slightly larger part is better than a second, small part.
        if given == 0 && batch.memory() <= self.budget.saturating_add(self.slack) {
            return batch.clone();
        }
        batch.slice(given..given + batch.fitting(given, self.budget).min(batch.len() - given))
    }

    /// Returns a part with labels. Looks up labels only for about as many cells as fit into the
    /// budget together with their labels.
    fn labelled(&mut self, batch: &Batch, given: usize) -> Result<Batch> {
        let left = batch.len() - given;
        let least: usize = self.labels.iter().map(|selected| selected.label.least_cell()).sum();
        let fitting = batch.fitting(given, self.budget).min(self.budget / least.max(1));
        let mut cells = fitting.min(self.last.saturating_mul(2)).max(1).min(left);
        loop {
            let part = batch.slice(given..given + cells);
            let Some(found) = self.look_up(&part)? else {
                cells = (cells / 4).max(1);
                continue;
            };
            let memory = |cells: usize| found.iter().map(|labels| labels.memory_before(cells)).sum::<usize>();
            // A single cell always has room, independent of the label.
            let (mut low, mut high) = (cells.min(1), cells);
            while low < high {
                let middle = low + (high - low).div_ceil(2);
                let bytes = part.memory_before(middle).saturating_add(memory(middle));
                if bytes <= self.budget { low = middle } else { high = middle - 1 }
            }
            self.last = low;
            return Ok(self.insert(part.slice(0..low), &found));
        }
    }

    /// Returns the labels of a part. Returns `None` if the labels of several cells exceed the
    /// budget.
    fn look_up(&self, part: &Batch) -> Result<Option<Vec<FoundLabels>>> {
        let limit = if part.len() <= 1 { usize::MAX } else { self.budget };
        let columns = part.columns();
        let found = self.labels.iter().map(|selected| selected.label.find(&columns[selected.coordinates], limit));
        found.collect()
    }

    /// Returns the part with the columns selected by the query.
    fn insert(&self, part: Batch, found: &[FoundLabels]) -> Batch {
        let len = part.len();
        let mut columns = part.into_columns();
        columns.truncate(self.shown);
        // The labels are in ascending order of `place`. Each insertion is therefore at the final
        // position.
        for (selected, labels) in self.labels.iter().zip(found) {
            columns.insert(selected.place, labels.column(len));
        }
        Batch::new(columns, len)
    }
}
