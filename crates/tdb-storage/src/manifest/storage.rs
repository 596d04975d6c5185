//! A storage with listings from a manifest.

use std::io;
use std::sync::Arc;

use super::list::{MANIFEST_NAME, Manifest};
use crate::path::{check_path, join};
use crate::{
    CancelToken, Entry, EntryKind, Fetched, Part, ReadAt, ReadProfile, Request, Result, Storage, StorageError,
    WriteFile, forward_storage,
};

/// A read-only storage. Takes names, kinds and sizes from a [`Manifest`], and reads files from
/// another storage. The other storage need not support listings.
///
/// If a listed file is missing or has another size, reads fail with
/// [`StaleManifest`](StorageError::StaleManifest).
///
/// ```
/// use std::sync::Arc;
/// use tdb_storage::{MANIFEST_NAME, Manifest, ManifestStorage, MemoryStorage, Storage, StorageError};
///
/// let files = MemoryStorage::new();
/// files.insert("__schema/f", *b"schema")?;
/// let manifest = Manifest::of(&files)?.to_string();
/// files.create_new(MANIFEST_NAME, manifest.as_bytes())?;
///
/// let storage = ManifestStorage::open(Arc::new(files.clone()))?;
/// assert_eq!(storage.list("__schema")?[0].size, 6);
/// assert_eq!(storage.read("__schema/f")?, b"schema");
///
/// files.remove_file("__schema/f")?;
/// assert!(matches!(storage.read("__schema/f"), Err(StorageError::StaleManifest { .. })));
/// # Ok::<(), StorageError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ManifestStorage {
    inner: Arc<dyn Storage>,
    manifest: Arc<Manifest>,
    /// The path of the root in the manifest.
    root: String,
}

impl ManifestStorage {
    /// Creates a storage for the folder of `manifest`. `files` is rooted at the same folder.
    #[must_use]
    pub fn new(files: Arc<dyn Storage>, manifest: Manifest) -> Self {
        Self { inner: files, manifest: Arc::new(manifest), root: String::new() }
    }

    /// Reads the manifest in the root of `files`, in one request.
    ///
    /// # Errors
    /// [`NotFound`](StorageError::NotFound) if the root has no manifest,
    /// [`BadManifest`](StorageError::BadManifest), and the errors of [`Storage::read_up_to`].
    pub fn open(files: Arc<dyn Storage>) -> Result<Self> {
        let text = files.read_up_to(MANIFEST_NAME, Manifest::LIMIT)?;
        match Manifest::parse(&text) {
            Ok(manifest) => Ok(Self::new(files, manifest)),
            Err(source) => Err(StorageError::BadManifest { path: files.describe(MANIFEST_NAME), source }),
        }
    }

    /// Checks a path, and returns the path in the manifest.
    fn whole(&self, path: &str) -> Result<String> {
        check_path(path)?;
        Ok(join(&self.root, path))
    }

    /// Returns the listed size of a file.
    fn listed(&self, path: &str) -> Result<u64> {
        let whole = self.whole(path)?;
        self.manifest.size(&whole).ok_or_else(|| match self.manifest.kind(&whole) {
            Some(_) => StorageError::NotAFile { path: self.describe(path) },
            None => StorageError::NotFound { path: self.describe(path) },
        })
    }

    /// Wraps an open file, and checks its size.
    fn checked(&self, path: &str, listed: u64, file: Arc<dyn ReadAt>) -> Result<Arc<dyn ReadAt>> {
        let path = self.describe(path);
        if file.size() != listed {
            return Err(resized(path, listed, file.size()));
        }
        Ok(Arc::new(ManifestFile { inner: file, path }))
    }

    /// Checks a request, and replaces a part at the end of the file by a range.
    fn prepared(&self, request: &Request) -> Result<Request> {
        let size = self.listed(&request.path)?;
        let part = match &request.part {
            Part::All if size > request.limit => {
                return Err(StorageError::OverLimit { path: self.describe(&request.path), size, limit: request.limit });
            }
            Part::All => Part::All,
            // Some servers do not support ranges counted from the end.
            Part::Last(len) => Part::Range { range: size.saturating_sub(*len)..size, size },
            Part::Range { range, .. } if range.end > size => {
                return Err(StorageError::UnexpectedEnd {
                    path: self.describe(&request.path),
                    offset: range.start,
                    need: range.end.saturating_sub(range.start),
                    size,
                });
            }
            Part::Range { range, .. } => Part::Range { range: range.clone(), size },
        };
        Ok(Request { path: request.path.clone(), part, limit: request.limit })
    }

    /// Checks the answer to a prepared request.
    fn answered(&self, request: &Request, answer: Result<Fetched>) -> Result<Fetched> {
        let size = self.listed(&request.path)?;
        match answer {
            Ok(fetched) => Ok(Fetched { file: self.checked(&request.path, size, fetched.file)?, ..fetched }),
            // The file is larger than its size in the manifest.
            Err(StorageError::OverLimit { size: found, .. }) => Err(resized(self.describe(&request.path), size, found)),
            Err(error) => Err(stale(error)),
        }
    }

    fn refused<T>(&self, path: &str) -> Result<T> {
        let error = io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "read-only: opened by a manifest");
        Err(StorageError::from_io(self.describe(path), error))
    }
}

