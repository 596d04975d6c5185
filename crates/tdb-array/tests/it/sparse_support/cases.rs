//! Random schemas, fragments and queries.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use tdb_array::{Array, ArrayOptions, Batch, Coordinate, Order, Query, TimeRange};
use tdb_filters::FilterPipeline;
use tdb_rtree::DimRange;
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_storage::MemoryStorage;
use tdb_types::{CellValNum, Datatype, Layout, Scalar};

use super::model::{self, Cell, Fragment, Stored, Version, Wanted};
use super::write_array;

/// Types of dimensions, each with a small set of possible coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Int32,
    UInt8,
    Int64,
    /// Spans the whole domain. Two such dimensions do not fit into one key.
    Wide,
    Float64,
    Text,
}

impl Kind {
    pub fn dimension(self, name: &str, extent: u8) -> Dimension {
        let extent = extent.clamp(1, 8);
        match self {
            Self::Int32 => Dimension::new(name, -8i32..=15).with_tile(i32::from(extent)),
            Self::UInt8 => Dimension::new(name, 0u8..=7).with_tile(extent),
            Self::Int64 => Dimension::new(name, -1i64 << 40..=1 << 40).with_tile(i64::from(extent) << 36),
            Self::Wide => Dimension::new(name, 0u64..=u64::MAX - (1 << 62)).with_tile(u64::from(extent) << 58),
            Self::Float64 => Dimension::new(name, -4.0f64..=4.0).with_tile(f64::from(extent) / 2.0),
            Self::Text => Dimension::string(name),
        }
    }

    /// Returns a coordinate as bytes.
    pub fn coordinate(self, number: u8) -> Vec<u8> {
        let small = i64::from(number % 24);
        match self {
            Self::Int32 => (small as i32 - 8).to_le_bytes().to_vec(),
            Self::UInt8 => vec![number % 8],
            Self::Int64 => ((small - 12) << 36).to_le_bytes().to_vec(),
            Self::Wide => ((small as u64) << 58).to_le_bytes().to_vec(),
            Self::Float64 if number % 17 == 3 => (-0.0_f64).to_le_bytes().to_vec(),
            Self::Float64 => (small as f64 / 3.0 - 4.0).to_le_bytes().to_vec(),
            Self::Text => {
                let all = [
                    "",
                    "a",
                    "aa",
                    "ab",
                    "a long one that begins alike, 1",
                    "a long one that begins alike, 2",
                    "b\u{ff}",
                ];
                all[number as usize % all.len()].into()
            }
        }
    }

    pub fn query(self, bytes: &[u8]) -> Coordinate {
        match self {
            Self::Int32 => i32::from_le_bytes(bytes.try_into().unwrap()).into(),
            Self::UInt8 => bytes[0].into(),
            Self::Int64 => i64::from_le_bytes(bytes.try_into().unwrap()).into(),
            Self::Wide => u64::from_le_bytes(bytes.try_into().unwrap()).into(),
            Self::Float64 => f64::from_le_bytes(bytes.try_into().unwrap()).into(),
            Self::Text => bytes.into(),
        }
    }

    pub fn range(self, a: u8, b: u8) -> (Vec<u8>, Vec<u8>, DimRange) {
        let (a, b) = (self.coordinate(a), self.coordinate(b));
        let range = |a: &Vec<u8>, b: &Vec<u8>| match self {
            Self::Text => DimRange::strings(a.clone(), b.clone()),
            kind => {
                let physical = kind.dimension("", 1).physical();
                let scalar = |bytes: &[u8]| Scalar::from_le_bytes(physical, bytes).unwrap();
                DimRange::between(scalar(a), scalar(b)).unwrap_or(DimRange::Fixed { lo: 1, hi: 0 })
            }
        };
        let forward = range(&a, &b);
        if forward.is_empty() {
            let backward = range(&b, &a);
            (b, a, backward)
        } else {
            (a, b, forward)
        }
    }
}

#[derive(Clone, Debug)]
pub struct Case {
    pub kinds: Vec<Kind>,
    pub schema: ArraySchema,
    pub fragments: Vec<Fragment>,
    pub wanted: Wanted,
    pub ranges: Vec<Vec<(Vec<u8>, Vec<u8>)>>,
    pub budget: usize,
    pub threads: usize,
}

