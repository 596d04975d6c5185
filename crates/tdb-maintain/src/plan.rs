//! What is going to be done, and what was.

use std::collections::HashSet;
use std::fmt;

use tdb_array::TimeRange;
use tdb_job::journal::{Recovered, journals, recover};
use tdb_job::links::link_on;
use tdb_job::lock::Lock;
use tdb_job::{Result, Stamp, Target};
use tdb_storage::{EntryKind, Storage};

use crate::draft::{Draft, Left, Reason, Savings};
use crate::step::{Action, Planned, Step};

/// One kind of consolidation or vacuum, with its options.
pub(crate) trait Job: fmt::Debug + Send + Sync {
    /// What is to be done as things stand.
    fn draft(&self, target: &Target) -> Result<Draft>;

    /// What is to be done when the steps of a draft are done, because others, who know no lock, did something meanwhile.
    fn settle(&self, _target: &Target, _done: &Draft) -> Result<Option<Planned>> {
        Ok(None)
    }
}

/// What a consolidation or a vacuum is going to do, known before it is done.
///
/// [`run`](Self::run) does it. `{plan}` prints it, a line for each file.
#[derive(Debug)]
#[must_use = "nothing is done before `run`"]
pub struct Plan {
    target: Target,
    parts: Vec<(Box<dyn Job>, Draft)>,
    /// What lay in the folders when the plan was made.
    stamp: Stamp,
    take_over: bool,
}

/// What a consolidation or a vacuum has done.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// What was written and removed, in that order. What somebody else had removed already isn't among it.
    pub steps: Vec<Step>,
    /// What was left alone, and why.
    pub left: Vec<Left>,
    /// How many interrupted consolidations of fragments were finished or undone first.
    pub recovered: usize,
    /// Of which times the array or group can't be read any more, as [`Plan::past`] said before.
    pub past: Vec<TimeRange>,
}

impl Plan {
    pub(crate) fn new(target: Target, jobs: Vec<Box<dyn Job>>) -> Result<Self> {
        let stamp = target.stamp()?;
        let draft = |job: Box<dyn Job>| draft(&*job, &target).map(|draft| (job, draft));
        let parts = jobs.into_iter().map(draft).collect::<Result<_>>()?;
        Ok(Self { target, parts, stamp, take_over: false })
    }

    /// What is going to be written and removed, in this order.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.parts.iter().flat_map(|(_, draft)| &draft.steps).map(|planned| &planned.step)
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps().next().is_none()
    }

    /// What a vacuum is going to leave alone, and why.
    pub fn left(&self) -> impl Iterator<Item = &Left> {
        self.parts.iter().flat_map(|(_, draft)| &draft.left)
    }

    /// What those who open the array or group are spared afterwards.
    #[must_use]
    pub fn savings(&self) -> Savings {
        self.parts.iter().fold(Savings::default(), |sum, (_, Draft { savings, .. })| Savings {
            names: sum.names.saturating_add(savings.names),
            reads: sum.reads.saturating_add(savings.reads),
        })
    }

    /// Of which times the array or group can't be read any more afterwards: who asks for the end of one of these milliseconds
    /// misses what was written before, because only what was made of it later is left.
    pub fn past(&self) -> impl Iterator<Item = &TimeRange> {
        self.parts.iter().flat_map(|(_, draft)| &draft.past)
    }

    /// Goes on although somebody else seems to maintain the array: it is certain that nobody does.
    pub fn take_over(mut self, take_over: bool) -> Self {
        self.take_over = take_over;
        self
    }

    /// Does it, while nobody else maintains the array or group. What an interrupted consolidation of fragments has left is
    /// finished or undone first. If anything was written or removed since the plan was made, it is made anew, so that the
    /// [report](Report) may differ.
    ///
    /// # Errors
    /// [`MaintainError::Busy`](tdb_job::MaintainError::Busy); whatever the storage can't do. What was done before is done; the
    /// next run goes on from there.
    pub fn run(self) -> Result<Report> {
        let Self { target, parts, stamp, take_over } = self;
        let mut report = Report::default();
        let is_empty = parts.iter().all(|(_, draft)| draft.steps.is_empty());
        if is_empty && target.stamp()? == stamp && journals(&**target.storage())?.is_empty() {
            // Nothing is written for that: not everybody who may look may write.
            report.left.extend(parts.into_iter().flat_map(|(_, draft)| draft.left));
            return Ok(report);
        }
        let lock = Lock::take(target.storage(), take_over)?;
        if let Target::Array(array) = &target {
            let Recovered { done, left } = recover(array)?;
            report.recovered = done;
            report.left.extend(left.into_iter().map(|path| Left { path, why: Reason::NoJournal }));
        }
        let mut is_fresh = target.stamp()? == stamp;
        for (job, draft) in parts {
            let draft = if is_fresh { draft } else { self::draft(&*job, &target)? };
            if !draft.steps.is_empty() {
                lock.check()?;
            }
            // What was planned for the others rests on this.
            is_fresh &= draft.steps.is_empty();
            report.take(&target, &draft.steps)?;
            report.take(&target, job.settle(&target, &draft)?.as_slice())?;
            report.left.extend(draft.left);
            report.past.extend(draft.past);
        }
        Ok(report)
    }
}

/// The same draft, unless something that it removes is behind a link. Then nothing of it is done: it would end halfway.
fn without_links(storage: &dyn Storage, mut draft: Draft) -> Result<Draft> {
    let mut places: HashSet<&str> = HashSet::new();
    for step in draft.steps.iter().map(|planned| &planned.step).filter(|step| step.action == Action::Remove) {
        places.insert(match step.kind {
            EntryKind::Folder => &step.path,
            EntryKind::File => step.path.rsplit_once('/').map_or("", |(folder, _)| folder),
        });
    }
    for place in places {
        if let Some(path) = link_on(storage, place)? {
            draft.left.push(Left { path, why: Reason::Link });
            return Ok(Draft { left: draft.left, ..Draft::default() });
        }
    }
    Ok(draft)
}

/// The draft of a job, without what lies behind links.
fn draft(job: &dyn Job, target: &Target) -> Result<Draft> {
    without_links(&**target.storage(), job.draft(target)?)
}

impl Report {
    /// Carries steps out, in their order, but those at once that go with each other.
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

    /// Bytes of what was written.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.sum(Action::Write)
    }

    /// Bytes of what was removed.
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
        self.left().try_for_each(|left| writeln!(f, "{left}"))
    }
}
