//! Properties of fragment metadata parsed from arbitrary bytes. The first byte selects the schema.

pub mod schemas;

use schemas::schema;
use tdb_fragment::tdb_types::{ByteReader, ByteWriter, Feature, FormatVersion, Limits, Spans};
use tdb_fragment::*;

fn decoder() -> GenericTileDecoder {
    GenericTileDecoder::new(Limits::SMALL)
}

fn encoder() -> GenericTileEncoder {
    GenericTileEncoder::new(FormatVersion::DEFAULT)
}

/// Checks that a footer round-trips, and calls its accessors.
pub fn footer(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let schema = schema(choice);
    let named = FragmentFooter::schema_name(bytes);
    let Ok(footer) = FragmentFooter::parse(ByteReader::new(bytes), &schema) else { return };
    let (version, name) = named.expect("the start of a footer that parses");
    assert_eq!((version, &name), (footer.version(), &footer.header().schema_name));

    let mut writer = ByteWriter::new();
    footer.write(&mut writer, &schema).expect("what was read can be written");
    assert_eq!(writer.as_slice(), bytes);

    let spans = Spans::new();
    let recorded = FragmentFooter::parse(ByteReader::new(bytes).recording(&spans, 0), &schema);
    assert_eq!(recorded.expect("recording changes nothing"), footer);
    ask_tiles(footer.tiles());
    let dimensions = schema.dimensions().len();
    for id in SectionId::in_file_order(version, *footer.slots(), dimensions, footer.is_dense()) {
        for end in [0, 1, 1000, u64::MAX] {
            if let Ok(range) = footer.section_range(id, end) {
                assert!(range.start < range.end && range.end <= end && footer.section_offset(id) == Some(range.start));
            }
        }
    }
    let scheme = NameScheme::of(version);
    for field in footer.slots().iter() {
        for part in Part::ALL {
            assert!(footer.file_size(field, part).is_some());
            let _ = scheme.data_file(&schema, field, part);
        }
    }
}

fn ask_tiles(tiles: &Tiles) {
    let count = tiles.count();
    assert_eq!(tiles.cells_in(count), None);
    assert!(tiles.visible_cell_count() <= tiles.cell_count());
    for tile in [0, 1, count / 2, count.saturating_sub(1)].into_iter().filter(|tile| *tile < count) {
        assert!(tiles.visible_cells_in(tile) <= tiles.cells_in(tile) && tiles.cells_in(tile).is_some());
        if let Tiles::Dense(grid) = tiles {
            let indices = (0..grid.dimensions().len()).map(|dimension| grid.tile_index(tile, dimension));
            let indices: Option<Vec<u64>> = indices.collect();
            assert_eq!(grid.index_of(&indices.expect("a tile of the grid")), Some(tile));
        }
    }
}

/// Checks that a whole file round-trips.
///
/// The second byte is the version in the fragment's name. The third is nonzero if `__coords.tdb`
/// exists.
pub fn file(data: &[u8]) {
    let Some((&[choice, version, coordinates], bytes)) = data.split_first_chunk() else { return };
    let Ok(version) = FormatVersion::new(u32::from(version)) else { return };
    let schema = schema(choice);
    let folder = FragmentFolder { version, has_coordinates: coordinates != 0 };
    let parsed = FragmentFile::parse(bytes, folder, &schema, &mut decoder(), None);
    let spans = Spans::new();
    let recorded = FragmentFile::parse(bytes, folder, &schema, &mut decoder(), Some(&spans));
    assert_eq!(parsed.as_ref().ok(), recorded.as_ref().ok());
    let Ok(file) = parsed else { return };

    file.dump(&schema, &mut String::new()).expect("writing to a string cannot fail");
    let header = file.footer.header();
    let written = FragmentFile::write(header, &file.contents, &schema, &mut encoder()).expect("it was read");
    let folder = FragmentFolder { version: header.version, ..folder };
    let again = FragmentFile::parse(&written, folder, &schema, &mut decoder(), None).expect("it was written");
    assert_eq!((again.footer.header(), &again.contents), (header, &file.contents));
}

