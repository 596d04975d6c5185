//! Vacuum of superseded metadata files.

use std::collections::{BTreeMap, HashMap};

use tdb_array::{ArrayError, SmallFiles, TimeRange};
use tdb_metadata::MetadataValue;

use super::chain::{in_its_time, verdicts};
use super::complete::unsound;
use crate::draft::{Draft, Reason, Retained};
use crate::step::Planned;
use tdb_job::Result;
use tdb_job::Target;
use tdb_job::{MetadataFile, MetadataFiles, MetadataVacuum, merged};

/// Each vacuum file, the listed files that exist, and whether the listed files may be deleted.
type Judged<'a> = Vec<(&'a MetadataVacuum, Vec<&'a MetadataFile>, Result<(), Reason>)>;

fn judged<'a>(files: &SmallFiles, all: &'a MetadataFiles) -> Judged<'a> {
    let by_name: HashMap<&str, &MetadataFile> = all.files.iter().map(|file| (file.name.as_str(), file)).collect();
    let there = |vacuum: &MetadataVacuum| {
        let mut targets: Vec<&'a MetadataFile> =
            vacuum.targets.iter().filter_map(|name| by_name.get(name.as_str()).copied()).collect();
        targets.sort_by(|a, b| a.name.cmp(&b.name));
        targets.dedup_by(|a, b| a.name == b.name);
        targets
    };
    let is_sane = |vacuum: &MetadataVacuum| in_its_time(&vacuum.name, there(vacuum).iter().map(|file| &file.name));
    let check = |vacuum: &MetadataVacuum, held: bool| match held {
        true => Ok(()),
        false => check(files, vacuum, by_name.get(vacuum.replacement.as_str()), &there(vacuum)),
    };
    let verdicts = verdicts(&all.vacuums, |vacuum| (vacuum.replacement.as_str(), &vacuum.targets), is_sane, check);
    all.vacuums.iter().zip(verdicts).map(|(vacuum, verdict)| (vacuum, there(vacuum), verdict)).collect()
}

pub(crate) fn draft(target: &Target) -> Result<Draft> {
    let files = target.small_files();
    let all = MetadataFiles::list(&files)?;
    let mut draft = Draft::default();
    let mut removed: Vec<&MetadataFile> = Vec::new();
    let mut lists = Vec::new();
    for (vacuum, targets, verdict) in judged(&files, &all) {
        match verdict {
            Err(why) => draft.left.push(Retained { path: vacuum.path.clone(), why }),
            Ok(()) => {
                if let (Some(first), true) = (targets.first(), vacuum.name.end() > vacuum.name.start()) {
                    draft.past.push(TimeRange { start: first.name.start(), end: vacuum.name.end() - 1 });
                }
                removed.extend(targets);
                let list =
                    Planned::remove_file(vacuum.path.clone(), vacuum.bytes, "the vacuum file of consolidated metadata");
                lists.push(list);
            }
        }
    }
    // Delete the oldest files first, so that the remaining files always contain the last value of
    // each key.
    removed.sort_by(|a, b| a.name.cmp(&b.name));
    removed.dedup_by(|a, b| a.name == b.name);
    let steps = removed.iter().map(|file| Planned::remove_file(file.path(), file.bytes, "superseded metadata"));
    // The vacuum files are deleted last. Otherwise the listed files would be visible again.
    draft.steps = steps.chain(lists).collect();
    Ok(draft)
}

/// Findings about a vacuum file of metadata.
#[derive(Debug)]
pub struct MetadataList {
    /// Path below the folder of the array or group.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Number of existing listed files.
    pub targets: usize,
    /// Name of the consolidated file, if its UUID differs from the UUID of the vacuum file.
    pub renamed: Option<String>,
    /// `Ok` if the listed files may be deleted.
    pub verdict: Result<(), Reason>,
}

/// Checks for each vacuum file of metadata whether the listed files may be deleted.
///
/// # Errors
/// The metadata folder cannot be listed, or a vacuum file is damaged, too large, or cannot be read.
pub fn metadata_lists(target: &Target) -> Result<Vec<MetadataList>> {
    let files = target.small_files();
    let all = MetadataFiles::list(&files)?;
    let of = |(vacuum, targets, verdict): (&MetadataVacuum, Vec<&MetadataFile>, Result<(), Reason>)| MetadataList {
        path: vacuum.path.clone(),
        bytes: vacuum.bytes,
        targets: targets.len(),
        renamed: vacuum.is_renamed().then(|| vacuum.replacement.to_string()),
        verdict,
    };
    Ok(judged(&files, &all).into_iter().map(of).collect())
}

/// Checks that the consolidated file replaces the listed files.
fn check(
    files: &SmallFiles,
    vacuum: &MetadataVacuum,
    replacement: Option<&&MetadataFile>,
    targets: &[&MetadataFile],
) -> Result<(), Reason> {
    if targets.is_empty() {
        return Ok(());
    }
    match replacement.map(|file| replaces(files, vacuum, file, targets)) {
        // A file with the same timestamps and another UUID may be unrelated.
        Some(Err(why)) if !vacuum.is_renamed() => Err(why),
        Some(Ok(())) => Ok(()),
        _ => {
            // If all keys were deleted, a consolidation may write no file.
            let merged = merged(files, targets.iter().copied()).map_err(unsound)?;
            if merged.values().all(Option::is_none) { Ok(()) } else { Err(Reason::NoReplacement) }
        }
    }
}

/// Checks that a file has the same content as the listed files combined.
fn replaces(
    files: &SmallFiles,
    vacuum: &MetadataVacuum,
    file: &MetadataFile,
    targets: &[&MetadataFile],
) -> Result<(), Reason> {
    if targets.iter().any(|target| target.name == file.name) {
        return Err(Reason::Cycle);
    }
    let own = merged(files, std::iter::once(file)).map_err(unsound)?;
    let said = last_said(files, targets).map_err(unsound)?;
    // If a listed file is missing, values cannot be compared, because the missing file may have set
    // the last value of a key. A consolidated file with another UUID can be identified only by its
    // content, so its values are always compared. This is possible because a vacuum deletes the
    // oldest files first, and the remaining files contain the last values.
    let is_whole = vacuum.is_renamed()
        || vacuum.targets.iter().all(|name| targets.iter().any(|target| target.name.as_str() == name));
    let lacks = said.into_iter().find(|(key, values)| match own.get(key) {
        Some(value) => is_whole && !values.contains(value),
        // The reference library leaves out deleted keys.
        None => is_whole && !values.contains(&None),
    });
    match lacks {
        Some((key, _)) => Err(Reason::Lacks { key: String::from_utf8_lossy(&key).into_owned() }),
        None => Ok(()),
    }
}

/// Returns the last values of each key. If several files have the same time, the value of each of
/// them may be the last value.
fn last_said(
    files: &SmallFiles,
    of: &[&MetadataFile],
) -> Result<BTreeMap<Vec<u8>, Vec<Option<MetadataValue>>>, ArrayError> {
    let mut said: BTreeMap<Vec<u8>, (u64, Vec<Option<MetadataValue>>)> = BTreeMap::new();
    for file in of {
        for (key, value) in merged(files, std::iter::once(*file))? {
            let (time, values) = said.entry(key).or_default();
            if file.name.start() > *time {
                values.clear();
            }
            if file.name.start() >= *time {
                *time = file.name.start();
                values.push(value);
            }
        }
    }
    Ok(said.into_iter().map(|(key, (_, values))| (key, values)).collect())
}
