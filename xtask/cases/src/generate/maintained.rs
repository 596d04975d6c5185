//! Random histories of arrays with maintenance.

use tdb_reference::{Ability, RELEASES, Release};
use tdb_types::{ArrayType, FormatVersion, Layout};

use super::super::case::{Case, Step};
use super::super::defects::repeats_times;
use super::super::random::Random;
use super::super::{limits, overhang};
use super::changes::FIRST_TIMESTAMP;
use super::{Axis, History, conditions, schema, writes};
use crate::build::state_extents;
use crate::entries::entries;
use crate::history::{Deed, History as Maintained, Join, Side, Small, Turn};
use tdb_reference::model::{ArraySpec, AttributeSpec, FilterSpec};

/// Maximum number of cells per write. All cells are read many times.
const MOST_CELLS: usize = 2000;

/// Generates the history of a seed. Returns `None` if the library cannot maintain the array.
pub fn maintained(seed: u64) -> Option<Maintained> {
    let random = &mut Random::new(seed);
    let case = case(random, &[0, 1, 1, 2, 5])?;
    let (case, version) = match random.percent(30) {
        true => in_older_format(random, &case).unwrap_or((case, FormatVersion::DEFAULT)),
        false => (case, FormatVersion::DEFAULT),
    };
    let turns = turns(random, &case);
    let creator = if version == FormatVersion::DEFAULT { side(random) } else { Side::Ours };
    Some(Maintained { array: case.array, encrypted: case.encrypted, version, creator, turns })
}

/// Generates a history of the newest format, in which all writes have distinct timestamps. With a
/// release, the array uses only features of that release. Half of the histories do not consolidate
/// fragments.
pub fn migrated(seed: u64, release: Option<Release>) -> Option<Maintained> {
    let random = &mut Random::new(seed);
    let whole = case(random, &[4, 5, 8])?;
    let case = match release {
        Some(release) => with_times_and_names(limits::fit(whole.clone(), release)?, &whole),
        None => whole,
    };
    let mut turns = turns(random, &case);
    if let Some(release) = release {
        turns.retain_mut(|turn| match &mut turn.deed {
            Deed::Metadata { put, .. } => {
                put.retain(|entry| limits::knows(release, entry.datatype));
                release.can(Ability::Metadata)
            }
            _ => true,
        });
    }
    if random.percent(50) {
        turns.retain(|turn| !matches!(turn.deed, Deed::Join(_) | Deed::VacuumFragments));
    }
    let (creator, version) = (side(random), FormatVersion::DEFAULT);
    Some(Maintained { array: case.array, encrypted: case.encrypted, version, creator, turns })
}

/// Restores features that the newest release adds for the first releases: timestamps of writes, and
/// anonymous attributes.
fn with_times_and_names(mut case: Case, whole: &Case) -> Case {
    let times: Vec<Option<u64>> = whole.writes().map(|write| write.timestamp).collect();
    let is_anonymous = case.array.attributes.iter().any(|attribute| attribute.name.is_empty());
    for (write, time) in case.writes_mut().zip(times) {
        write.timestamp = time;
        let renamed = write.cells.iter_mut().filter(|column| is_anonymous && column.name == "__attr");
        renamed.for_each(|column| column.name.clear());
    }
    case
}

/// Generates an array with writes, deletes and evolutions.
fn case(random: &mut Random, gaps: &[u64]) -> Option<Case> {
    let (mut array, mut axes) = schema::array(random);
    // The library cannot read consolidated fragments of dense arrays with a current domain, or
    // tiles that end beyond the datatype.
    let is_dense = array.array_type == ArrayType::Dense;
    if overhang::is_beyond(&array) || is_dense && (array.current_domain.is_some() || schema::has_images(&array)) {
        return None;
    }
    if is_dense {
        array.attributes.iter_mut().for_each(keep_fill_values);
    }
    if array.cell_order == Layout::Hilbert {
        state_extents(&mut array);
    }
    let pool = *random.pick(&[1, 3, 8, 20, 60]);
    axes.iter_mut().for_each(|axis| axis.fill_pool(random, pool));
    let steps = steps(random, &array, &axes, gaps)?;
    let evolved = steps.iter().any(|step| matches!(step, Step::Evolve(_)));
    let encrypted = random.percent(10) && !evolved;
    Some(Case { steps, encrypted, ..Case::of(array) })
}

