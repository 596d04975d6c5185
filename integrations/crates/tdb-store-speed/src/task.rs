//! Measured tasks, and the contents of the arrays.

/// Array of ten fragments, for reads.
pub(crate) const TEN: &str = "ten";
/// Array of ten fragments, for writes.
pub(crate) const WRITTEN: &str = "written";
/// Array of many fragments.
pub(crate) const MANY: &str = "many";

/// Cells per fragment. Fragments are adjacent.
pub(crate) const CELLS: u32 = 10_000;
/// Cells per fragment in the array of many fragments.
pub(crate) const FEW: u32 = 100;
/// Cells of a large write. Some columns take several upload parts.
pub(crate) const LARGE: u32 = 2_000_000;
/// Exclusive upper bound of coordinates.
pub(crate) const DOMAIN: u32 = 3_000_000;

/// A measured task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Open an array of ten fragments, and load the fragment metadata.
    Open,
    /// Read a cell of the open array.
    Point,
    /// Read the cells of four fragments from the open array.
    Box,
    /// Read all cells of the open array.
    All,
    /// Open the array and write a small fragment, on a store with unknown write conditions.
    Write,
    /// The same on a store known to honor write conditions, like Amazon's.
    WriteKnown,
    /// Open the array, and write a fragment as large as the ten together.
    WriteAll,
    /// Open the array, and write a large fragment.
    WriteLarge,
    /// Open an array of a thousand fragments, and load the fragment metadata.
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

    /// Returns the number of cells to write. `None` for reads.
    pub(crate) fn written(self) -> Option<u32> {
        match self {
            Self::Write | Self::WriteKnown => Some(FEW),
            Self::WriteAll => Some(10 * CELLS),
            Self::WriteLarge => Some(LARGE),
            _ => None,
        }
    }

    /// `true` if the time depends on transferred bytes (the same for both sides) rather than on
    /// waiting.
    pub(crate) fn is_of_bytes(self) -> bool {
        self == Self::WriteLarge
    }

    /// Returns the number of repetitions. Lower for slow tasks.
    pub(crate) fn repeats(self, repeats: usize) -> usize {
        if self == Self::WriteLarge { repeats.min(3) } else { repeats }
    }

    pub(crate) fn name(self, fragments: u32) -> String {
        match self {
            Self::Open => "open, 10 fragments".to_owned(),
            Self::Point => "a point".to_owned(),
            Self::Box => "a box: 4 fragments".to_owned(),
            Self::All => "all cells".to_owned(),
            Self::Write => "a small write, with its open, if support of write conditions is unknown".to_owned(),
            Self::WriteKnown => "a small write, with its open, if support of write conditions is known".to_owned(),
            Self::WriteAll => format!("a write of {} cells, with its open", 10 * CELLS),
            Self::WriteLarge => format!("a large write, with its open: {LARGE} cells"),
            Self::OpenMany => format!("open, {fragments} fragments"),
        }
    }

    /// Returns the array of the task.
    pub(crate) fn array(self) -> &'static str {
        match self {
            Self::Open | Self::Point | Self::Box | Self::All => TEN,
            Self::Write | Self::WriteKnown | Self::WriteAll | Self::WriteLarge => WRITTEN,
            Self::OpenMany => MANY,
        }
    }

    /// Returns the first and last coordinate to read. `None` for all cells or no cells.
    pub(crate) fn range(self) -> Option<(u32, u32)> {
        match self {
            Self::Point => Some((CELLS + 17, CELLS + 17)),
            Self::Box => Some((2 * CELLS + CELLS / 2, 5 * CELLS + CELLS / 2 - 1)),
            _ => None,
        }
    }

    /// Returns the number of cells to read.
    pub(crate) fn cells(self) -> usize {
        match (self, self.range()) {
            (_, Some((first, last))) => (last - first + 1) as usize,
            (Self::All, None) => 10 * CELLS as usize,
            _ => 0,
        }
    }
}

/// Measurement of one side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) requests: usize,
    pub(crate) round_trips: usize,
    /// Median.
    pub(crate) seconds: f64,
}

/// Returns the median.
pub(crate) fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied().unwrap_or(f64::NAN)
}
