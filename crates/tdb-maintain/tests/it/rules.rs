//! Files that are kept, with reasons, and results where the obvious approach would lose data.

use crate::support;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::support::{Case, copy_fragment, differences};
use tdb_array::{ArrayOptions, MetadataValue, TimeRange, WriteIds};
use tdb_job::MaintainError;
use tdb_maintain::{Action, Consolidate, ConsolidateFragments, Reason, Report, Vacuum};
use tdb_metadata::{ConsolidatedCommit, ConsolidatedCommits};
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::copy_files;
use tdb_types::{ByteReader, ByteWriter, TimestampedName};

/// A consolidated sparse fragment and its original fragments.
const CONSOLIDATED: &str = "v22-by-2.30.0-sparse-consolidated";
const PLAIN: &str = "v22-by-2.30.0-sparse-2d";
const DELETES: &str = "v22-by-2.30.0-sparse-deletes-in-commits";

fn vacuum(case: &Case, what: &Vacuum) -> Report {
    what.plan(&case.array()).unwrap().run().unwrap()
}

/// Returns the name of the consolidated fragment.
fn replacement(case: &Case) -> String {
    let files = case.files();
    let list = files.keys().find(|path| path.ends_with(".vac")).unwrap();
    list.strip_prefix("__commits/").unwrap().strip_suffix(".vac").unwrap().to_owned()
}

/// Checks that the vacuum deletes no file and reports the reason.
fn is_left(case: &Case, is_reason: impl Fn(&Reason) -> bool) {
    let before = case.files();
    let report = vacuum(case, &Vacuum::fragments());
    let [left] = &report.left[..] else { panic!("{report:?}") };
    assert!(is_reason(&left.why) && left.path.ends_with(".vac"), "{left}");
    assert!(report.steps.is_empty(), "{report:?}");
    assert_eq!(case.files(), before);
}

#[test]
fn vacuum_files_without_a_replacement_are_kept() {
    let case = Case::named(CONSOLIDATED);
    case.storage.remove_file(&format!("__commits/{}.wrt", replacement(&case))).unwrap();
    is_left(&case, |why| matches!(why, Reason::NoReplacement));
}

#[test]
fn a_damaged_replacement_is_no_reason_to_remove_the_originals() {
    let files = Case::named(CONSOLIDATED).files();
    let name = replacement(&Case::named(CONSOLIDATED));
    let of_it: Vec<_> = files.keys().filter(|path| path.starts_with(&format!("__fragments/{name}/"))).collect();
    assert!(of_it.len() > 3);
    for path in of_it {
        for keep in [None, Some(files[path].len() / 2)] {
            let case = Case::named(CONSOLIDATED);
            case.storage.remove_file(path).unwrap();
            if let Some(keep) = keep {
                case.storage.create_new(path, &files[path][..keep]).unwrap();
            }
            is_left(&case, |why| matches!(why, Reason::Unsound(_)));
        }
    }
}

#[test]
fn vacuum_files_of_other_times_and_cycles_are_kept() {
    let case = Case::named(CONSOLIDATED);
    let name = replacement(&case);
    // Another fragment claims to replace the consolidated one.
    let first = case.array().directory().replaced[0].name.clone();
    assert_eq!(first.start(), first.end());
    case.storage.create_new(&format!("__commits/{first}.vac"), format!("/__fragments/{name}\n").as_bytes()).unwrap();
    let before = case.files();
    let report = vacuum(&case, &Vacuum::fragments());
    assert!(report.left.iter().all(|left| matches!(left.why, Reason::Cycle)), "{report:?}");
    assert_eq!((report.left.len(), case.files()), (2, before));

    let case = Case::named(PLAIN);
    let array = case.array();
    let [first, second] = &array.directory().fragments[..] else { panic!("two fragments") };
    let list = format!("__commits/{}.vac", first.name);
    case.storage.create_new(&list, format!("/{}\n", second.folder).as_bytes()).unwrap();
    is_left(&case, |why| matches!(why, Reason::OtherTime { .. }));
}

