//! Copying of arrays and groups, byte by byte.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use tdb_array::{ArrayError, ErrorCategory, MemberKind};
use tdb_storage::{LocalStorage, Storage, StorageError, at_once, copy_file};

use crate::local::{check_not_in_array, named};
use crate::removing::gone;
use crate::rewrite::{Kind, Places, Rewritten};
use crate::staged::staged;
use crate::walk::{Tree, is_quarantined, walk_with};
use tdb_job::kind_of;
use tdb_job::links::unlisted;
use tdb_job::settle_all;
use tdb_job::{MaintainError, Result};

/// Maximum number of attempts during concurrent writes.
const ROUNDS: usize = 20;
/// Maximum size of a file with URIs, which is read into memory.
pub(super) const LIST_BYTES: u64 = 256 << 20;

/// A progress callback with the number of bytes copied so far and the total. Returning `false`
/// cancels the copy.
type Observer = Arc<dyn Fn(u64, u64) -> bool + Send + Sync>;

/// A byte-by-byte copy of the whole folder of an array or group, with all fragments, schemas and
/// history. A copy of an encrypted array needs no key.
///
/// The copy appears at the destination only when it is complete and durable. Some files contain
/// absolute URIs below the source. In the copy, members inside of the group's folder become
/// relative, and files of old formats list the URIs of the copy. Manifests, temporary and
/// quarantined files are left out. A concurrent commit is copied atomically.
///
/// The source stays unchanged, except that an interrupted consolidation of fragments is first
/// completed or rolled back.
///
/// ```
/// use tdb_relocate::CopyTo;
/// use tdb_array::{Group, MetadataValue};
///
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("group");
/// Group::create(&path)?;
/// Group::open(&path)?.write_metadata().put("a", MetadataValue::text("b")?).commit()?;
/// let copied = CopyTo::new().folder(&path, folder.path().join("copy"))?;
/// assert!(copied.files > 0);
/// assert_eq!(Group::open(folder.path().join("copy"))?.metadata()?.len(), 1);
/// assert!(CopyTo::new().folder(&path, folder.path().join("copy")).is_err()); // nothing is overwritten
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
#[must_use = "has no effect until a path is given"]
pub struct CopyTo {
    observer: Option<Observer>,
    take_over: bool,
    with_quarantine: bool,
}

/// Result of a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Copied {
    /// Number of files.
    pub files: u64,
    /// Total size of the files in bytes.
    pub bytes: u64,
    /// Paths of files with rewritten URIs.
    pub rewritten: Vec<String>,
    /// Paths left out of the copy: manifests, temporary files, quarantined files, and consolidated footers
    /// with URIs of the source that cannot be rewritten. Also the first entry of each folder that a
    /// listing omits, for example a file whose name is not UTF-8.
    pub left_out: Vec<String>,
    /// URIs of members outside of the source, shared by source and copy.
    pub shared: Vec<String>,
    /// Paths of groups that cannot be read, for example encrypted groups. Their absolute members
    /// keep the URIs of the source.
    pub unread: Vec<String>,
}

impl fmt::Debug for CopyTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CopyTo").field("take_over", &self.take_over).finish_non_exhaustive()
    }
}

impl CopyTo {
    /// Creates a copy job with default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a progress callback with the number of bytes copied so far and the total. Returning
    /// `false` cancels the copy.
    pub fn observer(mut self, observer: impl Fn(u64, u64) -> bool + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Sets whether to take over the locks of other processes at the source and the destination.
    /// Only safe after these processes have ended.
    pub fn take_over(mut self, take_over: bool) -> Self {
        self.take_over = take_over;
        self
    }

    /// Includes quarantined files, because the source will be removed.
    pub(super) fn with_quarantine(mut self) -> Self {
        self.with_quarantine = true;
        self
    }

    /// Copies between local folders.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub fn folder(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<Copied> {
        check_not_in_array(to.as_ref(), Some(from.as_ref()))?;
        let (parent, name) = named(to.as_ref())?;
        self.run(&(Arc::new(LocalStorage::new(from.as_ref())) as _), &parent, &name)
    }

    /// Copies the array or group at the root of a storage into the folder `name` of a storage.
    ///
    /// # Errors
    /// - [`MaintainError::Place`] if the source is neither an array nor a group or is nested too
    ///   deeply. Also if the destination exists, has an invalid name, or is inside of the source or
    ///   of an array.
    /// - [`MaintainError::Busy`] if another job copies to the same destination or consolidates the
    ///   source.
    /// - [`MaintainError::Unsettled`] if an interrupted consolidation can be neither completed nor
    ///   rolled back.
    /// - [`MaintainError::Conflict`] if another process deletes the source, or repeatedly writes to
    ///   it, during the copy.
    /// - [`ArrayError::Cancelled`] if the observer returns `false`.
    /// - Reading or writing a file fails.
    ///
    /// After an error, no incomplete copy is visible at the destination. The next run deletes
    /// leftovers.
    pub fn run(&self, from: &Arc<dyn Storage>, parent: &Arc<dyn Storage>, name: &str) -> Result<Copied> {
        let places = from.uri("").zip(parent.uri(name)).map(|(from, to)| Places { from, to });
        staged(from, parent, name, self.take_over, |to| self.fill(from, to, places.as_ref()))
    }

