//! Cells written and read back.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use tdb_array::{
    Array, ArrayError, ArrayOptions, CellProblem, Duplicates, Names, NewCells, NewColumn, Order, Write, Written,
};
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_storage::{EntryKind, MemoryStorage, Storage};
use tdb_testkit::{Fault, FaultyStorage};
use tdb_types::{CellValNum, DataOrder, Datatype, Layout, Scalar};

fn array_on(storage: &Arc<MemoryStorage>, threads: usize) -> Array {
    ArrayOptions::new().threads(threads).open_on(Arc::clone(storage) as Arc<dyn Storage>).unwrap()
}

fn create(schema: &ArraySchema) -> Arc<MemoryStorage> {
    let storage = Arc::new(MemoryStorage::new());
    for folder in ["__schema", "__fragments", "__commits"] {
        storage.create_folder(folder).unwrap();
    }
    storage.create_new("__schema/__1_1_0123456789abcdef0123456789abcdef", &schema.to_file().unwrap()).unwrap();
    storage
}

/// All files, with their bytes.
fn files(storage: &MemoryStorage, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in storage.list(folder).unwrap() {
        let path = if folder.is_empty() { entry.name } else { format!("{folder}/{}", entry.name) };
        match entry.kind {
            EntryKind::Folder => all.extend(files(storage, &path)),
            EntryKind::File => drop(all.insert(path.clone(), storage.read(&path).unwrap())),
        }
    }
    all
}

/// The same names on every run.
fn names(time: u64) -> Names {
    Names::new().at(time).seeded(time)
}

fn sparse_schema(duplicates: bool, cell_order: Layout) -> ArraySchema {
    let x = Dimension::new("x", Datatype::Int32, Scalar::I32(-50), Scalar::I32(49)).with_tile_extent(Scalar::I32(20));
    SchemaBuilder::sparse()
        .dimension(x)
        .dimension(Dimension::string("s"))
        .attribute(Attribute::new("a", Datatype::Float64))
        .attribute(Attribute::new("t", Datatype::StringUtf8).with_cell_val_num(CellValNum::Var).nullable(false))
        .attribute(Attribute::new("p", Datatype::UInt16).with_cell_val_num(CellValNum::from_code(2).unwrap()))
        .cell_order(cell_order)
        .capacity(7)
        .allows_duplicates(duplicates)
        .build()
        .unwrap()
}

/// A cell of the sparse array.
type Row = (i32, String, f64, Option<String>, [u16; 2]);

fn columns(rows: &[Row]) -> NewCells<'static> {
    let bytes = |values: Vec<u8>| NewColumn::owned(values, None, None);
    NewCells::new()
        .with("x", bytes(rows.iter().flat_map(|row| row.0.to_le_bytes()).collect()))
        .with("s", NewColumn::strings(rows.iter().map(|row| &row.1)))
        .with("a", bytes(rows.iter().flat_map(|row| row.2.to_le_bytes()).collect()))
        .with("t", NewColumn::optional_strings(rows.iter().map(|row| row.3.as_ref())))
        .with("p", bytes(rows.iter().flat_map(|row| row.4).flat_map(u16::to_le_bytes).collect()))
}

fn rows_of(array: &Array) -> Vec<Row> {
    let mut rows = Vec::new();
    for batch in array.read().order(Order::Global).batches().unwrap() {
        let batch = batch.unwrap();
        let column = |name: &str| batch.column(name).unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        for cell in 0..batch.len() {
            rows.push((
                column("x").values::<i32>().unwrap()[cell],
                text(column("s").cell(cell).unwrap()),
                column("a").values::<f64>().unwrap()[cell],
                column("t").cell(cell).map(text),
                column("p").values::<u16>().unwrap().as_chunks().0[cell],
            ));
        }
    }
    rows
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (-50..50i32, "[a-c]{0,3}", -1e3..1e3f64, prop::option::of("[x-zü]{0,4}"), any::<[u16; 2]>());
    prop::collection::vec(row, 0..60)
}

