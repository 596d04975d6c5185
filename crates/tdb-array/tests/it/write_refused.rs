//! Cells that cannot be written, and interrupted writes: an error and no files.

use std::sync::Arc;

use crate::faults;
use crate::two_arrays::*;
use tdb_array::{
    Array, ArrayError, ArrayOptions, CellProblem, CellsError, CreateOptions, Duplicates, Order, Write, WriteBatch,
    WriteColumn, Written,
};
use tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::{FaultyStorage, files_of, fixtures};
use tdb_types::{CellValNum, DataOrder, Datatype, FormatVersion, Layout, Limits};

fn some_rows() -> Vec<Row> {
    let row = |x, s: &str| (x, s.to_owned(), 0.5, None, [1, 2]);
    vec![row(1, "a"), row(-3, "b"), row(7, "a"), row(49, "")]
}

#[test]
fn duplicates_are_rejected_unless_allowed() {
    let storage = create(&sparse_schema(false, Layout::RowMajor));
    let before = files_of(&*storage);
    let array = array_on(&storage, 1);
    let write = || array.write().duplicates(Duplicates::Keep);
    for error in [write().cells(columns(&some_rows())).unwrap_err(), write().global_order().unwrap_err()] {
        assert!(error.to_string().contains("the array does not allow duplicates"), "{error}");
    }
    assert_eq!(files_of(&*storage), before);
}

/// Rejected with the number of the cell, and without files.
#[test]
fn bad_cells_are_refused() {
    let storage = create(&sparse_schema(false, Layout::RowMajor));
    let array = array_on(&storage, 1);
    let before = files_of(&*storage);
    let with = |name: &'static str, column: WriteColumn<'static>| {
        let mut cells = WriteBatch::new();
        for other in ["x", "s", "a", "t", "p"] {
            let column = match other {
                _ if other == name => column.clone(),
                "x" => WriteColumn::values(&[1i32, -3, 7, 49]),
                "s" | "t" => WriteColumn::strings(["a", "b", "a", ""]),
                "a" => WriteColumn::values(&[0.5f64; 4]),
                _ => WriteColumn::values(&[0u16; 8]),
            };
            cells = cells.with(other, column);
        }
        array.write().cells(cells).unwrap_err().to_string()
    };
    let errors = [
        with("x", WriteColumn::values(&[1i32, -3, 50, 49])),
        with("x", WriteColumn::values(&[1i64, -3, 5, 49])),
        with("x", WriteColumn::values(&[1i32, -3, 7])),
        with("a", WriteColumn::bytes(&[0; 33])),
        with("a", WriteColumn::values(&[0.0f64; 4]).with_validity(&[0b1011])),
        with("a", WriteColumn::values(&[0.0f64; 4]).with_offsets(&[0, 1, 2, 3, 4])),
        with("t", WriteColumn::strings([&b"a"[..], b"b\xff", b"", b""])),
        with("t", WriteColumn::bytes(b"abcd").with_offsets(&[0, 3, 2, 4, 4])),
        with("t", WriteColumn::bytes(b"abcd").with_offsets(&[0, 1, 2, 4, 5])),
        with("t", WriteColumn::bytes(b"abcd")),
        with("t", WriteColumn::strings(["a"; 4]).with_validity(&[])),
        with("p", WriteColumn::values(&[0u16; 6])),
    ];
    assert_eq!(files_of(&*storage), before);
    insta::assert_snapshot!(errors.join("\n"));
    // Without the wrong cell, the rest is valid.
    array.write().cells(columns(&some_rows())).unwrap();
    assert_eq!(rows_of(&array_on(&storage, 1)).len(), 4);
}