#[test]
fn nothing_outside_of_the_array_is_removed() {
    let disk: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let array = disk.sub("array").unwrap();
    copy_files(&*Case::named(CONSOLIDATED).storage, &*array);
    let outside = "__1700000000000_1700000000000_00000000000000000000000000000abc_22";
    disk.create_folder(outside).unwrap();
    disk.create_new(&format!("{outside}/f"), b"precious").unwrap();
    let case = Case::on(array);
    let list = format!("__commits/{}.vac", replacement(&case));
    let lines = case.storage.read(&list).unwrap();
    case.storage.remove_file(&list).unwrap();
    let more = format!("/__fragments/../../{outside}\n../{outside}\nfile:///x/__fragments/\n/__schema\n..\n");
    case.storage.create_new(&list, &[more.as_bytes(), &lines].concat()).unwrap();
    let report = vacuum(&case, &Vacuum::all());
    assert!(report.left.is_empty() && !report.steps.is_empty(), "{report:?}");
    assert_eq!(disk.read(&format!("{outside}/f")).unwrap(), b"precious");
    assert!(case.storage.exists("__schema").unwrap());
}

fn con(case: &Case, number: u32, entries: &[(&str, Option<&[u8]>)]) {
    let entries = entries.iter().map(|(path, commit)| ConsolidatedCommit { path, commit: *commit, offset: 0 });
    let mut file = ByteWriter::new();
    ConsolidatedCommits { entries: entries.collect() }.write(&mut file);
    case.storage.create_new(&format!("__commits/__1_{number}_{number:032x}_22.con"), file.as_slice()).unwrap();
}

#[test]
fn ignored_consolidated_commits_keep_their_separate_files() {
    let case = Case::named(PLAIN);
    let commits: Vec<String> = case.files().into_keys().filter(|path| path.ends_with(".wrt")).collect();
    con(&case, 1, &[(&commits[0], None), (&commits[1], None)]);
    let ignore = "__commits/__1_1_00000000000000000000000000000abc_22.ign";
    case.storage.create_new(ignore, format!("{}\n", commits[0]).as_bytes()).unwrap();
    let before = case.history();
    vacuum(&case, &Vacuum::commits());
    let left = case.files();
    assert!(left.contains_key(&commits[0]) && !left.contains_key(&commits[1]), "{left:?}");
    // The consolidated commits file still lists the ignored commit.
    assert!(left.contains_key(ignore));
    assert_eq!(differences(&before, &case.history(), &[]), [""; 0]);

    // An ignored commit cannot be consolidated again until its consolidated file is replaced.
    assert!(Consolidate::commits().plan(&case.array()).unwrap().is_empty());
    copy_first_fragment(&case, 7);
    let before = case.history();
    for expected in [vec![".con", ".wrt"], vec![".con"]] {
        Consolidate::commits().plan(&case.array()).unwrap().run().unwrap();
        assert_eq!(differences(&before, &case.history(), &[]), [""; 0]);
        vacuum(&case, &Vacuum::commits());
        assert_eq!(differences(&before, &case.history(), &[]), [""; 0]);
        let left = case.files().into_keys().filter(|path| path.starts_with("__commits/"));
        let mut left: Vec<String> = left.map(|path| path[path.len() - 4..].to_owned()).collect();
        left.sort();
        assert_eq!(left, expected);
    }
}

/// The order of these deletions is not durable.
#[test]
fn any_consolidated_commit_may_remain() {
    let gathered = || {
        let case = Case::named(PLAIN);
        Consolidate::commits().plan(&case.array()).unwrap().run().unwrap();
        case
    };
    let before = gathered().history();
    let commits: Vec<String> = gathered().files().into_keys().filter(|path| path.ends_with(".wrt")).collect();
    assert!(commits.len() > 1);
    for removed in 0_u32..1 << commits.len() {
        let case = gathered();
        let gone = commits.iter().enumerate().filter(|(bit, _)| removed >> bit & 1 == 1);
        gone.for_each(|(_, path)| case.storage.remove_file(path).unwrap());
        assert_eq!(differences(&before, &case.history(), &[]), [""; 0], "{removed:b}");
        vacuum(&case, &Vacuum::commits());
        assert_eq!(differences(&before, &case.history(), &[]), [""; 0], "{removed:b}");
        assert!(!case.files().into_keys().any(|path| path.ends_with(".wrt")), "{removed:b}");
    }
}

