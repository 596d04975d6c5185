//! Moving an array or a group.

use std::path::Path;
use std::sync::Arc;

use tdb_array::{Group, GroupOptions, Member, MemberKind, MemberPlace, Monitor, Names, TimeRange};
use tdb_storage::{LocalStorage, Storage};

use super::copying::{Copied, CopyTo, check};
use super::local::{common, holders, is_one_disk, named, place};
use super::problem::PlaceProblem;
use super::removing::Remove;
use super::rewrite::Places;
use super::walk::walk;
use crate::doctor::{ASIDE, change_members, kind_of};
use crate::lock::Lock;
use crate::settle::settle_all;
use crate::{Doctor, MaintainError, Manifest, Result};

/// Moves an array or a group with all that lies in its folder.
///
/// On one disk it has its new name at once. Else it is [copied](CopyTo), every byte of the copy is compared, and only then the source
/// is [removed](Remove). Members that a group has by whole paths in its own folder are made relative before, and those that lie elsewhere in
/// what is moved are named at their new place.
///
/// ```
/// use tdb_maintain::MoveTo;
/// use tdb_maintain::tdb_array::Group;
///
/// # let folder = tempfile::tempdir()?;
/// let (old, new) = (folder.path().join("old"), folder.path().join("new"));
/// Group::create(&old)?;
/// assert!(MoveTo::new().folder(&old, &new)?.copied.is_none()); // it was renamed
/// assert!(Group::open(&new).is_ok() && !old.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is moved before a place is given"]
pub struct MoveTo {
    copy: CopyTo,
    take_over: bool,
    by_copying: bool,
}

/// What was moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moved {
    /// What was copied, if it couldn't be renamed.
    pub copied: Option<Copied>,
    /// What members that were made relative are known by.
    pub made_relative: Vec<String>,
    /// What members are known by that lie elsewhere in what was moved, and have their new whole path now.
    pub repointed: Vec<String>,
    /// The groups that have it as a member at its old place.
    pub held_by: Vec<String>,
    /// Paths that were left in the old place.
    pub left: Vec<String>,
}

impl MoveTo {
    /// At once, if that can be.
    pub fn new() -> Self {
        Self::default()
    }

    /// Who hears how many of how many bytes were copied, and says whether to go on.
    pub fn observer(mut self, observer: impl Fn(u64, u64) -> bool + Send + Sync + 'static) -> Self {
        self.copy = self.copy.observer(observer);
        self
    }

    /// Goes on although somebody else seems to maintain the array: it is certain that nobody does.
    pub fn take_over(mut self, take_over: bool) -> Self {
        self.take_over = take_over;
        self.copy = self.copy.take_over(take_over);
        self
    }

    /// Copies, compares and removes, also where it could be renamed.
    pub fn by_copying(mut self, by_copying: bool) -> Self {
        self.by_copying = by_copying;
        self
    }

