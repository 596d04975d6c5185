//! Removal of arrays and groups.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use tdb_array::{GroupOptions, MemberKind, MemberPlace, TimeRange};
use tdb_storage::{Entry, EntryKind, MANIFEST_NAME, Storage, check_path, is_temporary};
use tdb_types::TimestampedName;
use tdb_types::names::{
    COMMITS_FOLDER, FOOTERS_EXTENSION, FRAGMENT_META_FOLDER, FRAGMENTS_FOLDER, GROUP_FOLDER, GROUP_MARKER,
    LABELS_FOLDER, LEGACY_SCHEMA, LOCK_FILE, MAINTENANCE_LOCK, METADATA_FOLDER, SCHEMA_FOLDER,
};

use crate::held::Held;
use crate::local::{holders, named};
use tdb_job::PlaceProblem;
use tdb_job::kind_of;
use tdb_job::links::{link_on, unlisted, unlisted_at};
use tdb_job::{DEEPEST, list};
use tdb_job::{MaintainError, Result};
use tdb_verify::{QUARANTINE, first_unknown};

/// Folder that holds the schema folder or the group folder during a removal. Without the original
/// folder, readers find no array or group. The next run finds this folder and resumes the removal.
pub const REMOVED: &str = ".tdb-removed.tmp";

/// Empty folder inside of [`REMOVED`] that marks a group.
const WAS_GROUP: &str = "group";

/// A removal of an array or group. Deletes only files and folders of the format.
///
/// The first step hides the array or group from readers. Therefore, an interrupted removal never
/// looks like an array with fewer cells. The next run completes the removal.
///
/// ```
/// use tdb_relocate::Remove;
/// use tdb_array::Group;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("group");
/// Group::create(&path)?;
/// std::fs::write(path.join("notes.txt"), "mine")?;
/// let removed = Remove::new().plan_folder(&path)?.run()?;
/// assert_eq!(removed.left, ["notes.txt"]); // so that the folder stays, too
/// assert!(Group::open(&path).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "has no effect until a path is given"]
pub struct Remove {
    recursive: bool,
    take_over: bool,
    is_copied: bool,
    with_quarantine: bool,
}

/// Result or preview of a removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Removed {
    /// Paths and kinds of the arrays and groups, relative to the given path. The last entry, with
    /// an empty path, is the given array or group.
    pub objects: Vec<(String, MemberKind)>,
    /// Paths of symbolic links to members. The links are deleted, and the targets stay.
    pub links: Vec<String>,
    /// Paths that are not part of the format and stay.
    pub left: Vec<String>,
    /// Groups with a member at the given path.
    pub held_by: Vec<String>,
}

/// The plan of a removal, executed by [`run`](Self::run).
#[derive(Clone, Debug)]
#[must_use = "has no effect until `run`"]
pub struct RemovalPlan {
    job: Remove,
    parent: Arc<dyn Storage>,
    name: String,
    removed: Removed,
}

impl RemovalPlan {
    /// Returns the arrays and groups to be removed, and the paths that stay.
    #[must_use]
    pub fn removed(&self) -> &Removed {
        &self.removed
    }

    /// Removes the arrays and groups.
    ///
    /// # Errors
    /// - Errors of [`Remove::plan`].
    /// - [`MaintainError::Conflict`] if a member was added since the plan.
    /// - [`MaintainError::Busy`] if another job holds a lock.
    /// - Deleting or renaming a file fails.
    ///
    /// The next run resumes an interrupted removal.
    pub fn run(self) -> Result<Removed> {
        let removed = self.job.check(&self.parent, &self.name)?;
        if let Some((path, _)) = removed.objects.iter().find(|object| !self.removed.objects.contains(object)) {
            let path = self.parent.describe(&format!("{}/{path}", self.name));
            return Err(MaintainError::Conflict { path, what: "added after the removal was planned".to_owned() });
        }
        let removed = self.job.run_holding(&self.parent, &self.name, removed, &mut Held::default())?;
        Ok(Removed { held_by: self.removed.held_by, ..removed })
    }
}

impl Remove {
    /// Creates a removal that keeps the members of a group.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether to remove members inside of the group's folder. Members elsewhere stay.
    pub fn recursive(mut self, recursive: bool) -> Self {
        self.recursive = recursive;
        self
    }