fn unique(mut rows: Vec<Row>) -> Vec<Row> {
    let mut seen = std::collections::HashSet::new();
    rows.retain(|row| seen.insert((row.0, row.1.clone())));
    rows
}

fn layouts() -> impl Strategy<Value = Layout> {
    prop::sample::select(vec![Layout::RowMajor, Layout::ColMajor, Layout::Hilbert])
}

/// Writes the cells of a stream in batches of this size.
fn stream(write: Write, rows: &[Row], batch: usize) -> Result<Written, ArrayError> {
    let mut writer = write.global_order()?;
    for rows in rows.chunks(batch) {
        writer.push(columns(rows))?;
    }
    writer.commit()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Sorted by us, or streamed in order in batches of any size under any budget, by one thread or several: the same
    /// bytes, which hold the cells.
    #[test]
    fn sparse_cells_come_back(rows in rows(), order in layouts(), batch in 1..20usize, budget in 1..5000usize) {
        let rows = unique(rows);
        let schema = sparse_schema(false, order);
        let storage = create(&schema);
        let written = array_on(&storage, 1).write().names(names(5)).budget(budget).cells(columns(&rows)).unwrap();
        prop_assert_eq!(written.cells, rows.len() as u64);
        prop_assert_eq!(written.fragments.len(), usize::from(!rows.is_empty()));
        let in_order = rows_of(&array_on(&storage, 1));
        let sort = |mut rows: Vec<Row>| {
            rows.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
            rows
        };
        prop_assert_eq!(sort(in_order.clone()), sort(rows.clone()));

        let streamed = create(&schema);
        stream(array_on(&streamed, 2).write().names(names(5)).budget(budget), &in_order, batch).unwrap();
        prop_assert_eq!(files(&storage, ""), files(&streamed, ""));
        let again = create(&schema);
        array_on(&again, 2).write().names(names(5)).cells(columns(&rows)).unwrap();
        prop_assert_eq!(files(&storage, ""), files(&again, ""));
    }

    /// Fragments of a bounded size hold the same cells.
    #[test]
    fn sparse_streams_are_cut(rows in rows(), batch in 1..70usize, max in 1..4000u64) {
        let rows = unique(rows);
        let schema = sparse_schema(false, Layout::RowMajor);
        let whole = create(&schema);
        array_on(&whole, 1).write().cells(columns(&rows)).unwrap();
        let in_order = rows_of(&array_on(&whole, 1));
        let storage = create(&schema);
        let written = stream(array_on(&storage, 1).write().max_fragment_size(max), &in_order, batch).unwrap();
        let tiles = rows.len().div_ceil(7);
        prop_assert!(written.fragments.len() <= tiles && (max > 1 || written.fragments.len() == tiles));
        let array = array_on(&storage, 1);
        prop_assert_eq!(rows_of(&array), in_order);
        for fragment in array.fragments() {
            prop_assert!(fragment.tile_count() == 1 || fragment.bytes().unwrap() <= max + 8000);
        }
    }

    /// The last of several cells of equal coordinates stays, or all do.
    #[test]
    fn duplicates_are_treated_as_told(rows in rows(), batch in 1..20usize) {
        let mut last = BTreeMap::new();
        rows.iter().for_each(|row| drop(last.insert((row.0, row.1.clone()), row.clone())));
        let storage = create(&sparse_schema(false, Layout::RowMajor));
        let write = array_on(&storage, 1).write().duplicates(Duplicates::KeepLast);
        let written = write.cells(columns(&rows)).unwrap();
        prop_assert_eq!(written.cells, last.len() as u64);
        let kept = rows_of(&array_on(&storage, 1));
        prop_assert_eq!(kept.iter().cloned().map(|row| ((row.0, row.1.clone()), row)).collect::<BTreeMap<_, _>>(), last);

        let all = create(&sparse_schema(true, Layout::RowMajor));
        array_on(&all, 1).write().cells(columns(&rows)).unwrap();
        let in_order = rows_of(&array_on(&all, 1));
        prop_assert_eq!(in_order.len(), rows.len());
        let streamed = create(&sparse_schema(false, Layout::RowMajor));
        stream(array_on(&streamed, 1).write().duplicates(Duplicates::KeepLast), &in_order, batch).unwrap();
        prop_assert_eq!(rows_of(&array_on(&streamed, 1)), kept);
    }
}

