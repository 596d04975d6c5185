//! Consolidation of arrays that the reference library wrote: the cells stay the same, and the
//! fragments match those that the reference library consolidated.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::fragments_support::{cells_of, storage_of};
use tdb_array::{Array, ArrayOptions, Fragment};
use tdb_job::MaintainError;
use tdb_maintain::{ConsolidateFragments, FragmentPlan, Refusal};
use tdb_metadata::PathList;
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::fixtures::{self, Fixture};
use tdb_types::{ArrayType, Feature, names::COMMITS_FOLDER};
use tdb_types::{ByteReader, FormatVersion};

/// Opens the array. Returns `None` if a filter or the key is missing.
fn open_at(storage: &Arc<dyn Storage>, time: u64) -> Option<Array> {
    let array = ArrayOptions::new().threads(1).at(time).open_on(storage.clone()).ok()?;
    let names = array.schema().attributes().iter().map(|attribute| attribute.name().to_owned());
    let readable = array.read().select(names).ok()?.batches().ok()?.all(|batch| batch.is_ok());
    readable.then_some(array)
}

/// Returns the times at which the visible cells may change.
fn times(array: &Array) -> BTreeSet<u64> {
    let names = array.fragments().unwrap().iter().map(|fragment| fragment.name().clone()).collect::<Vec<_>>();
    let near = |time: u64| [time.saturating_sub(1), time, time.saturating_add(1)];
    names.iter().flat_map(|name| near(name.start()).into_iter().chain(near(name.end()))).chain([u64::MAX]).collect()
}

fn all_fixtures() -> impl Iterator<Item = Fixture> {
    let all = fixtures::all().into_iter().chain(fixtures::of_older_releases());
    all.filter(|fixture| fixture.expected().encryption_key.is_none())
}

fn is_small(array: &Array) -> bool {
    array.fragments().unwrap().iter().filter_map(|fragment| fragment.bytes().ok()).sum::<u64>() < 200_000
}

#[test]
fn whatever_release_wrote_it_readers_find_the_same() {
    let (mut joined, mut versions) = (0, BTreeSet::new());
    for fixture in all_fixtures() {
        let disk = (*fixture.array_storage()).clone();
        let storage = storage_of(&disk);
        let Some(array) = open_at(&storage, u64::MAX) else { continue };
        if array.fragments().unwrap().len() < 2 || !is_small(&array) {
            continue;
        }
        let written = array.schema().version();
        let is_dense = array.schema().array_type() == ArrayType::Dense;
        let has_times = !is_dense && (written.has(Feature::PartialTimeOverlap) || !written.has(Feature::Validity));
        // Cells consolidated without timestamps have only the start timestamp of their fragment.
        let is_plain = array.fragments().unwrap().iter().all(|fragment| {
            fragment.footer().header().has_timestamps || fragment.name().start() == fragment.name().end()
        });
        let times = if has_times && is_plain { times(&array) } else { [u64::MAX].into() };
        let read = |time: &u64| open_at(&storage, *time).map(|array| cells_of(&array));
        let before: Vec<_> = times.iter().map(read).collect();
        let consolidate = ConsolidateFragments::new().amplification(f64::INFINITY);
        let mut report = consolidate.plan(&array).and_then(FragmentPlan::run);
        let has_dropped = matches!(&report, Err(MaintainError::Refused { why: Refusal::DroppedAttributes { .. }, .. }));
        if has_dropped {
            report = consolidate.flatten_history(true).plan(&array).and_then(FragmentPlan::run);
        }
        match report {
            Ok(report) => assert_eq!(report.steps.len(), 1, "{}", fixture.name()),
            Err(MaintainError::Refused { why: Refusal::Updates { .. }, .. }) => continue,
            Err(error) => panic!("{}: {error}", fixture.name()),
        }
        let after: Vec<_> = times.iter().map(read).collect();
        if has_dropped {
            assert_eq!(after.last(), before.last(), "{}", fixture.name());
        } else {
            assert_eq!(after, before, "{}", fixture.name());
        }
        joined += 1;
        versions.extend(array.fragments().unwrap().iter().map(Fragment::version));
    }
    assert!(joined > 40 && versions.len() > 20, "{joined} {versions:?}");
}

