//! Consolidated footers and the fragments' own footers, with one or both unusable.

use std::sync::Arc;

use tdb_array::{Array, ArrayError, ArrayOptions, CreateOptions, ErrorCategory, WriteBatch, WriteColumn};
use tdb_condition::field;
use tdb_fragment::{ConsolidatedFooters, FragmentFooter, GenericTileEncoder};
use tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::fixtures;
use tdb_types::{Datatype, FormatVersion, Limits};

use crate::arrays::count;

/// A sparse array of three fragments, with a consolidated footers file of the first two fragments.
struct Subject {
    storage: Arc<MemoryStorage>,
    /// Path of the consolidated footers file.
    copies: String,
    own: Vec<FragmentFooter>,
    cells: usize,
}

impl Subject {
    fn new() -> Self {
        let storage = fixtures::named("v22-by-2.30.0-sparse-consolidated-footers").array_storage();
        let name = storage.list("__fragment_meta").unwrap().swap_remove(0).name;
        let array = open(&storage, &options()).unwrap();
        let own = footers(&array);
        Self { copies: format!("__fragment_meta/{name}"), own, cells: cells(&array).unwrap(), storage }
    }

    /// Names of all fragments.
    fn fragments(&self) -> Vec<String> {
        self.storage.list("__fragments").unwrap().into_iter().map(|entry| entry.name).collect()
    }

    /// Replaces the consolidated footers file.
    fn replace(&self, bytes: Vec<u8>) {
        self.storage.insert(&self.copies, bytes).unwrap();
    }

    /// Returns the file with another version in its header.
    fn stating(&self, version: u32) -> Vec<u8> {
        let mut bytes = self.storage.read(&self.copies).unwrap();
        bytes[..4].copy_from_slice(&version.to_le_bytes());
        bytes
    }

    /// Returns a valid file with these bytes as the footers of the first two fragments.
    fn holding(&self, footers: [&[u8]; 2]) -> Vec<u8> {
        let names = self.fragments();
        let entries: Vec<(&str, &[u8])> = names.iter().map(String::as_str).zip(footers).collect();
        ConsolidatedFooters::write_file(&entries, &mut GenericTileEncoder::new(FormatVersion::DEFAULT)).unwrap()
    }

    /// Checks that the array reads as if the file were missing, and that the file is reported.
    fn reads_its_own(&self, options: &ArrayOptions, category: ErrorCategory, says: &str) {
        for skips in [false, true] {
            let array = open(&self.storage, &options.clone().skip_damaged(skips)).unwrap();
            assert_eq!(footers(&array), self.own, "{says}");
            assert_eq!(cells(&array).unwrap(), self.cells, "{says}");
            assert!(!array.damaged().is_empty(), "{says}");
            for damaged in array.damaged() {
                let message = damaged.error.to_string();
                assert!(self.copies.starts_with(&damaged.path) && damaged.error.category() == category, "{message}");
                assert!(message.contains(&self.copies) && message.contains(says), "{message}");
            }
        }
    }
}

fn options() -> ArrayOptions {
    ArrayOptions::new().threads(1)
}

/// Opens the array and loads its fragments.
fn open(storage: &Arc<MemoryStorage>, options: &ArrayOptions) -> Result<Array, ArrayError> {
    let array = options.clone().open_on(storage.clone())?;
    array.fragments()?;
    Ok(array)
}

fn footers(array: &Array) -> Vec<FragmentFooter> {
    array.fragments().unwrap().iter().map(|fragment| fragment.footer().clone()).collect()
}

fn cells(array: &Array) -> Result<usize, ArrayError> {
    array.read().batches()?.map(|batch| Ok(batch?.len())).sum()
}

#[test]
fn copies_of_unknown_formats_are_replaced() {
    let subject = Subject::new();
    for version in [24, 1000, u32::MAX] {
        subject.replace(subject.stating(version));
        subject.reads_its_own(&options(), ErrorCategory::Unsupported, &version.to_string());
    }
}

#[test]
fn copies_beyond_the_limits_are_replaced() {
    let subject = Subject::new();
    let sound = subject.storage.read(&subject.copies).unwrap();
    // Claimed sizes of the tile, filtered and unfiltered.
    for at in [4, 12] {
        for size in [1 << 40, u64::MAX] {
            let mut bytes = sound.clone();
            bytes[at..at + 8].copy_from_slice(&size.to_le_bytes());
            subject.replace(bytes);
            subject.reads_its_own(&options(), ErrorCategory::Corrupt, "");
        }
    }
    // A complete tile that exceeds the limit of this reader.
    let footer = vec![0; 100_000];
    subject.replace(subject.holding([&footer, &footer]));
    let limits = Limits::default().with_generic_tile_bytes(150_000);
    subject.reads_its_own(&options().limits(limits), ErrorCategory::Corrupt, "150000");
}

