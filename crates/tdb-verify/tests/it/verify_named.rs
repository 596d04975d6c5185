//! References between files: kinds of group members, vacuum files, copies of footers.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use tdb_array::{Array, ArrayError, ArrayOptions, ErrorCategory, Group, MetadataValue};
use tdb_generic_tile::{GenericTileDecoder, GenericTileEncoder};
use tdb_maintain::Consolidate;
use tdb_metadata::{GroupDetails, MemberKind};
use tdb_storage::{LocalStorage, MemoryStorage, Storage, StorageError};
use tdb_testkit::fixtures;
use tdb_types::{ByteWriter, FormatVersion, Limits};
use tdb_verify::{FindingKind, Severity, Verify, VerifyReport};

const COPIES: &str = "v22-by-2.30.0-sparse-consolidated-footers";

fn verified(storage: &Arc<MemoryStorage>) -> VerifyReport {
    Verify::new().threads(1).storage(storage.clone()).unwrap()
}

/// Returns the kinds of all findings, without notes.
fn wrong(storage: &Arc<MemoryStorage>) -> Vec<FindingKind> {
    let findings = verified(storage).findings;
    findings.iter().filter(|finding| finding.severity == Severity::Finding).map(|finding| finding.kind).collect()
}

/// Returns the paths of the files in a folder with this ending.
fn files(storage: &MemoryStorage, folder: &str, ending: &str) -> Vec<String> {
    let entries = storage.list(folder).unwrap();
    let names = entries.into_iter().map(|entry| entry.name).filter(|name| name.ends_with(ending));
    names.map(|name| format!("{folder}/{name}").trim_start_matches('/').to_owned()).collect()
}

/// Serializes the group details with another kind of one member.
fn with_kind(sound: &GroupDetails, index: usize, kind: MemberKind) -> Vec<u8> {
    let mut details = sound.clone();
    details.members[index].kind = kind;
    let (mut payload, mut file) = (ByteWriter::new(), ByteWriter::new());
    details.write(&mut payload);
    GenericTileEncoder::new(FormatVersion::DEFAULT).encode(payload.as_slice(), &mut file).unwrap();
    file.into_bytes()
}

#[test]
fn a_member_of_another_kind_is_found() {
    let storage = fixtures::named("v22-by-2.30.0-group").group_storage();
    assert_eq!(wrong(&storage), []);
    let mut found = Vec::new();
    for path in files(&storage, "__group", "") {
        let bytes = storage.read(&path).unwrap();
        let sound = GroupDetails::parse_file(&bytes, &mut GenericTileDecoder::new(Limits::SMALL), None).unwrap();
        for (index, member) in sound.members.iter().enumerate() {
            let there = member.kind;
            let stated = if there == MemberKind::Array { MemberKind::Group } else { MemberKind::Array };
            storage.insert(&path, with_kind(&sound, index, stated)).unwrap();
            let report = verified(&storage);
            // Members removed by newer details cause no findings.
            for said in report.findings.iter().filter(|finding| finding.kind == FindingKind::Member) {
                let says = format!("has kind {stated} in the group, but found kind {there}");
                assert!(said.what.contains(&says) && !report.is_sound(), "{said}");
                found.push((member.uri.clone(), there.to_string()));
            }
        }
        storage.insert(&path, bytes).unwrap();
    }
    let found: Vec<(&str, &str)> = found.iter().map(|(uri, kind)| (uri.as_str(), kind.as_str())).collect();
    assert_eq!(found, [("three", "array"), ("two", "array"), ("inner", "group")]);
}

#[test]
fn lost_consolidated_metadata_of_a_group_is_found() {
    let storage = fixtures::named("v22-by-2.30.0-group").group_storage();
    let [file] = &files(&storage, "__meta", "")[..] else { panic!("one file of metadata") };
    let list = "__meta/__1700000000000_1700000002000_0123456789abcdef0123456789abcdef.vac";
    storage.insert(list, format!("mem://elsewhere/{file}\n").into_bytes()).unwrap();
    assert_eq!(wrong(&storage), [FindingKind::Replacement]);
    // The consolidated file exists.
    storage.insert(list.strip_suffix(".vac").unwrap(), storage.read(file).unwrap()).unwrap();
    assert_eq!(wrong(&storage), []);
    storage.insert(list, b"no file of metadata\n".to_vec()).unwrap();
    assert_eq!(wrong(&storage), [FindingKind::Replacement]);
}

