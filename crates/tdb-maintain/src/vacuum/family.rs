//! What consolidations wrote, and what they stand for.
//!
//! One to a bounded size writes several fragments. They have the same times, only the first of them has a vacuum file, and
//! nothing names the others. Each of them may have been joined again since, with others of them or with what was written later.
//! So all fragments of the same times are looked at together, with all vacuum files of these times.

use std::collections::{HashMap, HashSet};

use tdb_array::{CommitList, CommittedFragment, FragmentEntry};
use tdb_job::journal::folder_of;
use tdb_types::TimestampedName;
use tdb_types::names::file_name;

use super::chain::Replacement;

/// A vacuum file.
pub(super) struct FragmentVacuum<'a> {
    pub(super) list: &'a CommitList,
    /// What it is named after.
    pub(super) name: TimestampedName,
    pub(super) folder: String,
    /// What it lists, but for itself.
    pub(super) targets: Vec<String>,
    /// Whether it lists what it is named after: then no cell was left of all the others.
    pub(super) is_for_nothing: bool,
}

impl Replacement for FragmentVacuum<'_> {
    fn replacement(&self) -> &str {
        &self.folder
    }

    fn targets(&self) -> &[String] {
        &self.targets
    }
}

impl<'a> FragmentVacuum<'a> {
    /// None if it isn't named after a fragment: then it says nothing to readers.
    pub(super) fn of(list: &'a CommitList) -> Option<Self> {
        let name = TimestampedName::parse(file_name(&list.path))?;
        let folder = folder_of(&name)?;
        let targets: Vec<String> = list.names.iter().filter(|target| **target != folder).cloned().collect();
        let is_for_nothing = targets.len() < list.names.len();
        Some(Self { list, name, folder, targets, is_for_nothing })
    }

    fn lists(&self, folder: &str) -> bool {
        self.targets.iter().any(|target| target == folder)
    }

    /// Whether it may have been written together with a fragment that others replace since.
    pub(super) fn may_have_written(&self, name: &TimestampedName, folder: &str) -> bool {
        times(&self.name) == times(name) && !self.lists(folder)
    }
}

type Times = (u64, u64);

fn times(name: &TimestampedName) -> Times {
    (name.start(), name.end())
}

/// What stands in place of what a vacuum file lists, and all that it stands for.
#[derive(Default)]
pub(super) struct Family<'a> {
    /// In the order of their names.
    pub(super) new: Vec<&'a CommittedFragment>,
    /// In the order of their names.
    pub(super) replaced: Vec<&'a CommittedFragment>,
    /// The folders of those of them that consolidations wrote that are looked at as well: their cells are there twice.
    pub(super) joined_again: HashSet<&'a str>,
    /// Whether it is one consolidation alone.
    pub(super) is_of_one: bool,
}

/// What is looked at to find what stands in place of others.
pub(super) struct Families<'c, 'a> {
    /// Fragments by their folders.
    pub(super) committed: &'c HashMap<&'a str, &'a CommittedFragment>,
    pub(super) vacuums: &'c [FragmentVacuum<'a>],
}

impl<'a> Families<'_, 'a> {
    /// What belongs to a vacuum file; none if what it is named after isn't there, and isn't replaced by something that is.
    /// A fragment that is damaged or gone is followed to what replaces it.
    pub(super) fn of(
        &self,
        start: &FragmentVacuum<'_>,
        is_sound: impl Fn(&FragmentEntry) -> bool,
    ) -> Option<Family<'a>> {
        let (mut new, mut replaced) = (HashMap::new(), HashMap::new());
        let mut all = vec![times(&start.name)];
        let mut own: Vec<&FragmentVacuum<'_>> = Vec::new();
        let mut at = 0;
        while let Some(&now) = all.get(at) {
            at += 1;
            let counting = || self.vacuums.iter().filter(|vacuum| self.counts(vacuum));
            let of_now: Vec<_> = counting().filter(|vacuum| times(&vacuum.name) == now).collect();
            let listed: HashSet<&str> = of_now.iter().flat_map(|one| &one.targets).map(String::as_str).collect();
            let mut followed: HashSet<&str> = HashSet::new();
            for vacuum in counting().filter(|vacuum| times(&vacuum.name) != now) {
                let is_gone = |folder: &&str| {
                    let is_of_now = TimestampedName::parse(file_name(folder)).is_some_and(|name| times(&name) == now);
                    let there = || self.committed.get(folder).is_some_and(|fragment| is_sound(&fragment.entry));
                    is_of_now && !listed.contains(folder) && !there()
                };
                let gone: Vec<&str> = vacuum.targets.iter().map(String::as_str).filter(is_gone).collect();
                if !gone.is_empty() && !all.contains(&times(&vacuum.name)) {
                    all.push(times(&vacuum.name));
                }
                followed.extend(gone);
            }
            let is_there = |vacuum: &&FragmentVacuum<'_>| {
                let folder = vacuum.folder.as_str();
                let is_replaced = listed.contains(folder) || followed.contains(folder);
                vacuum.is_for_nothing || is_replaced || self.committed.contains_key(folder)
            };
            if of_now.is_empty() || !of_now.iter().all(is_there) {
                return None;
            }
            let is_new = |(folder, fragment): &(&&str, &&CommittedFragment)| {
                times(&fragment.entry.name) == now && !listed.contains(**folder) && !followed.contains(**folder)
            };
            new.extend(self.committed.iter().filter(is_new).map(|(folder, fragment)| (*folder, *fragment)));
            let there = listed.iter().filter_map(|folder| self.committed.get(folder));
            replaced.extend(there.map(|fragment| (fragment.entry.folder.as_str(), *fragment)));
            own.extend(of_now);
        }
        let in_order = |of: HashMap<&'a str, &'a CommittedFragment>| {
            let mut of: Vec<&CommittedFragment> = of.into_values().collect();
            of.sort_by(|a, b| a.entry.name.cmp(&b.entry.name));
            of
        };
        let (new, replaced) = (in_order(new), in_order(replaced));
        // Where all times are one, it can't be said what was written by which.
        let is_again = |entry: &&'a FragmentEntry| {
            let has_range = entry.name.start() < entry.name.end();
            has_range && own.iter().any(|vacuum| vacuum.may_have_written(&entry.name, &entry.folder))
        };
        let entries = replaced.iter().map(|fragment| &fragment.entry);
        let joined_again = entries.filter(is_again).map(|entry| entry.folder.as_str()).collect();
        Some(Family { new, replaced, joined_again, is_of_one: own.len() == 1 })
    }

    /// Whether something stands in place of what it lists, or was replaced since, or nothing has to.
    fn counts(&self, vacuum: &FragmentVacuum<'_>) -> bool {
        let folder = vacuum.folder.as_str();
        let is_replaced = || self.vacuums.iter().any(|other| other.folder != folder && other.lists(folder));
        vacuum.is_for_nothing || self.committed.contains_key(folder) || is_replaced()
    }
}
