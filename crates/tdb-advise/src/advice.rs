//! What is said of an array: kinds, figures, commands.

use std::fmt;
use std::time::Duration;

/// One thing that could be better, why, and what mends it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Advice {
    /// What it is about.
    pub kind: AdviceKind,
    /// How much it matters.
    pub level: AdviceLevel,
    /// The field or dimension, if it is about one.
    pub field: Option<String>,
    /// What is slow or large, and why, in plain words.
    pub what: String,
    /// What was measured, and what would be instead.
    pub figures: Vec<Figure>,
    /// About how much shorter it takes to open the array and read all of it, by the [costs](crate::Costs); of
    /// [`Replaced`](AdviceKind::Replaced), to copy it.
    pub saves: Duration,
    /// What mends it, in this order.
    pub remedy: Vec<AdvisedCommand>,
}

/// What advice is about. The words that [`name`](Self::name) gives don't change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum AdviceKind {
    /// Many fragments that are small.
    Fragments,
    /// Commits with files of their own.
    Commits,
    /// Footers that are read one by one.
    Footers,
    /// Metadata in many files.
    Metadata,
    /// Files that others stand for.
    Replaced,
    /// Cells that no reader sees.
    DeadCells,
    /// Dense tiles that are mostly empty.
    TileFill,
    /// Tiles of so many bytes that one cell takes long to read.
    LargeTiles,
    /// Tiles of so few bytes that their metadata and filters suffer.
    SmallTiles,
    /// Filters that others beat.
    Filters,
    /// Filters that may be beaten, which nobody has tried yet.
    Untried,
    /// An order of cells that leaves ranges of a dimension unhelped.
    Order,
    /// An old format.
    Format,
    /// Fragments without statistics of tiles.
    Statistics,
    /// A few strings again and again, or an enumeration that nothing refers to.
    Enumeration,
    /// Nothing notices changed bytes.
    Checksum,
}

/// How much advice matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AdviceLevel {
    /// It makes people wait.
    Strong,
    /// It can be measured.
    Weak,
    /// Nothing is slow or large because of it.
    Note,
}

/// A number, and what it would be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Figure {
    /// What is counted.
    pub name: &'static str,
    /// In what.
    pub unit: FigureUnit,
    /// What was measured.
    pub now: u64,
    /// What it would be.
    pub then: Option<u64>,
}

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FigureUnit {
    /// Things.
    Count,
    /// Bytes.
    Bytes,
    /// Of a hundred.
    Percent,
    /// Nanoseconds.
    Nanoseconds,
}

/// A command that mends something, as the words behind `tdb` and around the path of the array.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdvisedCommand {
    /// The command.
    pub command: &'static str,
    /// What follows the path.
    pub options: Vec<String>,
}

impl AdviceKind {
    /// A word for it, for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fragments => "fragments",
            Self::Commits => "commits",
            Self::Footers => "footers",
            Self::Metadata => "metadata",
            Self::Replaced => "replaced",
            Self::DeadCells => "dead-cells",
            Self::TileFill => "tile-fill",
            Self::LargeTiles => "large-tiles",
            Self::SmallTiles => "small-tiles",
            Self::Filters => "filters",
            Self::Untried => "untried",
            Self::Order => "order",
            Self::Format => "format",
            Self::Statistics => "statistics",
            Self::Enumeration => "enumeration",
            Self::Checksum => "checksum",
        }
    }
}

impl AdviceLevel {
    /// A word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Strong => "strong",
            Self::Weak => "weak",
            Self::Note => "note",
        }
    }
}

impl Figure {
    pub(super) fn new(name: &'static str, unit: FigureUnit, now: u64, then: impl Into<Option<u64>>) -> Self {
        Self { name, unit, now, then: then.into() }
    }

    pub(super) fn count(name: &'static str, now: u64, then: impl Into<Option<u64>>) -> Self {
        Self::new(name, FigureUnit::Count, now, then)
    }

    pub(super) fn bytes(name: &'static str, now: u64, then: impl Into<Option<u64>>) -> Self {
        Self::new(name, FigureUnit::Bytes, now, then)
    }
}

impl AdvisedCommand {
    pub(super) fn new<S: Into<String>>(command: &'static str, options: impl IntoIterator<Item = S>) -> Self {
        Self { command, options: options.into_iter().map(Into::into).collect() }
    }

    pub(super) fn plain(command: &'static str) -> Self {
        Self { command, options: Vec::new() }
    }

    /// The whole command, for a shell.
    #[must_use]
    pub fn line(&self, path: &str) -> String {
        let words = ["tdb", self.command, path].into_iter().chain(self.options.iter().map(String::as_str));
        words.map(quoted).collect::<Vec<_>>().join(" ")
    }
}

/// A word as a shell takes it for one word.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Bytes in the largest unit that leaves a number to read.
pub(super) struct Size(pub(super) u64);

impl fmt::Display for Size {
    #[allow(clippy::cast_precision_loss)] // shown with three digits
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut value, mut unit) = (self.0 as f64, "B");
        for next in ["KiB", "MiB", "GiB", "TiB", "PiB"] {
            if value < 1023.95 {
                break;
            }
            (value, unit) = (value / 1024.0, next);
        }
        let digits = usize::from(value < 99.95 && unit != "B");
        write!(f, "{value:.digits$} {unit}")
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |number: u64| match self.unit {
            FigureUnit::Count => number.to_string(),
            FigureUnit::Bytes => Size(number).to_string(),
            FigureUnit::Percent => format!("{number}%"),
            FigureUnit::Nanoseconds => format!("{:.1?}", Duration::from_nanos(number)),
        };
        write!(f, "{}: {}", self.name, show(self.now))?;
        self.then.map_or(Ok(()), |then| write!(f, " \u{2192} {}", show(then)))
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.level.name(), self.kind.name())?;
        if let Some(field) = &self.field {
            write!(f, ": field {field:?}")?;
        }
        write!(f, ": {}", self.what)
    }
}
