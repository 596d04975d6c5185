//! Folders on web servers, listed by WebDAV or by a manifest.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tdb_storage::{
    Entry, EntryKind, ManifestError, ManifestStorage, Result, Storage, StorageError, WriteFile, check_path,
    forward_storage,
};

use crate::error::{READ_ONLY, StoreProblem};
use crate::place::joined;

/// Maximum age of a manifest. The next listing reads an older manifest again.
const AGE: Duration = Duration::from_secs(5);
/// Maximum number of folders searched for a manifest: the folder and its parents.
const FOLDERS: usize = 8;

/// A folder on a web server. If the server does not list folders by WebDAV, the listings come from
/// the manifest in the folder or in a parent folder.
#[derive(Clone, Debug)]
pub(crate) struct WebStorage {
    opened: Arc<Opened>,
    /// The folder on the server.
    files: Arc<dyn Storage>,
    /// The path of the folder, relative to the opened folder.
    path: String,
}

/// A folder opened by URL.
#[derive(Debug)]
struct Opened {
    server: Arc<dyn Storage>,
    /// The path on the server.
    path: String,
    /// `true` if the server is known to list no folders.
    lists_nothing: Arc<AtomicBool>,
    listings: Mutex<Listings>,
}

/// The source of listings.
#[derive(Debug)]
enum Listings {
    /// No folder was listed yet.
    Unknown,
    Server,
    /// The storage is rooted at the opened folder.
    Manifest(Arc<dyn Storage>, Instant),
}

impl WebStorage {
    /// Opens a folder of a server. Sends no request.
    pub(crate) fn open(server: Arc<dyn Storage>, path: String, lists_nothing: Arc<AtomicBool>) -> Result<Self> {
        let files = server.sub(&path)?;
        let opened = Opened { server, path, lists_nothing, listings: Mutex::new(Listings::Unknown) };
        Ok(Self { opened: Arc::new(opened), files, path: String::new() })
    }

    /// Refuses a write. Web servers have no write conditions.
    fn refused<T>(&self, path: &str) -> Result<T> {
        Err(StoreProblem::NotSupported { said: READ_ONLY.to_owned() }.at(self.describe(path)))
    }

    /// Returns the storage for reads of files.
    fn reader(&self) -> Arc<dyn Storage> {
        match &*self.opened.lock() {
            Listings::Manifest(storage, _) => storage.sub(&self.path).unwrap_or_else(|_| self.files.clone()),
            _ => self.files.clone(),
        }
    }

    /// Runs an operation with listings.
    fn listed<T>(&self, list: impl Fn(&dyn Storage) -> Result<T>) -> Result<T> {
        let mut listings = self.opened.lock();
        let error = match &*listings {
            Listings::Server => {
                drop(listings);
                return list(&*self.files);
            }
            Listings::Manifest(storage, read) if read.elapsed() < AGE => {
                let folder = storage.sub(&self.path)?;
                drop(listings);
                return list(&*folder);
            }
            Listings::Manifest(..) => None,
            Listings::Unknown if self.opened.lists_nothing.load(Ordering::Relaxed) => None,
            Listings::Unknown => match list(&*self.files) {
                Ok(listed) => {
                    *listings = Listings::Server;
                    return Ok(listed);
                }
                Err(error) if is_refused(&error) => Some(error),
                Err(error) => return Err(error),
            },
        };
        if error.as_ref().is_some_and(lists_nothing) {
            self.opened.lists_nothing.store(true, Ordering::Relaxed);
        }
        match self.opened.manifest()? {
            Some(storage) => {
                let folder = storage.sub(&self.path)?;
                *listings = Listings::Manifest(storage, Instant::now());
                drop(listings);
                list(&*folder)
            }
            None => {
                let error = error.unwrap_or_else(|| StoreProblem::ListsNothing.at(self.files.describe("")));
                // The server lists folders, but this folder does not exist.
                if error.is_not_found() {
                    *listings = Listings::Server;
                }
                Err(error)
            }
        }
    }
}

impl Opened {
    fn lock(&self) -> MutexGuard<'_, Listings> {
        self.listings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the manifest in the folder, or else in the nearest parent folder. Returns a storage
    /// for the folder.
    fn manifest(&self) -> Result<Option<Arc<dyn Storage>>> {
        let mut folder = self.path.as_str();
        for _ in 0..FOLDERS {
            match ManifestStorage::open(self.server.sub(folder)?) {
                Ok(storage) => {
                    let inside = self.path[folder.len()..].trim_start_matches('/');
                    // The manifest of a parent folder may omit this folder.
                    return match storage.kind(inside)? {
                        Some(EntryKind::Folder) => storage.sub(inside).map(Some),
                        _ => Ok(None),
                    };
                }
                Err(error) if is_missing(&error) => {}
                Err(error) => return Err(error),
            }
            match folder.rsplit_once('/') {
                Some((parent, _)) => folder = parent,
                None if folder.is_empty() => break,
                None => folder = "",
            }
        }
        Ok(None)
    }
}

/// Returns `true` if a server refuses to list folders.
fn lists_nothing(error: &StorageError) -> bool {
    matches!(StoreProblem::of(error), Some(StoreProblem::ListsNothing))
}

/// Returns `true` if the server refuses a request, but may answer others. Some servers answer as if
/// the folder were missing or forbidden.
fn is_refused(error: &StorageError) -> bool {
    let is_final = |problem: &StoreProblem| {
        !matches!(problem, StoreProblem::CutOff { .. } | StoreProblem::Busy { .. } | StoreProblem::TooMuch { .. })
    };
    error.is_not_found() || StoreProblem::of(error).is_some_and(is_final)
}

/// Returns `true` if a folder has no manifest. Some servers answer with a page instead of an error.
fn is_missing(error: &StorageError) -> bool {
    is_refused(error) || matches!(error, StorageError::BadManifest { source: ManifestError::NotAManifest, .. })
}

impl Storage for WebStorage {
    forward_storage!(|this| this.reader() => open, open_sized, fetch_one, fetch, fetch_each);
    forward_storage!(|this| this.files => profile, describe, uri, create_folder, sync_folder, remove_file, remove_folder,
        rename);

    fn create_new(&self, path: &str, _bytes: &[u8]) -> Result<()> {
        self.refused(path)
    }

    fn replace(&self, path: &str, _bytes: &[u8]) -> Result<()> {
        self.refused(path)
    }

    fn create_file(&self, path: &str) -> Result<Box<dyn WriteFile>> {
        self.refused(path)
    }

    fn list(&self, folder: &str) -> Result<Vec<Entry>> {
        self.listed(|storage| storage.list(folder))
    }

    fn kind(&self, path: &str) -> Result<Option<EntryKind>> {
        check_path(path)?;
        // Without a listing, a server may answer for folders as for files.
        if matches!(*self.opened.lock(), Listings::Unknown) {
            match self.list("") {
                Err(error) if !error.is_not_found() => return Err(error),
                _ => {}
            }
        }
        self.reader().kind(path)
    }

    fn file_size(&self, path: &str) -> Result<Option<u64>> {
        self.reader().file_size(path)
    }

    fn sub(&self, folder: &str) -> Result<Arc<dyn Storage>> {
        let files = self.files.sub(folder)?;
        Ok(Arc::new(Self { opened: self.opened.clone(), files, path: joined(&self.path, folder) }))
    }
}
