//! Comparison of consolidated files with those that releases of the reference library wrote for the
//! same arrays.

use crate::support;

use std::collections::BTreeMap;

use crate::support::{Case, open_group};
use tdb_job::MaintainError;
use tdb_maintain::Consolidate;
use tdb_metadata::{CommitKind, ConsolidatedCommits, PathList};
use tdb_testkit::fixtures;
use tdb_types::names::file_name;
use tdb_types::{ByteReader, TimestampedName};

/// Returns the only file of a case whose path has this ending.
fn only(files: &BTreeMap<String, Vec<u8>>, end: &str) -> (String, Vec<u8>) {
    let mut found = files.iter().filter(|(path, _)| path.ends_with(end));
    let (path, bytes) = found.next().unwrap_or_else(|| panic!("no {end}"));
    assert!(found.next().is_none(), "several {end}");
    (path.clone(), bytes.clone())
}

/// Splits a path into folder, times, version and extension. Leaves out the unique part of the name.
fn meaning(path: &str) -> (String, u64, u64, String) {
    let name = TimestampedName::parse(file_name(path)).unwrap();
    let folder = path.strip_suffix(file_name(path)).unwrap().to_owned();
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    (folder, name.start(), name.end(), format!("{:?} {extension}", name.form()))
}

/// Splits consolidated commits into separate files and consolidates them again.
#[test]
fn commits() {
    let names = ["sparse-joined-commits", "sparse-consolidated-commits", "deletes-in-commits"];
    let mut with_deletes = 0;
    let all = fixtures::all().into_iter().chain(fixtures::of_older_releases());
    let wanted: Vec<_> = all.filter(|fixture| names.iter().any(|name| fixture.name().ends_with(name))).collect();
    assert_eq!(wanted.len(), 6);
    for fixture in wanted {
        let case = Case::of(&fixture);
        let (path, bytes) = only(&case.files(), ".con");
        // The file does not contain later commits.
        for later in case.files().into_keys().filter(|path| path.starts_with("__commits/") && !path.ends_with(".con")) {
            case.storage.remove_file(&later).unwrap();
        }
        case.storage.remove_file(&path).unwrap();
        for entry in ConsolidatedCommits::parse(&mut ByteReader::new(&bytes)).unwrap().entries {
            with_deletes += usize::from(CommitKind::of(entry.path) == Some(CommitKind::Delete));
            case.storage.create_new(entry.path, entry.commit.unwrap_or_default()).unwrap();
        }
        Consolidate::commits().plan(&case.array()).unwrap().run().unwrap();
        let (own_path, own_bytes) = only(&case.files(), ".con");
        assert_eq!(own_bytes, bytes, "{}", case.name);
        assert_eq!(meaning(&own_path), meaning(&path), "{}", case.name);
    }
    assert!(with_deletes >= 3, "{with_deletes}");
}

#[test]
fn footers() {
    let all = fixtures::all().into_iter().chain(fixtures::of_older_releases());
    let is_wanted =
        |name: &str| name.ends_with("sparse-joined-footers") || name.ends_with("sparse-consolidated-footers");
    let wanted: Vec<_> = all.filter(|fixture| is_wanted(fixture.name())).collect();
    assert_eq!(wanted.len(), 8);
    let mut without = Vec::new();
    for fixture in wanted {
        let case = Case::of(&fixture);
        let (path, _) = only(&case.files(), ".meta");
        let files = case.array().small_files();
        let theirs = files.read_footers(&path).unwrap();
        case.storage.remove_file(&path).unwrap();
        // The file does not contain later writes.
        let end = TimestampedName::parse(file_name(&path)).unwrap().end();
        for commit in case.files().into_keys().filter(|path| CommitKind::of(path) == Some(CommitKind::Write)) {
            if TimestampedName::parse(file_name(&commit)).unwrap().end() > end {
                case.storage.remove_file(&commit).unwrap();
            }
        }
        Consolidate::footers().plan(&case.array()).unwrap().run().unwrap();
        if case.name.starts_with("v11-") {
            // Release 2.30.0 does not find its own file for these arrays.
            assert!(!case.files().keys().any(|path| path.ends_with(".meta")));
            without.push(case.name);
            continue;
        }
        let (own_path, _) = only(&case.files(), ".meta");
        let ours = files.read_footers(&own_path).unwrap();
        let footers = |footers: &tdb_fragment::ConsolidatedFooters| -> Vec<(String, Vec<u8>)> {
            footers.iter().map(|(name, footer)| (name.to_owned(), footer.rest().to_vec())).collect()
        };
        assert_eq!(footers(&ours), footers(&theirs), "{}", case.name);
        let (_, start, end, form) = meaning(&path);
        let (folder, own_start, own_end, own_form) = meaning(&own_path);
        assert_eq!((own_start, own_end), (start, end), "{}", case.name);
        match case.name.starts_with("v5-") {
            // The newest release does so for an array too old to be written.
            true => assert_eq!((folder.as_str(), own_form.as_str()), ("__fragment_meta/", "Versioned(22) meta")),
            false => assert_eq!(own_form, form, "{}", case.name),
        }
    }
    assert_eq!(without.len(), 1);
}

