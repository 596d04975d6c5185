//! Fragment metadata of the TileDB storage format: parsing and writing, in every version.
//!
//! A fragment is the result of one write to an array, or of consolidation. It is a folder with a
//! data file per field and part, and a file `__fragment_metadata.tdb`. The metadata locates each
//! tile in the data files and describes its cells. From format 3 on, the file ends with a small
//! [footer](FragmentFooter), which readers always need. The [sections](SectionId) before the footer
//! are generic tiles, read on demand.
//!
//! - [`locate`] finds the footer, given the last bytes of the file.
//! - [`FragmentFooter`] describes the tiles, the sizes of the data files and the location of every
//!   section.
//! - [`SectionReader`] parses sections: [`TileOffsets`], [`TileStatistics`], the R-tree,
//!   [`ProcessedConditions`] and more.
//! - [`NameScheme`] names the data files.
//! - [`FragmentBuilder`] builds the metadata from the tiles that a writer stores.
//!   [`TileSummarizer`] computes statistics.
//! - [`FragmentFile`] is the contents of a whole file, to inspect or to write.
//! - [`ConsolidatedFooters`] are the footers of many fragments in a single file.
//!
//! The crate performs no I/O. It returns the byte ranges to read next, and the caller reads them.
//!
//! ```
//! use tdb_fragment::tdb_types::{ByteReader, FormatVersion, Limits};
//! use tdb_fragment::{
//!     FragmentField, FragmentFooter, GenericTileDecoder, NameScheme, Part, SectionId, SectionReader, Step, first_read, locate,
//! };
//! # use tdb_fragment::tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
//! # use tdb_fragment::tdb_types::{Datatype, Scalar};
//! # use tdb_fragment::{FooterHeader, FragmentContents, FragmentFile, GenericTileEncoder, TileOffsets, tdb_rtree::*};
//! # fn example() -> Result<(ArraySchema, Vec<u8>), Box<dyn std::error::Error>> {
//! #     let row = Dimension::new("row", 1i32..=100);
//! #     let schema = SchemaBuilder::dense()
//! #         .dimension(row.with_tile(10))
//! #         .attribute(Attribute::new("a", Datatype::Int32))
//! #         .build()?;
//! #     let mut header = FooterHeader::new(FormatVersion::DEFAULT, "__1_1_0123456789abcdef0123456789abcdef", true);
//! #     header.non_empty_domain = Some(NdRange(vec![DimRange::between(Scalar::I32(11), Scalar::I32(40))?]));
//! #     header.last_tile_cells = 10;
//! #     let rtree = RTree::empty(&schema.domain().kinds(), RTree::FANOUT);
//! #     let mut contents = FragmentContents::new(rtree, header.slots(&schema).len());
//! #     contents.fragment_statistics.0.resize_with(contents.fields.len(), Default::default);
//! #     contents.fields[0].tile_offsets = TileOffsets::new(vec![0, 45, 90], 130)?;
//! #     let mut encoder = GenericTileEncoder::new(FormatVersion::DEFAULT);
//! #     let file = FragmentFile::write(&header, &contents, &schema, &mut encoder)?;
//! #     Ok((schema, file))
//! # }
//! # let (schema, file) = example()?;
//! # let mut lines = Vec::new();
//! # macro_rules! println { ($($arg:tt)*) => { lines.push(format!($($arg)*)) } }
//!
//! // The version in the name of the fragment's folder, and the bytes of `__fragment_metadata.tdb`.
//! let version = FormatVersion::new(22)?;
//! let size = file.len() as u64;
//! let read = |range: std::ops::Range<u64>| &file[range.start as usize..range.end as usize];
//!
//! // Find the footer, usually with one read.
//! let mut range = first_read(size);
//! let range = loop {
//!     match locate(version, Some(&schema), size, read(range))? {
//!         Step::Footer(footer) => break footer,
//!         Step::Need(more) => range = more,
//!         _ => unreachable!("only formats 1 and 2 have no footer"),
//!     }
//! };
//! let footer = FragmentFooter::parse(ByteReader::at(read(range.clone()), range.start), &schema)?;
//!
//! // Read one section: the offsets of the tiles of the first attribute in its data file.
//! let field = FragmentField::Attribute(0);
//! let section = footer.section_range(SectionId::TileOffsets(field), range.start)?;
//! let mut decoder = GenericTileDecoder::new(Limits::default());
//! let mut sections = SectionReader::new(&footer, &schema, &mut decoder);
//! let offsets = sections.tile_offsets(field, Part::Fixed, read(section))?;
//!
//! let name = NameScheme::of(footer.version()).data_file(&schema, field, Part::Fixed)?;
//! for tile in 0..footer.tile_count() {
//!     let cells = footer.cells_in_tile(tile).unwrap_or(0);
//!     let range = offsets.range(tile).unwrap_or_default();
//!     println!("tile {tile}: {cells} cells in bytes {range:?} of {name}");
//! }
//! # assert_eq!(lines.join("\n"), "tile 0: 10 cells in bytes 0..45 of a0.tdb\n\
//! #     tile 1: 10 cells in bytes 45..90 of a0.tdb\ntile 2: 10 cells in bytes 90..130 of a0.tdb");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The example prints
//!
//! ```text
//! tile 0: 10 cells in bytes 0..45 of a0.tdb
//! tile 1: 10 cells in bytes 45..90 of a0.tdb
//! tile 2: 10 cells in bytes 90..130 of a0.tdb
//! ```
//!
//! # Hostile bytes
//!
//! Parsers check these properties of a file:
//!
//! - The schema and the number of tiles determine the lengths of lists.
//! - Offsets ascend within their data files.
//! - The non-empty domain of a dense fragment lies within the tiles of the array.
//! - The last tile has no more cells than the capacity.
//! - The name of the schema is a single path component.
//!
//! Memory use is bounded by the size of the input. For decompressed data, it is bounded by the
//! [`Limits`](tdb_types::Limits) of the [`GenericTileDecoder`].
//!
//! # Statistics
//!
//! The reference library has stored wrong statistics in some circumstances, and still does.
//! [`StatisticsRules`] describes these circumstances. A [`Statistic`] is absent, reliable, or
//! unreliable with a reason.

