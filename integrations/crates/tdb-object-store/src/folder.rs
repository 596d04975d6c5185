//! Folders, on stores that have none: what the names of files make of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use futures_util::{StreamExt, TryStreamExt, join, stream};
use object_store::path::Path;
use object_store::{Error as StoreError, ListResult, ObjectStore, ObjectStoreExt};
use tdb_storage::{Entry, EntryKind, Result, StorageError};

use crate::error::{StoreProblem, broke_off, of_store};
use crate::pause::pause;
use crate::place::{Place, joined};

/// What a listing names directly in the folder: some stores have empty objects that stand for folders.
pub(crate) fn entries(folder: &Path, listed: &ListResult) -> Vec<Entry> {
    let name = |path: &Path| {
        let inside = path.as_ref().strip_prefix(folder.as_ref())?.trim_start_matches('/');
        (!inside.is_empty() && !inside.contains('/')).then(|| inside.to_owned())
    };
    let folders = listed.common_prefixes.iter().filter_map(name).map(|name| (name.clone(), Entry::folder(name)));
    let files = listed.objects.iter().filter_map(|object| {
        let name = name(&object.location)?;
        Some((name.clone(), Entry::file(name, object.size)))
    });
    // A folder wins over an empty object of its name, which only stands for it.
    let by_name: BTreeMap<String, Entry> = files.chain(folders).collect();
    by_name.into_values().collect()
}

/// What a folder lists. An answer that breaks off is asked for once more: the store's client does so only with files.
pub(crate) async fn list(place: &Place, path: &str, location: &Path) -> Result<ListResult> {
    let begun = Instant::now();
    let mut repetition = 0;
    loop {
        let error = match place.store.list_with_delimiter(Some(location)).await {
            Ok(listed) => return Ok(listed),
            Err(error) => error,
        };
        let is_patient = repetition < place.options.retries && begun.elapsed() < place.options.patience;
        if !is_patient || !broke_off(&error) {
            return Err(of_store(place.describe(path), &error));
        }
        pause(repetition).await;
        repetition += 1;
    }
}

/// Removes files. That one is gone already is no error of a repetition: the answer to an earlier one got lost.
pub(crate) async fn delete_all(place: &Place, path: &str, files: &[Path]) -> Result<()> {
    let begun = Instant::now();
    let all = stream::iter(files.to_vec()).map(Ok).boxed();
    let mut gone = place.store.delete_stream(all).try_for_each(|_| async { Ok(()) }).await;
    let mut repetition = 0;
    while let Err(error) = gone {
        let problem = of_store(place.describe(path), &error);
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
    let mut below = place.store.list(Some(&location));
    let (file, first) = join!(place.store.head(&location), below.next());
    match (file, first) {
        (Ok(_), _) => Ok(Some(EntryKind::File)),
        (_, Some(Ok(_))) => Ok(Some(EntryKind::Folder)),
        (Err(StoreError::NotFound { .. }), None) => Ok(None),
        // Of two errors that of the listing: it comes with a text, and one of HEAD without.
        (Err(_), Some(Err(error))) | (Err(error), None) => Err(of_store(place.describe(&path), &error)),
    }
}

/// The files below a folder, at any depth: where in the store, and where in the folder.
pub(crate) async fn below(place: Arc<Place>, folder: String, location: Path) -> Result<Vec<(Path, String)>> {
    let prefix = joined(location.as_ref(), "");
    let of = |error: StoreError| of_store(place.describe(&folder), &error);
    let objects: Vec<_> = place.store.list(Some(&location)).try_collect().await.map_err(of)?;
    let inside = |path: &Path| Some(path.as_ref().strip_prefix(prefix.as_str())?.trim_start_matches('/').to_owned());
    let files: Vec<_> =
        objects.into_iter().filter_map(|object| inside(&object.location).map(|name| (object.location, name))).collect();
    if files.is_empty() {
        return Err(StorageError::NotFound { path: place.describe(&folder) });
    }
    Ok(files)
}

/// Copies all files before any of them goes.
pub(crate) async fn move_all(place: &Arc<Place>, (from, to): (&str, &str), files: Vec<(Path, String)>) -> Result<()> {
    let at_once = place.options.profile.in_flight;
    let mut copies = Vec::with_capacity(files.len());
    for (location, inside) in &files {
        copies.push((location.clone(), place.location(&joined(to, inside))?));
    }
    let copy = |(location, target)| copy_one(place.clone(), location, target);
    let of = |error: StoreError| of_store(place.describe(from), &error);
    stream::iter(copies).map(copy).buffer_unordered(at_once).try_for_each(|()| async { Ok(()) }).await.map_err(of)?;
    let files: Vec<Path> = files.into_iter().map(|(location, _)| location).collect();
    delete_all(place, from, &files).await
}

async fn copy_one(place: Arc<Place>, from: Path, to: Path) -> object_store::Result<()> {
    place.store.copy(&from, &to).await
}
