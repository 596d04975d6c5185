//! Small payloads that were filtered before.

/// The filtered bytes of the last tile, and of small payloads before it.
///
/// The metadata of a small fragment is some dozens of tiles with a few bytes each, most of which are the same: lists of one tile, or of
/// none. To begin a stream of zlib takes far longer than to look among them, since it clears tables of 128 KiB.
#[derive(Debug, Default)]
pub(crate) struct Filtered {
    tile: Vec<u8>,
    /// The last ones, of which `next` is the oldest.
    kept: Vec<(Vec<u8>, Vec<u8>)>,
    next: usize,
}

impl Filtered {
    /// Payloads of more bytes aren't kept.
    pub(crate) const LARGEST: usize = 2048;
    /// So many are kept at most.
    const MOST: usize = 32;

    /// What came of the last payload.
    pub(crate) fn tile(&self) -> &[u8] {
        &self.tile
    }

    /// Room for what comes of the next payload.
    pub(crate) fn start(&mut self) -> &mut Vec<u8> {
        self.tile.clear();
        &mut self.tile
    }

    /// Whether this payload was kept; then [`tile`](Self::tile) is what came of it.
    pub(crate) fn find(&mut self, payload: &[u8]) -> bool {
        let Some((_, filtered)) = self.kept.iter().find(|(kept, _)| kept == payload) else { return false };
        self.tile.clear();
        self.tile.extend_from_slice(filtered);
        true
    }

    /// Keeps what came of this payload, which was the last one.
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
    fn the_last_payloads_are_kept() {
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
