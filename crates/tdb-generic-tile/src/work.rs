//! The state of encoders, shared by successive encoders.

use std::sync::{Mutex, PoisonError};

use tdb_filters::{BoundPipeline, Scratch};

use crate::GenericTileHeader;
use crate::filtered::Filtered;

/// Buffers, codec contexts and the cache of filtered payloads.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub(crate) scratch: Scratch,
    /// The bound pipeline of the header, set by the first tile.
    pub(crate) pipeline: Option<BoundPipeline>,
    pub(crate) filtered: Filtered,
}

/// The states of dropped encoders of unencrypted tiles, for reuse.
///
/// A new zlib stream touches 320 KiB of fresh memory, a large part of the cost of a small write.
static LEFT: Mutex<Vec<(GenericTileHeader, Work)>> = Mutex::new(Vec::new());
/// The maximum number of stored states: the likely number of threads that encode at the same time.
const MOST: usize = 4;

impl Work {
    /// Takes a stored state for tiles with this header, or creates a state. The header must not
    /// declare encryption.
    pub(crate) fn take(header: &GenericTileHeader) -> Self {
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        let place = left.iter().position(|(own, _)| own == header);
        place.map_or_else(Self::default, |place| left.swap_remove(place).1)
    }

    /// Stores the state for the next encoder with the same header.
    pub(crate) fn give_back(self, header: &GenericTileHeader) {
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        if left.len() >= MOST {
            left.remove(0);
        }
        left.push((header.clone(), self));
    }
}
