//! Builder of fragment metadata from the tiles of the fields.

use std::sync::Arc;

use tdb_generic_tile::GenericTileEncoder;
use tdb_rtree::{NdRange, RTree};
use tdb_schema::ArraySchema;
use tdb_types::{Feature, FormatVersion};

use super::kind::StatisticsKind;
use super::tile::TileSummary;
use super::totals::FieldSummarizer;
use crate::contents::{FieldContents, FragmentContents};
use crate::error::{FragmentError, Result};
use crate::field::{FieldSlots, FragmentField};
use crate::file::FragmentFile;
use crate::header::FooterHeader;
use crate::sections::{FragmentStatistics, ProcessedConditions, TileOffsets, TileVarSizes};
use crate::tiles::Tiles;

/// A stored tile of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredTile {
    /// The number of bytes appended to the file of cells, or of offsets of variable-length cells.
    pub fixed: u64,
    /// The number of bytes appended to the file of variable-length values.
    pub var: u64,
    /// The unfiltered size of the variable-length values, in bytes.
    pub var_unfiltered: u64,
    /// The number of bytes appended to the file of validity.
    pub validity: u64,
    /// The statistics of the cells.
    pub summary: TileSummary,
}

/// A builder that collects the tiles of a fragment and creates the metadata, in any version.
///
/// Push the same number of tiles for each stored field, in the order of the data files. Fields may
/// be interleaved in any way. Dense fragments store no coordinates, so their dimensions and
/// `__coords` get no tiles. In sparse fragments, each dimension gets tiles from format 5 on. Before
/// format 5, `__coords` gets tiles with the coordinates of all dimensions instead.
///
/// ```
/// use tdb_fragment::tdb_rtree::{DimRange, NdRange};
/// use tdb_fragment::tdb_schema::{Attribute, Dimension, SchemaBuilder};
/// use tdb_fragment::tdb_types::{Cells, Datatype, FormatVersion, Scalar};
/// use tdb_fragment::{FragmentBuilder, FragmentField, StatisticsKind, StoredTile, TileSummarizer};
///
/// let row = Dimension::new("row", 1i32..=8).with_tile(4);
/// let schema = SchemaBuilder::dense().dimension(row).attribute(Attribute::new("a", Datatype::UInt8)).build()?;
/// let schema = std::sync::Arc::new(schema);
/// let domain = NdRange(vec![DimRange::between(Scalar::I32(1), Scalar::I32(8))?]);
/// let mut fragment = FragmentBuilder::dense(FormatVersion::DEFAULT, &schema, "__1_1_0123456789abcdef", domain)?;
///
/// let field = FragmentField::Attribute(0);
/// for tile in [[3, 1, 4, 1], [5, 9, 2, 6]] {
///     let summary = TileSummarizer::whole(StatisticsKind::of(&schema, field), &Cells::fixed(&tile, 1));
///     // The filtered tile has 12 bytes.
///     fragment.push(field, &StoredTile { fixed: 12, summary, ..StoredTile::default() })?;
/// }
/// let (_, contents) = fragment.finish()?;
/// assert_eq!(contents.fragment_statistics.0[0].sum, 31);
/// assert_eq!(contents.fields[0].tile_offsets.starts(), [0, 12]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FragmentBuilder {
    schema: Arc<ArraySchema>,
    header: FooterHeader,
    slots: FieldSlots,
    fields: Vec<Field>,
    mbrs: Vec<NdRange>,
    bounding_coordinates: Vec<u8>,
    conditions: ProcessedConditions,
}

/// The collected data of a field.
#[derive(Clone, Debug)]
struct Field {
    statistics: FieldSummarizer,
    tiles: usize,
    fixed: File,
    var: File,
    validity: File,
    var_sizes: Vec<u64>,
}

#[derive(Clone, Debug, Default)]
struct File {
    starts: Vec<u64>,
    size: u64,
}

