//! The plan and the report of a consolidation or vacuum.

use std::collections::BTreeSet;
use std::fmt;

use tdb_array::TimeRange;
use tdb_job::journal::{Recovered, journals, recover};
use tdb_job::links::link_on;
use tdb_job::lock::Lock;
use tdb_job::{Result, Stamp, Target};
use tdb_storage::{EntryKind, Storage};

use crate::draft::{Draft, Reason, Retained, Savings};
use crate::step::{Action, Planned, Step};

/// One kind of consolidation or vacuum, with options.
pub(crate) trait Job: fmt::Debug + Send + Sync {
    /// Returns the folders on whose names the draft depends.
    fn folders(&self) -> &'static [&'static str];

    /// Drafts the steps for the current state of the target.
    fn draft(&self, target: &Target) -> Result<Draft>;

    /// Returns an additional step after the draft has run, because processes without a lock may
    /// have interfered.
    fn settle(&self, _target: &Target, _done: &Draft) -> Result<Option<Planned>> {
        Ok(None)
    }
}

/// The planned steps of a consolidation or a vacuum.
///
/// [`run`](Self::run) executes the plan. The `Display` output has one line per file.
#[derive(Debug)]
#[must_use = "has no effect until `run`"]
pub struct Plan {
    target: Target,
    parts: Vec<(Box<dyn Job>, Draft)>,
    /// The names of the files at the time of the plan.
    stamp: Stamp,
    take_over: bool,
}

/// Result of a consolidation or a vacuum.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The executed steps, in order, without the files that another process had already deleted.
    pub steps: Vec<Step>,
    /// Kept files, with reasons.
    pub left: Vec<Retained>,
    /// Number of interrupted consolidations of fragments that were first completed or rolled back.
    pub recovered: usize,
    /// Time ranges at which the array or group can no longer be read, as in [`Plan::past`].
    pub past: Vec<TimeRange>,
}

impl Plan {
    pub(crate) fn new(target: Target, jobs: Vec<Box<dyn Job>>) -> Result<Self> {
        let folders: BTreeSet<&str> = jobs.iter().flat_map(|job| job.folders()).copied().collect();
        let stamp = Stamp::of(&**target.storage(), &folders.into_iter().collect::<Vec<_>>())?;
        let draft = |job: Box<dyn Job>| draft(&*job, &target).map(|draft| (job, draft));
        let parts = jobs.into_iter().map(draft).collect::<Result<_>>()?;
        Ok(Self { target, parts, stamp, take_over: false })
    }

    /// Returns the planned steps, in order.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.parts.iter().flat_map(|(_, draft)| &draft.steps).map(|planned| &planned.step)
    }

    /// Returns `true` if the plan has no steps.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps().next().is_none()
    }

    /// Returns the files that the plan keeps, with reasons.
    pub fn retained(&self) -> impl Iterator<Item = &Retained> {
        self.parts.iter().flat_map(|(_, draft)| &draft.left)
    }

    /// Returns the savings for readers that open the array or group afterwards.
    #[must_use]
    pub fn savings(&self) -> Savings {
        self.parts.iter().fold(Savings::default(), |sum, (_, Draft { savings, .. })| Savings {
            names: sum.names.saturating_add(savings.names),
            reads: sum.reads.saturating_add(savings.reads),
        })
    }

    /// Returns the time ranges at which the array or group can no longer be read afterwards.
    ///
    /// Readers at these times miss data, because only files with later timestamps contain the data.
    pub fn past(&self) -> impl Iterator<Item = &TimeRange> {
        self.parts.iter().flat_map(|(_, draft)| &draft.past)
    }

    /// If `take_over`, takes over the lock of another process. This is safe only after that process
    /// has ended.
    pub fn take_over(mut self, take_over: bool) -> Self {
        self.take_over = take_over;
        self
    }

    /// Runs the plan under the lock of the array or group. First completes or rolls back an
    /// interrupted consolidation of fragments.
    ///
    /// If files were added to or deleted from the folders of the jobs since the plan, plans again. The [report](Report) may then
    /// differ from the plan.
    ///
    /// # Errors
    /// [`MaintainError::Busy`](tdb_job::MaintainError::Busy) if another job holds the lock. Also
    /// fails if the array cannot be read or the storage fails. Completed steps remain, and the next
    /// run continues.
    pub fn run(self) -> Result<Report> {
        let Self { target, parts, stamp, take_over } = self;
        let mut report = Report::default();
        let is_empty = parts.iter().all(|(_, draft)| draft.steps.is_empty());
        let is_current = || stamp.is_current(&**target.storage());
        if is_empty && is_current()? && journals(&**target.storage())?.is_empty() {
            // Without steps, take no lock, because a reader may lack the permission to write.
            report.left.extend(parts.into_iter().flat_map(|(_, draft)| draft.left));
            return Ok(report);
        }
        let lock = Lock::take(target.storage(), take_over)?;
        if let Target::Array(array) = &target {
            let Recovered { done, left } = recover(array)?;
            report.recovered = done;
            report.left.extend(left.into_iter().map(|path| Retained { path, why: Reason::NoJournal }));
        }
        let mut is_fresh = is_current()?;
        for (job, draft) in parts {
            let draft = if is_fresh { draft } else { self::draft(&*job, &target)? };
            if !draft.steps.is_empty() {
                lock.check()?;
            }
            // The drafts of later parts depend on these steps.
            is_fresh &= draft.steps.is_empty();
            report.take(&target, &draft.steps)?;
            report.take(&target, job.settle(&target, &draft)?.as_slice())?;
            report.left.extend(draft.left);
            report.past.extend(draft.past);
        }
        Ok(report)
    }
}

/// Drops all steps of a draft if a step would delete a path behind a symbolic link. Otherwise the
/// job would stop after some of the steps.
fn without_links(storage: &dyn Storage, mut draft: Draft) -> Draft {
    let removed = draft.steps.iter().map(|planned| &planned.step).filter(|step| step.action == Action::Remove);
    let folders = removed.map(|step| match step.kind {
        EntryKind::Folder => step.path.as_str(),
        EntryKind::File => step.path.rsplit_once('/').map_or("", |(folder, _)| folder),
    });
    let Some(path) = link_on(storage, folders) else { return draft };
    draft.left.push(Retained { path, why: Reason::Link });
    Draft { left: draft.left, ..Draft::default() }
}

/// Drafts the steps of a job. Drops all steps if a path is behind a symbolic link.
fn draft(job: &dyn Job, target: &Target) -> Result<Draft> {
    Ok(without_links(&**target.storage(), job.draft(target)?))
}

impl Report {
    /// Runs steps in order. Independent steps run at the same time.
    fn take(&mut self, target: &Target, steps: &[Planned]) -> Result<()> {
        let storage = &**target.storage();
        for some in steps.chunk_by(Planned::goes_with) {
            for (planned, done) in some.iter().zip(Planned::run_all(some, storage)) {
                if done? {
                    self.steps.push(planned.step.clone());
                }
            }
        }
        Ok(())
    }

    /// Returns the number of bytes written.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.sum(Action::Write)
    }

    /// Returns the number of bytes deleted.
    #[must_use]
    pub fn removed(&self) -> u64 {
        self.sum(Action::Remove)
    }

    fn sum(&self, action: Action) -> u64 {
        let steps = self.steps.iter().filter(|step| step.action == action);
        steps.fold(0, |sum, step| sum.saturating_add(step.bytes))
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            writeln!(f, "nothing to do")?;
        }
        self.steps().try_for_each(|step| writeln!(f, "{step}"))?;
        self.retained().try_for_each(|left| writeln!(f, "{left}"))
    }
}
