//! What encoders work with, which the next ones go on with.

use std::sync::{Mutex, PoisonError};

use tdb_filters::{BoundPipeline, Scratch};

use crate::GenericTileHeader;
use crate::filtered::Filtered;

/// Buffers, codec contexts and what was filtered before.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub(crate) scratch: Scratch,
    /// How the filters of the header work, once a tile was encoded.
    pub(crate) pipeline: Option<BoundPipeline>,
    pub(crate) filtered: Filtered,
}

/// What encoders of the usual tiles have left: to make a stream of zlib is to touch 320 KiB of fresh memory, which is much of what a
/// small write takes. As many are kept as threads are likely to encode at once.
static LEFT: Mutex<Vec<(GenericTileHeader, Work)>> = Mutex::new(Vec::new());
const MOST: usize = 4;

impl Work {
    /// For tiles with this header, which are not encrypted.
    pub(crate) fn take(header: &GenericTileHeader) -> Self {
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        let place = left.iter().position(|(own, _)| own == header);
        place.map_or_else(Self::default, |place| left.swap_remove(place).1)
    }

    /// Leaves it to the next one with the same header.
    pub(crate) fn give_back(self, header: &GenericTileHeader) {
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        if left.len() >= MOST {
            left.remove(0);
        }
        left.push((header.clone(), self));
    }
}
