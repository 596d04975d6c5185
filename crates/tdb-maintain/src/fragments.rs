//! Consolidation of fragments.

mod choice;
mod choose;
mod facts;
mod index;
mod partition;
mod plan;
mod report;
mod sound;
mod step;

use std::collections::BTreeSet;

use tdb_array::{Array, FragmentJoin, TimeRange, WriteIds};
use tdb_types::TimestampedName;

use choice::Choice;
use choose::Stop;
use facts::Facts;
use sound::Asked;
use tdb_job::Refusal;
use tdb_job::{MaintainError, Result};

pub use plan::{FragmentPlan, PlannedStep};
pub use report::{ConsolidatedStep, FragmentReport};

/// A consolidation of fragments. By default, a single step replaces all fragments by one fragment.
/// Readers of every time see the same cells as before, unless a [purge](Self::purge) or [flattened
/// history](Self::flatten_history) is requested.
///
/// In a dense array, a single new fragment may exceed the limit of
/// [`amplification`](Self::amplification). In this case, groups of nearby fragments are
/// consolidated, with one new fragment per group.
///
/// The original fragments stay on disk. A vacuum file lists the superseded fragments.
///
/// ```
/// use tdb_maintain::ConsolidateFragments;
/// use tdb_maintain::tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
/// use tdb_maintain::tdb_array::{Array, WriteBatch};
/// use tdb_maintain::tdb_types::Datatype;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("array");
/// let time = Dimension::new("time", 0u32..=999);
/// let schema = SchemaBuilder::sparse().dimension(time).attribute(Attribute::new("rain", Datatype::Float32)).build()?;
/// Array::create(&path, schema)?;
/// for hour in 0..3u32 {
///     Array::open(&path)?.write().cells(WriteBatch::new().with("time", &[hour]).with("rain", &[0.5f32]))?;
/// }
///
/// let plan = ConsolidateFragments::new().budget(64 << 20).plan(&Array::open(&path)?)?;
/// assert_eq!(plan.steps()[0].fragments.len(), 3);
/// let report = plan.run()?;
/// assert_eq!(report.steps[0].cells, 3);
/// assert_eq!(Array::open(&path)?.fragments()?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "has no effect until a plan runs"]
pub struct ConsolidateFragments {
    choice: Choice,
    steps: u32,
    list: Option<Vec<String>>,
    time: TimeRange,
    max_fragment_size: Option<u64>,
    asked: Asked,
    budget: usize,
    names: WriteIds,
}

impl Default for ConsolidateFragments {
    fn default() -> Self {
        let choice = Choice { min: None, max: usize::MAX, size_ratio: 0.0, amplification: 1.0 };
        Self {
            choice,
            steps: u32::MAX,
            list: None,
            time: TimeRange::ALL,
            max_fragment_size: None,
            asked: Asked { purge: false, flatten_history: false },
            budget: FragmentJoin::DEFAULT_BUDGET,
            names: WriteIds::new(),
        }
    }
}

impl ConsolidateFragments {
    /// Creates a consolidation of all fragments in one step.
    pub fn new() -> Self {
        Self::default()
    }

    /// Consolidates exactly the fragments with these names in one step.
    pub fn fragments<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.list = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Restricts the consolidation to fragments written within a time range.
    pub fn between(mut self, time: TimeRange) -> Self {
        self.time = time;
        self
    }

    /// Sets the maximum number of steps (`sm.consolidation.steps`).
    pub fn steps(mut self, steps: u32) -> Self {
        self.steps = steps;
        self
    }

    /// Sets the minimum number of fragments per step (`sm.consolidation.step_min_frags`). By
    /// default, a step consolidates all fragments.
    pub fn step_min_fragments(mut self, count: usize) -> Self {
        self.choice.min = Some(count);
        self
    }

    /// Sets the maximum number of fragments per step (`sm.consolidation.step_max_frags`).
    pub fn step_max_fragments(mut self, count: usize) -> Self {
        self.choice.max = count;
        self
    }

    /// Sets the minimum ratio between the sizes of two consecutive fragments, the smaller size
    /// divided by the larger size (`sm.consolidation.step_size_ratio`). Defaults to 0.
    pub fn step_size_ratio(mut self, ratio: f32) -> Self {
        self.choice.size_ratio = ratio;
        self
    }

    /// Sets the maximum number of cells of a new dense fragment, as a multiple of the number of
    /// cells in the tiles of the original fragments (`sm.consolidation.amplification`). Defaults to
    /// 1.
    pub fn amplification(mut self, most: f64) -> Self {
        self.choice.amplification = most;
        self
    }

    /// Sets the maximum size of a fragment's data files in bytes
    /// (`sm.consolidation.max_fragment_size`). Larger results are split into several fragments.
    pub fn max_fragment_size(mut self, bytes: u64) -> Self {
        self.max_fragment_size = Some(bytes);
        self
    }

