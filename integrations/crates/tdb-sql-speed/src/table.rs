//! Result table, and missed targets.

use crate::measure::Taken;
use crate::queries::{Mark, Query};
use crate::side::Side;

/// Targets against `df[]` with pandas: minimum speedup, and maximum fraction of the memory.
const PANDAS: (f64, f64) = (5.0, 1.0 / 3.0);

pub(crate) const HEADING: &str = "\
| query | array | Parquet | ratio | Parquet, DuckDB | ratio | TileDB-Py, pandas | ratio | memory | target |
| --- | --: | --: | --: | --: | --: | --: | --: | --: | --- |";

/// A table row: measurements of each side, the array first.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    pub(crate) query: &'a Query,
    pub(crate) taken: Vec<(Side, Taken)>,
}

impl Row<'_> {
    fn of(&self, wanted: Side) -> Option<&Taken> {
        self.taken.iter().find(|(side, _)| *side == wanted).map(|(_, taken)| taken)
    }

    /// Returns the speedup of the array over a side.
    fn ratio(&self, side: Side) -> Option<f64> {
        Some(self.of(side)?.cpu() / self.of(Side::Array)?.cpu())
    }

    pub(crate) fn line(&self) -> String {
        let time = |side| self.of(side).map_or_else(|| "–".to_owned(), time_of);
        let ratio = |side| self.ratio(side).map_or_else(|| "–".to_owned(), |ratio| format!("**{}**", number(ratio)));
        let memory: Vec<String> = self.taken.iter().map(|(_, taken)| megabytes(taken.peak_memory)).collect();
        let missed = self.missed();
        format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            self.query.name,
            time(Side::Array),
            time(Side::Parquet),
            ratio(Side::Parquet),
            time(Side::Duckdb),
            ratio(Side::Duckdb),
            time(Side::Pandas),
            ratio(Side::Pandas),
            memory.join(", "),
            if missed.is_empty() { "met".to_owned() } else { missed.join("; ") },
        )
    }

    /// Returns the missed targets, with the actual values.
    pub(crate) fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        let parquet = self.ratio(Side::Parquet);
        match (self.query.mark, parquet) {
            (Mark::AtMost(times), Some(ratio)) if ratio * times < 1.0 => {
                missed.push(format!("{:.2} times Parquet's time, not {times}", 1.0 / ratio));
            }
            (Mark::Faster(times), Some(ratio)) if ratio < times => {
                missed.push(format!("{} times as fast as Parquet, not {times}", number(ratio)));
            }
            (Mark::Within(most), _) => {
                let clock = self.of(Side::Array).map_or(f64::NAN, Taken::clock);
                if clock > most {
                    missed.push(format!("{:.1} ms of wall time, not {:.0}", clock * 1e3, most * 1e3));
                }
            }
            _ => {}
        }
        if let (Some(ratio), Some(pandas), Some(array)) =
            (self.ratio(Side::Pandas), self.of(Side::Pandas), self.of(Side::Array))
        {
            let (times, part) = PANDAS;
            if ratio < times {
                missed.push(format!("{} times as fast as pandas, not {times}", number(ratio)));
            }
            let memory = array.peak_memory as f64 / pandas.peak_memory as f64;
            if memory > part {
                missed.push(format!("{memory:.2} of pandas' memory"));
            }
        }
        missed
    }
}

fn time_of(taken: &Taken) -> String {
    let (seconds, spread) = (taken.cpu(), taken.spread() * 100.0);
    if seconds < 1.0 {
        format!("{:.1} ms ± {spread:.0} %", seconds * 1e3)
    } else {
        format!("{seconds:.2} s ± {spread:.0} %")
    }
}

fn number(ratio: f64) -> String {
    if ratio < 2.0 { format!("{ratio:.2}") } else { format!("{ratio:.1}") }
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(1_000_000))
}