/// Converts the error of a listed file.
#[cold]
fn stale(error: StorageError) -> StorageError {
    let why = match &error {
        StorageError::NotFound { .. } | StorageError::NotAFile { .. } => "a listed file does not exist".to_owned(),
        StorageError::UnexpectedEnd { size, .. } => format!("a listed file ends at byte {size}"),
        StorageError::Io { source, .. } if source.kind() == io::ErrorKind::UnexpectedEof => {
            format!("a listed file has another size: {source}")
        }
        _ => return error,
    };
    StorageError::StaleManifest { path: error.path().to_owned(), why }
}

#[cold]
fn resized(path: String, listed: u64, found: u64) -> StorageError {
    StorageError::StaleManifest { path, why: format!("a file listed with {listed} bytes has {found} bytes") }
}

impl Storage for ManifestStorage {
    forward_storage!(|this| this.inner => profile, describe, uri);

    fn list(&self, folder: &str) -> Result<Vec<Entry>> {
        let whole = self.whole(folder)?;
        match self.manifest.kind(&whole) {
            Some(EntryKind::Folder) => {
                let prefix = if whole.is_empty() { whole } else { format!("{whole}/") };
                Ok(self.manifest.list(&prefix))
            }
            Some(EntryKind::File) => Err(StorageError::NotAFolder { path: self.describe(folder) }),
            None => Err(StorageError::NotFound { path: self.describe(folder) }),
        }
    }

    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>> {
        let size = self.listed(path)?;
        self.checked(path, size, self.inner.open_sized(path, size).map_err(stale)?)
    }

    fn open_sized(&self, path: &str, _size: u64) -> Result<Arc<dyn ReadAt>> {
        self.open(path)
    }

    fn fetch_one(&self, request: &Request) -> Result<Fetched> {
        let request = self.prepared(request)?;
        self.answered(&request, self.inner.fetch_one(&request))
    }

    fn fetch(&self, requests: &[Request]) -> Vec<Result<Fetched>> {
        let prepared: Vec<Result<Request>> = requests.iter().map(|request| self.prepared(request)).collect();
        let sent: Vec<Request> = prepared.iter().filter_map(|request| request.as_ref().ok().cloned()).collect();
        let mut answers = sent.iter().zip(self.inner.fetch(&sent));
        prepared
            .into_iter()
            .zip(requests)
            .map(|(prepared, request)| {
                prepared?;
                let Some((sent, answer)) = answers.next() else {
                    let error = io::Error::other("the storage answered fewer requests than it received");
                    return Err(StorageError::from_io(self.describe(&request.path), error));
                };
                self.answered(sent, answer)
            })
            .collect()
    }

    fn fetch_each(&self, requests: &[Request], cancel: &CancelToken, take: &mut dyn FnMut(usize, Result<Fetched>)) {
        let (mut sent, mut places) = (Vec::new(), Vec::new());
        for (place, request) in requests.iter().enumerate() {
            match self.prepared(request) {
                Ok(request) => {
                    sent.push(request);
                    places.push(place);
                }
                Err(error) if !cancel.is_cancelled() => take(place, Err(error)),
                Err(_) => return,
            }
        }
        self.inner.fetch_each(&sent, cancel, &mut |index, answer| {
            if let (Some(request), Some(place)) = (sent.get(index), places.get(index)) {
                take(*place, self.answered(request, answer));
            }
        });
    }

    fn kind(&self, path: &str) -> Result<Option<EntryKind>> {
        Ok(self.manifest.kind(&self.whole(path)?))
    }

    fn file_size(&self, path: &str) -> Result<Option<u64>> {
        Ok(self.manifest.size(&self.whole(path)?))
    }

    fn sub(&self, folder: &str) -> Result<Arc<dyn Storage>> {
        let root = self.whole(folder)?;
        Ok(Arc::new(Self { inner: self.inner.sub(folder)?, manifest: self.manifest.clone(), root }))
    }

    fn create_folder(&self, folder: &str) -> Result<()> {
        self.refused(folder)
    }

    fn create_new(&self, path: &str, _bytes: &[u8]) -> Result<()> {
        self.refused(path)
    }

    fn replace(&self, path: &str, _bytes: &[u8]) -> Result<()> {
        self.refused(path)
    }

    fn create_file(&self, path: &str) -> Result<Box<dyn WriteFile>> {
        self.refused(path)
    }

    fn sync_folder(&self, folder: &str) -> Result<()> {
        self.refused(folder)
    }

    fn remove_file(&self, path: &str) -> Result<()> {
        self.refused(path)
    }

    fn remove_folder(&self, folder: &str) -> Result<()> {
        self.refused(folder)
    }

    fn rename(&self, from: &str, _to: &str) -> Result<()> {
        self.refused(from)
    }
}

/// An open file whose size the manifest lists.
#[derive(Debug)]
struct ManifestFile {
    inner: Arc<dyn ReadAt>,
    /// The complete path.
    path: String,
}

impl ReadAt for ManifestFile {
    fn size(&self) -> u64 {
        self.inner.size()
    }

    fn read_into(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        // Reads beyond the listed size are errors of the caller.
        crate::file::check_end(self.size(), offset, buffer.len(), || self.path.clone())?;
        self.inner.read_into(offset, buffer).map_err(stale)
    }

    fn profile(&self) -> ReadProfile {
        self.inner.profile()
    }
}