mod build;
mod consolidated;
mod contents;
mod dump;
mod error;
mod field;
mod file;
mod file_name;
mod footer;
mod header;
mod layout;
mod legacy;
mod library;
mod locate;
mod section;
mod section_check;
mod sections;
mod tiles;

pub use tdb_filters::ElementTypes;
pub use tdb_generic_tile::{GenericTileDecoder, GenericTileEncoder};
pub use {tdb_rtree, tdb_schema, tdb_types};

pub use build::{FieldSummarizer, FragmentBuilder, StatisticsKind, StoredTile, TileSummarizer, TileSummary};
pub use consolidated::ConsolidatedFooters;
pub use contents::{FieldContents, FragmentContents};
pub use error::{FragmentError, Result};
pub use field::{FieldSlots, FragmentField, Part};
pub use file::{FRAGMENT_METADATA_FILE, FragmentFile, FragmentFolder};
pub use file_name::NameScheme;
pub use footer::{FragmentFooter, OptionalSection};
pub use header::{FooterHeader, LEGACY_SCHEMA_NAME};
pub use layout::{List, Lists};
pub use locate::{FIRST_READ, Step, first_read, locate};
pub use section::SectionId;
pub use sections::{
    FieldTotals, FragmentStatistics, GlobalOrderBounds, ProcessedConditions, SectionReader, Statistic, StatisticsRules,
    Sum, TileOffsets, TileStatistics, TileValues, TileVarSizes, UntrustedReason, ValueStatistics,
};
pub use tiles::{DenseGrid, GridDimension, SparseTiles, Tiles};

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
