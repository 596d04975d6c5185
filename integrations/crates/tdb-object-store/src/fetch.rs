//! Answers requests, each by a single request to the store where possible.

use std::ops::Range;
use std::sync::Arc;

use futures_util::{Stream, StreamExt, stream};
use object_store::path::Path;
use object_store::{Error as StoreError, GetOptions, GetRange, ObjectStore, ObjectStoreExt};
use tdb_storage::{Fetched, Part, Request, Result, StorageError};

use crate::cache::{Kept, Key};
use crate::error::{StoreProblem, is_about_ranges};
use crate::file::ObjectFile;
use crate::place::Place;
use crate::range::{collect, read_range};

/// Answers requests in order, up to `at_once` at the same time.
pub(crate) async fn fetch_all(place: Arc<Place>, requests: Vec<Request>, at_once: usize) -> Vec<Result<Fetched>> {
    let jobs = requests.into_iter().map(|request| fetch(place.clone(), request));
    stream::iter(jobs).buffered(at_once.max(1)).collect().await
}

/// Answers requests in order of arrival, up to `at_once` at the same time. Yields the index of the
/// request with each answer.
pub(crate) fn answers(
    place: Arc<Place>,
    requests: Vec<Request>,
    at_once: usize,
) -> impl Stream<Item = (usize, Result<Fetched>)> + Send + 'static {
    let jobs = requests.into_iter().enumerate().map(move |(number, request)| {
        let place = place.clone();
        async move { (number, fetch(place, request).await) }
    });
    stream::iter(jobs).buffer_unordered(at_once.max(1))
}

/// Answers one request, from the cache if the file is immutable.
pub(crate) async fn fetch(place: Arc<Place>, request: Request) -> Result<Fetched> {
    let location = place.location(&request.path)?;
    let key = place.cache.as_ref().and_then(|cache| Some((cache.clone(), Key::of(&request, &location)?)));
    let Some((cache, key)) = key else { return ask(place, request, location).await };
    if let Some(kept) = cache.get(&key).filter(|kept| kept.bytes.len() as u64 <= request.limit) {
        let file = Arc::new(ObjectFile::new(place, request.path, location, kept.size));
        return Ok(Fetched { file, start: kept.start, bytes: kept.bytes.clone(), is_cached: true });
    }
    let fetched = ask(place, request, location).await?;
    cache.keep(key, Kept { size: fetched.file.size(), start: fetched.start, bytes: fetched.bytes.clone() });
    Ok(fetched)
}

/// Sends a request to the store.
async fn ask(place: Arc<Place>, request: Request, location: Path) -> Result<Fetched> {
    let Request { path, part, limit } = request;
    let (size, start, bytes) = match part {
        Part::All => whole(&place, &path, &location, limit).await?,
        Part::Last(len) => last(&place, &path, &location, len).await?,
        Part::Range { range, size } => {
            check_range(&place, &path, &range, size, limit)?;
            (size, range.start, read_range(&place, &path, &location, range, size).await?)
        }
    };
    let file = Arc::new(ObjectFile::new(place.clone(), path, location, size));
    Ok(Fetched { file, start, bytes, is_cached: false })
}

fn check_range(place: &Place, path: &str, range: &Range<u64>, size: u64, limit: u64) -> Result<()> {
    let need = range.end.saturating_sub(range.start);
    if range.end > size || range.start > range.end {
        return Err(StorageError::UnexpectedEnd { path: place.describe(path), offset: range.start, need, size });
    }
    if need > limit {
        return Err(StorageError::RangeOverLimit { path: place.describe(path), offset: range.start, need, limit });
    }
    Ok(())
}

type Answer = (u64, u64, Vec<u8>);

async fn whole(place: &Place, path: &str, location: &Path, limit: u64) -> Result<Answer> {
    let error = |error: StoreError| place.failed(path, &error);
    let answer = place.store.get(location).await.map_err(error)?;
    let size = answer.meta.size;
    if size > limit {
        return Err(StorageError::OverLimit { path: place.describe(path), size, limit });
    }
    let bytes = collect(place, path, answer, 0..size).await?;
    Ok((size, 0, bytes))
}

async fn last(place: &Place, path: &str, location: &Path, len: u64) -> Result<Answer> {
    let options = GetOptions { range: Some(GetRange::Suffix(len)), ..GetOptions::default() };
    match place.store.get_opts(location, options).await {
        Ok(answer) => {
            let (size, range) = (answer.meta.size, answer.range.clone());
            let asked = range.end.saturating_sub(range.start);
            if asked > len || range.end > size {
                return Err(StoreProblem::WrongLength { asked: len.min(size), got: asked }.at(place.describe(path)));
            }
            let bytes = collect(place, path, answer, range.clone()).await?;
            Ok((size, range.start, bytes))
        }
        // Azure does not support suffix ranges, and some stores reject suffix ranges of empty
        // files. Gets the size first instead.
        Err(error) if is_about_ranges(&error) => {
            let of = |error: StoreError| place.failed(path, &error);
            let size = place.store.head(location).await.map_err(of)?.size;
            let start = size.saturating_sub(len);
            Ok((size, start, read_range(place, path, location, start..size, size).await?))
        }
        Err(error) => Err(place.failed(path, &error)),
    }
}
