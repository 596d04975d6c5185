//! What killed writers, half vacuums and moved folders have left, and what can be done about it.

mod array;
mod aside;
mod commits;
mod diagnosis;
mod labels;
mod lists;
mod locks;
mod members;
mod outdated;
mod unknown;

use std::sync::Arc;

use tdb_array::{Group, Names};
use tdb_storage::Storage;
use tdb_types::names::{COMMITS_FOLDER, GROUP_FOLDER, MAINTENANCE_LOCK, is_of_maintenance};

use crate::verify::Severity;
use aside::{Aside, Deed};
use diagnosis::Remedy as R;
use labels::Labels;
use tdb_job::Result;
use tdb_job::journal;
use tdb_job::lock::Lock;
use tdb_job::{Target, list};
use tdb_job::{is_gone, until_settled};
use tdb_maintain::ignoring_commits;

pub use aside::ASIDE;
pub use aside::Undone;
pub use diagnosis::{Diagnosis, Remedy};
pub use unknown::first_unknown;

/// Looks for what interrupted writes, vacuums and moves have left in an array or a group, says what can be done about each of
/// it, and does it.
///
/// Nothing is deleted: what is superfluous is moved into the folder `.tdb-aside` of the array or group, which no reader looks at, and
/// [`undo`](Self::undo) moves it back. What the doctor doesn't know it leaves alone.
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
/// assert_eq!(plan.found()[0].what, "a file whose writing was interrupted");
/// plan.run()?;
/// assert!(Doctor::new().plan(&group)?.found().is_empty());
/// assert_eq!(Doctor::new().undo(&group)?.restored, [".tdb-4711-0.tmp"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is done before a plan runs"]
pub struct Doctor {
    names: Names,
    only: Vec<String>,
    take_over: bool,
}

/// The problems of an array or a group, and the repairs that [`run`](Self::run) makes.
#[derive(Clone, Debug)]
#[must_use = "nothing is done before `run`"]
pub struct RepairPlan {
    doctor: Doctor,
    target: Target,
    found: Vec<Diagnosis>,
}

/// What the doctor has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mended {
    /// What was seen to.
    pub done: Vec<Diagnosis>,
    /// The folder of what was moved aside, if anything was.
    pub aside: Option<String>,
}

impl Doctor {
    /// Who does nothing that changes what readers find.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sees to what has these paths, and to nothing else; also where readers find something else afterwards.
    pub fn only<S: Into<String>>(mut self, paths: impl IntoIterator<Item = S>) -> Self {
        self.only.extend(paths.into_iter().map(Into::into));
        self
    }

    /// What makes names of new files unique.
    pub fn names(mut self, names: Names) -> Self {
        self.names = names;
        self
    }

    /// Goes on although somebody else seems to maintain the array: it is certain that nobody does.
    pub fn take_over(mut self, take_over: bool) -> Self {
        self.take_over = take_over;
        self
    }

    /// Looks for problems of an array and of the arrays of its dimension labels, or of a group without its members.
    ///
    /// A write in progress looks like an interrupted one until it commits. Callers know that nobody writes, or
    /// [leave out](RepairPlan::retain) young files.
    ///
    /// # Errors
    /// A folder cannot be listed; a commit file or a schema cannot be read.
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

    /// Moves back the files that a repair moved aside, and removes the files that it wrote. Leaves out files that readers would fail on,
    /// because their fragments no longer exist.
    ///
    /// # Errors
    /// [`MaintainError::Busy`](tdb_job::MaintainError::Busy); the list of former places cannot be parsed; the storage fails.
    pub fn undo(&self, target: impl Into<Target>) -> Result<Undone> {
        let target = target.into();
        let mut undone = self.undo_in(target.storage())?;
        for (folder, label) in Labels::of(&target)?.arrays {
            let of_label = self.undo_in(label.storage())?;
            let above =
                |paths: Vec<String>| paths.into_iter().map(|path| format!("{folder}/{path}")).collect::<Vec<_>>();
            undone.restored.extend(above(of_label.restored));
            undone.removed.extend(above(of_label.removed));
            undone.occupied.extend(above(of_label.occupied));
        }
        Ok(undone)
    }

    fn undo_in(&self, storage: &Arc<dyn Storage>) -> Result<Undone> {
        if !storage.exists(ASIDE)? {
            return Ok(Undone::default());
        }
        let _lock = Lock::take(storage, self.take_over)?;
        aside::undo(&**storage)
    }

    fn sees_to(&self, diagnosis: &Diagnosis) -> bool {
        let is_asked_for = self.only.contains(&diagnosis.path);
        diagnosis.remedy != R::None
            && (is_asked_for
                || self.only.is_empty() && !diagnosis.remedy.changes_what_is_read() && diagnosis.remedy != R::TakeOver)
    }

