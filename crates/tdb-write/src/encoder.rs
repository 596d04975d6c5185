//! Encoding of tiles: from cells to filtered bytes, field by field.

use std::ops::Range;
use std::sync::Arc;

use tdb_cells::{Pool, SPARE_PARTS, TileScratch, in_tile_layout};
use tdb_filters::{
    BoundPipeline, ElementTypes, Filter, FilterError, FilterPipeline, Scratch, StorableValues, TileKind,
};
use tdb_fragment::tdb_rtree::DimRange;
use tdb_fragment::{FragmentField, Part, StatisticsKind, StoredTile, TileSummarizer, TileSummary};
use tdb_schema::{ArraySchema, Attribute};
use tdb_snapshot::tiles::FieldTiles;
use tdb_snapshot::{ArrayError, Environment, Result, Snapshot};
use tdb_types::{Cells, Datatype, Feature, FormatVersion, Validity};

use crate::check::StoredField;
use crate::version::library_version;

/// An encoder for the tiles of a field.
#[derive(Debug)]
pub struct FieldEncoder {
    /// The field.
    pub field: FragmentField,
    pub(crate) name: Arc<str>,
    /// Bytes per cell, or bytes per value for variable length.
    pub size: usize,
    /// `true` if cells may be null.
    pub nullable: bool,
    statistics: StatisticsKind,
    /// Pipeline of fixed-size cells, or of offsets.
    fixed: BoundPipeline,
    var: Option<BoundPipeline>,
    validity: Option<BoundPipeline>,
    /// Values that the filters can store. `None` if all values can be stored.
    storable: Option<StorableValues>,
    /// Kind of the dimension, to compute the range of a tile's coordinates.
    dimension: Option<tdb_fragment::tdb_rtree::DimensionKind>,
    /// `true` if values stay unfiltered, for later filtering together with other dimensions.
    is_raw: bool,
    /// Value of the cells of a dense tile that are outside of the written region. For variable
    /// length, a cell of one value. Formats before 7 use the fill value of the datatype, later
    /// formats use zeros. Readers never see this value.
    pub(super) padding: Vec<u8>,
    /// `true` if chunks of variable-length cells may end within a cell, as in formats before 7. In
    /// later formats, the newest release of the reference library ends chunks between cells. Some
    /// earlier releases do not.
    cuts_cells: bool,
    /// `true` if the metadata stores the first and the last coordinate of each tile.
    has_ends: bool,
    /// Source of random bytes, if the array is encrypted.
    pub(super) encrypted: Option<Environment>,
    /// Maximum bytes of a part of a tile.
    pub(super) tile_bytes: u64,
    /// Buffers for the parts of tiles.
    spares: Pool<[Vec<u8>; 3]>,
}

/// An encoded tile of a field, ready to be appended to the files.
#[derive(Debug, Default)]
pub struct EncodedTile {
    /// Filtered bytes of the cells or offsets, of the values, and of the validity.
    pub parts: [Vec<u8>; 3],
    /// Metadata of the tile.
    pub stored: StoredTile,
    /// Range of the coordinates, if the field is a dimension.
    pub range: Option<DimRange>,
    /// Bytes of the first and the last coordinate, if the metadata stores them.
    pub ends: Option<[Vec<u8>; 2]>,
}

impl EncodedTile {
    /// Returns the total bytes of all parts.
    pub fn size(&self) -> u64 {
        self.parts.iter().map(|part| part.len() as u64).sum()
    }
}

/// A run of cells that the statistics of a tile include.
#[derive(Clone, Debug)]
pub struct Run {
    pub(crate) cells: Range<usize>,
    /// `true` if the reference library visits the cells one by one. See
    /// [`TileSummarizer::add_each`](tdb_fragment::TileSummarizer::add_each).
    pub(crate) one_by_one: bool,
}

impl Run {
    /// Returns a run of all cells of a tile.
    pub fn whole(cells: usize) -> std::iter::Once<Self> {
        std::iter::once(Self { cells: 0..cells, one_by_one: false })
    }
}

impl Drop for FieldEncoder {
    fn drop(&mut self) {
        self.spares.leave_to(&SPARE_PARTS);
    }
}

