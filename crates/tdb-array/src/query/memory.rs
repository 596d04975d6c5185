//! How much memory a query uses: decided once, here, for all that holds any.

use tdb_types::ArrayType;

/// Bytes that the parts of a read may hold. Together they are what [`Query::budget`](crate::Query::budget) promises.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// Of a batch that the caller gets.
    pub(crate) part: usize,
    /// Of a batch that is put together, which the caller may get in parts.
    pub(crate) batch: usize,
    /// Up to which such batches grow if each of them would unfilter the same tiles again.
    pub(crate) most_batch: usize,
    /// Of cells that have to be sorted, and of tiles that more batches will be made of. Sparse arrays only.
    pub(crate) held: usize,
    /// Of what was fetched before it is read, where a storage's answers take long.
    pub(crate) ahead: u64,
}

/// Small batches are no reason to unfilter tiles again and again: so much is used in any case if it helps.
const LEAST_HELD: usize = 32 << 20;
/// Where nobody says how much memory to use: the more cells are sorted at a time, the less often tiles are looked at.
const DEFAULT_HELD: usize = 64 << 20;
/// Up to which batches of dense arrays grow that are smaller.
const LEAST_DENSE: usize = 8 << 20;
/// Bytes ahead are worth it from here on, and not beyond.
const LEAST_AHEAD: usize = 8 << 20;
const MOST_AHEAD: usize = 64 << 20;

impl Memory {
    /// What a query of an array of this kind may hold, whose caller allows `budget` bytes, or doesn't say.
    pub(crate) fn of(budget: Option<usize>, kind: ArrayType, threads: usize, has_labels: bool) -> Self {
        // Nobody else bounds what labels make of a batch.
        let whole = if has_labels { default_batch(4 << 20, threads) } else { usize::MAX };
        let each = match kind {
            ArrayType::Dense => 8 << 20,
            ArrayType::Sparse => 3 << 20,
        };
        let batch = budget.unwrap_or_else(|| default_batch(each, threads));
        let held = budget.map_or(DEFAULT_HELD, |budget| budget.max(LEAST_HELD));
        let most_batch = match kind {
            // Memory of the default size is soon used again; more of it only helps where somebody wants less.
            ArrayType::Dense => budget.map_or(0, |_| LEAST_DENSE),
            ArrayType::Sparse => held / 2,
        };
        Self {
            part: budget.unwrap_or(whole),
            batch,
            most_batch: most_batch.max(batch),
            held,
            ahead: budget.map_or(MOST_AHEAD, |budget| budget.clamp(LEAST_AHEAD, MOST_AHEAD)) as u64,
        }
    }
}

/// Bytes of a batch unless a query says otherwise: few enough that the memory is soon used again, since touching fresh
/// memory for the first time takes longer than reading into it; and where threads share it, `each` for every one of them.
fn default_batch(each: usize, threads: usize) -> usize {
    match threads {
        0 | 1 => 4 << 20,
        threads => threads.saturating_mul(each).min(64 << 20),
    }
}
