//! Which fragments to join next: those that the reference library would choose by the same options.

use tdb_array::Array;
use tdb_types::ArrayType;

use super::facts::{Facts, cells_in, expanded, union};
use super::refusal::Refusal;
use super::sound::{Asked, check};

/// How to choose runs of fragments that follow each other in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    /// How many fragments a run has at least and at most; as many as there are, if there are fewer.
    pub(super) min: usize,
    pub(super) max: usize,
    /// The smaller of two neighbours has at least this part of the size of the other.
    pub(super) size_ratio: f32,
    /// How many times as many cells the box around a run may have as the tiles of its fragments; dense arrays only.
    pub(super) amplification: f64,
}

impl Choice {
    /// The run of candidates to join next: the longest; of those of one length the first, unless another is smaller by a
    /// fifth. None, or why the longest first one can't be.
    pub(super) fn next<'f>(
        &self,
        array: &Array,
        all: &[Facts],
        candidates: &[&'f Facts],
        asked: Asked,
    ) -> Result<Vec<&'f Facts>, Option<Refusal>> {
        let most = self.max.min(candidates.len());
        let least = self.min.min(candidates.len()).max(2);
        let mut refusal = None;
        for len in (least..=most).rev() {
            let mut best: Option<(u64, &[&Facts])> = None;
            for run in candidates.windows(len) {
                let bytes = run.iter().map(|facts| facts.bytes).fold(0, u64::saturating_add);
                if best.is_some_and(|(size, _)| !is_below(bytes, size)) {
                    continue;
                }
                match self.refuse(array, run).or_else(|| check(array, all, run, asked)) {
                    Some(why) => refusal = refusal.or(Some(why)),
                    None => best = Some((bytes, run)),
                }
            }
            if let Some((_, run)) = best {
                return Ok(run.to_vec());
            }
        }
        Err(refusal)
    }

    /// Why a run isn't wanted, if so.
    fn refuse(&self, array: &Array, run: &[&Facts]) -> Option<Refusal> {
        #[allow(clippy::cast_precision_loss)] // as the reference library reckons
        let ratio = |pair: &[&Facts]| {
            let (a, b) = (pair[0].bytes as f32, pair[1].bytes as f32);
            a.min(b) / a.max(b).max(1.0)
        };
        if run.windows(2).any(|pair| ratio(pair) < self.size_ratio) {
            return Some(Refusal::SizeRatio { least: self.size_ratio });
        }
        let schema = array.schema();
        if schema.array_type() != ArrayType::Dense {
            return None;
        }
        let box_cells = cells_in(&union(run)?);
        let tiles = run.iter().filter_map(|facts| facts.domain.as_ref());
        let cells = tiles.map(|domain| cells_in(&expanded(schema, domain))).fold(0, u128::saturating_add);
        #[allow(clippy::cast_precision_loss)] // as above
        let found = box_cells as f64 / cells.max(1) as f64;
        (found > self.amplification).then_some(Refusal::Amplification { found, allowed: self.amplification })
    }
}

/// Whether a size is smaller by a fifth.
#[allow(clippy::cast_precision_loss)] // sizes of files
fn is_below(size: u64, other: u64) -> bool {
    (size as f64) < other as f64 / 1.25
}
