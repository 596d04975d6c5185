//! Verdicts on cases.

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

impl Failure {
    pub fn new(kind: Kind, detail: String) -> Self {
        Self { kind, question: None, detail, of_index: false }
    }

    /// `true` if both failures probably have the same cause.
    pub fn resembles(&self, other: &Self) -> bool {
        let start = |text: &str| text.chars().filter(|letter| letter.is_alphabetic()).take(100).collect::<String>();
        let by_message =
            matches!(self.kind, Kind::OurError | Kind::OurPanic | Kind::TheirError | Kind::Schema | Kind::Changed);
        self.kind == other.kind && (!by_message || start(&self.detail) == start(&other.detail))
    }
}
