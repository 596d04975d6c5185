//! The report of a consolidation of fragments.

use std::fmt;

use tdb_array::TileCounts;
use tdb_types::TimestampedName;

use tdb_job::Refusal;

/// Names fragments that are left, and says why.
pub(super) fn not_joined(f: &mut fmt::Formatter<'_>, left: &[TimestampedName], refused: &[Refusal]) -> fmt::Result {
    if refused.is_empty() {
        return Ok(());
    }
    if !left.is_empty() {
        writeln!(f, "{} fragments are left.", left.len())?;
    }
    refused.iter().try_for_each(|refusal| writeln!(f, "Not joined: {refusal}."))
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FragmentReport {
    /// How many interrupted runs were finished or undone first.
    pub recovered: usize,
    /// The paths of files that are named as if interrupted runs had left them, and say what none can have meant. They were left
    /// alone.
    pub left_journals: Vec<String>,
    /// Folders of fragments of a range of time that no commit names: a run that was killed before its new fragments were
    /// whole has left them, or a removal of fragments. Readers pass them over, and they were left alone.
    pub uncommitted: Vec<String>,
    /// The steps, in order.
    pub steps: Vec<JoinedStep>,
    /// Why no more was done, if something stands in the way.
    pub refused: Vec<Refusal>,
    /// The fragments that are left then.
    pub left: Vec<TimestampedName>,
}

/// Fragments that were joined.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JoinedStep {
    /// Their names, the oldest first.
    pub replaced: Vec<TimestampedName>,
    /// The new ones; none if all cells were purged.
    pub fragments: Vec<TimestampedName>,
    /// How many cells the new ones have.
    pub cells: u64,
    /// How many tiles of fields they have, and how many of those were copied without unfiltering them.
    pub tiles: TileCounts,
    /// The path of the file that says so, below the array's folder.
    pub vacuum_file: String,
}

impl fmt::Display for FragmentReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.recovered > 0 {
            writeln!(f, "{} interrupted runs were finished or undone.", self.recovered)?;
        }
        for path in &self.left_journals {
            writeln!(f, "{path} was left alone: no interrupted run of this library can have meant what it says.")?;
        }
        for path in &self.uncommitted {
            writeln!(
                f,
                "{path} was left alone: no commit names it, since an earlier run or a removal was interrupted."
            )?;
        }
        if self.steps.is_empty() {
            writeln!(f, "There was nothing to join.")?;
        }
        self.steps.iter().try_for_each(|step| {
            let (from, to) = (step.replaced.len(), step.fragments.len());
            writeln!(f, "{from} fragments became {to}, of {} cells:", step.cells)?;
            if step.tiles.copied > 0 {
                writeln!(f, "  {} of {} tiles were copied as they are stored", step.tiles.copied, step.tiles.written)?;
            }
            step.fragments.iter().try_for_each(|fragment| writeln!(f, "  {fragment}"))
        })?;
        not_joined(f, &self.left, &self.refused)
    }
}