#[test]
fn bad_columns_are_refused() {
    let storage = create(&sparse_schema(false, Layout::RowMajor));
    let array = array_on(&storage, 1);
    let before = files_of(&*storage);
    let good = columns(&some_rows());
    let write = |cells: WriteBatch<'_>| array.write().cells(cells).unwrap_err();
    assert!(
        matches!(write(good.clone().with("a", &[0.0f64; 4])), ArrayError::Cells(CellsError::RepeatedColumn { name }) if name == "a")
    );
    assert!(
        matches!(write(good.clone().with("b", &[0i8; 4])), ArrayError::Cells(CellsError::UnknownField { name, .. }) if name == "b")
    );
    let lacking = WriteBatch::new().with("x", &[1i32]);
    assert!(matches!(write(lacking), ArrayError::Cells(CellsError::MissingColumn { name }) if name == "a"));
    assert!(array.write().range("x", 1..=2).unwrap_err().to_string().contains("not ranges"));

    let mut twice = some_rows();
    twice.push((-3, "b".to_owned(), 1.5, None, [0, 0]));
    let problem = |error| match error {
        ArrayError::Cells(CellsError::Cell { cell, problem, .. }) => (cell, problem),
        other => panic!("{other}"),
    };
    assert_eq!(problem(write(columns(&twice))), (4, CellProblem::Duplicate { other: 1 }));
    let global = stream(array.write(), &some_rows(), 3).unwrap_err();
    assert_eq!(problem(global), (1, CellProblem::OutOfOrder { order: "global order" }));
    let mut writer = array.write().global_order().unwrap();
    writer.push(columns(&some_rows()[..1])).unwrap();
    assert_eq!(problem(writer.push(columns(&some_rows()[..1])).unwrap_err()), (1, CellProblem::Duplicate { other: 0 }));
    assert!(writer.push(columns(&some_rows()[2..3])).is_err() && writer.commit().is_err());
    assert_eq!(files_of(&*storage), before);
}

#[test]
fn a_stream_that_is_dropped_leaves_nothing() {
    let storage = create(&sparse_schema(false, Layout::RowMajor));
    let before = files_of(&*storage);
    let mut rows: Vec<Row> = (-50..50).map(|x| (x, String::new(), 1.0, None, [0, 0])).collect();
    rows.sort_by_key(|row| row.0);
    let mut writer = array_on(&storage, 1).write().budget(1).max_fragment_size(1).global_order().unwrap();
    writer.push(columns(&rows)).unwrap();
    assert!(files_of(&*storage).len() > before.len() + 20);
    drop(writer);
    assert_eq!(files_of(&*storage), before);
}

/// Holds for strings of any length, since their length is not known in advance.
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
        assert!(waiting < 2 * BUDGET, "{waiting} bytes are pending");
    }
    assert!(pauses > 2, "{pauses}");
}

#[test]
fn dense_writes_that_cannot_be() {
    let storage = create(&dense_schema(Layout::RowMajor, Layout::RowMajor));
    let array = array_on(&storage, 1);
    let before = files_of(&*storage);
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
    assert_eq!(files_of(&*storage), before);
}

/// The order that dimension labels require.
#[test]
fn values_that_promise_an_order_keep_it() {
    let x = Dimension::new("x", 0u8..=3).with_tile(4);
    let label = Attribute::new("label", Datatype::Float32).with_order(DataOrder::Increasing);
    let storage = create(&SchemaBuilder::dense().dimension(x).attribute(label).build().unwrap());
    let write = |values: &[f32; 4]| array_on(&storage, 1).write().cells([("label", values)]);
    let error = write(&[1.0, 2.0, 1.5, 3.0]).unwrap_err();
    assert!(
        matches!(error, ArrayError::Cells(CellsError::Cell { cell: 2, problem: CellProblem::OutOfOrder { .. }, .. })),
        "{error}"
    );
    assert_eq!(write(&[1.0, 1.0, 1.5, 3.0]).unwrap().cells, 4);
}

