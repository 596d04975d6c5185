//! Tiles from which release 2.30.0 lost bytes.
//!
//! The delta filters of the release do not write bytes after the last whole value of a part. In
//! metadata of earlier filters, these are high bytes of a length, mostly zeros. The library reads
//! uninitialized memory instead, and therefore decodes such tiles only sometimes.

use crate::common::{V22, decode, encode, hex, le};
use tdb_filters::{Filter, FilterError, TileKind};
use tdb_types::Datatype;

fn reduction(max_window: u32) -> Filter {
    Filter::BitWidthReduction { max_window }
}

const DOUBLE_DELTA: Filter = Filter::DoubleDelta { level: -1, reinterpret: Some(Datatype::Int32) };
const DELTA: Filter = Filter::Delta { level: -1, reinterpret: Some(Datatype::Int32) };

/// The window's length ends the 21 bytes of metadata. Its last byte is lost.
const NUMBERS: [u32; 8] = [100, 101, 102, 103, 104, 105, 106, 107];

fn reads(filters: &[Filter], kind: TileKind, filtered: &str, tile: &[u8]) {
    assert_eq!(decode(filters, kind, &hex(filtered), tile.len()).unwrap(), tile, "{filters:?}");
}

#[test]
fn lost_zeros_of_lengths_are_restored() {
    let numbers = NUMBERS.map(u32::to_le_bytes).concat();
    let filtered =
        "0100000000000000200000002a000000180000000100000001000000110000001900000008000000110000000d04000000000000002000
        0000010000000000000010f409020002000000000000000001020304050607";
    reads(&[reduction(4096), DOUBLE_DELTA], TileKind::var_data(Datatype::UInt32, V22), filtered, &numbers);

    let numbers = NUMBERS.map(|number| u64::from(number).to_le_bytes()).concat();
    let filtered =
        "0100000000000000400000002c000000180000000100000001000000150000001c00000008000000100000000500000000000000400000
        00c1ffffff630000009cffffff0840000002000000000000000001020304040404";
    reads(&[reduction(256), DELTA], TileKind::var_data(Datatype::UInt64, V22), filtered, &numbers);
}

/// Metadata of two filters, and data, before double delta. A later filter also reduces the metadata
/// of double delta.
#[test]
fn chains_of_reductions_and_double_delta_decode() {
    let filters = [reduction(16), reduction(1000), DOUBLE_DELTA, reduction(256)];
    let squares = [0i64, 1_000_000, 4_000_000, 9_000_000, 16_000_000, 7].map(i64::to_le_bytes).concat();
    let kind = TileKind::var_data(Datatype::DatetimePs, V22);
    let filtered =
        "0100000000000000300000007a0000003a0000007a00000002000000fd7f00002078000000fd7f00002002000000020000000100000015
        000000210000002f0000003800000018000000210000001905000000000000001800000001000000d0137f84fe03093d000000000000e4
        f01f0b0000000000000030000000030000000000000000000000201000000000093d000000000020100000000700000000000000201000
        00001906000000000000000000000040420f006e01d8b80520a187000000b2fc9be735";
    reads(&filters, kind, filtered, &squares);
    // This library's output keeps all bytes.
    let ours = encode(&filters, kind, &squares).unwrap();
    assert_eq!(decode(&filters, kind, &ours, squares.len()).unwrap(), squares);
}

/// Five of 29 bytes of metadata are lost: the length and the preceding bits. They were not all
/// zero, which is detected.
#[test]
fn other_lost_bytes_are_detected() {
    let delta = Filter::Delta { level: -1, reinterpret: None };
    let filtered =
        "01000000000000004000000028000000180000000100000001000000150000001800000008000000100000000200000000000000400000
        000100000024000000ffffffff01000000000000000001020304050607";
    let kind = TileKind::var_data(Datatype::UInt64, V22);
    let error = decode(&[reduction(256), delta], kind, &hex(filtered), 64).unwrap_err().to_string();
    assert!(error.contains("bit_width_reduction"), "{error}");
}

/// Bytes lost from data are unknown.
#[test]
fn lost_data_are_rejected() {
    let kind = TileKind::var_data(Datatype::UInt8, V22);
    let mut filtered = le!(u64: 1);
    for part in [le!(u32: 6, 0, 16), le!(u32: 0, 1, 6, 12)] {
        filtered = [filtered, part].concat();
    }
    let data = [le!(u64: 1), le!(u32: 7)].concat();
    filtered[12..16].copy_from_slice(&le!(u32: data.len() as u32));
    let filtered = [filtered, data].concat();
    let error = decode(&[DELTA], kind, &filtered, 6).unwrap_err();
    assert!(error.to_string().contains("the writer lost the bytes after the last whole value"), "{error}");
    assert!(matches!(error, FilterError::Chunk { .. }), "{error}");
}