fn dense_schema(tiles: Layout, cells: Layout) -> ArraySchema {
    let side = |name, high, extent| {
        Dimension::new(name, Datatype::Int64, Scalar::I64(-3), Scalar::I64(high)).with_tile_extent(Scalar::I64(extent))
    };
    SchemaBuilder::dense()
        .dimension(side("y", 8, 4))
        .dimension(side("x", 5, 3))
        .dimension(side("z", 2, 2))
        .attribute(Attribute::new("a", Datatype::Int32))
        .attribute(Attribute::new("s", Datatype::StringAscii).with_cell_val_num(CellValNum::Var).nullable(false))
        .tile_order(tiles)
        .cell_order(cells)
        .build()
        .unwrap()
}

/// A cell of the dense array.
type Cell = (i32, Option<String>);

/// The cells of a dense array by their coordinates.
type Grid = BTreeMap<[i64; 3], Cell>;

fn grid_of(array: &Array) -> Grid {
    let mut grid = Grid::new();
    for batch in array.read().select(["y", "x", "z", "a", "s"]).unwrap().batches().unwrap() {
        let batch = batch.unwrap();
        let [y, x, z] = ["y", "x", "z"].map(|name| batch.column(name).unwrap().values::<i64>().unwrap());
        let (a, s) = (batch.column("a").unwrap().values::<i32>().unwrap(), batch.column("s").unwrap());
        for (cell, value) in a.iter().enumerate() {
            let text = s.cell(cell).map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
            grid.insert([y[cell], x[cell], z[cell]], (*value, text));
        }
    }
    grid
}

/// The places of a box in an order, and cells for them.
fn box_cells(ranges: [(i64, i64); 3], col_major: bool, seed: i32) -> (Vec<[i64; 3]>, Vec<Cell>) {
    let [y, x, z] = ranges.map(|(low, high)| low..=high);
    let mut places = Vec::new();
    for y in y {
        x.clone().for_each(|x| places.extend(z.clone().map(|z| [y, x, z])));
    }
    if col_major {
        places.sort_by_key(|place| [place[2], place[1], place[0]]);
    }
    let cell = |number: usize| {
        let value = i32::try_from(number).unwrap().wrapping_mul(seed);
        (value, (value % 3 != 0).then(|| "word".repeat(usize::try_from(value.unsigned_abs() % 4).unwrap())))
    };
    let cells = (0..places.len()).map(cell).collect();
    (places, cells)
}