    /// Sets whether to delete files that the [doctor](tdb_verify::Doctor) has quarantined. By
    /// default, the removal of an array with quarantined files fails
    /// ([`PlaceProblem::Quarantined`]), because these files may be the only copy.
    pub fn with_quarantine(mut self, with_quarantine: bool) -> Self {
        self.with_quarantine = with_quarantine;
        self
    }

    /// Includes unknown files, because all files have been copied.
    pub(super) fn copied(mut self) -> Self {
        self.is_copied = true;
        self
    }

    /// Sets whether to take over the locks of other processes. Only safe after these processes have
    /// ended.
    pub fn take_over(mut self, take_over: bool) -> Self {
        self.take_over = take_over;
        self
    }

    /// Plans the removal of the array or group in a local folder.
    ///
    /// # Errors
    /// Errors of [`plan`](Self::plan).
    pub fn plan_folder(&self, path: impl AsRef<Path>) -> Result<RemovalPlan> {
        let (place, name) = super::local::place(path.as_ref())?;
        let (parent, _) = named(path.as_ref())?;
        check_nameable(&place, &name)?;
        let mut plan = self.plan(&parent, &name)?;
        plan.removed.held_by = holders(&place, &name);
        Ok(plan)
    }

    /// Plans the removal of the array or group in the folder `name` of a storage.
    ///
    /// # Errors
    /// - [`MaintainError::Place`] if `name` is not a plain name, or the folder is neither an array
    ///   nor a group, is a symbolic link or is nested too deeply.
    /// - [`MaintainError::Place`] if a folder of the format is a symbolic link or contains unknown
    ///   files, or a listing omits a file.
    /// - [`MaintainError::Place`] if the doctor has [quarantined files](Self::with_quarantine).
    /// - Reading a group or listing a folder fails.
    pub fn plan(&self, parent: &Arc<dyn Storage>, name: &str) -> Result<RemovalPlan> {
        check_named(&**parent, name)?;
        let mut removed = self.check(parent, name)?;
        let (objects, links) = (&removed.objects, &removed.links);
        removed.left.retain(|left| !links.contains(left) && !objects.iter().any(|(path, _)| path == left));
        Ok(RemovalPlan { job: self.clone(), parent: Arc::clone(parent), name: name.to_owned(), removed })
    }

    /// Finds the arrays, groups and links to remove. Changes nothing.
    pub(super) fn check(&self, parent: &Arc<dyn Storage>, name: &str) -> Result<Removed> {
        let mut removed = Removed::default();
        check_no_link(&**parent, name)?;
        self.find(&parent.sub(name)?, "", 0, &mut removed)?;
        Ok(removed)
    }

    /// Removes the arrays, groups and links that a [check](Self::check) has found. `held` may
    /// already contain some of the locks.
    pub(super) fn run_holding(
        &self,
        parent: &Arc<dyn Storage>,
        name: &str,
        mut removed: Removed,
        held: &mut Held,
    ) -> Result<Removed> {
        let whole = parent.sub(name)?;
        // Takes all locks before the first deletion.
        let objects: BTreeSet<String> = removed.objects.iter().map(|(path, _)| path.clone()).collect();
        held.take(&whole, objects, self.take_over)?;
        removed.left.clear();
        for link in &removed.links {
            remove_link(&**parent, &format!("{name}/{link}"))?;
        }
        for (path, kind) in removed.objects.clone() {
            let storage = whole.sub(&path)?;
            let place = if path.is_empty() { name.to_owned() } else { format!("{name}/{path}") };
            // Another process may have created a link meanwhile.
            check_no_link(&**parent, &place)?;
            clear(&**parent, &place, kind)?;
            // Other processes may have added files meanwhile.
            let left = list(&*storage, "")?.into_iter().map(|entry| entry.name);
            let left: Vec<String> = left.filter(|name| name != REMOVED && name != MAINTENANCE_LOCK).collect();
            if left.is_empty() {
                gone(parent.remove_folder(&place))?;
            } else {
                gone(parent.remove_folder(&format!("{place}/{REMOVED}")))?;
            }
            held.release(&path);
            let at = |left: String| if path.is_empty() { left } else { format!("{path}/{left}") };
            removed.left.extend(left.into_iter().map(at));
        }
        // Drops paths that were removed with a containing folder.
        removed.left.retain(|left| whole.exists(left).unwrap_or(true));
        Ok(removed)
    }

