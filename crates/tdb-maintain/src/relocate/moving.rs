//! Moving an array or a group.

use std::path::Path;
use std::sync::Arc;

use tdb_array::{GroupOptions, MemberKind, MemberPlace, Monitor, Names, TimeRange};
use tdb_storage::{LocalStorage, Storage};

use super::copying::{Copied, CopyTo, check};
use super::local::{common, holders, is_one_disk, named, place};
use super::problem::PlaceProblem;
use super::removing::Remove;
use super::walk::walk;
use crate::doctor::{ASIDE, change_members, kind_of};
use crate::lock::Lock;
use crate::{Doctor, MaintainError, Manifest, Result};

/// Moves an array or a group with all that lies in its folder.
///
/// On one disk it has its new name at once. Else it is [copied](CopyTo), every byte of the copy is compared, and only then the source
/// is [removed](Remove). Members that a group has by whole paths in its own folder are made relative before.
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
        {
            let _lock = Lock::take(&source, self.take_over)?;
            make_relative(&from, &source, &mut moved)?;
        }
        let both =
            common(&from, &new_parent.join(&new)).filter(|_| !self.by_copying && is_one_disk(&from, &new_parent));
        if let Some((storage, from, to)) = both {
            storage.rename(&from, &to)?;
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

/// Makes members of all groups relative that these have by whole paths in their own folders.
fn make_relative(folder: &Path, source: &Arc<dyn Storage>, moved: &mut Moved) -> Result<()> {
    let (tree, _) = walk(&**source)?;
    let below = tree.iter().filter(|(_, size)| size.is_none()).map(|(path, _)| path.as_str());
    for path in std::iter::once("").chain(below) {
        if kind_of(&source.sub(path)?)? != MemberKind::Group {
            continue;
        }
        let place = if path.is_empty() { folder.to_owned() } else { folder.join(path) };
        // A group whose key isn't known can't be changed, and nobody else knows its members.
        let Ok(group) = GroupOptions::new().between(TimeRange::ALL).open(place) else { continue };
        let is_absolute =
            |member: &&tdb_array::Member| !member.relative && matches!(member.place, MemberPlace::Inside(_));
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
