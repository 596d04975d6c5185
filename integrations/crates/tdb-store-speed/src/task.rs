//! What is measured, and what the arrays hold.

/// The array of ten fragments, which is read.
pub(crate) const TEN: &str = "ten";
/// The same, which is written to.
pub(crate) const WRITTEN: &str = "written";
/// The array of many fragments.
pub(crate) const MANY: &str = "many";

/// Cells of a fragment; fragments lie one behind the other.
pub(crate) const CELLS: u32 = 10_000;
/// Cells of a fragment of the array of many.
pub(crate) const FEW: u32 = 100;
/// Cells of a large write: some columns have several parts of an upload.
pub(crate) const LARGE: u32 = 2_000_000;
/// Coordinates are below this.
pub(crate) const DOMAIN: u32 = 3_000_000;

/// Something that both sides do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Opening an array of ten fragments, until all of them are known.
    Open,
    /// A cell of the open array.
    Point,
    /// The cells of four fragments, of the open array.
    Box,
    /// All cells of the open array.
    All,
    /// A fragment more, opening included, on a store that we haven't written to before.
    Write,
    /// The same on a store that is known to heed the conditions of writes, as Amazon's is.
    WriteKnown,
    /// As many cells as the array of ten fragments has, in one more, opening included.
    WriteAll,
    /// A large fragment more, opening included.
    WriteLarge,
    /// Opening an array of a thousand fragments, until all of them are known.
    OpenMany,
}

impl Task {
    pub(crate) const ALL: [Self; 9] = [
        Self::Open,
        Self::Point,
        Self::Box,
        Self::All,
        Self::Write,
        Self::WriteKnown,
        Self::WriteAll,
        Self::WriteLarge,
        Self::OpenMany,
    ];

    /// How many cells it writes, if it writes any.
    pub(crate) fn written(self) -> Option<u32> {
        match self {
            Self::Write | Self::WriteKnown => Some(FEW),
            Self::WriteAll => Some(10 * CELLS),
            Self::WriteLarge => Some(LARGE),
            _ => None,
        }
    }

    /// Whether its time is that of the bytes, which both sides send to the same server, rather than that of waiting for answers.
    pub(crate) fn is_of_bytes(self) -> bool {
        self == Self::WriteLarge
    }

    /// How often it is done, of so many times: some take long.
    pub(crate) fn repeats(self, repeats: usize) -> usize {
        if self == Self::WriteLarge { repeats.min(3) } else { repeats }
    }

    pub(crate) fn name(self, fragments: u32) -> String {
        match self {
            Self::Open => "open, 10 fragments".to_owned(),
            Self::Point => "a point".to_owned(),
            Self::Box => "a box: 4 fragments".to_owned(),
            Self::All => "all cells".to_owned(),
            Self::Write => "a small write, with its open, to an unknown store".to_owned(),
            Self::WriteKnown => "the same to a store known to heed conditions".to_owned(),
            Self::WriteAll => format!("a write of {} cells, with its open", 10 * CELLS),
            Self::WriteLarge => format!("a large write, with its open: {LARGE} cells"),
            Self::OpenMany => format!("open, {fragments} fragments"),
        }
    }

    /// The array that it is done with.
    pub(crate) fn array(self) -> &'static str {
        match self {
            Self::Open | Self::Point | Self::Box | Self::All => TEN,
            Self::Write | Self::WriteKnown | Self::WriteAll | Self::WriteLarge => WRITTEN,
            Self::OpenMany => MANY,
        }
    }

    /// First and last coordinate that it reads, if it reads some but not all.
    pub(crate) fn range(self) -> Option<(u32, u32)> {
        match self {
            Self::Point => Some((CELLS + 17, CELLS + 17)),
            Self::Box => Some((2 * CELLS + CELLS / 2, 5 * CELLS + CELLS / 2 - 1)),
            _ => None,
        }
    }

    /// How many cells it reads.
    pub(crate) fn cells(self) -> usize {
        match (self, self.range()) {
            (_, Some((first, last))) => (last - first + 1) as usize,
            (Self::All, None) => 10 * CELLS as usize,
            _ => 0,
        }
    }
}

/// What both sides took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) requests: usize,
    pub(crate) round_trips: usize,
    /// The median.
    pub(crate) seconds: f64,
}

/// The middle one of several.
pub(crate) fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied().unwrap_or(f64::NAN)
}
