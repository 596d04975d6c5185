//! Kinds of cases.

use std::path::Path;

use crate::coverage::Coverage;
use crate::tally::{Counts, READS_LEFT_OUT};
use crate::verdict::{End, Failure, Verdict};

/// The context of a running case.
#[derive(Debug)]
pub struct Run<'a, S> {
    /// The index of the case.
    pub index: u64,
    pub sides: &'a mut S,
    /// A temporary folder of the case.
    pub folder: &'a Path,
    /// Added to the tally if both sides agree.
    pub counts: &'a mut Counts,
}

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
    fn start(&self) -> tdb_reference::Result<Self::Sides>;

    /// Generates the case of an index. Returns `None` if the kind has no case for this index.
    fn case(&self, index: u64) -> Option<Self::Case>;

    /// Runs a case.
    ///
    /// # Errors
    /// Returns the early end of the case. Ends the whole run if a folder cannot be created or a
    /// process cannot be started.
    fn examine(&self, case: &Self::Case, run: Run<'_, Self::Sides>) -> Result<Verdict, End>;

    /// Returns cases with one simplification each, largest simplifications first.
    fn smaller(&self, case: &Self::Case) -> Vec<Self::Case>;

    /// Maximum number of smaller cases to try.
    const ATTEMPTS: usize = 1500;

    /// Returns the smallest case found with the same failure, or the case itself. `fails` runs a
    /// case and returns the failure.
    fn shrink(
        &self,
        case: Self::Case,
        failure: Failure,
        fails: &mut dyn FnMut(&Self::Case) -> Option<Failure>,
    ) -> (Self::Case, Failure) {
        let (mut best, mut how, mut left) = (case, failure, Self::ATTEMPTS);
        while let Some(found) = self.smaller(&best).into_iter().find_map(|smaller| {
            left = left.checked_sub(1)?;
            let failure = fails(&smaller).filter(|failure| failure.resembles(&how))?;
            Some((smaller, failure))
        }) {
            (best, how) = found;
        }
        (best, how)
    }

    /// Formats the case as readable text, with one question or all.
    fn print(&self, case: &Self::Case, index: u64, question: Option<usize>) -> String;

    /// Returns the label of the kind's excuses in the summary.
    fn excused(&self) -> &'static str {
        READS_LEFT_OUT
    }

    /// Counts the features of a case on which both sides agree.
    fn cover(&self, _case: &Self::Case, _coverage: &mut Coverage) {}
}
