//! Files of metadata that were joined.

use std::collections::HashMap;

use tdb_array::{SmallFiles, TimeRange};

use super::chain::{Replacement, in_its_time, verdicts};
use crate::Result;
use crate::draft::{Draft, Left, Reason};
use crate::metadata_files::{MetadataFile, MetadataFiles, MetadataVacuum, merged};
use crate::step::Planned;
use crate::target::Target;

impl Replacement for MetadataVacuum {
    fn replacement(&self) -> &str {
        self.name.as_str()
    }

    fn targets(&self) -> &[String] {
        &self.targets
    }
}

pub(crate) fn draft(target: &Target) -> Result<Draft> {
    let files = target.small_files();
    let all = MetadataFiles::list(&files)?;
    let by_name: HashMap<&str, &MetadataFile> = all.files.iter().map(|file| (file.name.as_str(), file)).collect();
    let there = |vacuum: &MetadataVacuum| {
        let mut targets: Vec<&MetadataFile> =
            vacuum.targets.iter().filter_map(|name| by_name.get(name.as_str()).copied()).collect();
        targets.sort_by(|a, b| a.name.cmp(&b.name));
        targets.dedup_by(|a, b| a.name == b.name);
        targets
    };
    let is_sane = |vacuum: &MetadataVacuum| in_its_time(&vacuum.name, there(vacuum).iter().map(|file| &file.name));
    let check = |vacuum: &MetadataVacuum, held: bool| match held {
        true => Ok(()),
        false => check(&files, by_name.get(vacuum.name.as_str()), &there(vacuum)),
    };
    let verdicts = verdicts(&all.vacuums, is_sane, check);
    let mut draft = Draft::default();
    let mut removed: Vec<&MetadataFile> = Vec::new();
    let mut lists = Vec::new();
    for (vacuum, verdict) in all.vacuums.iter().zip(verdicts) {
        let targets = there(vacuum);
        match verdict {
            Err(why) => draft.left.push(Left { path: vacuum.path.clone(), why }),
            Ok(()) => {
                if let (Some(first), true) = (targets.first(), vacuum.name.end() > vacuum.name.start()) {
                    draft.past.push(TimeRange { start: first.name.start(), end: vacuum.name.end() - 1 });
                }
                removed.extend(targets);
                let list =
                    Planned::remove_file(vacuum.path.clone(), vacuum.bytes, "the list of metadata that was joined");
                lists.push(list);
            }
        }
    }
    // The oldest first: what is left at any moment says the same of what was deleted later.
    removed.sort_by(|a, b| a.name.cmp(&b.name));
    removed.dedup_by(|a, b| a.name == b.name);
    let steps = removed.iter().map(|file| Planned::remove_file(file.path(), file.bytes, "metadata that was joined"));
    // These last: without them what they list would count again.
    draft.steps = steps.chain(lists).collect();
    Ok(draft)
}

/// What is to be said of a vacuum file of metadata.
pub(crate) struct ListVerdict {
    pub(crate) path: String,
    pub(crate) bytes: u64,
    /// How many of the files that it names are there.
    pub(crate) targets: usize,
    /// Whether they may go.
    pub(crate) verdict: Result<(), Reason>,
}

/// Whether what vacuum files of metadata name may go.
pub(crate) fn lists(target: &Target) -> Result<Vec<ListVerdict>> {
    let files = target.small_files();
    let all = MetadataFiles::list(&files)?;
    let by_name: HashMap<&str, &MetadataFile> = all.files.iter().map(|file| (file.name.as_str(), file)).collect();
    let there = |vacuum: &MetadataVacuum| -> Vec<&MetadataFile> {
        vacuum.targets.iter().filter_map(|name| by_name.get(name.as_str()).copied()).collect()
    };
    let is_sane = |vacuum: &MetadataVacuum| in_its_time(&vacuum.name, there(vacuum).iter().map(|file| &file.name));
    let check = |vacuum: &MetadataVacuum, held: bool| match held {
        true => Ok(()),
        false => check(&files, by_name.get(vacuum.name.as_str()), &there(vacuum)),
    };
    let verdicts = verdicts(&all.vacuums, is_sane, check);
    let of = |(vacuum, verdict): (&MetadataVacuum, Result<(), Reason>)| ListVerdict {
        path: vacuum.path.clone(),
        bytes: vacuum.bytes,
        targets: there(vacuum).len(),
        verdict,
    };
    Ok(all.vacuums.iter().zip(verdicts).map(of).collect())
}

/// Whether what a vacuum file is named after stands in place of what it lists.
fn check(files: &SmallFiles, replacement: Option<&&MetadataFile>, targets: &[&MetadataFile]) -> Result<(), Reason> {
    if targets.is_empty() {
        return Ok(());
    }
    if replacement.is_some_and(|replacement| targets.iter().any(|target| target.name == replacement.name)) {
        return Err(Reason::Circle);
    }
    let read = match replacement {
        Some(file) => files.read_metadata(&file.path()).map(|_| true),
        // Nothing was written if all that they say was deleted in the end.
        None => merged(files, targets.iter().copied()).map(|merged| merged.values().all(Option::is_none)),
    };
    match read {
        Ok(true) => Ok(()),
        Ok(false) => Err(Reason::NoReplacement),
        Err(error) => Err(Reason::Unsound(Box::new(error))),
    }
}
