//! Reads of random dense arrays. Every cell must come from the newest fragment.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::support::{Cells, NewFragment, all, create_array, write_fragment};
use proptest::prelude::*;
use tdb_array::{Array, ArrayOptions, Order, Query};
use tdb_filters::{Filter, FilterPipeline};
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_storage::MemoryStorage;
use tdb_types::{CellValNum, Datatype, Layout, Scalar};

/// The array, fragment by fragment, and the queries.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) schema: ArraySchema,
    fragments: Vec<NewFragment>,
    pub(crate) queries: Vec<Wanted>,
}

/// Ranges of keys for each dimension. Empty for the whole domain.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    ranges: Vec<Vec<(i64, i64)>>,
    order: Order,
    budget: usize,
    threads: usize,
}

pub(crate) const LOW: i64 = -4;

fn any_order() -> impl Strategy<Value = Layout> {
    prop_oneof![Just(Layout::RowMajor), Just(Layout::ColMajor)]
}

fn any_filters() -> impl Strategy<Value = FilterPipeline> {
    prop_oneof![
        2 => Just(vec![]),
        1 => Just(vec![Filter::Zstd { level: 1 }]),
        1 => Just(vec![Filter::Byteshuffle, Filter::Lz4 { level: 0 }]),
        1 => Just(vec![Filter::Md5]),
    ]
    .prop_map(FilterPipeline::new)
}

fn any_schema() -> impl Strategy<Value = ArraySchema> {
    let dimensions = prop::collection::vec((1i64..14, 1i64..8), 1..4);
    let filters = prop::collection::vec(any_filters(), 6);
    let string_filters = prop_oneof![any_filters(), Just(FilterPipeline::new(vec![Filter::Rle { level: -1 }]))];
    (dimensions, any_order(), any_order(), filters, string_filters).prop_map(
        |(dimensions, tile_order, cell_order, filters, string_filters)| {
            let mut schema = SchemaBuilder::dense().tile_order(tile_order).cell_order(cell_order);
            for (index, (len, extent)) in dimensions.into_iter().enumerate() {
                let (low, high) = (Scalar::I64(LOW), Scalar::I64(LOW + len - 1));
                let dimension = Dimension::new(format!("d{index}"), low..=high).with_datatype(Datatype::Int64);
                schema = schema.dimension(dimension.with_tile(extent.min(len)));
            }
            let attribute = |name: &str, datatype, number| Attribute::new(name, datatype).with_cell_val_num(number);
            let one = CellValNum::ONE;
            let three = CellValNum::from_code(3).unwrap();
            let mut filters = filters.into_iter();
            let mut next = || filters.next().unwrap();
            schema
                .attribute(attribute("i4", Datatype::Int32, one).with_filters(next()))
                .attribute(attribute("c3", Datatype::Char, three).with_filters(next()).with_fill_value(*b"xyz"))
                .attribute(attribute("n2", Datatype::UInt16, one).with_filters(next()).nullable(false))
                .attribute(
                    attribute("s", Datatype::StringAscii, CellValNum::Var)
                        .with_filters(string_filters)
                        .with_fill_value(*b"fill")
                        .nullable(true),
                )
                .attribute(attribute("v2", Datatype::Int16, CellValNum::Var).with_filters(next()))
                .offsets_filters(next())
                .validity_filters(next())
                .build()
                .unwrap()
        },
    )
}

/// Returns the bytes of a cell, derived from its position and fragment.
fn cell(attribute: &Attribute, seed: u64) -> Vec<u8> {
    let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7;
    let bytes: Vec<u8> = mixed.to_le_bytes().iter().cycle().take(32).copied().collect();
    match attribute.cell_size() {
        Some(size) => bytes[..size as usize].to_vec(),
        None => {
            let size = attribute.datatype().size();
            // ASCII strings, some of them empty.
            bytes[..(seed % 5) as usize * size].iter().map(|byte| byte & 0x7f).collect()
        }
    }
}

fn is_valid(attribute: &Attribute, seed: u64) -> bool {
    !attribute.is_nullable() || !seed.is_multiple_of(3)
}

fn seed(time: u64, place: usize) -> u64 {
    time * 1_000_003 + place as u64
}

fn fragment(schema: &ArraySchema, time: u64, bounds: &[(i64, i64)], chunk: Option<usize>) -> NewFragment {
    let count: i64 = bounds.iter().map(|(first, last)| last - first + 1).product();
    let attributes = schema.attributes().iter().map(|attribute| {
        let mut cells = Cells { offsets: attribute.is_var().then(|| vec![0]), ..Cells::default() };
        for place in 0..count as usize {
            cells.values.extend(cell(attribute, seed(time, place)));
            let end = cells.values.len() as u64;
            cells.offsets.iter_mut().for_each(|offsets| offsets.push(end));
        }
        let validity = || (0..count as usize).map(|place| u8::from(is_valid(attribute, seed(time, place)))).collect();
        cells.validity = attribute.is_nullable().then(validity);
        cells
    });
    let key = |value| Scalar::I64(value).key();
    let bounds = bounds.iter().map(|&(first, last)| (key(first), key(last))).collect();
    NewFragment { time, bounds, attributes: attributes.collect(), chunk }
}