/// Readers ignore consolidated commits files in the root of the array.
#[test]
fn consolidated_commits_files_in_the_root_are_ignored() {
    let case = Case::named(PLAIN);
    let commits: Vec<String> = case.files().into_keys().filter(|path| path.ends_with(".wrt")).collect();
    let list = format!("{}\n{}\n", commits[0], commits[1]);
    case.storage.create_new("__1_1_00000000000000000000000000000abc_22.con", list.as_bytes()).unwrap();
    let before = case.files();
    assert!(vacuum(&case, &Vacuum::commits()).steps.is_empty());
    assert_eq!(case.files(), before);
    // The file does not prevent a new consolidation, either.
    Consolidate::commits().plan(&case.array()).unwrap().run().unwrap();
    assert_eq!(vacuum(&case, &Vacuum::commits()).steps.len(), 2);
}

#[test]
fn files_with_different_content_of_a_delete_are_kept() {
    let case = Case::named(DELETES);
    let files = case.files();
    let (path, bytes) = files.iter().find(|(path, _)| path.ends_with(".del")).unwrap();
    let gathered = files.iter().find(|(path, _)| path.ends_with(".con")).unwrap().1;
    let other = ConsolidatedCommits::parse(&mut ByteReader::new(gathered)).unwrap();
    let other = other.entries.iter().find_map(|entry| entry.commit).unwrap();
    assert_ne!(bytes, other);
    con(&case, 1, &[(path, Some(bytes))]);
    con(&case, 2, &[(path, Some(other))]);
    con(&case, 3, &[(path, Some(bytes))]);
    let before = case.history();
    let report = vacuum(&case, &Vacuum::commits().delete_files(true));
    assert!(!report.steps.iter().any(|step| step.path.ends_with(".con")), "{report:?}");
    assert_eq!(differences(&before, &case.history(), &[]), [""; 0]);
}

/// Copies the first fragment under another name.
fn copy_first_fragment(case: &Case, time: u64) {
    copy_fragment(&*case.storage, &case.array().directory().fragments[0].folder, time, 22);
}

/// Sorted as text, `__9_...` comes after `__10_...`.
#[test]
fn new_names_span_all_times() {
    let case = Case::named(PLAIN);
    let names = WriteIds::new().seeded(3);
    for time in [9, 10, 100] {
        let value = MetadataValue::text("x").unwrap();
        case.array().write_metadata().ids(names.clone().at(time)).put("k", value).commit().unwrap();
        copy_first_fragment(&case, time);
    }
    for what in [Consolidate::commits(), Consolidate::footers(), Consolidate::metadata()] {
        let report = what.plan(&case.array()).unwrap().run().unwrap();
        let name = TimestampedName::parse(report.steps[0].path.rsplit('/').next().unwrap()).unwrap();
        assert_eq!(name.start(), 9, "{name}");
        assert_eq!(name.end(), if report.steps.len() == 2 { 100 } else { 1_700_000_001_000 }, "{name}");
    }
}

/// Returns an array with metadata. Each write has a time, keys with the time as their value, and
/// deleted keys.
fn with_metadata(writes: &[(u64, &[&str], &[&str])]) -> Case {
    let case = Case::named(PLAIN);
    let names = WriteIds::new().seeded(1);
    for (time, put, delete) in writes {
        let writer = case.array().write_metadata().ids(names.clone().at(*time));
        let value = || MetadataValue::text(&time.to_string()).unwrap();
        let writer = put.iter().fold(writer, |writer, key| writer.put(*key, value()));
        delete.iter().fold(writer, |writer, key| writer.delete(*key)).commit().unwrap();
    }
    case
}

fn metadata(case: &Case, time: TimeRange) -> BTreeMap<String, String> {
    let array = case.at(time).unwrap();
    array.metadata().unwrap().iter().map(|(key, value)| (key.into_owned(), value.to_string())).collect()
}

#[test]
fn keys_deleted_within_a_range_stay_deleted() {
    let case = with_metadata(&[(1, &["a", "b"], &[]), (2, &["c"], &["a"]), (3, &["b"], &["c"]), (4, &["d"], &[])]);
    let before = case.history();
    let plan = Consolidate::metadata().between(TimeRange { start: 2, end: 3 }).plan(&case.array()).unwrap();
    assert_eq!(plan.run().unwrap().steps.len(), 2);
    assert_eq!(differences(&before, &case.history(), &[]), [""; 0]);
    let plan = Vacuum::metadata().plan(&case.array()).unwrap();
    let past: Vec<_> = plan.past().copied().collect();
    assert_eq!(past, [TimeRange { start: 2, end: 2 }]);
    plan.run().unwrap();
    assert_eq!(differences(&before, &case.history(), &past), [""; 0]);
    assert_eq!(metadata(&case, TimeRange::ALL).into_keys().collect::<Vec<_>>(), ["b", "d"]);
    assert_eq!(metadata(&case, TimeRange::until(3)).into_keys().collect::<Vec<_>>(), ["b"]);
    // Deletions are kept even without older values, as a writer may use an earlier timestamp.
    Consolidate::metadata().plan(&case.array()).unwrap().run().unwrap();
    vacuum(&case, &Vacuum::metadata());
    let files = case.array().small_files();
    let [only] = &case.storage.list("__meta").unwrap()[..] else { panic!("one file") };
    let changes = files.read_metadata(&format!("__meta/{}", only.name)).unwrap();
    let deleted: Vec<&[u8]> = changes.iter().filter(|change| change.value.is_none()).map(|it| &it.key[..]).collect();
    assert_eq!((deleted, changes.len()), (vec![&b"a"[..], b"c"], 4), "{changes:?}");
}

