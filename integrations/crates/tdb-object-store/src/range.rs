//! Ranges of files.

use std::ops::Range;

use bytes::Bytes;
use futures_util::StreamExt;
use object_store::path::Path;
use object_store::{Error as StoreError, GetOptions, GetRange, ObjectStore, ObjectStoreExt};
use tdb_storage::{Result, StorageError};

use crate::error::{StoreProblem, of_store};
use crate::place::Place;

/// Most bytes that are set aside before any have come: whatever a store says of its sizes, memory grows with what it sends.
const TRUSTED: u64 = 1 << 20;

/// The bytes of a range; none are asked for if it is empty.
pub(crate) async fn read_range(place: &Place, path: &str, location: &Path, range: Range<u64>) -> Result<Vec<u8>> {
    if range.is_empty() {
        return Ok(Vec::new());
    }
    let asked = range.end - range.start;
    let options = GetOptions { range: Some(GetRange::Bounded(range.clone())), ..GetOptions::default() };
    let answer = match place.store.get_opts(location, options).await {
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
    collect(place, path, answer.into_stream(), asked).await
}

/// A range that begins behind the end of the file is refused by stores, each in its way: the file's size tells.
async fn beyond_the_end(
    place: &Place,
    path: &str,
    location: &Path,
    range: Range<u64>,
    error: StoreError,
) -> StorageError {
    let is_about_ranges = matches!(error, StoreError::Generic { .. });
    match place.store.head(location).await {
        Ok(meta) if is_about_ranges && meta.size < range.end => StorageError::UnexpectedEnd {
            path: place.describe(path),
            offset: range.start,
            need: range.end - range.start,
            size: meta.size,
        },
        _ => of_store(place.describe(path), &error),
    }
}

pub(crate) async fn collect(
    place: &Place,
    path: &str,
    mut pieces: impl futures_util::Stream<Item = Result<Bytes, StoreError>> + Unpin,
    asked: u64,
) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // No more than is asked for, a little at first.
    let trusted = usize::try_from(asked.min(TRUSTED)).unwrap_or(0);
    bytes.try_reserve_exact(trusted).map_err(|_| StorageError::TooLarge { path: place.describe(path), size: asked })?;
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| of_store(place.describe(path), &error))?;
        let got = bytes.len() as u64 + piece.len() as u64;
        if got > asked {
            return Err(StoreProblem::WrongLength { asked, got }.at(place.describe(path)));
        }
        bytes
            .try_reserve(piece.len())
            .map_err(|_| StorageError::TooLarge { path: place.describe(path), size: asked })?;
        bytes.extend_from_slice(&piece);
    }
    let got = bytes.len() as u64;
    if got < asked {
        return Err(StoreProblem::WrongLength { asked, got }.at(place.describe(path)));
    }
    Ok(bytes)
}
