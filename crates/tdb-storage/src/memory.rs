//! A storage in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::file::check_end;
use crate::path::{check_below_root, check_path, join, parent};
use crate::{Entry, EntryKind, ReadAt, ReadProfile, Result, Storage, StorageError, WriteFile};

/// A storage of files and folders in memory. Clones and [`sub`](Storage::sub) storages share the
/// files and folders.
#[derive(Clone, Debug, Default)]
pub struct MemoryStorage {
    tree: Arc<RwLock<Tree>>,
    /// The path of this storage's root in the tree.
    root: String,
}

/// All files and folders except the root, by complete path.
type Tree = BTreeMap<String, Node>;

#[derive(Clone, Debug)]
enum Node {
    File(Arc<[u8]>),
    Folder,
}

impl Node {
    fn kind(&self) -> EntryKind {
        match self {
            Self::File(_) => EntryKind::File,
            Self::Folder => EntryKind::Folder,
        }
    }
}

impl MemoryStorage {
    /// Creates an empty storage.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Inserts or replaces a file and creates missing parent folders. Intended for tests, and for
    /// targets without a file system.
    ///
    /// # Errors
    /// Fails if the path is invalid, a parent is a file, or the path is a folder.
    pub fn insert(&self, path: &str, bytes: impl Into<Arc<[u8]>>) -> Result<()> {
        check_below_root(path)?;
        self.create_folder(parent(path).unwrap_or_default())?;
        let mut tree = self.write();
        match tree.insert(self.whole(path), Node::File(bytes.into())) {
            Some(Node::Folder) => {
                tree.insert(self.whole(path), Node::Folder);
                Err(StorageError::NotAFile { path: self.describe(path) })
            }
            _ => Ok(()),
        }
    }

    fn whole(&self, path: &str) -> String {
        join(&self.root, path)
    }

    // No code panics while holding the lock, so poisoning can be ignored.
    fn tree(&self) -> RwLockReadGuard<'_, Tree> {
        self.tree.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tree> {
        self.tree.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that `folder`, a path in this storage, is a folder of `tree`.
    fn check_folder(&self, tree: &Tree, folder: &str) -> Result<()> {
        let whole = self.whole(folder);
        match tree.get(&whole) {
            Some(Node::Folder) => Ok(()),
            None if whole.is_empty() => Ok(()),
            Some(Node::File(_)) => Err(StorageError::NotAFolder { path: self.describe(folder) }),
            None => Err(StorageError::NotFound { path: self.describe(folder) }),
        }
    }
}

/// Iterates over the paths in `tree` below `folder`, at any depth.
fn below<'t>(tree: &'t Tree, folder: &str) -> impl Iterator<Item = (&'t str, &'t Node)> {
    let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let start = prefix.clone();
    tree.range(start..).take_while(move |(path, _)| path.starts_with(&prefix)).map(|(path, node)| (path.as_str(), node))
}

/// The profile of memory, where skipping a gap is always cheaper than copying it.
const PROFILE: ReadProfile = ReadProfile { gap: 0, ..ReadProfile::LOCAL };

impl Storage for MemoryStorage {
    fn profile(&self) -> ReadProfile {
        PROFILE
    }

