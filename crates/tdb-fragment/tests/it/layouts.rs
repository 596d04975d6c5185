//! Metadata of old formats, written by hand from the specification, and parsed.

use tdb_fragment::{
    FragmentField, FragmentFile, FragmentFolder, FragmentFooter, GenericTileDecoder, GenericTileEncoder,
    LEGACY_SCHEMA_NAME, Part, Step, Tiles, locate,
};
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_types::{ByteReader, ByteWriter, CellValNum, Datatype, FormatVersion, Limits};

/// A schema with two attributes, the second of variable size, and a dimension with tiles of 4
/// cells.
fn schema(version: u32, dense: bool) -> ArraySchema {
    let rows = Dimension::new("row", 1i32..=100);
    let builder = if dense { SchemaBuilder::dense() } else { SchemaBuilder::sparse() };
    builder
        .version(FormatVersion::new(version).unwrap())
        .capacity(4)
        .dimension(rows.with_tile(4))
        .attribute(Attribute::new("a", Datatype::Int32))
        .attribute(Attribute::new("b", Datatype::Char).with_cell_val_num(CellValNum::Var))
        .build()
        .unwrap()
}

fn u64s(writer: &mut ByteWriter, values: &[u64]) {
    values.iter().for_each(|value| writer.u64(*value));
}

fn i32s(writer: &mut ByteWriter, values: &[i32]) {
    values.iter().for_each(|value| writer.i32(*value));
}

fn parse(bytes: &[u8], version: u32, schema: &ArraySchema) -> FragmentFile {
    let folder = FragmentFolder { version: FormatVersion::new(version).unwrap(), has_coordinates: !schema.is_dense() };
    let mut decoder = GenericTileDecoder::new(Limits::SMALL);
    FragmentFile::parse(bytes, folder, schema, &mut decoder, None).unwrap()
}

fn wrap(payload: &[u8], file: &mut ByteWriter) {
    GenericTileEncoder::new(FormatVersion::DEFAULT).encode(payload, file).unwrap();
}

/// A sparse fragment of format 2 with two tiles, of rows 1 to 9 and 20 to 33.
#[test]
fn format_2_sparse() {
    let mut payload = ByteWriter::new();
    payload.u32(2);
    payload.u64(8);
    i32s(&mut payload, &[1, 33]);
    payload.u64(2);
    i32s(&mut payload, &[1, 9, 20, 33]);
    payload.u64(2);
    i32s(&mut payload, &[1, 9, 20, 33]);
    for offsets in [[0, 40], [0, 50], [0, 60]] {
        payload.u64(2);
        u64s(&mut payload, &offsets);
    }
    for offsets in [[0, 0], [0, 70]] {
        payload.u64(2);
        u64s(&mut payload, &offsets);
    }
    for sizes in [[0, 0], [11, 12]] {
        payload.u64(2);
        u64s(&mut payload, &sizes);
    }
    payload.u64(3);
    u64s(&mut payload, &[80, 100, 120]);
    u64s(&mut payload, &[0, 140]);
    let mut file = ByteWriter::new();
    wrap(payload.as_slice(), &mut file);

    let schema = schema(2, false);
    let parsed = parse(file.as_slice(), 2, &schema);
    let footer = &parsed.footer;
    assert_eq!((footer.tile_count(), footer.cells_in_tile(0), footer.cells_in_tile(1)), (2, Some(4), Some(3)));
    assert_eq!(footer.header().schema_name, LEGACY_SCHEMA_NAME);
    assert_eq!(footer.file_size(FragmentField::Coordinates, Part::Fixed), Some(120));
    assert_eq!(footer.file_size(FragmentField::Coordinates, Part::Var), Some(0));
    let [a, b, coordinates] = &parsed.contents.fields[..] else { panic!("three fields") };
    assert_eq!(a.tile_offsets.range(1), Some(40..80));
    assert_eq!((b.tile_var_offsets.range(1), b.tile_var_sizes.get(1)), (Some(70..140), Some(12)));
    assert_eq!(coordinates.tile_offsets.range(0), Some(0..60));
    let kinds = schema.domain().kinds();
    assert_eq!(parsed.contents.rtree.mbr(1).unwrap().display(&kinds).to_string(), "[20, 33]");

    let mut encoder = GenericTileEncoder::new(FormatVersion::DEFAULT);
    assert_eq!(FragmentFile::write(footer.header(), &parsed.contents, &schema, &mut encoder).unwrap(), file.as_slice());
}

/// A dense fragment of format 1 with three tiles and no MBRs.
#[test]
fn format_1_dense() {
    let mut payload = ByteWriter::new();
    payload.u32(1);
    payload.u64(8);
    i32s(&mut payload, &[3, 12]);
    u64s(&mut payload, &[0, 0]);
    for _ in 0..7 {
        u64s(&mut payload, &[3, 0, 0, 0]);
    }
    payload.u64(4);
    u64s(&mut payload, &[0; 5]);
    let mut file = ByteWriter::new();
    wrap(payload.as_slice(), &mut file);
    let parsed = parse(file.as_slice(), 1, &schema(1, true));
    let Tiles::Dense(grid) = parsed.footer.tiles() else { panic!("dense") };
    assert_eq!((grid.tile_count(), grid.cells_per_tile(), grid.visible_cell_count()), (3, 4, 10));
    assert_eq!(parsed.footer.version().number(), 1);
}

