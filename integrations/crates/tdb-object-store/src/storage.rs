//! A folder on an object store.

use std::future::Future;
use std::io;
use std::sync::Arc;

use object_store::path::Path;
use object_store::{Error as StoreError, ObjectStore, ObjectStoreExt};
use tdb_storage::{
    CancelToken, Entry, EntryKind, Fetched, ReadAt, ReadProfile, Request, Result, Storage, StorageError, WriteFile,
    check_path,
};
use tokio::sync::Semaphore;

use crate::StoreOptions;
use crate::cache::ReadCache;
use crate::conditions::Conditions;
use crate::emptied::Emptied;
use crate::fetch::{answers, fetch, fetch_all};
use crate::file::ObjectFile;
use crate::folder::{Below, below, delete_all, entries, kind_of, list, move_all};
use crate::forget::{forget_folder, forget_parents};
use crate::place::{Place, described, joined};
use crate::put::put_new;
use crate::runtime::{each, wait};
use crate::write::ObjectWriter;

/// A folder on an object store, as a [`Storage`].
#[derive(Clone, Debug)]
pub struct ObjectStorage {
    place: Arc<Place>,
}

impl ObjectStorage {
    /// Creates a storage for the folder `root` of a store (`""` for the whole store). `url` is the
    /// URL of the store in messages. Single requests use the retry policy
    /// of the given store. [`StoreOptions::retries`](crate::StoreOptions::retries) also limits the
    /// retries of interrupted listings, reads, writes and deletions.
    ///
    /// # Errors
    /// [`BadPath`](StorageError::BadPath) if `root` is not a valid path.
    pub fn new(store: Arc<dyn ObjectStore>, url: &str, root: &str) -> Result<Self> {
        Self::with_options(store, url, root, StoreOptions::default())
    }

    /// Creates a storage like [`new`](Self::new), with options.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_options(store: Arc<dyn ObjectStore>, url: &str, root: &str, options: StoreOptions) -> Result<Self> {
        let root = root.trim_matches('/').to_owned();
        check_path(&root)?;
        let conditions = Arc::new(Conditions::new(!options.try_conditions));
        let emptied = Arc::new(Emptied::default());
        let url = described(url.trim_end_matches('/'), &root);
        let cache = (options.cache > 0).then(|| Arc::new(ReadCache::new(options.cache)));
        let parts = Arc::new(Semaphore::new(options.parts_in_flight.clamp(1, Semaphore::MAX_PERMITS)));
        Ok(Self { place: Arc::new(Place { store, root, url, options, cache, conditions, emptied, parts }) })
    }

    /// Returns `true` if the store is known to refuse overwriting, or assumed to because
    /// [`StoreOptions::try_conditions`] is `false`.
    #[must_use]
    pub fn heeds_conditions(&self) -> bool {
        self.place.conditions.are_heeded()
    }

    /// Runs a job on the store, and waits for it.
    fn ask<T, F>(&self, path: &str, job: impl FnOnce(Arc<Place>, Path) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let location = self.place.location(path)?;
        let gone = |error: io::Error| StorageError::from_io(self.describe(path), error);
        wait(job(self.place.clone(), location)).map_err(gone)?
    }

    /// Returns the error of one of several requests that failed together.
    fn gone(&self, request: &Request, error: &io::Error) -> StorageError {
        StorageError::from_io(self.describe(&request.path), io::Error::new(error.kind(), error.to_string()))
    }
}

impl Storage for ObjectStorage {
    fn list(&self, folder: &str) -> Result<Vec<Entry>> {
        let path = folder.to_owned();
        self.ask(folder, async move |place: Arc<Place>, location: Path| {
            let entries = entries(&location, &list(&place, &path, &location).await?);
            if entries.is_empty() && !location.as_ref().is_empty() {
                return Err(StorageError::NotFound { path: place.describe(&path) });
            }
            Ok(entries)
        })
    }

    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>> {
        let name = path.to_owned();
        self.ask(path, async move |place: Arc<Place>, location: Path| {
            let meta = place.store.head(&location).await.map_err(|error| place.failed(&name, &error))?;
            let file: Arc<dyn ReadAt> = Arc::new(ObjectFile::new(place.clone(), name, location, meta.size));
            Ok(file)
        })
    }

    fn open_sized(&self, path: &str, size: u64) -> Result<Arc<dyn ReadAt>> {
        let location = self.place.location(path)?;
        Ok(Arc::new(ObjectFile::new(self.place.clone(), path.to_owned(), location, size)))
    }

    fn profile(&self) -> ReadProfile {
        self.place.options.profile
    }

    fn fetch_one(&self, request: &Request) -> Result<Fetched> {
        let request = request.clone();
        let path = request.path.clone();
        self.ask(&path, async move |place: Arc<Place>, _: Path| fetch(place, request).await)
    }

    fn fetch(&self, requests: &[Request]) -> Vec<Result<Fetched>> {
        let (place, asked, at_once) = (self.place.clone(), requests.to_vec(), self.place.options.profile.in_flight);
        match wait(fetch_all(place, asked, at_once)) {
            Ok(answers) => answers,
            Err(error) => requests.iter().map(|request| Err(self.gone(request, &error))).collect(),
        }
    }

