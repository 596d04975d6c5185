//! Merging in parts, compared with sorting.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tdb_rtree::DimRange;
use tdb_schema::{Dimension, SchemaBuilder};

use super::*;
use crate::table::Runs;
use tdb_cells::Order;

/// Keys of each fragment's tiles.
type Fragments = Vec<Vec<Vec<u64>>>;

/// Returns ascending keys with few distinct values: many keys are equal, also within a fragment.
fn fragments() -> impl Strategy<Value = Fragments> {
    let fragment = (prop::collection::vec(0..60_u64, 0..40), 1..9_usize);
    let fragment = fragment.prop_map(move |(mut keys, len)| {
        keys.sort_unstable();
        keys.chunks(len).map(<[u64]>::to_vec).collect()
    });
    prop::collection::vec(fragment, 1..8)
}

/// Key, fragment, and slot and index of a cell.
type Cell = (u64, usize, (u32, u32));

/// Returns the cells below the limit in order. For equal keys, returns either all cells by fragment
/// or only cells of the last fragment.
fn expected(tiles: &[Vec<Keyed<u64>>], limit: Option<u64>, deduplicate: bool) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for (fragment, tile) in
        tiles.iter().enumerate().flat_map(|(index, tiles)| tiles.iter().map(move |tile| (index, tile)))
    {
        cells.extend(tile.keys.iter().zip(0..).map(|(key, cell)| (*key, fragment, (tile.slot, cell))));
    }
    cells.retain(|(key, ..)| limit.is_none_or(|limit| *key < limit));
    cells.sort_unstable();
    if deduplicate {
        let newest: BTreeMap<u64, usize> = cells.iter().map(|(key, fragment, _)| (*key, *fragment)).collect();
        cells.retain(|(key, fragment, _)| newest[key] == *fragment);
    }
    cells
}

/// Returns the cells of runs as pairs of slot and index.
fn cells(table: &mut TileTable, runs: Runs) -> Vec<(u32, u32)> {
    let (mut queue, mut taken) = (RunQueue::default(), Vec::new());
    queue.put_back(table, runs, 0);
    queue.take(table, usize::MAX, 1, &mut taken);
    taken.iter().flat_map(|run| (run.start..run.start + run.len).map(|cell| (run.slot, cell))).collect()
}

fn order() -> CellOrder {
    let dimension = Dimension::new("d", 0u64..=99);
    let schema = SchemaBuilder::sparse().dimension(dimension).build().unwrap();
    CellOrder::new(&schema, Order::Global, &[DimRange::Fixed { lo: 0, hi: 99 }]).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 2000 } else { 100_000 }))]

    #[test]
    fn merging_in_parts_equals_sorting(
        fragments in fragments(),
        deduplicate in any::<bool>(),
        gate in prop::option::of(0..60_u64),
        parts in 2..17_usize,
        most in prop_oneof![Just(usize::MAX), 1..200_usize],
        start in any::<prop::sample::Index>(),
    ) {
        let mut slots = 0..;
        let tiles: Vec<Vec<Keyed<u64>>> = fragments.iter().enumerate().map(|(index, tiles)| {
            tiles.iter().map(|keys| Keyed::of_keys(slots.next().unwrap(), index, keys.clone())).collect()
        }).collect();
        let mut table = TileTable::of_sizes(tiles.iter().flatten().map(Keyed::len));
        let order = order();
        let expected: Vec<Cell> = expected(&tiles, gate, deduplicate);
        let lanes: Vec<Lane<'_, u64>> = tiles.iter().map(|tiles| Lane::open(tiles, Place::default())).collect();
        let rules = Rules { order: &order, deduplicate, tiles: &table };

        // First merges some cells sequentially, then as many as possible in parts, then the rest.
        let mut runs = Runs::default();
        let reached = merge(rules, lanes.clone(), gate, start.index(100) * (1 + RUN_BYTES), &mut runs);
        let at = |places: &[Place]| -> Vec<Lane<'_, u64>> {
            tiles.iter().zip(places).map(|(tiles, place)| Lane::open(tiles, *place)).collect()
        };
        let lanes = at(&reached.places);
        let split = split(&lanes, gate, Cut { most, parts, least: 1 });
        let places = match split {
            Some(places) => {
                prop_assert!(places.len() <= parts + 1);
                prop_assert!(places.first() != places.last(), "a part must advance the merge");
                for ends in places.windows(2) {
                    let part = part_of(&lanes, &ends[0], &ends[1]);
                    let mut own = Runs::default();
                    prop_assert!(!merge(rules, part, None, usize::MAX, &mut own).waits);
                    runs.append(&mut own);
                }
                places.last().unwrap().clone()
            }
            None => reached.places,
        };
        merge(rules, at(&places), gate, usize::MAX, &mut runs);
        let places: Vec<(u32, u32)> = expected.into_iter().map(|(.., place)| place).collect();
        let found = cells(&mut table, runs);
        prop_assert_eq!(found, places);
    }
}
