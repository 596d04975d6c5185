//! Writes dense arrays, for tests and benches. The cells of a box in row-major order become a
//! fragment.
//!
//! Deliberately simple and without optimizations.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)] // not every test needs all of it

use std::ops::Range;

use tdb_filters::{BoundPipeline, Filter, FilterPipeline, Scratch, TileKind};
use tdb_fragment::{
    FieldContents, FieldTotals, FooterHeader, FragmentContents, FragmentField, FragmentFile, FragmentStatistics,
    NameScheme, Part, TileOffsets, TileVarSizes,
};
use tdb_generic_tile::GenericTileEncoder;
use tdb_rtree::{DimRange, NdRange, RTree};
use tdb_schema::{ArraySchema, Attribute};
use tdb_storage::Storage;
use tdb_types::{Datatype, Feature, Layout};

#[path = "../places/mod.rs"]
pub mod places;

pub use places::SCHEMA;
use places::{FragmentPlace, schema_path};

/// The cells of an attribute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cells {
    /// Little-endian values.
    pub values: Vec<u8>,
    /// Start of each cell in `values`, followed by the end of the last, for variable length.
    pub offsets: Option<Vec<u64>>,
    /// One byte per cell, if nullable.
    pub validity: Option<Vec<u8>>,
}

/// A dense fragment to write.
#[derive(Clone, Debug)]
pub struct NewFragment {
    /// Timestamp, also used as the unique part of the name.
    pub time: u64,
    /// First and last ordered key along each dimension.
    pub bounds: Vec<(u64, u64)>,
    /// Cells of the box for each attribute, with the last dimension fastest.
    pub attributes: Vec<Cells>,
    /// Bytes per chunk, to cut tiles regardless of cells and at other positions than the format's
    /// writers.
    pub chunk: Option<usize>,
}

/// Creates an array without fragments.
pub fn create_array(storage: &dyn Storage, schema: &ArraySchema) {
    for folder in ["__schema", "__fragments", "__commits"] {
        storage.create_folder(folder).unwrap();
    }
    storage.create_new(&schema_path(schema.version()), &schema.to_file().unwrap()).unwrap();
}

/// Adds a fragment to an array, in the format of the schema.
pub fn write_fragment(storage: &dyn Storage, schema: &ArraySchema, fragment: &NewFragment) {
    let version = schema.version();
    let place = FragmentPlace::new(version, fragment.time, fragment.time, fragment.time.into());
    let folder = place.folder;
    storage.create_folder(&folder).unwrap();
    let ranges = fragment.bounds.iter().map(|&(lo, hi)| DimRange::Fixed { lo, hi });
    let mut header = FooterHeader::new(version, SCHEMA, true);
    header.non_empty_domain = Some(NdRange(ranges.collect()));
    header.last_tile_cells = schema.cells_per_tile().unwrap();
    let slots = header.slots(schema);
    let rtree = RTree::empty(&schema.domain().kinds(), RTree::FANOUT);
    let mut contents = FragmentContents::new(rtree, slots.len());
    if version.has(Feature::FragmentStatistics) {
        contents.fragment_statistics = FragmentStatistics(vec![FieldTotals::default(); slots.len()]);
    }
    let tiles = tiles(schema, &fragment.bounds);
    for (index, attribute) in schema.attributes().iter().enumerate() {
        let field = FragmentField::Attribute(index);
        let file = |part| format!("{folder}/{}", NameScheme::of(version).data_file(schema, field, part).unwrap());
        let writer = FieldWriter { storage, schema, attribute, tiles: &tiles, chunk: fragment.chunk };
        contents.fields[slots.slot(field).unwrap()] = writer.write(&fragment.attributes[index], file);
    }
    let mut encoder = GenericTileEncoder::new(version);
    let metadata = FragmentFile::write(&header, &contents, schema, &mut encoder).unwrap();
    storage.create_new(&format!("{folder}/__fragment_metadata.tdb"), &metadata).unwrap();
    if let Some(commit) = place.commit {
        storage.create_new(&commit, &[]).unwrap();
    }
}

/// For each cell of each tile, its index in the box. `None` for padding.
type Tiles = Vec<Vec<Option<usize>>>;

fn tiles(schema: &ArraySchema, bounds: &[(u64, u64)]) -> Tiles {
    let dimensions = schema.dimensions();
    let low: Vec<u64> = dimensions.iter().map(|dimension| dimension.domain_keys().unwrap().0).collect();
    let extent: Vec<u64> = dimensions.iter().map(|dimension| dimension.extent_cells().unwrap()).collect();
    let grid: Vec<Range<u64>> =
        (0..low.len()).map(|d| (bounds[d].0 - low[d]) / extent[d]..(bounds[d].1 - low[d]) / extent[d] + 1).collect();
    let cells: Vec<Range<u64>> = extent.iter().map(|extent| 0..*extent).collect();
    let cells = all(&cells, schema.cell_order());
    let place = |tile: &[u64], cell: &[u64]| {
        let mut place = 0;
        for d in 0..low.len() {
            let key = u128::from(low[d]) + u128::from(tile[d]) * u128::from(extent[d]) + u128::from(cell[d]);
            let key = u64::try_from(key).ok().filter(|key| (bounds[d].0..=bounds[d].1).contains(key))?;
            place = place * (bounds[d].1 - bounds[d].0 + 1) + (key - bounds[d].0);
        }
        Some(place as usize)
    };
    let places = |tile: &Vec<u64>| cells.iter().map(|cell| place(tile, cell)).collect();
    all(&grid, schema.tile_order()).iter().map(places).collect()
}