    fn fetch_each(&self, requests: &[Request], cancel: &CancelToken, take: &mut dyn FnMut(usize, Result<Fetched>)) {
        let answers = answers(self.place.clone(), requests.to_vec(), self.place.options.profile.in_flight);
        if let Err(error) = each(answers, cancel, |(place, answer)| take(place, answer)) {
            for (place, request) in requests.iter().enumerate() {
                take(place, Err(self.gone(request, &error)));
            }
        }
    }

    fn kind(&self, path: &str) -> Result<Option<EntryKind>> {
        let name = path.to_owned();
        self.ask(path, async move |place: Arc<Place>, location: Path| kind_of(place, name, location).await)
    }

    fn sub(&self, folder: &str) -> Result<Arc<dyn Storage>> {
        check_path(folder)?;
        let Place { store, root, options, cache, conditions, emptied, parts, .. } = &*self.place;
        Ok(Arc::new(Self {
            place: Arc::new(Place {
                store: store.clone(),
                root: joined(root, folder),
                url: self.describe(folder),
                options: options.clone(),
                cache: cache.clone(),
                conditions: conditions.clone(),
                emptied: emptied.clone(),
                parts: parts.clone(),
            }),
        }))
    }

    fn describe(&self, path: &str) -> String {
        self.place.describe(path)
    }

    fn uri(&self, path: &str) -> Option<String> {
        Some(self.describe(path))
    }

    /// Sends no request, because stores have no folders. A folder exists while it contains a file.
    fn create_folder(&self, folder: &str) -> Result<()> {
        self.place.location(folder).map(|_| ())
    }

    fn create_new(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let (name, bytes) = (path.to_owned(), bytes.to_vec());
        not_the_root(path)?;
        self.ask(path, async move |place: Arc<Place>, location: Path| {
            put_new(&place, &name, &location, bytes.into()).await
        })
    }

    fn replace(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let (name, bytes) = (path.to_owned(), bytes.to_vec());
        not_the_root(path)?;
        self.ask(path, async move |place: Arc<Place>, location: Path| {
            let written = place.store.put(&location, bytes.into()).await;
            written.map(|_| ()).map_err(|error| place.failed(&name, &error))
        })
    }

    fn create_file(&self, path: &str) -> Result<Box<dyn WriteFile>> {
        not_the_root(path)?;
        let location = self.place.location(path)?;
        Ok(Box::new(ObjectWriter::new(self.place.clone(), path.to_owned(), location)))
    }

    /// Sends no request, because the name of a file is durable with the file.
    fn sync_folder(&self, folder: &str) -> Result<()> {
        self.place.location(folder).map(|_| ())
    }

    fn remove_file(&self, path: &str) -> Result<()> {
        not_the_root(path)?;
        let name = path.to_owned();
        self.ask(path, async move |place: Arc<Place>, location: Path| {
            let of = |error: StoreError| place.failed(&name, &error);
            // Stores report success for deletions of missing files.
            place.store.head(&location).await.map_err(of)?;
            delete_all(&place, &name, std::slice::from_ref(&location)).await?;
            forget_parents(&place, &location).await;
            Ok(())
        })
    }

    fn remove_folder(&self, folder: &str) -> Result<()> {
        not_the_root(folder)?;
        let path = folder.to_owned();
        self.ask(folder, async move |place: Arc<Place>, location: Path| {
            let files = match below(place.clone(), path.clone(), location.clone()).await {
                // The folder contains no files. Some stores still list empty folders.
                Err(error) if error.is_not_found() => {
                    forget_parents(&place, &location.clone().join("any")).await;
                    return Err(error);
                }
                files => files?,
            };
            let files: Vec<Path> = files.into_iter().map(|file| file.location).collect();
            delete_all(&place, &path, &files).await?;
            forget_folder(&place, &path, &location, &files).await;
            Ok(())
        })
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        not_the_root(from)?;
        not_the_root(to)?;
        let target = self.place.location(to)?;
        let (name, new) = (from.to_owned(), to.to_owned());
        self.ask(from, async move |place: Arc<Place>, location: Path| {
            if kind_of(place.clone(), new.clone(), target.clone()).await?.is_some() {
                return Err(StorageError::AlreadyExists { path: place.describe(&new) });
            }
            let files = match kind_of(place.clone(), name.clone(), location.clone()).await? {
                None => return Err(StorageError::NotFound { path: place.describe(&name) }),
                Some(EntryKind::File) => {
                    let size = place.store.head(&location).await;
                    let size = size.map_err(|error| place.failed(&name, &error))?.size;
                    vec![Below { location, inside: String::new(), size }]
                }
                Some(EntryKind::Folder) => {
                    let files = below(place.clone(), name.clone(), location.clone()).await?;
                    let old: Vec<Path> = files.iter().map(|file| file.location.clone()).collect();
                    move_all(&place, (&name, &new), files).await?;
                    forget_folder(&place, &name, &location, &old).await;
                    return Ok(());
                }
            };
            move_all(&place, (&name, &new), files).await
        })
    }
}

fn not_the_root(path: &str) -> Result<()> {
    if path.is_empty() {
        let why = "empty path, but the operation is not possible on the root";
        return Err(StorageError::BadPath { path: String::new(), why });
    }
    Ok(())
}
