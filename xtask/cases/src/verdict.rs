//! Verdicts on cases.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tdb_reference::Error;

/// The result of a case.
#[derive(Debug)]
pub enum Verdict {
    /// Both sides agree. Contains the number of reads and compared cells, and the reasons for
    /// skipped reads.
    Agreed {
        reads: u64,
        cells: u64,
        excuses: Vec<String>,
    },
    /// Both sides refuse with reason. Contains tdb's reason.
    Refused(String),
    /// The library failed for a known reason.
    Excused(String),
    Failed(Failure),
}

/// A failure of a case.
#[derive(Clone, Debug)]
pub struct Failure {
    pub kind: Kind,
    /// Index of the question that failed.
    pub question: Option<usize>,
    pub detail: String,
    /// `true` if the failure depends only on the index of the case, for example in a group. Then
    /// smaller cases are not tried.
    pub of_index: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Both sides read different cells.
    Cells,
    /// tdb's second read, in small batches, differs from the first.
    Batches,
    /// An aggregate of either side does not match the cells.
    Aggregates,
    Schema,
    Fragments,
    /// tdb refuses a read or write that the library performs.
    OurError,
    OurPanic,
    /// The library refuses a case that the generator assumed to be valid.
    TheirError,
    TheirCrash,
    /// The same change by both sides has different results.
    Changed,
    /// The case timed out.
    NoEnd,
}

/// The early end of a question or of a case.
#[derive(Debug)]
pub enum End {
    /// The question is left out for this reason. The case continues.
    Excused(String),
    /// The case ends with this verdict.
    Verdict(Verdict),
    /// The process of the library cannot continue.
    Broken(Error),
}

impl From<Verdict> for End {
    fn from(verdict: Verdict) -> Self {
        Self::Verdict(verdict)
    }
}

impl From<Failure> for End {
    fn from(failure: Failure) -> Self {
        Self::Verdict(Verdict::Failed(failure))
    }
}

impl From<Error> for End {
    fn from(error: Error) -> Self {
        Self::Broken(error)
    }
}

impl End {
    /// Adds the question to a failure.
    pub fn of_question(self, index: usize) -> Self {
        match self {
            Self::Verdict(Verdict::Failed(failure)) => Failure { question: Some(index), ..failure }.into(),
            end => end,
        }
    }
}

/// Leaves a question out if there is a reason.
///
/// # Errors
/// Returns the reason.
pub fn excuse(reason: Option<&str>) -> Result<(), End> {
    reason.map_or(Ok(()), |reason| Err(End::Excused(reason.to_owned())))
}

/// Fails if there is a difference.
///
/// # Errors
/// Returns the difference.
pub fn no_difference(kind: Kind, difference: Option<String>) -> Result<(), Failure> {
    difference.map_or(Ok(()), |detail| Err(Failure::new(kind, detail)))
}

/// Returns the verdict on a case.
///
/// # Errors
/// Fails if the process of the library cannot continue.
pub fn verdict_of(outcome: Result<Verdict, End>) -> tdb_reference::Result<Verdict> {
    match outcome {
        Ok(verdict) | Err(End::Verdict(verdict)) => Ok(verdict),
        Err(End::Excused(reason)) => Ok(Verdict::Excused(reason)),
        Err(End::Broken(error)) => Err(error),
    }
}

/// Asks the first `count` questions. `ask` returns the number of compared cells, and may add
/// excuses.
///
/// # Errors
/// Returns the first end of the case.
pub fn ask_all(
    count: usize,
    mut ask: impl FnMut(usize, &mut Vec<String>) -> Result<usize, End>,
) -> Result<Verdict, End> {
    let (mut reads, mut cells, mut excuses) = (0, 0, Vec::new());
    for index in 0..count {
        match ask(index, &mut excuses) {
            Ok(compared) => (reads, cells) = (reads + 1, cells + compared as u64),
            Err(End::Excused(reason)) => excuses.push(reason),
            Err(end) => return Err(end.of_question(index)),
        }
    }
    Ok(Verdict::Agreed { reads, cells, excuses })
}

/// Runs code of tdb, and converts a panic to a failure.
///
/// # Errors
/// Fails if the code fails or panics.
pub fn caught<T>(what: &str, act: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let panicked = |_| Err(Failure::new(Kind::OurPanic, format!("tdb panicked: {what}")));
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(panicked)
}

/// Runs an operation of tdb.
///
/// # Errors
/// Fails if the operation fails or panics.
pub fn by_us<T>(what: &str, act: impl FnOnce() -> Result<T, String>) -> Result<T, Failure> {
    caught(what, || act().map_err(|error| Failure::ours(format!("{what}: {error}"))))
}

impl Failure {
    pub fn new(kind: Kind, detail: String) -> Self {
        Self { kind, question: None, detail, of_index: false }
    }

    /// Creates a failure of a change whose results differ.
    pub fn changed(detail: String) -> Self {
        Self::new(Kind::Changed, detail)
    }

    /// Creates a failure of tdb.
    pub fn ours(detail: String) -> Self {
        Self::new(Kind::OurError, detail)
    }

    /// `true` if both failures probably have the same cause.
    pub fn resembles(&self, other: &Self) -> bool {
        let start = |text: &str| text.chars().filter(|letter| letter.is_alphabetic()).take(100).collect::<String>();
        let by_message =
            matches!(self.kind, Kind::OurError | Kind::OurPanic | Kind::TheirError | Kind::Schema | Kind::Changed);
        self.kind == other.kind && (!by_message || start(&self.detail) == start(&other.detail))
    }
}
