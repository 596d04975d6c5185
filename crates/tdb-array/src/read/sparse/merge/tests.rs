//! Merging in parts against sorting.

use proptest::prelude::*;
use tdb_rtree::DimRange;
use tdb_schema::{Dimension, SchemaBuilder};
use tdb_types::{Datatype, Scalar};

use super::*;
use crate::Order;
use crate::read::sparse::table::Runs;

/// For each fragment its tiles' keys, and a key that more of its cells may have that aren't at hand.
type Fragments = Vec<(Vec<Vec<u64>>, Option<u64>)>;

/// Few different keys, so that many are equal; ascending in each fragment, and different if they are to be told apart.
fn fragments(distinct: bool) -> impl Strategy<Value = Fragments> {
    let fragment = (prop::collection::vec(0..60_u64, 0..40), 1..9_usize, prop::option::of(0..60_u64));
    let fragment = fragment.prop_map(move |(mut keys, len, pending)| {
        keys.sort_unstable();
        if distinct {
            keys.dedup();
        }
        let least = keys.last().map_or(0, |last| last + u64::from(distinct));
        (keys.chunks(len).map(<[u64]>::to_vec).collect(), pending.map(|key| key.max(least)))
    });
    prop::collection::vec(fragment, 1..8)
}

/// The key, the fragment, and the place of a cell.
type Cell = (u64, usize, (u32, u32));

/// The cells that may come, in order: of those with equal keys the first fragment's first, or the last one's alone.
fn expected(tiles: &[Vec<Keyed<u64>>], limit: Option<u64>, distinct: bool) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for (fragment, tile) in
        tiles.iter().enumerate().flat_map(|(index, tiles)| tiles.iter().map(move |tile| (index, tile)))
    {
        cells.extend(tile.keys.iter().zip(0..).map(|(key, cell)| (*key, fragment, (tile.slot, cell))));
    }
    cells.retain(|(key, ..)| limit.is_none_or(|limit| *key < limit));
    cells.sort_unstable();
    if distinct {
        cells.reverse();
        cells.dedup_by_key(|(key, ..)| *key);
        cells.reverse();
    }
    cells
}

/// The cells of runs.
fn cells(table: &mut TileTable, runs: Runs) -> Vec<(u32, u32)> {
    let (mut queue, mut taken) = (RunQueue::default(), Vec::new());
    queue.put_back(table, runs, 0);
    queue.take(table, usize::MAX, &mut taken);
    taken.iter().flat_map(|run| (run.start..run.start + run.len).map(|cell| (run.slot, cell))).collect()
}

fn order() -> CellOrder {
    let dimension = Dimension::new("d", Datatype::UInt64, Scalar::U64(0), Scalar::U64(99));
    let schema = SchemaBuilder::sparse().dimension(dimension).build().unwrap();
    CellOrder::new(&schema, Order::Global, &[DimRange::Fixed { lo: 0, hi: 99 }]).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 2000 } else { 100_000 }))]

    #[test]
    fn parts_are_the_whole(
        (distinct, fragments) in any::<bool>().prop_flat_map(|distinct| (Just(distinct), fragments(distinct))),
        parts in 2..17_usize,
        most in prop_oneof![Just(usize::MAX), 1..200_usize],
        start in any::<prop::sample::Index>(),
    ) {
        let mut slots = 0..;
        let tiles: Vec<Vec<Keyed<u64>>> = fragments.iter().enumerate().map(|(index, (tiles, _))| {
            tiles.iter().map(|keys| Keyed::of_keys(slots.next().unwrap(), index, keys.clone())).collect()
        }).collect();
        let mut table = TileTable::of_sizes(tiles.iter().flatten().map(Keyed::len));
        let order = order();
        let pending: Vec<Option<u64>> = fragments.iter().map(|(_, pending)| *pending).collect();
        let limit = pending.iter().flatten().min().copied();
        let expected: Vec<Cell> = expected(&tiles, limit, distinct);
        let lanes: Vec<Lane<'_, u64>> = tiles.iter().zip(&pending)
            .map(|(tiles, pending)| Lane::open(tiles, Place::default(), *pending))
            .collect();
        let rules = Rules { order: &order, deduplicate: distinct, tiles: &table };

        // Some cells one after the other, then as many as can be in parts, then the rest.
        let mut runs = Runs::default();
        let reached = merge(rules, lanes.clone(), start.index(100) * (1 + RUN_BYTES), &mut runs);
        let at = |places: &[Place]| -> Vec<Lane<'_, u64>> {
            let lanes = tiles.iter().zip(&pending).zip(places);
            lanes.map(|((tiles, pending), place)| Lane::open(tiles, *place, *pending)).collect()
        };
        let lanes = at(&reached.places);
        let split = split(&lanes, Cut { most, parts, least: 1 });
        let places = match split {
            Some(places) => {
                prop_assert!(places.len() <= parts + 1);
                prop_assert!(places.first() != places.last(), "a part must bring the merge on");
                for ends in places.windows(2) {
                    let part = part_of(&lanes, &ends[0], &ends[1]);
                    let mut own = Runs::default();
                    prop_assert_eq!(merge(rules, part, usize::MAX, &mut own).waits_for, None);
                    runs.append(&mut own);
                }
                places.last().unwrap().clone()
            }
            None => reached.places,
        };
        merge(rules, at(&places), usize::MAX, &mut runs);
        let places: Vec<(u32, u32)> = expected.into_iter().map(|(.., place)| place).collect();
        let found = cells(&mut table, runs);
        // Where a fragment waits at a key, cells that surely come before its next one may come, too.
        prop_assert_eq!(found.get(..places.len()), Some(&places[..]));
        prop_assert!(limit.is_some() || found.len() == places.len());
    }
}