/// Reverts a consolidation of a release. Returns the consolidated fragment and the original ones.
fn take_back(disk: &MemoryStorage) -> Option<(String, Vec<String>)> {
    let list = |folder: &str| disk.list(folder).unwrap_or_default().into_iter().map(|entry| entry.name);
    let in_commits = list(COMMITS_FOLDER).map(|name| format!("{COMMITS_FOLDER}/{name}"));
    let files: Vec<String> = list("").chain(in_commits).filter(|path| path.ends_with(".vac")).collect();
    let [file] = &files[..] else { return None };
    let bytes = disk.read(file).unwrap();
    let replaced = PathList::parse(&mut ByteReader::new(&bytes)).unwrap();
    let replaced = replaced.targets().map(str::to_owned).collect();
    let stem = file.trim_end_matches(".vac");
    let name = stem.rsplit('/').next().unwrap().to_owned();
    for commit in [format!("{stem}.wrt"), format!("{stem}.ok")] {
        if disk.exists(&commit).unwrap() {
            disk.remove_file(&commit).unwrap();
        }
    }
    let folder = if stem.contains('/') { format!("__fragments/{name}") } else { name.clone() };
    disk.remove_folder(&folder).unwrap();
    disk.remove_file(file).unwrap();
    Some((name, replaced))
}

/// Formats the facts of a footer, with cell timestamps.
fn facts(array: &Array, fragment: &Fragment) -> String {
    let header = fragment.footer().header();
    let domain =
        header.non_empty_domain.as_ref().map(|domain| domain.display(&array.schema().domain().kinds()).to_string());
    format!(
        "{} dense {} {domain:?} {} tiles, {} cells in the last, times {}, deletes {}",
        header.version,
        header.dense,
        fragment.tile_count(),
        header.last_tile_cells,
        header.has_timestamps,
        header.has_delete_metadata
    )
}

#[test]
fn what_releases_joined_is_made_alike() {
    let (mut compared, mut versions) = (0, BTreeSet::<FormatVersion>::new());
    for fixture in all_fixtures() {
        let theirs = (*fixture.array_storage()).clone();
        let Some(array) = open_at(&storage_of(&theirs), u64::MAX) else { continue };
        let disk = (*fixture.array_storage()).clone();
        let before: BTreeSet<String> = array.fragments().unwrap().iter().map(|one| one.name().to_string()).collect();
        let Some((name, replaced)) = take_back(&disk) else { continue };
        if !before.contains(&name) {
            continue;
        }
        let storage = storage_of(&disk);
        // Some releases write the current format version into old arrays. Old releases wrote their
        // own.
        let made = array.fragments().unwrap().iter().find(|one| one.name().as_str() == name).unwrap();
        let list: Vec<String> = replaced.iter().map(|folder| folder.rsplit('/').next().unwrap().to_owned()).collect();
        let now = open_at(&storage, u64::MAX).unwrap();
        let consolidate = ConsolidateFragments::new().fragments(list).flatten_history(true);
        let report =
            consolidate.plan(&now).unwrap().run().unwrap_or_else(|error| panic!("{}: {error}", fixture.name()));
        let step = &report.steps[0];
        let vacuum = disk.read(&step.vacuum_file).unwrap();
        let ours = PathList::parse(&mut ByteReader::new(&vacuum)).unwrap();
        assert_eq!(ours.targets().collect::<Vec<_>>(), replaced, "{}", fixture.name());
        let joined = open_at(&storage, u64::MAX).unwrap();
        assert_eq!(cells_of(&joined), cells_of(&array), "{}", fixture.name());
        let ours = joined.fragments().unwrap().iter().find(|one| *one.name() == step.fragments[0]).unwrap();
        assert_eq!((ours.name().start(), ours.name().end()), (made.name().start(), made.name().end()));
        if ours.version() == made.version() {
            assert_eq!(facts(&joined, ours), facts(&array, made), "{}", fixture.name());
            versions.insert(made.version());
            compared += 1;
        }
    }
    assert!(compared >= 6 && versions.len() >= 5, "{compared} {versions:?}");
}
