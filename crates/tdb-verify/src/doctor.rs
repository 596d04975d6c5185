//! Repair of leftovers from killed writers, interrupted vacuums and moved folders.

mod array;
mod commits;
mod diagnosis;
mod labels;
mod lists;
mod locks;
mod members;
mod outdated;
mod quarantine;
mod unknown;

use std::sync::Arc;

use tdb_array::{Group, WriteIds};
use tdb_storage::Storage;
use tdb_types::names::{COMMITS_FOLDER, GROUP_FOLDER, MAINTENANCE_LOCK, is_of_maintenance};

use crate::verify::Severity;
use diagnosis::Remedy as R;
use labels::Labels;
use quarantine::{Deed, Quarantine};
use tdb_job::Result;
use tdb_job::journal;
use tdb_job::lock::Lock;
use tdb_job::{Target, list};
use tdb_job::{is_gone, until_settled};
use tdb_maintain::ignoring_commits;

pub use diagnosis::{Diagnosis, Remedy};
pub use quarantine::{QUARANTINE, Restored};
pub use unknown::first_unknown;

/// A search for leftovers of interrupted writes, vacuums and moves in an array or group, and their
/// repair.
///
/// A repair deletes only locks, journals and results of interrupted consolidations. It moves
/// superfluous files to the folder `.tdb-quarantine` of the array or group, which readers ignore.
/// [`undo`](Self::undo) restores these files. Unknown files stay untouched.
///
/// ```
/// use tdb_verify::Doctor;
/// use tdb_array::Group;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("group");
/// Group::create(&path)?;
/// std::fs::write(path.join(".tdb-4711-0.tmp"), "half of a file")?;
/// let group = Group::open(&path)?;
/// let plan = Doctor::new().plan(&group)?;
/// assert_eq!(plan.found()[0].what, "a file of an interrupted write");
/// plan.run()?;
/// assert!(Doctor::new().plan(&group)?.found().is_empty());
/// assert_eq!(Doctor::new().undo(&group)?.restored, [".tdb-4711-0.tmp"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "has no effect until a plan runs"]
pub struct Doctor {
    names: WriteIds,
    only: Vec<String>,
    take_over: bool,
}

/// The problems of an array or group. [`run`](Self::run) repairs them.
#[derive(Clone, Debug)]
#[must_use = "has no effect until `run`"]
pub struct RepairPlan {
    doctor: Doctor,
    target: Target,
    found: Vec<Diagnosis>,
}

/// Result of a repair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// The repaired problems.
    pub done: Vec<Diagnosis>,
    /// Folder of the quarantined files. `None` if no file was quarantined.
    pub quarantine: Option<String>,
}

impl Doctor {
    /// Creates a doctor that carries out all repairs that neither affect readers nor take over the
    /// lock of a process that may be running.
    pub fn new() -> Self {
        Self::default()
    }

