use tdb_filters::ElementTypes;
use tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_types::Datatype;

use super::*;

fn schema(number: u32, strings: bool) -> ArraySchema {
    let fixed = Dimension::new("d", 0i32..=99);
    let dimension = if strings { Dimension::string("d") } else { fixed };
    let version = FormatVersion::new(number).unwrap();
    let builder = SchemaBuilder::sparse().version(version).dimension(dimension);
    builder.attribute(Attribute::new("a", Datatype::Int32)).build().unwrap()
}

fn header(number: u32) -> FooterHeader {
    let header = FooterHeader::new(FormatVersion::new(number).unwrap(), "__1_1_0", false);
    FooterHeader { last_tile_cells: 10_000, ..header }
}

fn footer(number: u32) -> FragmentFooter {
    let schema = schema(number, false);
    let lists = Lists::zeroed(header(number).version, &header(number).slots(&schema));
    FragmentFooter::new(header(number), lists, Vec::new(), &schema).unwrap()
}

fn bytes(footer: &FragmentFooter) -> Vec<u8> {
    let mut writer = ByteWriter::new();
    footer.write(&mut writer, &schema(footer.version().number(), false)).unwrap();
    writer.into_bytes()
}

#[test]
fn a_null_domain_is_stored_as_zeros() {
    let bytes = bytes(&footer(22));
    let parsed = FragmentFooter::parse(ByteReader::new(&bytes), &schema(22, false)).unwrap();
    assert_eq!(parsed.header().non_empty_domain, None);
    let start = 4 + 8 + 7;
    assert_eq!(bytes[start..start + 2 + 8], [0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    let mut damaged = bytes.clone();
    damaged[start + 5] = 1;
    let error = FragmentFooter::parse(ByteReader::new(&damaged), &schema(22, false)).unwrap_err();
    assert!(error.to_string().contains("zeros in place of a null domain"), "{error}");
}

#[test]
fn a_null_domain_of_strings_is_refused() {
    let schema = schema(22, true);
    let lists = Lists::zeroed(header(22).version, &header(22).slots(&schema));
    let footer = FragmentFooter::new(header(22), lists, Vec::new(), &schema).unwrap();
    let error = footer.write(&mut ByteWriter::new(), &schema).unwrap_err();
    assert!(error.to_string().contains("a dimension has variable size"), "{error}");
}

#[test]
fn lists_of_another_fragment_are_refused() {
    let lists = Lists::zeroed(header(22).version, &FieldSlots::new(header(22).version, 5, 5, false, false));
    let error = FragmentFooter::new(header(22), lists, Vec::new(), &schema(22, false)).unwrap_err();
    assert!(error.to_string().starts_with("footer lists"), "{error}");
}

#[test]
fn schema_names_stay_in_their_folder() {
    for name in ["", "..", "a/b", "a\\b"] {
        let mut header = header(22);
        header.schema_name = name.to_owned();
        let mut writer = ByteWriter::new();
        header.write(&mut writer, &schema(22, false)).unwrap();
        let error = FragmentFooter::schema_name(writer.as_slice()).unwrap_err();
        assert!(error.to_string().contains("a valid schema file name"), "{error}");
    }
}

#[test]
fn fragments_without_a_footer_have_none() {
    for number in [0u32, 1, 2, 24] {
        assert!(FragmentFooter::schema_name(&number.to_le_bytes()).is_err(), "{number}");
    }
}

#[test]
fn the_writing_library_is_detected() {
    let types = |fragment, library: u32| footer(fragment).element_types(&library.to_le_bytes()).unwrap();
    assert_eq!(footer(20).element_types_range(), None);
    assert_eq!(footer(20).element_types(&[]).unwrap(), ElementTypes::Stage);
    assert_eq!(footer(15).element_types_range(), Some(0..4));
    assert_eq!(types(15, 15), ElementTypes::Tile);
    assert_eq!(types(15, 22), ElementTypes::Stage);
    assert_eq!(types(2, 2), ElementTypes::Tile);
    assert_eq!(types(15, 1000), ElementTypes::Stage);
    assert!(footer(15).element_types(&[0; 4]).is_err());
    assert!(footer(15).element_types(&[1; 3]).is_err());
}

#[test]
fn optional_sections() {
    let sections = vec![
        OptionalSection::Unknown { id: 9, data: vec![1, 2, 3] },
        OptionalSection::GlobalOrderBounds { mins: vec![100], maxs: vec![200] },
    ];
    let schema = schema(23, false);
    let mut lists = Lists::zeroed(header(23).version, &header(23).slots(&schema));
    lists.get_mut(List::RTree).fill(50);
    let footer = FragmentFooter::new(header(23), lists, sections, &schema).unwrap();
    let bytes = bytes(&footer);
    let parsed = FragmentFooter::parse(ByteReader::new(&bytes), &schema).unwrap();
    assert_eq!(parsed, footer);
    assert!(parsed.has_global_order_bounds());
    assert_eq!(parsed.section_range(SectionId::GlobalOrderMins(0), 1000).unwrap(), 100..200);
    assert_eq!(parsed.section_range(SectionId::GlobalOrderMaxs(0), 1000).unwrap(), 200..1000);
    assert_eq!(parsed.section_range(SectionId::RTree, 1000).unwrap(), 50..100);
    assert!(parsed.section_range(SectionId::GlobalOrderMaxs(1), 1000).is_err());
    // The last section has two offsets (16 bytes), preceded by its size.
    let mut damaged = bytes.clone();
    let size = damaged.len() - 20;
    damaged[size] = 8;
    let error = FragmentFooter::parse(ByteReader::new(&damaged), &schema).unwrap_err();
    assert!(error.to_string().contains("optional section 1: size: found 8"), "{error}");
}

#[test]
fn sections_that_share_bytes_are_rejected() {
    let (header, schema) = (header(22), schema(22, false));
    let mut lists = Lists::zeroed(header.version, &header.slots(&schema));
    let mut writer = ByteWriter::new();
    let footer = FragmentFooter::new(header.clone(), lists.clone(), Vec::new(), &schema).unwrap();
    footer.write(&mut writer, &schema).unwrap();
    let offsets = SectionId::TileOffsets(FragmentField::Attribute(0));
    let error = footer.section_range(offsets, 1000).unwrap_err();
    assert!(error.to_string().contains("an offset unique to this section"), "{error}");
    let mut place = 0;
    for list in List::all().filter(|list| *list >= List::RTree) {
        for offset in lists.get_mut(list) {
            *offset = place;
            place += 10;
        }
    }
    let footer = FragmentFooter::new(header, lists, Vec::new(), &schema).unwrap();
    let start = footer.section_offset(offsets).unwrap();
    assert_eq!(footer.section_range(offsets, 1000).unwrap(), start..start + 10);
}
