//! Round trips of fragment metadata of every version.

use crate::support::{Made, any_fragment, make};
use proptest::prelude::*;
use tdb_fragment::{FragmentFile, FragmentFooter, SectionId, Step, first_read, locate};
use tdb_generic_tile::{GenericTileDecoder, GenericTileEncoder};
use tdb_types::{ByteReader, Feature, FormatVersion, Limits, Spans};

fn encoder() -> GenericTileEncoder {
    GenericTileEncoder::new(FormatVersion::DEFAULT)
}

fn decoder() -> GenericTileDecoder {
    GenericTileDecoder::new(Limits::SMALL)
}

fn write(made: &Made) -> Vec<u8> {
    FragmentFile::write(&made.header, &made.contents, &made.schema, &mut encoder()).unwrap()
}

fn parse(made: &Made, bytes: &[u8]) -> FragmentFile {
    FragmentFile::parse(bytes, made.folder(), &made.schema, &mut decoder(), None).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn values_and_bytes_round_trip(made in any_fragment()) {
        let bytes = write(&made);
        let file = parse(&made, &bytes);
        prop_assert_eq!(file.footer.header(), &made.header);
        prop_assert_eq!(&file.contents, &made.contents);
        let again = FragmentFile::write(file.footer.header(), &file.contents, &made.schema, &mut encoder()).unwrap();
        prop_assert_eq!(again, bytes);
    }

    #[test]
    fn a_recorded_parse_is_equal_and_covers_the_file(made in any_fragment()) {
        let bytes = write(&made);
        let spans = Spans::new();
        let recorded = FragmentFile::parse(&bytes, made.folder(), &made.schema, &mut decoder(), Some(&spans)).unwrap();
        prop_assert_eq!(&recorded, &parse(&made, &bytes));
        let mut end = 0;
        for span in spans.to_vec().iter().filter(|span| span.space == 0 && !span.value.is_empty()) {
            prop_assert_eq!(span.offset, end, "nothing is left out before {:?}", span);
            end += span.len;
        }
        prop_assert_eq!(end, bytes.len() as u64);
    }

    #[test]
    fn the_footer_is_found_by_steps(made in any_fragment(), first in 0..300u64) {
        let bytes = write(&made);
        let size = bytes.len() as u64;
        let version = made.header.version;
        let whole = locate(version, Some(&made.schema), size, &bytes).unwrap();
        let mut range = size.saturating_sub(first)..size;
        for step in 0.. {
            prop_assert!(step < 3, "a third read");
            let tail = &bytes[usize::try_from(range.start).unwrap()..];
            match locate(version, Some(&made.schema), size, tail).unwrap() {
                Step::Need(more) => {
                    prop_assert!(more.end == size && more.start < range.start, "no progress from {:?} to {:?}", range, more);
                    range = more;
                }
                found => {
                    prop_assert_eq!(found, whole);
                    break;
                }
            }
        }
    }
}

/// Returns the bytes of the footer, and the size of the file before it.
fn footer_bytes<'a>(made: &Made, bytes: &'a [u8]) -> (&'a [u8], usize) {
    match locate(made.header.version, Some(&made.schema), bytes.len() as u64, bytes).unwrap() {
        Step::Footer(range) => {
            let start = usize::try_from(range.start).unwrap();
            (&bytes[start..usize::try_from(range.end).unwrap()], start)
        }
        step => panic!("{step:?}"),
    }
}

#[test]
fn every_version_dense_and_sparse() {
    for version in FormatVersion::all() {
        for (dense, tiles) in [(true, 0), (false, 0), (false, 1), (false, 101)] {
            let made = make(version, dense, 3, 2, tiles, 1000 + u64::from(version.number()));
            let bytes = write(&made);
            let file = parse(&made, &bytes);
            assert_eq!((file.footer.header(), &file.contents), (&made.header, &made.contents));
        }
    }
}

#[test]
fn footers_round_trip_byte_for_byte() {
    for version in FormatVersion::all().filter(|version| version.has(Feature::FragmentFooter)) {
        let made = make(version, false, 2, 2, 5, 7);
        let bytes = write(&made);
        let (footer, start) = footer_bytes(&made, &bytes);
        let parsed = FragmentFooter::parse(ByteReader::at(footer, start as u64), &made.schema).unwrap();
        let mut writer = tdb_types::ByteWriter::new();
        parsed.write(&mut writer, &made.schema).unwrap();
        assert_eq!(writer.as_slice(), footer, "version {version}");
        let (named, name) = FragmentFooter::schema_name(footer).unwrap();
        assert_eq!((named, &name), (version, &made.header.schema_name));
        let error = FragmentFooter::parse(ByteReader::new(&footer[..footer.len() - 1]), &made.schema).unwrap_err();
        assert!(error.to_string().starts_with("footer"), "{error}");
    }
}

#[test]
fn stray_bytes_are_accepted_only_in_format_11() {
    for number in [10, 11, 12] {
        let made = make(FormatVersion::new(number).unwrap(), false, 2, 2, 5, 7);
        let bytes = write(&made);
        let (footer, _) = footer_bytes(&made, &bytes);
        let longer = [footer, &77u64.to_le_bytes()].concat();
        match FragmentFooter::parse(ByteReader::new(&longer), &made.schema) {
            Ok(parsed) => {
                assert_eq!((number, parsed.stray()), (11, Some(77)));
                let mut writer = tdb_types::ByteWriter::new();
                parsed.write(&mut writer, &made.schema).unwrap();
                assert_eq!(writer.as_slice(), longer);
            }
            Err(error) => assert!(number != 11 && error.to_string().contains("found 8 unexpected bytes"), "{error}"),
        }
    }
}

#[test]
fn sections_are_found_at_their_offsets() {
    for version in FormatVersion::all().filter(|version| version.has(Feature::FragmentFooter)) {
        let made = make(version, false, 2, 2, 5, 7);
        let bytes = write(&made);
        let (_, footer_start) = footer_bytes(&made, &bytes);
        let file = parse(&made, &bytes);
        let mut end = 0;
        for id in SectionId::in_file_order(version, *file.footer.slots(), 2, false) {
            let Ok(range) = file.footer.section_range(id, footer_start as u64) else {
                assert!(file.footer.section_offset(id).is_none(), "{id}");
                continue;
            };
            assert!(range.start >= end && range.end > range.start, "{id} at {range:?} in version {version}");
            end = range.end;
        }
        assert_eq!(end, footer_start as u64);
        let error = file.footer.section_range(SectionId::RTree, 0).unwrap_err();
        assert!(error.to_string().starts_with("R-tree: section offset: found 0"), "{error}");
    }
}

#[test]
fn the_first_read_gets_most_footers() {
    let made = make(FormatVersion::DEFAULT, false, 3, 3, 100, 1);
    let bytes = write(&made);
    let range = first_read(bytes.len() as u64);
    let tail = &bytes[usize::try_from(range.start).unwrap()..];
    assert!(matches!(locate(FormatVersion::DEFAULT, None, bytes.len() as u64, tail), Ok(Step::Footer(_))));
}
