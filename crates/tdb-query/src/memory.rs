//! The memory budget of a query, and its division among the parts of a read.

use tdb_types::ArrayType;

/// Limits in bytes for the parts of a read. Together, these limits keep the query's budget.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// A batch returned to the caller.
    pub part: usize,
    /// Additional room of a batch, to avoid a subsequent small batch.
    pub slack: usize,
    /// A batch under construction, possibly returned in parts.
    pub batch: usize,
    /// A batch that grows because separate batches would unfilter the same tiles again.
    pub most_batch: usize,
    /// A batch of a dense array, stretched to the end of tiles.
    pub most_stretched: usize,
    /// Tiles kept for further batches. In dense arrays, only completely unfiltered string tiles.
    pub held: usize,
    /// Cells being sorted. For sparse arrays only.
    pub sorting: usize,
    /// Unfiltered cells of a single field for a single batch. For sparse arrays only.
    pub passing: usize,
    /// Prefetched bytes, for remote storage.
    pub ahead: u64,
}

/// Memory of a query beyond the budget and the needs of threads. Small batches should not cause
/// repeated unfiltering of tiles.
const CONSTANT: usize = 96 << 20;
/// The part of `CONSTANT` without a separate limit: statistics of tiles, and memory not returned by
/// allocators.
const OTHERS: usize = 8 << 20;
/// The limit of kept tiles and of sorted cells without a budget. If more cells are sorted at a
/// time, tiles are read less often.
const DEFAULT_HELD: usize = 64 << 20;
/// The minimum of `most_batch` for dense arrays.
const LEAST_DENSE: usize = 8 << 20;
/// The room of each field in a default batch of a dense array. Usual chunks of tiles have this size,
/// and smaller parts of many fields would unfilter the same chunks for several batches.
const CHUNK: usize = 64 << 10;
/// Bounds for prefetching: less is not worthwhile, more brings no benefit.
const LEAST_AHEAD: usize = 8 << 20;
const MOST_AHEAD: usize = 64 << 20;

impl Memory {
    /// Divides the memory of a query of `fields` fields of an array of this kind. `budget` is the
    /// caller's limit in bytes, if any.
    pub fn of(budget: Option<usize>, kind: ArrayType, threads: usize, fields: usize, has_labels: bool) -> Self {
        match (budget, kind) {
            (None, _) => Self::by_default(kind, threads, fields, has_labels),
            (Some(budget), ArrayType::Dense) => Self::dense(budget),
            (Some(budget), ArrayType::Sparse) => Self::sparse(budget),
        }
    }

    /// Returns the limits for batches of up to `bytes` bytes. Sparse batches are built in about
    /// this size, unless separate batches would unfilter the same tiles again. Without a `budget`,
    /// batches larger than the default are also built in this size.
    pub fn in_batches_of(mut self, bytes: usize, kind: ArrayType, budget: Option<usize>) -> Self {
        if kind == ArrayType::Sparse {
            self.batch = self.batch.min(bytes);
        }
        if budget.is_none() {
            // Dense batches may exceed the estimate by a quarter.
            self.batch = self.batch.max(bytes / 5 * 4);
            self.most_batch = self.most_batch.max(self.batch);
        }
        (self.part, self.slack) = (self.part.min(bytes), 0);
        self
    }

    /// Returns the bytes for prefetching, and the remaining bytes.
    fn divide(budget: usize) -> (usize, usize) {
        let ahead = (budget / 2).clamp(LEAST_AHEAD, MOST_AHEAD);
        (ahead, budget.saturating_add(CONSTANT - OTHERS).saturating_sub(ahead))
    }

    /// Returns the limits of a dense read. Strings take up to 2.5 times the estimate made before
    /// the lengths are known.
    fn dense(budget: usize) -> Self {
        let (ahead, rest) = Self::divide(budget);
        let held = rest / 8;
        let most = (rest - held) / 5 * 2;
        let batch = budget.min(most);
        Self {
            part: batch,
            slack: batch / 4,
            batch,
            most_batch: batch.max(LEAST_DENSE),
            most_stretched: most,
            held,
            sorting: 0,
            passing: 0,
            ahead: ahead as u64,
        }
    }

    /// Returns the limits of a sparse read. Sorting takes 1.6 times its limit: two entries and a
    /// key for each cell, and the runs. The limits are a fifth for sorting, a fifth for the batch,
    /// three tenths for tiles and a tenth for passing cells. Together these assign 92 % of the
    /// memory.
    fn sparse(budget: usize) -> Self {
        let (ahead, rest) = Self::divide(budget);
        let fifth = rest / 5;
        let batch = budget.min(fifth);
        Self {
            part: batch,
            slack: batch / 4,
            batch,
            most_batch: fifth,
            most_stretched: fifth,
            held: rest / 10 * 3,
            sorting: fifth,
            passing: rest / 10,
            ahead: ahead as u64,
        }
    }

    fn by_default(kind: ArrayType, threads: usize, fields: usize, has_labels: bool) -> Self {
        let each = match kind {
            ArrayType::Dense => 8 << 20,
            ArrayType::Sparse => 3 << 20,
        };
        let usual = default_batch(each, threads);
        let batch = match kind {
            ArrayType::Dense => usual.max(fields.saturating_mul(CHUNK).min(DEFAULT_HELD)),
            ArrayType::Sparse => usual,
        };
        let most_batch = match kind {
            // Memory of the default size is quickly reused. Growing helps only batches that are
            // smaller than the default.
            ArrayType::Dense => batch,
            ArrayType::Sparse => batch.max(DEFAULT_HELD / 2),
        };
        Self {
            // No other limit bounds the labels in a batch.
            part: if has_labels { default_batch(4 << 20, threads) } else { usize::MAX },
            slack: 0,
            batch,
            most_batch,
            // Batches of many fields are already large.
            most_stretched: if batch > usual { batch } else { usize::MAX },
            held: DEFAULT_HELD,
            sorting: DEFAULT_HELD,
            passing: DEFAULT_HELD / 2,
            ahead: MOST_AHEAD as u64,
        }
    }
}

/// Returns the default size of a batch in bytes. Small enough for quick reuse of memory, because
/// the first access to fresh memory takes longer than reading the data. With several threads,
/// `each` bytes per thread.
fn default_batch(each: usize, threads: usize) -> usize {
    match threads {
        0 | 1 => 4 << 20,
        threads => threads.saturating_mul(each).min(64 << 20),
    }
}
