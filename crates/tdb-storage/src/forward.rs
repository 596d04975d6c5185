//! A macro that forwards methods of [`Storage`](crate::Storage).

/// Implements the named methods of [`Storage`](crate::Storage) by calling another storage. Use the
/// macro for wrapper types that customize few methods.
///
/// ```
/// use std::sync::Arc;
/// use tdb_storage::{MemoryStorage, ReadAt, Result, Storage, StorageError};
///
/// /// A read-only view of a storage.
/// #[derive(Debug)]
/// struct ReadOnly(Arc<dyn Storage>);
///
/// impl ReadOnly {
///     fn refuse<T>(&self, path: &str) -> Result<T> {
///         Err(StorageError::PermissionDenied { path: self.describe(path) })
///     }
/// }
///
/// impl Storage for ReadOnly {
///     tdb_storage::forward_storage!(|this| this.0 => list, open, open_sized, profile, fetch_one, fetch, kind, describe, uri);
///
///     fn sub(&self, folder: &str) -> Result<Arc<dyn Storage>> {
///         Ok(Arc::new(Self(self.0.sub(folder)?)))
///     }
///     # fn create_folder(&self, folder: &str) -> Result<()> { self.refuse(folder) }
///     # fn create_file(&self, path: &str) -> Result<Box<dyn tdb_storage::WriteFile>> { self.refuse(path) }
///     # fn sync_folder(&self, folder: &str) -> Result<()> { self.refuse(folder) }
///     # fn remove_file(&self, path: &str) -> Result<()> { self.refuse(path) }
///     # fn remove_folder(&self, folder: &str) -> Result<()> { self.refuse(folder) }
///
///     fn create_new(&self, path: &str, _: &[u8]) -> Result<()> {
///         self.refuse(path)
///     }
///     // and so on
/// }
///
/// let memory = MemoryStorage::new();
/// memory.create_new("f", b"bytes")?;
/// let storage = ReadOnly(Arc::new(memory));
/// assert_eq!(storage.read("f")?, b"bytes");
/// assert!(storage.create_new("g", b"").is_err());
/// # Ok::<(), StorageError>(())
/// ```
#[macro_export]
macro_rules! forward_storage {
    (|$this:ident| $inner:expr => $($method:ident),+ $(,)?) => {
        $($crate::forward_storage!(@$method $this $inner);)+
    };
    (@list $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner, list(folder: &str) -> $crate::Result<Vec<$crate::Entry>>);
    };
    (@names $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner,
            names(folder: &str) -> $crate::Result<Vec<(String, $crate::EntryKind)>>);
    };
    (@open $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner, open(path: &str) -> $crate::Result<::std::sync::Arc<dyn $crate::ReadAt>>);
    };
    (@open_sized $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner,
            open_sized(path: &str, size: u64) -> $crate::Result<::std::sync::Arc<dyn $crate::ReadAt>>);
    };
    (@profile $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner, profile() -> $crate::ReadProfile);
    };
    (@fetch_one $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner, fetch_one(request: &$crate::Request) -> $crate::Result<$crate::Fetched>);
    };
    (@fetch $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner,
            fetch(requests: &[$crate::Request]) -> Vec<$crate::Result<$crate::Fetched>>);
    };
    (@fetch_each $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner,
            fetch_each(requests: &[$crate::Request], cancel: &$crate::CancelToken,
                take: &mut dyn FnMut(usize, $crate::Result<$crate::Fetched>)) -> ());
    };
    (@kind $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner, kind(path: &str) -> $crate::Result<Option<$crate::EntryKind>>);
    };
    (@file_size $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner, file_size(path: &str) -> $crate::Result<Option<u64>>);
    };
    (@sub $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner,
            sub(folder: &str) -> $crate::Result<::std::sync::Arc<dyn $crate::Storage>>);
    };
    (@describe $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner, describe(path: &str) -> String);
    };
    (@uri $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner, uri(path: &str) -> Option<String>);
    };
    (@create_folder $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner, create_folder(folder: &str) -> $crate::Result<()>);
    };
    (@create_new $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner, create_new(path: &str, bytes: &[u8]) -> $crate::Result<()>);
    };
    (@replace $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner, replace(path: &str, bytes: &[u8]) -> $crate::Result<()>);
    };
    (@create_file $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner, create_file(path: &str) -> $crate::Result<Box<dyn $crate::WriteFile>>);
    };
    (@sync_folder $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner, sync_folder(folder: &str) -> $crate::Result<()>);
    };
    (@remove_file $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner, remove_file(path: &str) -> $crate::Result<()>);
    };
    (@remove_files $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner, remove_files(paths: &[&str]) -> Vec<$crate::Result<()>>);
    };
    (@remove_folder $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner, remove_folder(folder: &str) -> $crate::Result<()>);
    };
    (@remove_folders $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner, remove_folders(folders: &[&str]) -> Vec<$crate::Result<()>>);
    };
    (@rename $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner, rename(from: &str, to: &str) -> $crate::Result<()>);
    };
    (@read $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner, read(path: &str) -> $crate::Result<Vec<u8>>);
    };
    (@read_up_to $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner, read_up_to(path: &str, limit: u64) -> $crate::Result<Vec<u8>>);
    };
    (@exists $this:ident $inner:expr) => {
        $crate::forward_storage!(@one $this $inner, exists(path: &str) -> $crate::Result<bool>);
    };
    (@one $this:ident $inner:expr, $method:ident($($argument:ident: $type:ty),*) -> $result:ty) => {
        fn $method(&self, $($argument: $type),*) -> $result {
            let $this = self;
            $inner.$method($($argument),*)
        }
    };
}
