//! One case: an array, how it comes about, and what is asked of it; plain data, so that it can be made smaller.

use tdb_types::Layout;

use super::selection::Selection;
use tdb_reference::model::{AggregateSpec, ArraySpec, AttributeSpec, Condition, Evolution, QuerySpec, WriteSpec};

/// An array with its history, and questions.
#[derive(Clone, Debug)]
pub struct Case {
    pub array: ArraySpec,
    pub steps: Vec<Step>,
    pub questions: Vec<Question>,
    /// Whether all of it is encrypted, by [`KEY`].
    pub encrypted: bool,
    /// Whether writes in global order give cells that aren't.
    pub disordered: bool,
    /// Whether writes have cells of equal coordinates, although the array doesn't allow it.
    pub repeated: bool,
}

/// The key of encrypted cases.
pub const KEY: &[u8; 32] = b"0123456789abcdef0123456789ABCDEF";

/// What happens to an array after its creation.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Write(WriteSpec),
    Evolve(Evolution),
    /// Deletes cells that fulfil the condition, at this time.
    Delete(Condition, u64),
    /// Of `fragments`, `fragment_meta` or `commits`.
    Consolidate(&'static str),
    Vacuum(&'static str),
}

/// A read, and how our side does it.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub query: QuerySpec,
    /// Which of these cells, and how ours is asked for them.
    pub selection: Selection,
    /// What is computed of the cells, beside reading them.
    pub aggregates: Vec<AggregateSpec>,
    /// Bytes of a batch in the first reading; the default if absent.
    pub budget: Option<usize>,
    /// Bytes of a batch in the second reading, which must give the same cells.
    pub tiny_budget: usize,
    pub threads: usize,
}

impl Case {
    /// The writes, in the order in which they happen.
    pub fn writes(&self) -> impl Iterator<Item = &WriteSpec> {
        self.steps.iter().filter_map(|step| match step {
            Step::Write(write) => Some(write),
            _ => None,
        })
    }

    /// The same case with writes whose cells the library sorts, if it has others.
    pub fn sorted(&self) -> Option<Self> {
        let mut sorted = Self { disordered: false, ..self.clone() };
        for step in &mut sorted.steps {
            if let Step::Write(write) = step {
                write.layout = Layout::Unordered;
            }
        }
        self.disordered.then_some(sorted)
    }

    /// The attributes after all steps.
    pub fn final_attributes(&self) -> Vec<AttributeSpec> {
        let mut attributes = self.array.attributes.clone();
        for step in &self.steps {
            if let Step::Evolve(evolution) = step {
                apply(&mut attributes, evolution);
            }
        }
        attributes
    }
}

/// Adds and drops attributes as a schema evolution does: first it adds at the end, then it drops.
pub fn apply(attributes: &mut Vec<AttributeSpec>, evolution: &Evolution) {
    attributes.extend(evolution.add_attributes.iter().cloned());
    attributes.retain(|attribute| !evolution.drop_attributes.contains(&attribute.name));
}

/// The random numbers of case `index` of a seed.
pub fn seed_of(seed: u64, index: u64) -> u64 {
    tdb_testkit::hostile::SplitMix64::new(seed ^ index.wrapping_mul(0xd134_2543_de82_ef95)).next()
}