fn grid_columns(cells: &[Cell]) -> NewCells<'static> {
    let values = cells.iter().flat_map(|cell| cell.0.to_le_bytes()).collect();
    let strings = NewColumn::optional_strings(cells.iter().map(|cell| cell.1.as_ref()));
    NewCells::new().with("a", NewColumn::owned(values, None, None)).with("s", strings)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Boxes written over each other: each place has the cell that was written last.
    #[test]
    fn dense_boxes_come_back(
        tiles in prop::sample::select(vec![Layout::RowMajor, Layout::ColMajor]),
        cells in prop::sample::select(vec![Layout::RowMajor, Layout::ColMajor]),
        boxes in prop::collection::vec((((-3..=8i64), (-3..=8i64)), ((-3..=5i64), (-3..=5i64)), ((-3..=2i64), (-3..=2i64)), any::<bool>()), 1..4),
        budget in 1..3000usize,
    ) {
        let schema = dense_schema(tiles, cells);
        let storages = [create(&schema), create(&schema)];
        let mut expected = grid_of(&array_on(&storages[0], 1));
        for (number, (y, x, z, col_major)) in boxes.into_iter().enumerate() {
            let ranges = [y, x, z].map(|(a, b)| (a.min(b), a.max(b)));
            let (places, cells) = box_cells(ranges, col_major, i32::try_from(number + 7).unwrap());
            for (threads, storage) in storages.iter().enumerate() {
                let mut write = array_on(storage, threads + 1).write().names(names(10 + number as u64)).budget(budget);
                for (name, (low, high)) in ["y", "x", "z"].into_iter().zip(ranges) {
                    write = write.range(name, low..=high).unwrap();
                }
                let order = if col_major { Order::ColMajor } else { Order::RowMajor };
                write.order(order).cells(grid_columns(&cells)).unwrap();
            }
            expected.extend(places.into_iter().zip(cells));
        }
        prop_assert_eq!(grid_of(&array_on(&storages[0], 1)), expected);
        prop_assert_eq!(files(&storages[0], ""), files(&storages[1], ""));
    }

    /// In global order: the same bytes as in another order, and as many fragments as are asked for.
    #[test]
    fn dense_streams_come_back(
        tiles in prop::sample::select(vec![Layout::RowMajor, Layout::ColMajor]),
        batch in 1..500usize,
        budget in 1..20_000usize,
        max in prop::option::of(1..20_000u64),
    ) {
        let schema = dense_schema(tiles, Layout::RowMajor);
        let storage = create(&schema);
        let ranges = [(-3, 8), (-3, 5), (-3, 2)];
        let (places, cells) = box_cells(ranges, false, 11);
        array_on(&storage, 1).write().names(names(5)).cells(grid_columns(&cells)).unwrap();
        // What is stored, tile by tile.
        let tile = |place: &[i64; 3]| [(place[0] + 3) / 4, (place[1] + 3) / 3, (place[2] + 3) / 2];
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by_key(|cell| {
            let mut tile = tile(&places[*cell]);
            if tiles == Layout::ColMajor {
                tile.reverse();
            }
            (tile, places[*cell])
        });
        let in_order: Vec<_> = order.iter().map(|cell| cells[*cell].clone()).collect();
        let streamed = create(&schema);
        let mut write = array_on(&streamed, 2).write().names(names(5)).budget(budget);
        if let Some(max) = max {
            write = write.max_fragment_size(max);
        }
        let mut writer = write.global_order().unwrap();
        in_order.chunks(batch).for_each(|cells| writer.push(grid_columns(cells)).unwrap());
        let written = writer.commit().unwrap();
        if written.fragments.len() == 1 {
            prop_assert_eq!(files(&storage, ""), files(&streamed, ""));
        }
        prop_assert!(max != Some(1) || written.fragments.len() == 3);
        prop_assert_eq!(grid_of(&array_on(&streamed, 1)), grid_of(&array_on(&storage, 1)));
    }
}

fn some_rows() -> Vec<Row> {
    let row = |x, s: &str| (x, s.to_owned(), 0.5, None, [1, 2]);
    vec![row(1, "a"), row(-3, "b"), row(7, "a"), row(49, "")]
}