#[test]
fn lists_with_invalid_lines_are_found() {
    for (fixture, folder) in [
        ("v10-by-2.4.3-sparse-consolidated", ""),
        ("v15-by-2.11.3-sparse-consolidated", "__commits"),
        ("v22-by-2.30.0-dense-metadata-consolidated", "__meta"),
    ] {
        let storage = fixtures::named(fixture).array_storage();
        assert_eq!(wrong(&storage), [], "{fixture}");
        let path = files(&storage, folder, ".vac").pop().unwrap();
        let sound = storage.read(&path).unwrap();
        let line_end = sound.iter().position(|byte| *byte == b'\n').unwrap();
        let mut zeros = sound.clone();
        zeros[line_end - 5..line_end + 2].fill(0);
        let cut = sound[..line_end - 5].to_vec();
        for damaged in [zeros, cut, Vec::new()] {
            storage.insert(&path, damaged).unwrap();
            assert!(wrong(&storage).contains(&FindingKind::Replacement), "{fixture}");
        }
    }
}

/// Releases 2.0 to 2.25 write an empty vacuum file when they consolidate missing metadata.
#[test]
fn empty_vacuum_files_are_findings_next_to_consolidated_metadata() {
    let array = fixtures::named("v10-by-2.4.3-dense-metadata").array_storage();
    let group = fixtures::named("v22-by-2.30.0-group").group_storage();
    for storage in [array, group] {
        let joined = "__meta/__0_0_0123456789abcdef0123456789abcdef";
        let (list, sound) = (format!("{joined}.vac"), storage.read(&files(&storage, "__meta", "")[0]).unwrap());
        storage.insert(&list, Vec::new()).unwrap();
        let report = verified(&storage);
        let notes: Vec<_> = report.findings.iter().filter(|finding| finding.file.ends_with(&list)).collect();
        assert!(
            report.is_sound() && notes.len() == 1 && notes[0].kind == FindingKind::Unused,
            "{:#?}",
            report.findings
        );
        storage.insert(joined, sound).unwrap();
        assert_eq!(wrong(&storage), [FindingKind::Replacement]);
    }
}

fn cells(array: &Array) -> Result<Vec<Vec<Vec<u8>>>, ArrayError> {
    let columns = array.read().order(tdb_array::Order::Global).batches()?.map(|batch| {
        let batch = batch?;
        Ok(batch.columns().iter().map(|column| format!("{column:?}").into_bytes()).collect())
    });
    columns.collect()
}

#[test]
fn altered_copies_of_footers_are_found() {
    use tdb_fragment::ConsolidatedFooters;
    let storage = fixtures::named(COPIES).array_storage();
    let open = || ArrayOptions::new().threads(1).open_on(storage.clone());
    let expected = cells(&open().unwrap()).unwrap();
    let [path] = &files(&storage, "__fragment_meta", ".meta")[..] else { panic!("one file of copies") };
    let bytes = storage.read(path).unwrap();
    let parsed = ConsolidatedFooters::parse_file(&bytes, &mut GenericTileDecoder::new(Limits::SMALL), None).unwrap();
    let sound: Vec<(String, Vec<u8>)> =
        parsed.iter().map(|(name, footer)| (name.to_owned(), footer.rest().to_vec())).collect();
    let (mut as_before, mut not_named) = (0, Vec::new());
    for at in 0..sound[0].1.len() {
        for bit in [0, 1, 3, 7] {
            let mut altered = sound.clone();
            altered[0].1[at] ^= 1 << bit;
            let both: Vec<(&str, &[u8])> = altered.iter().map(|(name, footer)| (name.as_str(), &footer[..])).collect();
            let file = ConsolidatedFooters::write_file(&both, &mut GenericTileEncoder::new(FormatVersion::DEFAULT));
            storage.insert(path, file.unwrap()).unwrap();
            let array = open().unwrap();
            // Invalid footers are reported, and the footers in the fragments are used.
            array.fragments().unwrap();
            let read = cells(&array);
            as_before += usize::from(read.as_ref().is_ok_and(|read| *read == expected));
            let is_error = read.as_ref().is_err_and(|error| error.category() == ErrorCategory::Corrupt);
            if !is_error && !array.damaged().is_empty() {
                assert_eq!(read.unwrap(), expected);
            }
            if wrong(&storage).is_empty() {
                not_named.push((at, bit));
            }
        }
    }
    println!("{as_before} read as before");
    assert!(not_named.is_empty(), "{not_named:?}");
}