impl FieldEncoder {
    pub(super) fn new(
        array: &Snapshot,
        schema: &ArraySchema,
        version: FormatVersion,
        stored: &StoredField<'_>,
    ) -> Result<Self> {
        let StoredField { field, reference, name, kind } = *stored;
        let wrong = |source| ArrayError::Filters { field: name.to_owned(), source: Box::new(source) };
        let bind = |filters: &FilterPipeline, kind: TileKind| array.access().bind(filters, kind).map_err(wrong);
        let dimension = match field {
            FragmentField::Dimension(index) => Some(&schema.dimensions()[index]),
            _ => None,
        };
        let filters = schema.filters_in(version, reference);
        let storable = StorableValues::of(&filters, kind.datatype).map_err(wrong)?;
        let value_size = kind.datatype.size();
        let types = ElementTypes::of_fragment(version, Some(library_version(version)));
        let combined = dimension.is_some() && version.has(Feature::CombinedCoordinates);
        let (size, fixed, var) = match kind.cell_val_num.fixed() {
            Some(number) => {
                let tile = match combined {
                    true => TileKind::coordinates(kind.datatype, 1, version),
                    false => TileKind::fixed(kind.datatype, number, version),
                };
                (value_size * number as usize, bind(&filters, tile.with_element_types(types))?, None)
            }
            None => {
                let offsets = bind(schema.offsets_filters(), TileKind::offsets(version).with_element_types(types))?;
                let values = bind(&filters, TileKind::var_data(kind.datatype, version).with_element_types(types))?;
                (value_size, offsets, Some(values.in_array_of(schema.version())))
            }
        };
        let validity = TileKind::validity(version).with_element_types(types);
        let validity = kind.nullable.then(|| bind(schema.validity_filters(), validity));
        Ok(Self {
            field,
            statistics: StatisticsKind::of(schema, field),
            size,
            nullable: kind.nullable,
            fixed,
            var,
            validity: validity.transpose()?,
            storable,
            dimension: dimension.map(tdb_schema::Dimension::kind),
            is_raw: combined && coordinates_are_interleaved(schema, version),
            padding: padding(schema, version, field).unwrap_or_else(|| vec![0; size]),
            cuts_cells: !version.has(Feature::Validity),
            has_ends: combined && version.has(Feature::LegacyFragmentMetadata),
            encrypted: array.access().key.as_ref().map(|_| array.access().environment.clone()),
            tile_bytes: array.limits().tile_bytes,
            spares: Pool::default(),
            name: name.into(),
        })
    }

    /// Creates an encoder for a field that the schema does not list: one number per cell, such as a
    /// timestamp. Uses the filters of coordinates.
    pub(super) fn of_times(
        array: &Snapshot,
        schema: &ArraySchema,
        version: FormatVersion,
        field: FragmentField,
    ) -> Result<Self> {
        let name = field.to_string();
        let fixed = array.access().bind(schema.coords_filters(), TileKind::fixed(Datatype::UInt64, 1, version));
        Ok(Self {
            field,
            statistics: StatisticsKind::of(schema, field),
            size: size_of::<u64>(),
            nullable: false,
            fixed: fixed.map_err(|source| ArrayError::Filters { field: name.clone(), source: Box::new(source) })?,
            var: None,
            validity: None,
            storable: None,
            dimension: None,
            is_raw: false,
            padding: Vec::new(),
            cuts_cells: false,
            has_ends: false,
            encrypted: array.access().key.as_ref().map(|_| array.access().environment.clone()),
            tile_bytes: array.limits().tile_bytes,
            spares: Pool::default(),
            name: name.into(),
        })
    }

    /// Returns `true` for variable-length cells.
    pub fn is_var(&self) -> bool {
        self.var.is_some()
    }

    /// Checks that a dense tile is within the limit. A dense tile is stored completely, even if
    /// only a few of its cells are written.
    pub(super) fn check_dense_tile(&self, cells: u64) -> Result<()> {
        let bytes = if self.is_var() { 8 } else { self.size as u64 };
        match cells.checked_mul(bytes) {
            Some(all) if all <= self.tile_bytes => Ok(()),
            _ => Err(self.too_large(cells, &format!("of {bytes} bytes"))),
        }
    }