impl File {
    fn push(&mut self, bytes: u64) {
        self.starts.push(self.size);
        self.size = self.size.saturating_add(bytes);
    }

    fn finish(self) -> Result<TileOffsets> {
        Ok(TileOffsets::new(self.starts, self.size)?)
    }
}

impl FragmentBuilder {
    /// Creates a builder of a dense fragment with all tiles that overlap `domain`.
    ///
    /// `schema_name` is the file name of the schema.
    ///
    /// # Errors
    /// Fails if the array is sparse, if the domain does not match the dimensions or exceeds the
    /// tiles of the array, or if the number of cells exceeds 64 bits.
    pub fn dense(
        version: FormatVersion,
        schema: &Arc<ArraySchema>,
        schema_name: &str,
        domain: NdRange,
    ) -> Result<Self> {
        let last_tile_cells = schema.cells_per_tile().map_err(|error| {
            FragmentError::inconsistent("schema", error, "a schema with a fixed number of cells per tile")
        })?;
        let mut header = FooterHeader::new(version, schema_name, true);
        (header.non_empty_domain, header.last_tile_cells) = (Some(domain), last_tile_cells);
        Tiles::new(&header, schema)?;
        Ok(Self::of(header, schema))
    }

    /// Creates a builder of a sparse fragment without tiles.
    #[must_use]
    pub fn sparse(version: FormatVersion, schema: &Arc<ArraySchema>, schema_name: &str) -> Self {
        Self::of(FooterHeader::new(version, schema_name, false), schema)
    }

    fn of(header: FooterHeader, schema: &Arc<ArraySchema>) -> Self {
        let slots = header.slots(schema);
        let field = |field| Field {
            statistics: FieldSummarizer::new(StatisticsKind::of(schema, field)),
            tiles: 0,
            fixed: File::default(),
            var: File::default(),
            validity: File::default(),
            var_sizes: Vec::new(),
        };
        let fields = slots.iter().map(field).collect();
        Self {
            schema: Arc::clone(schema),
            header,
            slots,
            fields,
            mbrs: Vec::new(),
            bounding_coordinates: Vec::new(),
            conditions: ProcessedConditions::default(),
        }
    }

    /// Declares whether the fragment stores a write time per cell (`timestamps`), and a deletion
    /// time and condition per cell (`delete_metadata`). Call this before the first tile, because
    /// the call discards all tiles.
    #[must_use]
    pub fn with_cell_times(self, timestamps: bool, delete_metadata: bool) -> Self {
        let header = FooterHeader { has_timestamps: timestamps, has_delete_metadata: delete_metadata, ..self.header };
        Self { conditions: self.conditions, ..Self::of(header, &self.schema) }
    }

    /// Sets the delete and update conditions that are already applied to the cells.
    #[must_use]
    pub fn with_processed_conditions(self, conditions: ProcessedConditions) -> Self {
        Self { conditions, ..self }
    }

    /// Replaces the non-empty domain of a dense fragment, for writers that learn the end of the
    /// domain late.
    ///
    /// # Errors
    /// See [`dense`](Self::dense).
    pub fn with_domain(self, domain: NdRange) -> Result<Self> {
        let header = FooterHeader { non_empty_domain: Some(domain), ..self.header };
        Tiles::new(&header, &self.schema)?;
        Ok(Self { header, ..self })
    }

    /// Returns the fields and their slots.
    #[must_use]
    pub fn slots(&self) -> &FieldSlots {
        &self.slots
    }

    /// Returns the division of the cells into tiles so far.
    ///
    /// # Errors
    /// Fails if the last tile of a sparse fragment has no cells or exceeds the capacity, or if the
    /// number of cells exceeds 64 bits.
    pub fn tiles(&self) -> Result<Tiles> {
        Tiles::new(&self.header, &self.schema)
    }

