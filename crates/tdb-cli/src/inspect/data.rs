//! Data files, with their tiles and filter chunks.

use tdb_fragment::{FRAGMENT_METADATA_FILE, FragmentFile, NameScheme, Part};
use tdb_storage::ReadAt;
use tdb_types::DecodeError;

use super::fragment::{FragmentPlace, fragment_error};
use super::inspection::Inspection;
use crate::failure::{Failure, Result};

/// The layout of a data file according to the fragment metadata.
struct Layout {
    /// The part of the file and its field.
    what: String,
    /// The start of each tile.
    starts: Vec<u64>,
    /// The end of the last tile.
    size: u64,
}

/// Inspects the tiles of a data file. Without readable fragment metadata, it reads the tiles in
/// sequence.
pub(super) fn tiles(inspection: &mut Inspection<'_>) -> Result<()> {
    let file = inspection.located.open()?;
    match layout(inspection) {
        Ok(Some(layout)) => return by_metadata(inspection, &*file, &layout),
        Ok(None) => {}
        Err(failure) => {
            let why = failure.message();
            let note = format!("cannot use the metadata of the fragment ({why}), so tiles are read in stored order");
            inspection.notes.push(note);
        }
    }
    as_they_lie(inspection, &*file)
}

/// Finds the layout of the file in the fragment metadata of its folder. Returns `None` if the
/// fragment has no data file with this name.
fn layout(inspection: &Inspection<'_>) -> Result<Option<Layout>> {
    let name = inspection.located.name();
    let beside = inspection.located.beside(FRAGMENT_METADATA_FILE);
    let bytes = beside.read()?;
    let place = FragmentPlace::of(&beside, &bytes, inspection.key)?;
    let mut decoder = inspection.key.decoder();
    let metadata = FragmentFile::parse(&bytes, place.folder, &place.schema, &mut decoder, None)
        .map_err(|error| fragment_error(&beside, error))?;
    let scheme = NameScheme::of(metadata.footer.version());
    for (slot, field) in metadata.footer.slots().iter().enumerate() {
        for part in Part::ALL {
            let Ok(candidate) = scheme.data_file(&place.schema, field, part) else { continue };
            let Some(contents) = metadata.contents.fields.get(slot).filter(|_| candidate == name) else { continue };
            let part_name = match part {
                Part::Fixed if contents.tile_var_offsets.file_size() > 0 => "offsets",
                Part::Fixed => "cells",
                Part::Var => "values",
                Part::Validity => "validity",
            };
            let offsets = contents.offsets(part);
            let what = format!("{part_name} of {}", field.display(&place.schema));
            return Ok(Some(Layout { what, starts: offsets.starts().to_vec(), size: offsets.file_size() }));
        }
    }
    Ok(None)
}

fn by_metadata(inspection: &mut Inspection<'_>, file: &dyn ReadAt, layout: &Layout) -> Result<()> {
    inspection.notes.push(format!("{}: {} tiles in {} bytes", layout.what, layout.starts.len(), layout.size));
    if file.size() != layout.size {
        let (is, said) = (file.size(), layout.size);
        inspection.notes.push(format!("the file has {is} bytes, expected {said} according to the metadata"));
    }
    for (tile, start) in layout.starts.iter().enumerate() {
        if tile as u64 == inspection.most_tiles {
            let more = layout.starts.len() - tile;
            inspection.notes.push(format!("{more} more tiles; use --tiles to show them"));
            break;
        }
        let next = layout.starts.get(tile + 1).copied().unwrap_or(layout.size);
        let end = walk(inspection, file, *start, tile as u64)?;
        if end != next {
            let file = inspection.file();
            return Err(Failure::corrupt(format!(
                "{file}: tile {tile} ends at {end:#x}, but the next tile begins at {next:#x}"
            )));
        }
    }
    Ok(())
}

