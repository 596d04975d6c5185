//! A plain model of a sparse array: fragments with cells, from which a query selects.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use tdb_array::{Batch, Order, TimeRange};
use tdb_rtree::DimRange;
use tdb_schema::global_order::{Coordinate, GlobalOrder, make_comparable};
use tdb_schema::{ArraySchema, Dimension};
use tdb_types::ordered_key;

use super::{Cells, NewFragment};

/// A cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// Bytes of each coordinate.
    pub coordinates: Vec<Vec<u8>>,
    /// Bytes of each attribute. `None` for null.
    pub attributes: Vec<Option<Vec<u8>>>,
}

/// A version of a cell in a fragment.
#[derive(Clone, Debug)]
pub struct Version {
    pub cell: Cell,
    pub time: u64,
    /// `u64::MAX` if not deleted.
    pub deleted: u64,
}

/// A fragment, written at one time or consolidated.
#[derive(Clone, Debug)]
pub struct Fragment {
    pub start: u64,
    pub end: u64,
    pub versions: Vec<Version>,
    /// `true` if the fragment stores timestamps and deletion timestamps of cells.
    pub is_consolidated: bool,
    pub stored: Stored,
}

/// Stored order of a fragment's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// Global order, with the newest of equal cells first.
    Global,
    /// Each tile has the right cells, in arbitrary order.
    GlobalTiles(u64),
    /// Some tiles are exchanged.
    Exchanged(u64),
    /// Arbitrary order.
    Shuffled(u64),
}

impl Stored {
    fn apply(self, versions: &mut [Version], capacity: usize) {
        let mut seed = 0;
        let mut number = |below: usize| {
            // Pseudo-random numbers (SplitMix64).
            seed += 1;
            let seed = match self {
                Self::Global => 0,
                Self::GlobalTiles(seed) | Self::Exchanged(seed) | Self::Shuffled(seed) => seed,
            } + seed;
            let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((mixed ^ (mixed >> 31)) % below as u64) as usize
        };
        let mut shuffle = |cells: &mut [Version]| (1..cells.len()).for_each(|at| cells.swap(at, number(at + 1)));
        match self {
            Self::Global => {}
            Self::GlobalTiles(_) => versions.chunks_mut(capacity).for_each(shuffle),
            Self::Exchanged(_) => {
                let whole = versions.len() / capacity;
                for _ in 0..2 {
                    let (a, b) = (number(whole.max(1)), number(whole.max(1)));
                    for cell in 0..if whole > 0 { capacity } else { 0 } {
                        versions.swap(a * capacity + cell, b * capacity + cell);
                    }
                }
            }
            Self::Shuffled(_) => shuffle(versions),
        }
    }
}

/// Returns the coordinates in the form that `tdb-schema` compares.
fn coordinates<'a>(schema: &ArraySchema, cell: &'a Cell) -> Vec<Coordinate<'a>> {
    let dimensions = schema.dimensions().iter().zip(&cell.coordinates);
    let coordinate = |(dimension, bytes): (&Dimension, &'a Vec<u8>)| match dimension.is_var() {
        true => Coordinate::String(bytes),
        false => Coordinate::Key(ordered_key(dimension.physical(), bytes)),
    };
    dimensions.map(coordinate).collect()
}

/// Compares cells in an order. Cells with equal coordinates are equal.
pub fn compare(schema: &ArraySchema, order: Order, a: &Cell, b: &Cell) -> Ordering {
    let (a, b) = (coordinates(schema, a), coordinates(schema, b));
    let by = |dimension: usize| match (a[dimension], b[dimension]) {
        (Coordinate::Key(a), Coordinate::Key(b)) => {
            let mut keys = [a, b];
            make_comparable(schema.dimensions()[dimension].physical(), &mut keys);
            keys[0].cmp(&keys[1])
        }
        (Coordinate::String(a), Coordinate::String(b)) => a.cmp(b),
        _ => unreachable!(),
    };
    let count = schema.dim_count();
    match order {
        Order::RowMajor => (0..count).map(by).find(|o| o.is_ne()).unwrap_or(Ordering::Equal),
        Order::ColMajor => (0..count).rev().map(by).find(|o| o.is_ne()).unwrap_or(Ordering::Equal),
        Order::Global => GlobalOrder::new(schema).unwrap().compare(&a, &b),
        _ => Ordering::Equal,
    }
}

/// Returns which coordinates are -0.0. Otherwise equal cells have no defined order. Here -0.0 comes
/// first.
fn negative_zeros(schema: &ArraySchema, cell: &Cell) -> Vec<bool> {
    let coordinates = schema.dimensions().iter().zip(&cell.coordinates);
    coordinates.map(|(d, bytes)| d.datatype().is_float() && *bytes == (-0.0_f64).to_le_bytes()).collect()
}

