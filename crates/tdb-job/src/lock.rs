//! The lock of an array or group: a file that readers and writers ignore. Only one job at a time
//! holds the lock.
//!
//! A job takes over the lock of a dead process. A storage cannot atomically replace a file with
//! known content. The new owner therefore first creates a takeover file, whose name contains the
//! digest of the old lock. Only the creator of the takeover file may delete a lock with this
//! content. No two locks have the same content. Therefore a process that is too late never deletes
//! the lock of the new owner.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};
use tdb_storage::{Entry, EntryKind, Storage, StorageError};
use tdb_types::names::{MAINTENANCE_LOCK, MAINTENANCE_SUFFIX, TAKEOVER_PREFIX};

use crate::error::{MaintainError, Result};
use crate::links::is_link;

/// Maximum size of a lock in bytes.
const LOCK_BYTES: u64 = 4096;
/// Maximum number of nested takeovers by processes that died during the takeover.
const DEPTH: usize = 8;

const FOLDER: &str = "a folder or special file";
const TOO_LONG: &str = "a file larger than any lock";
const DANGLING: &str = "a dangling symbolic link";

/// The lock of an array or group, held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    claim: Claim,
}

impl Lock {
    /// Takes the lock. Takes over the lock of a dead process of this machine, and any lock if
    /// `take_over` is set.
    ///
    /// # Errors
    /// [`MaintainError::Busy`] if another process holds the lock. [`MaintainError::NotALock`] if a
    /// file or folder has the name of the lock but is not a lock. Also fails if the storage fails.
    pub fn take(storage: &Arc<dyn Storage>, take_over: bool) -> Result<Self> {
        let own = Owner::this(token());
        let claim = Claim::make(storage, MAINTENANCE_LOCK, &own, take_over, DEPTH)?;
        // The takeover files apply to old locks, which no longer exist. The creators of these files
        // cannot delete the new lock, because its content differs.
        for entry in storage.list("")? {
            let is_one = entry.name.starts_with(TAKEOVER_PREFIX) && entry.name.ends_with(MAINTENANCE_SUFFIX);
            if is_one && entry.kind == EntryKind::File {
                remove(&**storage, &entry.name)?;
            }
        }
        Ok(Self { claim })
    }

    /// Replaces the storage of the lock, after the array or group has moved.
    pub fn moved(mut self, storage: Arc<dyn Storage>) -> Self {
        self.claim.storage = storage;
        self
    }

    /// Checks that this job still holds the lock. On request, another job can take over the lock.
    ///
    /// # Errors
    /// - [`MaintainError::Busy`] if the lock file is missing or belongs to another job.
    /// - [`MaintainError::NotALock`] if the lock was replaced by a folder, or by a file that is too
    ///   long for a lock.
    /// - The lock cannot be read.
    pub fn check(&self) -> Result<()> {
        let Claim { storage, path, content } = &self.claim;
        match read(&**storage, path)? {
            Some(found) if found == *content => Ok(()),
            found => Err(busy(&**storage, path, &found.unwrap_or_default())),
        }
    }
}

/// Returns `true` if the lock or takeover file at `path` exists and its owner is certainly dead.
///
/// # Errors
/// - [`MaintainError::NotALock`] if the path is a folder, or a file that is too long for a lock.
/// - The file cannot be read.
pub fn is_left_behind(storage: &dyn Storage, path: &str) -> Result<bool> {
    let owner = read(storage, path)?.and_then(|found| Owner::parse(&String::from_utf8_lossy(&found)));
    Ok(owner.is_some_and(|owner| owner.is_dead(&Owner::this(String::new()))))
}

/// Returns `true` if the lock exists and its owner may be alive. Returns `false` if the owner is
/// unknown.
pub fn is_held(storage: &dyn Storage) -> bool {
    owner(storage).is_some_and(|owner| !owner.is_dead(&Owner::this(String::new())))
}

/// Returns `true` if a living process of this machine holds the lock.
pub fn is_held_here(storage: &dyn Storage) -> bool {
    owner(storage).is_some_and(|owner| owner.is_alive(&Owner::this(String::new())))
}