    /// Finds an array or group with its members, members first.
    fn find(&self, whole: &Arc<dyn Storage>, path: &str, depth: usize, found: &mut Removed) -> Result<()> {
        let storage = whole.sub(path)?;
        let problem = |why| Err(MaintainError::Place { path: storage.describe(""), why });
        if depth > DEEPEST {
            return problem(PlaceProblem::TooDeep);
        }
        let kind = match kind_of(&storage)? {
            MemberKind::Invalid if storage.exists(REMOVED)? => {
                let was_group = storage.exists(&format!("{REMOVED}/{WAS_GROUP}"))?;
                if was_group { MemberKind::Group } else { MemberKind::Array }
            }
            MemberKind::Invalid => return problem(PlaceProblem::Neither),
            kind => kind,
        };
        if kind == MemberKind::Group && !storage.exists(REMOVED)? {
            let group = GroupOptions::new().between(TimeRange::ALL).open_on(storage.clone())?;
            let members: Vec<String> = group.members().iter().filter_map(|member| inside(&*storage, member)).collect();
            for member in members {
                let path = if path.is_empty() { member.clone() } else { format!("{path}/{member}") };
                self.find_member(whole, &path, depth, found)?;
            }
        }
        check_all_listed(&*storage, "", false)?;
        for entry in list(&*storage, "")? {
            let is_own = is_own(kind, &entry);
            if is_own && entry.kind == EntryKind::Folder {
                check_no_link(&*storage, &entry.name)?;
                check_all_listed(&*storage, &entry.name, true)?;
            }
            if !is_own {
                found.left.push(if path.is_empty() { entry.name } else { format!("{path}/{}", entry.name) });
            }
        }
        if !self.is_copied
            && let Some(path) = first_unknown(&*storage, kind)?
        {
            return Err(MaintainError::Place { path: storage.describe(&path), why: PlaceProblem::Foreign });
        }
        if !self.is_copied
            && !self.with_quarantine
            && let Some(path) = quarantined_file(&*storage, kind)?
        {
            return Err(MaintainError::Place { path: storage.describe(&path), why: PlaceProblem::Quarantined });
        }
        found.objects.push((path.to_owned(), kind));
        Ok(())
    }

    /// Finds a member if the removal is recursive. If the member's folder is a link, only the link
    /// is removed. A member in a linked folder stays.
    fn find_member(&self, whole: &Arc<dyn Storage>, path: &str, depth: usize, found: &mut Removed) -> Result<()> {
        let place = whole.sub(path)?;
        let is_there = kind_of(&place)? != MemberKind::Invalid || place.exists(REMOVED)?;
        if !self.recursive || !is_there || found.objects.iter().any(|(other, _)| other == path) {
            return Ok(());
        }
        match link_on(&**whole, [path]) {
            None => self.find(whole, path, depth + 1, found),
            Some(link) => {
                if link == path && !found.links.contains(&link) {
                    found.links.push(link);
                }
                Ok(())
            }
        }
    }
}

/// Checks for a plain name. The root of a storage has no name and cannot be removed.
fn check_named(parent: &dyn Storage, name: &str) -> Result<()> {
    if name.is_empty() || name.contains('/') || check_path(name).is_err() {
        return Err(MaintainError::Place { path: parent.describe(name), why: PlaceProblem::NoName });
    }
    Ok(())
}

/// Rejects symbolic links. The target may belong to someone else.
fn check_no_link(storage: &dyn Storage, path: &str) -> Result<()> {
    match link_on(storage, [path]) {
        Some(link) => Err(MaintainError::Place { path: storage.describe(&link), why: PlaceProblem::Link }),
        None => Ok(()),
    }
}

/// Rejects a folder if a listing omits an entry, because a deletion of the folder would include it.
fn check_all_listed(storage: &dyn Storage, folder: &str, is_deep: bool) -> Result<()> {
    foreign(unlisted(storage, folder, is_deep)?)
}

/// Rejects a folder with unlisted entries if the parent path is not UTF-8. The storage of such a
/// folder has no URI.
pub(super) fn check_nameable(parent: &Path, name: &str) -> Result<()> {
    if parent.to_str().is_some() {
        return Ok(());
    }
    foreign(unlisted_at(&parent.join(name), true)?)
}

fn foreign(path: Option<std::path::PathBuf>) -> Result<()> {
    match path {
        Some(path) => Err(MaintainError::Place { path: path.display().to_string(), why: PlaceProblem::Foreign }),
        None => Ok(()),
    }
}