    /// Repairs only the problems with the given paths, even if a repair affects readers.
    pub fn only<S: Into<String>>(mut self, paths: impl IntoIterator<Item = S>) -> Self {
        self.only.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Sets the source of unique parts for new file names.
    pub fn ids(mut self, ids: WriteIds) -> Self {
        self.names = ids;
        self
    }

    /// If `take_over`, takes over the lock of another process. This is safe only after that process
    /// has ended.
    pub fn take_over(mut self, take_over: bool) -> Self {
        self.take_over = take_over;
        self
    }

    /// Finds the problems of an array and of the arrays of its dimension labels, or the problems of
    /// a group. Does not examine the content of members.
    ///
    /// Before its commit, a write in progress looks like an interrupted write. Run the doctor while
    /// no writer is active, or [leave out](RepairPlan::retain) young files.
    ///
    /// # Errors
    /// A folder cannot be listed, or a commit or a schema cannot be read.
    pub fn plan(&self, target: impl Into<Target>) -> Result<RepairPlan> {
        let target = target.into();
        let mut found = look(&target)?;
        let labels = Labels::of(&target)?;
        found.extend(labels.found);
        for (folder, own) in labels.arrays {
            found.extend(look(&own)?.into_iter().map(|one| one.in_folder(&folder)));
        }
        Ok(RepairPlan { doctor: self.clone(), target, found })
    }

    /// Restores quarantined files, and deletes files that a repair has written. Does not restore
    /// commits of missing fragments, because readers would fail.
    ///
    /// # Errors
    /// [`MaintainError::Busy`](tdb_job::MaintainError::Busy) if another job holds the lock. Also
    /// fails if the list of former paths is invalid, or if the storage fails.
    pub fn undo(&self, target: impl Into<Target>) -> Result<Restored> {
        let target = target.into();
        let mut undone = self.undo_in(target.storage())?;
        for (folder, label) in Labels::of(&target)?.arrays {
            let of_label = self.undo_in(label.storage())?;
            let above =
                |paths: Vec<String>| paths.into_iter().map(|path| format!("{folder}/{path}")).collect::<Vec<_>>();
            undone.restored.extend(above(of_label.restored));
            undone.removed.extend(above(of_label.removed));
            undone.occupied.extend(above(of_label.occupied));
            undone.outdated.extend(above(of_label.outdated));
        }
        Ok(undone)
    }

    fn undo_in(&self, storage: &Arc<dyn Storage>) -> Result<Restored> {
        if !storage.exists(QUARANTINE)? {
            return Ok(Restored::default());
        }
        let _lock = Lock::take(storage, self.take_over)?;
        quarantine::undo(&**storage)
    }

    fn sees_to(&self, diagnosis: &Diagnosis) -> bool {
        let is_asked_for = self.only.contains(&diagnosis.path);
        diagnosis.remedy != R::None
            && (is_asked_for
                || self.only.is_empty() && !diagnosis.remedy.changes_what_is_read() && diagnosis.remedy != R::TakeOver)
    }

    fn run(&self, target: &Target, found: &[Diagnosis]) -> Result<Repaired> {
        let wanted: Vec<&Diagnosis> = found.iter().filter(|one| self.sees_to(one)).collect();
        let mut mended = Repaired::default();
        if wanted.is_empty() {
            return Ok(mended);
        }
        let storage = target.storage();
        // Taking the lock removes old locks. It fails if another process has just taken over the
        // lock of a dead process.
        let old_locks = wanted.iter().filter(|one| is_of_maintenance(&one.path) && one.remedy != R::Finish);
        let is_told = old_locks.clone().any(|one| one.remedy == R::TakeOver);
        let _lock = Lock::take(storage, self.take_over || is_told)?;
        mended.done.extend(old_locks.map(|one| (*one).clone()));
        if let Target::Array(array) = target
            && wanted.iter().any(|one| one.remedy == R::Finish)
        {
            let left = journal::recover(array)?.left;
            let is_done = |one: &&&Diagnosis| one.remedy == R::Finish && !left.contains(&one.path);
            mended.done.extend(wanted.iter().filter(is_done).map(|one| (*one).clone()));
        }
        let still = look(target)?;
        let is_wanted =
            |one: &&Diagnosis| wanted.iter().any(|other| one.is_same(other)) && one.path != MAINTENANCE_LOCK;
        let rest: Vec<&Diagnosis> = still.iter().filter(is_wanted).collect();
        self.quarantine(target, &rest, &mut mended)?;
        if let Target::Group(group) = target {
            self.make_relative(group, &rest, &mut mended)?;
        }
        Ok(mended)
    }

    /// Quarantines files and writes ignore files.
    fn quarantine(&self, target: &Target, found: &[&Diagnosis], mended: &mut Repaired) -> Result<()> {
        let storage = &**target.storage();
        let mut deeds = Vec::new();
        let mut writes = Vec::new();
        for one in found {
            match (&one.remedy, target) {
                (R::Quarantine | R::Reveal, _) => deeds.push(Deed::Moved(one.path.clone())),
                (R::Ignore { commits }, Target::Array(array)) => {
                    let inventory = array.commit_inventory(&array.listing()?)?;
                    let commits = commits.iter().map(String::as_str).collect();
                    let planned = ignoring_commits(array, &self.names, &inventory, &commits)?;
                    deeds.extend(planned.iter().map(|file| Deed::wrote(file.path.clone(), &file.content)));
                    writes.extend(planned.map(|file| (file, *one)));
                }
                _ => {}
            }
        }
        if deeds.is_empty() {
            return Ok(());
        }
        let mut quarantine = Quarantine::begin(storage, &deeds)?;
        mended.quarantine = Some(quarantine.folder().to_owned());
        for one in found.iter().filter(|one| matches!(one.remedy, R::Quarantine | R::Reveal)) {
            if quarantine.take(&one.path)? {
                mended.done.push((*one).clone());
            }
        }
        for (file, one) in writes {
            storage.create_folder(COMMITS_FOLDER)?;
            storage.create_new(&file.path, &file.content)?;
            mended.done.push(one.clone());
        }
        Ok(())
    }

    /// Applies all remedies that replace absolute URIs of members with paths relative to the
    /// group's folder, in one change.
    fn make_relative(&self, group: &Group, found: &[&Diagnosis], mended: &mut Repaired) -> Result<()> {
        let members: Vec<_> = found.iter().filter(|one| matches!(one.remedy, R::Relative { .. })).collect();
        if members.is_empty() {
            return Ok(());
        }
        let before = list(&**group.storage(), GROUP_FOLDER)?;
        change_members(group, &self.names, members.iter().map(|one| &one.remedy))?;
        let after = list(&**group.storage(), GROUP_FOLDER)?;
        let new: Vec<_> = after.into_iter().filter(|entry| !before.contains(entry)).collect();
        // If another process changes the group at the same time, the writer of each new file is
        // unknown. In this case, undo keeps all of these files.
        if let [entry] = &new[..] {
            let path = format!("{GROUP_FOLDER}/{}", entry.name);
            let bytes = group.storage().read(&path)?;
            let quarantine = Quarantine::begin(&**group.storage(), &[Deed::wrote(path, &bytes)])?;
            mended.quarantine.get_or_insert_with(|| quarantine.folder().to_owned());
        }
        mended.done.extend(members.into_iter().map(|one| (*one).clone()));
        Ok(())
    }
}

impl RepairPlan {
    /// Returns the problems.
    #[must_use]
    pub fn found(&self) -> &[Diagnosis] {
        &self.found
    }

