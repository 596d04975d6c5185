//! Ranges of files.

use std::ops::Range;
use std::time::Instant;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use object_store::path::Path;
use object_store::{Error as StoreError, GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore, ObjectStoreExt};
use tdb_storage::{Result, StorageError};

use crate::error::{StoreProblem, is_about_ranges};
use crate::pause::pause;
use crate::place::Place;

/// Maximum preallocation in bytes. Further memory grows with the data received, not with the size
/// claimed by the store.
const TRUSTED: u64 = 1 << 20;

/// Reads a range of a file of `size` bytes. Sends no request for an empty range.
pub(crate) async fn read_range(
    place: &Place,
    path: &str,
    location: &Path,
    range: Range<u64>,
    size: u64,
) -> Result<Vec<u8>> {
    if range.is_empty() {
        return Ok(Vec::new());
    }
    let asked = range.end - range.start;
    let answer = match place.store.get_opts(location, of_range(range.clone())).await {
        Ok(answer) => answer,
        Err(error) => return Err(beyond_the_end(place, path, location, range, error).await),
    };
    // A shorter file returns the bytes it has.
    if answer.range.start == range.start && answer.range.end < range.end && answer.range.end >= answer.meta.size {
        let size = answer.meta.size;
        return Err(StorageError::UnexpectedEnd { path: place.describe(path), offset: range.start, need: asked, size });
    }
    // On web servers, the listed size may be outdated. Other stores list the current sizes.
    if answer.meta.size != size && place.is_web() {
        return Err(StoreProblem::OtherSize { listed: size, found: answer.meta.size }.at(place.describe(path)));
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

/// Converts the error for a range past the end of the file. Stores report this error differently.
/// Compares with the size of the file.
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
    place.failed(path, &error)
}

/// Collects the body of a range response. Requests missing bytes at the end again, because
/// connections break, and proxies may truncate a response silently.
pub(crate) async fn collect(place: &Place, path: &str, answer: GetResult, range: Range<u64>) -> Result<Vec<u8>> {
    let (asked, begun) = (range.end.saturating_sub(range.start), Instant::now());
    // Preallocates little, and at most the length of the range.
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
            Some(error) => place.failed(path, error),
            None => StoreProblem::WrongLength { asked, got }.at(place.describe(path)),
        };
        // `object_store` has already retried where an ETag proves that the file is unchanged.
        let was_tried = broken.is_some() && first.e_tag.is_some();
        if was_tried || repetition >= place.options.retries || begun.elapsed() > place.options.patience {
            return Err(why);
        }
        pause(repetition).await;
        let rest = range.start + got..range.end;
        let next = place.store.get_opts(&first.location, of_range(rest.clone())).await;
        let next = next.map_err(|error| place.failed(path, &error))?;
        if next.range != rest || !is_same(&first, &next.meta) {
            return Err(why);
        }
        pieces = next.into_stream();
    }
    Ok(bytes)
}

/// Returns `true` if two responses are of the same file, as far as the metadata shows.
fn is_same(first: &ObjectMeta, next: &ObjectMeta) -> bool {
    (first.size, &first.e_tag, first.last_modified) == (next.size, &next.e_tag, next.last_modified)
}

/// Appends pieces to the bytes. Returns the error if the stream breaks.
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