    /// If `purge`, drops deleted cells (`sm.consolidation.purge_deleted_cells`). Readers of earlier
    /// times no longer see these cells.
    pub fn purge(mut self, purge: bool) -> Self {
        self.asked.purge = purge;
        self
    }

    /// If `flatten`, drops the values of attributes that were dropped or redefined in the schema.
    /// Readers of earlier times no longer see these values.
    pub fn flatten_history(mut self, flatten: bool) -> Self {
        self.asked.flatten_history = flatten;
        self
    }

    /// Sets the approximate memory limit for cells in bytes. The default is 64 MiB.
    pub fn budget(mut self, bytes: usize) -> Self {
        self.budget = bytes;
        self
    }

    /// Sets the source of the unique part of new fragment names. The timestamps in a name are
    /// always the time range of the original fragments.
    pub fn ids(mut self, ids: WriteIds) -> Self {
        self.names = ids;
        self
    }

    /// Plans the steps. Reads fragment names and metadata, and writes no file.
    ///
    /// # Errors
    /// [`MaintainError::Refused`] if a requested fragment does not exist. Also fails if the array
    /// cannot be read.
    pub fn plan(&self, array: &Array) -> Result<FragmentPlan> {
        let array = array.reopened_after(array)?;
        let mut all = Facts::of_all(&array)?;
        let known = all.iter().map(|facts| facts.name.clone()).collect();
        let mut plan = FragmentPlan::new(self.clone(), array, known);
        let mut done = BTreeSet::new();
        while self.goes_on(plan.steps.len()) {
            let groups = match self.next(&plan.array, &all, &done)? {
                Err(Stop { why, .. }) => {
                    if !why.is_empty() {
                        plan.left = names(&self.candidates(&all, &done));
                    }
                    plan.refused = why;
                    break;
                }
                Ok(groups) => groups,
            };
            let is_first = plan.steps.is_empty();
            let (mut gone, mut new) = (BTreeSet::new(), Vec::new());
            for chosen in groups {
                if !self.goes_on(plan.steps.len()) {
                    break;
                }
                plan.steps.push(PlannedStep::of(&chosen));
                gone.extend(chosen.iter().map(|facts| facts.name.clone()));
                new.extend(Facts::joined(&chosen, plan.steps.len() - 1));
            }
            if is_first {
                plan.first_round = plan.steps.len();
            }
            all.retain(|facts| !gone.contains(&facts.name));
            for joined in new {
                if self.list.is_some() || self.max_fragment_size.is_some() {
                    done.insert(joined.name.to_string());
                }
                let place = all.partition_point(|facts| facts.name.start() < joined.name.start());
                all.insert(place, joined);
            }
        }
        Ok(plan)
    }

    /// Returns `true` if another step may follow. An explicit list of fragments has a single step.
    fn goes_on(&self, steps: usize) -> bool {
        let most = if self.list.is_some() { self.steps.min(1) } else { self.steps };
        u32::try_from(steps).is_ok_and(|steps| steps < most)
    }

    /// Returns the groups of fragments to consolidate next, or the reasons why there is no next
    /// step. Leaves out the fragments in `done`.
    fn next<'f>(
        &self,
        array: &Array,
        all: &'f [Facts],
        done: &BTreeSet<String>,
    ) -> Result<Result<Vec<Vec<&'f Facts>>, Stop>> {
        if let Some(list) = &self.list {
            let known = facts::names_of(all);
            if let Some(missing) = list.iter().find(|name| !known.contains(name.as_str())) {
                let why = Refusal::NoSuchFragment { name: missing.clone() };
                return Err(MaintainError::Refused { path: array.storage().describe(""), why });
            }
            let chosen: Vec<&Facts> =
                all.iter().filter(|facts| list.iter().any(|name| name == facts.name.as_str())).collect();
            if chosen.len() < 2 {
                return Ok(Err(Stop::default()));
            }
            return Ok(match sound::check(array, all, &chosen, self.asked) {
                Some(why) => Err(Stop::refused(why)),
                None => Ok(vec![chosen]),
            });
        }
        Ok(self.choice.next(array, all, &self.candidates(all, done), self.asked))
    }

    /// Returns the fragments within the time range, except those in `done`.
    fn candidates<'f>(&self, all: &'f [Facts], done: &BTreeSet<String>) -> Vec<&'f Facts> {
        let is_inside = |facts: &&Facts| self.time.contains(facts.name.start(), facts.name.end());
        all.iter().filter(is_inside).filter(|facts| !done.contains(facts.name.as_str())).collect()
    }
}

fn names(some: &[&Facts]) -> Vec<TimestampedName> {
    some.iter().map(|facts| facts.name.clone()).collect()
}
