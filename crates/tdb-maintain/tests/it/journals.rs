//! Journals that this library cannot have written, or that would lose data.

use std::sync::Arc;

use crate::fragments_support::{Kind, Random, cells_at, create, open, sparse, storage_of, write_sparse};
use tdb_array::{FragmentEntry, WriteIds};
use tdb_maintain::{ConsolidateFragments, Reason, Vacuum};
use tdb_storage::{MemoryStorage, Storage};
use tdb_types::{Datatype, Layout, TimestampedName};

const TITLE: &str = "tdb journal of joined fragments 1\n";
const JOURNAL: &str = ".tdb-journal-abc.tmp";

/// Returns an array with three fragments, of the times 11, 12 and 13.
fn array(version: u32) -> Arc<dyn Storage> {
    let storage = storage_of(&MemoryStorage::new());
    let kind = Kind { version, order: Layout::RowMajor, duplicates: true, first: Datatype::Int32 };
    create(&storage, sparse(kind));
    let mut random = Random(5);
    (11..14).for_each(|time| write_sparse(&storage, &mut random, kind, &WriteIds::new().seeded(3).at(time)));
    storage
}

fn fragments(storage: &Arc<dyn Storage>) -> Vec<FragmentEntry> {
    open(storage).directory().fragments.clone()
}

fn name(times: &str, version: u32) -> String {
    format!("__{times}_0123456789abcdef0123456789abcdef_{version}")
}

/// Returns the paths of a fragment, its commit and its vacuum file.
fn paths(name: &str) -> [String; 3] {
    match name.ends_with("_9") {
        true => [name.to_owned(), format!("{name}.ok"), format!("{name}.vac")],
        false => [format!("__fragments/{name}"), format!("__commits/{name}.wrt"), format!("__commits/{name}.vac")],
    }
}

/// Returns a journal of a vacuum file, with new fragments and the fragments that they replace.
fn journal(vacuum: &str, outputs: &[&str], replaced: &[&str]) -> String {
    let mut text = format!("{TITLE}vacuum {}\n", paths(vacuum)[2]);
    for output in outputs {
        let [folder, commit, _] = paths(output);
        text += &format!("output {folder} {commit}\n");
    }
    let start = |name: &str| if name.ends_with("_9") { "file:///arrays/array/" } else { "/" };
    let lines = replaced.iter().map(|name| format!("{}{}\n", start(name), paths(name)[0]));
    format!("{text}\n{}", lines.collect::<String>())
}

/// Returns all file names except the journal.
fn files(storage: &Arc<dyn Storage>) -> Vec<String> {
    let list = |folder: &str| storage.list(folder).unwrap_or_default().into_iter().map(move |entry| entry.name);
    let all = list("").chain(list("__fragments")).chain(list("__commits"));
    all.filter(|name| name != JOURNAL).collect()
}

/// Checks that a journal is reported and stays untouched, and removes it.
fn is_left(storage: &Arc<dyn Storage>, journal: &str) {
    let (before, cells) = (files(storage), cells_at(storage, 50));
    storage.create_new(JOURNAL, journal.as_bytes()).unwrap();
    let report = Vacuum::all().plan(&open(storage)).unwrap().run().unwrap();
    let left: Vec<&str> = report.left.iter().map(|left| left.path.as_str()).collect();
    assert_eq!((report.recovered, left, report.steps), (0, vec![JOURNAL], Vec::new()), "{journal}");
    assert_eq!(storage.read(JOURNAL).unwrap(), journal.as_bytes());
    assert_eq!((files(storage), cells_at(storage, 50)), (before, cells), "{journal}");
    storage.remove_file(JOURNAL).unwrap();
}

