//! Random fragments of any version, with consistent schema, header and contents.
#![allow(dead_code, clippy::unwrap_used)] // each test uses a part, and may panic

use proptest::prelude::*;
use tdb_fragment::{
    FieldContents, FieldTotals, FooterHeader, FragmentContents, FragmentField, FragmentFolder, FragmentStatistics,
    GlobalOrderBounds, LEGACY_SCHEMA_NAME, OptionalSection, ProcessedConditions, TileOffsets, TileStatistics,
    TileValues, TileVarSizes,
};
use tdb_rtree::{DimRange, DimensionKind, NdRange, RTree};
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_testkit::hostile::SplitMix64;
use tdb_types::{CellValNum, Datatype, Feature, FormatVersion, PhysicalType, Scalar};

/// A random fragment.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) schema: ArraySchema,
    pub(crate) header: FooterHeader,
    pub(crate) contents: FragmentContents,
}

impl Made {
    pub(crate) fn folder(&self) -> FragmentFolder {
        FragmentFolder { version: self.header.version, has_coordinates: !self.header.dense }
    }
}

/// A strategy for fragments of any version.
pub(crate) fn any_fragment() -> impl Strategy<Value = Made> {
    (1..=23u32, any::<bool>(), 1..4usize, 1..4usize, 0..25u64, any::<u64>()).prop_map(
        |(version, dense, attributes, dimensions, tiles, seed)| {
            make(FormatVersion::new(version).unwrap(), dense, attributes, dimensions, tiles, seed)
        },
    )
}

/// Creates a fragment with these properties. The seed determines everything else.
pub(crate) fn make(
    version: FormatVersion,
    dense: bool,
    attributes: usize,
    dimensions: usize,
    tiles: u64,
    seed: u64,
) -> Made {
    let mut rng = SplitMix64::new(seed);
    let schema = schema(version, dense, attributes, dimensions, &mut rng);
    Maker { version, dense, tiles, schema, rng }.make()
}

/// Creates a fragment of a given schema.
pub(crate) fn make_of(schema: ArraySchema, version: FormatVersion, tiles: u64, seed: u64) -> Made {
    Maker { version, dense: schema.is_dense(), tiles, schema, rng: SplitMix64::new(seed) }.make()
}

fn schema(
    version: FormatVersion,
    dense: bool,
    attributes: usize,
    dimensions: usize,
    rng: &mut SplitMix64,
) -> ArraySchema {
    let mut builder = if dense { SchemaBuilder::dense() } else { SchemaBuilder::sparse() };
    builder = builder.version(version).capacity(10);
    // Combined coordinates and dense arrays need dimensions of the same datatype.
    let shared = rng.below(3);
    for index in 0..dimensions {
        let name = format!("d{index}");
        let uniform = dense || version.has(Feature::CombinedCoordinates);
        let dimension = match if uniform { shared } else { rng.below(4) } {
            0 => Dimension::new(name, -10i32..=30).with_tile(4),
            2 if !dense => Dimension::new(name, -1.0f64..=1.0).with_tile(0.5),
            3 => Dimension::string(name),
            _ => Dimension::new(name, 5u64..=50).with_tile(7),
        };
        builder = builder.dimension(dimension);
    }
    for index in 0..attributes {
        let name = format!("a{index}");
        let attribute = match rng.below(4) {
            0 => Attribute::new(name, Datatype::Int32),
            1 => Attribute::new(name, Datatype::Char).with_cell_val_num(CellValNum::Var),
            2 => Attribute::new(name, Datatype::Char).with_cell_val_num(CellValNum::from_code(3).unwrap()),
            _ => Attribute::new(name, Datatype::Float64),
        };
        let nullable = version.has(Feature::Validity) && rng.below(2) == 0;
        builder = builder.attribute(if nullable { attribute.nullable(false) } else { attribute });
    }
    builder.build().unwrap()
}

struct Maker {
    version: FormatVersion,
    dense: bool,
    tiles: u64,
    schema: ArraySchema,
    rng: SplitMix64,
}

