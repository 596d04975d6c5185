//! Shards written by zarr-python 3 (`shards/make.py`): unchanged, truncated and altered. Missing
//! chunks are fill values, and everything else is an error.

use std::fs;
use std::path::{Path, PathBuf};

use tdb_array::Array;
use tdb_zarr::{Error, Import, Imported};

use crate::support::{cells, change, metadata};

/// Array name, then: index at the start of the file, checksum, big-endian index.
const ARRAYS: [(&str, bool, bool, bool); 4] = [
    ("behind", false, true, false),
    ("in-front", true, true, false),
    ("big", false, false, true),
    ("texts", false, true, false),
];
/// Size in bytes of an index with four chunks.
const INDEX: usize = 64;
const ABSENT: u64 = u64::MAX;

/// A copy of an array, and its folder.
struct Copied {
    folder: tempfile::TempDir,
    name: &'static str,
}

impl Copied {
    fn new(name: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/zarr/shards").join(format!("{name}.zarr"));
        let copied = Self { folder, name };
        fs::create_dir_all(copied.zarr().join("c/0")).unwrap();
        for file in ["zarr.json", "c/0/0", "c/0/1"] {
            fs::copy(from.join(file), copied.zarr().join(file)).unwrap();
        }
        copied
    }

    fn zarr(&self) -> PathBuf {
        self.folder.path().join("array.zarr")
    }

    fn shard(&self) -> PathBuf {
        self.zarr().join("c/0/0")
    }

    /// Imports the array. Returns the cells as text in row-major order, and the counts.
    fn import(&self) -> Result<(Vec<String>, Imported), Error> {
        let copy = self.folder.path().join("copy");
        let imported = Import::new().budget(64).to_folder(self.zarr(), &copy)?;
        let read = cells(&Array::open(&copy).unwrap());
        fs::remove_dir_all(&copy).unwrap();
        let (_, values, offsets, _) = &read[0];
        let cell = |ends: &[u64]| &values[usize::try_from(ends[0]).unwrap()..usize::try_from(ends[1]).unwrap()];
        let text = |bytes: &[u8]| match self.name {
            "texts" => String::from_utf8(bytes.to_vec()).unwrap(),
            _ => i32::from_le_bytes(bytes.try_into().unwrap()).to_string(),
        };
        Ok((offsets.windows(2).map(|ends| text(cell(ends))).collect(), imported))
    }

    /// Returns the error message of a failed import. Checks that no array was created.
    fn refused(&self, what: &str) -> String {
        let error = self.import().map(|(cells, _)| cells).unwrap_err();
        assert!(matches!(error, Error::Shard { .. } | Error::Chunk { .. }), "{} {what}: {error:?}", self.name);
        assert!(!self.folder.path().join("copy").exists());
        error.to_string()
    }
}

/// Returns the expected cells: rows 0 to 2, except for four cells of fill values.
fn expected(name: &str) -> Vec<String> {
    // Empty strings are not possible as fill value of an array. All cells are written in this case.
    let fill = if name == "texts" { "" } else { "7" };
    let cell = |at: usize| match (at / 8, at % 8) {
        (0 | 1, 2 | 3) | (3.., _) => fill.to_owned(),
        _ if name == "texts" => format!("é{}", at + 100),
        _ => (at + 100).to_string(),
    };
    (0..64).map(cell).collect()
}

/// Computes CRC-32C, bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    let step = |sum: u32| (sum >> 1) ^ if sum & 1 == 1 { 0x82f6_3b78 } else { 0 };
    !bytes.iter().fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), |sum, _| step(sum)))
}

/// Returns a shard with a changed index entry, and a valid checksum.
fn with_entry(
    shard: &[u8],
    (is_in_front, has_sum, is_big): (bool, bool, bool),
    chunk: usize,
    (start, len): (u64, u64),
) -> Vec<u8> {
    let index = if is_in_front { 0 } else { shard.len() - INDEX - if has_sum { 4 } else { 0 } };
    let mut shard = shard.to_vec();
    for (number, word) in [start, len].into_iter().enumerate() {
        let bytes = if is_big { word.to_be_bytes() } else { word.to_le_bytes() };
        let at = index + 16 * chunk + 8 * number;
        shard[at..at + 8].copy_from_slice(&bytes);
    }
    if has_sum {
        let sum = crc32c(&shard[index..index + INDEX]).to_le_bytes();
        shard[index + INDEX..index + INDEX + 4].copy_from_slice(&sum);
    }
    shard
}

#[test]
fn missing_chunks_of_shards_are_fill_values() {
    for (name, ..) in ARRAYS {
        let copied = Copied::new(name);
        let (cells, imported) = copied.import().unwrap();
        assert_eq!(cells, expected(name), "{name}");
        // Each of seven chunks with four cells is a box. With an empty string as fill value, all
        // cells are written.
        assert_eq!(imported.cells, if name == "texts" { 64 } else { 28 }, "{name}");
        fs::remove_file(copied.shard()).unwrap();
        let (cells, imported) = copied.import().unwrap();
        let there = |(at, cell): (usize, String)| if at % 8 < 4 { expected(name)[63].clone() } else { cell };
        assert_eq!(cells, expected(name).into_iter().enumerate().map(there).collect::<Vec<_>>(), "{name}");
        assert!(name == "texts" || imported.cells == 16, "{imported:?}");
    }
}

#[test]
fn truncated_shards_are_errors() {
    for (name, ..) in ARRAYS {
        let copied = Copied::new(name);
        let good = fs::read(copied.shard()).unwrap();
        for len in (0..good.len()).rev().step_by(3).chain([0]) {
            fs::write(copied.shard(), &good[..len]).unwrap();
            let said = copied.refused(&format!("{len} of {} bytes", good.len()));
            assert!(len > 0 || said.contains("0 bytes are too few for the index"), "{said}");
        }
    }
}

