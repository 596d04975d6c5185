//! Misleading sizes: files of a terabyte that occupy a few blocks, and lists of many short names.
//! Memory and time must be bounded by the actual bytes and the limits.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tdb_array::{Array, ArrayError, ArrayOptions, ErrorCategory, GroupOptions, Order};
use tdb_fragment::{ConsolidatedFooters, GenericTileEncoder};
use tdb_metadata::DetailsVersion;
use tdb_metadata::tdb_generic_tile::GenericTile;
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::allocations::peak_while;
use tdb_testkit::fixtures::{self, Fixture};
use tdb_types::{ByteWriter, FormatVersion, Limits};

use crate::arrays::footer;
use crate::groups::{details, member};
use crate::opening::{loaded, memory};

const TERABYTE: u64 = 1 << 40;

/// Memory for reading a small fixture with a small budget, in addition to the limits.
const SMALL: u64 = 32 << 20;

/// The files of a fixture's array on disk.
struct OnDisk(Fixture);

impl OnDisk {
    fn of(fixture: &str) -> Self {
        Self(fixtures::named(fixture))
    }

    /// Returns the first file whose path has this suffix, in order of names.
    fn find(&self, end: &str) -> PathBuf {
        fn find(folder: &Path, end: &str) -> Option<PathBuf> {
            let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
            paths.sort();
            paths.into_iter().find_map(|path| match path.is_dir() {
                true => find(&path, end),
                false => path.to_string_lossy().ends_with(end).then_some(path),
            })
        }
        find(self.0.array_dir(), end).unwrap()
    }

    /// Changes the metadata to claim this size of a data file. Returns the path of the data file.
    fn claim(&self, end: &str, size: u64) -> PathBuf {
        let file = self.find(end);
        let is = fs::metadata(&file).unwrap().len();
        replace_number(&file.with_file_name("__fragment_metadata.tdb"), is, size);
        file
    }

    /// Opens and reads the array. Returns the time, the peak of allocations and the result.
    fn read(&self, order: Order) -> (Duration, u64, Result<usize, ArrayError>) {
        let start = Instant::now();
        let mut result = Ok(0);
        let peak = peak_while(|| result = self.cells(order));
        (start.elapsed(), peak, result)
    }

    fn cells(&self, order: Order) -> Result<usize, ArrayError> {
        let array = ArrayOptions::new().threads(1).open(self.0.array_dir())?;
        array.read().order(order).budget(1 << 20).batches()?.map(|batch| Ok(batch?.len())).sum()
    }

    /// Checks that the array is rejected quickly, with little memory, and with an error naming the
    /// file.
    fn is_refused(&self, file: &Path, what: &str) {
        assert_eq!(self.survives(file, what), 0, "{what}: the array was not rejected");
    }

    /// Checks that the array is read or rejected quickly and with little memory. Returns the number
    /// of cells.
    fn survives(&self, file: &Path, what: &str) -> usize {
        let of_order = |order| {
            let (elapsed, peak, result) = self.read(order);
            assert!(peak < SMALL, "{what}: {peak} bytes for {result:?}");
            assert!(elapsed < Duration::from_secs(5), "{what}: {elapsed:?} for {result:?}");
            result.unwrap_or_else(|error| {
                let name = file.file_name().unwrap().to_string_lossy().into_owned();
                assert!(error.to_string().contains(&name), "{what}: {error}");
                let category = error.category();
                assert!(matches!(category, ErrorCategory::Corrupt | ErrorCategory::Unsupported), "{what}: {error}");
                0
            })
        };
        [Order::Global, Order::RowMajor].map(of_order).into_iter().sum()
    }
}

/// Extends the file without allocating disk space.
fn stretch(path: &Path, size: u64) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(size).unwrap();
}

fn put(path: &Path, at: u64, bytes: &[u8]) {
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(bytes).unwrap();
}

