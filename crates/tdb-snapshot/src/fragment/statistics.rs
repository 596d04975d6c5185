//! The statistics of a fragment's tiles, read on first use and cached.

use std::sync::Arc;

use tdb_filters::{Filter, WebPFormat};
use tdb_fragment::{FragmentField, StatisticsRules, TileStatistics, ValueStatistics};
use tdb_types::Feature;

use super::Fragment;

/// The statistics of a field's tiles, with the rules that decide which statistics are trusted.
#[derive(Debug)]
pub struct FieldStatistics {
    tiles: TileStatistics,
    rules: StatisticsRules,
}

impl Fragment {
    /// Returns the statistics of a field's tiles. Returns `None` if the format has no statistics,
    /// if lossy filters change the values, or if the statistics cannot be read.
    ///
    /// Unreadable statistics are not an error, because queries work without statistics, and some
    /// releases never read them.
    pub fn statistics_of(&self, field: FragmentField) -> Option<Arc<FieldStatistics>> {
        if !self.version().has(Feature::TileStatistics) || self.loses_values(field) {
            return None;
        }
        if let Ok(ready) = self.inner.statistics.lock()
            && let Some(known) = ready.get(&field)
        {
            return known.clone();
        }
        // No lock is held meanwhile. Two threads may both read the same statistics.
        let read = || {
            let rules = StatisticsRules::new(self.footer(), self.schema(), field)?;
            let tiles = self.inner.metadata.tile_statistics(field).ok()?;
            Some(Arc::new(FieldStatistics { tiles, rules }))
        };
        let found = read();
        self.inner.statistics.lock().ok()?.entry(field).or_insert(found).clone()
    }

    /// Returns `true` if lossy filters make read values differ from the written values that the
    /// statistics describe.
    pub(super) fn loses_values(&self, field: FragmentField) -> bool {
        let FragmentField::Attribute(index) = field else { return false };
        let attribute = self.schema().attributes().get(index);
        attribute.is_some_and(|attribute| {
            attribute.filters().filters.iter().any(|filter| match filter {
                Filter::FloatScale { .. } => true,
                // Lossless WebP still loses the colors of transparent pixels.
                Filter::WebP(options) => {
                    !options.lossless || matches!(options.format, WebPFormat::Rgba | WebPFormat::Bgra)
                }
                _ => false,
            })
        })
    }

    /// Returns the statistics of one tile. Each statistic is marked as trusted, untrustworthy or
    /// absent.
    pub fn tile_statistics<'s>(&self, statistics: &'s FieldStatistics, tile: u64) -> ValueStatistics<'s> {
        statistics.tiles.tile(tile, self.footer().tiles(), &statistics.rules)
    }
}
