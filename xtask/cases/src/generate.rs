//! Generates random cases. A case depends only on the random numbers of a seed, and is complete
//! before anything runs.

mod aggregates;
mod axis;
mod cells;
mod changes;
mod conditions;
mod disorder;
mod filters;
mod maintained;
mod questions;
mod repeats;
mod schema;
mod selections;
mod text;
mod writes;

use tdb_types::ArrayType;

use super::case::{Case, Step, apply};
use super::random::Random;
pub use aggregates::is_theirs;
use axis::Axis;
pub use changes::AFTER_ALL;
use changes::FIRST_TIMESTAMP;
pub use maintained::{maintained, migrated};
use tdb_reference::model::{ArraySpec, AttributeSpec, Evolution};

/// Number of questions per array.
const QUESTIONS: usize = 6;

/// Generates the case of a seed.
pub fn case(seed: u64) -> Case {
    make(&mut Random::new(seed)).0
}

/// Generates the case of a seed. If possible, some writes in global order contain unsorted cells.
pub fn disordered(seed: u64) -> Case {
    let (mut case, axes) = make(&mut Random::new(seed));
    disorder::disorder(&mut Random::new(!seed), &mut case, &axes);
    case
}

/// Generates the case of a seed. If possible, some writes contain equal coordinates that the array
/// does not allow.
pub fn repeated(seed: u64) -> Case {
    let (mut case, _) = make(&mut Random::new(seed));
    repeats::repeat(&mut Random::new(!seed), &mut case);
    case
}

/// Generates the case of a seed. Several writes may have the same timestamp.
pub fn simultaneous(seed: u64) -> Case {
    let mut case = case(seed);
    repeats::repeat_times(&mut Random::new(!seed), &mut case);
    case
}

/// Generates the case of a seed. Its questions have conditions, aggregates, points, boxes, many
/// ranges and open-ended ranges.
pub fn conditioned(seed: u64) -> Case {
    let random = &mut Random::new(seed);
    let (mut case, axes) = make(random);
    conditions::ask(random, &mut case, &axes);
    aggregates::ask(random, &mut case);
    selections::ask(random, &mut case, &axes);
    case
}

/// Generates the case of a seed, with additional operations.
pub fn changed(seed: u64) -> Case {
    let random = &mut Random::new(seed);
    let (mut case, mut axes) = make(random);
    let attributes = case.final_attributes();
    changes::extend(random, &mut case, &mut axes, &attributes);
    case
}

fn make(random: &mut Random) -> (Case, Vec<Axis>) {
    let (array, mut axes) = schema::array(random);
    let pool = *random.pick(&[1, 3, 8, 20, 60, 300]);
    axes.iter_mut().for_each(|axis| axis.fill_pool(random, pool));
    let mut history = History { array: &array, axes: &axes, attributes: array.attributes.clone(), times: Vec::new() };
    let steps = history.steps(random);
    let (attributes, times) = (history.attributes, history.times);
    let question = |_| questions::question(random, &array, &axes, &attributes, &times);
    let questions = (0..QUESTIONS).map(question).collect();
    // The library stores evolved schemas of encrypted arrays unencrypted, and then refuses the
    // array.
    let evolved = steps.iter().any(|step| matches!(step, Step::Evolve(_)));
    let encrypted = random.percent(12) && !evolved;
    (Case { array, steps, questions, encrypted, disordered: false, repeated: false }, axes)
}

/// An array and the history so far.
struct History<'a> {
    array: &'a ArraySpec,
    axes: &'a [Axis],
    attributes: Vec<AttributeSpec>,
    times: Vec<u64>,
}

impl History<'_> {
    fn steps(&mut self, random: &mut Random) -> Vec<Step> {
        let writes = random.weighted(&[1, 15, 25, 25, 15, 10, 9]);
        let mut times: Vec<u64> = (0..writes as u64).map(|write| FIRST_TIMESTAMP + 10 * write).collect();
        if random.percent(15) {
            random.shuffle(&mut times);
        }
        // The library stores image sizes when an array is created, and forgets them when attributes
        // are added.
        let evolves = random.percent(15) && !schema::has_images(self.array);
        // If a newer fragment lacks an attribute, the library returns the values of an older
        // fragment.
        if evolves && self.array.array_type == ArrayType::Dense {
            times.sort_unstable();
        }
        // If cells were deleted by an attribute that was dropped later, the library refuses the
        // array.
        let deletes = self.array.array_type == ArrayType::Sparse && !evolves && random.percent(35);
        let mut steps = Vec::new();
        for (index, time) in times.into_iter().enumerate() {
            if evolves && random.percent(40) {
                steps.extend(self.evolution(random, index).map(Step::Evolve));
            }
            let write = writes::write(random, self.array, self.axes, &self.attributes, time);
            self.times.push(time);
            let condition = (deletes && random.percent(40))
                .then(|| conditions::condition(random, self.array, self.axes, &write))
                .flatten();
            steps.push(Step::Write(write));
            if let Some(condition) = condition {
                // At the time of the write or later, and sometimes before all writes.
                let time = if random.percent(5) { FIRST_TIMESTAMP - 1 } else { time + *random.pick(&[0, 1, 5, 25]) };
                self.times.push(time);
                steps.push(Step::Delete(condition, time));
            }
            // The library cannot read the consolidated fragments of dense arrays with a current
            // domain.
            let is_dense = self.array.array_type == ArrayType::Dense;
            let to_the_end = || self.axes.iter().any(Axis::is_written_to_the_end);
            let cut = is_dense && (self.array.current_domain.is_some() || to_the_end());
            if index > 0 && !cut && random.percent(8) {
                consolidation(random, &mut steps);
            }
        }
        steps
    }

    /// Generates an evolution that adds and drops attributes.
    fn evolution(&mut self, random: &mut Random, index: usize) -> Option<Evolution> {
        let mut evolution = Evolution::default();
        if random.percent(60) {
            let mut attribute = schema::attribute(random, self.array, 10 + index);
            // The library requires an enumeration to be loaded before an attribute can use it.
            attribute.enumeration = None;
            evolution.add_attributes.push(attribute);
        }
        if random.percent(50) && self.attributes.len() > 1 {
            // Anonymous attributes cannot be dropped.
            let name = random.pick(&self.attributes).name.clone();
            evolution.drop_attributes.extend(Some(name).filter(|name| !name.is_empty()));
        }
        if evolution == Evolution::default() {
            return None;
        }
        apply(&mut self.attributes, &evolution);
        Some(evolution)
    }
}

fn consolidation(random: &mut Random, steps: &mut Vec<Step>) {
    let mode = *random.pick(&["fragments", "fragments", "fragments", "fragment_meta", "commits"]);
    steps.push(Step::Consolidate(mode));
    if random.percent(50) {
        steps.push(Step::Vacuum(mode));
    }
}