/// Refused, naming the cell, and without a trace.
#[test]
fn bad_cells_are_refused() {
    let storage = create(&sparse_schema(false, Layout::RowMajor));
    let array = array_on(&storage, 1);
    let before = files(&storage, "");
    let with = |name: &'static str, column: NewColumn<'static>| {
        let mut cells = NewCells::new();
        for other in ["x", "s", "a", "t", "p"] {
            let column = match other {
                _ if other == name => column.clone(),
                "x" => NewColumn::values(&[1i32, -3, 7, 49]),
                "s" | "t" => NewColumn::strings(["a", "b", "a", ""]),
                "a" => NewColumn::values(&[0.5f64; 4]),
                _ => NewColumn::values(&[0u16; 8]),
            };
            cells = cells.with(other, column);
        }
        array.write().cells(cells).unwrap_err().to_string()
    };
    let errors = [
        with("x", NewColumn::values(&[1i32, -3, 50, 49])),
        with("x", NewColumn::values(&[1i64, -3, 5, 49])),
        with("x", NewColumn::values(&[1i32, -3, 7])),
        with("a", NewColumn::bytes(&[0; 33])),
        with("a", NewColumn::values(&[0.0f64; 4]).with_validity(&[0b1011])),
        with("a", NewColumn::values(&[0.0f64; 4]).with_offsets(&[0, 1, 2, 3, 4])),
        with("t", NewColumn::strings([&b"a"[..], b"b\xff", b"", b""])),
        with("t", NewColumn::bytes(b"abcd").with_offsets(&[0, 3, 2, 4, 4])),
        with("t", NewColumn::bytes(b"abcd").with_offsets(&[0, 1, 2, 4, 5])),
        with("t", NewColumn::bytes(b"abcd")),
        with("t", NewColumn::strings(["a"; 4]).with_validity(&[])),
        with("p", NewColumn::values(&[0u16; 6])),
    ];
    assert_eq!(files(&storage, ""), before);
    insta::assert_snapshot!(errors.join("\n"));
    // What all of them had beside the one that is wrong.
    array.write().cells(columns(&some_rows())).unwrap();
    assert_eq!(rows_of(&array_on(&storage, 1)).len(), 4);
}

#[test]
fn bad_columns_are_refused() {
    let storage = create(&sparse_schema(false, Layout::RowMajor));
    let array = array_on(&storage, 1);
    let before = files(&storage, "");
    let good = columns(&some_rows());
    let write = |cells: NewCells<'_>| array.write().cells(cells).unwrap_err();
    assert!(matches!(write(good.clone().with("a", &[0.0f64; 4])), ArrayError::RepeatedColumn { name } if name == "a"));
    assert!(matches!(write(good.clone().with("b", &[0i8; 4])), ArrayError::UnknownField { name, .. } if name == "b"));
    let lacking = NewCells::new().with("x", &[1i32]);
    assert!(matches!(write(lacking), ArrayError::MissingColumn { name } if name == "a"));
    assert!(array.write().range("x", 1..=2).unwrap_err().to_string().contains("no range"));

    let mut twice = some_rows();
    twice.push((-3, "b".to_owned(), 1.5, None, [0, 0]));
    let problem = |error| match error {
        ArrayError::Cell { cell, problem, .. } => (cell, problem),
        other => panic!("{other}"),
    };
    assert_eq!(problem(write(columns(&twice))), (4, CellProblem::Duplicate { other: 1 }));
    let global = stream(array.write(), &some_rows(), 3).unwrap_err();
    assert_eq!(problem(global), (1, CellProblem::OutOfOrder { order: "global order" }));
    let mut writer = array.write().global_order().unwrap();
    writer.push(columns(&some_rows()[..1])).unwrap();
    assert_eq!(problem(writer.push(columns(&some_rows()[..1])).unwrap_err()), (1, CellProblem::Duplicate { other: 0 }));
    assert!(writer.push(columns(&some_rows()[2..3])).is_err() && writer.commit().is_err());
    assert_eq!(files(&storage, ""), before);
}

#[test]
fn a_stream_that_is_dropped_leaves_nothing() {
    let storage = create(&sparse_schema(false, Layout::RowMajor));
    let before = files(&storage, "");
    let mut rows: Vec<Row> = (-50..50).map(|x| (x, String::new(), 1.0, None, [0, 0])).collect();
    rows.sort_by_key(|row| row.0);
    let mut writer = array_on(&storage, 1).write().budget(1).max_fragment_size(1).global_order().unwrap();
    writer.push(columns(&rows)).unwrap();
    assert!(files(&storage, "").len() > before.len() + 20);
    drop(writer);
    assert_eq!(files(&storage, ""), before);
}