/// A storage that fails after a number of reads of vacuum files.
#[derive(Clone, Debug)]
struct Fading {
    inner: Arc<dyn Storage>,
    left: Arc<AtomicUsize>,
    refused: Arc<AtomicUsize>,
}

impl Fading {
    fn check(&self, path: &str) -> Result<(), StorageError> {
        let is_list = path.ends_with(".vac");
        if is_list && self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err() {
            self.refused.fetch_add(1, Relaxed);
            return Err(StorageError::PermissionDenied { path: self.describe(path) });
        }
        Ok(())
    }
}

impl Storage for Fading {
    tdb_storage::forward_storage!(|this| this.inner => list, profile, kind, describe, uri);
    tdb_storage::forward_storage!(|this| this.inner => create_folder, create_new, create_file, sync_folder, remove_file, remove_folder, rename);

    fn open(&self, path: &str) -> Result<Arc<dyn tdb_storage::ReadAt>, StorageError> {
        self.check(path)?;
        self.inner.open(path)
    }

    fn sub(&self, folder: &str) -> Result<Arc<dyn Storage>, StorageError> {
        Ok(Arc::new(Self { inner: self.inner.sub(folder)?, ..self.clone() }))
    }
}

/// Every failed read of a vacuum file is reported.
#[test]
fn lists_that_cannot_be_read_are_found() {
    let with_metadata = fixtures::named("v22-by-2.30.0-dense-metadata").array_storage();
    let array = ArrayOptions::new().open_on(with_metadata.clone()).unwrap();
    Consolidate::metadata().plan(&array).unwrap().run().unwrap();
    let folder = tempfile::tempdir().unwrap();
    Group::create(folder.path()).unwrap();
    for text in ["a", "b"] {
        let value = MetadataValue::text(text).unwrap();
        Group::open(folder.path()).unwrap().write_metadata().put("k", value).commit().unwrap();
    }
    Consolidate::metadata().plan(&Group::open(folder.path()).unwrap()).unwrap().run().unwrap();
    let group = Arc::new(LocalStorage::new(folder.path()));
    let of_fragments = fixtures::named("v22-by-2.30.0-sparse-consolidated").array_storage();
    let all: [Arc<dyn Storage>; 3] = [with_metadata, group, of_fragments];
    for (which, storage) in all.into_iter().enumerate() {
        let mut times = 0;
        loop {
            let refused = Arc::new(AtomicUsize::new(0));
            let fading = Fading { inner: storage.clone(), left: Arc::new(times.into()), refused: Arc::clone(&refused) };
            let result = Verify::new().threads(1).storage(Arc::new(fading));
            if refused.load(Relaxed) == 0 {
                assert!(result.unwrap().is_sound());
                break;
            }
            if let Ok(report) = result {
                let is_said = report.findings.iter().any(|finding| finding.what.contains("permission denied"));
                assert!(is_said && !report.is_sound(), "{which}, after {times}: {:?}", report.findings);
                // Each problem is reported once.
                let mut said: Vec<_> = report.findings.iter().map(|finding| (&finding.file, &finding.what)).collect();
                let count = said.len();
                said.dedup();
                assert_eq!(said.len(), count, "{said:?}");
            }
            times += 1;
        }
        assert!(times > 1, "{which}: {times}");
    }
}
