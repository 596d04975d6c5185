//! The report of a consolidation of fragments.

use std::fmt;

use tdb_array::TileCounts;
use tdb_types::TimestampedName;

use tdb_job::Refusal;

/// Prints the number of remaining fragments, and the reasons why they are not consolidated.
pub(super) fn not_joined(f: &mut fmt::Formatter<'_>, left: &[TimestampedName], refused: &[Refusal]) -> fmt::Result {
    if refused.is_empty() {
        return Ok(());
    }
    if !left.is_empty() {
        writeln!(f, "{} fragments remain", left.len())?;
    }
    refused.iter().try_for_each(|refusal| writeln!(f, "not consolidated: {refusal}"))
}

/// Result of a consolidation of fragments.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FragmentReport {
    /// Number of interrupted consolidations that were first completed or rolled back.
    pub recovered: usize,
    /// Paths of files that have the name of a journal, but not the content of a journal for this
    /// array. These files stay untouched.
    pub left_journals: Vec<String>,
    /// Folders of uncommitted fragments with a time range. Readers ignore these folders, and the
    /// job does not touch them.
    ///
    /// Possible causes are a consolidation that was killed before its commit, and an interrupted
    /// deletion of fragments.
    pub uncommitted: Vec<String>,
    /// The executed steps, in order.
    pub steps: Vec<ConsolidatedStep>,
    /// Reasons why the consolidation stopped early.
    pub refused: Vec<Refusal>,
    /// The fragments that remain if the consolidation stopped early.
    pub left: Vec<TimestampedName>,
}

/// One executed step.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConsolidatedStep {
    /// Names of the original fragments, oldest first.
    pub replaced: Vec<TimestampedName>,
    /// Names of the new fragments. Empty if all cells were purged.
    pub fragments: Vec<TimestampedName>,
    /// Number of cells in the new fragments.
    pub cells: u64,
    /// Number of tiles in the new fragments, and number of tiles copied in filtered form.
    pub tiles: TileCounts,
    /// Path of the vacuum file, below the array's folder.
    pub vacuum_file: String,
}

impl fmt::Display for FragmentReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.recovered > 0 {
            writeln!(f, "{} interrupted runs were completed or rolled back", self.recovered)?;
        }
        for path in &self.left_journals {
            writeln!(f, "{path} was kept: not a journal of an interrupted consolidation")?;
        }
        for path in &self.uncommitted {
            writeln!(f, "{path} was kept: no commit names it, since an earlier run or a removal was interrupted")?;
        }
        if self.steps.is_empty() {
            writeln!(f, "nothing to consolidate")?;
        }
        self.steps.iter().try_for_each(|step| {
            let (from, to) = (step.replaced.len(), step.fragments.len());
            writeln!(f, "{from} fragments became {to}, with {} cells:", step.cells)?;
            if step.tiles.copied > 0 {
                writeln!(f, "  {} of {} tiles were copied without unfiltering", step.tiles.copied, step.tiles.written)?;
            }
            step.fragments.iter().try_for_each(|fragment| writeln!(f, "  {fragment}"))
        })?;
        not_joined(f, &self.left, &self.refused)
    }
}
