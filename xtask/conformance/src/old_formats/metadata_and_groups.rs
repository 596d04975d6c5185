//! Metadata and groups in the formats of older releases.

use std::collections::BTreeSet;
use std::path::Path;
use std::thread;
use std::time::Duration;

use tdb_array::{CreateOptions, Group, WriteIds};
use tdb_cases::case::Case;
use tdb_cases::ours::{self, describe};
use tdb_cases::random::Random;
use tdb_cases::verdict::{Failure, Kind};
use tdb_cases::writer::set_key;
use tdb_cases::{entries, limits};
use tdb_reference::model::{Bytes, GroupMember, MetadataEntry, ObjectKind};
use tdb_reference::{Ability, Job, Reference};
use tdb_types::Datatype;

use crate::by_release::Sides;

/// Timestamp of the metadata, after all other operations.
const TIME: u64 = 1_700_000_500_000;

/// Writes metadata to both arrays, with tdb to tdb's, and reads both with both releases. Skips
/// older releases without metadata. Returns how often the older release also fails on the newest
/// release's metadata.
pub(super) fn metadata(
    case: &Case,
    index: u64,
    sides: &mut Sides,
    [theirs, ours]: [&str; 2],
    shared: bool,
) -> Result<u64, Failure> {
    let release = sides.older.release();
    let shared = shared && release.can(Ability::Metadata);
    let random = &mut Random::new(!index);
    let mut some = || -> Vec<MetadataEntry> {
        entries::entries(random).into_iter().filter(|entry| limits::knows(release, entry.datatype)).collect()
    };
    let (first, second) = (some(), some());
    if shared {
        let time = release.can(Ability::WriteTimes).then_some(TIME);
        for uri in [theirs, ours] {
            sides.older.put_metadata(uri, &first, time).map_err(by_reference)?;
        }
        thread::sleep(Duration::from_millis(2));
    }
    let delete: Vec<String> = first.iter().take(1).map(|entry| entry.key.clone()).collect();
    // The first releases with metadata always use the current time.
    let time = (!shared || release.can(Ability::WriteTimes)).then_some(TIME + 1);
    let array = ours::options(case).open(ours).map_err(|error| Failure::ours(describe(&error)))?;
    let names = time.map_or_else(WriteIds::new, |time| WriteIds::new().at(time));
    entries::change(array.write_metadata().ids(names), &second, &delete).map_err(Failure::ours)?;
    let job = Job::ChangeMetadata { uri: theirs.to_owned(), put: second, delete, timestamp: time };
    sides.newest.done(job).map_err(by_reference)?;
    let read = |side: &mut Reference| [theirs, ours].map(|uri| side.metadata(uri, None));
    let by_newest = read(&mut sides.newest);
    if !are_same(&by_newest) {
        return Err(Failure::new(Kind::Cells, format!("metadata differ: {by_newest:?}")));
    }
    if !release.can(Ability::Metadata) {
        return Ok(0);
    }
    let by_older = read(&mut sides.older);
    match by_older {
        [Err(_), _] => Ok(1),
        same if are_same(&same) => Ok(0),
        other => Err(Failure::new(Kind::Cells, format!("release {} reads metadata: {other:?}", release.library))),
    }
}

fn are_same(read: &[tdb_reference::Result<Vec<MetadataEntry>>; 2]) -> bool {
    matches!(read, [Ok(theirs), Ok(ours)] if theirs == ours)
}

/// Changes two equal groups, one with tdb and one with the older release. Both must read the same
/// with all sides. The older release or tdb created the groups, and the older release added
/// members.
pub(super) fn group(index: u64, sides: &mut Sides, folder: &Path) -> Result<(), Failure> {
    for side in [&mut sides.older, &mut sides.newest] {
        set_key(side, false);
    }
    let folder = tempfile::tempdir_in(folder).map_err(by_reference)?;
    let release = sides.older.release();
    let random = &mut Random::new(index);
    let put: Vec<_> =
        entries::entries(random).into_iter().filter(|entry| limits::knows(release, entry.datatype)).collect();
    let paths = ["theirs", "ours"].map(|name| folder.path().join(name));
    let makes = index.is_multiple_of(8);
    for path in &paths {
        begin_group(&mut sides.older, path, makes && path == &paths[1], &put)?;
    }
    thread::sleep(Duration::from_millis(2));
    let more =
        MetadataEntry { key: "more".to_owned(), datatype: Datatype::Int32, count: 1, value: Bytes(vec![1, 2, 3, 4]) };
    let gone = put.first().map(|entry| entry.key.clone());
    let job = Job::ChangeGroup {
        uri: paths[0].to_string_lossy().into_owned(),
        add: vec![member("third")],
        remove: vec!["the first".to_owned()],
        put: vec![more.clone()],
        delete: gone.iter().cloned().collect(),
    };
    sides.older.done(job).map_err(by_reference)?;
    change_group(&paths[1], &more, &gone).map_err(Failure::ours)?;
    for side in [&mut sides.older, &mut sides.newest] {
        let library = side.release().library;
        let told = paths.each_ref().map(|path| listed(side, path));
        match told {
            [Ok(theirs), Ok(ours)] if theirs == ours => {}
            [theirs, ours] => {
                let detail = format!("release {library} reads from the group {ours:?} instead of {theirs:?}");
                return Err(Failure::new(Kind::Cells, detail));
            }
        }
    }
    Ok(())
}

fn member(name: &str) -> GroupMember {
    GroupMember { uri: name.to_owned(), name: Some(format!("the {name}")), kind: ObjectKind::Group, relative: true }
}

/// Creates a group with two members, and a third folder that can be added.
fn begin_group(older: &mut Reference, path: &Path, is_ours: bool, put: &[MetadataEntry]) -> Result<(), Failure> {
    let ours = |error: tdb_array::ArrayError| Failure::ours(describe(&error));
    let uri = path.to_string_lossy().into_owned();
    match is_ours {
        true => CreateOptions::new().create_group(path).map_err(ours)?,
        false => older.done(Job::CreateGroup { uri: uri.clone() }).map_err(by_reference)?,
    }
    for name in ["first", "second", "third"] {
        CreateOptions::new().create_group(path.join(name)).map_err(ours)?;
    }
    let add = vec![member("first"), member("second")];
    let job = Job::ChangeGroup { uri, add, remove: Vec::new(), put: put.to_vec(), delete: Vec::new() };
    older.done(job).map_err(by_reference)
}

fn change_group(path: &Path, more: &MetadataEntry, gone: &Option<String>) -> Result<(), String> {
    let ours = |error: tdb_array::ArrayError| describe(&error);
    let change = Group::open(path).map_err(ours)?.change();
    change.remove("the first").add("third", true, Some("the third")).commit().map_err(ours)?;
    let writer = Group::open(path).map_err(ours)?.write_metadata();
    entries::change(writer, std::slice::from_ref(more), gone.as_slice())
}

/// The names and folders of a group's members, and the group's metadata.
type Listed = (BTreeSet<(String, String)>, Vec<MetadataEntry>);

/// Lists a group with a library.
fn listed(side: &mut Reference, path: &Path) -> tdb_reference::Result<Listed> {
    let told = side.describe_group(&path.to_string_lossy())?;
    let folder = |uri: &str| uri.rsplit('/').next().unwrap_or_default().to_owned();
    let members = told.members.iter().map(|member| (member.name.clone().unwrap_or_default(), folder(&member.uri)));
    Ok((members.collect(), told.metadata))
}

pub(super) fn by_reference(error: impl std::fmt::Display) -> Failure {
    Failure::new(Kind::TheirError, error.to_string())
}
