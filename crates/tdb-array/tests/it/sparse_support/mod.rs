//! Writes sparse arrays into memory, for tests and benches. Columns become fragments in the given
//! order.
//!
//! Deliberately simple and without optimizations.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)] // not every test needs all of it

#[cfg(test)]
pub mod cases;
#[cfg(test)]
pub mod model;

use std::sync::Arc;

use tdb_filters::{BoundPipeline, FilterPipeline, Scratch, TileKind};
use tdb_fragment::{
    FieldTotals, FooterHeader, FragmentContents, FragmentField, FragmentFile, FragmentStatistics, NameScheme, Part,
    ProcessedConditions, TileOffsets, TileVarSizes,
};
use tdb_generic_tile::GenericTileEncoder;
use tdb_rtree::{DimRange, NdRange, RTree};
use tdb_schema::{ArraySchema, FieldRef};
use tdb_storage::MemoryStorage;
use tdb_types::{CellValNum, Datatype, Feature, ordered_keys};

#[path = "../places/mod.rs"]
pub mod places;

pub use places::SCHEMA;
use places::{FragmentPlace, schema_path};

/// The cells of a field.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    /// Little-endian values.
    pub values: Vec<u8>,
    /// Start of each cell in `values`, for variable length.
    pub offsets: Option<Vec<u64>>,
    /// One byte per cell, if nullable.
    pub validity: Option<Vec<u8>>,
}

/// A fragment to write. Cells are in stored order, usually the global order.
#[derive(Clone, Debug)]
pub struct NewFragment {
    pub start: u64,
    pub end: u64,
    pub len: usize,
    pub dimensions: Vec<Cells>,
    pub attributes: Vec<Cells>,
    /// Timestamp of each cell, if stored.
    pub times: Option<Vec<u64>>,
    /// Deletion timestamp of each cell, if stored. `u64::MAX` for cells that were not deleted.
    pub deletions: Option<Vec<u64>>,
}

impl NewFragment {
    pub fn at(time: u64, len: usize, dimensions: Vec<Cells>, attributes: Vec<Cells>) -> Self {
        Self { start: time, end: time, len, dimensions, attributes, times: None, deletions: None }
    }
}

/// Creates an array with these fragments. The first gets the lowest name.
pub fn write_array(schema: &ArraySchema, fragments: &[NewFragment]) -> Arc<MemoryStorage> {
    let storage = Arc::new(MemoryStorage::new());
    storage.insert(&schema_path(schema.version()), schema.to_file().unwrap()).unwrap();
    for (index, fragment) in fragments.iter().enumerate() {
        write_fragment(&storage, schema, SCHEMA, fragment, index);
    }
    storage
}

