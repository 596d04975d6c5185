//! Folders, derived from the names of files.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use futures_util::{StreamExt, TryStreamExt, join, stream};
use object_store::path::Path;
use object_store::{
    Error as StoreError, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt, PutPayload,
};
use tdb_storage::{Entry, EntryKind, Result, StorageError};

use crate::error::StoreProblem;
use crate::excess::{Excess, Listing};
use crate::pause::pause;
use crate::place::{Place, joined};
use crate::range::read_range;
use crate::said::broke_off;

/// Returns the direct entries of a folder. Some stores contain empty objects as placeholders for
/// folders.
pub(crate) fn entries(folder: &Path, listed: &ListResult) -> Vec<Entry> {
    let name = |path: &Path| {
        let inside = inside(folder, path)?;
        (!inside.is_empty() && !inside.contains('/')).then(|| inside.to_owned())
    };
    let folders = listed.common_prefixes.iter().filter_map(name).map(|name| (name.clone(), Entry::folder(name)));
    let files = listed.objects.iter().filter_map(|object| {
        let name = name(&object.location)?;
        Some((name.clone(), Entry::file(name, object.size)))
    });
    // A folder takes precedence over an object of the same name, which is usually an empty
    // placeholder.
    let by_name: BTreeMap<String, Entry> = files.chain(folders).collect();
    by_name.into_values().collect()
}

/// Returns a path relative to a folder. Returns `None` if the path is outside. Faulty listings
/// contain such paths.
fn inside<'a>(folder: &Path, path: &'a Path) -> Option<&'a str> {
    match folder.as_ref() {
        "" => Some(path.as_ref()),
        folder => path.as_ref().strip_prefix(folder)?.strip_prefix('/'),
    }
}

/// Lists a folder.
pub(crate) async fn list(place: &Place, path: &str, location: &Path) -> Result<ListResult> {
    patiently(place, path, || place.store.list_with_delimiter(Some(location))).await
}

/// Lists with retries. A truncated listing restarts, because `object_store` only resumes files.
async fn patiently<T, F>(place: &Place, path: &str, list: impl Fn() -> F) -> Result<T>
where
    F: Future<Output = object_store::Result<T>>,
{
    let begun = Instant::now();
    let mut repetition = 0;
    loop {
        let error = match Listing::new(place.options.listing).of(list()).await {
            Ok(listed) => return Ok(listed),
            Err(error) => error,
        };
        let is_patient = repetition < place.options.retries && begun.elapsed() < place.options.patience;
        if !is_patient || !broke_off(&error) {
            return Err(place.failed(path, &error));
        }
        pause(repetition).await;
        repetition += 1;
    }
}

/// Deletes files. On retries, a missing file is no error, because an earlier attempt may have
/// deleted it.
pub(crate) async fn delete_all(place: &Place, path: &str, files: &[Path]) -> Result<()> {
    let begun = Instant::now();
    let all = stream::iter(files.to_vec()).map(Ok).boxed();
    let mut gone = place.store.delete_stream(all).try_for_each(|_| async { Ok(()) }).await;
    let mut repetition = 0;
    while let Err(error) = gone {
        let problem = place.failed(path, &error);
        let is_cut_off = matches!(StoreProblem::of(&problem), Some(StoreProblem::CutOff { .. }));
        let is_patient = repetition < place.options.retries && begun.elapsed() < place.options.patience;
        if !is_cut_off || !is_patient {
            return Err(problem);
        }
        pause(repetition).await;
        repetition += 1;
        let jobs = files.iter().cloned().map(|file| delete_one(place.store.clone(), file));
        let at_once = place.options.profile.in_flight.max(1);
        gone = stream::iter(jobs).buffer_unordered(at_once).try_for_each(|()| async { Ok(()) }).await;
    }
    Ok(())
}

async fn delete_one(store: Arc<dyn ObjectStore>, file: Path) -> object_store::Result<()> {
    match store.delete(&file).await {
        Err(StoreError::NotFound { .. }) => Ok(()),
        other => other,
    }
}

pub(crate) async fn kind_of(place: Arc<Place>, path: String, location: Path) -> Result<Option<EntryKind>> {
    if location.as_ref().is_empty() {
        return Ok(Some(EntryKind::Folder));
    }
    let first = || async { place.store.list(Some(&location)).next().await.transpose() };
    match join!(place.store.head(&location), patiently(&place, &path, first)) {
        // As in listings, a folder takes precedence. Web servers answer HEAD for folders as for
        // files.
        (_, Ok(Some(_))) => Ok(Some(EntryKind::Folder)),
        (Ok(_), _) => Ok(Some(EntryKind::File)),
        (Err(StoreError::NotFound { .. }), Ok(None)) => Ok(None),
        // Prefers the error of the listing, because HEAD responses have no message.
        (Err(_), Err(error)) => Err(error),
        (Err(error), Ok(None)) => Err(place.failed(&path, &error)),
    }
}