impl Maker {
    fn make(mut self) -> Made {
        let kinds = self.schema.domain().kinds();
        let mbrs: Vec<NdRange> = if self.dense {
            Vec::new()
        } else {
            (0..self.tiles).map(|_| NdRange(kinds.iter().map(|kind| self.range(*kind)).collect())).collect()
        };
        let domain = if self.dense { Some(self.dense_domain()) } else { union(&mbrs) };
        let fixed = kinds.iter().all(|kind| !kind.var);
        // A fragment without cells has no domain. With variable-size dimensions, the domain cannot
        // be omitted.
        let domain = domain.or_else(|| {
            let range = NdRange(kinds.iter().map(|kind| self.range(*kind)).collect());
            (!fixed).then_some(range)
        });
        let schema_name = if self.has(Feature::SchemaFolder) { "__1_1_0" } else { LEGACY_SCHEMA_NAME };
        let mut header = FooterHeader::new(self.version, schema_name, self.dense);
        header.non_empty_domain = domain;
        header.sparse_tile_count = mbrs.len() as u64;
        header.last_tile_cells = 1 + self.rng.below(10) as u64;
        header.has_timestamps = self.has(Feature::CellTimestamps) && self.flip();
        header.has_delete_metadata = self.has(Feature::DeleteMetadata) && self.flip();
        if self.dense {
            self.tiles = grid_tiles(&self.schema, header.non_empty_domain.as_ref().unwrap());
        }
        let slots = header.slots(&self.schema);
        let mut contents = FragmentContents::new(RTree::build(&kinds, &mbrs, RTree::FANOUT).unwrap(), slots.len());
        contents.fields =
            slots.iter().enumerate().map(|(slot, field)| self.field(field, slot < slots.var_len())).collect();
        self.extras(&mut contents, slots.len(), &kinds);
        Made { schema: self.schema, header, contents }
    }

    fn has(&self, feature: Feature) -> bool {
        self.version.has(feature)
    }

    fn flip(&mut self) -> bool {
        self.rng.below(2) == 0
    }

    fn extras(&mut self, contents: &mut FragmentContents, fields: usize, kinds: &[DimensionKind]) {
        if self.has(Feature::FragmentStatistics) {
            let totals = (0..fields).map(|_| FieldTotals {
                min: self.bytes(8),
                max: self.bytes(8),
                sum: self.rng.next(),
                null_count: self.rng.below(100) as u64,
            });
            contents.fragment_statistics = FragmentStatistics(totals.collect());
        }
        if self.has(Feature::ProcessedConditionsTile) {
            let count = self.rng.below(3);
            let conditions = (0..count).map(|index| format!("__commits/__{index}_{index}_0_22.del"));
            contents.processed_conditions = ProcessedConditions(conditions.collect());
        }
        if self.has(Feature::GlobalOrderBounds) && !self.dense && self.tiles > 0 && self.flip() {
            let bounds = kinds.iter().map(|kind| {
                let size = (!kind.var).then(|| kind.datatype.size());
                GlobalOrderBounds { mins: self.values(size), maxs: self.values(size) }
            });
            contents.global_order_bounds = bounds.collect();
        }
        if self.has(Feature::FooterSections) {
            let count = self.rng.below(3);
            let sections =
                (0..count).map(|_| OptionalSection::Unknown { id: 1 + self.rng.next() / 2, data: self.bytes(20) });
            contents.unknown_sections = sections.collect();
        }
        if self.has(Feature::LegacyFragmentMetadata) {
            let size: usize = kinds.iter().map(|kind| 2 * kind.datatype.size()).sum();
            let ranges = if self.dense { 0 } else { usize::try_from(self.tiles).unwrap() };
            contents.bounding_coordinates = (0..ranges * size).map(|_| self.byte()).collect();
        }
    }

