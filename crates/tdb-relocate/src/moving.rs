//! Moving of arrays and groups.

use std::path::Path;
use std::sync::Arc;

use tdb_array::{Group, GroupOptions, Member, MemberKind, MemberPlace, Monitor, TimeRange, WriteIds};
use tdb_storage::{MANIFEST_NAME, Storage};
use tdb_types::names::{MAINTENANCE_LOCK, file_name};

use crate::copying::{Copied, CopyTo, LIST_BYTES, is_closed};
use crate::held::{Held, objects};
use crate::local::{check_not_in_array, common, holders, is_one_disk, named, place};
use crate::removing::{REMOVED, Remove, check_nameable};
use crate::rewrite::{Kind, Places, Rewritten};
use crate::staged::check;
use crate::walk::{is_quarantined, walk};
use tdb_job::PlaceProblem;
use tdb_job::journal::is_journal;
use tdb_job::kind_of;
use tdb_job::settle_all;
use tdb_job::{MaintainError, Result};
use tdb_verify::Doctor;
use tdb_verify::change_members;
use tdb_verify::{FileChange, Manifest};

/// File in the moved folder, with source and destination. The next run resumes the move.
const MOVING: &str = ".tdb-moving.tmp";

/// A move of an array or group with the whole folder.
///
/// On the same disk, the folder is renamed. Otherwise the folder is [copied](CopyTo) with
/// quarantined files, the copy is compared byte by byte, and the source is [removed](Remove).
/// Meanwhile, the job holds the locks of all arrays and groups in the folder. A rename skips the
/// locks of members in read-only folders.
///
/// Absolute members inside of the group's folder become relative. Absolute members elsewhere in the
/// moved folder get new URIs.
///
/// ```
/// use tdb_relocate::MoveTo;
/// use tdb_array::Group;
///
/// # let folder = tempfile::tempdir()?;
/// let (old, new) = (folder.path().join("old"), folder.path().join("new"));
/// Group::create(&old)?;
/// assert!(MoveTo::new().folder(&old, &new)?.copied.is_none()); // it was renamed
/// assert!(Group::open(&new).is_ok() && !old.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "has no effect until a path is given"]
pub struct MoveTo {
    copy: CopyTo,
    take_over: bool,
    by_copying: bool,
}

/// Result of a move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moved {
    /// Result of the copy. `None` if the folder was renamed, or copied by an interrupted run.
    pub copied: Option<Copied>,
    /// Keys of members that became relative.
    pub made_relative: Vec<String>,
    /// Keys of members outside of the group's folder that got a new absolute URI. Empty if the
    /// folder was copied.
    pub repointed: Vec<String>,
    /// Groups with a member at the old path.
    pub held_by: Vec<String>,
    /// Paths that remain in the old folder.
    pub left: Vec<String>,
    /// Paths of groups that cannot be read, for example encrypted groups. Their absolute members
    /// are unchanged.
    pub unread: Vec<String>,
}

impl MoveTo {
    /// Creates a move job that renames the folder if possible.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a progress callback with the bytes copied so far and the total. Returning `false`
    /// cancels the copy.
    pub fn observer(mut self, observer: impl Fn(u64, u64) -> bool + Send + Sync + 'static) -> Self {
        self.copy = self.copy.observer(observer);
        self
    }

    /// Sets whether to take over the locks of other processes. Only safe after these processes have
    /// ended.
    pub fn take_over(mut self, take_over: bool) -> Self {
        self.take_over = take_over;
        self.copy = self.copy.take_over(take_over);
        self
    }

    /// Sets whether to copy, compare and remove even if a rename is possible.
    pub fn by_copying(mut self, by_copying: bool) -> Self {
        self.by_copying = by_copying;
        self
    }