/// Reduces a case to the features of an older release. Returns the case with that release's format.
/// Releases before format 7 have other fragments.
fn in_older_format(random: &mut Random, case: &Case) -> Option<(Case, FormatVersion)> {
    let releases: Vec<_> = RELEASES.iter().filter(|release| release.format >= 7).collect();
    let release = **random.pick(&releases);
    let case = limits::fit(case.clone(), release).filter(|case| limits::keeps_names(case, release))?;
    Some((case, FormatVersion::new(release.format).ok()?))
}

fn side(random: &mut Random) -> Side {
    *random.pick(&[Side::Ours, Side::Theirs])
}

/// Generates writes, deletes and evolutions that are a few milliseconds apart. `gaps` are the
/// possible gaps between writes.
fn steps(random: &mut Random, array: &ArraySpec, axes: &[Axis], gaps: &[u64]) -> Option<Vec<Step>> {
    let is_dense = array.array_type == ArrayType::Dense;
    let evolves = random.percent(25) && !schema::has_images(array);
    let deletes = !is_dense && random.percent(60);
    let mut history = History { array, axes, attributes: array.attributes.clone(), times: Vec::new() };
    let spots = if is_dense && random.percent(35) { spots(random, axes) } else { Vec::new() };
    let (count, mut time, mut steps) = (random.between(4, 11), FIRST_TIMESTAMP, Vec::new());
    for index in 0..count {
        time += *random.pick(gaps);
        if evolves && index > 0 && random.percent(25) {
            time += 1;
            if let Some(mut evolution) = history.evolution(random, index) {
                // If cells were deleted by an attribute that is dropped later, the library refuses
                // the array.
                if deletes {
                    history.attributes.extend(dropped(array, &steps, &evolution.drop_attributes));
                    evolution.drop_attributes.clear();
                }
                evolution.add_attributes.iter_mut().for_each(keep_fill_values);
                evolution.timestamp = Some(time);
                if !evolution.add_attributes.is_empty() || !evolution.drop_attributes.is_empty() {
                    steps.push(Step::Evolve(evolution));
                    time += 1;
                }
            }
        }
        // Dense writes are in timestamp order, because an attribute that a later fragment lacks
        // shows older values.
        let when = if !is_dense && random.percent(10) { time.saturating_sub(3).max(FIRST_TIMESTAMP) } else { time };
        let when = if evolves { time } else { when };
        let place = if spots.is_empty() { axes } else { random.pick(&spots) };
        let write = writes::write(random, array, place, &history.attributes, when);
        if write.cells.iter().any(|column| column.count(16) > MOST_CELLS) {
            return None;
        }
        let condition =
            (deletes && random.percent(40)).then(|| conditions::condition(random, array, axes, &write)).flatten();
        steps.push(Step::Write(write));
        if let Some(condition) = condition {
            steps.push(Step::Delete(condition, time + *random.pick(&[0, 0, 1, 3])));
        }
    }
    Some(steps)
}

/// Generates small parts of a dense array, one per writer, with unwritten gaps in between.
fn spots(random: &mut Random, axes: &[Axis]) -> Vec<Vec<Axis>> {
    let count = random.between(2, 3);
    let part = |random: &mut Random, axis: &Axis| {
        let width = ((axis.written - axis.low + 1) / 8).max(1);
        let low = random.integer(axis.low, axis.written + 1 - width);
        Axis { low, written: low + width - 1, ..axis.clone() }
    };
    (0..count).map(|_| axes.iter().map(|axis| part(random, axis)).collect()).collect()
}