/// However long strings are: nothing tells before how long they will be.
#[test]
fn streams_keep_to_the_budget() {
    const BUDGET: usize = 1 << 20;
    let sound = FaultyStorage::sound(create(&sparse_schema(false, Layout::RowMajor)));
    let array = ArrayOptions::new().threads(1).open_on(Arc::new(sound.clone())).unwrap();
    let mut writer = array.write().budget(BUDGET).global_order().unwrap();
    let text = "x".repeat(64 << 10);
    let rows: Vec<Row> = (-50..50).map(|x| (x, String::new(), 1.0, Some(text.clone()), [0, 0])).collect();
    let (mut waiting, mut changes, mut pauses) = (0, sound.changes(), 0);
    for rows in rows.chunks(3) {
        writer.push(columns(rows)).unwrap();
        waiting += rows.len() * text.len();
        if sound.changes() > changes {
            (waiting, changes, pauses) = (0, sound.changes(), pauses + 1);
        }
        assert!(waiting < 2 * BUDGET, "{waiting} bytes wait");
    }
    assert!(pauses > 2, "{pauses}");
}

#[test]
fn dense_writes_that_cannot_be() {
    let storage = create(&dense_schema(Layout::RowMajor, Layout::RowMajor));
    let array = array_on(&storage, 1);
    let before = files(&storage, "");
    let cells = grid_columns(&vec![(1, None); 10]);
    let text = |result: Result<Written, ArrayError>| result.unwrap_err().to_string();
    let errors = [
        text(array.write().cells(&cells)),
        text(array.write().order(Order::Unordered).cells(&cells)),
        text(array.write().range("y", 0..=3).and_then(|write| write.order(Order::Global).cells(&cells))),
        array.write().range("y", 0..=9).unwrap_err().to_string(),
        array.write().range("y", 0..=3).unwrap().range("y", 0..=3).unwrap_err().to_string(),
        text(array.write().cells(cells.clone().with("x", &[1i64; 10]))),
    ];
    insta::assert_snapshot!(errors.join("\n"));
    assert_eq!(files(&storage, ""), before);
}

/// What labels promise.
#[test]
fn values_that_promise_an_order_keep_it() {
    let x = Dimension::new("x", Datatype::UInt8, Scalar::U8(0), Scalar::U8(3)).with_tile_extent(Scalar::U8(4));
    let label = Attribute::new("label", Datatype::Float32).with_order(DataOrder::Increasing);
    let storage = create(&SchemaBuilder::dense().dimension(x).attribute(label).build().unwrap());
    let write = |values: &[f32; 4]| array_on(&storage, 1).write().cells([("label", values)]);
    let error = write(&[1.0, 2.0, 1.5, 3.0]).unwrap_err();
    assert!(matches!(error, ArrayError::Cell { cell: 2, problem: CellProblem::OutOfOrder { .. }, .. }), "{error}");
    assert_eq!(write(&[1.0, 1.0, 1.5, 3.0]).unwrap().cells, 4);
}

/// Breaks a write at each of its operations in turn: what is on the disk is read as before, or as after.
fn breaks(disk_of: impl Fn() -> Arc<MemoryStorage>, write: impl Fn(&Array) -> Result<(), ArrayError>) {
    let open = |storage: Arc<dyn Storage>| ArrayOptions::new().threads(1).open_on(storage).unwrap();
    let sound = FaultyStorage::sound(disk_of());
    let array = open(Arc::new(sound.clone()));
    write(&array).unwrap();
    let before = files(&disk_of(), "");
    for fault in [Fault::Fails, Fault::Stops, Fault::LosesPower] {
        for n in 0..sound.changes() {
            let disk = disk_of();
            let array = open(Arc::new(FaultyStorage::new(disk.clone(), fault, n)));
            let result = write(&array);
            let fragments = open(disk.clone()).fragments().len();
            if result.is_err() {
                assert_eq!(fragments, open(disk_of()).fragments().len(), "{fault:?} {n}");
                if fault == Fault::Fails {
                    assert_eq!(files(&disk, ""), before, "{n}");
                }
            } else {
                assert!(fragments > open(disk_of()).fragments().len(), "{fault:?} {n}");
            }
            // Whatever is left reads.
            drop(open(disk.clone()).read().batches().unwrap().collect::<Result<Vec<_>, _>>().unwrap());
        }
    }
    // What was said to be written stays when power is lost right after.
    let disk = disk_of();
    let faulty = FaultyStorage::new(disk.clone(), Fault::LosesPower, sound.changes());
    write(&open(Arc::new(faulty.clone()))).unwrap();
    let after = files(&disk, "");
    faulty.create_folder("more").unwrap_err();
    assert_eq!(files(&disk, ""), after);
}

