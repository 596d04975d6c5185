//! Durability of files and their names across power loss.

use std::fs::File;
use std::io;
use std::path::Path;

/// Makes files and folders durable, or leaves that to the operating system.
#[derive(Clone, Copy, Debug)]
pub(super) enum Durability {
    /// Waits until the disk has the data.
    Synced,
    /// Does nothing.
    Unsynced,
}

impl Durability {
    /// Makes the bytes of a file durable.
    pub(super) fn sync_file(self, file: &File) -> io::Result<()> {
        match self {
            Self::Synced => sync_file(file),
            Self::Unsynced => Ok(()),
        }
    }

    /// Makes the entries of a folder durable.
    pub(super) fn sync_folder(self, folder: &Path) -> io::Result<()> {
        match self {
            Self::Synced => sync_folder(folder),
            Self::Unsynced => Ok(()),
        }
    }

    /// Makes the entry of `path` in its folder durable.
    pub(super) fn sync_parent(self, path: &Path) -> io::Result<()> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        self.sync_folder(parent.unwrap_or(Path::new(".")))
    }
}

fn sync_file(file: &File) -> io::Result<()> {
    #[cfg(test)]
    tests::note("a file".to_owned());
    file.sync_all()
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    #[cfg(test)]
    tests::note(folder.display().to_string());
    File::open(folder)?.sync_all()
}

/// Does nothing, because Windows journals names and other systems offer no such operation.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::cell::RefCell;
    use std::os::fd::OwnedFd;
    use std::path::PathBuf;

    use super::*;
    use crate::local::write::LocalWriter;
    use crate::{LocalStorage, Result, Storage, StorageError, WriteFile};

    thread_local! {
        /// The sync calls of this thread.
        static SYNCED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    pub(super) fn note(what: String) {
        SYNCED.with_borrow_mut(|synced| synced.push(what));
    }

    /// Returns the sync calls of `change`, in order, in a root with a folder `d` and a file `d/f`.
    fn synced(change: impl FnOnce(&LocalStorage) -> Result<()>) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let storage = LocalStorage::new(folder.path());
        storage.create_folder("d").unwrap();
        storage.create_new("d/f", b"1").unwrap();
        SYNCED.take();
        change(&storage).unwrap();
        let root = folder.path().display().to_string();
        SYNCED.take().into_iter().map(|what| what.replace(&root, "root")).collect()
    }

    #[test]
    fn bytes_are_durable_before_their_name_is() {
        assert_eq!(synced(|storage| storage.create_new("d/g", b"bytes")), ["a file", "root/d"]);
        assert_eq!(synced(|storage| storage.create_new("d/g", b"")), ["a file", "root/d"]);
        let write = |storage: &LocalStorage| {
            let mut file = storage.create_file("d/g")?;
            file.append(b"bytes")?;
            file.finish()
        };
        assert_eq!(synced(write), ["a file"], "`sync_folder` makes the name durable");
        assert_eq!(synced(|storage| storage.sync_folder("d")), ["root/d"]);
    }

    #[test]
    fn created_folders_and_removals_are_durable() {
        assert_eq!(synced(|storage| storage.create_folder("d/e/g")), ["root/d", "root/d/e"]);
        assert_eq!(synced(|storage| storage.create_folder("d")), [""; 0]);
        assert_eq!(synced(|storage| storage.remove_file("d/f")), ["root/d"]);
        let many = |storage: &LocalStorage| {
            ["d/g", "d/h", "d/i"].iter().try_for_each(|path| storage.create_new(path, b"1"))?;
            SYNCED.take();
            storage.remove_files(&["d/f", "d/g", "d/none", "d/h"]).into_iter().filter(|one| !one.is_err()).collect()
        };
        assert_eq!(synced(many), ["root/d"], "removals from one folder share a sync");
        let none = |storage: &LocalStorage| {
            assert!(storage.remove_files(&["d/none", "d"]).iter().all(std::result::Result::is_err));
            Ok(())
        };
        assert_eq!(synced(none), [""; 0]);
        assert_eq!(synced(|storage| storage.remove_folder("d")), ["root"]);
        let folders = |storage: &LocalStorage| {
            ["d/g", "d/h"].iter().try_for_each(|folder| storage.create_folder(folder))?;
            SYNCED.take();
            storage.remove_folders(&["d/f", "d/g", "d/none", "d/h"]).into_iter().filter(|one| !one.is_err()).collect()
        };
        assert_eq!(synced(folders), ["root/d"]);
    }

    #[test]
    fn without_sync_nothing_is_synced() {
        let all = |storage: &LocalStorage| {
            let storage = storage.clone().without_sync().sub("d")?;
            storage.create_folder("e")?;
            storage.create_new("e/g", b"bytes")?;
            storage.create_new("e/h", b"")?;
            storage.replace("e/g", b"other")?;
            let mut file = storage.create_file("e/i")?;
            file.append(b"bytes")?;
            file.finish()?;
            storage.sync_folder("e")?;
            storage.rename("e/i", "e/j")?;
            storage.remove_file("e/g")?;
            storage.remove_files(&["e/h"]).into_iter().collect::<Result<()>>()?;
            storage.remove_folder("e")
        };
        assert_eq!(synced(all), [""; 0]);
    }

    /// Syncing a pipe fails, so the error proves that the operating system was called.
    #[test]
    fn files_are_synced_by_the_operating_system() {
        let (_reader, writer) = std::io::pipe().unwrap();
        let file = File::from(OwnedFd::from(writer));
        assert!(sync_file(&file).is_err());
        let mut writer = Box::new(LocalWriter::new(file, PathBuf::from("no such file"), Durability::Synced));
        writer.append(b"bytes").unwrap();
        assert!(matches!(writer.finish(), Err(StorageError::Io { .. })));
    }

    /// Syncing `/proc` fails too.
    #[cfg(target_os = "linux")]
    #[test]
    fn folders_are_synced_by_the_operating_system() {
        assert!(sync_folder(Path::new("/proc/self")).is_err());
        assert!(Durability::Synced.sync_parent(Path::new("/proc/self/status")).is_err());
        assert!(LocalStorage::new("/proc/self").sync_folder("").is_err());
    }
}
