//! Dense and sparse arrays whose domain ends with the datatype, so that the last tile may extend
//! beyond it. Compares random writes with random reads.

use crate::arrays::{create, values};
use crate::support;

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use tdb_array::{
    Array, ArrayError, ArrayOptions, CellsError, Coordinate, CreateOptions, Order, Query, Write, WriteBatch,
    WriteColumn,
};
use tdb_filters::FilterPipeline;
use tdb_rtree::{DimRange, NdRange};
use tdb_schema::{ArrayDefinition, ArraySchema, Attribute, Dimension, DimensionLabel, SchemaBuilder};
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::fixtures;
use tdb_types::{ByteReader, ByteWriter, CellValNum, DataOrder, Datatype, FormatVersion, Layout, Scalar};

const TYPES: [Datatype; 6] =
    [Datatype::Int8, Datatype::UInt8, Datatype::Int16, Datatype::UInt16, Datatype::Int32, Datatype::UInt32];

/// A dimension: ordered keys of its ends, and cells per tile.
#[derive(Clone, Copy, Debug)]
struct Axis {
    low: u64,
    high: u64,
    extent: u64,
}

type Ranges = Vec<(u64, u64)>;

/// An array, the boxes to write in sequence, and the queries.
#[derive(Clone, Debug)]
struct Case {
    dense: bool,
    datatype: Datatype,
    axes: Vec<Axis>,
    orders: [Layout; 2],
    version: FormatVersion,
    boxes: Vec<(Ranges, bool)>,
    questions: Vec<(Ranges, Order, usize, usize)>,
}

fn greatest(datatype: Datatype) -> u64 {
    u64::MAX >> (64 - 8 * datatype.size())
}

/// Domains that end with the datatype. Some of them also begin with it, except for one coordinate.
fn any_axis(datatype: Datatype, most: u64) -> impl Strategy<Value = Axis> {
    let greatest = greatest(datatype);
    let whole = if most > 200 && greatest == 255 { 3 } else { 0 };
    let size = prop_oneof![7 => 1..=most.min(20), whole => Just(255u64)];
    // If the extent is below half of the type, the sign varies too.
    size.prop_flat_map(move |size| (Just(size), 1..=size.min(greatest / 2), any::<bool>())).prop_map(
        move |(size, extent, is_top)| {
            let low = if is_top { greatest - size + 1 } else { 0 };
            Axis { low, high: low + size - 1, extent }
        },
    )
}

fn any_ranges(axes: &[Axis]) -> impl Strategy<Value = Ranges> + use<> {
    let along = |axis: &Axis| {
        let (low, high) = (axis.low, axis.high);
        prop_oneof![
            2 => (low..=high).prop_flat_map(move |first| (Just(first), first..=high)),
            1 => (low..=high).prop_map(move |first| (first, high)),
        ]
    };
    axes.iter().map(along).collect::<Vec<_>>()
}

fn any_layout() -> impl Strategy<Value = Layout> {
    prop_oneof![Just(Layout::RowMajor), Just(Layout::ColMajor)]
}

fn any_case() -> impl Strategy<Value = Case> {
    let shape = (any::<bool>(), prop::sample::select(&TYPES[..]), 1usize..4);
    let axes = shape.prop_flat_map(|(dense, datatype, count)| {
        let most = [300, 12, 6][count - 1];
        (Just(dense), Just(datatype), prop::collection::vec(any_axis(datatype, most), count))
    });
    axes.prop_flat_map(|(dense, datatype, axes)| {
        let order = prop::sample::select(&[Order::RowMajor, Order::ColMajor, Order::Global, Order::Unordered][..]);
        let question = (any_ranges(&axes), order, prop_oneof![Just(1usize), 30usize..600, Just(64 << 20)], 1usize..3);
        let history =
            (prop::collection::vec((any_ranges(&axes), any::<bool>()), 0..5), prop::collection::vec(question, 1..5));
        (Just((dense, datatype, axes)), [any_layout(), any_layout()], 1..=23u32, history)
    })
    .prop_map(|((dense, datatype, axes), orders, version, (boxes, questions))| {
        let version = FormatVersion::new(version).unwrap();
        Case { dense, datatype, axes, orders, version, boxes, questions }
    })
}