impl Fragment {
    /// Sorts the versions into stored order.
    pub fn arrange(&mut self, schema: &ArraySchema) {
        self.versions.sort_by(|a, b| {
            compare(schema, Order::Global, &a.cell, &b.cell)
                .then_with(|| negative_zeros(schema, &b.cell).cmp(&negative_zeros(schema, &a.cell)))
                .then(b.time.cmp(&a.time))
        });
        self.stored.apply(&mut self.versions, usize::try_from(schema.capacity()).unwrap());
    }

    /// Converts the fragment for the writer of tests.
    pub fn to_columns(&self, schema: &ArraySchema) -> NewFragment {
        let versions = &self.versions;
        let var = |is_var: bool| is_var.then(Vec::new);
        let dimensions = schema.dimensions().iter().enumerate().map(|(index, dimension)| {
            let mut cells = Cells { offsets: var(dimension.is_var()), ..Cells::default() };
            versions.iter().for_each(|version| cells.push(&version.cell.coordinates[index]));
            cells
        });
        let attributes = schema.attributes().iter().enumerate().map(|(index, attribute)| {
            let mut cells = Cells { offsets: var(attribute.is_var()), ..Cells::default() };
            let null = vec![0xee; attribute.cell_size().unwrap_or(2) as usize];
            let values = versions.iter().map(|version| version.cell.attributes[index].as_ref());
            values.clone().for_each(|value| cells.push(value.unwrap_or(&null)));
            cells.validity = attribute.is_nullable().then(|| values.map(|value| u8::from(value.is_some())).collect());
            cells
        });
        NewFragment {
            start: self.start,
            end: self.end,
            len: versions.len(),
            dimensions: dimensions.collect(),
            attributes: attributes.collect(),
            times: self.is_consolidated.then(|| versions.iter().map(|version| version.time).collect()),
            deletions: self.is_consolidated.then(|| versions.iter().map(|version| version.deleted).collect()),
        }
    }
}

/// A query.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub order: Order,
    /// Ranges for each dimension. Empty for the whole domain.
    pub ranges: Vec<Vec<DimRange>>,
    pub time: TimeRange,
}

/// Returns the cells of a query, in unspecified order. `fragments` are sorted by start.
pub fn read(schema: &ArraySchema, fragments: &[Fragment], wanted: &Wanted) -> Vec<Cell> {
    let mut found: Vec<(&Version, u64, usize)> = Vec::new();
    for (index, fragment) in fragments.iter().enumerate() {
        for version in &fragment.versions {
            let time = if fragment.is_consolidated { version.time } else { fragment.start };
            if wanted.time.contains(time, time) && is_wanted(schema, wanted, &version.cell) {
                found.push((version, time, index));
            }
        }
    }
    if !schema.allows_duplicates() {
        let mut newest: BTreeMap<&Vec<Vec<u8>>, (u64, usize)> = BTreeMap::new();
        for (version, time, index) in &found {
            let held = newest.entry(&version.cell.coordinates).or_insert((*time, *index));
            *held = (*held).max((*time, *index));
        }
        let mut seen = BTreeSet::new();
        // In a consolidated fragment, the first version of a time counts. In other fragments, all
        // cells count.
        found.retain(|(version, time, index)| {
            let coordinates = &version.cell.coordinates;
            newest[coordinates] == (*time, *index) && (!fragments[*index].is_consolidated || seen.insert(coordinates))
        });
    }
    let shown = found.into_iter().map(|(version, ..)| version);
    let shown = shown.filter(|version| version.deleted == u64::MAX || version.deleted > wanted.time.end);
    shown.map(|version| version.cell.clone()).collect()
}

/// `true` if a cell is inside a requested range of each dimension.
fn is_wanted(schema: &ArraySchema, wanted: &Wanted, cell: &Cell) -> bool {
    let cell = coordinates(schema, cell);
    wanted.ranges.iter().zip(&cell).all(|(ranges, coordinate)| {
        let contains = |range: &&DimRange| match *coordinate {
            Coordinate::Key(key) => range.contains_key(key),
            Coordinate::String(string) => range.contains_string(string),
        };
        ranges.is_empty() || ranges.iter().any(|range| contains(&range))
    })
}

/// Returns the cells of a batch with all dimensions and attributes.
pub fn cells(schema: &ArraySchema, batch: &Batch) -> Vec<Cell> {
    let dimensions: Vec<_> =
        schema.dimensions().iter().map(|dimension| batch.column(dimension.name()).unwrap()).collect();
    let attributes: Vec<_> =
        schema.attributes().iter().map(|attribute| batch.column(attribute.name()).unwrap()).collect();
    (0..batch.len())
        .map(|cell| Cell {
            coordinates: dimensions.iter().map(|column| column.cell(cell).unwrap().to_vec()).collect(),
            attributes: attributes.iter().map(|column| column.cell(cell).map(<[u8]>::to_vec)).collect(),
        })
        .collect()
}