/// Replaces a number throughout the last bytes of the file.
fn replace_number(path: &Path, old: u64, new: u64) {
    let mut bytes = fs::read(path).unwrap();
    let start = bytes.len().saturating_sub(2000);
    let places: Vec<usize> = (start..bytes.len() - 8).filter(|at| bytes[*at..at + 8] == old.to_le_bytes()).collect();
    assert!(!places.is_empty(), "{} has no {old}", path.display());
    places.iter().for_each(|at| bytes[*at..at + 8].copy_from_slice(&new.to_le_bytes()));
    fs::write(path, bytes).unwrap();
}

#[test]
fn metadata_files_of_a_terabyte() {
    for fixture in ["v22-by-2.30.0-sparse-1d", "v22-by-2.30.0-dense-1d"] {
        let array = OnDisk::of(fixture);
        let file = array.find("__fragment_metadata.tdb");
        stretch(&file, TERABYTE);
        array.is_refused(&file, "no footer");
        put(&file, TERABYTE - 8, &(TERABYTE - 8).to_le_bytes());
        array.is_refused(&file, "a footer of all");
        put(&file, TERABYTE - 8, &(TERABYTE >> 3).to_le_bytes());
        array.is_refused(&file, "a footer of much");
    }
    // Formats with metadata read completely, or with another location of the footer.
    for fixture in ["v2-by-1.5.1-dense", "v3-by-1.6.3-dense", "v5-by-2.0.8-sparse-strings"] {
        let array = OnDisk::of(fixture);
        let file = array.find("__fragment_metadata.tdb");
        stretch(&file, TERABYTE);
        array.is_refused(&file, fixture);
    }
}

#[test]
fn other_files_of_a_terabyte() {
    for end in [".con", ".vac", ".ign"] {
        let array = OnDisk::of("v22-by-2.30.0-sparse-1d");
        let commit = array.find(".wrt").with_extension(&end[1..]);
        fs::write(&commit, b"").unwrap();
        stretch(&commit, TERABYTE);
        array.is_refused(&commit, end);
    }
    let array = OnDisk::of("v22-by-2.30.0-sparse-1d");
    let schemas = array.0.array_dir().join("__schema");
    let schema = fs::read_dir(schemas).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_file()).unwrap();
    stretch(&schema, TERABYTE);
    array.is_refused(&schema, "schema");
}

/// Footers determine the size of data files, and thereby the end of the last tile.
#[test]
fn tiles_of_a_terabyte() {
    let fixtures = [
        ("v22-by-2.30.0-sparse-1d", "/a0.tdb"),
        ("v22-by-2.30.0-sparse-1d", "/d0.tdb"),
        ("v22-by-2.30.0-dense-1d", "/a0.tdb"),
        ("v22-by-2.30.0-sparse-strings", "/d0_var.tdb"),
        ("v22-by-2.30.0-sparse-strings", "/d0.tdb"),
        ("v22-by-2.30.0-sparse-long-strings", "/a0_var.tdb"),
        ("v22-by-2.30.0-sparse-long-strings", "/a0.tdb"),
        ("v3-by-1.6.3-sparse", "/__coords.tdb"),
    ];
    for (fixture, end) in fixtures {
        for size in [TERABYTE, 3 << 30] {
            let array = OnDisk::of(fixture);
            let file = array.claim(end, size);
            stretch(&file, size);
            array.is_refused(&file, &format!("{fixture} {end} of {size}"));
        }
    }
    // The last chunks of the last tile hold cells outside of the array's domain, which are never
    // read.
    let array = OnDisk::of("v22-by-2.30.0-dense-var-partial");
    let file = array.claim("/a0_var.tdb", TERABYTE);
    stretch(&file, TERABYTE);
    assert!(array.survives(&file, "values outside of the domain") > 0);
}

/// A tile that claims a huge number of chunks, all of them holes.
#[test]
fn huge_chunk_counts_are_rejected() {
    for (fixture, end) in [
        ("v22-by-2.30.0-sparse-1d", "/a0.tdb"),
        ("v22-by-2.30.0-dense-1d", "/a0.tdb"),
        ("v22-by-2.30.0-sparse-strings", "/d0_var.tdb"),
    ] {
        let array = OnDisk::of(fixture);
        let file = array.claim(end, TERABYTE);
        fs::write(&file, (TERABYTE / 12 - 1).to_le_bytes()).unwrap();
        stretch(&file, TERABYTE);
        array.is_refused(&file, fixture);
    }
}