    /// Moves between local folders.
    ///
    /// # Errors
    /// - [`MaintainError::Place`] if the source is neither an array nor a group, or the destination
    ///   exists or is inside of the source or of an array. If the folder is copied, also if the
    ///   source cannot be removed afterwards, or the copy differs from the source.
    /// - [`MaintainError::Busy`] if another job works on the source, or on an array or group inside
    ///   of the source.
    /// - [`MaintainError::Unsettled`] if an interrupted consolidation can be neither completed nor
    ///   rolled back.
    /// - [`MaintainError::Conflict`] if another process changes the source during the move.
    /// - [`ArrayError::Cancelled`](tdb_array::ArrayError::Cancelled) if the observer returns
    ///   `false`.
    /// - The source does not exist, or reading or writing a file fails.
    ///
    /// After an error, the folder is at the old path, the new path, or both. The next run resumes
    /// the move, or starts again if the copy or the rename has failed.
    pub fn folder(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<Moved> {
        // The source may already be renamed by an interrupted run.
        let renamed = |_| place(from.as_ref()).map(|(parent, name)| parent.join(name));
        let from = std::fs::canonicalize(from.as_ref()).or_else(renamed)?;
        check_not_in_array(to.as_ref(), Some(&from))?;
        let ((old_parent, old), (new_parent, new)) = (place(&from)?, place(to.as_ref())?);
        let held_by = holders(&old_parent, &old);
        let target = new_parent.join(&new);
        let by_copying = self.by_copying || !is_one_disk(&old_parent, &new_parent);
        if by_copying && from.symlink_metadata().is_ok() {
            check_nameable(&old_parent, &old)?;
        }
        let moved = match common(&from, &target) {
            Some((disk, from, to)) => self.clone().by_copying(by_copying).run(&disk, &from, &to)?,
            None => {
                let ((from, old), (to, new)) = (named(&from)?, named(&target)?);
                self.go(&Ends { from, old, to, new, disk: None })?
            }
        };
        Ok(Moved { held_by, ..moved })
    }

    /// Moves from one path of a storage to another.
    ///
    /// # Errors
    /// As for [`folder`](Self::folder).
    pub fn run(&self, disk: &Arc<dyn Storage>, from: &str, to: &str) -> Result<Moved> {
        let end = |path: &str| -> Result<(Arc<dyn Storage>, String)> {
            let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
            Ok((disk.sub(parent)?, name.to_owned()))
        };
        let ((from_parent, old), (to_parent, new)) = (end(from)?, end(to)?);
        let disk = (!self.by_copying).then(|| (Arc::clone(disk), from.to_owned(), to.to_owned()));
        self.go(&Ends { from: from_parent, old, to: to_parent, new, disk })
    }

    /// Moves a folder between storages: copies, compares every byte, and removes. Both places are
    /// the storage of the parent folder, and the name of the folder.
    ///
    /// # Errors
    /// As for [`folder`](Self::folder).
    pub fn between(&self, from: (&Arc<dyn Storage>, &str), to: (&Arc<dyn Storage>, &str)) -> Result<Moved> {
        let (from, old, to, new) = (from.0.clone(), from.1.to_owned(), to.0.clone(), to.1.to_owned());
        self.go(&Ends { from, old, to, new, disk: None })
    }

    fn go(&self, ends: &Ends) -> Result<Moved> {
        if let Some(moved) = self.go_on(ends)? {
            return Ok(moved);
        }
        if !ends.from.exists(&ends.old)? {
            return Err(tdb_storage::StorageError::NotFound { path: ends.from.describe(&ends.old) }.into());
        }
        let source = ends.source()?;
        check(&source, &ends.to, &ends.new)?;
        if ends.disk.is_none() {
            // Before the copy, checks that the source can be removed.
            self.removal().check(&ends.from, &ends.old)?;
        }
        // Completes or rolls back interrupted consolidations before the move, because journals of
        // old formats contain absolute URIs.
        settle_all(&source, &walk(&*source)?.1, self.take_over)?;
        let mut held = self.hold(&source, ends.disk.is_some())?;
        let mut moved = Moved::default();
        make_relative(&source, &mut moved)?;
        match &ends.disk {
            Some(disk) => {
                let repointed = ends.rename(disk);
                if !ends.from.exists(&ends.old).unwrap_or(true) {
                    held.moved(&ends.target()?)?;
                }
                moved.repointed = repointed?;
            }
            None => {
                ends.note(&source)?;
                let copied = self.copy.clone().with_quarantine().run(&source, &ends.to, &ends.new);
                // Without a copy, the next run must not resume the move.
                let mut copied = copied.inspect_err(|_| forget(&source))?;
                // The lock and the move file belong to this job.
                copied.left_out.retain(|path| path != MOVING && file_name(path) != MAINTENANCE_LOCK);
                ends.compare(&copied.left_out)?;
                moved.left = self.remove(ends, &mut held)?;
                moved.copied = Some(copied);
            }
        }
        Ok(moved)
    }

    /// Takes the locks of all moved arrays and groups.
    fn hold(&self, source: &Arc<dyn Storage>, is_renamed: bool) -> Result<Held> {
        let mut held = Held::default();
        let objects = objects(source, &walk(&**source)?.0)?;
        match is_renamed {
            true => held.take_for_rename(source, objects, self.take_over)?,
            false => held.take(source, objects, self.take_over)?,
        }
        // A consolidation may have been interrupted before the locks were taken. Journals outside
        // of arrays have no meaning.
        for path in walk(&**source)?.1.iter().filter(|path| is_journal(file_name(path))) {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            if kind_of(&source.sub(folder)?)? == MemberKind::Array {
                let what = "a consolidation of fragments was interrupted in the meantime".to_owned();
                return Err(MaintainError::Conflict { path: source.describe(path), what });
            }
        }
        Ok(held)
    }

    /// Resumes an interrupted move to the same destination. Returns `None` if there is no such
    /// move.
    fn go_on(&self, ends: &Ends) -> Result<Option<Moved>> {
        let (source, target) = (ends.source()?, ends.target()?);
        if kind_of(&target)? == MemberKind::Invalid {
            return Ok(None);
        }
        let mut moved = Moved::default();
        if !ends.from.exists(&ends.old)? {
            if !ends.is_noted(&target)? {
                return Ok(None);
            }
            // The folder was renamed, and some members may still have old URIs.
            moved.repointed = repoint(&target, &ends.places()?)?;
            target.remove_file(MOVING)?;
            return Ok(Some(moved));
        }
        let is_going = kind_of(&source)? == MemberKind::Invalid && source.exists(REMOVED)?;
        if !is_going && !ends.is_noted(&source)? {
            return Ok(None);
        }
        // The folder was copied. All remaining files must be in the copy.
        let mut held = self.hold(&source, false)?;
        ends.compare(&[])?;
        moved.left = self.remove(ends, &mut held)?;
        Ok(Some(moved))
    }

    fn removal(&self) -> Remove {
        Remove::new().copied().recursive(true).take_over(self.take_over)
    }

    /// Removes the source.
    fn remove(&self, ends: &Ends, held: &mut Held) -> Result<Vec<String>> {
        let removal = self.removal();
        let found = removal.check(&ends.from, &ends.old)?;
        Ok(removal.run_holding(&ends.from, &ends.old, found, held)?.left)
    }
}

/// Source and destination of a move.
struct Ends {
    from: Arc<dyn Storage>,
    old: String,
    to: Arc<dyn Storage>,
    new: String,
    /// Common storage and both paths for a rename. `None` if the folder is copied.
    disk: Option<(Arc<dyn Storage>, String, String)>,
}

impl Ends {
    fn source(&self) -> Result<Arc<dyn Storage>> {
        Ok(self.from.sub(&self.old)?)
    }

