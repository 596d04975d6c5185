//! Copying an array or a group, byte by byte.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use tdb_array::{ArrayError, ErrorCategory, MemberKind};
use tdb_storage::{LocalStorage, Storage, StorageError, at_once, check_path, copy_file};

use crate::local::{check_not_in_array, named};
use crate::rewrite::{Kind, Places, Rewritten};
use crate::staged::{clear_unfinished, is_unfinished, staged};
use crate::walk::{Tree, is_aside, walk_with};
use tdb_job::PlaceProblem;
use tdb_job::kind_of;
use tdb_job::links::unlisted;
use tdb_job::settle_all;
use tdb_job::{MaintainError, Result};

/// How often it is looked whether others have written meanwhile, before it is given up.
const ROUNDS: usize = 20;
/// Files that name others are read as a whole; none that is larger was written by anybody.
pub(super) const LIST_BYTES: u64 = 256 << 20;

/// Who hears how many of how many bytes there are, and says whether to go on.
type Observer = Arc<dyn Fn(u64, u64) -> bool + Send + Sync>;

/// Copies an array or a group with all that lies in its folder, byte by byte: every fragment, every schema, all history.
/// Keys of encrypted arrays aren't needed.
///
/// The copy isn't there before it is complete and durable. Members that a group has by whole paths in its own folder become
/// relative, and files of old formats that name others by where they lie name the copy's. Temporary files and what the doctor
/// has set aside are left out. What others commit meanwhile is either in the copy as a whole or not at all. Nothing is written
/// to the source, unless a consolidation of fragments was interrupted there: it is finished or undone first.
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
#[must_use = "nothing is copied before a place is given"]
pub struct CopyTo {
    observer: Option<Observer>,
    take_over: bool,
    has_aside: bool,
}

/// What was copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Copied {
    /// How many files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The paths of files that name the copy's files instead of the source's.
    pub rewritten: Vec<String>,
    /// The paths of what was left out: temporary files, what was set aside, superfluous files that name the source's; and the
    /// first in each folder of what no listing shows, such as names that aren't UTF-8.
    pub left_out: Vec<String>,
    /// URIs of members that lie elsewhere, which the copy shares with the source.
    pub shared: Vec<String>,
    /// The paths of groups that can't be read, as without their key: what members they have by whole paths isn't known, and these
    /// are left as they are.
    pub unread: Vec<String>,
}

impl fmt::Debug for CopyTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CopyTo").field("take_over", &self.take_over).finish_non_exhaustive()
    }
}

impl CopyTo {
    /// All of it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Who hears how many of how many bytes there are, and says whether to go on.
    pub fn observer(mut self, observer: impl Fn(u64, u64) -> bool + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Goes on although somebody else seems to copy to the same place, or to join fragments of what is copied: it is certain
    /// that nobody does.
    pub fn take_over(mut self, take_over: bool) -> Self {
        self.take_over = take_over;
        self
    }

    /// What was set aside as well: the source is going to be removed.
    pub(super) fn with_aside(mut self) -> Self {
        self.has_aside = true;
        self
    }

    /// Copies between folders of this machine.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn folder(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<Copied> {
        check_not_in_array(to.as_ref(), Some(from.as_ref()))?;
        let (parent, name) = named(to.as_ref())?;
        self.run(&(Arc::new(LocalStorage::new(from.as_ref())) as _), &parent, &name)
    }

    /// Copies what lies at the root of a storage into the folder `name` of another, or of the same.
    ///
    /// # Errors
    /// [`MaintainError::Place`]: it is neither an array nor a group, something is there already, it would lie in itself.
    /// [`MaintainError::Busy`]: somebody else copies to the same place, or has just joined fragments, whose cells are there
    /// twice for a moment. [`MaintainError::Unsettled`]: that was interrupted, and can't be finished. [`MaintainError::Conflict`]:
    /// others write so much that there is no moment to copy, or remove it. Whatever the storages can't do. Then there is no copy.
    pub fn run(&self, from: &Arc<dyn Storage>, parent: &Arc<dyn Storage>, name: &str) -> Result<Copied> {
        check(from, parent, name)?;
        clear_unfinished(parent, name)?;
        let places = from.uri("").zip(parent.uri(name)).map(|(from, to)| Places { from, to });
        staged(parent, name, self.take_over, |to| self.fill(from, to, places.as_ref()))
    }