/// Adds a fragment to an array, in the format of the schema. `index` is a part of the name.
pub fn write_fragment(
    storage: &MemoryStorage,
    schema: &ArraySchema,
    schema_name: &str,
    fragment: &NewFragment,
    index: usize,
) {
    let version = schema.version();
    let place = FragmentPlace::new(version, fragment.start, fragment.end, index as u128);
    let folder = place.folder;
    let tiles = tiles(fragment.len, usize::try_from(schema.capacity()).unwrap());
    let mut header = FooterHeader::new(version, schema_name, false);
    header.non_empty_domain = Some(mbr(schema, fragment, 0..fragment.len));
    header.sparse_tile_count = tiles.len() as u64;
    header.last_tile_cells = tiles.last().unwrap().len() as u64;
    header.has_timestamps = fragment.times.is_some();
    header.has_delete_metadata = fragment.deletions.is_some();
    let slots = header.slots(schema);
    let leaves: Vec<NdRange> = tiles.iter().map(|cells| mbr(schema, fragment, cells.clone())).collect();
    let rtree = RTree::build(&schema.domain().kinds(), &leaves, RTree::FANOUT).unwrap();
    let mut contents = FragmentContents::new(rtree, slots.len());
    if version.has(Feature::FragmentStatistics) {
        contents.fragment_statistics = FragmentStatistics(vec![FieldTotals::default(); slots.len()]);
    }
    contents.processed_conditions = ProcessedConditions::default();
    for (slot, field) in slots.iter().enumerate() {
        let field_id = field;
        let Some((cells, shape)) = field_of(schema, fragment, field) else { continue };
        let cell_size = shape.cell_val_num.fixed().map(|number| number as usize * shape.datatype.size());
        let file = |part| format!("{folder}/{}", NameScheme::of(version).data_file(schema, field, part).unwrap());
        let field = &mut contents.fields[slot];
        match (&cells.offsets, cell_size) {
            (None, Some(size)) => {
                let number = shape.cell_val_num.fixed().unwrap();
                let kind = match field_id {
                    FragmentField::Coordinates => TileKind::coordinates(shape.datatype, number, version),
                    _ => TileKind::fixed(shape.datatype, number, version),
                };
                let runs = tiles.iter().map(|cells| (cells.start * size..cells.end * size, None));
                field.tile_offsets = write_file(storage, &file(Part::Fixed), &shape.filters, kind, &cells.values, runs);
            }
            (Some(offsets), _) => {
                let mut ends = offsets.clone();
                ends.push(cells.values.len() as u64);
                let local: Vec<Vec<u64>> = tiles
                    .iter()
                    .map(|cells| offsets[cells.clone()].iter().map(|offset| offset - ends[cells.start]).collect())
                    .collect();
                let flat: Vec<u8> = local.iter().flatten().flat_map(|offset| offset.to_le_bytes()).collect();
                let runs = tiles.iter().map(|cells| (cells.start * 8..cells.end * 8, None));
                let kind = TileKind::offsets(version);
                field.tile_offsets =
                    write_file(storage, &file(Part::Fixed), schema.offsets_filters(), kind, &flat, runs);
                let bytes = |cells: &std::ops::Range<usize>| ends[cells.start] as usize..ends[cells.end] as usize;
                let runs = tiles.iter().zip(&local).map(|(cells, local)| (bytes(cells), Some(&local[..])));
                let kind = TileKind::var_data(shape.datatype, version);
                field.tile_var_offsets =
                    write_file(storage, &file(Part::Var), &shape.filters, kind, &cells.values, runs);
                field.tile_var_sizes = TileVarSizes(tiles.iter().map(|cells| bytes(cells).len() as u64).collect());
            }
            (None, None) => panic!("cells of variable length need offsets"),
        }
        if let Some(validity) = &cells.validity {
            let runs = tiles.iter().map(|cells| (cells.clone(), None));
            let kind = TileKind::validity(version);
            field.tile_validity_offsets =
                write_file(storage, &file(Part::Validity), schema.validity_filters(), kind, validity, runs);
        }
    }
    if version.has(Feature::LegacyFragmentMetadata) {
        fill_lists(&mut contents, tiles.len());
        contents.bounding_coordinates = bounding_coordinates(schema, fragment, &tiles);
    }
    let mut encoder = GenericTileEncoder::new(version);
    let metadata = FragmentFile::write(&header, &contents, schema, &mut encoder).unwrap();
    storage.insert(&format!("{folder}/__fragment_metadata.tdb"), metadata).unwrap();
    if let Some(commit) = place.commit {
        storage.insert(&commit, Vec::new()).unwrap();
    }
}

/// In formats 1 and 2, the lists for a missing file have a zero per tile.
fn fill_lists(contents: &mut FragmentContents, tiles: usize) {
    let zeros = || TileOffsets::new(vec![0; tiles], 0).unwrap();
    for field in contents.fields.iter_mut().filter(|field| field.tile_var_sizes.0.is_empty()) {
        field.tile_var_sizes = TileVarSizes(vec![0; tiles]);
        field.tile_var_offsets = zeros();
    }
}

/// Returns the coordinates of the first and the last cell of each tile.
fn bounding_coordinates(schema: &ArraySchema, fragment: &NewFragment, tiles: &[std::ops::Range<usize>]) -> Vec<u8> {
    let (combined, shape) = field_of(schema, fragment, FragmentField::Coordinates).unwrap();
    let size = shape.datatype.size() * shape.cell_val_num.fixed().unwrap() as usize;
    let cells = tiles.iter().flat_map(|tile| [tile.start, tile.end - 1]);
    cells.flat_map(|cell| combined.cell(cell, size).to_vec()).collect()
}

/// Properties of a field's tiles.
struct Shape {
    datatype: Datatype,
    cell_val_num: CellValNum,
    filters: FilterPipeline,
}