/// The footers of formats 3 to 9, without a length.
#[test]
fn footers_without_length() {
    for version in 3..=9u32 {
        let mut footer = ByteWriter::new();
        footer.u32(version);
        footer.bytes(&[0, 0]);
        i32s(&mut footer, &[1, 33]);
        u64s(&mut footer, &[2, 3]);
        // Attributes, `__coords`, and from format 5 on the dimension.
        let (fields, var_fields) = if version < 5 { (3, 2) } else { (4, 4) };
        let mut next = 0..;
        let mut list = |count: usize| next.by_ref().take(count).collect::<Vec<u64>>();
        let file_sizes = list(fields);
        u64s(&mut footer, &file_sizes);
        u64s(&mut footer, &list(var_fields));
        if version >= 7 {
            u64s(&mut footer, &list(fields));
        }
        let first_section = 1000;
        u64s(&mut footer, &[first_section]);
        let sections = fields + 2 * var_fields + if version >= 7 { fields } else { 0 };
        let offsets: Vec<u64> = (1..=sections as u64).map(|section| first_section + 100 * section).collect();
        u64s(&mut footer, &offsets);

        let schema = schema(version, false);
        let mut file = vec![0; 5000];
        file.extend_from_slice(footer.as_slice());
        // The names of format 3 fragments denote version 4.
        let named = FormatVersion::new(version.max(4)).unwrap();
        let step = locate(named, Some(&schema), file.len() as u64, &file).unwrap();
        assert_eq!(step, Step::Footer(5000..file.len() as u64), "version {version}");
        let parsed = FragmentFooter::parse(ByteReader::at(footer.as_slice(), 5000), &schema).unwrap();
        assert_eq!((parsed.version().number(), parsed.tile_count()), (version, 2));
        assert_eq!(parsed.file_size(FragmentField::Attribute(1), Part::Fixed), Some(1));
        assert_eq!(parsed.file_size(FragmentField::Attribute(1), Part::Var), Some(fields as u64 + 1));
        let last = parsed.section_range(tdb_fragment::SectionId::RTree, 5000).unwrap();
        assert_eq!(last, 1000..1100);
        let dimension = tdb_fragment::SectionId::TileOffsets(FragmentField::Dimension(0));
        assert_eq!(parsed.section_offset(dimension), (version >= 5).then_some(1400), "version {version}");
    }
}

/// The footer of format 11, as release 2.7 and as newer releases write it, and the footer of format
/// 16.
#[test]
fn footers_with_length() {
    for (version, extra) in [(10u32, 0), (11, 0), (11, 1), (12, 1), (13, 1), (14, 1), (15, 1), (16, 2), (22, 2)] {
        let mut footer = ByteWriter::new();
        footer.u32(version);
        footer.string_u64("__1_1_schema");
        footer.bytes(&[0, 0]);
        i32s(&mut footer, &[1, 33]);
        u64s(&mut footer, &[2, 3]);
        let flags = usize::from(version >= 14) + usize::from(version >= 15);
        footer.bytes(&[1, 1][..flags]);
        // Attributes, `__coords`, the dimension, timestamps, delete timestamps and condition index.
        let fields = 4 + [0, 1, 3][flags];
        let lists = if version >= 11 { 11 } else { 7 };
        u64s(&mut footer, &vec![7; 3 * fields]);
        u64s(&mut footer, &[100]);
        u64s(&mut footer, &vec![200; (lists - 3) * fields]);
        u64s(&mut footer, &[300, 400][..extra]);
        let len = footer.len() as u64;
        let schema = schema(version, false);
        let parsed = FragmentFooter::parse(ByteReader::new(footer.as_slice()), &schema).unwrap();
        assert_eq!(parsed.slots().len(), fields, "version {version}");
        assert_eq!(parsed.stray(), (version == 11 && extra == 1).then_some(300));
        let statistics = parsed.section_offset(tdb_fragment::SectionId::FragmentStatistics);
        assert_eq!(statistics, (version >= 12).then_some(300), "version {version}");
        let conditions = parsed.section_offset(tdb_fragment::SectionId::ProcessedConditions);
        assert_eq!(conditions, (version >= 16).then_some(400), "version {version}");

        let mut file = vec![0; 1000];
        file.extend_from_slice(footer.as_slice());
        file.extend_from_slice(&len.to_le_bytes());
        let named = FormatVersion::new(version).unwrap();
        let step = locate(named, None, file.len() as u64, &file).unwrap();
        assert_eq!(step, Step::Footer(1000..1000 + len));
    }
}

/// With a string dimension, a length also follows in formats 5 to 9.
#[test]
fn strings_require_a_length() {
    for version in 5..=9 {
        let version = FormatVersion::new(version).unwrap();
        let schema = SchemaBuilder::sparse().version(version).dimension(Dimension::string("name")).build().unwrap();
        let file = [vec![0; 500], 77u64.to_le_bytes().to_vec()].concat();
        assert_eq!(locate(version, Some(&schema), 508, &file).unwrap(), Step::Footer(423..500));
        let error = locate(version, None, 508, &file).unwrap_err().to_string();
        assert!(error.contains("requires the array's schema"), "{error}");
    }
}
