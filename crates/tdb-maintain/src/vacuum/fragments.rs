//! Fragments that others were consolidated from.

use std::collections::{BTreeMap, HashMap, HashSet};

use tdb_array::tdb_rtree::{DimRange, NdRange};
use tdb_array::{
    Array, CommitInventory, CommitList, CommittedFragment, Fragment, FragmentEntry, Listing, Names, TimeRange,
};
use tdb_metadata::CommitKind;
use tdb_storage::{EntryKind, at_once};
use tdb_types::names::{COMMITS_FOLDER, CONSOLIDATED_EXTENSION, FRAGMENT_METADATA, FRAGMENTS_FOLDER, file_name};
use tdb_types::{ArrayType, Feature, TimestampedName};

use super::chain::{Replacement, in_its_time, verdicts};
use super::complete::are_all_there;
use crate::Result;
use crate::disjoint::disjoint;
use crate::draft::{Draft, Left, Reason};
use crate::ignoring::ignoring;
use crate::step::Planned;
use crate::target::list;

/// How many fragments are asked for at once: that is waiting, not computing.
const IN_FLIGHT: usize = 8;

/// A vacuum file.
struct FragmentVacuum<'a> {
    list: &'a CommitList,
    /// What it is named after.
    name: TimestampedName,
    folder: String,
    /// What it lists, but for itself.
    targets: Vec<String>,
    /// Whether it lists what it is named after: then no cell was left of all the others.
    is_for_nothing: bool,
}

impl Replacement for FragmentVacuum<'_> {
    fn replacement(&self) -> &str {
        &self.folder
    }

    fn targets(&self) -> &[String] {
        &self.targets
    }
}

/// What is to be said of a vacuum file.
pub(crate) struct ListVerdict {
    pub(crate) path: String,
    pub(crate) bytes: u64,
    /// The folder that it is named after.
    pub(crate) folder: String,
    /// How many of the fragments that it lists are there.
    pub(crate) targets: usize,
    /// Whether what it lists may go.
    pub(crate) verdict: Result<(), Reason>,
}

/// Whether what vacuum files list may go.
pub(crate) fn lists(array: &Array) -> Result<Vec<ListVerdict>> {
    let listing = array.listing()?;
    let inventory = array.commit_inventory(&listing)?;
    let there = There::of(array, &listing, &inventory)?;
    let vacuums: Vec<FragmentVacuum<'_>> = inventory.vacuums.iter().filter_map(FragmentVacuum::of).collect();
    let of = |(vacuum, verdict): (&FragmentVacuum<'_>, Result<(), Reason>)| ListVerdict {
        path: vacuum.list.path.clone(),
        bytes: vacuum.list.size,
        folder: vacuum.folder.clone(),
        targets: there.targets(vacuum).count(),
        verdict,
    };
    Ok(vacuums.iter().zip(there.verdicts(array, &vacuums)).map(of).collect())
}

pub(crate) fn draft(array: &Array, names: &Names) -> Result<Draft> {
    let listing = array.listing()?;
    let inventory = array.commit_inventory(&listing)?;
    let there = There::of(array, &listing, &inventory)?;
    let vacuums: Vec<FragmentVacuum<'_>> = inventory.vacuums.iter().filter_map(FragmentVacuum::of).collect();
    let verdicts = there.verdicts(array, &vacuums);
    let mut draft = Draft::default();
    let mut removed: BTreeMap<&TimestampedName, &str> = BTreeMap::new();
    let mut lists = Vec::new();
    for (vacuum, verdict) in vacuums.iter().zip(verdicts) {
        match verdict {
            Err(why) => draft.left.push(Left { path: vacuum.list.path.clone(), why }),
            Ok(()) => {
                let targets: Vec<(&TimestampedName, &str)> = there.targets(vacuum).collect();
                draft.past.extend(there.past(array, vacuum, &targets));
                removed.extend(targets);
                let what = "the list of what a consolidated fragment replaces";
                lists.push(Planned::remove_file(vacuum.list.path.clone(), vacuum.list.size, what));
            }
        }
    }
    draft.steps = there.removal(array, names, &inventory, &removed)?;
    // These last: without them what they list would count again.
    draft.steps.extend(lists);
    Ok(draft)
}

impl<'a> FragmentVacuum<'a> {
    /// None if it isn't named after a fragment: then it says nothing to readers.
    fn of(list: &'a CommitList) -> Option<Self> {
        let name = TimestampedName::parse(file_name(&list.path))?;
        let folder = folder_of(&name)?;
        let targets: Vec<String> = list.names.iter().filter(|target| **target != folder).cloned().collect();
        let is_for_nothing = targets.len() < list.names.len();
        Some(Self { list, name, folder, targets, is_for_nothing })
    }
}

/// Where a fragment of this name lies.
pub(crate) fn folder_of(name: &TimestampedName) -> Option<String> {
    let in_folder = name.fragment_version().ok()?.has(Feature::CommitsFolder);
    Some(if in_folder { format!("{FRAGMENTS_FOLDER}/{name}") } else { name.to_string() })
}