#[test]
fn a_file_that_reaches_out_of_the_range_keeps_its_place() {
    let case = with_metadata(&[(1, &["a"], &[]), (2, &["a"], &[]), (3, &["a"], &[]), (5, &["b"], &[])]);
    // The file consolidated from 2 and 5 sorts between 1 and 3.
    let range = |start, end| TimeRange { start, end };
    Consolidate::metadata().between(range(2, 5)).plan(&case.array()).unwrap().run().unwrap();
    vacuum(&case, &Vacuum::metadata());
    let value = MetadataValue::text("late").unwrap();
    case.array().write_metadata().ids(WriteIds::new().at(3)).put("a", value).commit().unwrap();
    let before = case.files();
    let error = Consolidate::metadata().between(range(1, 4)).plan(&case.array()).unwrap_err();
    assert!(matches!(&error, MaintainError::Between { file } if file.contains("__2_5_")), "{error}");
    assert_eq!(case.files(), before);
}

#[test]
fn metadata_without_remaining_keys() {
    let case = with_metadata(&[(1, &["a"], &[]), (2, &["b"], &["a"]), (3, &[], &["b"])]);
    let before = case.history();
    let report = Consolidate::metadata().plan(&case.array()).unwrap().run().unwrap();
    assert_eq!(report.steps.len(), 2, "deletions are written too");
    assert_eq!(differences(&before, &case.history(), &[]), [""; 0]);
    // The reference library writes only the vacuum file.
    case.storage.remove_file(&report.steps[0].path).unwrap();
    assert_eq!(differences(&before, &case.history(), &[]), [""; 0]);
    vacuum(&case, &Vacuum::metadata());
    assert_eq!(case.storage.list("__meta").unwrap(), []);
    assert!(metadata(&case, TimeRange::ALL).is_empty());
    // A vacuum file whose consolidated file was lost looks the same, except for the listed files.
    let case = with_metadata(&[(1, &["a"], &[]), (2, &["b"], &["a"])]);
    let report = Consolidate::metadata().plan(&case.array()).unwrap().run().unwrap();
    case.storage.remove_file(&report.steps[0].path).unwrap();
    let before = case.files();
    let report = vacuum(&case, &Vacuum::metadata());
    assert!(matches!(report.left[..], [tdb_maintain::Retained { why: Reason::NoReplacement, .. }]), "{report:?}");
    assert_eq!(case.files(), before);
}

#[test]
fn metadata_consolidated_twice_before_a_vacuum() {
    let case = with_metadata(&[(1, &["a"], &[]), (2, &["b"], &["a"])]);
    Consolidate::metadata().plan(&case.array()).unwrap().run().unwrap();
    let value = MetadataValue::text("3").unwrap();
    case.array().write_metadata().ids(WriteIds::new().at(3)).put("c", value).commit().unwrap();
    let before = case.history();
    Consolidate::metadata().plan(&case.array()).unwrap().run().unwrap();
    assert_eq!(differences(&before, &case.history(), &[]), [""; 0]);
    assert_eq!(case.storage.list("__meta").unwrap().len(), 3 + 2 + 2);
    vacuum(&case, &Vacuum::metadata());
    assert_eq!(case.storage.list("__meta").unwrap().len(), 1);
    assert_eq!(metadata(&case, TimeRange::ALL).into_keys().collect::<Vec<_>>(), ["b", "c"]);
}