#[test]
fn damaged_copies_are_replaced() {
    let subject = Subject::new();
    let sound = subject.storage.read(&subject.copies).unwrap();
    for damaged in [subject.holding([&[0xff; 90], &[0; 90]]), sound[..sound.len() - 1].to_vec(), Vec::new()] {
        subject.replace(damaged);
        subject.reads_its_own(&options(), ErrorCategory::Corrupt, "");
    }
}

#[test]
fn copied_footers_of_unknown_formats_are_replaced() {
    let subject = Subject::new();
    let array = open(&subject.storage, &options()).unwrap();
    let mut sound: Vec<Vec<u8>> =
        array.fragments().unwrap()[..2].iter().map(|own| own.footer_bytes().unwrap().unwrap()).collect();
    sound[1][..4].copy_from_slice(&24_u32.to_le_bytes());
    subject.replace(subject.holding([&sound[0], &sound[1]]));
    // The name of a fragment determines its format.
    subject.reads_its_own(&options(), ErrorCategory::Corrupt, "found 24");
}

/// The damaged fragment cannot be read, but others can. The copy of a footer holds only sizes.
#[test]
fn fragments_with_only_a_copied_footer_are_errors() {
    let (subject, lost) = (Subject::new(), Subject::new());
    let name = subject.fragments().swap_remove(1);
    let path = format!("__fragments/{name}/__fragment_metadata.tdb");
    subject.storage.remove_file(&path).unwrap();
    lost.storage.remove_folder(&format!("__fragments/{name}")).unwrap();
    for subject in [subject, lost] {
        let array = open(&subject.storage, &options()).unwrap();
        assert_eq!((footers(&array), array.damaged().len()), (subject.own.clone(), 0));
        let error = cells(&array).unwrap_err();
        assert_eq!(error.category(), ErrorCategory::Unavailable);
        assert!(error.to_string().contains(&path), "{error}");
        assert!(array.fragments().unwrap()[1].rtree().unwrap_err().to_string().contains(&path));
        // Fragments other than the damaged one are not affected.
        let others = open(&subject.storage, &options().at(1_700_000_000_000)).unwrap();
        assert!(others.fragments().unwrap().iter().all(|fragment| fragment.name().as_str() != name));
        assert!(cells(&others).is_ok_and(|cells| cells > 0));
        // An unusable copy has no substitute.
        for damaged in [subject.stating(24), Vec::new()] {
            subject.replace(damaged);
            let error = open(&subject.storage, &options()).unwrap_err();
            assert_eq!(error.category(), ErrorCategory::Unavailable);
            assert!(error.to_string().contains(&path), "{error}");
            let array = open(&subject.storage, &options().skip_damaged(true)).unwrap();
            assert_eq!(array.fragments().unwrap().len(), 2);
            let paths: Vec<&str> = array.damaged().iter().map(|damaged| damaged.path.as_str()).collect();
            assert_eq!(paths, [subject.copies.as_str(), &format!("__fragments/{name}")]);
            assert!(cells(&array).is_ok_and(|cells| cells > 0 && cells < subject.cells));
        }
    }
}

/// Releases 2.0 to 2.3 lose the end of a range of strings if the range begins at the empty string.
#[test]
fn where_strings_end_is_not_known_if_old_writers_begin_them_empty() {
    for (version, is_found) in [(9, true), (10, false)] {
        let storage = Arc::new(MemoryStorage::new());
        let shared: Arc<dyn Storage> = storage.clone();
        let schema = SchemaBuilder::sparse().dimension(Dimension::string("d"));
        let schema =
            schema.attribute(Attribute::new("a", Datatype::Int32)).version(FormatVersion::new(version).unwrap());
        CreateOptions::new().create_on(&shared, schema.build().unwrap()).unwrap();
        let cells = WriteBatch::new().with("d", WriteColumn::strings(["", "zz"])).with("a", &[1_i32, 2]);
        open(&storage, &options()).unwrap().write().cells(cells).unwrap();
        let fragment = open(&storage, &options()).unwrap().fragments().unwrap()[0].folder().to_owned();
        let path = format!("{fragment}/__fragment_metadata.tdb");
        let mut bytes = storage.read(&path).unwrap();
        // Length of both strings, length of the first, then both strings.
        let range = [&2_u64.to_le_bytes()[..], &0_u64.to_le_bytes(), b"zz"].concat();
        let at = bytes.windows(range.len()).rposition(|window| window == range).unwrap();
        bytes[at + 16..at + 18].copy_from_slice(b"aa");
        storage.insert(&path, bytes).unwrap();
        let array = open(&storage, &options()).unwrap();
        let of_range = array.read().range("d", "zz"..="zz").unwrap();
        let of_condition = array.read().filter(field("d").eq("zz"));
        for query in [of_range, of_condition] {
            assert_eq!(count(query), usize::from(is_found), "format {version}");
        }
    }
}
