//! Kinds of cases.

use std::path::Path;

use tdb_reference::Result;

use crate::coverage::Coverage;
use crate::tally::{Counts, READS_LEFT_OUT};
use crate::verdict::{Failure, Verdict};

/// A kind of case.
pub trait CaseKind: Send + Sync + 'static {
    /// A case, reproducible from its index.
    type Case: Clone;
    /// The processes of the libraries. Each thread starts its own processes.
    type Sides;

    /// Returns the subcommand and options that run the cases again, without seed and index.
    fn command(&self) -> String;

    /// Starts the processes.
    ///
    /// # Errors
    /// Fails if a release cannot be downloaded.
    fn start(&self) -> Result<Self::Sides>;

    /// Generates the case of an index. Returns `None` if the kind has no case for this index.
    fn case(&self, index: u64) -> Option<Self::Case>;

    /// Runs a case below `folder`. `counts` are added to the tally if the case does not fail.
    ///
    /// # Errors
    /// Fails if a folder cannot be created or a process cannot be started, which ends the whole
    /// run.
    fn examine(
        &self,
        case: &Self::Case,
        index: u64,
        sides: &mut Self::Sides,
        folder: &Path,
        counts: &mut Counts,
    ) -> Result<Verdict>;

    /// Returns the smallest case found with the same failure, or the case itself. `fails` runs a
    /// case and returns the failure.
    fn shrink(
        &self,
        case: Self::Case,
        failure: Failure,
        fails: &mut dyn FnMut(&Self::Case) -> Option<Failure>,
    ) -> (Self::Case, Failure);

    /// Formats the case as readable text, with one question or all.
    fn print(&self, case: &Self::Case, index: u64, question: Option<usize>) -> String;

    /// Returns the label of the kind's excuses in the summary.
    fn excused(&self) -> &'static str {
        READS_LEFT_OUT
    }

    /// Counts the features of a case on which both sides agree.
    fn cover(&self, _case: &Self::Case, _coverage: &mut Coverage) {}
}