/// Parses the payload of a section.
///
/// The second byte selects the section, the third is the number of tiles. The next 8 bytes are the
/// file size.
pub fn section(data: &[u8]) {
    let Some((&[choice, kind, tiles], rest)) = data.split_first_chunk() else { return };
    let Some((size, payload)) = rest.split_first_chunk() else { return };
    let schema = schema(choice);
    let Some(footer) = footer_of(&schema, tiles, u64::from_le_bytes(*size)) else { return };
    let mut tile = ByteWriter::new();
    encoder().encode(payload, &mut tile).expect("any payload can be wrapped");
    let mut decoder = decoder();
    let mut sections = SectionReader::new(&footer, &schema, &mut decoder);
    let bytes = tile.as_slice();
    let field = footer.slots().field(usize::from(kind / 8) % footer.slots().len()).expect("a field");
    let mut written = ByteWriter::new();
    let read = match kind % 8 {
        0 => sections.tile_offsets(field, Part::Fixed, bytes).map(|offsets| {
            check_offsets(&offsets);
            offsets.write(&mut written);
        }),
        1 => sections.tile_var_sizes(field, bytes).map(|sizes| sizes.write(&mut written)),
        2 => sections.tile_mins(field, bytes).map(|values| {
            check_values(&values, tiles);
            values.write(&mut written);
        }),
        3 => sections.tile_sums(field, bytes).map(|sums| {
            written.u64(sums.len() as u64);
            written.u64_list(&sums);
        }),
        4 => sections.fragment_statistics(bytes).map(|statistics| {
            for (totals, field) in statistics.0.iter().zip(footer.slots().iter()) {
                let rules = StatisticsRules::new(&footer, &schema, field).expect("a field");
                let _ = totals.judge(footer.tiles(), &rules);
            }
            statistics.write(&mut written);
        }),
        5 => sections.processed_conditions(bytes).map(|conditions| conditions.write(&mut written)),
        6 => sections.rtree(bytes).map(|tree| tree.write(&mut written, footer.version())),
        _ => sections.tile_maxs(field, bytes).map(|values| values.write(&mut written)),
    };
    if read.is_ok() {
        assert_eq!(written.as_slice(), payload);
    }
}

/// A sparse footer whose data files all have `size` bytes.
fn footer_of(schema: &tdb_schema::ArraySchema, tiles: u8, size: u64) -> Option<FragmentFooter> {
    let version = FormatVersion::DEFAULT;
    let mut header = FooterHeader::new(version, "__1_1_0", false);
    header.sparse_tile_count = u64::from(tiles);
    header.last_tile_cells = 1;
    header.has_timestamps = version.has(Feature::CellTimestamps);
    header.has_delete_metadata = version.has(Feature::DeleteMetadata);
    let mut lists = Lists::zeroed(version, &header.slots(schema));
    for list in [List::FileSizes, List::FileVarSizes, List::FileValiditySizes] {
        lists.get_mut(list).fill(size);
    }
    FragmentFooter::new(header, lists, Vec::new(), schema).ok()
}

fn check_offsets(offsets: &TileOffsets) {
    let mut end = None;
    for tile in 0..offsets.len() as u64 {
        let range = offsets.range(tile).expect("a tile");
        assert!(range.start <= range.end && range.end <= offsets.file_size());
        assert!(end.is_none_or(|end| end == range.start), "tiles are contiguous");
        end = Some(range.end);
    }
    assert_eq!(offsets.range(offsets.len() as u64), None);
}

fn check_values(values: &TileValues, tiles: u8) {
    for tile in 0..u64::from(tiles) {
        assert_eq!(values.get(tile).is_some(), *values != TileValues::Absent);
    }
    assert_eq!(values.get(u64::from(tiles)), None);
}

/// Checks that consolidated footers round-trip, as a file and as the payload of a file.
pub fn consolidated(data: &[u8]) {
    let mut wrapped = ByteWriter::new();
    encoder().encode(data, &mut wrapped).expect("any payload can be wrapped");
    for file in [data, wrapped.as_slice()] {
        let Ok(footers) = ConsolidatedFooters::parse_file(file, &mut decoder(), None) else { continue };
        let fragments: Vec<_> = footers.iter().map(|(name, footer)| (name, footer.rest())).collect();
        assert!(fragments.iter().all(|(name, footer)| !footer.is_empty() && footers.get(name).is_some()));
        for (_, footer) in footers.iter() {
            let _ = FragmentFooter::parse(footer, &schema(0));
        }
        // A small file can claim the same bytes for many fragments. The written file would then be
        // huge.
        if fragments.iter().map(|(_, footer)| footer.len()).sum::<usize>() > 1 << 20 {
            continue;
        }
        let written = ConsolidatedFooters::write_file(&fragments, &mut encoder()).expect("few fragments");
        let again = ConsolidatedFooters::parse_file(&written, &mut decoder(), None).expect("it was written");
        let reread: Vec<_> = again.iter().map(|(name, footer)| (name, footer.rest())).collect();
        assert_eq!(reread, fragments);
    }
}

/// Checks that each step reads more of the footer. The second byte is the version, the third the
/// number of bytes read first.
pub fn locate(data: &[u8]) {
    let Some((&[choice, version, first], file)) = data.split_first_chunk() else { return };
    let Ok(version) = FormatVersion::new(u32::from(version)) else { return };
    let schema = schema(choice);
    let size = file.len() as u64;
    let whole = tdb_fragment::locate(version, Some(&schema), size, file);
    let mut start = size.saturating_sub(u64::from(first));
    loop {
        let tail = &file[usize::try_from(start).expect("within the file")..];
        match tdb_fragment::locate(version, Some(&schema), size, tail) {
            Ok(Step::Need(range)) => {
                assert!(range.start < start && range.end == size, "no step from {start} to {range:?}");
                start = range.start;
            }
            found => {
                assert_eq!(found.map_err(|error| error.to_string()), whole.map_err(|error| error.to_string()));
                return;
            }
        }
    }
}