    /// Copies missing and changed files until a listing of the source equals the copy.
    fn fill(&self, from: &Arc<dyn Storage>, to: &Arc<dyn Storage>, places: Option<&Places>) -> Result<Copied> {
        let mut done = Tree::new();
        let mut copied = Copied::default();
        for _ in 0..ROUNDS {
            let (tree, left_out) = walk_with(&**from, self.with_quarantine)?;
            // A copy would keep the leftovers of an interrupted consolidation permanently.
            if settle_all(from, &left_out, self.take_over)? {
                continue;
            }
            // Without this check, a deleted source would look like an empty folder.
            if kind_of(from)? == MemberKind::Invalid {
                let what = "the source was deleted while it was copied".to_owned();
                return Err(MaintainError::Conflict { path: from.describe(""), what });
            }
            if tree == done {
                copied.left_out.extend(strangers(&**from, &tree)?);
                copied.files = done.values().flatten().count() as u64;
                copied.bytes = done.values().flatten().sum();
                copied.left_out.extend(left_out);
                (copied.shared, copied.unread) = shared(from, &tree)?;
                for folder in std::iter::once("").chain(folders(&done)) {
                    to.sync_folder(folder)?;
                }
                return Ok(copied);
            }
            let outdated: Vec<String> = done
                .iter()
                .filter(|(path, size)| tree.get(*path) != Some(*size))
                .map(|(path, _)| path.clone())
                .collect();
            for path in outdated.iter().rev() {
                let size = done.remove(path);
                gone(if size == Some(None) { to.remove_folder(path) } else { to.remove_file(path) })?;
                copied.rewritten.retain(|other| other != path);
                copied.left_out.retain(|other| other != path);
            }
            self.add(from, to, places, &tree, &mut done, &mut copied)?;
        }
        let what = "the source was repeatedly written to while it was copied".to_owned();
        Err(MaintainError::Conflict { path: from.describe(""), what })
    }

    /// Copies missing files. Skips files deleted meanwhile.
    fn add(
        &self,
        from: &Arc<dyn Storage>,
        to: &Arc<dyn Storage>,
        places: Option<&Places>,
        tree: &Tree,
        done: &mut Tree,
        copied: &mut Copied,
    ) -> Result<()> {
        let missing = tree.iter().filter(|(path, _)| !done.contains_key(*path));
        let (folders, files): (Vec<_>, Vec<_>) = missing.partition(|(_, size)| size.is_none());
        let so_far = done.values().flatten().sum();
        for (path, _) in folders {
            to.create_folder(path)?;
            done.insert(path.clone(), None);
        }
        let passed = Passed {
            observer: self.observer.as_ref(),
            total: tree.values().flatten().sum(),
            so_far: AtomicU64::new(so_far),
            is_over: AtomicBool::new(false),
        };
        // Copies several files at a time if a storage is remote, because of the latency.
        let in_flight =
            [from, to].map(|side| side.profile().in_flight).into_iter().max().unwrap_or(1).min(MOST_AT_ONCE);
        let in_flight = if from.profile().is_remote() || to.profile().is_remote() { in_flight } else { 1 };
        let copies = at_once(in_flight, &files, |(path, size)| {
            if passed.is_over.load(Relaxed) {
                return Err(MaintainError::Array(ArrayError::Cancelled));
            }
            let copy = copy_one((from, to), places, path, size.unwrap_or_default(), &passed);
            passed.end_after(&copy);
            copy
        });
        let mut ended = None;
        for ((path, _), copy) in files.into_iter().zip(copies) {
            let (bytes, how) = match copy {
                Ok(Some(copy)) => copy,
                Ok(None) => continue,
                Err(error) => {
                    // Reports the first error, except for cancellations caused by another error.
                    if matches!(ended, None | Some(MaintainError::Array(ArrayError::Cancelled))) {
                        ended = Some(error);
                    }
                    continue;
                }
            };
            match how {
                How::Same => {}
                How::Rewritten => copied.rewritten.push(path.clone()),
                How::LeftOut => copied.left_out.push(path.clone()),
            }
            // Records the copied size, so that the next attempt copies a file again that grew
            // meanwhile.
            done.insert(path.clone(), Some(bytes));
        }
        ended.map_or(Ok(()), Err)
    }
}