pub fn schemas() -> impl Strategy<Value = (Vec<Kind>, ArraySchema)> {
    let kinds = select(vec![
        vec![Kind::Int32],
        vec![Kind::Text],
        vec![Kind::Float64],
        vec![Kind::Int32, Kind::Int32],
        vec![Kind::UInt8, Kind::Int64],
        vec![Kind::Int64, Kind::Float64],
        vec![Kind::Text, Kind::Int32],
        vec![Kind::Int32, Kind::Text],
        vec![Kind::Wide, Kind::Wide, Kind::Int32],
        vec![Kind::Wide, Kind::Wide],
        vec![Kind::Float64, Kind::Float64],
        vec![Kind::UInt8, Kind::UInt8, Kind::UInt8],
    ]);
    let orders = select(vec![Layout::RowMajor, Layout::ColMajor, Layout::Hilbert]);
    let tile_orders = select(vec![Layout::RowMajor, Layout::ColMajor]);
    let extents = prop::collection::vec(prop_oneof![Just(1_u8), Just(8), 1..8_u8], 3);
    (kinds, orders, tile_orders, 1..12_u64, any::<bool>(), extents, any::<bool>()).prop_map(
        |(kinds, cell_order, tile_order, capacity, duplicates, extents, filtered)| {
            let mut builder = SchemaBuilder::sparse()
                .cell_order(cell_order)
                .tile_order(tile_order)
                .capacity(capacity)
                .allows_duplicates(duplicates)
                .attribute(Attribute::new("fixed", Datatype::Int32))
                .attribute(
                    Attribute::new("three", Datatype::UInt8).with_cell_val_num(CellValNum::from_code(3).unwrap()),
                )
                .attribute(
                    Attribute::new("text", Datatype::StringAscii).with_cell_val_num(CellValNum::Var).nullable(false),
                )
                .attribute(Attribute::new("list", Datatype::Int16).with_cell_val_num(CellValNum::Var));
            if !filtered {
                let none = FilterPipeline { filters: Vec::new(), ..FilterPipeline::default_coords() };
                builder = builder.coords_filters(none.clone()).offsets_filters(none);
            }
            for (index, (kind, extent)) in kinds.iter().zip(&extents).enumerate() {
                builder = builder.dimension(kind.dimension(&format!("d{index}"), *extent));
            }
            (kinds, builder.build().unwrap())
        },
    )
}

/// Cells derived from numbers: coordinates, and values for attributes.
pub fn versions(kinds: Vec<Kind>) -> impl Strategy<Value = Vec<(Cell, u8)>> {
    let number = prop::collection::vec(any::<u8>(), kinds.len() + 2);
    prop::collection::vec(number, 1..80).prop_map(move |numbers| {
        let cell = |numbers: Vec<u8>| {
            let value = numbers[kinds.len()];
            let coordinates = kinds.iter().zip(&numbers).map(|(kind, number)| kind.coordinate(*number)).collect();
            let attributes = vec![
                Some(i32::from(value).to_le_bytes().to_vec()),
                Some(vec![value, 0, value]),
                (!value.is_multiple_of(5)).then(|| vec![b'x'; value as usize % 7]),
                Some([value; 8][..2 * (value as usize % 4)].to_vec()),
            ];
            (Cell { coordinates, attributes }, numbers[kinds.len() + 1])
        };
        numbers.into_iter().map(cell).collect()
    })
}

/// Versions of cells, a flag for consolidated fragments, time span, stored order, and a flag for
/// repeated cells.
pub type Numbers = (Vec<(Cell, u8)>, bool, u64, Stored, bool);

/// Half of the fragments are in global order.
pub fn stored() -> impl Strategy<Value = Stored> {
    let disordered = (0..3_u8, any::<u64>()).prop_map(|(kind, seed)| match kind {
        0 => Stored::GlobalTiles(seed >> 1),
        1 => Stored::Exchanged(seed >> 1),
        _ => Stored::Shuffled(seed >> 1),
    });
    prop_oneof![Just(Stored::Global), disordered]
}

/// Fragments at times 10, 20, …, some of them consolidated.
pub fn fragments(kinds: Vec<Kind>, duplicates: bool) -> impl Strategy<Value = Vec<Fragment>> {
    prop::collection::vec((versions(kinds), any::<bool>(), 0..4_u64, stored(), prop::bool::weighted(0.2)), 1..5)
        .prop_map(move |fragments| {
            let build = |(index, (versions, is_consolidated, length, stored, twice)): (usize, Numbers)| {
                let start = 10 * (index as u64 + 1);
                let end = if is_consolidated { start + length } else { start };
                let mut seen = BTreeSet::new();
                let versions = versions.into_iter().filter_map(|(cell, number)| {
                    let time = if is_consolidated { start + u64::from(number) % (length + 1) } else { start };
                    let deleted = match (is_consolidated, number % 4) {
                        (true, 0) => time + u64::from(number / 4 % 32),
                        _ => u64::MAX,
                    };
                    let fresh = seen.insert((cell.coordinates.clone(), time));
                    (duplicates || twice || fresh).then_some(Version { cell, time, deleted })
                });
                Fragment { start, end, versions: versions.collect(), is_consolidated, stored }
            };
            fragments.into_iter().enumerate().map(build).collect()
        })
}