/// Returns the memory for opening per byte of the files, and the result.
fn cost(storage: &Arc<MemoryStorage>, bytes: usize) -> (f64, Result<Array, ArrayError>) {
    let mut result = None;
    let peak = peak_while(|| result = Some(loaded(ArrayOptions::new().threads(1).open_on(storage.clone()))));
    (peak as f64 / bytes as f64, result.unwrap())
}

/// Returns many distinct short names between `before` and `after`.
fn names(count: u32, before: &str, after: &str) -> Vec<u8> {
    (0..count).map(|index| format!("{before}{index:x}{after}\n")).collect::<String>().into_bytes()
}

const NAME: &str = "__commits/__1_1_00000000000000000000000000000001_22";

#[test]
fn many_short_names_cost_a_small_multiple_of_their_bytes() {
    const COUNT: u32 = 200_000;
    for (extension, bytes, most) in [
        // The shortest possible names of missing fragments, and the shortest that count elsewhere.
        ("con", names(COUNT, "__commits/__1_1_", "_22.wrt"), 14.0),
        ("con", names(COUNT, "__", "_1.wrt"), 14.0),
        ("con", names(COUNT, "__1_1_", "_11.ok"), 8.0),
        ("ign", names(COUNT, "__", "_1.wrt"), 8.0),
        ("ign", names(COUNT, "__", "_1"), 4.0),
        ("vac", names(COUNT, "__", "_1"), 8.0),
        ("vac", names(COUNT, "", ""), 4.0),
    ] {
        let storage = memory("v22-by-2.30.0-sparse-1d");
        let start = String::from_utf8_lossy(&bytes[..20]).into_owned();
        storage.insert(&format!("{NAME}.{extension}"), bytes.clone()).unwrap();
        let (times, result) = cost(&storage, bytes.len());
        println!(
            "{extension} of {start:?}…: {times:.1} times its bytes, {:?}",
            result.err().map(|error| error.to_string())
        );
        assert!(times < most, "{extension} of {start:?}…: {times} times its bytes");
    }
}

/// The first missing fragment ends the opening. The others are not checked.
#[test]
fn the_first_missing_fragment_ends_opening() {
    let storage = memory("v22-by-2.30.0-sparse-1d");
    storage.insert(&format!("{NAME}.con"), names(20_000, "__commits/__1_1_", "_22.wrt")).unwrap();
    let counting = tdb_storage::CountingStorage::new(storage);
    let error = loaded(ArrayOptions::new().threads(1).open_on(Arc::new(counting.clone()))).unwrap_err();
    assert_eq!(error.category(), ErrorCategory::Unavailable, "{error}");
    assert!(counting.counters().opens < 3000, "{}", counting.counters());
}

#[test]
fn many_small_changes_of_metadata_cost_a_small_multiple_of_their_bytes() {
    let mut payload = Vec::new();
    for index in 0..200_000_u32 {
        payload.extend_from_slice(&[4, 0, 0, 0]);
        payload.extend_from_slice(&index.to_le_bytes());
        // Deleted keys, or values without numbers.
        if index % 2 == 0 { payload.push(1) } else { payload.extend_from_slice(&[0, 0, 0, 0, 0, 0]) }
    }
    let storage = memory("v22-by-2.30.0-sparse-1d");
    let mut file = ByteWriter::new();
    GenericTile::write(&payload, &mut file).unwrap();
    storage.insert("__meta/__1_1_00000000000000000000000000000001", file.into_bytes()).unwrap();
    let array = ArrayOptions::new().threads(1).open_on(storage).unwrap();
    let peak = peak_while(|| assert_eq!(array.metadata().unwrap().len(), 100_000));
    let times = peak as f64 / payload.len() as f64;
    println!("metadata: {times:.1} times its bytes");
    assert!(times < 10.0, "{times} times its bytes");
}