    /// Moves between folders of this machine.
    ///
    /// # Errors
    /// [`MaintainError::Place`]: it is neither an array nor a group, something is there already, it would lie in itself, the copy
    /// isn't what was copied. [`MaintainError::Busy`]: somebody maintains it. Whatever the storage can't do; then it is at its
    /// old place, or at its new one while the old one is being removed.
    pub fn folder(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<Moved> {
        let from = std::fs::canonicalize(from.as_ref())
            .map_err(|error| tdb_storage::StorageError::from_io(from.as_ref().display().to_string(), error))?;
        let ((old_parent, old), (new_parent, new)) = (place(&from)?, place(to.as_ref())?);
        let mut moved = Moved { held_by: holders(&old_parent, &old), ..Moved::default() };
        let source: Arc<dyn Storage> = Arc::new(LocalStorage::new(&from));
        let (parent, _) = named(&new_parent.join(&new))?;
        check(&source, &parent, &new)?;
        // Journals of old formats name files by where they lie.
        settle_all(&source, &walk(&*source)?.1, self.take_over)?;
        {
            let _lock = Lock::take(&source, self.take_over)?;
            make_relative(&from, &mut moved)?;
        }
        let both =
            common(&from, &new_parent.join(&new)).filter(|_| !self.by_copying && is_one_disk(&from, &new_parent));
        if let Some((storage, below, to)) = both {
            storage.rename(&below, &to)?;
            moved.repointed = settle(&*storage, &below, &to, [&from, &new_parent.join(&new)])?;
            return Ok(moved);
        }
        let copied = self.copy.run(&source, &parent, &new)?;
        self.compare(&source, &parent.sub(&new)?, &copied)?;
        let removed = Remove::new().recursive(true).take_over(self.take_over).folder(&from)?;
        moved.left = removed.left;
        moved.copied = Some(copied);
        Ok(moved)
    }

    /// Whether every byte has arrived.
    fn compare(&self, source: &Arc<dyn Storage>, copy: &Arc<dyn Storage>, copied: &Copied) -> Result<()> {
        let monitor = Monitor::new();
        let (before, after) = (Manifest::of(&**source, 1, &monitor)?, Manifest::of(&**copy, 1, &monitor)?);
        let is_left_out = |path: &String| {
            copied.left_out.iter().any(|left| path == left || path.starts_with(&format!("{left}/")))
                || path.split('/').any(|part| part == ASIDE || tdb_storage::is_temporary(part))
        };
        let is_other = |path: &String| !copied.rewritten.contains(path) && !is_left_out(path);
        match before.changes(&after).into_iter().find(|(path, _)| is_other(path)) {
            Some((path, _)) => Err(MaintainError::Place { path: copy.describe(&path), why: PlaceProblem::Unverified }),
            None => Ok(()),
        }
    }
}

/// Names at its new place what the groups in what was moved name by whole paths; gives what these members are known by. If
/// that can't be done, it goes back to its old place.
fn settle(storage: &dyn Storage, from: &str, to: &str, [old, new]: [&Path; 2]) -> Result<Vec<String>> {
    let Some((was, is)) = storage.uri(from).zip(storage.uri(to)) else { return Ok(Vec::new()) };
    repoint(new, &Places { from: was.clone(), to: is.clone() }).inspect_err(|_| {
        // The first error is the one to report.
        let _ = storage.rename(to, from).map(|()| repoint(old, &Places { from: is, to: was }));
    })
}

/// The groups in a folder, with all their members. One whose key isn't known can't be changed, and nobody else knows its
/// members.
fn groups(folder: &Path) -> Result<Vec<Group>> {
    let source: Arc<dyn Storage> = Arc::new(LocalStorage::new(folder));
    let (tree, _) = walk(&*source)?;
    let below = tree.iter().filter(|(_, size)| size.is_none()).map(|(path, _)| path.as_str());
    let mut groups = Vec::new();
    for path in std::iter::once("").chain(below) {
        if kind_of(&source.sub(path)?)? == MemberKind::Group {
            let place = if path.is_empty() { folder.to_owned() } else { folder.join(path) };
            groups.extend(GroupOptions::new().between(TimeRange::ALL).open(place).ok());
        }
    }
    Ok(groups)
}

/// Makes members of all groups relative that these have by whole paths in their own folders.
fn make_relative(folder: &Path, moved: &mut Moved) -> Result<()> {
    for group in groups(folder)? {
        let is_absolute = |member: &&Member| !member.relative && matches!(member.place, MemberPlace::Inside(_));
        let keys: Vec<String> =
            group.members().iter().filter(is_absolute).map(|member| member.key().to_owned()).collect();
        if keys.is_empty() {
            continue;
        }
        let found = Doctor::new().look_at_group(&group)?;
        let found: Vec<_> = found.into_iter().filter(|one| keys.contains(&one.path)).collect();
        change_members(&group, &Names::new(), found.iter().map(|one| &one.remedy))?;
        moved.made_relative.extend(keys);
    }
    Ok(())
}

/// Names members at their new place that groups have by whole paths outside of their own folders, but in what is moved. Gives
/// what they are known by.
fn repoint(folder: &Path, places: &Places) -> Result<Vec<String>> {
    let mut keys = Vec::new();
    for group in groups(folder)? {
        let absolute = group.members().iter().filter(|member| !member.relative);
        let mut change = group.change();
        let before = keys.len();
        for member in absolute {
            if let Some(uri) = places.moved(&member.uri) {
                change = change.remove(member.key()).add(uri, false, member.name.as_deref());
                keys.push(member.key().to_owned());
            }
        }
        if keys.len() > before {
            change.commit()?;
        }
    }
    Ok(keys)
}
