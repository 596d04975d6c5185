//! Sorting of the cells of a sparse fragment.

use std::cmp::Ordering;

use tdb_cells::order::cell_order::CellOrder;
use tdb_cells::order::coordinates::Coordinates;
use tdb_cells::order::key::{Entry, Key};
use tdb_cells::order::sort::{CompareEqual, Sorter};
use tdb_cells::{CellProblem, CellsError, Order, Workers};
use tdb_rtree::DimRange;
use tdb_schema::ArraySchema;
use tdb_snapshot::{ArrayError, Result};

use crate::Duplicates;

/// Returns the numbers of the cells to write, in global order. Among cells with equal coordinates,
/// `duplicates` decides which cells are written.
pub(super) fn sorted(
    schema: &ArraySchema,
    workers: &Workers,
    coordinates: Vec<Coordinates>,
    ranges: &[DimRange],
    duplicates: Duplicates,
    len: usize,
) -> Result<Vec<u32>> {
    if u32::try_from(len).is_err() {
        let most = u32::MAX;
        return Err(ArrayError::Write(format!("cannot sort {len} cells at once, expected at most {most}")));
    }
    let kinds = schema.domain().kinds();
    let bounds: Vec<DimRange> = tdb_rtree::NdRange(ranges.to_vec()).widened(&kinds).0;
    let order = CellOrder::new(schema, Order::Global, &bounds)?;
    if order.bits() <= u64::BITS {
        sorted_by::<u64>(&order, workers, coordinates, duplicates, len, schema)
    } else {
        sorted_by::<u128>(&order, workers, coordinates, duplicates, len, schema)
    }
}

fn sorted_by<K: Key>(
    order: &CellOrder,
    workers: &Workers,
    coordinates: Vec<Coordinates>,
    duplicates: Duplicates,
    len: usize,
    schema: &ArraySchema,
) -> Result<Vec<u32>> {
    let (mut entries, bounds) = order.entries::<K>(workers, &coordinates, len)?;
    let columns = (!order.is_exact()).then(|| order.columns(coordinates));
    let ties = |a: &K::Entry, b: &K::Entry| match &columns {
        None => Ordering::Equal,
        Some(columns) => order.compare((columns, number_of(a)), (columns, number_of(b))),
    };
    let in_order = |pair: &[K::Entry]| pair[0].key().cmp(&pair[1].key()).then_with(|| ties(&pair[0], &pair[1]));
    if !entries.windows(2).all(|pair| in_order(pair).is_le()) {
        // If duplicates cause an error, the order of equal cells does not matter.
        let by_key = order.is_exact() && duplicates == Duplicates::Refuse;
        let compare: Option<&CompareEqual<'_, K::Entry>> = if by_key { None } else { Some(&ties) };
        Sorter::default().sort(workers, &mut entries, bounds, compare);
        // A cancelled sort leaves the entries unsorted.
        workers.check()?;
    }
    let equal = |pair: &[K::Entry]| in_order(pair).is_eq();
    match duplicates {
        Duplicates::Keep => {}
        Duplicates::Refuse => {
            if let Some(place) = entries.windows(2).position(equal) {
                let (a, b) = (entries[place].place().1, entries[place + 1].place().1);
                return Err(duplicate(schema, u64::from(a.max(b)), u64::from(a.min(b))));
            }
        }
        Duplicates::KeepLast => {
            // Cells with equal coordinates are in the given order.
            let mut kept: Vec<u32> = Vec::with_capacity(entries.len());
            for (place, entry) in entries.iter().enumerate() {
                match kept.last_mut() {
                    Some(last) if equal(&entries[place - 1..=place]) => *last = entry.place().1,
                    _ => kept.push(entry.place().1),
                }
            }
            return Ok(kept);
        }
    }
    Ok(entries.iter().map(|entry| entry.place().1).collect())
}

fn number_of(entry: &impl Entry) -> usize {
    entry.place().1 as usize
}

pub(super) fn duplicate(schema: &ArraySchema, cell: u64, other: u64) -> ArrayError {
    let field = schema.dimensions().first().map_or("", |dimension| dimension.name()).to_owned();
    CellsError::Cell { field, cell, problem: CellProblem::Duplicate { other } }.into()
}