    /// Copies until nothing has changed meanwhile.
    fn fill(&self, from: &Arc<dyn Storage>, to: &Arc<dyn Storage>, places: Option<&Places>) -> Result<Copied> {
        let mut done = Tree::new();
        let mut copied = Copied::default();
        for _ in 0..ROUNDS {
            let (tree, left_out) = walk_with(&**from, self.has_aside)?;
            // What an interrupted consolidation has left would be in the copy for ever.
            if settle_all(from, &left_out, self.take_over)? {
                continue;
            }
            // What isn't there is an empty tree, too.
            if kind_of(from)? == MemberKind::Invalid {
                let what = "it went away while it was copied".to_owned();
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
            let gone: Vec<String> = done
                .iter()
                .filter(|(path, size)| tree.get(*path) != Some(*size))
                .map(|(path, _)| path.clone())
                .collect();
            for path in gone.iter().rev() {
                let size = done.remove(path);
                let removed = if size == Some(None) { to.remove_folder(path) } else { to.remove_file(path) };
                match removed {
                    Err(error) if !error.is_not_found() => return Err(error.into()),
                    _ => {}
                }
                copied.rewritten.retain(|other| other != path);
                copied.left_out.retain(|other| other != path);
            }
            self.add(from, to, places, &tree, &mut done, &mut copied)?;
        }
        let what = "it was written to again and again while it was copied".to_owned();
        Err(MaintainError::Conflict { path: from.describe(""), what })
    }

    /// Copies what isn't there yet. What has gone meanwhile isn't copied.
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
        // Where answers take long, some are waited for at once.
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
                    // The first one is the cause, unless it was told to end because of another.
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
            // One that has grown meanwhile is copied once more.
            done.insert(path.clone(), Some(bytes));
        }
        ended.map_or(Ok(()), Err)
    }
}

/// Files that are copied at once: each may hold some parts of what is on its way.
const MOST_AT_ONCE: usize = 8;

/// How far a copy is.
struct Passed<'a> {
    observer: Option<&'a Observer>,
    total: u64,
    so_far: AtomicU64,
    /// Whether one of the files couldn't be copied, so that the others needn't be.
    is_over: AtomicBool,
}

impl Passed<'_> {
    /// Counts bytes, and says whether to go on.
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

/// What a file has become.
enum How {
    Same,
    Rewritten,
    LeftOut,
}

/// Copies a file: its size, and how; nothing if it has gone meanwhile.
fn copy_one(
    (from, to): (&Arc<dyn Storage>, &Arc<dyn Storage>),
    places: Option<&Places>,
    path: &str,
    size: u64,
    passed: &Passed<'_>,
) -> Result<Option<(u64, How)>> {
    let rewritten = match places.filter(|_| !is_aside(path)).and_then(|places| Some((places, Kind::of(path)?))) {
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

/// What lies in the folders of a tree and can't be copied, since no listing shows it.
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

/// Whether this can be copied there at all.
pub fn check(from: &Arc<dyn Storage>, parent: &Arc<dyn Storage>, name: &str) -> Result<()> {
    let problem = |path: String, why: PlaceProblem| Err(MaintainError::Place { path, why });
    if name.is_empty() || name.contains('/') || check_path(name).is_err() {
        return problem(parent.describe(name), PlaceProblem::NoName);
    }
    if kind_of(from)? == MemberKind::Invalid {
        return problem(from.describe(""), PlaceProblem::Neither);
    }
    if let (Some(from), Some(to)) = (from.uri(""), parent.uri(""))
        && (to == from || to.starts_with(&format!("{from}/")))
    {
        return problem(parent.describe(name), PlaceProblem::InSource);
    }
    if parent.exists(name)? && !is_unfinished(parent, name)? {
        return problem(parent.describe(name), PlaceProblem::Occupied);
    }
    if parent.exists("")? && kind_of(parent)? == MemberKind::Array {
        return problem(parent.describe(name), PlaceProblem::InArray);
    }
    Ok(())
}

/// Whether it can't be read as long as it stays as it is, so that it says nothing of its members.
pub(super) fn is_closed(error: &ArrayError) -> bool {
    matches!(error.category(), ErrorCategory::Key | ErrorCategory::Corrupt | ErrorCategory::Unsupported)
}

/// Members of the groups among these that lie elsewhere, and the groups that can't be read.
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
