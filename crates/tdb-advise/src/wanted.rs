//! How large a sample is wanted.

/// How much of the tiles is tried out: of each field so many of them, evenly spread over the array, of 64 MiB at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sample {
    /// So many tiles.
    Tiles(u64),
    /// This part of them, from 0 to 1, but at least one.
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
