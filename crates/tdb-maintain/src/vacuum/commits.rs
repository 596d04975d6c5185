//! Vacuum of separate commits, and of superseded consolidated commits.

use std::collections::{HashMap, HashSet};

use tdb_array::{Array, CommitInventory, CommitList};
use tdb_metadata::CommitKind;
use tdb_types::names::COMMITS_FOLDER;

use crate::draft::Draft;
use crate::own_commits::own_commits;
use crate::step::Planned;
use tdb_job::Result;

pub(crate) fn draft(array: &Array, delete_files: bool) -> Result<Draft> {
    let listing = array.listing()?;
    let inventory = array.commit_inventory(&listing)?;
    let lists = Lists::of(&inventory);
    let mut steps = Vec::new();
    for own in own_commits(&listing) {
        let goes = match own.kind {
            // An ignored write commit is visible only because of its separate file, which must
            // stay.
            CommitKind::Write => lists.counts(&own.path),
            CommitKind::Delete => delete_files && lists.counts(&own.path),
            _ => false,
        };
        if goes {
            let what = "a commit in a consolidated commits file";
            // The consolidated file keeps all fragments committed, whatever the order of deletion.
            steps.push(Planned::remove_file(own.path, own.bytes, what).in_any_order());
        }
    }
    let (kept, superseded) = lists.sort_out();
    let remove = |list: &CommitList, what| Planned::remove_file(list.path.clone(), list.size, what);
    steps.extend(superseded.iter().map(|list| remove(list, "superseded consolidated commits")));
    // An ignore file must be kept as long as a consolidated file contains the commits that it
    // lists. Otherwise these commits would become visible again.
    let named: HashSet<&str> = kept.iter().flat_map(|list| &list.names).map(String::as_str).collect();
    let raw: HashSet<&str> = kept.iter().flat_map(|list| list.foreign.values()).map(String::as_str).collect();
    let is_superfluous = |list: &&&CommitList| {
        let is_named = |name: &String| named.contains(name.as_str()) || raw.contains(name.as_str());
        !list.names.iter().any(is_named)
    };
    let superfluous = lists.ignored.iter().filter(is_superfluous);
    steps.extend(superfluous.map(|list| remove(list, "an ignore file without effect")));
    Ok(Draft { steps, ..Draft::default() })
}

/// Consolidated commits files and ignore files in the folder that both libraries read.
struct Lists<'a> {
    consolidated: Vec<&'a CommitList>,
    ignored: Vec<&'a CommitList>,
    /// Ignored write commits, as written in the consolidated files.
    taken_back: HashSet<&'a str>,
    /// Visible consolidated commits.
    counting: HashSet<&'a str>,
}

impl<'a> Lists<'a> {
    fn of(inventory: &'a CommitInventory) -> Self {
        let looked_at =
            |list: &&CommitList| list.path.strip_prefix(COMMITS_FOLDER).is_some_and(|rest| rest.starts_with('/'));
        let consolidated: Vec<&CommitList> = inventory.consolidated.iter().filter(looked_at).collect();
        let ignored: Vec<&CommitList> = inventory.ignored.iter().filter(looked_at).collect();
        let taken_back = ignored.iter().flat_map(|list| &list.names).map(String::as_str).collect();
        let mut lists = Self { consolidated, ignored, taken_back, counting: HashSet::new() };
        lists.counting = lists.consolidated.iter().flat_map(|list| lists.live(list)).collect();
        lists
    }

    /// Returns the commits of a consolidated file that are not ignored.
    fn live(&self, list: &'a CommitList) -> impl Iterator<Item = &'a str> {
        list.names.iter().map(String::as_str).filter(|name| {
            let as_written = list.foreign.get(*name).map_or(*name, String::as_str);
            CommitKind::of(name) != Some(CommitKind::Write) || !self.taken_back.contains(as_written)
        })
    }

    fn counts(&self, path: &str) -> bool {
        self.counting.contains(path)
    }

    /// Returns the consolidated files to keep, and the files whose visible commits are all in kept
    /// files.
    fn sort_out(&self) -> (Vec<&'a CommitList>, Vec<&'a CommitList>) {
        let disputed = self.disputed();
        let mut lists = self.consolidated.clone();
        let live: HashMap<&str, usize> =
            lists.iter().map(|list| (list.path.as_str(), self.live(list).count())).collect();
        let order = |list: &CommitList| (live.get(list.path.as_str()).copied().unwrap_or_default(), list.path.clone());
        lists.sort_by_cached_key(|list| std::cmp::Reverse(order(list)));
        let mut held: HashSet<&str> = HashSet::new();
        let (mut kept, mut superseded) = (Vec::new(), Vec::new());
        for list in lists {
            let is_needed = self.live(list).any(|name| !held.contains(name) || disputed.contains(name));
            if is_needed {
                held.extend(self.live(list));
                kept.push(list);
            } else {
                superseded.push(list);
            }
        }
        (kept, superseded)
    }

    /// Returns delete commits that have different content in several files. All of these files are
    /// needed to determine which content applies.
    fn disputed(&self) -> HashSet<&'a str> {
        let mut said: HashMap<&str, &[u8]> = HashMap::new();
        let mut disputed = HashSet::new();
        for (path, bytes) in self.consolidated.iter().flat_map(|list| &list.deletes) {
            if **said.entry(path).or_insert(bytes) != **bytes {
                disputed.insert(path.as_str());
            }
        }
        disputed
    }
}