#[test]
fn what_breaks_at_any_moment_leaves_all_or_nothing() {
    let mut rows: Vec<Row> = (-20..20).map(|x| (x, "s".to_owned(), 1.0, None, [0, 0])).collect();
    rows.sort_by_key(|row| row.0);
    let sparse = || {
        let storage = create(&sparse_schema(false, Layout::RowMajor));
        array_on(&storage, 1).write().names(names(3)).cells(columns(&some_rows())).unwrap();
        storage
    };
    breaks(sparse, |array| array.write().names(names(5)).cells(columns(&rows)).map(drop));
    breaks(sparse, |array| stream(array.write().names(names(5)).budget(1), &rows, 9).map(drop));
    // Several fragments, which come into being at once.
    breaks(sparse, |array| {
        let written = stream(array.write().names(names(5)).budget(1).max_fragment_size(300), &rows, 9)?;
        assert!(written.fragments.len() > 1);
        Ok(())
    });
    let (_, cells) = box_cells([(-3, 8), (-3, 5), (-3, 2)], false, 3);
    let dense = || create(&dense_schema(Layout::RowMajor, Layout::ColMajor));
    breaks(dense, |array| array.write().names(names(5)).cells(grid_columns(&cells)).map(drop));
}

/// The promise holds from one batch of a stream to the next.
#[test]
fn streams_keep_promises_across_batches() {
    let x = Dimension::new("x", Datatype::UInt8, Scalar::U8(0), Scalar::U8(7)).with_tile_extent(Scalar::U8(2));
    let label = Attribute::new("label", Datatype::Int16).with_order(DataOrder::Decreasing);
    let storage = create(&SchemaBuilder::dense().dimension(x).attribute(label).build().unwrap());
    let mut writer = array_on(&storage, 1).write().global_order().unwrap();
    writer.push([("label", &[9i16, 7, 7])]).unwrap();
    let error = writer.push([("label", &[8i16, 5])]).unwrap_err();
    assert!(matches!(error, ArrayError::Cell { cell: 3, problem: CellProblem::OutOfOrder { .. }, .. }), "{error}");
}

/// One cell would need a tile of more bytes than any may have: told before anything is written.
#[test]
fn tiles_that_nobody_can_hold_are_refused() {
    let wide = Dimension::new("x", Datatype::UInt64, Scalar::U64(0), Scalar::U64(1 << 62));
    let builder = SchemaBuilder::dense().dimension(wide.with_tile_extent(Scalar::U64(1 << 61)));
    let schema = builder.attribute(Attribute::new("a", Datatype::Int64)).build().unwrap();
    let storage = create(&schema);
    let before = files(&storage, "");
    let write = array_on(&storage, 1).write().range("x", 5u64..=5).unwrap();
    for error in [write.clone().cells([("a", &[1i64])]).unwrap_err(), write.global_order().map(drop).unwrap_err()] {
        assert!(matches!(error, ArrayError::Write(_)) && error.to_string().contains("\"a\""), "{error}");
    }
    assert_eq!(files(&storage, ""), before);
}
