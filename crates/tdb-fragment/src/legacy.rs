//! Fragment metadata of formats 1 and 2. The whole file is one generic tile, without a footer or
//! sections.
//!
//! ```text
//! u32 version
//! u64 size | non-empty domain                      (size 0: no domain)
//! u64 count | count × MBR
//! u64 count | count × first and last coordinates   (no reader uses them)
//! per attribute and __coords: u64 count | tile offsets
//! per attribute: u64 count | tile var offsets
//! per attribute: u64 count | tile var sizes
//! u64 last tile's cells
//! file sizes | file var sizes
//! ```

use tdb_generic_tile::{GenericTileDecoder, GenericTileEncoder, GenericTileError};
use tdb_rtree::{NdRange, RTree};
use tdb_schema::ArraySchema;
use tdb_types::{ByteReader, ByteWriter, DecodeError, Feature, FormatVersion, Spans};

use crate::contents::FragmentContents;
use crate::error::{FragmentError, Result};
use crate::field::Part;
use crate::footer::FragmentFooter;
use crate::header::{FooterHeader, LEGACY_SCHEMA_NAME};
use crate::layout::{List, Lists};
use crate::sections::{TileOffsets, TileVarSizes, write_counted};

/// Parses the whole file. `dense` is `true` if the fragment's folder has no `__coords.tdb`.
pub(crate) fn parse_file(
    bytes: &[u8],
    dense: bool,
    schema: &ArraySchema,
    decoder: &mut GenericTileDecoder,
    spans: Option<&Spans>,
) -> Result<(FragmentFooter, FragmentContents)> {
    let tile = decoder.decode_file(bytes, spans).map_err(wrap)?;
    let mut payload = tile.payload_reader(spans);
    let parsed = parse(&mut payload, dense, schema)?;
    payload.finish("fragment metadata")?;
    Ok(parsed)
}

/// Writes the whole file.
pub(crate) fn write_file(
    footer: &FragmentFooter,
    contents: &FragmentContents,
    schema: &ArraySchema,
    encoder: &mut GenericTileEncoder,
) -> Result<Vec<u8>> {
    let mut payload = ByteWriter::new();
    write(footer, contents, schema, &mut payload)?;
    let mut writer = ByteWriter::new();
    encoder.encode(payload.as_slice(), &mut writer).map_err(wrap)?;
    Ok(writer.into_bytes())
}

/// The parts of the payload before validation.
struct Raw {
    header: FooterHeader,
    rtree: RTree,
    bounding_coordinates: Vec<u8>,
    tile_offsets: Vec<Vec<u64>>,
    tile_var_offsets: Vec<Vec<u64>>,
    tile_var_sizes: Vec<Vec<u64>>,
    lists: Lists,
}

fn parse(reader: &mut ByteReader<'_>, dense: bool, schema: &ArraySchema) -> Result<(FragmentFooter, FragmentContents)> {
    let Raw { header, rtree, bounding_coordinates, tile_offsets, tile_var_offsets, tile_var_sizes, lists } =
        parse_raw(reader, dense, schema)?;
    let slots = header.slots(schema);
    let footer = FragmentFooter::new(header, lists, Vec::new(), schema)?;
    let mut contents = FragmentContents::new(rtree, slots.len());
    contents.bounding_coordinates = bounding_coordinates;
    for (lists, list, part) in
        [(tile_offsets, List::FileSizes, Part::Fixed), (tile_var_offsets, List::FileVarSizes, Part::Var)]
    {
        let sizes = footer.lists().get(list);
        for ((offsets, &size), field) in lists.into_iter().zip(sizes).zip(&mut contents.fields) {
            *field.offsets_mut(part) = TileOffsets::new(offsets, size)?;
        }
    }
    for (sizes, field) in tile_var_sizes.into_iter().zip(&mut contents.fields) {
        field.tile_var_sizes = TileVarSizes(sizes);
    }
    let dimensions = schema.domain().dimensions().len();
    contents.check(footer.header(), &slots, footer.tile_count(), dimensions)?;
    Ok((footer, contents))
}