/// Returns all indices of a box, in an order.
pub fn all(bounds: &[Range<u64>], order: Layout) -> Vec<Vec<u64>> {
    let reverse = order == Layout::ColMajor;
    let mut ranges: Vec<Range<u64>> = bounds.to_vec();
    if reverse {
        ranges.reverse();
    }
    let mut all = vec![Vec::new()];
    for range in ranges {
        all = all.iter().flat_map(|at| range.clone().map(move |next| [&at[..], &[next]].concat())).collect();
    }
    if reverse {
        all.iter_mut().for_each(|at| at.reverse());
    }
    all
}

struct FieldWriter<'a> {
    storage: &'a dyn Storage,
    schema: &'a ArraySchema,
    attribute: &'a Attribute,
    tiles: &'a Tiles,
    chunk: Option<usize>,
}

impl FieldWriter<'_> {
    fn write(&self, cells: &Cells, file: impl Fn(Part) -> String) -> FieldContents {
        let version = self.schema.version();
        let (attribute, schema) = (self.attribute, self.schema);
        let mut contents = FieldContents::default();
        match (&cells.offsets, attribute.cell_val_num().fixed()) {
            (None, Some(number)) => {
                let kind = TileKind::fixed(attribute.datatype(), number, version);
                let size = attribute.cell_size().unwrap() as usize;
                let tiles = self.tiles.iter().map(|tile| (gather(&cells.values, size, tile), None));
                contents.tile_offsets = self.write_file(&file(Part::Fixed), attribute.filters(), kind, tiles);
            }
            (Some(offsets), None) => {
                let gathered: Vec<_> = self.tiles.iter().map(|tile| gather_var(cells, offsets, tile)).collect();
                let kind = TileKind::var_data(attribute.datatype(), version);
                let carries = BoundPipeline::bind(attribute.filters(), kind).unwrap().carries_offsets();
                let data = gathered.iter().map(|(values, offsets)| (values.clone(), Some(offsets.clone())));
                contents.tile_var_offsets = self.write_file(&file(Part::Var), attribute.filters(), kind, data);
                contents.tile_var_sizes = TileVarSizes(gathered.iter().map(|tile| tile.0.len() as u64).collect());
                let bytes = |offsets: &Vec<u64>| match carries {
                    true => Vec::new(),
                    false => offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect(),
                };
                let tiles = gathered.iter().map(|(_, offsets)| (bytes(offsets), None));
                let kind = TileKind::offsets(version);
                contents.tile_offsets = self.write_file(&file(Part::Fixed), schema.offsets_filters(), kind, tiles);
            }
            _ => panic!("cells of attribute {:?} are of another kind", attribute.name()),
        }
        if let Some(validity) = &cells.validity {
            let tiles = self.tiles.iter().map(|tile| (gather(validity, 1, tile), None));
            let kind = TileKind::validity(version);
            let filters = schema.validity_filters();
            contents.tile_validity_offsets = self.write_file(&file(Part::Validity), filters, kind, tiles);
        }
        contents
    }

    /// Filters tiles and writes them in sequence.
    fn write_file(
        &self,
        path: &str,
        filters: &FilterPipeline,
        kind: TileKind,
        tiles: impl Iterator<Item = (Vec<u8>, Option<Vec<u64>>)>,
    ) -> TileOffsets {
        let pipeline = BoundPipeline::bind(filters, kind).unwrap();
        // Filters without regard to the cell size accept chunks that cut cells.
        let whole = filters.filters.contains(&Filter::Byteshuffle);
        let chunk = self.chunk.map(|chunk| if whole { chunk.next_multiple_of(kind.cell_size as usize) } else { chunk });
        let kind = if whole { kind } else { TileKind::new(Datatype::UInt8, 1, kind.role, kind.version) };
        let of_bytes = BoundPipeline::bind(filters, kind).unwrap();
        let mut scratch = Scratch::new();
        let (mut out, mut starts) = (Vec::new(), Vec::new());
        for (tile, offsets) in tiles {
            starts.push(out.len() as u64);
            match chunk.filter(|_| !pipeline.carries_offsets()) {
                None => pipeline.encode_tile(&tile, offsets.as_deref(), &mut out, &mut scratch).unwrap(),
                Some(chunk) => {
                    out.extend((tile.len().div_ceil(chunk) as u64).to_le_bytes());
                    for part in tile.chunks(chunk) {
                        let mut one = Vec::new();
                        of_bytes.encode_tile(part, None, &mut one, &mut scratch).unwrap();
                        assert_eq!(one[..8], 1u64.to_le_bytes());
                        out.extend_from_slice(&one[8..]);
                    }
                }
            }
        }
        self.storage.create_new(path, &out).unwrap();
        TileOffsets::new(starts, out.len() as u64).unwrap()
    }
}

/// Content of cells outside of the box, which must never be visible.
const PADDING: u8 = 0xab;

fn gather(values: &[u8], size: usize, tile: &[Option<usize>]) -> Vec<u8> {
    let mut gathered = Vec::with_capacity(tile.len() * size);
    for cell in tile {
        match cell {
            Some(cell) => gathered.extend_from_slice(&values[cell * size..][..size]),
            None => gathered.resize(gathered.len() + size, PADDING),
        }
    }
    gathered
}

fn gather_var(cells: &Cells, offsets: &[u64], tile: &[Option<usize>]) -> (Vec<u8>, Vec<u64>) {
    let (mut gathered, mut starts) = (Vec::new(), Vec::new());
    for cell in tile {
        starts.push(gathered.len() as u64);
        match cell {
            Some(cell) => {
                gathered.extend_from_slice(&cells.values[offsets[*cell] as usize..offsets[cell + 1] as usize]);
            }
            None => gathered.extend([PADDING; 8]),
        }
    }
    (gathered, starts)
}
