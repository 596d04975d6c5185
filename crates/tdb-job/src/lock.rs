//! One at a time: who maintains an array says so in a file that readers and writers don't look at.
//!
//! A lock that somebody dead has left is taken over. It can't be replaced in one operation, so that a second file is made
//! first, whose name comes from the content of that lock: only who has made it may remove a lock with that content. No two
//! locks have the same content, so that whoever is late finds another one, and leaves it.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};
use tdb_storage::{Entry, EntryKind, Storage, StorageError};
use tdb_types::names::{MAINTENANCE_LOCK, MAINTENANCE_SUFFIX, TAKEOVER_PREFIX};

use crate::error::{MaintainError, Result};
use crate::links::is_link;

/// No lock is longer.
const LOCK_BYTES: u64 = 4096;
/// So many who died while they took over are taken over in turn.
const DEPTH: usize = 8;

const FOLDER: &str = "a folder, or what else is no file,";
const TOO_LONG: &str = "a file that is longer than any lock";
const DANGLING: &str = "a symbolic link that leads nowhere";

/// While this lives, nobody else maintains the array or group.
#[derive(Debug)]
pub struct Lock {
    claim: Claim,
}

impl Lock {
    /// Takes the lock. One that a dead process on this machine has left is taken over, and every one if `take_over` says so.
    pub fn take(storage: &Arc<dyn Storage>, take_over: bool) -> Result<Self> {
        let own = Owner::this(token());
        let claim = Claim::make(storage, MAINTENANCE_LOCK, &own, take_over, DEPTH)?;
        // The locks that they are about are gone: whoever has made one of them leaves ours alone.
        for entry in storage.list("")? {
            let is_one = entry.name.starts_with(TAKEOVER_PREFIX) && entry.name.ends_with(MAINTENANCE_SUFFIX);
            if is_one && entry.kind == EntryKind::File {
                remove(&**storage, &entry.name)?;
            }
        }
        Ok(Self { claim })
    }

    /// The same lock of an array that lies in another place now.
    pub fn moved(mut self, storage: Arc<dyn Storage>) -> Self {
        self.claim.storage = storage;
        self
    }

    /// Whether it is still there. Somebody who was told that nobody maintains the array may have taken it over.
    pub fn check(&self) -> Result<()> {
        let Claim { storage, path, content } = &self.claim;
        match read(&**storage, path)? {
            Some(found) if found == *content => Ok(()),
            found => Err(busy(&**storage, path, &found.unwrap_or_default())),
        }
    }
}

/// Whether a lock is there whose owner is dead for certain.
pub fn is_left_behind(storage: &dyn Storage, path: &str) -> Result<bool> {
    let owner = read(storage, path)?.and_then(|found| Owner::parse(&String::from_utf8_lossy(&found)));
    Ok(owner.is_some_and(|owner| owner.is_dead(&Owner::this(String::new()))))
}

/// Whether somebody who may live has the lock.
pub fn is_held(storage: &dyn Storage) -> bool {
    owner(storage).is_some_and(|owner| !owner.is_dead(&Owner::this(String::new())))
}

/// Whether a living process of this machine has the lock.
pub fn is_held_here(storage: &dyn Storage) -> bool {
    owner(storage).is_some_and(|owner| owner.is_alive(&Owner::this(String::new())))
}

/// Whoever has the lock; none where that isn't known.
fn owner(storage: &dyn Storage) -> Option<Owner> {
    let found = read(storage, MAINTENANCE_LOCK).ok()??;
    Owner::parse(&String::from_utf8_lossy(&found))
}

/// What no other lock has in it.
fn token() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{:016x}-{count}", RandomState::new().hash_one(count))
}

/// A file that says whose something is. It goes with this, unless somebody else has it by then.
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
            // It is there, and can't be read; or it has gone just now.
            return if is_link(&**storage, path) { Err(not_a_lock(&**storage, path, DANGLING)) } else { busy(None) };
        };
        let owner = Owner::parse(&String::from_utf8_lossy(&found));
        // Who takes over does so now, if it lives: that can be waited for, whatever somebody says.
        let is_certain = take_over && (path == MAINTENANCE_LOCK || !owner.as_ref().is_some_and(|it| it.is_alive(own)));
        if !is_certain && !owner.as_ref().is_some_and(|owner| owner.is_dead(own)) || depth == 0 {
            return busy(Some(found));
        }
        let guard = Self::make(storage, &takeover_path(&found), own, take_over, depth - 1)?;
        // Whoever had the guard before has replaced it.
        let now = read(&**storage, path)?;
        if now.as_ref() != Some(&found) {
            return busy(now);
        }
        remove(&**storage, path)?;
        // One who has just come and found none may have been faster.
        let is_own = create(&**storage, path, &content)?;
        drop(guard);
        if is_own { Ok(new()) } else { busy(read(&**storage, path)?) }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // There is no caller to report it to. The next one finds that its owner is dead, or is told to take over.
        if matches!(read(&*self.storage, &self.path), Ok(Some(found)) if found == self.content) {
            let _ = self.storage.remove_file(&self.path);
        }
    }
}