    /// Returns the size of all data files so far, in bytes.
    #[must_use]
    pub fn data_size(&self) -> u64 {
        self.fields.iter().map(|field| field.fixed.size + field.var.size + field.validity.size).sum()
    }

    /// Returns the number of tiles of a sparse fragment so far.
    #[must_use]
    pub fn sparse_tile_count(&self) -> u64 {
        self.mbrs.len() as u64
    }

    /// Adds the next tile of a field.
    ///
    /// # Errors
    /// Fails if the fragment does not have the field.
    pub fn push(&mut self, field: FragmentField, tile: &StoredTile) -> Result<()> {
        let slot = self.slots.slot(field).and_then(|slot| self.fields.get_mut(slot));
        let slot = slot.ok_or(FragmentError::NoSuchField { field })?;
        slot.push(tile);
        Ok(())
    }

    /// Adds the MBR and the number of cells of the next tile of a sparse fragment.
    ///
    /// All tiles except the last must be filled to the capacity.
    pub fn push_mbr(&mut self, mbr: NdRange, cells: u64) {
        match &mut self.header.non_empty_domain {
            Some(domain) => domain.expand(&mbr),
            none => *none = Some(mbr.clone()),
        }
        self.mbrs.push(mbr);
        self.header.sparse_tile_count += 1;
        self.header.last_tile_cells = cells;
    }

    /// Adds the coordinates of the first and the last cell of the next tile of a sparse fragment,
    /// with all dimensions.
    ///
    /// Only formats 1 and 2 store these coordinates. No reader uses them. In later formats, this
    /// method does nothing.
    pub fn push_bounding_coordinates(&mut self, first_and_last: &[u8]) {
        if self.header.version.has(Feature::LegacyFragmentMetadata) {
            self.bounding_coordinates.extend_from_slice(first_and_last);
        }
    }

    /// Returns the header and the contents of the metadata.
    ///
    /// # Errors
    /// As [`tiles`](Self::tiles). Also fails if fields have different numbers of tiles.
    pub fn finish(self) -> Result<(FooterHeader, FragmentContents)> {
        let tiles = self.tiles()?.count();
        let rtree = RTree::build(&self.schema.domain().kinds(), &self.mbrs, RTree::FANOUT)?;
        let mut contents = FragmentContents::new(rtree, 0);
        let mut totals = Vec::with_capacity(self.fields.len());
        for mut field in self.fields {
            if field.tiles == 0 {
                (0..tiles).for_each(|_| field.push(&StoredTile::default()));
            }
            if field.tiles as u64 != tiles {
                return Err(FragmentError::inconsistent("tiles of a field", field.tiles, tiles));
            }
            let (statistics, total) = field.statistics.finish();
            totals.push(total);
            contents.fields.push(FieldContents {
                tile_offsets: field.fixed.finish()?,
                tile_var_offsets: field.var.finish()?,
                tile_var_sizes: TileVarSizes(field.var_sizes),
                tile_validity_offsets: field.validity.finish()?,
                statistics,
            });
        }
        contents.fragment_statistics = FragmentStatistics(totals);
        contents.processed_conditions = self.conditions;
        contents.bounding_coordinates = self.bounding_coordinates;
        Ok((self.header, contents))
    }

    /// Returns the bytes of the file `__fragment_metadata.tdb`.
    ///
    /// # Errors
    /// See [`finish`](Self::finish). Also fails if the encoder fails.
    pub fn write(self, encoder: &mut GenericTileEncoder) -> Result<Vec<u8>> {
        let schema = Arc::clone(&self.schema);
        let (header, contents) = self.finish()?;
        FragmentFile::write(&header, &contents, &schema, encoder)
    }
}

impl Field {
    fn push(&mut self, tile: &StoredTile) {
        self.tiles += 1;
        self.fixed.push(tile.fixed);
        self.var.push(tile.var);
        self.validity.push(tile.validity);
        self.var_sizes.push(tile.var_unfiltered);
        self.statistics.push(&tile.summary);
    }
}