impl Case {
    fn name(index: usize) -> String {
        format!("d{index}")
    }

    fn schema(&self) -> ArraySchema {
        let builder = if self.dense { SchemaBuilder::dense() } else { SchemaBuilder::sparse().capacity(7) };
        let mut builder = builder.version(self.version).tile_order(self.orders[0]).cell_order(self.orders[1]);
        for (index, axis) in self.axes.iter().enumerate() {
            let scalar = |key| Scalar::from_key(self.datatype.physical(), key);
            let extent =
                Scalar::from_le_bytes(self.datatype.physical(), &axis.extent.to_le_bytes()[..self.datatype.size()]);
            let dimension =
                Dimension::new(Self::name(index), scalar(axis.low)..=scalar(axis.high)).with_datatype(self.datatype);
            builder = builder.dimension(dimension.with_tile(extent.unwrap()));
        }
        let text = Attribute::new("s", Datatype::StringAscii).with_cell_val_num(CellValNum::Var);
        builder.attribute(Attribute::new("a", Datatype::Int32)).attribute(text).build().unwrap()
    }

    fn coordinate(&self, key: u64) -> Coordinate {
        Scalar::from_key(self.datatype.physical(), key).into()
    }

    fn sorted(&self, mut cells: Vec<Vec<u64>>, order: Order) -> Vec<Vec<u64>> {
        let in_order = |mut place: Vec<u64>, is_col: bool| {
            if is_col {
                place.reverse();
            }
            place
        };
        cells.sort_by_cached_key(|cell| match order {
            Order::Global => {
                let tiles = cell.iter().zip(&self.axes).map(|(key, axis)| (key - axis.low) / axis.extent).collect();
                let is_col = self.orders.map(|order| order == Layout::ColMajor);
                (in_order(tiles, is_col[0]), in_order(cell.clone(), is_col[1]))
            }
            _ => (Vec::new(), in_order(cell.clone(), order == Order::ColMajor)),
        });
        cells
    }

    /// Writes all boxes. Returns the resulting cells.
    fn write(&self, array: &Array) -> BTreeMap<Vec<u64>, i32> {
        let mut written = BTreeMap::new();
        for (number, (ranges, is_col)) in (1..).zip(&self.boxes) {
            let order = if *is_col { Order::ColMajor } else { Order::RowMajor };
            let cells = self.sorted(coordinates(ranges), order);
            let numbers: Vec<i32> = (0..).take(cells.len()).map(|cell| number * 1000 + cell).collect();
            let texts = WriteColumn::strings(numbers.iter().map(text));
            let mut columns = WriteBatch::new().with("a", &numbers).with("s", texts);
            let mut write = array.write();
            if self.dense {
                for (index, (first, last)) in ranges.iter().enumerate() {
                    let range = self.coordinate(*first)..=self.coordinate(*last);
                    write = write.range(&Self::name(index), range).unwrap();
                }
                write = write.order(order);
            } else {
                let dimensions = 0..self.axes.len();
                columns = dimensions
                    .fold(columns, |columns, index| columns.with(Self::name(index), self.column(&cells, index)));
            }
            write.cells(columns).unwrap();
            written.extend(cells.into_iter().zip(numbers));
        }
        written
    }