#[test]
fn index_entries_are_absent_or_within_the_file() {
    for (name, is_in_front, has_sum, is_big) in ARRAYS {
        let copied = Copied::new(name);
        let good = fs::read(copied.shard()).unwrap();
        let size = good.len() as u64;
        let form = (is_in_front, has_sum, is_big);
        fs::write(copied.shard(), with_entry(&good, form, 0, (ABSENT, ABSENT))).unwrap();
        let (cells, _) = copied.import().unwrap();
        let absent =
            |(at, cell): (usize, String)| if at / 8 < 2 && at % 8 < 2 { expected(name)[63].clone() } else { cell };
        assert_eq!(cells, expected(name).into_iter().enumerate().map(absent).collect::<Vec<_>>(), "{name}");
        for (start, len) in [
            (size, 1),
            (size - 1, 2),
            (1000, 16),
            (0, size + 1),
            (ABSENT, 16),
            (0, ABSENT),
            (ABSENT - 1, ABSENT),
            (ABSENT - 15, 32),
            (1 << 63, 1 << 63),
        ] {
            // Also for the second chunk, which was missing. Everything else is valid.
            for chunk in [0, 1] {
                fs::write(copied.shard(), with_entry(&good, form, chunk, (start, len))).unwrap();
                let said = copied.refused(&format!("{start} {len}"));
                let told = format!(
                    "invalid index: chunk {chunk} at offset {start} with {len} bytes is outside of the file of {size} bytes"
                );
                assert!(said.contains(&told) && said.contains("c/0/0"), "{said}");
            }
        }
        // Ranges within the file, but not of a chunk. Strings contain their length, and zarrs
        // ignores trailing bytes.
        let longer = (name != "texts").then_some((0, size));
        for place in [(0, 0), (size, 0), (size - 3, 3)].into_iter().chain(longer) {
            fs::write(copied.shard(), with_entry(&good, form, 0, place)).unwrap();
            copied.refused(&format!("{place:?}"));
        }
    }
}

#[test]
fn changed_index_is_detected_by_checksum() {
    for (name, is_in_front, has_sum, is_big) in ARRAYS {
        if !has_sum {
            continue;
        }
        let copied = Copied::new(name);
        let good = fs::read(copied.shard()).unwrap();
        let index = if is_in_front { 0 } else { good.len() - INDEX - 4 };
        assert_eq!(with_entry(&good, (is_in_front, has_sum, is_big), 1, (ABSENT, ABSENT)), good, "{name}");
        for at in index..index + INDEX + 4 {
            let mut shard = good.clone();
            shard[at] ^= 0x10;
            fs::write(copied.shard(), shard).unwrap();
            let said = copied.refused(&format!("byte {at}"));
            assert!(said.contains("invalid index"), "{said}");
        }
    }
}

#[test]
fn invalid_sharding_metadata_are_errors() {
    let configuration = "/codecs/0/configuration";
    for (key, value) in [
        ("chunk_shape", serde_json::json!("2")),
        ("chunk_shape", serde_json::json!([2])),
        ("chunk_shape", serde_json::json!([2, 2, 1])),
        ("chunk_shape", serde_json::json!([0, 2])),
        ("chunk_shape", serde_json::json!([3, 2])),
        ("codecs", serde_json::json!(null)),
        ("codecs", serde_json::json!([])),
        ("index_codecs", serde_json::json!([])),
        ("index_codecs", serde_json::json!([{ "name": "crc32c" }])),
        ("index_location", serde_json::json!("middle")),
        ("index_location", serde_json::json!(1)),
    ] {
        let copied = Copied::new("behind");
        change(&copied.zarr(), &format!("{configuration}/{key}"), value.clone());
        let error = copied.import().map(|_| ()).unwrap_err();
        assert!(matches!(error, Error::Metadata { .. } | Error::Unsupported { .. }), "{key} {value}: {error:?}");
    }
    // `index_location` is optional, and defaults to the end.
    let copied = Copied::new("behind");
    let mut all = metadata(&copied.zarr());
    all.pointer_mut(configuration).unwrap().as_object_mut().unwrap().remove("index_location").unwrap();
    fs::write(copied.zarr().join("zarr.json"), all.to_string()).unwrap();
    assert_eq!(copied.import().unwrap().0, expected("behind"));
}

#[test]
fn compressed_shards_are_read_completely() {
    // A compressed shard cannot be read in part.
    let copied = Copied::new("big");
    let mut codecs = metadata(&copied.zarr())["codecs"].clone();
    codecs.as_array_mut().unwrap().push(serde_json::json!({ "name": "zstd", "configuration": { "level": 1 } }));
    change(&copied.zarr(), "/codecs", codecs);
    for shard in ["c/0/0", "c/0/1"] {
        let path = copied.zarr().join(shard);
        fs::write(&path, zstd::encode_all(&fs::read(&path).unwrap()[..], 1).unwrap()).unwrap();
    }
    assert_eq!(copied.import().unwrap().0, expected("big"));
    let good = zstd::decode_all(&fs::read(copied.shard()).unwrap()[..]).unwrap();
    for entry in [(1000, 16), (ABSENT, 16), (0, ABSENT), (ABSENT - 15, 32), (0, 0)] {
        let shard = with_entry(&good, (false, false, true), 0, entry);
        fs::write(copied.shard(), zstd::encode_all(&shard[..], 1).unwrap()).unwrap();
        copied.refused(&format!("{entry:?}"));
    }
}