/// A purge without remaining cells lists no new fragment. Its journal is deleted, as the outcome is
/// unknown.
#[test]
fn without_new_fragments_nothing_is_hidden() {
    for version in [22, 9] {
        let storage = array(version);
        let all = fragments(&storage);
        let names: Vec<&str> = all.iter().map(|entry| entry.name.as_str()).collect();
        let none = name("11_13", version);
        is_left(&storage, &journal(&none, &[], &names));
        let text = journal(&none, &[], &[&names[..], &[&none]].concat());
        storage.create_new(JOURNAL, text.as_bytes()).unwrap();
        let (before, cells) = (files(&storage), cells_at(&storage, 50));
        let report = Vacuum::all().plan(&open(&storage)).unwrap().run().unwrap();
        assert_eq!((report.recovered, report.left.len(), report.steps), (1, 0, Vec::new()), "{version}");
        assert_eq!((files(&storage), cells_at(&storage, 50)), (before, cells), "{version}");
    }
}

/// A fragment whose commit is lost may be the only copy.
#[test]
fn only_fragments_with_visible_sources_are_rolled_back() {
    for version in [22, 9] {
        let storage = array(version);
        let all = fragments(&storage);
        let lost = all[1].name.as_str();
        storage.remove_file(&paths(lost)[1]).unwrap();
        assert_eq!(fragments(&storage).len(), 2);
        let one = name("12_12", version);
        is_left(&storage, &journal(lost, &[lost], &[&one]));
        // A single fragment, or fragments of other times, cannot be the sources.
        let other = [all[0].name.as_str(), all[2].name.as_str()];
        is_left(&storage, &journal(lost, &[lost], &other));
        is_left(&storage, &journal(lost, &[lost], &[&one, &one]));
        // A source of the new fragments is missing.
        let joined = name("11_13", version);
        storage.create_folder(&paths(&joined)[0]).unwrap();
        is_left(&storage, &journal(&joined, &[&joined], &[other[0], lost, other[1]]));
        let text = journal(&joined, &[&joined], &other);
        storage.create_new(JOURNAL, text.as_bytes()).unwrap();
        let report = Vacuum::all().plan(&open(&storage)).unwrap().run().unwrap();
        assert_eq!((report.recovered, report.left.len()), (1, 0), "{version}");
        assert!(!storage.exists(&paths(&joined)[0]).unwrap() && storage.exists(&paths(lost)[0]).unwrap());
    }
}

/// A visible fragment hides no others if a source is missing or was not consolidated into it.
#[test]
fn only_complete_sources_are_hidden() {
    for version in [22, 9] {
        let storage = array(version);
        let report = ConsolidateFragments::new().plan(&open(&storage)).unwrap().run().unwrap();
        let step = &report.steps[0];
        let names: Vec<&str> = step.replaced.iter().map(TimestampedName::as_str).collect();
        let new = step.fragments[0].as_str();
        let list = storage.read(&step.vacuum_file).unwrap();
        storage.remove_file(&step.vacuum_file).unwrap();
        is_left(&storage, &journal(new, &[new], &names[..2]));
        is_left(&storage, &journal(new, &[new], &[&names[..], &[&name("12_12", version)]].concat()));
        storage.create_new(JOURNAL, journal(new, &[new], &names).as_bytes()).unwrap();
        let report = ConsolidateFragments::new().plan(&open(&storage)).unwrap().run().unwrap();
        assert_eq!((report.recovered, report.left_journals.len()), (1, 0), "{version}");
        assert_eq!(storage.read(&step.vacuum_file).unwrap(), list);
        assert_eq!(fragments(&storage).len(), 1, "{version}");
    }
}

/// A vacuum file that lists its own fragment claims that no cell was left. The claim is checked, as
/// anyone may have written the file.
#[test]
fn fragments_with_cells_need_a_replacement() {
    let storage = array(22);
    let lost = name("11_13", 22);
    let before = files(&storage);
    let mut lines = format!("/__fragments/{lost}\n");
    fragments(&storage).iter().for_each(|entry| lines += &format!("/{}\n", entry.folder));
    let list = paths(&lost)[2].clone();
    storage.create_new(&list, lines.as_bytes()).unwrap();
    let report = Vacuum::fragments().plan(&open(&storage)).unwrap().run().unwrap();
    let [left] = &report.left[..] else { panic!("{report:?}") };
    assert!(left.path == list && matches!(left.why, Reason::Fewer { there: 0, replaced: 1.. }), "{left:?}");
    storage.remove_file(&list).unwrap();
    assert_eq!(files(&storage), before);
}
