//! Invalid metadata and chunks.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tdb_zarr::{Error, Export, Import};

use crate::support::{change, counted};

fn written() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let zarr = folder.path().join("array.zarr");
    Export::new().array(&counted(&folder.path().join("array"), &[10, 4], &[5, 3]), &zarr).unwrap();
    // Removes the mark, which would be compared first and then ignored.
    change(&zarr, "/attributes", json!({}));
    (folder, zarr)
}

fn refused(zarr: &Path) -> Error {
    let target = zarr.with_extension("copy");
    let error = Import::new().to_folder(zarr, &target).unwrap_err();
    assert!(!target.exists());
    error
}

#[test]
fn contradictory_metadata_are_errors() {
    let bytes = json!({ "name": "bytes", "configuration": { "endian": "little" } });
    let sharding = |shape: Value, codecs: Value, index: Value| {
        let configuration = json!({ "chunk_shape": shape, "codecs": codecs, "index_codecs": index });
        json!([{ "name": "sharding_indexed", "configuration": configuration }])
    };
    let most = u64::MAX;
    let cases: Vec<(&str, Value)> = vec![
        ("/shape", json!([10])),
        ("/shape", json!([-1, 4])),
        ("/shape", json!([0, 4])),
        ("/shape", json!("10")),
        ("/chunk_grid/configuration/chunk_shape", json!([0, 3])),
        ("/chunk_grid/configuration/chunk_shape", json!([most, most])),
        ("/chunk_grid/configuration/chunk_shape", json!([1 << 20, 1 << 20])),
        ("/chunk_grid/configuration/chunk_shape", json!([[5], 3])),
        ("/chunk_grid/name", json!("rectangular")),
        ("/data_type", json!("int3")),
        ("/data_type", json!({ "name": "raw_bytes", "configuration": { "length_bytes": most } })),
        ("/data_type", json!(null)),
        ("/fill_value", json!("x")),
        ("/fill_value", json!([])),
        ("/codecs", json!([])),
        ("/codecs", json!(3)),
        ("/codecs", json!([3])),
        ("/codecs", json!([bytes, bytes])),
        ("/codecs", json!([{ "name": "zstd" }])),
        ("/codecs", json!([bytes, { "name": "lzma" }])),
        ("/codecs", json!([{ "name": "transpose", "configuration": { "order": [0, 0] } }, bytes])),
        ("/codecs", json!([{ "name": "transpose", "configuration": { "order": [0, 7] } }, bytes])),
        ("/codecs", json!([{ "name": "bytes", "configuration": { "endian": "middle" } }])),
        ("/codecs", sharding(json!([0, 3]), json!([bytes]), json!([bytes]))),
        ("/codecs", sharding(json!([2, 2]), json!([bytes]), json!([bytes]))),
        ("/codecs", sharding(json!([5]), json!([bytes]), json!([bytes]))),
        ("/codecs", sharding(json!([5, 3]), json!([bytes]), json!([bytes, { "name": "zstd" }]))),
        ("/codecs", sharding(json!([5, 3]), sharding(json!([5, 3]), json!([bytes]), json!([bytes])), json!([bytes]))),
        ("/chunk_key_encoding", json!({ "name": "fanout" })),
        ("/dimension_names", json!(["a"])),
        ("/attributes", json!([])),
        ("/node_type", json!("tree")),
        ("/zarr_format", json!(4)),
    ];
    for (pointer, value) in cases {
        let (_folder, zarr) = written();
        change(&zarr, pointer, value.clone());
        let error = refused(&zarr);
        let is_typed = matches!(error, Error::Metadata { .. } | Error::Unsupported { .. } | Error::Schema { .. });
        assert!(is_typed, "{pointer} {value}: {error:?}");
    }
    let (_folder, zarr) = written();
    for text in ["", "[]", "{", &"[".repeat(10_000), "\u{feff}{}"] {
        fs::write(zarr.join("zarr.json"), text).unwrap();
        assert!(matches!(refused(&zarr), Error::Metadata { .. }));
    }
}

#[test]
fn large_arrays_with_few_chunks_need_little_memory() {
    let (_folder, zarr) = written();
    change(&zarr, "/shape", json!([1_u64 << 40, 1_u64 << 20]));
    fs::create_dir_all(zarr.join("c/100000000")).unwrap();
    fs::copy(zarr.join("c/0/0"), zarr.join("c/100000000/5")).unwrap();
    // Chunks beyond the end, and files that are not chunks.
    fs::create_dir_all(zarr.join("c/99999999999999")).unwrap();
    fs::copy(zarr.join("c/0/0"), zarr.join("c/99999999999999/5")).unwrap();
    fs::copy(zarr.join("c/0/0"), zarr.join("c/0/x")).unwrap();
    let imported = Import::new().budget(1 << 16).to_folder(&zarr, zarr.with_extension("copy")).unwrap();
    assert!(imported.cells < 1 << 16, "{imported:?}");
}

#[test]
fn damaged_chunks_are_named_in_errors() {
    let bytes = json!({ "name": "bytes", "configuration": { "endian": "little" } });
    let names = ["gzip", "zstd", "blosc", "zlib", "numcodecs.lz4", "crc32c", "sharding_indexed"];
    let (mut errors, mut read) = (0, 0);
    for name in names {
        let (_folder, zarr) = written();
        let codecs = match name {
            "sharding_indexed" => {
                let configuration = json!({ "chunk_shape": [5, 1], "codecs": [bytes], "index_codecs": [bytes] });
                json!([{ "name": name, "configuration": configuration }])
            }
            _ => json!([bytes, { "name": name, "configuration": {} }]),
        };
        change(&zarr, "/codecs", codecs);
        let chunk = zarr.join("c/0/0");
        let mut hostile: Vec<Vec<u8>> = vec![Vec::new(), vec![0], vec![0xff; 16], vec![0xff; 200], vec![0; 64]];
        // Headers of Blosc and LZ4 with large sizes, and compressed gigabytes of zeros.
        hostile.push([&[2, 1, 1, 4][..], &[0xff; 8], &[16, 0, 0, 0]].concat());
        hostile.push([&[2, 1, 0x33, 4][..], &[60, 0, 0, 0, 60, 0, 0, 0, 80, 0, 0, 0], &[7; 64]].concat());
        hostile.push([&[2, 1, 0x01, 4][..], &[60, 0, 0, 0, 60, 0, 0, 0, 80, 0, 0, 0, 20, 0, 0, 0], &[9; 64]].concat());
        hostile.push(zstd::encode_all(&vec![0; 50_000_000][..], 1).unwrap());
        for bytes in hostile {
            fs::write(&chunk, bytes).unwrap();
            let target = zarr.with_extension("copy");
            match Import::new().to_folder(&zarr, &target) {
                // Some bytes are valid by chance.
                Ok(_) => {
                    fs::remove_dir_all(target).unwrap();
                    read += 1;
                }
                Err(Error::Chunk { .. } | Error::Shard { .. }) => errors += 1,
                Err(other) => panic!("{name}: {other:?}"),
            }
        }
    }
    assert!(errors > 50, "{errors} {read}");
}