fn any_bounds(schema: &ArraySchema) -> impl Strategy<Value = Vec<(i64, i64)>> + use<> {
    let lens: Vec<i64> = schema.dimensions().iter().map(len).collect();
    lens.into_iter().map(any_range).collect::<Vec<_>>()
}

fn any_range(len: i64) -> impl Strategy<Value = (i64, i64)> {
    (0..len).prop_flat_map(move |first| (Just(LOW + first), (first..len).prop_map(|last| LOW + last)))
}

pub(crate) fn len(dimension: &Dimension) -> i64 {
    let (low, high) = dimension.domain_keys().unwrap();
    (high - low + 1).cast_signed()
}

fn any_wanted(schema: &ArraySchema) -> impl Strategy<Value = Wanted> + use<> {
    let lens: Vec<i64> = schema.dimensions().iter().map(len).collect();
    let ranges =
        |most: usize| lens.iter().map(|&len| prop::collection::vec(any_range(len), 0..=most)).collect::<Vec<_>>();
    let several = (ranges(3), prop_oneof![Just(Order::RowMajor), Just(Order::ColMajor), Just(Order::Unordered)]);
    let single = (ranges(1), prop_oneof![Just(Order::Global), Just(Order::Unordered), Just(Order::RowMajor)]);
    let budget = prop_oneof![Just(1usize), 20usize..2000, Just(64 << 20)];
    (prop_oneof![several, single], budget, 1usize..3).prop_map(|((ranges, order), budget, threads)| Wanted {
        ranges,
        order,
        budget,
        threads,
    })
}

pub(crate) fn any_case() -> impl Strategy<Value = Case> {
    any_schema().prop_flat_map(|schema| {
        let chunk = prop_oneof![2 => Just(None), 1 => (1usize..20).prop_map(|chunk| Some(chunk * 8)), 1 => (3usize..50).prop_map(Some)];
        let fragments = prop::collection::vec((any_bounds(&schema), chunk), 0..5);
        let queries = prop::collection::vec(any_wanted(&schema), 1..5);
        (Just(schema), fragments, queries).prop_map(|(schema, fragments, queries)| {
            let fragments = fragments.iter().enumerate();
            let fragments =
                fragments.map(|(time, (bounds, chunk))| fragment(&schema, time as u64 + 1, bounds, *chunk)).collect();
            Case { schema, fragments, queries }
        })
    })
}

/// Returns the coordinates of the result in order, each once.
fn expected_cells(schema: &ArraySchema, wanted: &Wanted) -> Vec<Vec<i64>> {
    let axes: Vec<Vec<i64>> = schema
        .dimensions()
        .iter()
        .zip(&wanted.ranges)
        .map(|(dimension, ranges)| match ranges.is_empty() {
            true => (LOW..LOW + len(dimension)).collect(),
            false => {
                ranges.iter().flat_map(|(first, last)| *first..=*last).collect::<BTreeSet<_>>().into_iter().collect()
            }
        })
        .collect();
    let lens: Vec<_> = axes.iter().map(|axis| 0..axis.len() as u64).collect();
    let layout = if wanted.order == Order::ColMajor { Layout::ColMajor } else { Layout::RowMajor };
    let at = |at: &Vec<u64>| at.iter().zip(&axes).map(|(at, axis)| axis[*at as usize]).collect();
    let mut cells: Vec<Vec<i64>> = all(&lens, layout).iter().map(at).collect();
    if wanted.order == Order::Global {
        let in_order = |mut place: Vec<i64>, order: Layout| {
            if order == Layout::ColMajor {
                place.reverse();
            }
            place
        };
        cells.sort_by_key(|cell| {
            let dimensions = || cell.iter().zip(schema.dimensions());
            let extent = |dimension: &Dimension| dimension.extent_cells().unwrap().cast_signed();
            let tile = dimensions().map(|(cell, dimension)| (cell - LOW) / extent(dimension)).collect();
            (in_order(tile, schema.tile_order()), in_order(cell.clone(), schema.cell_order()))
        });
    }
    cells
}

/// The bytes of each attribute. `None` for null.
type Row = Vec<Option<Vec<u8>>>;

