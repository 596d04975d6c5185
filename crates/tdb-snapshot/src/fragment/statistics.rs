//! The statistics of a fragment's tiles, read on first use and kept.

use std::sync::Arc;

use tdb_filters::{Filter, WebPFormat};
use tdb_fragment::{FragmentField, StatisticsRules, TileStatistics, ValueStatistics};
use tdb_types::Feature;

use super::Fragment;

/// The statistics of a field's tiles, and which of them can be relied on.
#[derive(Debug)]
pub struct FieldStatistics {
    tiles: TileStatistics,
    rules: StatisticsRules,
}

impl Fragment {
    /// The statistics of a field's tiles; `None` if the fragment's format has none.
    ///
    /// Statistics that can't be read are as good as none: cells are found without them, and by releases that never look at
    /// them.
    pub fn statistics_of(&self, field: FragmentField) -> Option<Arc<FieldStatistics>> {
        if !self.version().has(Feature::TileStatistics) || self.loses_values(field) {
            return None;
        }
        if let Ok(ready) = self.inner.statistics.lock()
            && let Some(known) = ready.get(&field)
        {
            return known.clone();
        }
        // Nobody waits for a lock meanwhile. Two threads may both read them; what they find is the same.
        let read = || {
            let rules = StatisticsRules::new(self.footer(), self.schema(), field)?;
            let tiles = self.inner.metadata.tile_statistics(field).ok()?;
            Some(Arc::new(FieldStatistics { tiles, rules }))
        };
        let found = read();
        self.inner.statistics.lock().ok()?.entry(field).or_insert(found).clone()
    }

    /// Whether cells are read with other values than they were written with, which is what statistics are of.
    pub(super) fn loses_values(&self, field: FragmentField) -> bool {
        let FragmentField::Attribute(index) = field else { return false };
        let attribute = self.schema().attributes().get(index);
        attribute.is_some_and(|attribute| {
            attribute.filters().filters.iter().any(|filter| match filter {
                Filter::FloatScale { .. } => true,
                // Without loss the colours of transparent pixels are lost nevertheless.
                Filter::WebP(options) => {
                    !options.lossless || matches!(options.format, WebPFormat::Rgba | WebPFormat::Bgra)
                }
                _ => false,
            })
        })
    }

    /// What is known of one tile.
    pub fn tile_statistics<'s>(&self, statistics: &'s FieldStatistics, tile: u64) -> ValueStatistics<'s> {
        statistics.tiles.tile(tile, self.footer().tiles(), &statistics.rules)
    }
}