    /// Returns `true` if [`run`](Self::run) repairs a problem.
    ///
    /// The problem must have a remedy. Either [`Doctor::only`] selects the problem, or `only` is
    /// empty, and the remedy neither affects readers nor takes over the lock of a process that may
    /// be running.
    #[must_use]
    pub fn repairs(&self, diagnosis: &Diagnosis) -> bool {
        self.doctor.sees_to(diagnosis)
    }

    /// Keeps only the problems for which `keep` returns `true`.
    pub fn retain(mut self, keep: impl FnMut(&Diagnosis) -> bool) -> Self {
        self.found.retain(keep);
        self
    }

    /// Repairs the problems for which [`repairs`](Self::repairs) returns `true`.
    ///
    /// # Errors
    /// [`MaintainError::Busy`](tdb_job::MaintainError::Busy) if another job holds the lock. See
    /// also [`Doctor::plan`]. Also fails if the storage fails. Completed repairs remain.
    pub fn run(self) -> Result<Repaired> {
        let Self { doctor, target, found } = self;
        let labels = Labels::of(&target)?.arrays;
        let is_of_label = |one: &&Diagnosis| labels.iter().any(|(folder, _)| one.below(folder).is_some());
        let own: Vec<Diagnosis> = found.iter().filter(|one| !is_of_label(one)).cloned().collect();
        let mut mended = doctor.run(&target, &own)?;
        for (folder, label) in &labels {
            let of_label: Vec<Diagnosis> = found.iter().filter_map(|one| one.below(folder)).collect();
            let below = |path: &String| labels::below(path, folder).map(str::to_owned);
            let only: Vec<String> = doctor.only.iter().filter_map(below).collect();
            if only.is_empty() && !doctor.only.is_empty() {
                continue;
            }
            let done = Doctor { only, ..doctor.clone() }.run(label, &of_label)?;
            mended.done.extend(done.done.into_iter().map(|one| one.in_folder(folder)));
            mended.quarantine =
                mended.quarantine.or(done.quarantine.map(|quarantine| format!("{folder}/{quarantine}")));
        }
        Ok(mended)
    }
}

/// Applies all remedies that replace absolute URIs of members with paths relative to the group's
/// folder, in one change.
///
/// # Errors
/// - A member to replace does not exist, or the object at its new path is neither an array nor a
///   group.
/// - The new path is already the key of another member.
/// - The storage fails, or the clock or random bytes are not available.
pub fn change_members<'a>(group: &Group, names: &WriteIds, remedies: impl Iterator<Item = &'a Remedy>) -> Result<()> {
    let mut change = group.change().ids(names.clone());
    for remedy in remedies {
        if let R::Relative { key, path } = remedy {
            let name = group.member(key).and_then(|member| member.name.clone());
            change = change.remove(key.clone());
            if let Some(path) = path {
                change = change.add(path.clone(), true, name.as_deref());
            }
        }
    }
    Ok(change.commit()?)
}

/// Quarantines existing files and writes a new file. The replacement can be undone.
pub(crate) fn replace(storage: &dyn Storage, quarantine: &[String], path: &str, bytes: &[u8]) -> Result<()> {
    let mut deeds: Vec<Deed> = quarantine.iter().cloned().map(Deed::Moved).collect();
    deeds.push(Deed::wrote(path, bytes));
    let mut place = Quarantine::begin(storage, &deeds)?;
    for path in quarantine {
        place.take(path)?;
    }
    Ok(storage.create_new(path, bytes)?)
}

/// Finds all problems, in the order of repair. Leaves out files that were replaced or deleted
/// during the search.
fn look(target: &Target) -> Result<Vec<Diagnosis>> {
    let wrong = |found: &[Diagnosis]| -> Vec<Diagnosis> {
        found.iter().filter(|one| one.severity == Severity::Finding).cloned().collect()
    };
    let is_sound = |found: &Result<Vec<Diagnosis>>| match found {
        Ok(found) => wrong(found).is_empty(),
        Err(error) => !is_gone(error),
    };
    let is_known = |last: &Result<Vec<Diagnosis>>, before: &Result<Vec<Diagnosis>>| match (last, before) {
        (Ok(last), Ok(before)) => wrong(last).iter().all(|one| before.contains(one)),
        _ => false,
    };
    until_settled(&**target.storage(), || look_once(target), is_sound, is_known).last
}

fn look_once(target: &Target) -> Result<Vec<Diagnosis>> {
    let mut found = Vec::new();
    match target {
        Target::Array(array) => {
            array::look(array, &mut found)?;
            commits::look(array, &mut found)?;
            lists::look(array, &mut found)?;
        }
        Target::Group(group) => members::look(group, &mut found)?,
    }
    lists::look_at_metadata(target, &mut found)?;
    unknown::look(target, &mut found)?;
    Ok(found)
}