/// The file that those make who want to take over a lock with this content.
fn takeover_path(content: &[u8]) -> String {
    let digest: String = Sha256::digest(content).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("{TAKEOVER_PREFIX}{digest}{MAINTENANCE_SUFFIX}")
}

fn busy(storage: &dyn Storage, path: &str, found: &[u8]) -> MaintainError {
    let text = String::from_utf8_lossy(found);
    let lines: Vec<&str> =
        text.lines().filter(|line| !["token ", "machine "].iter().any(|what| line.starts_with(what))).collect();
    let who = if lines.is_empty() { "somebody else".to_owned() } else { lines.join(", ") };
    MaintainError::Busy { path: storage.describe(path), who }
}

/// Makes a file, unless there is one.
fn create(storage: &dyn Storage, path: &str, content: &[u8]) -> Result<bool> {
    match storage.create_new(path, content) {
        Ok(()) => Ok(true),
        Err(StorageError::AlreadyExists { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Of what nobody can take over: it isn't a lock.
fn not_a_lock(storage: &dyn Storage, path: &str, what: &str) -> MaintainError {
    MaintainError::NotALock { path: storage.describe(path), what: what.to_owned() }
}

/// What has the name of a lock and can't be one; none if it may be one.
pub fn is_none(entry: &Entry) -> Option<&'static str> {
    match entry.kind {
        EntryKind::Folder => Some(FOLDER),
        EntryKind::File if entry.size > LOCK_BYTES => Some(TOO_LONG),
        EntryKind::File => None,
    }
}

/// The content of a file that may be gone.
fn read(storage: &dyn Storage, path: &str) -> Result<Option<Vec<u8>>> {
    match storage.read_up_to(path, LOCK_BYTES) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(StorageError::OverLimit { .. }) => Err(not_a_lock(storage, path, TOO_LONG)),
        Err(StorageError::NotAFile { .. }) => Err(not_a_lock(storage, path, FOLDER)),
        Err(error) => Err(error.into()),
    }
}

/// Removes a file that may be gone.
fn remove(storage: &dyn Storage, path: &str) -> Result<()> {
    match storage.remove_file(path) {
        Err(error) if !error.is_not_found() => Err(error.into()),
        _ => Ok(()),
    }
}

/// Who has the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Owner {
    process: u32,
    /// What process numbers count in: the machine, since when it runs, and its part; empty where it isn't known.
    place: String,
    /// What no other lock has; none in a file that isn't of this library.
    token: String,
    /// What the machine is known by for good; empty where it isn't known.
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
        // Locks of earlier versions end with the token, or before.
        let (token, machine) = (rest("token "), rest("machine "));
        Some(Self { process, place, token, machine })
    }

    /// Whether its process numbers are those of this one's.
    fn is_here(&self, own: &Self) -> bool {
        !self.place.is_empty() && self.place == own.place
    }

    fn has_process(&self) -> bool {
        std::path::Path::new(&format!("/proc/{}", self.process)).exists()
    }

    /// What the machine is called, and what is another one each time that it starts.
    fn host_and_boot(&self) -> Option<(&str, &str)> {
        let (rest, _namespace) = self.place.rsplit_once(' ')?;
        rest.rsplit_once(' ')
    }

    /// Whether it is certain that the machine has started anew since. Copies of a machine have its identity, but other names.
    fn is_of_former_boot(&self, own: &Self) -> bool {
        let is_one_machine = !self.machine.is_empty() && self.machine == own.machine;
        let both = self.host_and_boot().zip(own.host_and_boot());
        is_one_machine && both.is_some_and(|((host, boot), (own_host, own_boot))| host == own_host && boot != own_boot)
    }

    /// Whether it is certain that the process is gone.
    fn is_dead(&self, own: &Self) -> bool {
        self.is_of_former_boot(own) || self.is_here(own) && !self.has_process()
    }

    /// Whether it is certain that there is such a process.
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
