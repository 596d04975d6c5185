//! Random cases. Everything is decided here from the case's random numbers alone, before anything is run.

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
mod times;
mod writes;

use tdb_types::ArrayType;

use super::case::{Case, Step, apply};
use super::random::Random;
pub use aggregates::is_theirs;
use axis::Axis;
pub use changes::AFTER_ALL;
pub use maintained::{maintained, migrated};
use tdb_reference::model::{ArraySpec, AttributeSpec, Evolution};
use times::FIRST_TIMESTAMP;

/// How many reads each array gets.
const QUESTIONS: usize = 6;

/// The case that belongs to a seed.
pub fn case(seed: u64) -> Case {
    make(&mut Random::new(seed)).0
}

/// The same case; where it can be, some of its writes say that cells are in global order which aren't.
pub fn disordered(seed: u64) -> Case {
    let (mut case, axes) = make(&mut Random::new(seed));
    disorder::disorder(&mut Random::new(!seed), &mut case, &axes);
    case
}

/// The same case; where it can be, some of its writes have cells of equal coordinates that the array doesn't allow.
pub fn repeated(seed: u64) -> Case {
    let (mut case, _) = make(&mut Random::new(seed));
    repeats::repeat(&mut Random::new(!seed), &mut case);
    case
}

/// The same case, in which several writes may have the same time.
pub fn simultaneous(seed: u64) -> Case {
    let mut case = case(seed);
    times::repeat(&mut Random::new(!seed), &mut case);
    case
}

/// The same case, whose questions have conditions, ask for aggregates, and for points, boxes, many ranges and ones without an end.
pub fn conditioned(seed: u64) -> Case {
    let random = &mut Random::new(seed);
    let (mut case, axes) = make(random);
    conditions::ask(random, &mut case, &axes);
    aggregates::ask(random, &mut case);
    selections::ask(random, &mut case, &axes);
    case
}

/// The same case, to which more happens.
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
    // The library writes the new schemas of encrypted arrays in clear, and then refuses them.
    let evolved = steps.iter().any(|step| matches!(step, Step::Evolve(_)));
    let encrypted = random.percent(12) && !evolved;
    (Case { array, steps, questions, encrypted, disordered: false, repeated: false }, axes)
}

/// An array while its history is being made up.
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
        // The library sets the sizes of images when an array is created, and forgets them when attributes are added.
        let evolves = random.percent(15) && !schema::has_images(self.array);
        // Where a later fragment lacks an attribute, the library shows an older one's values.
        if evolves && self.array.array_type == ArrayType::Dense {
            times.sort_unstable();
        }
        // What was deleted by an attribute that was dropped later makes the library refuse the array.
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
                // In the same millisecond or after it, sometimes before all.
                let time = if random.percent(5) { FIRST_TIMESTAMP - 1 } else { time + *random.pick(&[0, 1, 5, 25]) };
                self.times.push(time);
                steps.push(Step::Delete(condition, time));
            }
            // Of dense arrays with a current domain the library makes fragments that it can't read.
            let is_dense = self.array.array_type == ArrayType::Dense;
            let to_the_end = || self.axes.iter().any(Axis::is_written_to_the_end);
            let cut = is_dense && (self.array.current_domain.is_some() || to_the_end());
            if index > 0 && !cut && random.percent(8) {
                consolidation(random, &mut steps);
            }
        }
        steps
    }

    /// Adds and drops attributes.
    fn evolution(&mut self, random: &mut Random, index: usize) -> Option<Evolution> {
        let mut evolution = Evolution::default();
        if random.percent(60) {
            let mut attribute = schema::attribute(random, self.array, 10 + index);
            // The library takes the name of an enumeration here only if it has loaded it before.
            attribute.enumeration = None;
            evolution.add_attributes.push(attribute);
        }
        if random.percent(50) && self.attributes.len() > 1 {
            // Anonymous attributes can't be dropped.
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