/// Returns the owner of the lock. Returns `None` if the lock does not exist or cannot be read.
fn owner(storage: &dyn Storage) -> Option<Owner> {
    let found = read(storage, MAINTENANCE_LOCK).ok()??;
    Owner::parse(&String::from_utf8_lossy(&found))
}

/// Returns a text unique to this lock.
fn token() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{:016x}-{count}", RandomState::new().hash_one(count))
}

/// A lock or takeover file, which names its owner. A dropped claim deletes the file, unless the
/// file has another owner by then.
#[derive(Debug)]
struct Claim {
    storage: Arc<dyn Storage>,
    path: String,
    content: Vec<u8>,
}

impl Claim {
    fn make(storage: &Arc<dyn Storage>, path: &str, own: &Owner, take_over: bool, depth: usize) -> Result<Self> {
        let content = own.to_string().into_bytes();
        let new = || Self { storage: Arc::clone(storage), path: path.to_owned(), content: content.clone() };
        if create(&**storage, path, &content)? {
            return Ok(new());
        }
        let found = read(&**storage, path)?;
        let busy = |found: Option<Vec<u8>>| Err(busy(&**storage, path, &found.unwrap_or_default()));
        let Some(found) = found else {
            // The path is a dangling link, or another process has just deleted the file.
            return if is_link(&**storage, path) { Err(not_a_lock(&**storage, path, DANGLING)) } else { busy(None) };
        };
        let owner = Owner::parse(&String::from_utf8_lossy(&found));
        // A takeover by a living process ends soon. `take_over` does not interrupt it.
        let is_certain = take_over && (path == MAINTENANCE_LOCK || !owner.as_ref().is_some_and(|it| it.is_alive(own)));
        if !is_certain && !owner.as_ref().is_some_and(|owner| owner.is_dead(own)) || depth == 0 {
            return busy(Some(found));
        }
        let guard = Self::make(storage, &takeover_path(&found), own, take_over, depth - 1)?;
        // Another process may have replaced or deleted the lock before this process created the
        // takeover file.
        let now = read(&**storage, path)?;
        if now.as_ref() != Some(&found) {
            return busy(now);
        }
        remove(&**storage, path)?;
        // Another process may have created the lock after the deletion.
        let is_own = create(&**storage, path, &content)?;
        drop(guard);
        if is_own { Ok(new()) } else { busy(read(&**storage, path)?) }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // A destructor cannot report an error. If the file remains, the next job finds a dead
        // owner, or needs `take_over`.
        if matches!(read(&*self.storage, &self.path), Ok(Some(found)) if found == self.content) {
            let _ = self.storage.remove_file(&self.path);
        }
    }
}

/// Returns the path of the takeover file for a lock with this content.
fn takeover_path(content: &[u8]) -> String {
    let digest: String = Sha256::digest(content).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("{TAKEOVER_PREFIX}{digest}{MAINTENANCE_SUFFIX}")
}

fn busy(storage: &dyn Storage, path: &str, found: &[u8]) -> MaintainError {
    let text = String::from_utf8_lossy(found);
    let lines: Vec<&str> =
        text.lines().filter(|line| !["token ", "machine "].iter().any(|what| line.starts_with(what))).collect();
    let who = if lines.is_empty() { "another process".to_owned() } else { lines.join(", ") };
    MaintainError::Busy { path: storage.describe(path), who }
}