    /// Checks that readers with these limits accept the tile.
    fn check_tile(&self, tile: &Cells<'_>) -> Result<()> {
        let offsets = tile.offsets().map_or(0, |offsets| 8 * offsets.len());
        let largest = tile.bytes().len().max(offsets) as u64;
        let fits = largest <= self.tile_bytes;
        if fits { Ok(()) } else { Err(self.too_large(tile.len() as u64, &format!("{largest} bytes"))) }
    }

    #[cold]
    pub(crate) fn too_large(&self, cells: u64, bytes: &str) -> ArrayError {
        ArrayError::Write(format!(
            "a tile of {cells} cells, {bytes} for field {:?}, exceeds the limit of {} bytes per tile (`tile_bytes`)",
            self.name, self.tile_bytes
        ))
    }

    /// Returns the parts of the field that have a file.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part> + use<> {
        let (var, validity) = (self.is_var(), self.nullable);
        Part::ALL.into_iter().filter(move |part| match part {
            Part::Fixed => true,
            Part::Var => var,
            Part::Validity => validity,
        })
    }

    /// Encodes a tile. `runs` lists the cells that the statistics include.
    ///
    /// # Errors
    /// The tile exceeds the limit, a filter cannot store a value, or random bytes are not
    /// available.
    pub fn encode(
        &self,
        cells: &Cells<'_>,
        runs: impl Iterator<Item = Run> + Clone,
        scratch: &mut TileScratch,
    ) -> Result<EncodedTile> {
        self.check_tile(cells)?;
        if let Some(environment) = &self.encrypted {
            // A repeated initialization vector is very unlikely, because each source begins at one
            // of 2^96 random positions.
            scratch.filters = std::mem::take(&mut scratch.filters).with_ivs(environment.random_ivs()?);
        }
        let TileScratch { cells: memory, filters, .. } = scratch;
        let tile = in_tile_layout(cells, self.nullable, memory);
        let mut encoded = EncodedTile {
            parts: self.empty_parts(),
            range: self.range_of(&tile),
            ends: self.ends(&tile),
            ..EncodedTile::default()
        };
        let stored = self.filter(&tile, &mut encoded.parts, filters).and_then(|stores_all| match stores_all {
            true => Ok(()),
            false => self.check_stored(&tile, runs.clone()),
        });
        stored.map_err(|source| ArrayError::Filters { field: self.name.to_string(), source: Box::new(source) })?;
        let [fixed, var, validity] = encoded.parts.each_ref().map(|part| part.len() as u64);
        let var_unfiltered = if self.is_var() { tile.values().len() as u64 } else { 0 };
        let summary = self.summarise(&tile, runs);
        encoded.stored = StoredTile { fixed, var, var_unfiltered, validity, summary };
        Ok(encoded)
    }

    /// Returns the first and the last coordinate of a tile. Returns `None` if the metadata does not
    /// store them, or if the tile has no cells.
    pub fn ends(&self, tile: &Cells<'_>) -> Option<[Vec<u8>; 2]> {
        let last = tile.len().checked_sub(1).filter(|_| self.has_ends)?;
        Some([0, last].map(|cell| tile.cell(cell).to_vec()))
    }

    /// Checks that the filters can store all values that readers see. Skips null cells and padding.
    #[cold]
    fn check_stored(&self, tile: &Cells<'_>, runs: impl Iterator<Item = Run>) -> Result<(), FilterError> {
        let Some(storable) = &self.storable else { return Ok(()) };
        for cell in runs.flat_map(|run| run.cells).filter(|cell| tile.is_valid(*cell)) {
            storable.check(tile.cell(cell)).map_err(|error| match error {
                FilterError::OutOfRange { filter, value, expected, .. } => {
                    FilterError::OutOfRange { filter, index: cell as u64, value, expected }
                }
                other => other,
            })?;
        }
        Ok(())
    }

    /// Filters the parts of a tile. Returns `true` if all values, including null cells and padding,
    /// are stored exactly.
    fn filter(&self, tile: &Cells<'_>, parts: &mut [Vec<u8>; 3], filters: &mut Scratch) -> Result<bool, FilterError> {
        let [fixed, var, validity] = parts;
        let mut lost = None;
        // Filters usually shrink the data. At worst, they add a few bytes per chunk.
        let room = |bytes: usize| bytes + bytes / 256 + 64;
        match &self.var {
            None if self.is_raw => fixed.extend_from_slice(tile.values()),
            None => {
                fixed.reserve_exact(room(tile.values().len()));
                lost = self.fixed.encode_tile_lossy(tile.values(), None, fixed, filters)?;
            }
            Some(values) => {
                // The file does not store the end of the last cell.
                let offsets = tile.offsets().and_then(|offsets| offsets.as_in_tile()).unwrap_or_default();
                let offsets = offsets.split_last().map_or(offsets, |(_, starts)| starts);
                var.reserve_exact(room(tile.values().len()));
                fixed.reserve_exact(room(size_of_val(offsets)));
                let ends_of_chunks = (!self.cuts_cells).then_some(offsets);
                lost = values.encode_tile_lossy(tile.values(), ends_of_chunks, var, filters)?;
                if values.carries_offsets() {
                    // The filtered values include the offsets. The tile of offsets then has no
                    // chunks.
                    fixed.extend_from_slice(&0u64.to_le_bytes());
                } else {
                    self.fixed.encode_tile(bytemuck::cast_slice(offsets), None, fixed, filters)?;
                }
            }
        }
        if let (Some(pipeline), Some(Validity::Bytes(bytes))) = (&self.validity, tile.validity()) {
            pipeline.encode_tile(bytes, None, validity, filters)?;
        }
        Ok(lost.is_none())
    }

    /// Returns `true` if `tiles` have the same parts and types as the tiles of this encoder.
    pub fn stores_alike(&self, tiles: &FieldTiles) -> bool {
        let kind = |pipeline: &BoundPipeline| *pipeline.kind();
        kind(&self.fixed) == kind(&tiles.fixed.pipeline)
            && self.var.as_ref().map(kind) == tiles.var.as_ref().map(|(values, _)| kind(&values.pipeline))
            && self.validity.as_ref().map(kind) == tiles.validity.as_ref().map(|part| kind(&part.pipeline))
    }

    /// Returns `true` if the field is a dimension.
    pub fn is_dimension(&self) -> bool {
        self.dimension.is_some()
    }

    /// Returns the range of the coordinates. Returns `None` if the field is not a dimension, or if
    /// there are no cells.
    pub fn range_of(&self, cells: &Cells<'_>) -> Option<DimRange> {
        self.dimension.and_then(|kind| DimRange::of_cells(cells, kind))
    }

    /// Returns empty buffers for the parts of a tile.
    pub fn empty_parts(&self) -> [Vec<u8>; 3] {
        let mut parts = self.spares.take_if_any().unwrap_or_else(|| SPARE_PARTS.take());
        parts.iter_mut().for_each(Vec::clear);
        parts
    }

    /// Gives the buffers of a written tile back to the pool.
    pub(crate) fn give_back(&self, tile: EncodedTile) {
        self.spares.give(tile.parts);
    }

    fn summarise(&self, tile: &Cells<'_>, runs: impl Iterator<Item = Run>) -> TileSummary {
        let mut summariser = TileSummarizer::new(self.statistics);
        runs.for_each(|run| match run.one_by_one {
            true => summariser.add_each(tile, run.cells),
            false => summariser.add(tile, run.cells),
        });
        summariser.finish(tile)
    }
}

/// Returns the padding of an attribute in formats before 7: the default fill value of its datatype,
/// even if the schema has another fill value. Returns `None` for dimensions and later formats.
fn padding(schema: &ArraySchema, version: FormatVersion, field: FragmentField) -> Option<Vec<u8>> {
    let FragmentField::Attribute(index) = field else { return None };
    let attribute = schema.attributes().get(index).filter(|_| !version.has(Feature::Validity))?;
    let plain = Attribute::new("", attribute.datatype()).with_cell_val_num(attribute.cell_val_num());
    Some(plain.fill_value().into_owned())
}

/// Returns `true` if a fragment stores all coordinates of a cell together.
pub(super) fn coordinates_are_interleaved(schema: &ArraySchema, version: FormatVersion) -> bool {
    !version.has(Feature::SplitCoordinates) && !schema.coords_filters().filters.iter().any(Filter::is_compressor)
}
