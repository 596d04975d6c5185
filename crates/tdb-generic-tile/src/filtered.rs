//! A cache of small filtered payloads.

/// The filtered bytes of the last tile, and a cache of small payloads.
///
/// The metadata of a small fragment consists of dozens of generic tiles of a few bytes. Many have
/// equal payloads: empty lists, or lists for a single data tile. A lookup is much faster than a new
/// zlib stream, which clears tables of 128 KiB.
#[derive(Debug, Default)]
pub(crate) struct Filtered {
    tile: Vec<u8>,
    /// Cached payloads and their filtered bytes. `next` is the index of the oldest entry.
    kept: Vec<(Vec<u8>, Vec<u8>)>,
    next: usize,
}

impl Filtered {
    /// The maximum size of a cached payload in bytes.
    pub(crate) const LARGEST: usize = 2048;
    /// The maximum number of cached payloads.
    const MOST: usize = 32;

    /// Returns the filtered bytes of the last payload.
    pub(crate) fn tile(&self) -> &[u8] {
        &self.tile
    }

    /// Clears the buffer and returns it for the filtered bytes of the next payload.
    pub(crate) fn start(&mut self) -> &mut Vec<u8> {
        self.tile.clear();
        &mut self.tile
    }

    /// Looks up a payload. If found, sets [`tile`](Self::tile) to its filtered bytes and returns
    /// `true`.
    pub(crate) fn find(&mut self, payload: &[u8]) -> bool {
        let Some((_, filtered)) = self.kept.iter().find(|(kept, _)| kept == payload) else { return false };
        self.tile.clear();
        self.tile.extend_from_slice(filtered);
        true
    }

    /// Caches the last payload and its filtered bytes.
    pub(crate) fn keep(&mut self, payload: &[u8]) {
        let new = (payload.to_vec(), self.tile.clone());
        match self.kept.get_mut(self.next) {
            Some(oldest) => *oldest = new,
            None => self.kept.push(new),
        }
        self.next = (self.next + 1) % Self::MOST;
    }
}

#[cfg(test)]
mod tests {
    use super::Filtered;

    #[test]
    fn the_latest_payloads_are_cached() {
        let mut filtered = Filtered::default();
        for payload in 0..50u8 {
            filtered.start().push(payload + 100);
            filtered.keep(&[payload]);
        }
        let found: Vec<u8> = (0..60).filter(|payload| filtered.find(&[*payload])).collect();
        assert_eq!(found, (18..50).collect::<Vec<u8>>());
        assert!(filtered.find(&[20]));
        assert_eq!(filtered.tile(), [120]);
    }
}
