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

use tdb_array::{Array, Group, Names};
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
/// let found = Doctor::new().look_at_group(&group)?;
/// assert_eq!(found[0].what, "a file whose writing was interrupted");
/// Doctor::new().mend_group(&group, &found)?;
/// assert!(Doctor::new().look_at_group(&group)?.is_empty());
/// assert_eq!(Doctor::new().undo_group(&group)?.restored, [".tdb-4711-0.tmp"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is looked at before it is told"]
pub struct Doctor {
    names: Names,
    only: Vec<String>,
    take_over: bool,
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

    /// What isn't as it should be in an array, and in those of its dimension labels. A write that is going on looks like one that was interrupted, until it commits:
    /// whoever sees to it has to know that nobody writes, or go by the age of the files.
    ///
    /// # Errors
    /// A folder can't be listed, a commit file or a schema can't be read: then nothing is known.
    pub fn look_at(&self, array: &Array) -> Result<Vec<Diagnosis>> {
        let mut found = look(&Target::Array(array.clone()))?;
        let labels = Labels::of(array)?;
        found.extend(labels.found);
        for (folder, own) in labels.arrays {
            found.extend(look(&Target::Array(own))?.into_iter().map(|one| one.in_folder(&folder)));
        }
        Ok(found)
    }

    /// The same of a group; its members are looked at by themselves.
    ///
    /// # Errors
    /// A folder can't be listed.
    pub fn look_at_group(&self, group: &Group) -> Result<Vec<Diagnosis>> {
        look(&Target::Group(Box::new(group.clone())))
    }

    /// Sees to what was found, as far as it is still so.
    ///
    /// # Errors
    /// [`MaintainError::Busy`](tdb_job::MaintainError::Busy): somebody maintains the array. As [`look_at`](Self::look_at); whatever the storage can't do. What was
    /// done before is done.
    pub fn mend(&self, array: &Array, found: &[Diagnosis]) -> Result<Mended> {
        let labels = Labels::of(array)?.arrays;
        let is_of_label = |one: &&Diagnosis| labels.iter().any(|(folder, _)| one.below(folder).is_some());
        let own: Vec<Diagnosis> = found.iter().filter(|one| !is_of_label(one)).cloned().collect();
        let mut mended = self.run(&Target::Array(array.clone()), &own)?;
        for (folder, label) in &labels {
            let of_label: Vec<Diagnosis> = found.iter().filter_map(|one| one.below(folder)).collect();
            let below = |path: &String| labels::below(path, folder).map(str::to_owned);
            let only: Vec<String> = self.only.iter().filter_map(below).collect();
            if only.is_empty() && !self.only.is_empty() {
                continue;
            }
            let doctor = Self { only, ..self.clone() };
            let done = doctor.run(&Target::Array(label.clone()), &of_label)?;
            mended.done.extend(done.done.into_iter().map(|one| one.in_folder(folder)));
            mended.aside = mended.aside.or(done.aside.map(|aside| format!("{folder}/{aside}")));
        }
        Ok(mended)
    }

    /// The same in a group.
    ///
    /// # Errors
    /// As [`mend`](Self::mend).
    pub fn mend_group(&self, group: &Group, found: &[Diagnosis]) -> Result<Mended> {
        self.run(&Target::Group(Box::new(group.clone())), found)
    }

    /// Moves back what was moved aside in an array, and removes what was written; but for what readers would fail on, since
    /// fragments have gone meanwhile.
    ///
    /// # Errors
    /// [`MaintainError::Busy`](tdb_job::MaintainError::Busy); a text that says where things lay can't be understood; whatever the storage can't do.
    pub fn undo(&self, array: &Array) -> Result<Undone> {
        let mut undone = self.undo_in(array.storage())?;
        for (folder, label) in Labels::of(array)?.arrays {
            let of_label = self.undo_in(label.storage())?;
            let above =
                |paths: Vec<String>| paths.into_iter().map(|path| format!("{folder}/{path}")).collect::<Vec<_>>();
            undone.restored.extend(above(of_label.restored));
            undone.removed.extend(above(of_label.removed));
            undone.occupied.extend(above(of_label.occupied));
        }
        Ok(undone)
    }

    /// The same in a group.
    ///
    /// # Errors
    /// As [`undo`](Self::undo).
    pub fn undo_group(&self, group: &Group) -> Result<Undone> {
        self.undo_in(group.storage())
    }

    fn undo_in(&self, storage: &Arc<dyn Storage>) -> Result<Undone> {
        if !storage.exists(ASIDE)? {
            return Ok(Undone::default());
        }
        let _lock = Lock::take(storage, self.take_over)?;
        aside::undo(&**storage)
    }

    /// Whether this is to be seen to.
    #[must_use]
    pub fn sees_to(&self, diagnosis: &Diagnosis) -> bool {
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
