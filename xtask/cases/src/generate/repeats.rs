//! Cells with equal coordinates in one fragment of an array without duplicates.

use tdb_types::{ArrayType, Layout};

use super::super::case::{Case, Step};
use super::super::overhang;
use super::super::random::Random;
use tdb_reference::model::{ArraySpec, WriteSpec};

/// Replaces the coordinates of some cells by those of other cells, if possible.
pub fn repeat(random: &mut Random, case: &mut Case) {
    // A consolidation of such fragments depends on defects of the library.
    let is_merged = case.steps.contains(&Step::Consolidate("fragments"));
    if case.array.array_type != ArrayType::Sparse || case.array.allows_dups || is_merged {
        return;
    }
    for step in &mut case.steps {
        if let Step::Write(write) = step
            && random.percent(70)
        {
            repeat_in(random, &case.array, write);
            case.repeated = true;
        }
    }
    // Ordered reads are checked with unordered reads, which are wrong for several ranges on
    // strings.
    let is_string = |name: &str| case.array.dimension(name).is_some_and(|dimension| dimension.domain.is_none());
    let all = case.questions.iter_mut().flat_map(|question| &mut question.query.ranges);
    all.filter(|ranges| is_string(&ranges.dimension)).for_each(|ranges| ranges.ranges.truncate(1));
}

fn repeat_in(random: &mut Random, array: &ArraySpec, write: &mut WriteSpec) {
    let count = array.cells_of(write);
    let percent = *random.pick(&[5, 30, 80]);
    let mut places: Vec<usize> = (0..count).collect();
    for place in 1..count {
        if random.percent(percent) {
            // Cells in global order stay in order.
            let other = if write.layout == Layout::GlobalOrder { place - 1 } else { random.below(place) };
            places[place] = places[other];
        }
    }
    for column in write.cells.iter_mut().filter(|column| array.dimension(&column.name).is_some()) {
        *column = column.of_places(count, places.iter().copied());
    }
}

/// Gives some writes the timestamp of the previous write. The random fragment names decide which
/// write wins, and both sides must read the same array.
pub fn repeat_times(random: &mut Random, case: &mut Case) {
    if overhang::is_beyond(&case.array) {
        return;
    }
    let mut before = None;
    for write in case.writes_mut() {
        if before.is_some() && random.percent(60) {
            write.timestamp = before;
        }
        before = write.timestamp;
    }
}