    fn target(&self) -> Result<Arc<dyn Storage>> {
        Ok(self.to.sub(&self.new)?)
    }

    fn places(&self) -> Result<Places> {
        let uri = |parent: &Arc<dyn Storage>, name: &str| parent.uri(name).unwrap_or_else(|| parent.describe(name));
        Ok(Places { from: uri(&self.from, &self.old), to: uri(&self.to, &self.new) })
    }

    /// Returns the content of the move file.
    fn text(&self) -> Result<String> {
        let Places { from, to } = self.places()?;
        Ok(format!("tdb move 1\nfrom {from}\nto {to}\n"))
    }

    fn note(&self, source: &Arc<dyn Storage>) -> Result<()> {
        if source.exists(MOVING)? {
            source.remove_file(MOVING)?;
        }
        Ok(source.create_new(MOVING, self.text()?.as_bytes())?)
    }

    fn is_noted(&self, storage: &Arc<dyn Storage>) -> Result<bool> {
        match storage.read_up_to(MOVING, 1 << 20) {
            Ok(bytes) => Ok(bytes == self.text()?.as_bytes()),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Renames the folder and updates members. Returns the keys of updated members. Renames back on
    /// failure.
    fn rename(&self, (disk, from, to): &(Arc<dyn Storage>, String, String)) -> Result<Vec<String>> {
        let source = self.source()?;
        let has_groups = !groups(&source)?.0.is_empty();
        if has_groups {
            self.note(&source)?;
        }
        disk.rename(from, to).inspect_err(|_| forget(&source))?;
        if !has_groups {
            return Ok(Vec::new());
        }
        let (target, Places { from: was, to: is }) = (self.target()?, self.places()?);
        let repointed = repoint(&target, &Places { from: was.clone(), to: is.clone() }).inspect_err(|_| {
            // The first error is reported.
            let back = disk.rename(to, from).map_err(MaintainError::from);
            if back.and_then(|()| repoint(&source, &Places { from: is, to: was })).is_ok() {
                forget(&source);
            }
        })?;
        // The move is complete.
        target.remove_file(MOVING)?;
        Ok(repointed)
    }

    /// Checks that the copy contains every file of the source with the expected content. Ignores
    /// `left_out`, temporary files and manifests.
    fn compare(&self, left_out: &[String]) -> Result<()> {
        let (source, copy, places) = (self.source()?, self.target()?, self.places()?);
        let monitor = Monitor::new();
        let manifest = |storage: &Arc<dyn Storage>| {
            let profile = storage.profile();
            Manifest::of(&**storage, if profile.is_remote() { profile.in_flight } else { 1 }, &monitor)
        };
        let (before, after) = (manifest(&source)?, manifest(&copy)?);
        let is_left_out = |path: &String| {
            left_out.iter().any(|left| path == left || path.starts_with(&format!("{left}/")))
                || !is_quarantined(path)
                    && (path.split('/').any(tdb_storage::is_temporary) || file_name(path) == MANIFEST_NAME)
        };
        for (path, change) in before.changes(&after) {
            // A new file in the copy is valid: an interrupted removal may have deleted the file at
            // the source.
            if is_left_out(&path) || change == FileChange::New {
                continue;
            }
            let expected = match Kind::of(&path).filter(|_| !is_quarantined(&path)) {
                Some(kind) => places.rewrite(&path, kind, &source.read_up_to(&path, LIST_BYTES)?),
                None => Rewritten::Same,
            };
            let is_as_expected = match expected {
                Rewritten::Same => false,
                Rewritten::LeftOut => change == FileChange::Missing,
                Rewritten::Bytes(bytes) => change != FileChange::Missing && copy.read(&path)? == bytes,
            };
            if !is_as_expected {
                return Err(MaintainError::Place { path: copy.describe(&path), why: PlaceProblem::Unverified });
            }
        }
        Ok(())
    }
}

/// Deletes the move file. Ignores errors, because another error is being reported.
fn forget(storage: &Arc<dyn Storage>) {
    let _ = storage.remove_file(MOVING);
}

/// Returns the groups in a folder with all members, and the paths of unreadable groups. An
/// encrypted group can be neither read nor changed without the key.
fn groups(source: &Arc<dyn Storage>) -> Result<(Vec<Group>, Vec<String>)> {
    let (tree, _) = walk(&**source)?;
    let below = tree.iter().filter(|(_, size)| size.is_none()).map(|(path, _)| path.as_str());
    let options = GroupOptions::new().between(TimeRange::ALL);
    let (mut groups, mut unread) = (Vec::new(), Vec::new());
    for path in std::iter::once("").chain(below) {
        let storage = source.sub(path)?;
        if kind_of(&storage)? == MemberKind::Group {
            let uri = storage.uri("");
            let folder = uri.as_deref().and_then(|uri| uri.strip_prefix("file://"));
            let opened = match folder {
                Some(folder) => options.open_on_folder(storage, folder),
                None => options.open_on(storage),
            };
            match opened {
                Ok(group) => groups.push(group),
                Err(error) if is_closed(&error) => unread.push(path.to_owned()),
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok((groups, unread))
}

/// Makes absolute members relative if they are inside of the group's folder.
fn make_relative(source: &Arc<dyn Storage>, moved: &mut Moved) -> Result<()> {
    let (groups, unread) = groups(source)?;
    moved.unread = unread;
    for group in groups {
        let is_absolute = |member: &&Member| !member.relative && matches!(member.place, MemberPlace::Inside(_));
        let keys: Vec<String> =
            group.members().iter().filter(is_absolute).map(|member| member.key().to_owned()).collect();
        if keys.is_empty() {
            continue;
        }
        let plan = Doctor::new().plan(&group)?;
        let found = plan.found().iter().filter(|one| keys.contains(&one.path));
        change_members(&group, &WriteIds::new(), found.map(|one| &one.remedy))?;
        moved.made_relative.extend(keys);
    }
    Ok(())
}

/// Gives new URIs to absolute members inside of the moved folder. Returns the keys of these
/// members.
fn repoint(folder: &Arc<dyn Storage>, places: &Places) -> Result<Vec<String>> {
    let mut keys = Vec::new();
    for group in groups(folder)?.0 {
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
