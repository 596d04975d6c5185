//! What comes of a case.

/// How a case went.
#[derive(Debug)]
pub enum Verdict {
    /// Both sides agree; so many cells were compared, in so many reads, and so many reads left out.
    Agreed {
        reads: u64,
        cells: u64,
        excuses: Vec<String>,
    },
    /// Both sides refuse, as they should: why we do.
    Refused(String),
    /// The library couldn't do its part, for a reason that is known.
    Excused(String),
    Failed(Failure),
}

/// What went wrong.
#[derive(Clone, Debug)]
pub struct Failure {
    pub kind: Kind,
    /// Which of the case's questions it is about.
    pub question: Option<usize>,
    pub detail: String,
    /// Whether it is about something that follows from the case's index alone, such as a group: then no smaller case helps.
    pub of_index: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Both sides read, but not the same.
    Cells,
    /// Our second reading, in small batches, isn't the same as the first.
    Batches,
    /// Aggregates: ours aren't those of the cells that we read, or the library's aren't.
    Aggregates,
    Schema,
    Fragments,
    /// The library reads, we refuse.
    OurError,
    OurPanic,
    /// The library refuses something that the generator took for legal.
    TheirError,
    TheirCrash,
    /// The same change by both sides doesn't come to the same.
    Changed,
    /// The case didn't come to an end.
    NoEnd,
}

impl Failure {
    pub fn new(kind: Kind, detail: String) -> Self {
        Self { kind, question: None, detail, of_index: false }
    }

    /// Whether the other one looks like the same mistake.
    pub fn resembles(&self, other: &Self) -> bool {
        let start = |text: &str| text.chars().filter(|letter| letter.is_alphabetic()).take(100).collect::<String>();
        let by_message =
            matches!(self.kind, Kind::OurError | Kind::OurPanic | Kind::TheirError | Kind::Schema | Kind::Changed);
        self.kind == other.kind && (!by_message || start(&self.detail) == start(&other.detail))
    }
}
