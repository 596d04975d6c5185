//! Plan and execution of a consolidation of fragments.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;

use tdb_array::Array;
use tdb_job::journal::{self, Recovered};
use tdb_job::lock::Lock;
use tdb_job::{MaintainError, Refusal, Result};
use tdb_storage::EntryKind;
use tdb_types::TimestampedName;
use tdb_types::names::file_name;

use super::choose::Stop;
use super::facts::Facts;
use super::report::{FragmentReport, not_joined};
use super::{ConsolidateFragments, names, sound};

/// The planned steps of a consolidation of fragments.
///
/// [`run`](Self::run) executes the plan. The `Display` output lists the steps.
#[derive(Clone, Debug)]
#[must_use = "has no effect until `run`"]
pub struct FragmentPlan {
    job: ConsolidateFragments,
    /// The array at the time of the plan.
    pub(super) array: Array,
    /// The fragments of that array, oldest first.
    known: Vec<TimestampedName>,
    pub(super) steps: Vec<PlannedStep>,
    /// The number of initial steps, which consolidate only existing fragments.
    pub(super) first_round: usize,
    pub(super) refused: Vec<Refusal>,
    pub(super) left: Vec<TimestampedName>,
    take_over: bool,
}

/// Fragments to be consolidated into one fragment, or into several fragments of bounded size.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedStep {
    /// Names of the fragments, oldest first. A fragment that an earlier step will write has a
    /// placeholder name, whose UUID ends with 16 zero digits.
    pub fragments: Vec<TimestampedName>,
    /// Total size of the files in bytes.
    pub bytes: u64,
}

impl PlannedStep {
    pub(super) fn of(chosen: &[&Facts]) -> Self {
        let bytes = chosen.iter().map(|facts| facts.bytes).fold(0, u64::saturating_add);
        Self { fragments: names(chosen), bytes }
    }
}

impl FragmentPlan {
    pub(super) fn new(job: ConsolidateFragments, array: Array, known: Vec<TimestampedName>) -> Self {
        Self {
            job,
            array,
            known,
            steps: Vec::new(),
            first_round: 0,
            refused: Vec::new(),
            left: Vec::new(),
            take_over: false,
        }
    }

    /// Returns the steps, in order.
    #[must_use]
    pub fn steps(&self) -> &[PlannedStep] {
        &self.steps
    }

    /// Returns the reasons why no further step is planned. Empty if no fragment remains to be
    /// consolidated, or if the plan has the maximum number of steps.
    #[must_use]
    pub fn refused(&self) -> &[Refusal] {
        &self.refused
    }

    /// Returns the fragments that remain after the last step, if a reason prevents a further step.
    #[must_use]
    pub fn remaining(&self) -> &[TimestampedName] {
        &self.left
    }

    /// If `take_over`, takes over the lock of another process. This is safe only after that process
    /// has ended.
    pub fn take_over(mut self, take_over: bool) -> Self {
        self.take_over = take_over;
        self
    }

    /// Consolidates the fragments. First completes or rolls back interrupted consolidations.
    ///
    /// The initial steps, which consolidate only existing fragments, run as planned. The run
    /// chooses each later step again, because the plan only estimates the sizes of new fragments.
    /// If fragments were written or deleted since the plan, the run plans all steps again.
    ///
    /// # Errors
    /// - [`MaintainError::Refused`] with the reason if the first step is not allowed. It is not an
    ///   error if no fragments can be consolidated, or if dense fragments are too far apart. The
    ///   report [lists](FragmentReport::left) such fragments.
    /// - [`MaintainError::Busy`] if another job holds the lock.
    /// - [`MaintainError::Conflict`] if another process changed the array during a step.
    /// - The array cannot be read or written.
    ///
    /// Completed steps remain.
    pub fn run(self) -> Result<FragmentReport> {
        let Self { job, array, known, steps, first_round, take_over, .. } = self;
        let mut wanted: VecDeque<_> = steps.into_iter().take(first_round).map(|step| step.fragments).collect();
        let lock = Lock::take(array.storage(), take_over)?;
        let Recovered { done, left } = journal::recover(&array)?;
        let uncommitted = uncommitted(&array)?;
        let mut report =
            FragmentReport { recovered: done, left_journals: left, uncommitted, ..FragmentReport::default() };
        let mut done = BTreeSet::new();
        // Reuse the footers that earlier steps have read.
        let mut last = array.clone();
        while job.goes_on(report.steps.len()) {
            let array = array.reopened_after(&last)?;
            last = array.clone();
            let all = Facts::of_all(&array)?;
            if report.steps.is_empty() && !all.iter().map(|facts| &facts.name).eq(&known) {
                wanted.clear();
            }
            let is_new = wanted.is_empty();
            if is_new {
                match job.next(&array, &all, &done)? {
                    Ok(groups) => wanted.extend(groups.iter().map(|group| names(group))),
                    Err(Stop { why, is_refused }) => {
                        if report.steps.is_empty()
                            && is_refused
                            && let Some(why) = why.first().cloned()
                        {
                            return Err(MaintainError::Refused { path: array.storage().describe(""), why });
                        }
                        if !why.is_empty() {
                            report.left = names(&job.candidates(&all, &done));
                        }
                        report.refused = why;
                        break;
                    }
                }
            }
            let group: BTreeSet<TimestampedName> = wanted.pop_front().into_iter().flatten().collect();
            let chosen: Vec<&Facts> = all.iter().filter(|facts| group.contains(&facts.name)).collect();
            let is_free = || sound::check(&array, &all, &chosen, job.asked).is_none();
            if !is_new && (chosen.len() < group.len() || !is_free()) {
                // Another process has written or deleted fragments since the groups were planned.
                wanted.clear();
                continue;
            }
            let step = job.join(&array, &chosen, &lock)?;
            // Do not consolidate these fragments again, because the result would be split into the
            // same fragments.
            if step.fragments.len() > 1 {
                done.extend(step.fragments.iter().map(ToString::to_string));
            }
            report.steps.push(step);
        }
        Ok(report)
    }
}

impl fmt::Display for FragmentPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.steps.is_empty() && self.refused.is_empty() {
            return writeln!(f, "nothing to consolidate");
        }
        for (number, step) in (1..).zip(&self.steps) {
            writeln!(f, "step {number} consolidates {} fragments ({} bytes):", step.fragments.len(), step.bytes)?;
            for fragment in &step.fragments {
                writeln!(f, "  {fragment}")?;
            }
        }
        not_joined(f, &self.left, &self.refused)
    }
}

/// Returns the folders of uncommitted fragments whose start time is before their end time. Only a
/// job that holds the lock writes such fragments.
fn uncommitted(array: &Array) -> Result<Vec<String>> {
    let is_of_range =
        |path: &str| TimestampedName::parse(file_name(path)).is_some_and(|name| name.start() < name.end());
    let folders = array.leftovers()?.into_iter().filter(|leftover| leftover.kind == EntryKind::Folder);
    Ok(folders.map(|leftover| leftover.path).filter(|path| is_of_range(path)).collect())
}
