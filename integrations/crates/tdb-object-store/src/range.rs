//! Ranges of files.

use std::ops::Range;
use std::time::Instant;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use object_store::path::Path;
use object_store::{Error as StoreError, GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore, ObjectStoreExt};
use tdb_storage::{Result, StorageError};

use crate::error::{StoreProblem, is_about_ranges, of_store};
use crate::pause::pause;
use crate::place::Place;

/// Most bytes that are set aside before any have come: whatever a store says of its sizes, memory grows with what it sends.
const TRUSTED: u64 = 1 << 20;

/// The bytes of a range; none are asked for if it is empty.
pub(crate) async fn read_range(place: &Place, path: &str, location: &Path, range: Range<u64>) -> Result<Vec<u8>> {
    if range.is_empty() {
        return Ok(Vec::new());
    }
    let asked = range.end - range.start;
    let answer = match place.store.get_opts(location, of_range(range.clone())).await {
        Ok(answer) => answer,
        Err(error) => return Err(beyond_the_end(place, path, location, range, error).await),
    };
    // A file that ends earlier is answered with what it has.
    if answer.range.start == range.start && answer.range.end < range.end && answer.range.end >= answer.meta.size {
        let size = answer.meta.size;
        return Err(StorageError::UnexpectedEnd { path: place.describe(path), offset: range.start, need: asked, size });
    }
    if answer.range != range {
        let got = answer.range.end.saturating_sub(answer.range.start);
        return Err(StoreProblem::WrongLength { asked, got }.at(place.describe(path)));
    }
    collect(place, path, answer, range).await
}

fn of_range(range: Range<u64>) -> GetOptions {
    GetOptions { range: Some(GetRange::Bounded(range)), ..GetOptions::default() }
}

/// A range that begins behind the end of the file is refused by stores, each in its way: the file's size tells.
async fn beyond_the_end(
    place: &Place,
    path: &str,
    location: &Path,
    range: Range<u64>,
    error: StoreError,
) -> StorageError {
    if is_about_ranges(&error)
        && let Ok(meta) = place.store.head(location).await
        && meta.size < range.end
    {
        let need = range.end - range.start;
        return StorageError::UnexpectedEnd { path: place.describe(path), offset: range.start, need, size: meta.size };
    }
    of_store(place.describe(path), &error)
}

/// The bytes of an answer, which is of this range. What is missing at its end is asked for once more: connections break, and
/// what stands between us and a store may end an answer early without a word.
pub(crate) async fn collect(place: &Place, path: &str, answer: GetResult, range: Range<u64>) -> Result<Vec<u8>> {
    let (asked, begun) = (range.end.saturating_sub(range.start), Instant::now());
    // No more than is asked for, a little at first.
    let trusted = usize::try_from(asked.min(TRUSTED)).unwrap_or(0);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(trusted).map_err(|_| StorageError::TooLarge { path: place.describe(path), size: asked })?;
    let first = answer.meta.clone();
    let mut pieces = answer.into_stream();
    for repetition in 0.. {
        let broken = pour(place, path, pieces, asked, &mut bytes).await?;
        let got = bytes.len() as u64;
        if got == asked {
            break;
        }
        let why = match &broken {
            Some(error) => of_store(place.describe(path), error),
            None => StoreProblem::WrongLength { asked, got }.at(place.describe(path)),
        };
        // The store's client has tried for long already where it can be sure that the file is still the same.
        let was_tried = broken.is_some() && first.e_tag.is_some();
        if was_tried || repetition >= place.options.retries || begun.elapsed() > place.options.patience {
            return Err(why);
        }
        pause(repetition).await;
        let rest = range.start + got..range.end;
        let next = place.store.get_opts(&first.location, of_range(rest.clone())).await;
        let next = next.map_err(|error| of_store(place.describe(path), &error))?;
        if next.range != rest || !is_same(&first, &next.meta) {
            return Err(why);
        }
        pieces = next.into_stream();
    }
    Ok(bytes)
}

/// Whether two answers are of the same file, as far as they say.
fn is_same(first: &ObjectMeta, next: &ObjectMeta) -> bool {
    (first.size, &first.e_tag, first.last_modified) == (next.size, &next.e_tag, next.last_modified)
}

/// Adds pieces to the bytes; what broke them off, if anything did.
async fn pour(
    place: &Place,
    path: &str,
    mut pieces: impl Stream<Item = Result<Bytes, StoreError>> + Unpin,
    asked: u64,
    bytes: &mut Vec<u8>,
) -> Result<Option<StoreError>> {
    while let Some(piece) = pieces.next().await {
        let piece = match piece {
            Ok(piece) => piece,
            Err(error) => return Ok(Some(error)),
        };
        let got = bytes.len() as u64 + piece.len() as u64;
        if got > asked {
            return Err(StoreProblem::WrongLength { asked, got }.at(place.describe(path)));
        }
        bytes
            .try_reserve(piece.len())
            .map_err(|_| StorageError::TooLarge { path: place.describe(path), size: asked })?;
        bytes.extend_from_slice(&piece);
    }
    Ok(None)
}
