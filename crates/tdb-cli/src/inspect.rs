//! Inspection of files of an array, field by field.
//!
//! The library itself parses the file and records every field.

mod commits;
mod data;
mod fragment;
mod inspection;
mod kind;
mod located;

use tdb_condition::{Condition, Update};
use tdb_metadata::{GroupDetails, MetadataFile};
use tdb_schema::{ArraySchema, Enumeration};
use tdb_types::{ByteReader, Limits, Span, Spans};

pub(crate) use kind::FileKind;
pub(crate) use located::Located;

use crate::failure::{Failure, Result};
use crate::key::Key;
use inspection::Inspection;

/// Maximum bytes to read of a file of unknown kind.
const PEEK: u64 = 64;

/// The contents of a file, as far as readable.
#[derive(Debug)]
pub(crate) struct Report {
    /// The path of the file, as given.
    pub(crate) path: String,
    pub(crate) kind: FileKind,
    /// Bytes of the file.
    pub(crate) size: u64,
    pub(crate) spans: Vec<Span>,
    /// Number of further fields beyond the recording limit.
    pub(crate) left_out: u64,
    /// The names of the offset spaces of the spans.
    pub(crate) spaces: Vec<String>,
    /// Remarks.
    pub(crate) notes: Vec<String>,
    /// The error that ended the parse.
    pub(crate) failure: Option<Failure>,
}

/// Inspects a file. `most_tiles` limits the tiles of a data file.
///
/// # Errors
/// Fails if the size of the file cannot be determined. All other errors are part of the report.
pub(crate) fn inspect(located: &Located, most_tiles: u64, key: &Key) -> Result<Report> {
    let size = located.size()?;
    let spans = Spans::new();
    let kind = FileKind::of(located);
    let mut inspection = Inspection { located, spans: &spans, key, most_tiles, notes: Vec::new() };
    let failure = inspection.run(kind).err();
    let notes = inspection.notes;
    let left_out = spans.left_out();
    let recorded = spans.to_vec();
    let most = recorded.iter().map(|span| span.space).max().unwrap_or(0);
    let spaces = (0..=most).map(|space| spans.space_name(space)).collect();
    Ok(Report { path: located.to_string(), kind, size, spans: recorded, left_out, spaces, notes, failure })
}

impl Inspection<'_> {
    fn run(&mut self, kind: FileKind) -> Result<()> {
        match kind {
            FileKind::Schema => {
                let bytes = self.bytes()?;
                let tile = self.key.decoder().decode_file(&bytes, Some(self.spans)).map_err(self.tile_error())?;
                let schema = ArraySchema::parse_tile(&tile, Some(self.spans)).map_err(self.schema_error())?;
                self.notes.push(format!(
                    "the schema of a {} array; run `tdb schema ARRAY` for a summary",
                    schema.array_type()
                ));
                Ok(())
            }
            FileKind::Enumeration => {
                let bytes = self.bytes()?;
                let tile = self.key.decoder().decode_file(&bytes, Some(self.spans)).map_err(self.tile_error())?;
                let one = Enumeration::parse_tile(&tile, Some(self.spans)).map_err(self.schema_error())?;
                self.notes.push(format!("enumeration {:?} with {} values", one.name(), one.len()));
                Ok(())
            }
            FileKind::FragmentMetadata => fragment::metadata(self),
            FileKind::ConsolidatedFooters => fragment::consolidated(self),
            FileKind::Data => data::tiles(self),
            FileKind::Metadata => {
                let bytes = self.bytes()?;
                let (mut keys, mut deleted) = (0_u64, 0_u64);
                self.generic_tile(&bytes, |reader| {
                    MetadataFile::for_each(reader, |change| {
                        keys += 1;
                        deleted += u64::from(change.value.is_none());
                    })
                })?;
                self.notes.push(format!("{keys} keys, of which {deleted} are deleted"));
                Ok(())
            }
            FileKind::GroupDetails => {
                let bytes = self.bytes()?;
                let mut decoder = self.key.decoder();
                let details = GroupDetails::parse_file(&bytes, &mut decoder, Some(self.spans));
                details.map(|_| ()).map_err(self.tile_error())
            }
            FileKind::Condition => {
                let bytes = self.bytes()?;
                let limits = Limits::default();
                match self.located.name().ends_with(".upd") {
                    true => self.generic_tile(&bytes, |reader| Update::parse(reader, &limits).map(|_| ())),
                    false => {
                        let mut stays = None;
                        self.generic_tile(&bytes, |reader| {
                            stays = Some(Condition::parse(reader, &limits)?);
                            Ok(())
                        })?;
                        self.notes.extend(stays.map(|stays| format!("keeps the cells that fulfill: {stays}")));
                        Ok(())
                    }
                }
            }
            FileKind::ConsolidatedCommits => commits::consolidated(self),
            FileKind::PathList => commits::paths(self),
            FileKind::Marker => self.marker(),
            FileKind::Unknown => self.unknown(),
        }
    }

    /// Inspects a marker file. Only the existence of the file matters.
    fn marker(&mut self) -> Result<()> {
        let size = self.located.size()?;
        if size == 0 {
            self.notes.push("empty, as expected: only the existence of the file matters".to_owned());
            return Ok(());
        }
        Err(Failure::corrupt(format!("{}: expected an empty file, found {size} bytes", self.file())))
    }

    /// Inspects a file with an unknown name. Tries to parse a generic tile, else shows the first
    /// bytes.
    fn unknown(&mut self) -> Result<()> {
        let bytes = self.located.first(PEEK)?;
        let looks_like_tile = tdb_generic_tile::GenericTileHeader::parse(&mut ByteReader::new(&bytes)).is_ok();
        if looks_like_tile {
            self.notes.push("unknown file name, but the bytes are a generic tile".to_owned());
            let bytes = self.bytes()?;
            return self.generic_tile(&bytes, |reader| reader.bytes("payload", reader.remaining() as u64).map(|_| ()));
        }
        self.notes.push("neither the file name nor the bytes belong to the format".to_owned());
        let mut reader = self.reader(&bytes, 0);
        while reader.remaining() > 0 {
            let len = reader.remaining().min(Span::PREVIEW) as u64;
            reader.bytes("bytes", len).map_err(self.decode_error())?;
        }
        Ok(())
    }
}
