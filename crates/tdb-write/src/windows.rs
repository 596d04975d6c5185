//! Windows of tiles, each appended while the next one is encoded.

use tdb_cells::Workers;
use tdb_snapshot::Result;

use crate::encoder::EncodedTile;
use crate::fragment::FragmentWriter;
use crate::target::Target;

/// Tiles of all fields, encoded: for each field as many, in order.
#[derive(Debug)]
pub(super) struct EncodedWindow {
    pub(super) tiles: Vec<Vec<EncodedTile>>,
    /// The number of cells of each tile.
    pub(super) lens: Vec<usize>,
}

/// How many tiles to have in memory at once, and whether those before may be there beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) tiles: usize,
    /// Whether a window is appended while the next one is encoded: to write a file is nothing that more threads could do.
    pub(super) overlaps: bool,
}

impl Window {
    /// The most tiles of so many bytes, with all that is there of them at once, that keep to a budget.
    pub(super) fn new(budget: usize, tile: usize, threads: usize) -> Self {
        // One thread is fastest with what has just been in the caches.
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

/// Encodes a window while the one before is appended.
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
    fn windows_keep_to_the_budget() {
        let window = |tiles, overlaps| Window { tiles, overlaps };
        assert_eq!(Window::new(16 << 20, 1 << 20, 2), window(16, true));
        // The tiles that are always there are there once.
        assert_eq!(Window::new(1, 1 << 20, 2), window(2, false));
        assert_eq!(Window::new(2 << 20, 1 << 20, 8), window(2, false));
        // One thread has nobody to append meanwhile.
        assert_eq!(Window::new(16 << 20, 1 << 20, 1), window(4, false));
        assert_eq!(Window::new(1, 1 << 20, 1), window(1, false));
    }
}
