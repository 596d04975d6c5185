//! Kinds of cases.

use std::path::Path;

use tdb_reference::Result;

use crate::coverage::Coverage;
use crate::tally::{Counts, READS_LEFT_OUT};
use crate::verdict::{Failure, Verdict};

/// A kind of case.
pub trait CaseKind: Send + Sync + 'static {
    /// What a case is; it follows from its index, so that it can be run again.
    type Case: Clone;
    /// The libraries' processes. Each thread has its own.
    type Sides;

    /// The subcommand and the options with which the cases are run again, but for seed and index.
    fn command(&self) -> String;

    /// Starts the processes.
    ///
    /// # Errors
    ///
    /// If a release can't be fetched.
    fn start(&self) -> Result<Self::Sides>;

    /// The case of an index; `None` if this kind has no such case.
    fn case(&self, index: u64) -> Option<Self::Case>;

    /// Runs a case below `folder`. What it counts is added up where the case doesn't fail.
    ///
    /// # Errors
    ///
    /// What ends the whole run: a folder can't be made, or a process not be started.
    fn examine(
        &self,
        case: &Self::Case,
        index: u64,
        sides: &mut Self::Sides,
        folder: &Path,
        counts: &mut Counts,
    ) -> Result<Verdict>;

    /// The smallest case found that fails in the same way; the case itself, where there is none. `fails` runs a case and says
    /// how it fails.
    fn shrink(
        &self,
        case: Self::Case,
        failure: Failure,
        fails: &mut dyn FnMut(&Self::Case) -> Option<Failure>,
    ) -> (Self::Case, Failure);

    /// The case for people, with one of its questions or all.
    fn print(&self, case: &Self::Case, index: u64, question: Option<usize>) -> String;

    /// What excuses of its verdicts are of, for the summary.
    fn excused(&self) -> &'static str {
        READS_LEFT_OUT
    }

    /// Counts what a case is made of that both sides agreed upon.
    fn cover(&self, _case: &Self::Case, _coverage: &mut Coverage) {}
}