fn parse_raw(reader: &mut ByteReader<'_>, dense: bool, schema: &ArraySchema) -> Result<Raw, DecodeError> {
    let offset = reader.offset();
    let found = reader.u32("format version")?;
    let version = FormatVersion::new(found).ok().filter(|version| version.has(Feature::LegacyFragmentMetadata));
    let expected = "1 or 2, as in the fragment's name";
    let version = version.ok_or_else(|| DecodeError::invalid("format version", offset, found, expected))?;
    let kinds = schema.domain().kinds();
    let offset = reader.offset();
    let domain_size = reader.u64("non-empty domain size")?;
    let non_empty_domain = match domain_size {
        0 => None,
        _ => {
            let mut domain = reader.sub("non-empty domain", domain_size)?;
            let range = NdRange::parse(&mut domain, &kinds)?;
            domain.finish("non-empty domain").map_err(|error| error.inside(format!("size at {offset:#x}")))?;
            Some(range)
        }
    };
    let rtree = RTree::parse_mbrs(reader, &kinds)?;
    let range_size: u64 = kinds.iter().map(|kind| 2 * kind.datatype.size() as u64).sum();
    let bounding = reader.u64("bounding coordinates count")?;
    let bounding = reader.count("bounding coordinates", bounding, range_size)? as u64 * range_size;
    let bounding_coordinates = reader.bytes("bounding coordinates", bounding)?.to_vec();
    let mut header = FooterHeader::new(version, LEGACY_SCHEMA_NAME, dense);
    (header.non_empty_domain, header.sparse_tile_count) = (non_empty_domain, rtree.leaf_count());
    let slots = header.slots(schema);
    let tile_offsets = counted_lists(reader, "tile offsets", slots.len())?;
    let tile_var_offsets = counted_lists(reader, "tile var offsets", slots.var_len())?;
    let tile_var_sizes = counted_lists(reader, "tile var sizes", slots.var_len())?;
    header.last_tile_cells = reader.u64("last tile's cells")?;
    let lists = Lists::parse(reader, version, &slots, |field| field.display(schema))?;
    Ok(Raw { header, rtree, bounding_coordinates, tile_offsets, tile_var_offsets, tile_var_sizes, lists })
}

fn counted_lists(reader: &mut ByteReader<'_>, name: &'static str, fields: usize) -> Result<Vec<Vec<u64>>, DecodeError> {
    let list = |_| {
        let count = reader.u64("count")?;
        reader.u64_list(name, count)
    };
    (0..fields).map(list).collect()
}

fn write(
    footer: &FragmentFooter,
    contents: &FragmentContents,
    schema: &ArraySchema,
    writer: &mut ByteWriter,
) -> Result<()> {
    let kinds = schema.domain().kinds();
    let range_size: usize = kinds.iter().map(|kind| 2 * kind.datatype.size()).sum();
    let header = footer.header();
    writer.u32(header.version.number());
    writer.u64(header.non_empty_domain.as_ref().map_or(0, |_| range_size as u64));
    if let Some(domain) = &header.non_empty_domain {
        domain.write(writer, &kinds)?;
    }
    contents.rtree.write_mbrs(writer);
    writer.u64((contents.bounding_coordinates.len() / range_size.max(1)) as u64);
    writer.bytes(&contents.bounding_coordinates);
    let var_fields = footer.slots().var_len();
    for field in &contents.fields {
        field.tile_offsets.write(writer);
    }
    for field in contents.fields.iter().take(var_fields) {
        field.tile_var_offsets.write(writer);
    }
    for field in contents.fields.iter().take(var_fields) {
        write_counted(&field.tile_var_sizes.0, writer);
    }
    writer.u64(header.last_tile_cells);
    footer.lists().write(writer);
    Ok(())
}

fn wrap(source: GenericTileError) -> FragmentError {
    FragmentError::File { what: "fragment metadata", source: Box::new(source) }
}