/// Returns the row of the newest fragment that has the cell.
fn expected_row(case: &Case, at: &[i64]) -> Row {
    let newest = case.fragments.iter().rev().find_map(|fragment| {
        let mut place = 0;
        for (at, &(lo, hi)) in at.iter().zip(&fragment.bounds) {
            let key = Scalar::I64(*at).key();
            if !(lo..=hi).contains(&key) {
                return None;
            }
            place = place * (hi - lo + 1) + (key - lo);
        }
        Some(seed(fragment.time, place as usize))
    });
    let value = |attribute: &Attribute| match newest {
        Some(seed) => is_valid(attribute, seed).then(|| cell(attribute, seed)),
        None => (!attribute.is_nullable() || attribute.fill_valid()).then(|| attribute.fill_value().into_owned()),
    };
    case.schema.attributes().iter().map(value).collect()
}

impl Case {
    pub(crate) fn open(&self, threads: usize) -> Array {
        let storage = Arc::new(MemoryStorage::new());
        create_array(&*storage, &self.schema);
        self.fragments.iter().for_each(|fragment| write_fragment(&*storage, &self.schema, fragment));
        ArrayOptions::new().threads(threads).open_on(storage).unwrap()
    }
}

impl Wanted {
    pub(crate) fn query(&self, array: &Array) -> Query {
        let mut query = array.read().order(self.order).budget(self.budget);
        for (dimension, ranges) in array.schema().dimensions().iter().zip(&self.ranges) {
            query = query.ranges(dimension.name(), ranges.iter().map(|&(first, last)| first..=last)).unwrap();
        }
        query
    }
}

fn read(case: &Case, wanted: &Wanted) -> Vec<(Vec<i64>, Row)> {
    let array = case.open(wanted.threads);
    let dimensions: Vec<&str> = case.schema.dimensions().iter().map(Dimension::name).collect();
    let attributes: Vec<&str> = case.schema.attributes().iter().map(Attribute::name).collect();
    let query = wanted.query(&array).select([&attributes[..], &dimensions[..]].concat()).unwrap();
    let planned: HashMap<String, Vec<u64>> = query
        .plan()
        .unwrap()
        .fragments
        .into_iter()
        .map(|fragment| (fragment.folder, fragment.tiles.iter().map(|tile| tile.tile).collect()))
        .collect();
    check_plan(case, wanted, &array, &planned);
    let mut rows = Vec::new();
    for batch in query.batches().unwrap() {
        let batch = batch.unwrap();
        assert!(!batch.is_empty());
        let columns: Vec<_> = attributes.iter().map(|name| batch.column(name).unwrap()).collect();
        let coordinates: Vec<&[i64]> =
            dimensions.iter().map(|name| batch.column(name).unwrap().values().unwrap()).collect();
        rows.extend((0..batch.len()).map(|cell| {
            let at = coordinates.iter().map(|values| values[cell]).collect();
            (at, columns.iter().map(|column| column.cell(cell).map(<[u8]>::to_vec)).collect())
        }));
    }
    rows
}

/// Checks that a plan lists exactly the tiles that hold the newest version of a cell.
fn check_plan(case: &Case, wanted: &Wanted, array: &Array, planned: &HashMap<String, Vec<u64>>) {
    let mut expected: HashMap<String, Vec<u64>> = HashMap::new();
    for at in expected_cells(&case.schema, wanted) {
        let keys: Vec<u64> = at.iter().map(|at| Scalar::I64(*at).key()).collect();
        let has =
            |fragment: &&NewFragment| fragment.bounds.iter().zip(&keys).all(|((lo, hi), key)| lo <= key && key <= hi);
        let Some(newest) = case.fragments.iter().rev().find(has) else { continue };
        let fragment =
            array.fragments().unwrap().iter().find(|fragment| fragment.name().start() == newest.time).unwrap();
        let tdb_fragment::Tiles::Dense(grid) = fragment.footer().tiles() else { unreachable!() };
        let tile: Vec<u64> =
            case.schema.dimensions().iter().zip(&keys).map(|(dimension, key)| dimension.tile_index(*key)).collect();
        expected.entry(fragment.folder().to_owned()).or_default().push(grid.index_of(&tile).unwrap());
    }
    for tiles in expected.values_mut() {
        tiles.sort_unstable();
        tiles.dedup();
    }
    assert_eq!(*planned, expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_cell_is_the_newest_fragments(case in any_case()) {
        for wanted in &case.queries {
            let places = expected_cells(&case.schema, wanted);
            let mut expected: Vec<_> = places.into_iter().map(|at| (at.clone(), expected_row(&case, &at))).collect();
            let mut found = read(&case, wanted);
            if wanted.order == Order::Unordered {
                expected.sort();
                found.sort();
            }
            prop_assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                prop_assert_eq!(found, expected, "{:?}", wanted);
            }
        }
    }
}
