//! Merging of the statistics of a field's tiles.

use std::convert::Infallible;
use std::sync::Arc;

use tdb_aggregate::{Measured, Summary, ValueKind};
use tdb_fragment::FragmentField;

use super::Fragment;
use super::folded::{Folded, add};
use crate::once::try_insert;

impl Fragment {
    /// Returns the statistics of a field, merged over all tiles. `kind` is the kind of the field's
    /// values.
    pub fn folded(&self, field: FragmentField, kind: ValueKind) -> Arc<Folded> {
        let folded = try_insert(&self.inner.folded, &field, || Ok(Arc::new(self.fold(field, kind))));
        folded.unwrap_or_else(|never: Infallible| match never {})
    }

    fn fold(&self, field: FragmentField, kind: ValueKind) -> Folded {
        let new = |sum, bounds| Ok(Summary::new(kind, Measured { sum, bounds }));
        let mut folded = Folded { count: new(false, false), sum: new(true, false), bounds: new(false, true) };
        let Some(statistics) = self.statistics_of(field) else {
            return Folded { count: Err(None), sum: Err(None), bounds: Err(None) };
        };
        for tile in 0..self.tile_count() {
            let found = self.tile_statistics(&statistics, tile);
            let cells = self.cells_in_tile(tile).unwrap_or(0);
            let all = [&mut folded.count, &mut folded.sum, &mut folded.bounds];
            // Each kind of statistics takes the tile, even if another kind became unknown.
            let known = all.map(|known| add(known, &found, cells));
            if known == [false; 3] {
                break;
            }
        }
        folded
    }
}
