//! Vacuum of superseded fragments.

use std::collections::{BTreeMap, HashMap, HashSet};

use tdb_array::tdb_rtree::{DimRange, NdRange};
use tdb_array::tdb_schema::Dimension;
use tdb_array::{
    Array, ArrayError, CommitInventory, CommittedFragment, Fragment, FragmentEntry, Listing, TimeRange, WriteIds,
};
use tdb_metadata::CommitKind;
use tdb_storage::{EntryKind, at_once};
use tdb_types::names::{COMMITS_FOLDER, CONSOLIDATED_EXTENSION, FRAGMENT_METADATA, FRAGMENTS_FOLDER};
use tdb_types::{ArrayType, Feature, TimestampedName};

use super::chain::{in_its_time, verdicts};
use super::complete::{New, Replaced, are_all_there, show_nothing, unsound};
use super::family::{Families, FragmentVacuum};
use crate::draft::{Draft, Reason, Retained};
use crate::ignoring::ignoring;
use crate::step::Planned;
use tdb_job::Result;
use tdb_job::journal::folder_of;
use tdb_job::list;
use tdb_rtree::disjoint;

/// An ignore file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoreFile {
    /// Path below the folder of the array.
    pub path: String,
    /// Content of the file.
    pub content: Vec<u8>,
}

/// Findings about a vacuum file of fragments.
#[derive(Debug)]
pub struct FragmentList {
    /// Path below the folder of the array.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Folder of the consolidated fragment.
    pub folder: String,
    /// Number of existing listed fragments.
    pub targets: usize,
    /// `Ok` if the listed fragments may be deleted.
    pub verdict: Result<(), Reason>,
}

/// Checks for each vacuum file of fragments whether the listed fragments may be deleted.
///
/// # Errors
/// - A folder cannot be listed.
/// - A commit file is damaged, names a fragment of an unknown version, or cannot be read.
pub fn fragment_lists(array: &Array) -> Result<Vec<FragmentList>> {
    let listing = array.listing()?;
    let inventory = array.commit_inventory(&listing)?;
    let there = There::of(array, &listing, &inventory)?;
    let vacuums: Vec<FragmentVacuum<'_>> = inventory.vacuums.iter().filter_map(FragmentVacuum::of).collect();
    let of = |(vacuum, verdict): (&FragmentVacuum<'_>, Verdict)| FragmentList {
        path: vacuum.list.path.clone(),
        bytes: vacuum.list.size,
        folder: vacuum.folder.clone(),
        targets: there.targets(vacuum).count(),
        verdict: verdict.map(drop),
    };
    Ok(vacuums.iter().zip(there.verdicts(array, &vacuums)).map(of).collect())
}

pub(crate) fn draft(array: &Array, names: &WriteIds) -> Result<Draft> {
    let listing = array.listing()?;
    let inventory = array.commit_inventory(&listing)?;
    let there = There::of(array, &listing, &inventory)?;
    let vacuums: Vec<FragmentVacuum<'_>> = inventory.vacuums.iter().filter_map(FragmentVacuum::of).collect();
    let verdicts = there.verdicts(array, &vacuums);
    let mut draft = Draft::default();
    let mut removed: BTreeMap<&TimestampedName, &str> = BTreeMap::new();
    let mut sizes: HashMap<String, u64> = HashMap::new();
    let mut lists = Vec::new();
    for (vacuum, verdict) in vacuums.iter().zip(verdicts) {
        match verdict {
            Err(why) => draft.left.push(Retained { path: vacuum.list.path.clone(), why }),
            Ok(replaced) => {
                sizes.extend(replaced.into_iter().filter_map(|one| Some((one.entry.folder, one.bytes?))));
                let targets: Vec<(&TimestampedName, &str)> = there.targets(vacuum).collect();
                draft.past.extend(there.past(array, vacuum, &targets));
                removed.extend(targets);
                let what = "the vacuum file of a consolidated fragment";
                lists.push(Planned::remove_file(vacuum.list.path.clone(), vacuum.list.size, what));
            }
        }
    }
    draft.steps = there.removal(array, names, &inventory, &removed, &sizes)?;
    // The vacuum files are deleted last. Otherwise the listed fragments would be visible again.
    draft.steps.extend(lists);
    Ok(draft)
}

/// The examined replaced fragments if the listed fragments may be deleted.
type Verdict = Result<Vec<Replaced>, Reason>;