/// Removes float scaling. Consolidation stores fill values for unwritten cells, and float scaling
/// would change these values.
fn keep_fill_values(attribute: &mut AttributeSpec) {
    attribute.filters.filters.retain(|filter| !matches!(filter, FilterSpec::ScaleFloat { .. }));
}

/// Returns the attributes with these names in their state before the drop.
fn dropped(array: &ArraySpec, steps: &[Step], names: &[String]) -> Vec<AttributeSpec> {
    let all = Case { steps: steps.to_vec(), ..Case::of(array.clone()) }.all_attributes();
    all.into_iter().filter(|attribute| names.contains(&attribute.name)).collect()
}

/// Assigns each step to a random side, and adds maintenance in between.
fn turns(random: &mut Random, case: &Case) -> Vec<Turn> {
    let times: Vec<u64> = case.steps.iter().filter_map(|step| Deed::Step(step.clone()).time()).collect();
    let mut turns = Vec::new();
    let mut written = 0;
    for (index, step) in case.steps.iter().enumerate() {
        written += usize::from(matches!(step, Step::Write(_)));
        let time = times.get(index).copied().unwrap_or(FIRST_TIMESTAMP);
        turns.push(Turn { side: side(random), deed: Deed::Step(step.clone()) });
        if random.percent(20) {
            let put = entries(random);
            let delete = random.subset(&put, 30).into_iter().map(|entry| entry.key).collect();
            turns.push(Turn { side: side(random), deed: Deed::Metadata { put, delete, time } });
        }
        let last = index + 1 == case.steps.len();
        if written < 2 || !(last || random.percent(35)) {
            continue;
        }
        for _ in 0..random.between(1, if last { 4 } else { 2 }) {
            let deed = upkeep(random, &times[..=index.min(times.len() - 1)], case);
            turns.push(Turn { side: side(random), deed });
        }
    }
    turns
}

fn upkeep(random: &mut Random, times: &[u64], case: &Case) -> Deed {
    let small = *random.pick(&[Small::Commits, Small::Footers, Small::Metadata]);
    match random.weighted(&[45, 20, 15, 15, 3]) {
        0 => Deed::Join(join(random, times, case)),
        1 => Deed::VacuumFragments,
        2 => {
            let between = (small == Small::Metadata && random.percent(25)).then(|| range(random, times));
            Deed::Gather(small, between)
        }
        3 => Deed::Vacuum(small),
        _ => {
            let (start, end) = range(random, times);
            Deed::DeleteFragments(start, end)
        }
    }
}

fn range(random: &mut Random, times: &[u64]) -> (u64, u64) {
    let (a, b) = (*random.pick(times), *random.pick(times));
    (a.min(b), a.max(b))
}

fn join(random: &mut Random, times: &[u64], case: &Case) -> Join {
    let mut join = Join { budget: *random.pick(&[1, 50_000, 16 << 20]), ..Join::default() };
    if case.is_dense() && random.percent(80) {
        join.amplification = Some(*random.pick(&[1e9, 1e9, 1e9, 0.5, 0.8, 2.0]));
    }
    match random.below(10) {
        0 => {
            let places: Vec<usize> = (0..8).collect();
            join.list = Some(random.subset(&places, 60));
        }
        1 => join.between = Some(range(random, times)),
        2 => {
            join.min = Some(2);
            join.max = random.percent(50).then(|| random.between(2, 4));
            join.steps = random.percent(50).then_some(1);
            join.ratio = random.percent(30).then_some(0.5);
        }
        3 => join.max_fragment_size = Some(*random.pick(&[500, 2000, 20_000])),
        _ => {}
    }
    // Dense cells have no coordinates, which would show equal write times.
    if case.is_dense() && repeats_times(case) {
        join.max_fragment_size = None;
    }
    let has_deletes = case.steps.iter().any(|step| matches!(step, Step::Delete(..)));
    join.purge = has_deletes && random.percent(25);
    join
}
