//! Properties that must hold for arbitrary bytes. Called by the drivers in `fuzz_targets` and by
//! the ordinary tests.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

use tdb_generic_tile::{GenericTile, GenericTileEncoder, GenericTileHeader};
use tdb_types::{ByteReader, ByteWriter, Limits, Spans};

/// Checks that headers and tiles round-trip. A tile must parse equally with and without recorded
/// spans, and have the length given by its header.
pub fn generic_tile(data: &[u8]) {
    let Ok(header) = GenericTileHeader::parse(&mut ByteReader::new(data)) else { return };
    let mut writer = ByteWriter::new();
    if header.write(&mut writer).is_ok() {
        let mut again = GenericTileHeader::parse(&mut ByteReader::new(writer.as_slice())).unwrap();
        assert_eq!(again.header_len(), writer.len() as u64);
        // Options may be stored with excess length, which writing removes.
        again.pipeline_size = header.pipeline_size;
        assert_eq!(again, header);
    }

    let limits = Limits::SMALL;
    let mut reader = ByteReader::new(data);
    let parsed = GenericTile::parse(&mut reader, &limits);
    let spans = Spans::new();
    let recorded = GenericTile::parse(&mut ByteReader::new(data).recording(&spans, 0), &limits);
    match (parsed, recorded) {
        (Ok(tile), Ok(recorded)) => {
            assert_eq!(
                (&tile.header, &tile.payload),
                (&recorded.header, &recorded.payload),
                "a record changes nothing"
            );
            assert_eq!(tile.header, header);
            assert_eq!(tile.payload.len() as u64, header.tile_size);
            assert_eq!(reader.offset(), header.stored_len());
            rewrite(&tile, &limits);
        }
        (parsed, recorded) => assert_eq!(parsed.err(), recorded.err()),
    }
}

fn rewrite(tile: &GenericTile, limits: &Limits) {
    let mut writer = ByteWriter::new();
    GenericTileEncoder::new(tile.header.version).encode(&tile.payload, &mut writer).unwrap();
    let again = GenericTile::parse_file(writer.as_slice(), limits, None).unwrap();
    assert_eq!(again.payload, tile.payload);
}