#[test]
fn many_small_members_cost_a_small_multiple_of_their_bytes() {
    let storage = Arc::new(MemoryStorage::new());
    storage.insert("__tiledb_group.tdb", Vec::new()).unwrap();
    let members = (0..100_000).map(|index| member(&format!("{index:x}"), true, None)).collect();
    let file = details(DetailsVersion::Changes, members);
    let bytes = GenericTile::parse_file(&file, &Limits::default(), None).unwrap().payload.len();
    storage.insert("__group/__1_1_00000000000000000000000000000001_2", file).unwrap();
    let peak = peak_while(|| assert_eq!(GroupOptions::new().open_on(storage).unwrap().members().len(), 100_000));
    let times = peak as f64 / bytes as f64;
    println!("members: {times:.1} times their bytes");
    assert!(times < 20.0, "{times} times its bytes");
}

/// Consolidated footers are held until the array is open. Together they must fit into the limit for
/// one file. Footers in further files are read from the fragments.
#[test]
fn footers_of_many_files_keep_to_the_limit_together() {
    let storage = memory("v22-by-2.30.0-sparse-2d");
    for fragment in storage.list("__fragments").unwrap() {
        let name = fragment.name;
        let metadata = storage.read(&format!("__fragments/{name}/__fragment_metadata.tdb")).unwrap();
        let mut encoder = GenericTileEncoder::new(FormatVersion::DEFAULT);
        let large = vec![0; 700_000];
        let file = ConsolidatedFooters::write_file(&[(&name, footer(&metadata)), ("__9_9_x_22", &large)], &mut encoder)
            .unwrap();
        storage.insert(&format!("__fragment_meta/{name}.meta"), file).unwrap();
    }
    let open = |bytes| {
        let limits = Limits::default().with_generic_tile_bytes(bytes);
        loaded(ArrayOptions::new().threads(1).limits(limits).open_on(storage.clone()))
    };
    let array = open(1 << 20).unwrap();
    let said: Vec<String> = array.damaged().iter().map(|damaged| damaged.error.to_string()).collect();
    assert_eq!((array.fragments().unwrap().len(), said.len()), (2, 1));
    assert!(said[0].contains(".meta") && said[0].contains("exceeds the limit generic_tile_bytes"), "{}", said[0]);
    let array = open(2 << 20).unwrap();
    assert_eq!((array.fragments().unwrap().len(), array.damaged().len()), (2, 0));
}

/// Each footer is within the limit, but all footers wait for schemas.
#[test]
fn large_footers_of_many_fragments_are_not_kept_together() {
    const LARGE: usize = 700 << 10;
    let storage = memory("v22-by-2.30.0-sparse-2d");
    let first = storage.list("__fragments").unwrap().remove(0).name;
    let sound = storage.read(&format!("__fragments/{first}/__fragment_metadata.tdb")).unwrap();
    // A footer followed by unrelated bytes.
    let mut large = footer(&sound).to_vec();
    large.resize(LARGE, 0);
    large.extend_from_slice(&(LARGE as u64).to_le_bytes());
    for place in 0..12 {
        let name = format!("__1700000000000_1700000000000_{place:032x}_22");
        storage.insert(&format!("__fragments/{name}/__fragment_metadata.tdb"), large.clone()).unwrap();
        storage.insert(&format!("__commits/{name}.wrt"), Vec::new()).unwrap();
    }
    let mut opened = None;
    let limits = Limits::default().with_generic_tile_bytes(1 << 20);
    let options = ArrayOptions::new().threads(1).limits(limits);
    let peak = peak_while(|| opened = Some(loaded(options.open_on(storage.clone()))));
    let error = opened.unwrap().unwrap_err().to_string();
    assert!(error.contains("unexpected bytes"), "{error}");
    assert!(peak < 4 << 20, "{peak} bytes");
}