/// Creates a file. Returns `false` if the file already exists.
fn create(storage: &dyn Storage, path: &str, content: &[u8]) -> Result<bool> {
    match storage.create_new(path, content) {
        Ok(()) => Ok(true),
        Err(StorageError::AlreadyExists { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn not_a_lock(storage: &dyn Storage, path: &str, what: &str) -> MaintainError {
    MaintainError::NotALock { path: storage.describe(path), what: what.to_owned() }
}

/// Returns the reason why an entry cannot be a lock, or `None` if the entry may be a lock.
pub fn is_none(entry: &Entry) -> Option<&'static str> {
    match entry.kind {
        EntryKind::Folder => Some(FOLDER),
        EntryKind::File if entry.size > LOCK_BYTES => Some(TOO_LONG),
        EntryKind::File => None,
    }
}

/// Returns the content of a lock, or `None` if the file does not exist.
fn read(storage: &dyn Storage, path: &str) -> Result<Option<Vec<u8>>> {
    match storage.read_up_to(path, LOCK_BYTES) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(StorageError::OverLimit { .. }) => Err(not_a_lock(storage, path, TOO_LONG)),
        Err(StorageError::NotAFile { .. }) => Err(not_a_lock(storage, path, FOLDER)),
        Err(error) => Err(error.into()),
    }
}

/// Deletes a file, if it exists.
fn remove(storage: &dyn Storage, path: &str) -> Result<()> {
    match storage.remove_file(path) {
        Err(error) if !error.is_not_found() => Err(error.into()),
        _ => Ok(()),
    }
}

/// The owner of a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Owner {
    process: u32,
    /// Scope of the process number: host name, boot id and PID namespace. Empty if unknown.
    place: String,
    /// A text unique to this lock. Empty if the file has no token.
    token: String,
    /// The machine id. Empty if unknown.
    machine: String,
}

impl Owner {
    fn this(token: String) -> Self {
        let read = |path: &str| std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
        let namespace = std::fs::read_link("/proc/self/ns/pid").ok().map(|link| link.display().to_string());
        let parts = [read("/proc/sys/kernel/hostname"), read("/proc/sys/kernel/random/boot_id"), namespace];
        let place = parts.into_iter().collect::<Option<Vec<_>>>().map(|parts| parts.join(" "));
        let is_id = |id: &String| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let machine = read("/etc/machine-id").filter(is_id).unwrap_or_default();
        Self { process: std::process::id(), place: place.unwrap_or_default(), token, machine }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let process = lines.next()?.strip_prefix("process ")?.parse().ok()?;
        let place = lines.next()?.strip_prefix("on ")?.to_owned();
        let mut rest =
            |what: &str| lines.next().and_then(|line| line.strip_prefix(what)).unwrap_or_default().to_owned();
        // Locks of earlier versions of this library lack the machine, or both the machine and the
        // token.
        let (token, machine) = (rest("token "), rest("machine "));
        Some(Self { process, place, token, machine })
    }

    /// Returns `true` if both owners have the same scope of process numbers.
    fn is_here(&self, own: &Self) -> bool {
        !self.place.is_empty() && self.place == own.place
    }

    fn has_process(&self) -> bool {
        std::path::Path::new(&format!("/proc/{}", self.process)).exists()
    }

    /// Returns the host name and the boot id, or `None` if they are unknown.
    fn host_and_boot(&self) -> Option<(&str, &str)> {
        let (rest, _namespace) = self.place.rsplit_once(' ')?;
        rest.rsplit_once(' ')
    }

    /// Returns `true` if the machine of this owner has certainly rebooted after the lock was taken.
    ///
    /// Compares host names too, because a cloned machine may have the same machine id.
    fn is_of_former_boot(&self, own: &Self) -> bool {
        let is_one_machine = !self.machine.is_empty() && self.machine == own.machine;
        let both = self.host_and_boot().zip(own.host_and_boot());
        is_one_machine && both.is_some_and(|((host, boot), (own_host, own_boot))| host == own_host && boot != own_boot)
    }

    /// Returns `true` if the process certainly no longer exists. `own` is the current process.
    fn is_dead(&self, own: &Self) -> bool {
        self.is_of_former_boot(own) || self.is_here(own) && !self.has_process()
    }

    /// Returns `true` if a process with this number certainly exists. `own` is the current process.
    fn is_alive(&self, own: &Self) -> bool {
        self.is_here(own) && self.has_process()
    }
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "process {}\non {}\ntoken {}", self.process, self.place, self.token)?;
        if self.machine.is_empty() { Ok(()) } else { writeln!(f, "machine {}", self.machine) }
    }
}

#[cfg(test)]
mod tests;