/// Returns the path of a quarantine folder of an array or group, or of a dimension label's array.
/// Returns `None` if there is no quarantine folder.
fn quarantined_file(storage: &dyn Storage, kind: MemberKind) -> Result<Option<String>> {
    let mut places = vec![QUARANTINE.to_owned()];
    if kind == MemberKind::Array {
        let labels = list(storage, LABELS_FOLDER)?.into_iter();
        places.extend(labels.map(|label| format!("{LABELS_FOLDER}/{}/{QUARANTINE}", label.name)));
    }
    for place in places {
        if storage.exists(&place)? {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

/// Deletes a link, but not the target.
fn remove_link(parent: &dyn Storage, path: &str) -> Result<()> {
    gone(parent.remove_file(path))
}

/// Ignores missing paths. The path may be deleted meanwhile, and some object stores list empty
/// folders.
pub(super) fn gone(removed: tdb_storage::Result<()>) -> Result<()> {
    match removed {
        Err(error) if !error.is_not_found() => Err(error.into()),
        _ => Ok(()),
    }
}

/// Returns the path of a member relative to the group's folder, or `None` for a member elsewhere.
fn inside(storage: &dyn Storage, member: &tdb_array::Member) -> Option<String> {
    let below = match &member.place {
        MemberPlace::Inside(path) => path.clone(),
        _ if member.relative => return None,
        _ => {
            let here = storage.uri("")?;
            let plain = here.strip_prefix("file://").unwrap_or(&here);
            let rest = member.uri.strip_prefix(here.as_str()).or_else(|| member.uri.strip_prefix(plain))?;
            rest.strip_prefix('/')?.trim_end_matches('/').to_owned()
        }
    };
    (!below.is_empty() && check_path(&below).is_ok()).then_some(below)
}

/// Deletes files of the format from a folder, except the lock and the folder that marks the
/// removal. Works through the parent storage, which deletes no files behind links.
fn clear(parent: &dyn Storage, place: &str, kind: MemberKind) -> Result<()> {
    let at = |name: &str| format!("{place}/{name}");
    let removed = at(REMOVED);
    parent.create_folder(&if kind == MemberKind::Group {
        format!("{removed}/{WAS_GROUP}")
    } else {
        removed.clone()
    })?;
    // From here on, readers find neither an array nor a group.
    for file in [LEGACY_SCHEMA, GROUP_MARKER].map(at) {
        if parent.exists(&file)? {
            parent.remove_file(&file)?;
        }
    }
    for folder in [SCHEMA_FOLDER, GROUP_FOLDER] {
        if parent.exists(&at(folder))? {
            parent.rename(&at(folder), &format!("{removed}/{folder}"))?;
        }
    }
    for entry in list(parent, place)? {
        match entry.kind {
            _ if entry.name == REMOVED || entry.name == MAINTENANCE_LOCK || !is_own(kind, &entry) => {}
            EntryKind::File => gone(parent.remove_file(&at(&entry.name)))?,
            EntryKind::Folder => gone(parent.remove_folder(&at(&entry.name)))?,
        }
    }
    Ok(())
}

/// Returns `true` if the entry is part of the format, temporary, a manifest, or the quarantine
/// folder.
fn is_own(kind: MemberKind, entry: &Entry) -> bool {
    let name = entry.name.as_str();
    let is_file = entry.kind == EntryKind::File;
    if is_temporary(name) || name == QUARANTINE || is_file && name == MANIFEST_NAME {
        return true;
    }
    let of_both = if is_file { name == LOCK_FILE } else { name == METADATA_FOLDER };
    if kind == MemberKind::Group {
        return of_both || if is_file { name == GROUP_MARKER } else { name == GROUP_FOLDER };
    }
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let has_time = TimestampedName::is_one(name);
    of_both
        || match is_file {
            true => {
                let is_list = tdb_metadata::CommitKind::of(name).is_some() || extension == Some(FOOTERS_EXTENSION);
                name == LEGACY_SCHEMA || has_time && is_list
            }
            false => {
                let folders = [SCHEMA_FOLDER, FRAGMENTS_FOLDER, COMMITS_FOLDER, FRAGMENT_META_FOLDER, LABELS_FOLDER];
                folders.contains(&name) || has_time && extension.is_none()
            }
        }
}
