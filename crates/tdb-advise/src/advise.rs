//! Search for slow or large parts of an array, with the commands that help.

use tdb_array::{Array, Monitor};

use crate::advice::{Advice, AdviceKind, AdviceLevel};
use crate::costs::Costs;
use crate::report::AdviceReport;
use crate::seen::Seen;
use crate::wanted::Sample;
use crate::{dead, fields, files, fragments, notes, order, sample, tiles};
use tdb_job::{Result, Target, read_anew};

/// A search for problems of speed and size in an array. Reads only names, footers and other
/// metadata, and on request a [sample](Self::sample) of the tiles. Writes no file.
///
/// ```
/// use tdb_advise::Advise;
///
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-dense-2d-row-row/array");
/// let report = Advise::new().run(&tdb_array::Array::open(folder)?)?;
/// for advice in &report.advice {
///     println!("{advice}");
///     advice.remedy.iter().for_each(|remedy| println!("  {}", remedy.line(folder)));
/// }
/// assert!(report.is_healthy() && report.read.bytes > 0);
/// # Ok::<(), tdb_job::MaintainError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "has no effect until `run`"]
pub struct Advise {
    costs: Costs,
    sample: Option<Sample>,
    monitor: Monitor,
}

impl Advise {
    /// Creates an advisor that reads only metadata, with the costs of an object store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the costs of reading.
    pub fn costs(mut self, costs: Costs) -> Self {
        self.costs = costs;
        self
    }

    /// Decodes a sample of tiles, and tries other filters and tile sizes.
    pub fn sample(mut self, sample: Sample) -> Self {
        self.sample = Some(sample);
        self
    }

    /// Sets the monitor for canceling the sample.
    pub fn monitor(mut self, monitor: &Monitor) -> Self {
        self.monitor = monitor.clone();
        self
    }

    /// Examines the current state of an array, even if the array was opened at an earlier time.
    /// Examines only the metadata of a group, and not the members.
    ///
    /// # Errors
    /// Reading the array or group fails, or the [monitor](Self::monitor) has canceled the sample.
    pub fn run(&self, target: impl Into<Target>) -> Result<AdviceReport> {
        match target.into() {
            Target::Array(array) => read_anew(&array, |array| self.look_at(array)),
            Target::Group(group) => Ok(AdviceReport {
                advice: files::of_group(&group, self.costs)?,
                read: group.counters(),
                ..AdviceReport::default()
            }),
        }
    }

    fn look_at(&self, array: &Array) -> Result<AdviceReport> {
        let seen = Seen::of(array, self.costs)?;
        let mut advice = Vec::new();
        let many = fragments::many(&seen)?;
        let is_worth = |advice: &Advice| advice.level != AdviceLevel::Note;
        let has_many = many.as_ref().is_some_and(is_worth);
        advice.extend(many);
        if !has_many {
            advice.extend(fragments::overwritten(&seen)?);
        }
        advice.extend(files::small_files(&seen, has_many)?);
        advice.extend(files::replaced(&seen, self.sample.is_some())?);
        advice.extend(order::order(&seen)?);
        let trials = match self.sample {
            Some(sample) => sample::take(&seen, sample, &self.monitor)?,
            None => Vec::new(),
        };
        // Many fragments with one tile each are a problem of fragments, not of tiles.
        advice.extend(tiles::fill(&seen)?);
        advice.extend(tiles::size(&seen, &trials)?);
        match self.sample {
            Some(_) => {
                advice.extend(dead::cells(&seen)?);
                advice.extend(fields::of_sample(&seen, &trials));
            }
            None => advice.extend(fields::untried(&seen)),
        }
        // Advice without a noticeable saving is dropped, except for some kinds of notes.
        advice.retain(|advice| is_worth(advice) || is_note(advice.kind));
        advice.extend(notes::notes(&seen)?);
        advice
            .sort_by_key(|advice| (std::cmp::Reverse((advice.level != AdviceLevel::Note, advice.saves)), advice.kind));
        let (tiles, cells) = seen.counts()?;
        Ok(AdviceReport {
            advice,
            trials,
            fragments: seen.fragments()?.len() as u64,
            tiles,
            cells,
            stored: seen.stored,
            metadata: seen.metadata,
            looked_into: seen.chosen.len() as u64,
            opening: seen.opening,
            read: seen.array.counters(),
            fields: seen.fields,
        })
    }
}

/// Returns `true` for kinds of advice that are kept as notes.
fn is_note(kind: AdviceKind) -> bool {
    matches!(kind, AdviceKind::Untried | AdviceKind::Enumeration)
}