    fn field(&mut self, field: FragmentField, var_lists: bool) -> FieldContents {
        let (size, nullable) = match field {
            FragmentField::Attribute(index) => {
                let attribute = &self.schema.attributes()[index];
                (attribute.cell_size(), attribute.is_nullable())
            }
            FragmentField::Dimension(index) => {
                let dimension = &self.schema.domain().dimensions()[index];
                ((!dimension.is_var()).then(|| dimension.datatype().size() as u64), false)
            }
            _ => (Some(8), false),
        };
        let size = size.map(|size| usize::try_from(size).unwrap());
        let mut contents = FieldContents { tile_offsets: self.offsets(), ..FieldContents::default() };
        if var_lists {
            contents.tile_var_offsets = self.offsets();
            contents.tile_var_sizes = TileVarSizes((0..self.tiles).map(|_| self.rng.next() >> 40).collect());
        }
        if self.has(Feature::Validity) {
            contents.tile_validity_offsets = self.offsets();
        }
        if self.has(Feature::TileStatistics) && self.tiles > 0 {
            contents.statistics = TileStatistics {
                mins: self.values(size),
                maxs: self.values(size),
                sums: if self.flip() { (0..self.tiles).map(|_| self.rng.next()).collect() } else { Vec::new() },
                null_counts: if nullable {
                    (0..self.tiles).map(|_| self.rng.below(10) as u64).collect()
                } else {
                    Vec::new()
                },
            };
        }
        contents
    }

    fn offsets(&mut self) -> TileOffsets {
        let mut offset = 0;
        let starts: Vec<u64> = (0..self.tiles)
            .map(|_| {
                let start = offset;
                offset += self.rng.below(1000) as u64;
                start
            })
            .collect();
        TileOffsets::new(starts, if self.tiles == 0 { 0 } else { offset }).unwrap()
    }

    fn values(&mut self, size: Option<usize>) -> TileValues {
        let tiles = usize::try_from(self.tiles).unwrap();
        match size {
            _ if self.rng.below(4) == 0 => TileValues::Absent,
            Some(size) => TileValues::Fixed { size, bytes: (0..size * tiles).map(|_| self.byte()).collect() },
            None => {
                let mut bytes = Vec::new();
                let offsets = (0..tiles)
                    .map(|_| {
                        let start = bytes.len() as u64;
                        bytes.extend(self.bytes(5));
                        start
                    })
                    .collect();
                TileValues::Var { offsets, bytes }
            }
        }
    }

    fn byte(&mut self) -> u8 {
        (self.rng.next() >> 56) as u8
    }

    fn bytes(&mut self, below: usize) -> Vec<u8> {
        let len = self.rng.below(below);
        (0..len).map(|_| self.byte()).collect()
    }

    fn range(&mut self, kind: DimensionKind) -> DimRange {
        if kind.var {
            let mut ends = [self.bytes(6), self.bytes(6)];
            ends.sort();
            let [lo, hi] = ends;
            return DimRange::strings(lo, hi);
        }
        let mut key = || match kind.datatype.physical() {
            PhysicalType::I32 => Scalar::I32(self.rng.below(41) as i32 - 10).key(),
            PhysicalType::I64 => Scalar::I64(self.rng.below(7) as i64).key(),
            PhysicalType::F64 => Scalar::F64(self.rng.below(2000) as f64 / 1000.0 - 1.0).key(),
            _ => Scalar::U64(5 + self.rng.below(46) as u64).key(),
        };
        let (a, b) = (key(), key());
        DimRange::Fixed { lo: a.min(b), hi: a.max(b) }
    }

    fn dense_domain(&mut self) -> NdRange {
        let kinds = self.schema.domain().kinds();
        NdRange(kinds.iter().map(|kind| self.range(*kind)).collect())
    }
}

fn union(ranges: &[NdRange]) -> Option<NdRange> {
    let (first, rest) = ranges.split_first()?;
    let mut union = first.clone();
    rest.iter().for_each(|range| union.expand(range));
    Some(union)
}

/// Counts the tiles one by one.
pub(crate) fn grid_tiles(schema: &ArraySchema, domain: &NdRange) -> u64 {
    let along = |(dimension, range): (&Dimension, &DimRange)| {
        let DimRange::Fixed { lo, hi } = *range else { panic!("dense arrays have no strings") };
        let mut tiles: Vec<u64> = (lo..=hi).map(|key| dimension.tile_index(key)).collect();
        tiles.dedup();
        tiles.len() as u64
    };
    schema.domain().dimensions().iter().zip(&domain.0).map(along).product()
}