    fn column(&self, cells: &[Vec<u64>], dimension: usize) -> WriteColumn<'static> {
        let values = cells.iter().map(|cell| tdb_types::from_ordered_key(self.datatype.physical(), cell[dimension]));
        WriteColumn::owned(values.flat_map(|value| value.to_vec()).collect(), None, None)
    }

    /// Returns the cells read, with coordinates.
    fn read(&self, array: &Array, ranges: &Ranges, order: Order, budget: usize) -> Vec<(Vec<u64>, i32, Vec<u8>)> {
        let mut query = array.read();
        for (index, (first, last)) in ranges.iter().enumerate() {
            let range = self.coordinate(*first)..=self.coordinate(*last);
            query = query.range(&Self::name(index), range).unwrap();
        }
        let query = query.order(order).budget(budget);
        query.plan().unwrap().to_string();
        let names: Vec<String> = (0..self.axes.len()).map(Self::name).collect();
        let fields = names.iter().map(String::as_str).chain(["a", "s"]);
        self.rows(query.select(fields.collect::<Vec<_>>()).unwrap(), &names)
    }

    fn rows(&self, query: Query, names: &[String]) -> Vec<(Vec<u64>, i32, Vec<u8>)> {
        let mut rows = Vec::new();
        for batch in query.batches().unwrap() {
            let batch = batch.unwrap();
            let numbers: &[i32] = batch.column("a").unwrap().values().unwrap();
            for (cell, number) in numbers.iter().enumerate() {
                let key = |name: &String| {
                    let bytes = batch.column(name).unwrap().cell(cell).unwrap();
                    tdb_types::ordered_key(self.datatype.physical(), bytes)
                };
                let text = batch.column("s").unwrap().cell(cell).unwrap().to_vec();
                rows.push((names.iter().map(key).collect(), *number, text));
            }
        }
        rows
    }
}

fn text(number: &i32) -> String {
    format!("{number:x}")
}

fn coordinates(ranges: &Ranges) -> Vec<Vec<u64>> {
    ranges.iter().fold(vec![Vec::new()], |cells, (first, last)| {
        let longer = |cell: Vec<u64>| (*first..=*last).map(move |key| [&cell[..], &[key]].concat());
        cells.into_iter().flat_map(longer).collect()
    })
}

