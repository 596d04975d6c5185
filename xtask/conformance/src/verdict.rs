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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Both sides read, but not the same.
    Cells,
    /// Our second reading, in small batches, isn't the same as the first.
    Batches,
    Schema,
    Fragments,
    /// The library reads, we refuse.
    OurError,
    OurPanic,
    /// The library refuses something that the generator took for legal.
    TheirError,
    TheirCrash,
}

impl Failure {
    pub fn new(kind: Kind, detail: String) -> Self {
        Self { kind, question: None, detail }
    }

    /// Whether the other one looks like the same mistake.
    pub fn resembles(&self, other: &Self) -> bool {
        let start = |text: &str| text.chars().filter(|letter| letter.is_alphabetic()).take(100).collect::<String>();
        let by_message = matches!(self.kind, Kind::OurError | Kind::OurPanic | Kind::TheirError | Kind::Schema);
        self.kind == other.kind && (!by_message || start(&self.detail) == start(&other.detail))
    }
}
