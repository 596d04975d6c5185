//! Fragments that others were consolidated from.

use std::collections::{BTreeMap, HashMap, HashSet};

use tdb_array::tdb_rtree::{DimRange, NdRange};
use tdb_array::tdb_schema::Dimension;
use tdb_array::{
    Array, ArrayError, CommitInventory, CommittedFragment, Fragment, FragmentEntry, Listing, Names, TimeRange,
};
use tdb_metadata::CommitKind;
use tdb_storage::{EntryKind, at_once};
use tdb_types::names::{COMMITS_FOLDER, CONSOLIDATED_EXTENSION, FRAGMENT_METADATA, FRAGMENTS_FOLDER};
use tdb_types::{ArrayType, Feature, TimestampedName};

use super::chain::{in_its_time, verdicts};
use super::complete::{New, Replaced, are_all_there, show_nothing, unsound};
use super::family::{Families, FragmentVacuum};
use crate::draft::{Draft, Left, Reason};
use crate::ignoring::ignoring;
use crate::step::Planned;
use tdb_job::Result;
use tdb_job::journal::folder_of;
use tdb_job::list;
use tdb_rtree::disjoint;

/// A file that is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoreFile {
    /// Its path below the folder of the array.
    pub path: String,
    /// Its bytes.
    pub content: Vec<u8>,
}

/// What is to be said of a vacuum file.
#[derive(Debug)]
pub struct FragmentList {
    /// Its path below the folder of the array.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// The folder that it is named after.
    pub folder: String,
    /// How many of the fragments that it lists are there.
    pub targets: usize,
    /// Whether what it lists may go.
    pub verdict: Result<(), Reason>,
}