/// The existing files and folders of fragments.
struct There<'a> {
    /// Committed fragments by folder.
    committed: HashMap<&'a str, &'a CommittedFragment>,
    /// All fragments by folder, committed or not.
    folders: HashMap<String, TimestampedName>,
    /// Paths of the files in the root and in the folder of commits.
    files: HashSet<String>,
    /// `true` if the array has deletes.
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
            // If the folder of a fragment is already deleted, its commit must still be deleted.
            folders.entry(fragment.entry.folder.clone()).or_insert_with(|| fragment.entry.name.clone());
        }
        Ok(Self {
            committed: committed.map(|fragment| (fragment.entry.folder.as_str(), fragment)).collect(),
            folders,
            files: in_commits.chain(in_root).collect(),
            has_deletes: inventory.paths.iter().any(|path| CommitKind::of(path) == Some(CommitKind::Delete)),
        })
    }

    /// Returns the names and folders of those listed fragments that exist.
    fn targets<'b>(&'b self, vacuum: &'b FragmentVacuum<'_>) -> impl Iterator<Item = (&'b TimestampedName, &'b str)> {
        vacuum.targets.iter().filter_map(|folder| self.folders.get_key_value(folder)).map(|(f, n)| (n, f.as_str()))
    }

    /// Decides for each vacuum file whether the listed fragments may be deleted.
    fn verdicts(&self, array: &Array, vacuums: &[FragmentVacuum<'a>]) -> Vec<Verdict> {
        let is_sane =
            |vacuum: &FragmentVacuum<'_>| in_its_time(&vacuum.name, self.targets(vacuum).map(|(name, _)| name));
        let families = Families { committed: &self.committed, vacuums };
        // Ignore whether the first new fragment was replaced, because this proves nothing about the
        // other new fragments.
        let check = |vacuum: &FragmentVacuum<'a>, _| self.check(array, &families, vacuum);
        let mut verdicts = verdicts(vacuums, |vacuum| (&vacuum.folder, &vacuum.targets), is_sane, check);
        while let Some((index, list)) = self.waiting(vacuums, &verdicts) {
            verdicts[index] = Err(Reason::Waits { list });
        }
        verdicts
    }

    /// Returns the index of a vacuum file that must wait for a kept vacuum file, and the path of
    /// the kept file. The fragments listed in the waiting file may replace the fragments listed in
    /// the kept file, and are needed to check this replacement.
    fn waiting(&self, vacuums: &[FragmentVacuum<'_>], verdicts: &[Verdict]) -> Option<(usize, String)> {
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

    /// Checks that the new fragments of a consolidation replace all listed fragments.
    fn check(&self, array: &Array, families: &Families<'_, 'a>, vacuum: &FragmentVacuum<'_>) -> Verdict {
        if self.targets(vacuum).next().is_none() {
            return Ok(Vec::new());
        }
        if vacuum.is_for_nothing {
            let is_there = self.folders.contains_key(&vacuum.folder);
            let targets = vacuum.targets.iter().filter_map(|folder| self.committed.get(folder.as_str()));
            let targets = targets.map(|fragment| fragment.entry.clone()).collect();
            return if is_there { Err(Reason::Cycle) } else { show_nothing(array, targets).map(|()| Vec::new()) };
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
        // A purge may have left out deleted cells.
        if !self.has_deletes {
            is_covered(array, &replaced, &new.fragments)?;
        }
        are_all_there(array, &new, &replaced, &family.joined_again)?;
        Ok(replaced)
    }

    /// Returns the time range at which readers can no longer read the cells. Returns `None` if
    /// there is no such time range, for example because sparse fragments have cell timestamps.
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

    /// Returns the steps that delete fragments. First, an ignore file hides the consolidated
    /// commits. Then the separate commits and the folders are deleted.
    fn removal(
        &self,
        array: &Array,
        names: &WriteIds,
        inventory: &CommitInventory,
        removed: &BTreeMap<&TimestampedName, &str>,
        sizes: &HashMap<String, u64>,
    ) -> Result<Vec<Planned>> {
        let storage = &**array.storage();
        let commits = removed.values().filter_map(|folder| self.committed.get(folder)?.commit.as_deref()).collect();
        let mut steps: Vec<Planned> = planned_to_ignore(array, names, inventory, &commits)?.into_iter().collect();
        let mut folders = Vec::new();
        let paths: Vec<&str> = removed.values().copied().collect();
        let has_commit = |folder: &str| self.committed.get(folder).is_some_and(|fragment| fragment.commit.is_some());
        let is_known = |folder: &&str| sizes.contains_key(*folder) && has_commit(folder);
        let unknown: Vec<&str> = paths.iter().filter(|folder| !is_known(folder)).copied().collect();
        let listed = at_once(storage.profile().in_flight, &unknown, |folder| list(storage, folder));
        let mut listed: HashMap<&str, _> = unknown.into_iter().zip(listed).collect();
        for folder in paths {
            let files = listed.remove(folder).transpose()?.unwrap_or_default();
            let metadata = files.iter().find(|entry| entry.name == FRAGMENT_METADATA);
            match self.committed.get(folder).map(|fragment| fragment.commit.as_deref()) {
                Some(Some(commit)) if self.files.contains(commit) => {
                    let what = "the commit of a superseded fragment";
                    // The fragments that replace them are visible, whatever the order of deletion.
                    steps.push(Planned::remove_file(commit.to_owned(), 0, what).in_any_order());
                }
                // Without a separate commit, the fragment metadata is the commit.
                Some(None) => steps.extend(metadata.map(|entry| {
                    let path = format!("{folder}/{}", entry.name);
                    Planned::remove_file(path, entry.size, "the metadata of a superseded fragment")
                })),
                _ => {}
            }
            let of_files = || files.iter().fold(0, |sum: u64, entry| sum.saturating_add(entry.size));
            let bytes = sizes.get(folder).copied().unwrap_or_else(of_files);
            folders.push(Planned::remove_folder(folder.to_owned(), bytes, "a superseded fragment"));
        }
        steps.extend(folders);
        Ok(steps)
    }
}

/// Reads the facts about a replaced fragment. Returns `None` if an interrupted deletion has already
/// deleted its folder.
fn replaced(array: &Array, entry: &FragmentEntry) -> Result<Option<Replaced>, Reason> {
    let is_there = || array.storage().exists(&entry.folder).map_err(|error| unsound(error.into()));
    match array.fragment_of(entry) {
        Err(ArrayError::Storage(error)) if error.is_not_found() && !is_there()? => Ok(None),
        // Perhaps only the metadata is damaged, and the data files are the only copy of the cells.
        Err(error) => Err(unsound(error)),
        Ok(fragment) => {
            let domain = fragment.non_empty_domain().cloned();
            Ok(Some(Replaced {
                entry: entry.clone(),
                domain,
                cells: fragment.cell_count(),
                bytes: fragment.bytes().ok(),
            }))
        }
    }
}

/// Checks that the new fragments cover the domains of the replaced fragments.
fn is_covered(array: &Array, replaced: &[Replaced], new: &[Fragment]) -> Result<(), Reason> {
    let boxes: Vec<NdRange> = new.iter().filter_map(|fragment| fragment.non_empty_domain().cloned()).collect();
    let hull = boxes.iter().cloned().reduce(|mut hull, new| {
        hull.expand(&new);
        hull
    });
    let covers = |own: &NdRange| match array.schema().is_dense() {
        // Each new fragment contains a part of the cells, and a part in the middle may be missing.
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
        // Some releases write dense fragments whose non-empty domain extends beyond the domain of
        // the array.
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

/// Returns the ignore file that hides these commits in consolidated commits files. Returns `None`
/// if no consolidated file contains a commit that is not yet ignored.
///
/// # Errors
/// The clock or the random bytes for the name of the ignore file are not available.
pub fn ignoring_commits(
    array: &Array,
    names: &WriteIds,
    inventory: &CommitInventory,
    commits: &HashSet<&str>,
) -> Result<Option<IgnoreFile>> {
    let planned = planned_to_ignore(array, names, inventory, commits)?;
    Ok(planned.map(|planned| IgnoreFile { content: planned.content().to_vec(), path: planned.step.path }))
}

fn planned_to_ignore(
    array: &Array,
    names: &WriteIds,
    inventory: &CommitInventory,
    commits: &HashSet<&str>,
) -> Result<Option<Planned>> {
    let ignored: HashSet<&str> = inventory.ignored.iter().flat_map(|list| &list.names).map(String::as_str).collect();
    let mut paths = Vec::new();
    for list in inventory.consolidated.iter().filter(|list| list.path.ends_with(CONSOLIDATED_EXTENSION)) {
        for name in list.names.iter().filter(|name| commits.contains(name.as_str())) {
            let as_written = list.foreign.get(name).unwrap_or(name);
            if !ignored.contains(as_written.as_str()) {
                paths.push(as_written.clone());
            }
        }
    }
    ignoring(array, names, paths)
}
