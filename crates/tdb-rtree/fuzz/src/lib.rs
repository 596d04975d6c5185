//! Properties that hold for any bytes, called by the drivers in `fuzz_targets` and by ordinary
//! tests.
//!
//! The input starts with a byte each for the format version and the number of dimensions. A byte
//! for the kind of each dimension follows (see [`kind`]), then the structure. The remaining bytes
//! become a query.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

#[path = "oracle.rs"]
pub mod oracle;

use tdb_rtree::{DimRange, DimensionKind, NdRange, RTree};
use tdb_types::{ByteReader, ByteWriter, Datatype, FormatVersion, Spans};

/// Converts a byte of the input to a dimension. The low bits select the datatype, and the highest
/// bit selects strings.
pub fn kind(byte: u8) -> DimensionKind {
    let datatype = Datatype::ALL[usize::from(byte & 0x7f) % Datatype::ALL.len()];
    DimensionKind { datatype, var: byte & 0x80 != 0 }
}

/// A parsed tree is written to the same bytes. Parsing with a record gives the same tree. A search
/// finds the same tiles as a check of every tile.
pub fn rtree(data: &[u8]) {
    let Some((version, kinds, bytes)) = split(data) else { return };
    let mut reader = ByteReader::new(bytes);
    let parsed = RTree::parse(&mut reader, &kinds, version);

    let spans = Spans::new();
    let mut recording = ByteReader::new(bytes).recording(&spans, 0);
    let recorded = RTree::parse(&mut recording, &kinds, version);
    assert_eq!(parsed.as_ref().ok(), recorded.as_ref().ok(), "a record changes nothing");
    let Ok(tree) = parsed else { return };

    let (read, rest) = bytes.split_at(bytes.len() - reader.remaining());
    let mut writer = ByteWriter::new();
    tree.write(&mut writer, version);
    assert_eq!(writer.as_slice(), read, "the same bytes again");
    assert!(tree.memory_used() <= 8 * read.len() + 64, "{} bytes for {}", tree.memory_used(), read.len());
    assert_eq!(tree.mbr(tree.leaf_count()), None);

    let query = query(&kinds, rest);
    let found: Vec<_> = tree.search(&query).unwrap().collect();
    assert_eq!(found, oracle::search(&tree, &query));

    // Builds a tree over the same tiles, with correct inner nodes.
    let tiles: Vec<_> = (0..tree.leaf_count()).map(|tile| tree.mbr(tile).unwrap()).collect();
    let rebuilt = RTree::build(&kinds, &tiles, tree.fanout()).unwrap();
    assert_eq!(rebuilt.search(&query).unwrap().collect::<Vec<_>>(), found);
}

/// A parsed range is written to the same bytes, and satisfies set identities with itself.
pub fn nd_range(data: &[u8]) {
    let Some((_, kinds, bytes)) = split(data) else { return };
    let mut reader = ByteReader::new(bytes);
    let Ok(range) = NdRange::parse(&mut reader, &kinds) else { return };
    let read = &bytes[..bytes.len() - reader.remaining()];
    let mut writer = ByteWriter::new();
    range.write(&mut writer, &kinds).unwrap();
    assert_eq!(writer.as_slice(), read, "the same bytes again");
    let wide = range.widened(&kinds);
    assert!(wide.intersects(&wide) && wide.contains(&wide));
    assert_eq!(wide.intersection(&wide).as_ref(), Some(&wide));
    assert_eq!(wide.widened(&kinds), wide, "widening again changes nothing");
    let everything = NdRange(kinds.iter().map(|kind| DimRange::everything(*kind)).collect());
    assert!(everything.contains(&wide) && everything.contains(&range));
    assert!(!range.display(&kinds).to_string().is_empty() || kinds.is_empty());
}

fn split(data: &[u8]) -> Option<(FormatVersion, Vec<DimensionKind>, &[u8])> {
    let (&[version, dimensions], rest) = data.split_first_chunk()?;
    let (kinds, bytes) = rest.split_at_checked(usize::from(dimensions % 5))?;
    let version = FormatVersion::new(u32::from(version) % 23 + 1).ok()?;
    Some((version, kinds.iter().map(|byte| kind(*byte)).collect(), bytes))
}

/// Ranges for each dimension, built from arbitrary bytes.
fn query(kinds: &[DimensionKind], bytes: &[u8]) -> Vec<Vec<DimRange>> {
    let mut query = vec![Vec::new(); kinds.len()];
    let mut bytes = bytes.iter().copied();
    let string = |bytes: &mut dyn Iterator<Item = u8>| -> Vec<u8> {
        let len = usize::from(bytes.next().unwrap_or(0) % 4);
        bytes.take(len).collect()
    };
    for round in 0..3 {
        for (ranges, kind) in query.iter_mut().zip(kinds) {
            let choice = bytes.next().unwrap_or(if round == 0 { 0 } else { 1 });
            let mut key = || tdb_types::ordered_key(kind.physical(), &[(); 8].map(|()| bytes.next().unwrap_or(0)));
            match choice % 6 {
                0 => ranges.push(DimRange::everything(*kind)),
                1 => {}
                2 if kind.var => ranges.push(DimRange::strings_from(string(&mut bytes))),
                5 if kind.var => ranges.push(DimRange::strings_before(string(&mut bytes), string(&mut bytes))),
                _ if kind.var => ranges.push(DimRange::strings(string(&mut bytes), string(&mut bytes))),
                2 => ranges.push(DimRange::Fixed { lo: key(), hi: u64::MAX }),
                _ => ranges.push(DimRange::Fixed { lo: key(), hi: key() }),
            }
        }
    }
    query
}