    fn list(&self, folder: &str) -> Result<Vec<Entry>> {
        check_path(folder)?;
        let tree = self.tree();
        self.check_folder(&tree, folder)?;
        let whole = self.whole(folder);
        let skip = if whole.is_empty() { 0 } else { whole.len() + 1 };
        let mut entries: Vec<_> = below(&tree, &whole)
            .filter_map(|(path, node)| {
                let name = path.get(skip..).filter(|name| !name.contains('/'))?.to_owned();
                let size = if let Node::File(bytes) = node { bytes.len() as u64 } else { 0 };
                Some(Entry { name, kind: node.kind(), size })
            })
            .collect();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>> {
        check_path(path)?;
        let whole = self.whole(path);
        match self.tree().get(&whole) {
            Some(Node::File(bytes)) => Ok(Arc::new(MemoryFile { bytes: Arc::clone(bytes), path: self.describe(path) })),
            None if !whole.is_empty() => Err(StorageError::NotFound { path: self.describe(path) }),
            _ => Err(StorageError::NotAFile { path: self.describe(path) }),
        }
    }

    fn kind(&self, path: &str) -> Result<Option<EntryKind>> {
        check_path(path)?;
        let whole = self.whole(path);
        if whole.is_empty() {
            return Ok(Some(EntryKind::Folder));
        }
        Ok(self.tree().get(&whole).map(Node::kind))
    }

    fn sub(&self, folder: &str) -> Result<Arc<dyn Storage>> {
        check_path(folder)?;
        Ok(Arc::new(Self { tree: Arc::clone(&self.tree), root: self.whole(folder) }))
    }

    fn describe(&self, path: &str) -> String {
        format!("memory:{}", self.whole(path))
    }

    fn create_folder(&self, folder: &str) -> Result<()> {
        check_path(folder)?;
        let whole = self.whole(folder);
        let mut tree = self.write();
        // Folders are created from the top down. A file in the way is therefore found before any
        // folder below it is created.
        let ends = whole.match_indices('/').map(|(at, _)| at).chain([whole.len()]);
        for part in ends.filter_map(|end| whole.get(..end)).filter(|part| !part.is_empty()) {
            match tree.get(part) {
                Some(Node::Folder) => {}
                Some(Node::File(_)) => return Err(StorageError::NotAFolder { path: format!("memory:{part}") }),
                None => {
                    tree.insert(part.to_owned(), Node::Folder);
                }
            }
        }
        Ok(())
    }

    fn create_new(&self, path: &str, bytes: &[u8]) -> Result<()> {
        check_below_root(path)?;
        let mut tree = self.write();
        self.check_folder(&tree, parent(path).unwrap_or_default())?;
        let whole = self.whole(path);
        if tree.contains_key(&whole) {
            return Err(StorageError::AlreadyExists { path: self.describe(path) });
        }
        tree.insert(whole, Node::File(bytes.into()));
        Ok(())
    }

    fn replace(&self, path: &str, bytes: &[u8]) -> Result<()> {
        check_below_root(path)?;
        let mut tree = self.write();
        self.check_folder(&tree, parent(path).unwrap_or_default())?;
        match tree.entry(self.whole(path)).or_insert(Node::File([].into())) {
            Node::File(file) => {
                *file = bytes.into();
                Ok(())
            }
            Node::Folder => Err(StorageError::NotAFile { path: self.describe(path) }),
        }
    }

    fn create_file(&self, path: &str) -> Result<Box<dyn WriteFile>> {
        self.create_new(path, &[])?;
        let storage = self.clone();
        Ok(Box::new(MemoryWriter { storage, path: path.to_owned(), bytes: Vec::new(), finished: false }))
    }

    fn sync_folder(&self, folder: &str) -> Result<()> {
        check_path(folder)?;
        self.check_folder(&self.tree(), folder)
    }

    fn remove_file(&self, path: &str) -> Result<()> {
        check_below_root(path)?;
        let whole = self.whole(path);
        let mut tree = self.write();
        match tree.get(&whole) {
            Some(Node::File(_)) => {
                tree.remove(&whole);
                Ok(())
            }
            Some(Node::Folder) => Err(StorageError::NotAFile { path: self.describe(path) }),
            None => Err(StorageError::NotFound { path: self.describe(path) }),
        }
    }

    fn remove_folder(&self, folder: &str) -> Result<()> {
        check_below_root(folder)?;
        let mut tree = self.write();
        self.check_folder(&tree, folder)?;
        let whole = self.whole(folder);
        let gone: Vec<String> = below(&tree, &whole).map(|(path, _)| path.to_owned()).collect();
        for path in gone.iter().chain([&whole]) {
            tree.remove(path);
        }
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        check_below_root(from)?;
        check_below_root(to)?;
        let mut tree = self.write();
        self.check_folder(&tree, parent(to).unwrap_or_default())?;
        let (whole, new) = (self.whole(from), self.whole(to));
        if tree.contains_key(&new) {
            return Err(StorageError::AlreadyExists { path: self.describe(to) });
        }
        if new.starts_with(&format!("{whole}/")) {
            return Err(StorageError::BadPath {
                path: to.to_owned(),
                why: "the target is inside the folder to be moved",
            });
        }
        let inside: Vec<String> = below(&tree, &whole).map(|(path, _)| path.to_owned()).collect();
        let Some(node) = tree.remove(&whole) else {
            return Err(StorageError::NotFound { path: self.describe(from) });
        };
        tree.insert(new.clone(), node);
        for path in inside {
            if let Some(node) = tree.remove(&path) {
                tree.insert(format!("{new}{}", &path[whole.len()..]), node);
            }
        }
        Ok(())
    }
}

#[derive(Debug)]
struct MemoryFile {
    bytes: Arc<[u8]>,
    path: String,
}

impl ReadAt for MemoryFile {
    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_into(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        check_end(self.size(), offset, buffer.len(), || self.path.clone())?;
        // The check ensures that the offset fits in `usize`.
        let start = usize::try_from(offset).ok();
        if let Some(bytes) = start.and_then(|start| self.bytes.get(start..)).and_then(|rest| rest.get(..buffer.len())) {
            buffer.copy_from_slice(bytes);
        }
        Ok(())
    }

    fn profile(&self) -> ReadProfile {
        PROFILE
    }
}

/// A file being written. An empty file reserves the path until the file is finished.
#[derive(Debug)]
struct MemoryWriter {
    storage: MemoryStorage,
    path: String,
    bytes: Vec<u8>,
    finished: bool,
}

impl WriteFile for MemoryWriter {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        if self.bytes.try_reserve(bytes.len()).is_err() {
            let size = (self.bytes.len() as u64).saturating_add(bytes.len() as u64);
            return Err(StorageError::TooLarge { path: self.storage.describe(&self.path), size });
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.finished = true;
        let bytes = std::mem::take(&mut self.bytes);
        let whole = self.storage.whole(&self.path);
        match self.storage.write().get_mut(&whole) {
            Some(Node::File(file)) => {
                *file = bytes.into();
                Ok(())
            }
            // The file was deleted meanwhile.
            _ => Err(StorageError::NotFound { path: self.storage.describe(&self.path) }),
        }
    }
}

impl Drop for MemoryWriter {
    fn drop(&mut self) {
        if !self.finished {
            // The file may already be removed.
            let _ = self.storage.remove_file(&self.path);
        }
    }
}
