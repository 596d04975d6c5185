//! How much memory a query uses: decided once, here, for all that holds any.

use tdb_types::ArrayType;

/// Bytes that the parts of a read may hold. Together they are what a query's budget promises.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Of a batch that the caller gets.
    pub part: usize,
    /// How much more a batch may take rather than be followed by a small one.
    pub slack: usize,
    /// Of a batch that is put together, which the caller may get in parts.
    pub batch: usize,
    /// Up to which such batches grow if each of them would unfilter the same tiles again.
    pub most_batch: usize,
    /// Up to which batches of dense arrays are stretched that would end within tiles.
    pub most_stretched: usize,
    /// Of tiles that more batches will be made of; of dense arrays those of strings that are unfiltered as a whole.
    pub held: usize,
    /// Of cells that are sorted. Sparse arrays only, as what follows.
    pub sorting: usize,
    /// Of cells of one field that are unfiltered at a time for one batch only.
    pub passing: usize,
    /// Of what was fetched before it is read, where a storage's answers take long.
    pub ahead: u64,
}

/// What a query may hold beyond its budget and what its threads need: small batches are no reason to unfilter tiles again
/// and again.
const CONSTANT: usize = 96 << 20;
/// Of this, what has no part of its own: what is known of tiles, and what allocators don't give back.
const OTHERS: usize = 8 << 20;
/// Where nobody says how much memory to use: the more cells are sorted at a time, the less often tiles are looked at.
const DEFAULT_HELD: usize = 64 << 20;
/// Up to which batches of dense arrays grow that are smaller.
const LEAST_DENSE: usize = 8 << 20;
/// Bytes ahead are worth it from here on, and not beyond.
const LEAST_AHEAD: usize = 8 << 20;
const MOST_AHEAD: usize = 64 << 20;

impl Memory {
    /// What a query of an array of this kind may hold, whose caller allows `budget` bytes, or doesn't say.
    pub fn of(budget: Option<usize>, kind: ArrayType, threads: usize, has_labels: bool) -> Self {
        match (budget, kind) {
            (None, _) => Self::by_default(kind, threads, has_labels),
            (Some(budget), ArrayType::Dense) => Self::dense(budget),
            (Some(budget), ArrayType::Sparse) => Self::sparse(budget),
        }
    }

    /// The same for batches of so many bytes at most. Those of sparse arrays are put together in about that size, unless each would
    /// unfilter the same tiles again; and if there is no `budget` that has decided otherwise, all are where it is more than the usual one.
    pub fn in_batches_of(mut self, bytes: usize, kind: ArrayType, budget: Option<usize>) -> Self {
        if kind == ArrayType::Sparse {
            self.batch = self.batch.min(bytes);
        }
        if budget.is_none() {
            // Dense batches may come out a quarter larger than was reckoned.
            self.batch = self.batch.max(bytes / 5 * 4);
            self.most_batch = self.most_batch.max(self.batch);
        }
        (self.part, self.slack) = (self.part.min(bytes), 0);
        self
    }

    /// Bytes ahead, and what is left for all the rest.
    fn divide(budget: usize) -> (usize, usize) {
        let ahead = (budget / 2).clamp(LEAST_AHEAD, MOST_AHEAD);
        (ahead, budget.saturating_add(CONSTANT - OTHERS).saturating_sub(ahead))
    }

    /// Strings take up to two and a half times what is reckoned before their lengths are known.
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

    /// Cells that are sorted take 1.6 times their part: two entries, a key, and their runs. With a fifth for them and for the
    /// batch, three tenths for tiles and a tenth for those that pass, nearly all is given away.
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

    fn by_default(kind: ArrayType, threads: usize, has_labels: bool) -> Self {
        let each = match kind {
            ArrayType::Dense => 8 << 20,
            // Memory of the default size is soon used again; more of it only helps where somebody wants less.
            ArrayType::Sparse => 3 << 20,
        };
        let batch = default_batch(each, threads);
        let most_batch = match kind {
            ArrayType::Dense => batch,
            ArrayType::Sparse => batch.max(DEFAULT_HELD / 2),
        };
        Self {
            // Nobody else bounds what labels make of a batch.
            part: if has_labels { default_batch(4 << 20, threads) } else { usize::MAX },
            slack: 0,
            batch,
            most_batch,
            most_stretched: usize::MAX,
            held: DEFAULT_HELD,
            sorting: DEFAULT_HELD,
            passing: DEFAULT_HELD / 2,
            ahead: MOST_AHEAD as u64,
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
