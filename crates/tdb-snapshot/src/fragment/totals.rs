//! Fragment totals: statistics of a field over all tiles, read on first use and cached.

use std::sync::Arc;

use tdb_cells::Workers;
use tdb_fragment::{FragmentField, FragmentStatistics, SectionId, StatisticsRules, ValueStatistics};
use tdb_storage::Storage;
use tdb_types::Feature;

use super::Fragment;
use super::metadata::Sections;
use super::prefetch::fetch_sections;
use crate::Result;

/// The totals of a field, with the rules that decide which statistics are trusted.
#[derive(Debug)]
pub struct FieldTotals {
    all: Arc<FragmentStatistics>,
    slot: usize,
    rules: StatisticsRules,
}

impl Fragment {
    /// Returns the totals of a field. Returns `None` if the format has no totals, if lossy filters
    /// change the values, or if the section cannot be read.
    ///
    /// Totals are stored right before the footer. A read of the footer usually includes the totals.
    pub fn totals_of(&self, field: FragmentField) -> Option<FieldTotals> {
        if !self.has_totals() || self.loses_values(field) {
            return None;
        }
        let rules = StatisticsRules::new(self.footer(), self.schema(), field)?;
        let all = match self.inner.totals.get() {
            Some(known) => known.clone(),
            None => {
                let read = self.inner.metadata.fragment_statistics().ok().map(Arc::new);
                self.inner.totals.get_or_init(|| read).clone()
            }
        }?;
        Some(FieldTotals { all, slot: self.footer().slot(field)?, rules })
    }

    /// Returns the totals. Each statistic is marked as trusted, untrustworthy or absent. Returns
    /// `None` if the section does not contain the field.
    pub fn judged<'t>(&self, totals: &'t FieldTotals) -> Option<ValueStatistics<'t>> {
        Some(totals.all.0.get(totals.slot)?.judge(self.footer().tiles(), &totals.rules))
    }

    fn has_totals(&self) -> bool {
        self.version().has(Feature::FragmentStatistics) && matches!(self.inner.metadata.sections, Sections::Stored)
    }
}

/// Prefetches the totals of fragments in a single call, unless already loaded. Has no effect on a
/// local storage.
///
/// # Errors
/// The query was cancelled.
pub fn prefetch_totals((storage, workers): (&dyn Storage, &Workers), fragments: &[&Fragment]) -> Result<()> {
    if !storage.profile().is_remote() {
        return Ok(());
    }
    let wanted = |fragment: &&&Fragment| fragment.has_totals() && fragment.inner.totals.get().is_none();
    let fragments: Vec<&Fragment> = fragments.iter().filter(wanted).copied().collect();
    fetch_sections((storage, workers), &fragments, |fragment| {
        let metadata = &fragment.inner.metadata;
        let range = metadata.footer.section_range(SectionId::FragmentStatistics, metadata.file.sections_end()?);
        let Ok(range) = range else { return Ok(Vec::new()) };
        let request = metadata.file.request(&range)?;
        Ok(request.map(|request| (range, request)).into_iter().collect())
    })
}