fn open(storage: &Arc<dyn Storage>, threads: usize) -> Array {
    ArrayOptions::new().threads(threads).open_on(Arc::clone(storage)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// In every format version, order and memory limit, up to the last cell of the last tile.
    #[test]
    fn what_is_written_at_the_end_of_a_datatype_comes_back(case in any_case()) {
        let storage = create(case.schema());
        let written = case.write(&open(&storage, 1));
        for (ranges, order, budget, threads) in &case.questions {
            let fill = (i32::MIN, case.schema().attributes()[1].fill_value().into_owned());
            let cell = |at: Vec<u64>| match written.get(&at) {
                Some(number) => Some((at, *number, text(number).into_bytes())),
                None => case.dense.then(|| (at, fill.0, fill.1.clone())),
            };
            let mut expected: Vec<_> = case.sorted(coordinates(ranges), *order).into_iter().filter_map(cell).collect();
            let mut found = case.read(&open(&storage, *threads), ranges, *order, *budget);
            if *order == Order::Unordered {
                expected.sort();
                found.sort();
            }
            prop_assert_eq!(found, expected, "{:?} {:?}", ranges, order);
        }
        let array = open(&storage, 1);
        let domain = array.non_empty_domain().unwrap();
        let ends = |dimension: usize| {
            let lows = case.boxes.iter().map(|(ranges, _)| ranges[dimension].0);
            let highs = case.boxes.iter().map(|(ranges, _)| ranges[dimension].1);
            Some(DimRange::Fixed { lo: lows.min()?, hi: highs.max()? })
        };
        let expected: Option<Vec<_>> = (0..case.axes.len()).map(ends).collect();
        prop_assert_eq!(domain, expected.map(NdRange));
    }
}

fn line(low: i32, high: i32, extent: i32) -> SchemaBuilder {
    let dimension = Dimension::new("x", low..=high);
    let dimension = dimension.with_tile(extent);
    SchemaBuilder::dense().dimension(dimension).attribute(Attribute::new("a", Datatype::Int32))
}

fn numbers(query: Query) -> Vec<i32> {
    values(query, "a")
}

/// The layout of vector index arrays.
#[test]
fn domains_of_all_non_negative_integers() {
    let storage = create(line(0, i32::MAX, 250_000).build().unwrap());
    let array = open(&storage, 2);
    let (start, last) = (2_147_250_000, i32::MAX);
    array.write().range("x", last - 2..=last).unwrap().cells([("a", WriteColumn::values(&[1, 2, 3]))]).unwrap();
    array.write().range("x", start - 1..=start).unwrap().cells([("a", WriteColumn::values(&[8, 9]))]).unwrap();
    let array = open(&storage, 2);
    let fill = i32::MIN;
    assert_eq!(numbers(array.read().range("x", last - 4..).unwrap()), [fill, fill, 1, 2, 3]);
    assert_eq!(numbers(array.read().range("x", start - 2..=start + 1).unwrap()), [fill, 8, 9, fill]);
    let all = numbers(array.read().range("x", start - 1..).unwrap().order(Order::Global).budget(100_000));
    assert_eq!(all.len(), 1 + (last - start + 1) as usize);
    assert_eq!((&all[..2], &all[all.len() - 3..]), (&[8, 9][..], &[1, 2, 3][..]));
}

/// Global order consists of complete tiles, but the last tile has no end in the domain.
#[test]
fn streams_require_whole_tiles() {
    let storage = create(line(i32::MAX - 24, i32::MAX, 10).build().unwrap());
    let array = open(&storage, 1);
    let write = |first: i32, last: i32| -> Write { array.write().range("x", first..=last).unwrap() };
    let first = i32::MAX - 24;
    let mut stream = write(first, first + 19).global_order().unwrap();
    for cell in 0..20 {
        stream.push([("a", WriteColumn::values(&[cell]))]).unwrap();
    }
    stream.commit().unwrap();
    let ArrayError::Cells(CellsError::Range { dimension, why, .. }) =
        write(first, i32::MAX).global_order().unwrap_err()
    else {
        panic!()
    };
    assert_eq!((dimension.as_str(), why.as_str()), ("x", "global order requires whole tiles of 10 cells"));
    let read = numbers(open(&storage, 1).read());
    assert_eq!(read, (0..20).chain([i32::MIN; 5]).collect::<Vec<_>>());
}

/// A current domain within the last tile limits reads and writes.
#[test]
fn a_current_domain_in_the_last_tile() {
    let current = DimRange::between(Scalar::I32(i32::MAX - 3), Scalar::I32(i32::MAX - 1)).unwrap();
    let schema = line(i32::MAX - 24, i32::MAX, 10).current_domain(NdRange(vec![current])).build().unwrap();
    let storage = create(schema);
    open(&storage, 1).write().cells([("a", WriteColumn::values(&[1, 2, 3]))]).unwrap();
    assert_eq!(numbers(open(&storage, 1).read()), [1, 2, 3]);
}

/// Only early releases created 64-bit arrays of this kind. Such arrays can be opened and read.
#[test]
fn domains_of_64_bits_that_end_with_the_datatype() {
    let low = i64::MAX - 24;
    let dimension = Dimension::new("x", low..=i64::MAX - 5);
    let schema = SchemaBuilder::dense()
        .dimension(dimension.with_tile(10))
        .attribute(Attribute::new("a", Datatype::Int32))
        .build()
        .unwrap();
    let mut writer = ByteWriter::new();
    schema.write(&mut writer).unwrap();
    let mut bytes = writer.into_bytes();
    let at = bytes.windows(8).position(|window| window == low.to_le_bytes()).unwrap() + 8;
    bytes[at..at + 8].copy_from_slice(&i64::MAX.to_le_bytes());
    let schema = ArraySchema::parse(&mut ByteReader::new(&bytes)).unwrap();
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    support::create_array(&*storage, &schema);
    let array = open(&storage, 1);
    let cells: Vec<i32> = (0..8).collect();
    let write = array.write().range("x", i64::MAX - 7..=i64::MAX).unwrap();
    write.cells([("a", WriteColumn::values(&cells))]).unwrap();
    let array = open(&storage, 1);
    assert_eq!(numbers(array.read()), [i32::MIN; 17].into_iter().chain(0..8).collect::<Vec<_>>());
    for order in [Order::Global, Order::ColMajor] {
        let read = array.read().range("x", i64::MAX - 2..).unwrap().order(order).budget(4);
        assert_eq!(numbers(read), [5, 6, 7]);
    }
    assert_eq!(array.fragments().unwrap()[0].tile_count(), 2);
}

/// Release 2.30.0 crashes on these reads. Therefore the fixtures have no expected values for them.
#[test]
fn last_tiles_of_fixtures() {
    let open = |name: &str| ArrayOptions::new().open_on(fixtures::named(name).array_storage()).unwrap();
    let array = open("v22-by-2.30.0-dense-int8-beyond");
    let cells = |first: i8, last: i8| values::<i8>(array.read().range("x", first..=last).unwrap(), "a");
    assert_eq!(cells(114, 127), [-8, -9].into_iter().chain(50..62).collect::<Vec<_>>());
    assert_eq!(cells(125, 127), [59, 60, 61]);

    let array = open("v22-by-2.30.0-dense-int16-beyond");
    let read = || array.read().range("x", 32762i16..).unwrap();
    let fill = i32::MIN;
    let rows = |first: i32| [&[first][..], &[fill; 5]].concat();
    let row = |first: i32| (first..first + 6).collect::<Vec<_>>();
    assert_eq!(numbers(read()), [rows(15), row(1001), row(1008), row(1015), rows(79)].concat());
    let mut in_columns: Vec<i32> = vec![15, 1001, 1008, 1015, 79];
    in_columns.extend((1..6).flat_map(|x| [fill, 1001 + x, 1008 + x, 1015 + x, fill]));
    assert_eq!(numbers(read().order(Order::ColMajor).budget(1)), in_columns);

    for name in ["v22-by-2.30.0-dense-int32-beyond", "v10-by-2.4.3-dense-int32-beyond"] {
        let array = open(name);
        let read = array.read().range("x", i32::MAX - 9..).unwrap().order(Order::Global);
        assert_eq!(numbers(read), [131, 132, 133, 134, 135, 7, 8, 9, 139, fill], "{name}");
    }
    for name in ["v2-by-1.5.1-dense-int8-beyond", "v1-by-tdb-dense-int8-beyond"] {
        let read = open(name).read().range("x", 118i8..).unwrap();
        assert_eq!(numbers(read), [&[86, 87][..], &[fill; 8]].concat(), "{name}");
    }
}

/// Labels are in an array with the same domain and tiles.
#[test]
fn labels_of_the_last_tile() {
    let schema = line(i32::MAX - 24, i32::MAX, 10)
        .label(DimensionLabel::new(0, "l", DataOrder::Increasing, Datatype::Float64))
        .build()
        .unwrap();
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let extent = schema.dimensions()[0].tile_extent();
    let definition = ArrayDefinition::new(schema).unwrap().with_label("l", extent, FilterPipeline::default()).unwrap();
    CreateOptions::new().create_on(&storage, &definition).unwrap();
    let array = open(&storage, 1);
    let cells: Vec<i32> = (0..25).collect();
    array.write().cells([("a", &cells)]).unwrap();
    let label = array.label("l").unwrap();
    let attribute = label.array().schema().attributes()[0].name().to_owned();
    let labels: Vec<f64> = cells.iter().map(|cell| f64::from(*cell) / 2.0).collect();
    tdb_array::Write::new(label.array()).cells([(attribute.as_str(), &labels)]).unwrap();
    let array = open(&storage, 1);
    assert_eq!(numbers(array.read().label_range("l", 11.0..).unwrap()), [22, 23, 24]);
    assert_eq!(numbers(array.read().label_range("l", 9.5..=10.1).unwrap()), [19, 20]);
}
