//! Batches given in parts: because the caller wants smaller ones, or because labels make them larger.

use tdb_cells::Batch;
use tdb_query::Memory;
use tdb_snapshot::Result;

use crate::label::FoundLabels;
use crate::query::SelectedLabel;

/// Divides batches so that each part keeps to the budget, the columns of labels included, which are put in here.
#[derive(Debug)]
pub(super) struct Parts {
    labels: Vec<SelectedLabel>,
    /// How many of the fields that are read were selected; those behind them are read for labels.
    shown: usize,
    /// Bytes that a part may take.
    budget: usize,
    /// How much more a part may take rather than be followed by a small one.
    slack: usize,
    /// What is left of a batch, from one of its cells on.
    rest: Option<(Batch, usize)>,
    /// How many cells the last part with labels had: the next one will have about as many.
    last: usize,
}

impl Parts {
    pub(super) fn new(labels: Vec<SelectedLabel>, shown: usize, memory: &Memory) -> Self {
        let Memory { part: budget, slack, .. } = *memory;
        Self { labels, shown, budget, slack, rest: None, last: usize::MAX }
    }

    /// Takes a batch; nothing must be left of the one before.
    pub(super) fn push(&mut self, batch: Batch) {
        self.rest = Some((batch, 0));
    }

    /// The next part; none if nothing is left.
    ///
    /// # Errors
    /// Labels can't be read. Then nothing is left.
    pub(super) fn next(&mut self) -> Result<Option<Batch>> {
        let Some((batch, given)) = self.rest.take() else { return Ok(None) };
        let part = if self.labels.is_empty() { self.plain(&batch, given) } else { self.labelled(&batch, given)? };
        let given = given + part.len();
        self.rest = (given < batch.len()).then_some((batch, given));
        Ok(Some(part))
    }

    /// A part without labels.
    fn plain(&self, batch: &Batch, given: usize) -> Batch {
        // A little more than wanted is less trouble than a second, small batch.
        if given == 0 && batch.memory() <= self.budget.saturating_add(self.slack) {
            return batch.clone();
        }
        batch.slice(given..given + batch.fitting(given, self.budget).min(batch.len() - given))
    }

    /// A part with labels, which are looked up for as many cells as may have room together with them.
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
            // One cell always has room, whatever its label.
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

    /// The labels of a part; none if those of several cells take more than the budget.
    fn look_up(&self, part: &Batch) -> Result<Option<Vec<FoundLabels>>> {
        let limit = if part.len() <= 1 { usize::MAX } else { self.budget };
        let columns = part.columns();
        let found = self.labels.iter().map(|selected| selected.label.find(&columns[selected.coordinates], limit));
        found.collect()
    }

    /// The part as the query selected it.
    fn insert(&self, part: Batch, found: &[FoundLabels]) -> Batch {
        let len = part.len();
        let mut columns = part.into_columns();
        columns.truncate(self.shown);
        // In the order of their places, so that each of them is right when it is its turn.
        for (selected, labels) in self.labels.iter().zip(found) {
            columns.insert(selected.place, labels.column(len));
        }
        Batch::new(columns, len)
    }
}