/// What of fragments is there.
struct There<'a> {
    /// The committed ones, by their folders.
    committed: HashMap<&'a str, &'a CommittedFragment>,
    /// The folders of all, committed or not.
    folders: HashMap<String, TimestampedName>,
    /// Files of commits and such.
    files: HashSet<String>,
    /// Whether the array has deletes of cells.
    has_deletes: bool,
    /// What vacuum files name.
    replaced: HashSet<&'a str>,
}

impl<'a> There<'a> {
    fn of(array: &Array, listing: &'a Listing, inventory: &'a CommitInventory) -> Result<Self> {
        let in_folder = list(&**array.storage(), FRAGMENTS_FOLDER)?;
        let mut folders = HashMap::new();
        for entry in in_folder.iter().chain(&listing.root).filter(|entry| entry.kind == EntryKind::Folder) {
            let name = TimestampedName::parse(&entry.name).filter(|_| !entry.name.contains('.'));
            let place = name.and_then(|name| folder_of(&name).zip(Some(name)));
            folders.extend(place);
        }
        let is_file = |entry: &&tdb_storage::Entry| entry.kind == EntryKind::File;
        let in_commits = listing.commits.iter().filter(is_file).map(|entry| format!("{COMMITS_FOLDER}/{}", entry.name));
        let in_root = listing.root.iter().filter(is_file).map(|entry| entry.name.clone());
        let committed = inventory.fragments.iter();
        for fragment in committed.clone() {
            // One whose folder is gone already is still to be forgotten.
            folders.entry(fragment.entry.folder.clone()).or_insert_with(|| fragment.entry.name.clone());
        }
        Ok(Self {
            committed: committed.map(|fragment| (fragment.entry.folder.as_str(), fragment)).collect(),
            folders,
            files: in_commits.chain(in_root).collect(),
            has_deletes: inventory.paths.iter().any(|path| CommitKind::of(path) == Some(CommitKind::Delete)),
            replaced: inventory.vacuums.iter().flat_map(|list| &list.names).map(String::as_str).collect(),
        })
    }