pub fn cases() -> impl Strategy<Value = Case> {
    let schema_and_fragments = schemas().prop_flat_map(|(kinds, schema)| {
        let fragments = fragments(kinds.clone(), schema.allows_duplicates());
        (Just(kinds), Just(schema), fragments)
    });
    let orders = select(vec![Order::RowMajor, Order::ColMajor, Order::Global, Order::Unordered]);
    let numbers = prop::collection::vec(prop::collection::vec((any::<u8>(), any::<u8>()), 0..4), 3);
    let dimensions = subsequence(vec![0, 1, 2], 0..=3);
    let times = prop_oneof![Just((0, 100)), (0..50_u64, 0..60_u64), Just((0, u64::MAX))];
    let budgets = prop_oneof![Just(1_usize), 20..2000_usize, Just(1 << 20)];
    (schema_and_fragments, orders, numbers, dimensions, times, budgets, 1..9_usize).prop_map(
        |((kinds, schema, mut fragments), order, numbers, dimensions, (start, length), budget, threads)| {
            for fragment in &mut fragments {
                fragment.arrange(&schema);
            }
            let time = TimeRange { start, end: length.saturating_add(start) };
            let mut ranges = vec![Vec::new(); kinds.len()];
            for dimension in dimensions.into_iter().filter(|dimension| *dimension < kinds.len()) {
                let numbers = numbers[dimension].iter();
                let own: &mut Vec<_> = &mut ranges[dimension];
                own.extend(numbers.map(|(a, b)| kinds[dimension].range(*a, *b)));
                // Sometimes repeat a range.
                own.extend(own.first().cloned().filter(|_| start % 3 == 0));
                let union = |own: &[(_, _, DimRange)]| {
                    DimRange::union_of(&own.iter().map(|(.., range)| range.clone()).collect::<Vec<_>>())
                };
                while order == Order::Global && union(own).len() > 1 {
                    own.pop();
                }
            }
            let wanted = ranges.iter().map(|ranges| ranges.iter().map(|(_, _, range)| range.clone()).collect());
            let wanted = Wanted { order, ranges: wanted.collect(), time };
            let ranges = ranges.into_iter().map(|ranges| ranges.into_iter().map(|(a, b, _)| (a, b)).collect());
            Case { ranges: ranges.collect(), kinds, schema, fragments, wanted, budget, threads }
        },
    )
}

impl Case {
    /// Opens the array at the requested time.
    pub fn array(&self) -> Array {
        self.options().open_on(self.storage()).unwrap()
    }

    pub fn options(&self) -> ArrayOptions {
        ArrayOptions::new().threads(self.threads).between(self.wanted.time)
    }

    /// Writes the array.
    pub fn storage(&self) -> Arc<MemoryStorage> {
        let columns: Vec<_> = self.fragments.iter().map(|fragment| fragment.to_columns(&self.schema)).collect();
        write_array(&self.schema, &columns)
    }

    /// Builds the query.
    pub fn query(&self, array: &Array) -> Query {
        let mut query = array.read().order(self.wanted.order).budget(self.budget);
        for (index, (ranges, kind)) in self.ranges.iter().zip(&self.kinds).enumerate() {
            for (start, end) in ranges {
                query = query.range(&format!("d{index}"), kind.query(start)..=kind.query(end)).unwrap();
            }
        }
        query
    }

    /// Returns the cells of the model.
    pub fn expected(&self) -> Vec<Cell> {
        let mut expected = model::read(&self.schema, &self.fragments, &self.wanted);
        expected.sort();
        expected
    }

    /// Compares batches with the model.
    pub fn check(&self, batches: &[Batch]) -> Result<(), TestCaseError> {
        let mut found = Vec::new();
        for batch in batches {
            prop_assert!(!batch.is_empty());
            prop_assert!(self.budget > 1 || batch.len() == 1);
            found.extend(model::cells(&self.schema, batch));
        }
        for pair in found.windows(2) {
            let ordering = model::compare(&self.schema, self.wanted.order, &pair[0], &pair[1]);
            prop_assert!(ordering.is_le(), "{:?} before {:?}", pair[0], pair[1]);
        }
        found.sort();
        prop_assert_eq!(found, self.expected());
        Ok(())
    }
}
