//! Advice: kinds, figures and commands.

use std::fmt;
use std::time::Duration;

use tdb_job::Bytes;

/// A suggestion, with reasons and commands.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Advice {
    /// Subject of the advice.
    pub kind: AdviceKind,
    /// Importance of the advice.
    pub level: AdviceLevel,
    /// Name of the field or dimension, if any.
    pub field: Option<String>,
    /// Description of the problem and its cause.
    pub what: String,
    /// Measured values and predicted values.
    pub figures: Vec<Figure>,
    /// Approximate time saved when opening and fully reading the array, according to the
    /// [costs](crate::Costs). For [`Replaced`](AdviceKind::Replaced), time saved when copying the
    /// array. For [`LargeTiles`](AdviceKind::LargeTiles), time saved when reading one cell.
    pub saves: Duration,
    /// Commands that solve the problem, in order.
    pub remedy: Vec<AdvisedCommand>,
}

/// Subject of advice. The texts of [`name`](Self::name) are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum AdviceKind {
    /// Many small fragments.
    Fragments,
    /// Commits in separate files.
    Commits,
    /// Footers in separate files.
    Footers,
    /// Metadata in many files.
    Metadata,
    /// Superseded files.
    Replaced,
    /// Cells that no reader sees.
    DeadCells,
    /// Dense tiles that are mostly empty.
    TileFill,
    /// Tiles so large that reading a single cell takes long.
    LargeTiles,
    /// Tiles so small that metadata and filters become inefficient.
    SmallTiles,
    /// Filters worse than tried alternatives.
    Filters,
    /// Filters that may have better alternatives, without a sample.
    Untried,
    /// A cell order that does not help ranges of a dimension.
    Order,
    /// An old format version.
    Format,
    /// Fragments without tile statistics.
    Statistics,
    /// A few frequent strings, or an unused enumeration.
    Enumeration,
    /// Fields without a checksum.
    Checksum,
}

/// Importance of advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AdviceLevel {
    /// Saves at least ten times [`Costs::worth`](crate::Costs::worth).
    Strong,
    /// Saves at least [`Costs::worth`](crate::Costs::worth). Filters that save at least 4 KiB and
    /// half of a field's bytes are at least weak advice.
    Weak,
    /// Saves less than [`Costs::worth`](crate::Costs::worth), or has no estimate.
    Note,
}

/// A measured value, with the predicted value after following the advice.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Figure {
    /// Name of the value.
    pub name: &'static str,
    /// Unit of the value.
    pub unit: FigureUnit,
    /// Measured value.
    pub now: u64,
    /// Predicted value after following the advice. `None` if there is no prediction.
    pub then: Option<u64>,
}

/// Unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FigureUnit {
    /// A count.
    Count,
    /// Bytes.
    Bytes,
    /// Percent.
    Percent,
    /// Nanoseconds.
    Nanoseconds,
}

/// A `tdb` command, without the path of the array.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdvisedCommand {
    /// Name of the command.
    pub command: &'static str,
    /// Options after the path.
    pub options: Vec<String>,
}

impl AdviceKind {
    /// Returns a machine-readable name.
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
    /// Returns a machine-readable name.
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

    /// Returns the complete command for a shell.
    #[must_use]
    pub fn line(&self, path: &str) -> String {
        let words = ["tdb", self.command, path].into_iter().chain(self.options.iter().map(String::as_str));
        words.map(quoted).collect::<Vec<_>>().join(" ")
    }
}

/// Quotes a word for a shell, if necessary.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |number: u64| match self.unit {
            FigureUnit::Count => number.to_string(),
            FigureUnit::Bytes => Bytes(number).to_string(),
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
