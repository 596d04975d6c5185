//! Cells written and read back.

use std::collections::BTreeMap;

use crate::two_arrays::*;
use proptest::prelude::*;
use tdb_array::{Duplicates, Order};
use tdb_testkit::files_of;
use tdb_types::Layout;

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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Sorted by the writer, or streamed in order, in batches of any size, with any memory limit
    /// and number of threads. The bytes are identical and hold the cells.
    #[test]
    fn sparse_cells_come_back(rows in rows(), order in layouts(), batch in 1..20usize, budget in 1..5000usize) {
        let rows = unique(rows);
        let schema = sparse_schema(false, order);
        let storage = create(&schema);
        let written = array_on(&storage, 1).write().ids(names(5)).budget(budget).cells(columns(&rows)).unwrap();
        prop_assert_eq!(written.cells, rows.len() as u64);
        prop_assert_eq!(written.fragments.len(), usize::from(!rows.is_empty()));
        let in_order = rows_of(&array_on(&storage, 1));
        let sort = |mut rows: Vec<Row>| {
            rows.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
            rows
        };
        prop_assert_eq!(sort(in_order.clone()), sort(rows.clone()));

        let streamed = create(&schema);
        stream(array_on(&streamed, 2).write().ids(names(5)).budget(budget), &in_order, batch).unwrap();
        prop_assert_eq!(files_of(&*storage), files_of(&*streamed));
        let again = create(&schema);
        array_on(&again, 2).write().ids(names(5)).cells(columns(&rows)).unwrap();
        prop_assert_eq!(files_of(&*storage), files_of(&*again));
    }

    /// Fragments of limited size hold the same cells.
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
        for fragment in array.fragments().unwrap() {
            prop_assert!(fragment.tile_count() == 1 || fragment.bytes().unwrap() <= max + 8000);
        }
    }

    /// Keeps the last of several cells with equal coordinates, or all of them.
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Overlapping boxes: the last written cell counts.
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
                let mut write = array_on(storage, threads + 1).write().ids(names(10 + number as u64)).budget(budget);
                for (name, (low, high)) in ["y", "x", "z"].into_iter().zip(ranges) {
                    write = write.range(name, low..=high).unwrap();
                }
                let order = if col_major { Order::ColMajor } else { Order::RowMajor };
                write.order(order).cells(grid_columns(&cells)).unwrap();
            }
            expected.extend(places.into_iter().zip(cells));
        }
        prop_assert_eq!(grid_of(&array_on(&storages[0], 1)), expected);
        prop_assert_eq!(files_of(&*storages[0]), files_of(&*storages[1]));
    }

    /// In global order: the same bytes as in another order, and the requested number of fragments.
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
        array_on(&storage, 1).write().ids(names(5)).cells(grid_columns(&cells)).unwrap();
        // Stored order, tile by tile.
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
        let mut write = array_on(&streamed, 2).write().ids(names(5)).budget(budget);
        if let Some(max) = max {
            write = write.max_fragment_size(max);
        }
        let mut writer = write.global_order().unwrap();
        in_order.chunks(batch).for_each(|cells| writer.push(grid_columns(cells)).unwrap());
        let written = writer.commit().unwrap();
        if written.fragments.len() == 1 {
            prop_assert_eq!(files_of(&*storage), files_of(&*streamed));
        }
        prop_assert!(max != Some(1) || written.fragments.len() == 3);
        prop_assert_eq!(grid_of(&array_on(&streamed, 1)), grid_of(&array_on(&storage, 1)));
    }
}