    /// What a vacuum file names, as far as it is still there: the name and the folder.
    fn targets<'b>(&'b self, vacuum: &'b FragmentVacuum<'_>) -> impl Iterator<Item = (&'b TimestampedName, &'b str)> {
        vacuum.targets.iter().filter_map(|folder| self.folders.get_key_value(folder)).map(|(f, n)| (n, f.as_str()))
    }

    /// For each vacuum file whether what it names may go.
    fn verdicts(&self, array: &Array, vacuums: &[FragmentVacuum<'_>]) -> Vec<Result<(), Reason>> {
        let is_sane =
            |vacuum: &FragmentVacuum<'_>| in_its_time(&vacuum.name, self.targets(vacuum).map(|(name, _)| name));
        verdicts(vacuums, is_sane, |vacuum| self.check(array, vacuum))
    }

    /// Whether what a vacuum file is named after stands in place of what it lists.
    fn check(&self, array: &Array, vacuum: &FragmentVacuum<'_>) -> Result<(), Reason> {
        if self.targets(vacuum).next().is_none() {
            return Ok(());
        }
        if vacuum.is_for_nothing {
            let is_there = self.folders.contains_key(&vacuum.folder);
            return if is_there { Err(Reason::Circle) } else { Ok(()) };
        }
        let Some(fragment) = self.committed.get(vacuum.folder.as_str()) else { return Err(Reason::NoReplacement) };
        let unsound = |error| Reason::Unsound(Box::new(error));
        let (mut entries, mut new) = (Vec::new(), Vec::new());
        for fragment in self.written_with(fragment) {
            array.check_files_of(&fragment.entry).map_err(unsound)?;
            new.push(array.fragment_of(&fragment.entry).map_err(unsound)?);
            entries.push(fragment.entry.clone());
        }
        // Cells that were deleted may have been left out.
        if !self.has_deletes {
            self.is_covered(array, vacuum, &new)?;
        }
        let targets = self.targets(vacuum).filter_map(|(_, folder)| self.committed.get(folder));
        let replaced: Vec<FragmentEntry> = targets.map(|fragment| fragment.entry.clone()).collect();
        are_all_there(array, (entries, &new), replaced)
    }

    /// Whether what a vacuum file names lies within new fragments. What can't be read, as after a vacuum that was interrupted,
    /// says nothing.
    fn is_covered(&self, array: &Array, vacuum: &FragmentVacuum<'_>, new: &[Fragment]) -> Result<(), Reason> {
        let boxes: Vec<NdRange> = new.iter().filter_map(|fragment| fragment.non_empty_domain().cloned()).collect();
        let hull = boxes.iter().cloned().reduce(|mut hull, new| {
            hull.expand(&new);
            hull
        });
        let covers = |own: &NdRange| match array.schema().is_dense() {
            // Each has a part of the cells, and one may be missing in the middle.
            true => disjoint(boxes.iter().filter_map(|new| new.intersection(own)).collect()) == [own.clone()],
            false => hull.as_ref().is_some_and(|hull| hull.contains(own)),
        };
        let whole: Option<Vec<DimRange>> = array
            .schema()
            .dimensions()
            .iter()
            .map(|own| {
                let (lo, hi) = own.domain_keys()?;
                Some(DimRange::Fixed { lo, hi })
            })
            .collect();
        let targets: Vec<(&TimestampedName, &str)> = self.targets(vacuum).collect();
        let domains = at_once(IN_FLIGHT, &targets, |(_, folder)| {
            let entry = self.committed.get(folder).map(|fragment| &fragment.entry);
            entry.and_then(|entry| array.domain_of(entry).ok().flatten())
        });
        for ((name, _), own) in targets.into_iter().zip(domains) {
            // Some releases say of dense fragments that their cells reach out of the domain.
            let own = own.and_then(|own| match &whole {
                Some(whole) => own.intersection(&NdRange(whole.clone())),
                None => Some(own),
            });
            if own.is_some_and(|own| !covers(&own)) {
                return Err(Reason::Uncovered { fragment: name.to_string() });
            }
        }
        Ok(())
    }

    /// The fragment, and those that one consolidation wrote together with it: all that are of its time, and that nothing
    /// replaces. Only the first of them has a vacuum file, and before format 12 they have commits of their own.
    fn written_with<'b>(&'b self, first: &'b CommittedFragment) -> impl Iterator<Item = &'b CommittedFragment> {
        let name = &first.entry.name;
        let of_its_time = self.committed.values().copied().filter(|other| {
            let other = &other.entry;
            (other.name.start(), other.name.end()) == (name.start(), name.end())
                && other.name != *name
                && !self.replaced.contains(other.folder.as_str())
        });
        let mut of_its_time: Vec<&CommittedFragment> = of_its_time.collect();
        of_its_time.sort_by(|a, b| a.entry.name.cmp(&b.entry.name));
        std::iter::once(first).chain(of_its_time)
    }

    /// Of which times readers miss what is removed. Sparse fragments whose cells carry their times lose none.
    fn past(
        &self,
        array: &Array,
        vacuum: &FragmentVacuum<'_>,
        targets: &[(&TimestampedName, &str)],
    ) -> Option<TimeRange> {
        let version = vacuum.name.fragment_version().ok()?;
        let has_times = version.has(Feature::PartialTimeOverlap) && array.schema().array_type() == ArrayType::Sparse;
        let start = targets.iter().map(|(name, _)| name.start()).min()?;
        let end = vacuum.name.end().checked_sub(1).filter(|end| start <= *end && !has_times)?;
        Some(TimeRange { start, end })
    }

    /// The steps that remove fragments: first they stop to count, all together where they were gathered, then their files go.
    fn removal(
        &self,
        array: &Array,
        names: &Names,
        inventory: &CommitInventory,
        removed: &BTreeMap<&TimestampedName, &str>,
    ) -> Result<Vec<Planned>> {
        let storage = &**array.storage();
        let commits = removed.values().filter_map(|folder| self.committed.get(folder)?.commit.as_deref()).collect();
        let mut steps: Vec<Planned> = ignoring_commits(array, names, inventory, &commits)?.into_iter().collect();
        let mut folders = Vec::new();
        let paths: Vec<&str> = removed.values().copied().collect();
        let listed = at_once(IN_FLIGHT, &paths, |folder| list(storage, folder));
        for (folder, files) in paths.iter().zip(listed) {
            let files = files?;
            let metadata = files.iter().find(|entry| entry.name == FRAGMENT_METADATA);
            match self.committed.get(folder).map(|fragment| fragment.commit.as_deref()) {
                Some(Some(commit)) if self.files.contains(commit) => {
                    steps.push(Planned::remove_file(
                        commit.to_owned(),
                        0,
                        "the commit of a fragment that was replaced",
                    ));
                }
                // Without a commit of its own it is the metadata that commits.
                Some(None) => steps.extend(metadata.map(|entry| {
                    let path = format!("{folder}/{}", entry.name);
                    Planned::remove_file(path, entry.size, "the metadata of a fragment that was replaced")
                })),
                _ => {}
            }
            let bytes = files.iter().fold(0, |sum: u64, entry| sum.saturating_add(entry.size));
            folders.push(Planned::remove_folder((*folder).to_owned(), bytes, "a fragment that was replaced"));
        }
        steps.extend(folders);
        Ok(steps)
    }
}

/// The file that takes these gathered commits back; none if there is nothing to take back.
pub(crate) fn ignoring_commits(
    array: &Array,
    names: &Names,
    inventory: &CommitInventory,
    commits: &HashSet<&str>,
) -> Result<Option<Planned>> {
    let ignored: HashSet<&str> = inventory.ignored.iter().flat_map(|list| &list.names).map(String::as_str).collect();
    let mut paths = Vec::new();
    for list in inventory.gathered.iter().filter(|list| list.path.ends_with(CONSOLIDATED_EXTENSION)) {
        for name in list.names.iter().filter(|name| commits.contains(name.as_str())) {
            let as_written = list.foreign.get(name).unwrap_or(name);
            if !ignored.contains(as_written.as_str()) {
                paths.push(as_written.clone());
            }
        }
    }
    ignoring(array, names, paths)
}
