//! Windows of tiles. A window is appended to the fragment while the next window is encoded.

use tdb_cells::Workers;
use tdb_snapshot::Result;

use crate::encoder::EncodedTile;
use crate::fragment::FragmentWriter;
use crate::target::Target;

/// Encoded tiles: the same number for each field, in order.
#[derive(Debug)]
pub(super) struct EncodedWindow {
    pub(super) tiles: Vec<Vec<EncodedTile>>,
    /// Number of cells of each tile.
    pub(super) lens: Vec<usize>,
}

/// The size of a window, and whether two windows may be in memory at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) tiles: usize,
    /// `true` if a window is appended while the next window is encoded. A single thread appends to
    /// a given file, so that the other threads can encode.
    pub(super) overlaps: bool,
}

impl Window {
    /// Chooses the maximum number of tiles within the budget. `tile` is the memory of a tile in
    /// bytes, filtered and unfiltered forms together.
    pub(super) fn new(budget: usize, tile: usize, threads: usize) -> Self {
        // With a single thread, small windows are fastest, because their data stays in the CPU
        // caches.
        let most = if threads > 1 { usize::MAX } else { 4 << 20 };
        let least = threads.min(2);
        let tiles = (budget.min(most) / tile.max(1)).clamp(least, 1 << 16);
        Self { tiles, overlaps: threads > 1 && tiles > least }
    }
}

/// Encodes windows and appends them to a fragment, in order.
pub(super) fn append_all<W: Send>(
    target: &Target,
    writer: &mut FragmentWriter,
    (window, parts): (Window, impl Iterator<Item = W>),
    encode: impl Fn(W) -> Result<EncodedWindow> + Sync,
) -> Result<()> {
    let mut before: Option<EncodedWindow> = None;
    for part in parts {
        let append = |before: EncodedWindow| writer.append(before.tiles, &before.lens);
        before = Some(next(target.array.workers(), || encode(part), before.take(), append)?);
        if let Some(encoded) = before.take_if(|_| !window.overlaps) {
            writer.append(encoded.tiles, &encoded.lens)?;
        }
    }
    before.map_or(Ok(()), |last| writer.append(last.tiles, &last.lens))
}

/// Encodes a window while another thread appends the previous window.
pub(super) fn next(
    workers: &Workers,
    encode: impl FnOnce() -> Result<EncodedWindow> + Send,
    before: Option<EncodedWindow>,
    append: impl FnOnce(EncodedWindow) -> Result<()> + Send,
) -> Result<EncodedWindow> {
    let Some(before) = before else { return encode() };
    let (encoded, appended) = workers.both(encode, || append(before));
    appended?;
    encoded
}

#[cfg(test)]
mod tests {
    use super::Window;

    #[test]
    fn windows_stay_within_the_budget() {
        let window = |tiles, overlaps| Window { tiles, overlaps };
        assert_eq!(Window::new(16 << 20, 1 << 20, 2), window(16, true));
        // The minimum number of tiles is held only once.
        assert_eq!(Window::new(1, 1 << 20, 2), window(2, false));
        assert_eq!(Window::new(2 << 20, 1 << 20, 8), window(2, false));
        // A single thread cannot append at the same time.
        assert_eq!(Window::new(16 << 20, 1 << 20, 1), window(4, false));
        assert_eq!(Window::new(1, 1 << 20, 1), window(1, false));
    }
}