/// Before format 9, fragments are listed by absolute URIs, which need a storage with URIs.
#[test]
fn footers_of_format_8_have_uris() {
    let fixture = fixtures::named("v8-by-2.2.9-sparse-joined-footers");
    let case = Case::of(&fixture);
    case.storage.remove_file(&only(&case.files(), ".meta").0).unwrap();
    Consolidate::footers().plan(&case.array()).unwrap().run().unwrap();
    let (path, bytes) = only(&case.files(), ".meta");
    assert!(!path.contains('/'));
    let tile =
        tdb_generic_tile::GenericTileDecoder::new(tdb_types::Limits::default()).decode_file(&bytes, None).unwrap();
    let text = String::from_utf8_lossy(&tile.payload).into_owned();
    assert_eq!(text.matches("file:///arrays/array/__17000000").count(), 4, "{text}");

    let without = Case::on(fixture.array_storage());
    without.storage.remove_file(&only(&without.files(), ".meta").0).unwrap();
    let error = Consolidate::footers().plan(&without.array()).unwrap_err();
    assert!(matches!(error, MaintainError::NoUri { .. }), "{error}");
}

#[test]
fn metadata() {
    let fixture = fixtures::named("v22-by-2.30.0-dense-metadata-consolidated");
    let case = Case::of(&fixture);
    let (list, lines) = only(&case.files(), ".vac");
    let joined = list.strip_suffix(".vac").unwrap().to_owned();
    let theirs = case.array().small_files().read_metadata(&joined).unwrap();
    case.storage.remove_file(&list).unwrap();
    case.storage.remove_file(&joined).unwrap();
    Consolidate::metadata().plan(&case.array()).unwrap().run().unwrap();
    let (own_list, own_lines) = only(&case.files(), ".vac");
    let own_joined = own_list.strip_suffix(".vac").unwrap();
    // The reference library leaves out deletions, so an older value written later would be visible.
    let (own, deleted): (Vec<_>, Vec<_>) =
        case.array().small_files().read_metadata(own_joined).unwrap().into_iter().partition(|own| own.value.is_some());
    assert_eq!(own, theirs);
    assert_eq!(deleted.iter().map(|own| &own.key[..]).collect::<Vec<_>>(), [&b"gone"[..], b"never there"]);
    assert_eq!(own_lines, lines);
    assert_eq!(meaning(own_joined), meaning(&joined));
    assert_eq!(meaning(&own_list), meaning(&list));
}

/// The list has absolute URIs in groups of all releases, and in arrays before format 19.
#[test]
fn lists_with_uris() {
    let group: std::sync::Arc<dyn tdb_storage::Storage> =
        std::sync::Arc::new(support::Placed(fixtures::named("v22-by-2.30.0-group").group_storage()));
    write_twice(|| open_group(&group).write_metadata());
    Consolidate::metadata().plan(&open_group(&group)).unwrap().run().unwrap();
    check_lines(&support::files(&*group), "file:///arrays/array/__meta/");
    for (name, start) in [
        ("v12-by-2.8.3-dense-metadata", "file:///arrays/array/__meta/"),
        ("v19-by-2.16.3-dense-metadata", "/__meta/"),
        ("v4-by-1.7.7-dense-metadata", "/__meta/"),
    ] {
        let case = Case::named(name);
        write_twice(|| case.array().write_metadata());
        Consolidate::metadata().plan(&case.array()).unwrap().run().unwrap();
        check_lines(&case.files(), start);
        let without = Case::on(fixtures::named(name).array_storage());
        write_twice(|| without.array().write_metadata());
        let planned = Consolidate::metadata().plan(&without.array());
        assert_eq!(matches!(planned, Err(MaintainError::NoUri { .. })), start.starts_with("file"), "{name}");
    }
}

fn write_twice(writer: impl Fn() -> tdb_array::MetadataWriter) {
    for text in ["spring", "summer"] {
        writer().put("season", tdb_array::MetadataValue::text(text).unwrap()).commit().unwrap();
    }
}

fn check_lines(files: &BTreeMap<String, Vec<u8>>, start: &str) {
    let (_, bytes) = only(files, ".vac");
    let list = PathList::parse(&mut ByteReader::new(&bytes)).unwrap();
    assert!(list.paths.len() >= 2 && list.paths.iter().all(|path| path.starts_with(start)), "{list:?}");
}
