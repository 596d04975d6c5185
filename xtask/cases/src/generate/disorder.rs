//! Cells written in another order than the declared global order.

use tdb_types::Layout;

use super::super::case::{Case, Step};
use super::super::random::Random;
use super::axis::Axis;
use super::writes::global_key;
use tdb_reference::model::{ArraySpec, Bytes, WriteSpec};

/// Declares the cells of some writes as being in global order, although they are shuffled: within
/// tiles, tile by tile, or completely.
pub fn disorder(random: &mut Random, case: &mut Case, axes: &[Axis]) {
    // A consolidation of such fragments depends on defects of the library.
    if case.is_dense() || case.steps.contains(&Step::Consolidate("fragments")) {
        return;
    }
    let array = case.array.clone();
    let mut disordered = false;
    for write in case.writes_mut() {
        if random.percent(70) {
            disorder_write(random, &array, axes, write);
            disordered = true;
        }
    }
    case.disordered = disordered;
}

fn disorder_write(random: &mut Random, array: &ArraySpec, axes: &[Axis], write: &mut WriteSpec) {
    let count = array.cells_of(write);
    let mut places: Vec<usize> = (0..count).collect();
    // Positions along the Hilbert curve are not computed here.
    if array.cell_order != Layout::Hilbert {
        let cell = |axis: &Axis, place| {
            let column = write.cells.iter().find(|column| column.name == axis.spec.name);
            Bytes(column.map(|column| column.cell(count, place).to_vec()).unwrap_or_default())
        };
        let row = |place: &usize| axes.iter().map(|axis| cell(axis, *place)).collect::<Vec<_>>();
        places.sort_by_cached_key(|place| global_key(array, axes, &row(place)));
    }
    let capacity = usize::try_from(array.capacity.unwrap_or(10_000)).unwrap_or(usize::MAX).max(1);
    match random.below(3) {
        0 => places.chunks_mut(capacity).for_each(|tile| random.shuffle(tile)),
        1 => {
            let mut tiles: Vec<Vec<usize>> = places.chunks(capacity).map(<[usize]>::to_vec).collect();
            // An incomplete tile must stay the last one.
            random.shuffle(&mut tiles[..count / capacity]);
            places = tiles.concat();
        }
        _ => random.shuffle(&mut places),
    }
    write.layout = Layout::GlobalOrder;
    for column in &mut write.cells {
        *column = column.of_places(count, places.iter().copied());
    }
}