fn as_they_lie(inspection: &mut Inspection<'_>, file: &dyn ReadAt) -> Result<()> {
    let (mut offset, mut tile) = (0, 0);
    while offset < file.size() {
        if tile == inspection.most_tiles {
            inspection.notes.push(format!("{} more bytes; use --tiles to show more", file.size() - offset));
            break;
        }
        // A hole in the file would appear as very many tiles without chunks.
        if inspection.spans.left_out() > 0 {
            inspection.notes.push(format!("{} more bytes, too many to show", file.size() - offset));
            break;
        }
        offset = walk(inspection, file, offset, tile)?;
        tile += 1;
    }
    Ok(())
}

/// Reads the chunk headers of the tile at `offset`, and returns the end of the tile.
fn walk(inspection: &Inspection<'_>, file: &dyn ReadAt, offset: u64, tile: u64) -> Result<u64> {
    let spans = inspection.spans;
    let token = spans.begin(0, offset, format!("tile {tile}"));
    let end = chunks(inspection, file, offset);
    spans.end(token, *end.as_ref().unwrap_or(&offset));
    end
}

fn chunks(inspection: &Inspection<'_>, file: &dyn ReadAt, offset: u64) -> Result<u64> {
    let fail = |error: DecodeError| inspection.decode_error()(error);
    let mut count = [0; 8];
    read(file, offset, &mut count)?;
    let count = inspection.reader(&count, offset).u64("number of chunks").map_err(fail)?;
    let mut offset = offset + 8;
    let spans = inspection.spans;
    let mut empty = 0;
    for chunk in 0..count {
        let mut header = [0; tdb_filters::ChunkHeader::LEN];
        read(file, offset, &mut header)?;
        let token = spans.begin(0, offset, format!("chunk {chunk}"));
        let mut reader = inspection.reader(&header, offset);
        reader.u32("original length").map_err(fail)?;
        reader.explain(|| "bytes of the chunk in the tile".to_owned());
        reader.u32("filtered length").map_err(fail)?;
        reader.u32("metadata length").map_err(fail)?;
        let header = tdb_filters::ChunkHeader::parse(&header);
        let metadata = reader.offset();
        let data = metadata + u64::from(header.metadata);
        let end = data + u64::from(header.filtered);
        preview(inspection, file, metadata, u64::from(header.metadata), "metadata")?;
        preview(inspection, file, data, u64::from(header.filtered), "data")?;
        spans.end(token, end);
        // A hole in the file would appear as very many chunks without bytes.
        empty += u64::from(end == metadata);
        if empty > tdb_filters::ChunkHeader::most_in_tile(0) {
            let file = inspection.file();
            return Err(Failure::corrupt(format!("{file}: {empty} chunks without bytes in the tile at {offset:#x}")));
        }
        offset = end;
    }
    Ok(offset)
}

/// Records bytes, but reads only the first of them.
fn preview(inspection: &Inspection<'_>, file: &dyn ReadAt, offset: u64, len: u64, name: &'static str) -> Result<()> {
    if len == 0 {
        return Ok(());
    }
    let shown = tdb_types::saturating_len(len).min(tdb_types::Span::PREVIEW);
    let mut bytes = vec![0; shown];
    read(file, offset, &mut bytes)?;
    // The end must be within the file.
    if offset.checked_add(len).is_none_or(|end| end > file.size()) {
        let kind = tdb_types::DecodeErrorKind::Truncated { need: len, have: file.size().saturating_sub(offset) };
        return Err(inspection.decode_error()(DecodeError::new(kind, name, offset)));
    }
    inspection.spans.field(0, offset, len, name, format!("{len} bytes"));
    inspection.spans.keep_bytes_of_last(&bytes);
    Ok(())
}

fn read(file: &dyn ReadAt, offset: u64, bytes: &mut [u8]) -> Result<()> {
    Ok(file.read_into(offset, bytes).map_err(tdb_array::ArrayError::from)?)
}
