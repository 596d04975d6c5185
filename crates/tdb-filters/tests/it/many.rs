//! Tiles of many chunks, and dictionaries of many strings: batched computations equal individual
//! results.
#![cfg(feature = "checksum")]

use crate::common::{V22, bind, cells, chunks, decode, encode, le};
use md5::{Digest, Md5};
use tdb_filters::{Filter, Scratch, TileKind};
use tdb_types::Datatype;

#[test]
fn each_chunk_has_its_own_digest() {
    // Full chunks have 64 KiB. The last chunk is shorter.
    for len in [8 * 65_536, 19 * 65_536 + 4000, 7 * 65_536, 100] {
        let tile: Vec<u8> = (0..len as u32 / 4).flat_map(|value| (value * 7).to_le_bytes()).collect();
        let kind = cells(Datatype::UInt32);
        for chunk in chunks(&encode(&[Filter::Md5], kind, &tile).unwrap()) {
            let (metadata, data) = chunk;
            let header = le!(u32: 0, 1);
            assert_eq!(metadata, [&header, &(data.len() as u64).to_le_bytes()[..], &Md5::digest(&data)].concat());
        }
        for filters in [
            vec![Filter::Md5, Filter::Byteshuffle, Filter::Md5],
            vec![Filter::Byteshuffle, Filter::Md5],
            vec![Filter::Md5, Filter::Sha256, Filter::Md5],
        ] {
            let filtered = encode(&filters, kind, &tile).unwrap();
            assert_eq!(decode(&filters, kind, &filtered, len).unwrap(), tile, "{filters:?}");
        }
    }
}

#[test]
fn strings_of_a_dictionary_round_trip() {
    let bound = bind(&[Filter::Dictionary { level: -1 }], TileKind::var_data(Datatype::StringAscii, V22));
    for distinct in [1usize, 40, 300, 70_000] {
        // Lengths from 0 to more than a fast copy, and indices of one, two and four bytes.
        let strings: Vec<String> = (0..2 * distinct)
            .map(|cell| cell % distinct)
            .map(|number| {
                let text = number.to_string();
                text.repeat(1 + number % 9)[..(number * 5 % 40).min(text.len() * (1 + number % 9))].to_owned()
            })
            .collect();
        let values = strings.concat().into_bytes();
        let offsets: Vec<u64> =
            strings.iter().scan(0, |end, string| Some(std::mem::replace(end, *end + string.len() as u64))).collect();
        let mut filtered = Vec::new();
        bound.encode_tile(&values, Some(&offsets), &mut filtered, &mut Scratch::new()).unwrap();
        let (mut found, mut places) = (vec![0xa5; values.len()], vec![7]);
        let count = strings.len() as u64;
        bound.decode_strings(&filtered, &mut found, &mut places, count, &mut Scratch::new()).unwrap();
        assert!(found == values && places == offsets, "{distinct}");
        // An output with a missing byte or string is an error.
        let mut short = vec![0; values.len() - usize::from(!values.is_empty())];
        assert!(
            values.is_empty()
                || bound.decode_strings(&filtered, &mut short, &mut places, count, &mut Scratch::new()).is_err()
        );
        assert!(bound.decode_strings(&filtered, &mut found, &mut places, count - 1, &mut Scratch::new()).is_err());
    }
}