#[test]
fn what_breaks_at_any_moment_leaves_all_or_nothing() {
    let rows: Vec<Row> = (-20..20).map(|x| (x, "s".to_owned(), 1.0, None, [0, 0])).collect();
    let (_, grid) = box_cells([(-3, 8), (-3, 5), (-3, 2)], false, 3);
    type Change<'a> = &'a dyn Fn(Write) -> Result<Written, ArrayError>;
    let changes: [(&str, bool, Change<'_>); 4] = [
        ("cells", false, &|write| write.cells(columns(&rows))),
        ("stream", false, &|write| stream(write.budget(1), &rows, 9)),
        // Several fragments that become visible atomically.
        ("several fragments", false, &|write| {
            let written = stream(write.budget(1).max_fragment_size(300), &rows, 9)?;
            assert!(written.fragments.len() > 1);
            Ok(written)
        }),
        ("dense cells", true, &|write| write.cells(grid_columns(&grid))),
    ];
    for (what, is_dense, change) in changes {
        let prepare = |storage: &Arc<dyn Storage>| {
            let sparse = sparse_schema(false, Layout::RowMajor);
            let schema = if is_dense { dense_schema(Layout::RowMajor, Layout::ColMajor) } else { sparse };
            faults::create(storage, &ArrayDefinition::new(schema).unwrap()).unwrap();
            if !is_dense {
                faults::open(storage).unwrap().write().ids(names(3)).cells(columns(&some_rows())).unwrap();
            }
        };
        let write = |storage: &Arc<dyn Storage>| change(faults::open(storage)?.write().ids(names(5))).map(drop);
        faults::interrupt(what, faults::state, true, prepare, write);
    }
}

/// The order is checked across the batches of a stream.
#[test]
fn streams_keep_promises_across_batches() {
    let x = Dimension::new("x", 0u8..=7).with_tile(2);
    let label = Attribute::new("label", Datatype::Int16).with_order(DataOrder::Decreasing);
    let storage = create(&SchemaBuilder::dense().dimension(x).attribute(label).build().unwrap());
    let mut writer = array_on(&storage, 1).write().global_order().unwrap();
    writer.push([("label", &[9i16, 7, 7])]).unwrap();
    let error = writer.push([("label", &[8i16, 5])]).unwrap_err();
    assert!(
        matches!(error, ArrayError::Cells(CellsError::Cell { cell: 3, problem: CellProblem::OutOfOrder { .. }, .. })),
        "{error}"
    );
}

/// A single cell would need a tile beyond the limit. The error comes before anything is written.
#[test]
fn tiles_beyond_memory_are_rejected() {
    let wide = Dimension::new("x", 0u64..=1 << 62);
    let builder = SchemaBuilder::dense().dimension(wide.with_tile(1u64 << 61));
    let schema = builder.attribute(Attribute::new("a", Datatype::Int64)).build().unwrap();
    let storage = create(&schema);
    let before = files_of(&*storage);
    let write = array_on(&storage, 1).write().range("x", 5u64..=5).unwrap();
    for error in [write.clone().cells([("a", &[1i64])]).unwrap_err(), write.global_order().map(drop).unwrap_err()] {
        assert!(matches!(error, ArrayError::Write(_)) && error.to_string().contains("\"a\""), "{error}");
    }
    assert_eq!(files_of(&*storage), before);
}

/// A tile that readers with the same limits would reject is not written, for any order and kind of
/// array.
#[test]
fn tiles_beyond_the_limits_are_refused() {
    let limited = |storage: &Arc<MemoryStorage>, bytes| {
        let options = ArrayOptions::new().threads(1).limits(Limits::default().with_tile_bytes(bytes));
        options.open_on(Arc::clone(storage) as Arc<dyn Storage>).unwrap()
    };
    // The tile of four cells has 32 bytes of numbers and 2,000 bytes of text.
    let rows: Vec<Row> =
        some_rows().into_iter().map(|row| (row.0, row.1, row.2, Some("x".repeat(500)), row.4)).collect();
    let storage = create(&sparse_schema(false, Layout::RowMajor));
    let before = files_of(&*storage);
    let mut in_order = rows.clone();
    in_order.sort_by_key(|row| row.0);
    let array = limited(&storage, 1_999);
    for error in [array.write().cells(columns(&rows)).unwrap_err(), stream(array.write(), &in_order, 2).unwrap_err()] {
        assert!(matches!(error, ArrayError::Write(_)) && error.to_string().contains("\"t\""), "{error}");
        assert_eq!(files_of(&*storage), before);
    }
    limited(&storage, 2_000).write().cells(columns(&rows)).unwrap();
    assert_eq!(rows_of(&limited(&storage, 2_000)).len(), 4);

    // A dense tile has 24 cells.
    let storage = create(&dense_schema(Layout::RowMajor, Layout::RowMajor));
    let (_, mut cells) = box_cells([(-3, 0), (-3, -1), (-3, -2)], false, 3);
    cells.iter_mut().for_each(|cell| cell.1 = Some("x".repeat(100)));
    let write = |bytes| {
        let write = limited(&storage, bytes).write().range("y", -3i64..=0)?.range("x", -3i64..=-1)?;
        write.range("z", -3i64..=-2)?.cells(grid_columns(&cells))
    };
    let before = files_of(&*storage);
    let error = write(2_399).unwrap_err();
    assert!(matches!(error, ArrayError::Write(_)) && error.to_string().contains("\"s\""), "{error}");
    assert_eq!(files_of(&*storage), before);
    assert_eq!(write(2_400).unwrap().cells, 24);
}

/// With short text, the offsets reach the limit first.
#[test]
fn offsets_beyond_the_limits_are_refused() {
    let x = Dimension::new("x", 0i32..=9).with_tile(5);
    let text = Attribute::new("t", Datatype::StringUtf8).with_cell_val_num(CellValNum::Var);
    let storage = create(&SchemaBuilder::sparse().dimension(x).attribute(text).build().unwrap());
    let write = |bytes| {
        let options = ArrayOptions::new().threads(1).limits(Limits::default().with_tile_bytes(bytes));
        let array = options.open_on(Arc::clone(&storage) as Arc<dyn Storage>).unwrap();
        let cells = WriteBatch::new().with("x", &[1i32, 2, 3, 4]);
        array.write().cells(cells.with("t", WriteColumn::strings([""; 4])))
    };
    assert!(matches!(write(31).unwrap_err(), ArrayError::Write(_)));
    write(32).unwrap();
}

#[test]
fn cells_are_valid_by_default() {
    let storage = create(&sparse_schema(false, Layout::RowMajor));
    let cells = WriteBatch::new()
        .with("x", &[1i32, 2])
        .with("s", WriteColumn::strings(["a", "b"]))
        .with("a", &[0.5f64, 1.5])
        .with("t", WriteColumn::strings(["", "t"]))
        .with("p", &[1u16, 2, 3, 4]);
    array_on(&storage, 1).write().cells(cells).unwrap();
    let found: Vec<_> = rows_of(&array_on(&storage, 1)).into_iter().map(|row| row.3).collect();
    assert_eq!(found, [Some(String::new()), Some("t".to_owned())]);
}

/// A format without timestamps of cells would date all cells like the fragment.
#[test]
fn fragments_with_timestamps_of_cells_are_not_copied_to_older_formats() {
    let fixture = fixtures::named("v22-by-2.30.0-sparse-consolidated");
    let from = Array::open(fixture.array_dir()).unwrap();
    let fragment = from.fragments().unwrap().iter().find(|one| one.footer().header().has_timestamps).unwrap();
    let copy_to = |version: u32| {
        let schema = from.schema();
        let builder = SchemaBuilder::sparse().version(FormatVersion::new(version).unwrap());
        let builder = schema.dimensions().iter().fold(builder, |builder, one| builder.dimension(one.clone()));
        let builder = schema.attributes().iter().fold(builder, |builder, one| builder.attribute(one.clone()));
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        CreateOptions::new().create_on(&storage, builder.build().unwrap()).unwrap();
        let array = ArrayOptions::new().open_on(storage).unwrap();
        array.copy_fragment(&from, fragment).map(drop)
    };
    copy_to(22).unwrap();
    let refused = copy_to(13).unwrap_err().to_string();
    assert!(refused.contains("does not support timestamps of cells"), "{refused}");
}