/// Maximum number of files copied at a time. The copy of each file may hold several parts in
/// memory.
const MOST_AT_ONCE: usize = 8;

/// Progress of a copy.
struct Passed<'a> {
    observer: Option<&'a Observer>,
    total: u64,
    so_far: AtomicU64,
    /// `true` after a failed file. The copies of the remaining files then stop.
    is_over: AtomicBool,
}

impl Passed<'_> {
    /// Adds bytes, and returns an error if the copy is canceled.
    fn add(&self, bytes: u64) -> Result<()> {
        let so_far = self.so_far.fetch_add(bytes, Relaxed).saturating_add(bytes);
        let goes_on = !self.is_over.load(Relaxed) && self.observer.is_none_or(|observer| observer(so_far, self.total));
        if goes_on { Ok(()) } else { Err(MaintainError::Array(ArrayError::Cancelled)) }
    }

    fn end_after<T>(&self, copy: &Result<T>) {
        if copy.is_err() {
            self.is_over.store(true, Relaxed);
        }
    }
}

/// Treatment of a file.
enum How {
    Same,
    Rewritten,
    LeftOut,
}

/// Copies a file. Returns the size and the treatment, or `None` for a file deleted meanwhile.
fn copy_one(
    (from, to): (&Arc<dyn Storage>, &Arc<dyn Storage>),
    places: Option<&Places>,
    path: &str,
    size: u64,
    passed: &Passed<'_>,
) -> Result<Option<(u64, How)>> {
    let rewritten = match places.filter(|_| !is_quarantined(path)).and_then(|places| Some((places, Kind::of(path)?))) {
        Some((places, kind)) => match from.read_up_to(path, LIST_BYTES) {
            Ok(bytes) => places.rewrite(path, kind, &bytes),
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error.into()),
        },
        None => Rewritten::Same,
    };
    Ok(Some(match rewritten {
        Rewritten::Same => match copy_file(&**from, path, &**to, path, &mut |bytes| passed.add(bytes)) {
            Ok(bytes) => (bytes, How::Same),
            Err(MaintainError::Storage(StorageError::NotFound { .. })) if !from.exists(path)? => return Ok(None),
            Err(error) => return Err(error),
        },
        Rewritten::Bytes(bytes) => {
            let mut file = to.create_file(path)?;
            file.append(&bytes)?;
            file.finish()?;
            passed.add(size)?;
            (size, How::Rewritten)
        }
        Rewritten::LeftOut => (size, How::LeftOut),
    }))
}

/// Returns the first entry of each folder in a tree that a listing omits.
fn strangers(from: &dyn Storage, tree: &Tree) -> Result<Vec<String>> {
    let mut strangers = Vec::new();
    for folder in std::iter::once("").chain(folders(tree)) {
        if let Some(name) = unlisted(from, folder, false)?.as_deref().and_then(Path::file_name) {
            let name = name.to_string_lossy();
            strangers.push(if folder.is_empty() { name.into_owned() } else { format!("{folder}/{name}") });
        }
    }
    Ok(strangers)
}

fn folders(tree: &Tree) -> impl Iterator<Item = &str> {
    tree.iter().filter(|(_, size)| size.is_none()).map(|(path, _)| path.as_str())
}

/// Returns `true` if the error means that a group cannot be read and its members are unknown.
pub(super) fn is_closed(error: &ArrayError) -> bool {
    matches!(error.category(), ErrorCategory::Key | ErrorCategory::Corrupt | ErrorCategory::Unsupported)
}

/// Returns the URIs of members outside of the source, and the paths of unreadable groups.
fn shared(from: &Arc<dyn Storage>, tree: &Tree) -> Result<(Vec<String>, Vec<String>)> {
    let here = from.uri("");
    let (mut shared, mut unread) = (Vec::new(), Vec::new());
    for folder in std::iter::once("").chain(folders(tree)) {
        let storage = from.sub(folder)?;
        if kind_of(&storage)? != MemberKind::Group {
            continue;
        }
        let options = tdb_array::GroupOptions::new().between(tdb_array::TimeRange::ALL);
        let group = match options.open_on(storage) {
            Ok(group) => group,
            Err(error) if is_closed(&error) => {
                unread.push(folder.to_owned());
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let is_inside = |uri: &str| {
            here.as_ref().is_some_and(|here| {
                let plain = here.strip_prefix("file://").unwrap_or(here);
                uri.strip_prefix(here.as_str())
                    .or_else(|| uri.strip_prefix(plain))
                    .is_some_and(|rest| rest.starts_with('/'))
            })
        };
        let members = group.members().iter().filter(|member| !member.place.is_inside() && !is_inside(&member.uri));
        shared.extend(members.map(|member| member.uri.clone()));
    }
    Ok((shared, unread))
}
