//! Bounds on the allocations of a parse of hostile bytes: a small multiple of the input.

use tdb_schema::{ArraySchema, Enumeration};
use tdb_testkit::allocations::peak_while;
use tdb_testkit::hostile::seeded_mutations;
use tdb_types::{ByteReader, ByteWriter};

/// Writes the start of a schema of version 1, up to its dimensions: no filters, coordinates of type
/// `int8`.
fn beginning() -> ByteWriter {
    let mut writer = ByteWriter::new();
    writer.u32(1);
    writer.bytes(&[1, 0, 0]);
    writer.u64(1);
    for _ in 0..2 {
        writer.u64(0);
    }
    writer.u8(5);
    writer
}

fn peak_of_schema(bytes: &[u8]) -> u64 {
    peak_while(|| drop(ArraySchema::parse(&mut ByteReader::new(bytes))))
}

#[test]
fn counts_allocate_no_memory() {
    let mut writer = beginning();
    writer.u32(u32::MAX);
    writer.bytes(&[0; 64]);
    assert!(peak_of_schema(writer.as_slice()) < 4096);
    let mut writer = beginning();
    writer.u32(1);
    writer.u32(0);
    writer.bytes(&[0, 9, 1]);
    writer.u32(u32::MAX);
    writer.bytes(&[0; 64]);
    assert!(peak_of_schema(writer.as_slice()) < 4096);
}

#[test]
fn the_shortest_dimensions_and_attributes() {
    let mut writer = beginning();
    writer.u32(20_000);
    for _ in 0..20_000 {
        writer.bytes(&[0, 0, 0, 0, 0, 9, 1]);
    }
    writer.u32(20_000);
    for _ in 0..20_000 {
        writer.bytes(&[0, 0, 0, 0, 5, 1, 0, 0, 0]);
        writer.u64(0);
    }
    let bytes = writer.into_bytes();
    let peak = peak_of_schema(&bytes);
    assert!(peak < 32 * bytes.len() as u64, "{peak} bytes for {}", bytes.len());
}

#[test]
fn the_shortest_values() {
    let values = (0..10_000_u16).map(u16::to_le_bytes);
    let enumeration = Enumeration::strings("e", "__e_0", tdb_types::Datatype::Blob, values).expect("distinct");
    let mut writer = ByteWriter::new();
    enumeration.write(&mut writer);
    let bytes = writer.into_bytes();
    let peak = peak_while(|| drop(Enumeration::parse(&mut ByteReader::new(&bytes))));
    assert!(peak < 8 * bytes.len() as u64, "{peak} bytes for {}", bytes.len());
    seeded_mutations(5, &bytes[..2000], 500, |damaged| {
        let peak = peak_while(|| drop(Enumeration::parse(&mut ByteReader::new(damaged))));
        assert!(peak < 8 * damaged.len() as u64 + 1024, "{peak} bytes for {}", damaged.len());
    });
}

#[test]
fn many_values_of_a_byte_repeat() {
    let mut writer = ByteWriter::new();
    writer.u32(0);
    writer.string_u32("e");
    writer.string_u32("__e_0");
    tdb_types::Datatype::UInt8.write(&mut writer);
    tdb_types::CellValNum::ONE.write(&mut writer);
    writer.bool(false);
    writer.u64(1 << 20);
    writer.bytes(&vec![7; 1 << 20]);
    let bytes = writer.into_bytes();
    let peak = peak_while(|| assert!(Enumeration::parse(&mut ByteReader::new(&bytes)).is_err()));
    assert!(peak < 2 * bytes.len() as u64, "{peak} bytes for {}", bytes.len());
}