fn field_of(schema: &ArraySchema, fragment: &NewFragment, field: FragmentField) -> Option<(Cells, Shape)> {
    let of = |field| {
        let shape = schema.field_type(field).unwrap();
        let filters = schema.filters_of(field).into_owned();
        Shape { datatype: shape.datatype, cell_val_num: shape.cell_val_num, filters }
    };
    let numbers = |numbers: &Option<Vec<u64>>| {
        let values = numbers.as_ref()?.iter().flat_map(|number| number.to_le_bytes()).collect();
        let filters = schema.coords_filters().clone();
        let shape = Shape { datatype: Datatype::UInt64, cell_val_num: CellValNum::ONE, filters };
        Some((Cells { values, offsets: None, validity: None }, shape))
    };
    match field {
        FragmentField::Attribute(index) => Some((fragment.attributes[index].clone(), of(FieldRef::Attribute(index)))),
        FragmentField::Dimension(index) => Some((fragment.dimensions[index].clone(), of(FieldRef::Dimension(index)))),
        FragmentField::Coordinates if schema.version().has(Feature::CombinedCoordinates) => {
            let datatype = schema.dimensions()[0].datatype();
            let size = datatype.size();
            let cell =
                |cell: usize| fragment.dimensions.iter().flat_map(move |column| column.cell(cell, size).to_vec());
            let values = (0..fragment.len).flat_map(cell).collect();
            let number = u32::try_from(fragment.dimensions.len()).unwrap();
            let cell_val_num = CellValNum::from_code(number).unwrap();
            let shape = Shape { datatype, cell_val_num, filters: schema.coords_filters().clone() };
            Some((Cells { values, offsets: None, validity: None }, shape))
        }
        FragmentField::Timestamps => numbers(&fragment.times),
        FragmentField::DeleteTimestamps => numbers(&fragment.deletions),
        FragmentField::DeleteConditionIndex => numbers(&fragment.deletions.as_ref().map(|all| vec![0; all.len()])),
        _ => None,
    }
}

/// Filters ranges of bytes and writes them in sequence.
fn write_file<'a>(
    storage: &MemoryStorage,
    path: &str,
    filters: &FilterPipeline,
    kind: TileKind,
    bytes: &[u8],
    runs: impl Iterator<Item = (std::ops::Range<usize>, Option<&'a [u64]>)>,
) -> TileOffsets {
    let pipeline = BoundPipeline::bind(filters, kind).unwrap();
    let mut scratch = Scratch::new();
    let (mut out, mut starts) = (Vec::new(), Vec::new());
    for (run, offsets) in runs {
        starts.push(out.len() as u64);
        pipeline.encode_tile(&bytes[run], offsets, &mut out, &mut scratch).unwrap();
    }
    let size = out.len() as u64;
    storage.insert(path, out).unwrap();
    TileOffsets::new(starts, size).unwrap()
}

fn tiles(cells: usize, capacity: usize) -> Vec<std::ops::Range<usize>> {
    (0..cells).step_by(capacity).map(|start| start..cells.min(start + capacity)).collect()
}

fn mbr(schema: &ArraySchema, fragment: &NewFragment, cells: std::ops::Range<usize>) -> NdRange {
    let ranges =
        schema.dimensions().iter().zip(&fragment.dimensions).map(|(dimension, column)| match &column.offsets {
            None => {
                let size = dimension.datatype().size();
                let mut keys = Vec::new();
                ordered_keys(dimension.physical(), &column.values[cells.start * size..cells.end * size], &mut keys);
                DimRange::Fixed { lo: *keys.iter().min().unwrap(), hi: *keys.iter().max().unwrap() }
            }
            Some(_) => {
                let strings = || cells.clone().map(|cell| column.cell(cell, 1));
                DimRange::strings(strings().min().unwrap(), strings().max().unwrap())
            }
        });
    NdRange(ranges.collect())
}

impl Cells {
    /// Returns the bytes of a cell. `size` is the cell size for fixed length.
    pub fn cell(&self, cell: usize, size: usize) -> &[u8] {
        match &self.offsets {
            None => &self.values[cell * size..][..size],
            Some(offsets) => {
                let end = offsets.get(cell + 1).map_or(self.values.len(), |end| *end as usize);
                &self.values[offsets[cell] as usize..end]
            }
        }
    }

    /// Appends a cell.
    pub fn push(&mut self, cell: &[u8]) {
        if let Some(offsets) = &mut self.offsets {
            offsets.push(self.values.len() as u64);
        }
        self.values.extend_from_slice(cell);
    }
}