    fn run(&self, target: &Target, found: &[Diagnosis]) -> Result<Mended> {
        let wanted: Vec<&Diagnosis> = found.iter().filter(|one| self.sees_to(one)).collect();
        let mut mended = Mended::default();
        if wanted.is_empty() {
            return Ok(mended);
        }
        let storage = target.storage();
        // Locks that were left go by being taken over; somebody else may have taken over that of the dead just now.
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
        self.set_aside(target, &rest, &mut mended)?;
        if let Target::Group(group) = target {
            self.make_relative(group, &rest, &mut mended)?;
        }
        Ok(mended)
    }

    /// Moves aside, and writes what makes up for what is gone.
    fn set_aside(&self, target: &Target, found: &[&Diagnosis], mended: &mut Mended) -> Result<()> {
        let storage = &**target.storage();
        let mut deeds = Vec::new();
        let mut writes = Vec::new();
        for one in found {
            match (&one.remedy, target) {
                (R::SetAside | R::Reveal, _) => deeds.push(Deed::Moved(one.path.clone())),
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
        let mut aside = Aside::begin(storage, &deeds)?;
        mended.aside = Some(aside.folder().to_owned());
        for one in found.iter().filter(|one| matches!(one.remedy, R::SetAside | R::Reveal)) {
            if aside.take(&one.path)? {
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

    /// Names members by their paths below the group's folder, all of them in one change.
    fn make_relative(&self, group: &Group, found: &[&Diagnosis], mended: &mut Mended) -> Result<()> {
        let members: Vec<_> = found.iter().filter(|one| matches!(one.remedy, R::Relative { .. })).collect();
        if members.is_empty() {
            return Ok(());
        }
        let before = list(&**group.storage(), GROUP_FOLDER)?;
        change_members(group, &self.names, members.iter().map(|one| &one.remedy))?;
        let after = list(&**group.storage(), GROUP_FOLDER)?;
        let new: Vec<_> = after.into_iter().filter(|entry| !before.contains(entry)).collect();
        let mut deeds = Vec::new();
        // Where somebody else has changed the members just now, it can't be told which file is whose: undoing leaves all of them.
        if let [entry] = &new[..] {
            let path = format!("{GROUP_FOLDER}/{}", entry.name);
            let bytes = group.storage().read(&path)?;
            deeds.push(Deed::wrote(path, &bytes));
        }
        if !deeds.is_empty() {
            let aside = Aside::begin(&**group.storage(), &deeds)?;
            mended.aside.get_or_insert_with(|| aside.folder().to_owned());
        }
        mended.done.extend(members.into_iter().map(|one| (*one).clone()));
        Ok(())
    }
}

impl RepairPlan {
    /// The problems.
    #[must_use]
    pub fn found(&self) -> &[Diagnosis] {
        &self.found
    }

    /// Whether [`run`](Self::run) repairs a problem: it has a remedy, and [`Doctor::only`] names it, or names none and no reader sees a difference.
    #[must_use]
    pub fn repairs(&self, diagnosis: &Diagnosis) -> bool {
        self.doctor.sees_to(diagnosis)
    }

    /// Leaves out the problems for which `keep` is false.
    pub fn retain(mut self, keep: impl FnMut(&Diagnosis) -> bool) -> Self {
        self.found.retain(keep);
        self
    }

    /// Repairs the problems that still exist.
    ///
    /// # Errors
    /// [`MaintainError::Busy`](tdb_job::MaintainError::Busy); those of [`Doctor::plan`]; the storage fails. Repairs that ended before the
    /// error remain.
    pub fn run(self) -> Result<Mended> {
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
            mended.aside = mended.aside.or(done.aside.map(|aside| format!("{folder}/{aside}")));
        }
        Ok(mended)
    }
}

/// Names members by their paths below the group's folder, all of them in one change.
pub fn change_members<'a>(group: &Group, names: &Names, remedies: impl Iterator<Item = &'a Remedy>) -> Result<()> {
    let mut change = group.change().names(names.clone());
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

/// Moves files aside, as far as they are there, and writes another in the place of the last of them. All of it can be undone.
pub(crate) fn replace(storage: &dyn Storage, aside: &[String], path: &str, bytes: &[u8]) -> Result<()> {
    let mut deeds: Vec<Deed> = aside.iter().cloned().map(Deed::Moved).collect();
    deeds.push(Deed::wrote(path, bytes));
    let mut place = Aside::begin(storage, &deeds)?;
    for path in aside {
        place.take(path)?;
    }
    Ok(storage.create_new(path, bytes)?)
}

/// All that isn't as it should be, in the order in which it is seen to. What somebody else has replaced or removed meanwhile isn't
/// among it.
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