/// Files dated in the future are not consolidated with current ones, unless requested.
#[test]
fn the_opened_time_limits_a_consolidation() {
    let case = with_metadata(&[(1, &["a"], &[]), (2, &["b"], &[]), (u64::MAX - 1, &["c"], &[])]);
    let array = ArrayOptions::new().open_on(case.storage.clone()).unwrap();
    Consolidate::metadata().plan(&array).unwrap().run().unwrap();
    vacuum(&case, &Vacuum::metadata());
    assert_eq!(metadata(&case, TimeRange::until(2)).into_keys().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(case.storage.list("__meta").unwrap().len(), 2);
}

#[test]
fn outdated_plans_are_renewed() {
    let case = Case::named(PLAIN);
    let plan = Consolidate::commits().plan(&case.array()).unwrap();
    let commits: Vec<String> = case.files().into_keys().filter(|path| path.ends_with(".wrt")).collect();
    // Another process deletes a fragment in between.
    let time = case.array().directory().fragments[0].name.start();
    case.array().delete_fragments(TimeRange { start: time, end: time }).unwrap();
    let before = case.history();
    assert!(plan.run().unwrap().steps.is_empty(), "a single commit is not consolidated");
    assert_eq!(differences(&before, &case.history(), &[]), [""; 0]);
    assert!(!case.files().contains_key(&commits[0]));

    // Footers: a fragment is deleted whose footer is in memory.
    let case = Case::named(PLAIN);
    let array = case.array();
    array.fragments().unwrap();
    let plan = Consolidate::footers().plan(&array).unwrap();
    assert!(!plan.is_empty());
    case.array().delete_fragments(TimeRange { start: time, end: time }).unwrap();
    assert!(plan.run().unwrap().steps.is_empty(), "a single footer is not consolidated");
    assert!(Consolidate::footers().plan(&array).unwrap().is_empty(), "the plan uses the current state");

    // Metadata: another process has consolidated the files.
    let case = with_metadata(&[(1, &["a"], &[]), (2, &["b"], &[])]);
    let array = case.array();
    array.metadata().unwrap();
    let plan = Consolidate::metadata().plan(&array).unwrap();
    assert!(!plan.is_empty());
    Consolidate::metadata().plan(&case.array()).unwrap().run().unwrap();
    vacuum(&case, &Vacuum::metadata());
    assert!(plan.run().unwrap().steps.is_empty());
    assert_eq!(metadata(&case, TimeRange::ALL).into_keys().collect::<Vec<_>>(), ["a", "b"]);

    // Fragments: fragments that another process has consolidated are not consolidated again.
    let case = Case::named(PLAIN);
    let array = case.array();
    array.fragments().unwrap();
    let plan = ConsolidateFragments::new().plan(&array).unwrap();
    assert_eq!(plan.steps().len(), 1);
    ConsolidateFragments::new().plan(&case.array()).unwrap().run().unwrap();
    assert_eq!(plan.run().unwrap().steps, []);

    // Another process vacuums at the same time.
    let case = Case::named(CONSOLIDATED);
    let plan = Vacuum::all().plan(&case.array()).unwrap();
    assert!(!plan.is_empty());
    vacuum(&case, &Vacuum::all());
    assert!(plan.run().unwrap().steps.is_empty());
}

#[test]
fn plans_list_their_steps() {
    let case = Case::named(CONSOLIDATED);
    let plan = Vacuum::all().plan(&case.array()).unwrap();
    let removed: u64 = plan.steps().map(|step| step.bytes).sum();
    assert!(plan.steps().all(|step| step.action == Action::Remove) && removed > 1000);
    assert_eq!(plan.past().count(), 0, "the consolidated fragment's cells have their times");
    let size = |case: &Case| case.files().values().map(|bytes| bytes.len() as u64).sum::<u64>();
    let before = size(&case);
    let report = plan.run().unwrap();
    // Fragment metadata that serves as the commit is counted once.
    assert_eq!((report.removed(), report.written()), (removed, 0));
    assert_eq!(before - size(&case), removed);

    let case = Case::named("v22-by-2.30.0-dense-consolidated");
    let plan = Vacuum::fragments().plan(&case.array()).unwrap();
    let times: Vec<u64> = case.array().directory().replaced.iter().map(|entry| entry.name.start()).collect();
    let lost = TimeRange { start: times[0], end: times.last().unwrap() - 1 };
    assert_eq!(plan.past().copied().collect::<Vec<_>>(), [lost]);

    let case = Case::named(PLAIN);
    let plan = Consolidate::commits().plan(&case.array()).unwrap();
    assert_eq!(plan.savings().names, 1);
    let text = plan.to_string();
    assert!(text.starts_with("write __commits/__") && text.ends_with(" bytes, for 2\n"), "{text}");
    let plan = Consolidate::footers().plan(&case.array()).unwrap();
    assert_eq!((plan.savings().names, plan.savings().reads), (0, 1));
}

/// Two concurrent processes notice each other's changes or repeat their work.
#[test]
fn two_processes_at_once() {
    for round in 0..20 {
        let case = Case::named(DELETES);
        let names = WriteIds::new().seeded(round);
        for time in 0..20 {
            let value = MetadataValue::text("x").unwrap();
            case.array().write_metadata().ids(names.clone().at(time)).put(format!("{time}"), value).commit().unwrap();
        }
        let seen = case.seen(TimeRange::ALL);
        let work = || {
            for what in [Consolidate::commits(), Consolidate::metadata(), Consolidate::footers()] {
                // The other process may have deleted the files.
                let _ = what.plan(&case.array()).and_then(tdb_maintain::Plan::run);
                let _ = Vacuum::all().plan(&case.array()).and_then(tdb_maintain::Plan::run);
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(work);
            scope.spawn(work);
        });
        let report = vacuum(&case, &Vacuum::all().delete_files(true));
        assert!(report.left.is_empty(), "{report:?}");
        assert_eq!(case.seen(TimeRange::ALL), seen, "round {round}");
    }
}

/// A vacuum that cannot finish does not start.
#[cfg(unix)]
#[test]
fn nothing_behind_links_is_vacuumed() {
    use tdb_array::Array;
    use tdb_testkit::fixtures;
    for linked in ["__fragments", "__commits"] {
        let folder = tempfile::tempdir().unwrap();
        fixtures::named("v22-by-2.30.0-sparse-2d").unpack_into(folder.path());
        let (path, away) = (folder.path().join("array"), folder.path().join("away"));
        std::fs::rename(path.join(linked), &away).unwrap();
        std::os::unix::fs::symlink(&away, path.join(linked)).unwrap();
        let array = || Array::open(&path).unwrap();
        ConsolidateFragments::new().amplification(f64::INFINITY).plan(&array()).unwrap().run().unwrap();
        let all = || support::files(&tdb_storage::LocalStorage::new(&path));
        let before = all();
        let report = Vacuum::all().plan(&array()).unwrap().run().unwrap();
        assert!(report.steps.is_empty(), "{report:?}");
        let left: Vec<_> = report.left.iter().map(|left| (left.path.as_str(), &left.why)).collect();
        assert!(matches!(left[..], [(path, Reason::Link)] if path == linked), "{left:?}");
        assert_eq!(all(), before);
    }
}

/// A readable consolidated file with other content.
#[test]
fn consolidated_metadata_must_have_the_listed_values() {
    for is_other in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("group");
        tdb_array::Group::create(&path).unwrap();
        let group = || tdb_array::Group::open(&path).unwrap();
        let put = |key: &str, value: &str, time: u64| {
            let names = WriteIds::new().at(time).seeded(time);
            group().write_metadata().ids(names).put(key, MetadataValue::text(value).unwrap()).commit().unwrap();
        };
        put("a", "old", 11);
        put("a", "new", 12);
        put("b", "b", 13);
        Consolidate::metadata().plan(&group()).unwrap().run().unwrap();
        let joined = std::fs::read_dir(path.join("__meta")).unwrap().map(|entry| entry.unwrap().path());
        let joined = joined.filter(|path| path.to_str().unwrap().contains("__11_13_"));
        let joined = joined.min_by_key(|path| path.to_str().unwrap().len()).unwrap();
        if is_other {
            // The file has only the first of the consolidated values.
            let first = std::fs::read_dir(path.join("__meta")).unwrap().map(|entry| entry.unwrap().path());
            let first = first.into_iter().find(|path| path.to_str().unwrap().contains("__11_11_")).unwrap();
            std::fs::copy(first, &joined).unwrap();
        }
        let report = Vacuum::metadata().plan(&group()).unwrap().run().unwrap();
        let left: Vec<&Reason> = report.left.iter().map(|left| &left.why).collect();
        assert_eq!((report.steps.is_empty(), left.len()), (is_other, usize::from(is_other)), "{report:?}");
        assert!(left.iter().all(|why| matches!(why, Reason::Lacks { key } if key == "a")), "{left:?}");
    }
}
