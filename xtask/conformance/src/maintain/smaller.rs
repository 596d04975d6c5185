//! Shrinks a failing history.

use tdb_cases::case::{Case, Step};
use tdb_cases::history::{Deed, History, Join, Side};
use tdb_cases::shrink::smaller_cases;
use tdb_reference::model::Evolution;

/// Maximum number of smaller histories to try.
pub const ATTEMPTS: usize = 400;

/// Returns histories with one simplification each, largest simplifications first.
pub fn smaller_histories(history: &History) -> Vec<History> {
    let mut all = Vec::new();
    for index in (0..history.turns.len()).rev() {
        let later_writes = || {
            let steps = history.turns[index + 1..].iter();
            steps.into_iter().any(|turn| matches!(turn.deed, Deed::Step(Step::Write(_))))
        };
        // Writes depend on the evolutions before them.
        if matches!(history.turns[index].deed, Deed::Step(Step::Evolve(_))) && later_writes() {
            continue;
        }
        let mut smaller = history.clone();
        smaller.turns.remove(index);
        all.push(smaller);
    }
    for index in 0..history.turns.len() {
        if let Deed::Join(join) = &history.turns[index].deed {
            let plain =
                Join { purge: join.purge, amplification: join.amplification, budget: 16 << 20, ..Join::default() };
            if *join != plain {
                let mut smaller = history.clone();
                smaller.turns[index].deed = Deed::Join(plain);
                all.push(smaller);
            }
        }
        if history.turns[index].side == Side::Theirs {
            let mut smaller = history.clone();
            smaller.turns[index].side = Side::Ours;
            all.push(smaller);
        }
    }
    let case = history.case();
    all.extend(smaller_cases(&case).into_iter().filter_map(|smaller| with_steps_of(history, smaller)));
    all
}

/// Replaces the array and the steps of a history by those of a case. Returns `None` if the steps do
/// not match.
fn with_steps_of(history: &History, case: Case) -> Option<History> {
    let mut smaller = history.clone();
    let mut steps = case.steps.into_iter();
    for turn in &mut smaller.turns {
        if let Deed::Step(step) = &mut turn.deed {
            let next = steps.next()?;
            if std::mem::discriminant(step) != std::mem::discriminant(&next) {
                return None;
            }
            *step = next;
        }
    }
    // Removes evolutions without changes.
    let is_nothing =
        |evolution: &Evolution| *evolution == Evolution { timestamp: evolution.timestamp, ..Evolution::default() };
    smaller.turns.retain(|turn| !matches!(&turn.deed, Deed::Step(Step::Evolve(evolution)) if is_nothing(evolution)));
    (smaller.array, smaller.encrypted) = (case.array, case.encrypted);
    steps.next().is_none().then_some(smaller)
}
