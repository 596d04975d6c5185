//! The record of counts.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::tools::Tools;
use crate::outcome::Result;

/// The relative increase of a count that is tolerated.
pub const TOLERANCE: f64 = 0.03;

const HEADING: &str = "\
# Instruction counts of key paths, written by `cargo xtask speed --count --update` and compared in continuous integration
# (docs/internals/performance.md). A line is a count and the name of a path. Lines with a colon are the versions of the tools.
";

/// Counts of paths, with the versions of the tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub tools: Tools,
    pub counts: Vec<(String, u64)>,
}

/// A count compared with the record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The record has no count for the path.
    New,
    /// Within the tolerance. The relative difference from the record.
    Within(f64),
    Better(f64),
    Worse(f64),
}

impl Record {
    pub fn read(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self> {
        let mut record = Self { tools: Tools(Vec::new()), counts: Vec::new() };
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let count = line.split_once(' ').and_then(|(count, name)| Some((name.to_owned(), count.parse().ok()?)));
            match (count, line.split_once(": ")) {
                (Some(count), _) => record.counts.push(count),
                (None, Some((tool, version))) => record.tools.0.push((tool.to_owned(), version.to_owned())),
                (None, None) => return Err(format!("invalid line in the record of counts: {line:?}").into()),
            }
        }
        Ok(record)
    }

    pub fn write(&self, file: &Path) -> Result<()> {
        fs::write(file, self.text()).map_err(|error| format!("{}: {error}", file.display()).into())
    }

    fn text(&self) -> String {
        let mut text = HEADING.to_owned();
        for (tool, version) in &self.tools.0 {
            let _ = writeln!(text, "{tool}: {version}");
        }
        text.push('\n');
        for (name, count) in &self.counts {
            let _ = writeln!(text, "{count:>12} {name}");
        }
        text
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.counts.iter().map(|(name, _)| name.as_str())
    }

    pub fn count(&self, name: &str) -> Option<u64> {
        self.counts.iter().find(|(known, _)| known == name).map(|(_, count)| *count)
    }

    pub fn judge(&self, name: &str, count: u64) -> Verdict {
        self.count(name).map_or(Verdict::New, |before| Verdict::of(before, count))
    }
}

impl Verdict {
    #[allow(clippy::cast_precision_loss)] // counts are far below 2^53
    pub fn of(before: u64, count: u64) -> Self {
        match count as f64 / before.max(1) as f64 - 1.0 {
            more if more > TOLERANCE => Self::Worse(more),
            more if more < -TOLERANCE => Self::Better(more),
            more => Self::Within(more),
        }
    }

    pub fn is_failure(self) -> bool {
        matches!(self, Self::New | Self::Worse(_))
    }

    pub fn word(self) -> String {
        match self {
            Self::New => "not in the record; `--update` adds it".to_owned(),
            Self::Within(more) => format!("{:+.2} %", more * 100.0),
            Self::Better(more) => format!("{:+.1} %, better; `--update` keeps it", more * 100.0),
            Self::Worse(more) => format!("{:+.1} %, WORSE", more * 100.0),
        }
    }

    pub fn line(self, name: &str, count: u64) -> String {
        format!("{count:>12} {name:<56} {}", self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::{Record, Tools, Verdict};

    fn record() -> Record {
        let tools = Tools(vec![("rustc".to_owned(), "rustc 1.95.0 (a: b)".to_owned())]);
        Record { tools, counts: vec![("open, 1 fragment".to_owned(), 1000), ("gzip: encode".to_owned(), 5)] }
    }

    #[test]
    fn record_survives_a_round_trip() {
        assert_eq!(Record::parse(&record().text()).expect("it was written"), record());
        Record::parse("what is this").expect_err("neither a tool nor a count");
    }

    #[test]
    fn increase_above_tolerance_is_worse() {
        let judge = |count| record().judge("open, 1 fragment", count);
        assert!(judge(1031).is_failure() && judge(1031).line("open, 1 fragment", 1031).contains("open, 1 fragment"));
        assert!(!judge(1029).is_failure());
        assert!(matches!(judge(900), Verdict::Better(_)) && !judge(900).is_failure());
        assert!(record().judge("unknown", 1).is_failure());
    }
}
