//! Selection of the fragments to consolidate next. With the same options, the reference library
//! selects the same fragments.

use std::collections::HashMap;
use std::ops::Range;

use tdb_array::Array;
use tdb_array::tdb_rtree::NdRange;
use tdb_types::ArrayType;

use super::choice::{Choice, factor};
use super::facts::{Facts, names_of, union};
use super::partition::groups;
use super::sound::{Asked, check, stays_refused};
use tdb_job::{Refusal, cells_in, whole_tiles};

/// The reasons why no group is chosen. Empty if fewer than two fragments remain.
#[derive(Debug, Default)]
pub(super) struct Stop {
    pub(super) why: Vec<Refusal>,
    /// `true` if the request is refused, `false` if the remaining fragments are only too far apart.
    pub(super) is_refused: bool,
}

impl Stop {
    pub(super) fn refused(why: Refusal) -> Self {
        Self { why: vec![why], is_refused: true }
    }
}

impl Choice {
    /// Returns the next groups of candidates, each of which becomes one new fragment. Fails with
    /// the reasons why there is no next group.
    pub(super) fn next<'f>(
        &self,
        array: &Array,
        all: &[Facts],
        candidates: &[&'f Facts],
        asked: Asked,
    ) -> Result<Vec<Vec<&'f Facts>>, Stop> {
        let has_groups = self.min.is_none() && array.schema().is_dense();
        let why = match self.run(array, all, candidates, asked) {
            Ok(run) => return Ok(vec![run]),
            Err(why) => why,
        };
        let is_too_large = candidates.len() > self.max || matches!(why, Some(Refusal::Amplification { .. }));
        if !has_groups || !is_too_large {
            return Err(why.map_or_else(Stop::default, Stop::refused));
        }
        let known = names_of(candidates.iter().copied());
        let found = groups(array.schema(), self, all, |facts| known.contains(facts.name.as_str()));
        let by_name: HashMap<&str, &'f Facts> = candidates.iter().map(|facts| (facts.name.as_str(), *facts)).collect();
        let of = |group: Vec<usize>| -> Vec<&'f Facts> {
            group.into_iter().filter_map(|number| by_name.get(all[number].name.as_str()).copied()).collect()
        };
        let mut refusal = None;
        let mut groups: Vec<Vec<&Facts>> = found.groups.into_iter().map(of).collect();
        // The partition has already checked for conflicts with fragments outside of a group.
        groups.retain(|group| {
            let why = check(array, std::iter::empty(), group, asked);
            let is_free = why.is_none();
            refusal = refusal.take().or(why);
            is_free
        });
        if !groups.is_empty() {
            return Ok(groups);
        }
        if let Some(refusal) = refusal {
            return Err(Stop::refused(refusal));
        }
        let why = match found.nearest {
            Some((found, _)) if found > self.amplification => {
                vec![Refusal::Apart { found, allowed: self.amplification }]
            }
            // A fragment outside of the nearest group conflicts with it, and a group that includes
            // this fragment would exceed the limit.
            Some((_, nearest)) => check(array, all, &of(nearest), asked).into_iter().chain(why).collect(),
            None => why.into_iter().collect(),
        };
        Err(Stop { why, is_refused: false })
    }

    /// Returns the longest run of candidates that can be consolidated. Among runs of the same
    /// length, takes the first run, unless a later run is smaller by more than a fifth.
    ///
    /// Fails with the reason why the first of the longest runs is refused, or with `None` if there
    /// are fewer than two candidates.
    fn run<'f>(
        &self,
        array: &Array,
        all: &[Facts],
        candidates: &[&'f Facts],
        asked: Asked,
    ) -> Result<Vec<&'f Facts>, Option<Refusal>> {
        let least = self.min.unwrap_or(usize::MAX).min(candidates.len()).max(2);
        let most = self.max.min(candidates.len());
        let sums = Sums::new(array, candidates, self);
        let mut refusal = None;
        let mut hopeless: Option<Vec<usize>> = None;
        for len in (least..=most).rev() {
            let mut best: Option<(u64, &[&Facts])> = None;
            for (start, run) in candidates.windows(len).enumerate() {
                if refusal.is_some() {
                    let pairs = hopeless.get_or_insert_with(|| hopeless_pairs(array, all, candidates, asked));
                    if pairs[start + len - 1] > pairs[start] {
                        continue;
                    }
                }
                let bytes = sums.bytes(start..start + len);
                if best.is_some_and(|(size, _)| !is_below(bytes, size)) {
                    continue;
                }
                match self.refuse(&sums, start..start + len).or_else(|| check(array, all, run, asked)) {
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

    /// Returns the reason if a run exceeds a limit.
    fn refuse(&self, sums: &Sums, run: Range<usize>) -> Option<Refusal> {
        if sums.unequal[run.end - 1] > sums.unequal[run.start] {
            return Some(Refusal::SizeRatio { least: self.size_ratio });
        }
        let found = sums.amplification(run)?;
        (found > self.amplification).then_some(Refusal::Amplification { found, allowed: self.amplification })
    }
}

/// Counts the pairs of neighboring candidates that conflict with a fragment outside of the
/// candidates. No run can contain such a pair. Returns, for each candidate, the number of such
/// pairs up to this candidate.
fn hopeless_pairs(array: &Array, all: &[Facts], candidates: &[&Facts], asked: Asked) -> Vec<usize> {
    let mut rest = candidates.iter().peekable();
    let is_other = |facts: &&Facts| rest.next_if(|own| own.name == facts.name).is_none();
    let others: Vec<&Facts> = all.iter().filter(is_other).collect();
    let stays = stays_refused(array);
    let mut count = 0;
    let pairs = candidates.windows(2).map(|pair| {
        count += usize::from(stays && check(array, others.iter().copied(), pair, asked).is_some());
        count
    });
    std::iter::once(0).chain(pairs).collect()
}

/// Prefix sums, to compute the properties of any run of fragments in constant time.
#[derive(Debug)]
struct Sums {
    /// For each fragment, the total bytes of all fragments before it.
    bytes: Vec<u128>,
    /// For each fragment, the number of pairs up to it whose sizes differ too much.
    unequal: Vec<usize>,
    /// For each fragment, the number of cells in the tiles of all fragments before it. Empty for
    /// sparse arrays.
    cells: Vec<u128>,
    /// MBRs of runs of 1, 2, 4, ... fragments, by first fragment. Empty for sparse arrays.
    boxes: Vec<Vec<Option<NdRange>>>,
}

impl Sums {
    fn new(array: &Array, candidates: &[&Facts], choice: &Choice) -> Self {
        let sums = |of: &dyn Fn(&Facts) -> u128| {
            let mut sum = 0u128;
            let all = candidates.iter().map(|facts| {
                sum = sum.saturating_add(of(facts));
                sum
            });
            std::iter::once(0).chain(all).collect()
        };
        let pairs = candidates.windows(2).scan(0, |unequal, pair| {
            *unequal += usize::from(!choice.have_sizes(pair[0], pair[1]));
            Some(*unequal)
        });
        let unequal = std::iter::once(0).chain(pairs).collect();
        let schema = array.schema();
        let (mut cells, mut boxes) = (Vec::new(), Vec::new());
        if schema.array_type() == ArrayType::Dense {
            let of_tiles =
                |facts: &Facts| facts.domain.as_ref().map_or(0, |domain| cells_in(&whole_tiles(schema, domain)));
            cells = sums(&of_tiles);
            boxes = boxes_of(candidates);
        }
        Self { bytes: sums(&|facts| facts.bytes.into()), unequal, cells, boxes }
    }

    fn bytes(&self, run: Range<usize>) -> u64 {
        u64::try_from(self.bytes[run.end] - self.bytes[run.start]).unwrap_or(u64::MAX)
    }

    /// Returns the number of cells in a run's MBR, as a multiple of the number of cells in its
    /// fragments' tiles. Returns `None` for sparse arrays.
    fn amplification(&self, run: Range<usize>) -> Option<f64> {
        let level = usize::try_from(run.len().checked_ilog2()?).ok()?;
        let boxes = self.boxes.get(level)?;
        let union = union([&boxes[run.start], &boxes[run.end - (1 << level)]].into_iter().flatten())?;
        let cells = self.cells[run.end].saturating_sub(self.cells[run.start]);
        Some(factor(cells_in(&union), cells))
    }
}

/// Returns the MBRs of all runs of 1, 2, 4, ... fragments.
fn boxes_of(candidates: &[&Facts]) -> Vec<Vec<Option<NdRange>>> {
    let mut boxes = vec![candidates.iter().map(|facts| facts.domain.clone()).collect::<Vec<_>>()];
    while let Some(last) = boxes.last()
        && last.len() > 1 << (boxes.len() - 1)
    {
        let half = 1 << (boxes.len() - 1);
        let pairs = last.iter().zip(&last[half..]);
        let next = pairs.map(|(one, other)| union(one.iter().chain(other))).collect();
        boxes.push(next);
    }
    boxes
}

/// Returns `true` if `size` is smaller than `other` by more than a fifth.
#[allow(clippy::cast_precision_loss)] // file sizes
fn is_below(size: u64, other: u64) -> bool {
    (size as f64) < other as f64 / 1.25
}