/// A file below a folder, at any depth.
pub(crate) struct Below {
    /// Path in the store.
    pub(crate) location: Path,
    /// Path relative to the folder.
    pub(crate) inside: String,
    pub(crate) size: u64,
}

/// Returns the files below a folder.
pub(crate) async fn below(place: Arc<Place>, folder: String, location: Path) -> Result<Vec<Below>> {
    let all = || async {
        let (mut objects, mut listed) = (Vec::new(), place.store.list(Some(&location)));
        let mut left = place.options.listing;
        while let Some(object) = listed.try_next().await? {
            // The connector of this crate limits listings. Other stores are limited only here.
            let size = (size_of::<ObjectMeta>() + object.location.as_ref().len()) as u64;
            left = left.checked_sub(size).ok_or_else(|| too_long(place.options.listing))?;
            objects.push(object);
        }
        Ok(objects)
    };
    let objects = patiently(&place, &folder, all).await?;
    let file = |object: ObjectMeta| {
        let inside = inside(&location, &object.location)?.to_owned();
        Some(Below { inside, location: object.location, size: object.size })
    };
    let files: Vec<_> = objects.into_iter().filter_map(file).collect();
    if files.is_empty() {
        return Err(StorageError::NotFound { path: place.describe(&folder) });
    }
    Ok(files)
}

fn too_long(most: u64) -> StoreError {
    StoreError::Generic { store: "listing", source: Box::new(Excess::Listing(most)) }
}

/// Maximum size for copies within the store.
const MOST_COPIED: u64 = 5 << 30;

/// Copies all files, then deletes the originals.
pub(crate) async fn move_all(place: &Arc<Place>, (from, to): (&str, &str), files: Vec<Below>) -> Result<()> {
    let at_once = place.options.profile.in_flight;
    let mut copies = Vec::with_capacity(files.len());
    for file in &files {
        copies.push((file.location.clone(), place.location(&joined(to, &file.inside))?, file.size));
    }
    let copy = |(location, target, size)| copy_one(place.clone(), from.to_owned(), location, target, size);
    stream::iter(copies).map(copy).buffer_unordered(at_once).try_for_each(|()| async { Ok(()) }).await?;
    let files: Vec<Path> = files.into_iter().map(|file| file.location).collect();
    delete_all(place, from, &files).await
}

async fn copy_one(place: Arc<Place>, path: String, from: Path, to: Path, size: u64) -> Result<()> {
    let of = |error: StoreError| place.failed(&path, &error);
    if size <= MOST_COPIED {
        return place.store.copy(&from, &to).await.map_err(of);
    }
    let mut upload = place.store.put_multipart(&to).await.map_err(of)?;
    let copied = copy_parts(&place, &path, &from, &mut *upload, size).await;
    match copied {
        Ok(()) => upload.complete().await.map(|_| ()).map_err(of),
        Err(error) => {
            let _ = upload.abort().await;
            Err(error)
        }
    }
}

/// Copies a file through this process, part by part. S3 allows 10,000 parts per file.
async fn copy_parts(place: &Place, path: &str, from: &Path, upload: &mut dyn MultipartUpload, size: u64) -> Result<()> {
    let part = (place.options.part as u64).max(size.div_ceil(10_000));
    let mut start = 0;
    while start < size {
        let end = size.min(start + part);
        let _room = place.parts.acquire().await;
        let bytes = read_range(place, path, from, start..end, size).await?;
        let sent = upload.put_part(PutPayload::from(bytes)).await;
        sent.map_err(|error| place.failed(path, &error))?;
        start = end;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_of_a_folder_are_not_inside() {
        let path = |path: &str| Path::parse(path).unwrap();
        assert_eq!(inside(&path("a/b"), &path("a/b/c/d")), Some("c/d"));
        assert_eq!(inside(&path(""), &path("a/b")), Some("a/b"));
        for other in ["a/bc", "a/b", "a", "b/a/b/c"] {
            assert_eq!(inside(&path("a/b"), &path(other)), None, "{other}");
        }
    }
}