/// Whether what vacuum files list may go.
pub fn fragment_lists(array: &Array) -> Result<Vec<FragmentList>> {
    let listing = array.listing()?;
    let inventory = array.commit_inventory(&listing)?;
    let there = There::of(array, &listing, &inventory)?;
    let vacuums: Vec<FragmentVacuum<'_>> = inventory.vacuums.iter().filter_map(FragmentVacuum::of).collect();
    let of = |(vacuum, verdict): (&FragmentVacuum<'_>, Result<(), Reason>)| FragmentList {
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
        })
    }

    /// What a vacuum file names, as far as it is still there: the name and the folder.
    fn targets<'b>(&'b self, vacuum: &'b FragmentVacuum<'_>) -> impl Iterator<Item = (&'b TimestampedName, &'b str)> {
        vacuum.targets.iter().filter_map(|folder| self.folders.get_key_value(folder)).map(|(f, n)| (n, f.as_str()))
    }

    /// For each vacuum file whether what it names may go.
    fn verdicts(&self, array: &Array, vacuums: &[FragmentVacuum<'a>]) -> Vec<Result<(), Reason>> {
        let is_sane =
            |vacuum: &FragmentVacuum<'_>| in_its_time(&vacuum.name, self.targets(vacuum).map(|(name, _)| name));
        let families = Families { committed: &self.committed, vacuums };
        // That the first of several new fragments was replaced says nothing of the others.
        let mut verdicts = verdicts(vacuums, is_sane, |vacuum, _| self.check(array, &families, vacuum));
        while let Some((index, list)) = self.waiting(vacuums, &verdicts) {
            verdicts[index] = Err(Reason::Waits { list });
        }
        verdicts
    }

    /// One that lists what may stand in place of what another lists that is left: without it nobody could say any more whether
    /// all of that is there.
    fn waiting(&self, vacuums: &[FragmentVacuum<'_>], verdicts: &[Result<(), Reason>]) -> Option<(usize, String)> {
        let left = || vacuums.iter().zip(verdicts).filter(|(_, verdict)| verdict.is_err()).map(|(vacuum, _)| vacuum);
        left().next()?;
        let waits_for = |vacuum: &FragmentVacuum<'_>| {
            let mut targets = self.targets(vacuum);
            targets.find_map(|(name, folder)| {
                left().find(|other| other.name != vacuum.name && other.may_have_written(name, folder))
            })
        };
        let mut going = vacuums.iter().zip(verdicts).enumerate().filter(|(_, (_, verdict))| verdict.is_ok());
        going.find_map(|(index, (vacuum, _))| Some((index, waits_for(vacuum)?.list.path.clone())))
    }

    /// Whether what a vacuum file is named after, and what was written with it, stands in place of what it lists.
    fn check(&self, array: &Array, families: &Families<'_, 'a>, vacuum: &FragmentVacuum<'_>) -> Result<(), Reason> {
        if self.targets(vacuum).next().is_none() {
            return Ok(());
        }
        if vacuum.is_for_nothing {
            let is_there = self.folders.contains_key(&vacuum.folder);
            let targets = vacuum.targets.iter().filter_map(|folder| self.committed.get(folder.as_str()));
            let targets = targets.map(|fragment| fragment.entry.clone()).collect();
            return if is_there { Err(Reason::Circle) } else { show_nothing(array, targets) };
        }
        let is_sound = |entry: &FragmentEntry| array.check_files_of(entry).is_ok();
        let Some(family) = families.of(vacuum, is_sound) else { return Err(Reason::NoReplacement) };
        let mut new = New { entries: Vec::new(), fragments: Vec::new(), is_of_one: family.is_of_one };
        for fragment in family.new {
            array.check_files_of(&fragment.entry).map_err(unsound)?;
            new.fragments.push(array.fragment_of(&fragment.entry).map_err(unsound)?);
            new.entries.push(fragment.entry.clone());
        }
        let replaced =
            at_once(array.storage().profile().in_flight, &family.replaced, |fragment| replaced(array, &fragment.entry));
        let replaced: Vec<Replaced> = replaced.into_iter().filter_map(Result::transpose).collect::<Result<_, _>>()?;
        // Cells that were deleted may have been left out.
        if !self.has_deletes {
            is_covered(array, &replaced, &new.fragments)?;
        }
        are_all_there(array, &new, &replaced, &family.joined_again)
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
        let mut steps: Vec<Planned> = planned_to_ignore(array, names, inventory, &commits)?.into_iter().collect();
        let mut folders = Vec::new();
        let paths: Vec<&str> = removed.values().copied().collect();
        let listed = at_once(storage.profile().in_flight, &paths, |folder| list(storage, folder));
        for (folder, files) in paths.iter().zip(listed) {
            let files = files?;
            let metadata = files.iter().find(|entry| entry.name == FRAGMENT_METADATA);
            match self.committed.get(folder).map(|fragment| fragment.commit.as_deref()) {
                Some(Some(commit)) if self.files.contains(commit) => {
                    let what = "the commit of a fragment that was replaced";
                    // What stands in place of the fragments counts, whichever of them are left.
                    steps.push(Planned::remove_file(commit.to_owned(), 0, what).in_any_order());
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

/// What is to be known of a fragment that others replace; none of one whose removal was interrupted.
fn replaced(array: &Array, entry: &FragmentEntry) -> Result<Option<Replaced>, Reason> {
    let is_there = || array.storage().exists(&entry.folder).map_err(|error| unsound(error.into()));
    match array.fragment_of(entry) {
        Err(ArrayError::Storage(error)) if error.is_not_found() && !is_there()? => Ok(None),
        // It may be whole but for its metadata, and have what nothing else has.
        Err(error) => Err(unsound(error)),
        Ok(fragment) => {
            let domain = fragment.non_empty_domain().cloned();
            Ok(Some(Replaced { entry: entry.clone(), domain, cells: fragment.cell_count() }))
        }
    }
}

/// Whether what was replaced lies within new fragments.
fn is_covered(array: &Array, replaced: &[Replaced], new: &[Fragment]) -> Result<(), Reason> {
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
    let range = |own: &Dimension| {
        let (lo, hi) = own.domain_keys()?;
        Some(DimRange::Fixed { lo, hi })
    };
    let whole: Option<Vec<DimRange>> = array.schema().dimensions().iter().map(range).collect();
    let whole = whole.map(NdRange);
    for one in replaced {
        // Some releases say of dense fragments that their cells reach out of the domain.
        let own = one.domain.clone().and_then(|own| match &whole {
            Some(whole) => own.intersection(whole),
            None => Some(own),
        });
        if own.is_some_and(|own| !covers(&own)) {
            return Err(Reason::Uncovered { fragment: one.entry.name.to_string() });
        }
    }
    Ok(())
}

/// The file that takes these gathered commits back; none if there is nothing to take back.
pub fn ignoring_commits(
    array: &Array,
    names: &Names,
    inventory: &CommitInventory,
    commits: &HashSet<&str>,
) -> Result<Option<IgnoreFile>> {
    let planned = planned_to_ignore(array, names, inventory, commits)?;
    Ok(planned.map(|planned| IgnoreFile { content: planned.content().to_vec(), path: planned.step.path }))
}

fn planned_to_ignore(
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
