//! Results of consolidations, and the replaced fragments.
//!
//! A consolidation with a maximum fragment size writes several fragments with the same time range.
//! Only the first fragment has a vacuum file, and no file lists the other fragments. Each fragment
//! may have been consolidated again since. Therefore all fragments and vacuum files with the same
//! time range are examined together.

use std::collections::{HashMap, HashSet};

use tdb_array::{CommitList, CommittedFragment, FragmentEntry};
use tdb_job::journal::folder_of;
use tdb_types::TimestampedName;
use tdb_types::names::file_name;

/// A vacuum file of fragments.
pub(super) struct FragmentVacuum<'a> {
    pub(super) list: &'a CommitList,
    /// Name of the consolidated fragment.
    pub(super) name: TimestampedName,
    pub(super) folder: String,
    /// Folders of the listed fragments, except for the consolidated fragment itself.
    pub(super) targets: Vec<String>,
    /// `true` if the file lists its own consolidated fragment. The consolidation then left no cell,
    /// and wrote no fragment.
    pub(super) is_for_nothing: bool,
}

impl<'a> FragmentVacuum<'a> {
    /// Parses a vacuum file. Returns `None` if its name is not the name of a fragment. Readers
    /// ignore such a file.
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

    /// Returns `true` if the consolidation of this vacuum file may have written the given fragment.
    pub(super) fn may_have_written(&self, name: &TimestampedName, folder: &str) -> bool {
        times(&self.name) == times(name) && !self.lists(folder)
    }
}

type Times = (u64, u64);

fn times(name: &TimestampedName) -> Times {
    (name.start(), name.end())
}

/// The fragments listed in a vacuum file, and the fragments that replace them.
#[derive(Default)]
pub(super) struct Family<'a> {
    /// The replacing fragments, sorted by name.
    pub(super) new: Vec<&'a CommittedFragment>,
    /// The replaced fragments, sorted by name.
    pub(super) replaced: Vec<&'a CommittedFragment>,
    /// Folders of replaced fragments that the examined consolidations wrote themselves. Other
    /// replaced fragments also contain the cells of these fragments.
    pub(super) joined_again: HashSet<&'a str>,
    /// `true` if the family consists of a single consolidation.
    pub(super) is_of_one: bool,
}

/// The input for finding families.
pub(super) struct Families<'c, 'a> {
    /// Committed fragments by folder.
    pub(super) committed: &'c HashMap<&'a str, &'a CommittedFragment>,
    pub(super) vacuums: &'c [FragmentVacuum<'a>],
}

impl<'a> Families<'_, 'a> {
    /// Returns the family of a vacuum file. If a new fragment is damaged or missing, includes the
    /// fragments that replace it.
    ///
    /// Returns `None` if the consolidated fragment is missing and has no existing replacement.
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
        // If the start and end of the time range are equal, the fragment may come from a normal
        // write.
        let is_again = |entry: &&'a FragmentEntry| {
            let has_range = entry.name.start() < entry.name.end();
            has_range && own.iter().any(|vacuum| vacuum.may_have_written(&entry.name, &entry.folder))
        };
        let entries = replaced.iter().map(|fragment| &fragment.entry);
        let joined_again = entries.filter(is_again).map(|entry| entry.folder.as_str()).collect();
        Some(Family { new, replaced, joined_again, is_of_one: own.len() == 1 })
    }

    /// Returns `true` if the consolidated fragment exists, has been replaced since, or was never
    /// written because no cell was left.
    fn counts(&self, vacuum: &FragmentVacuum<'_>) -> bool {
        let folder = vacuum.folder.as_str();
        let is_replaced = || self.vacuums.iter().any(|other| other.folder != folder && other.lists(folder));
        vacuum.is_for_nothing || self.committed.contains_key(folder) || is_replaced()
    }
}
