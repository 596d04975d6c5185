//! Size of a sample.

/// Number of tiles to decode per field, evenly spread over the array, up to 64 MiB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sample {
    /// A number of tiles.
    Tiles(u64),
    /// A fraction of the tiles, from 0 to 1, but at least one tile.
    Share(f64),
}

impl Sample {
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a rough number
    pub(super) fn of(self, tiles: u64) -> u64 {
        match self {
            Self::Tiles(wanted) => wanted.min(tiles),
            Self::Share(share) => ((tiles as f64 * share.clamp(0.0, 1.0)).ceil() as u64).clamp(1, tiles.max(1)),
        }
    }
}
