//! The totals of a fragment: what is known of a field in all of its tiles together, read on first use and kept.

use std::sync::Arc;

use tdb_cells::Workers;
use tdb_fragment::{FragmentField, FragmentStatistics, SectionId, StatisticsRules, ValueStatistics};
use tdb_storage::Storage;
use tdb_types::Feature;

use super::Fragment;
use super::metadata::Sections;
use super::prefetch::fetch_sections;
use crate::Result;

/// The totals of a field, and which of them can be relied on.
#[derive(Debug)]
pub struct FieldTotals {
    all: Arc<FragmentStatistics>,
    slot: usize,
    rules: StatisticsRules,
}

impl Fragment {
    /// The totals of a field; `None` if the fragment's format has none, or they can't be read, which is as good as none.
    ///
    /// They lie right before the footer. So mostly they came with it, where it was read from the fragment's own file.
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

    /// What they say.
    pub fn judged<'t>(&self, totals: &'t FieldTotals) -> Option<ValueStatistics<'t>> {
        Some(totals.all.0.get(totals.slot)?.judge(self.footer().tiles(), &totals.rules))
    }

    fn has_totals(&self) -> bool {
        self.version().has(Feature::FragmentStatistics) && matches!(self.inner.metadata.sections, Sections::Stored)
    }
}

/// Brings the totals of fragments into memory that nobody has wanted before and that didn't come with the footer, in one call
/// where answers take long.
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
