//! A case as plain data, ready for shrinking: an array, the history of the array, and questions.

use tdb_types::{ArrayType, Layout};

use super::selection::Selection;
use tdb_reference::model::{AggregateSpec, ArraySpec, AttributeSpec, Condition, Evolution, QuerySpec, WriteSpec};

/// An array with its history and questions.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub array: ArraySpec,
    pub steps: Vec<Step>,
    pub questions: Vec<Question>,
    /// `true` if the array is encrypted with [`KEY`].
    pub encrypted: bool,
    /// `true` if writes in global order contain unsorted cells.
    pub disordered: bool,
    /// `true` if a write contains equal coordinates although the array does not allow duplicates.
    pub repeated: bool,
}

/// The key of encrypted cases.
pub const KEY: &[u8; 32] = b"0123456789abcdef0123456789ABCDEF";

/// An operation on an array after its creation.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Write(WriteSpec),
    Evolve(Evolution),
    /// Deletes the cells that match the condition, with a timestamp.
    Delete(Condition, u64),
    /// Consolidates `fragments`, `fragment_meta` or `commits`.
    Consolidate(&'static str),
    Vacuum(&'static str),
}

/// A query for both libraries, with additional parameters for tdb.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub query: QuerySpec,
    /// Selects cells by points, boxes, prefixes and open-ended ranges.
    pub selection: Selection,
    /// Aggregates to compute in addition to the read.
    pub aggregates: Vec<AggregateSpec>,
    /// Batch size in bytes of the first read. `None` for the default.
    pub budget: Option<usize>,
    /// Batch size in bytes of the second read, which must return the same cells.
    pub tiny_budget: usize,
    pub threads: usize,
}

impl Question {
    /// Creates a question without a selection or aggregates.
    pub fn of(query: QuerySpec) -> Self {
        let (selection, aggregates) = (Selection::default(), Vec::new());
        Self { query, selection, aggregates, budget: None, tiny_budget: usize::MAX, threads: 1 }
    }
}

impl Case {
    /// Creates a case without steps or questions.
    pub fn of(array: ArraySpec) -> Self {
        let (steps, questions) = (Vec::new(), Vec::new());
        Self { array, steps, questions, encrypted: false, disordered: false, repeated: false }
    }

    /// Returns the writes in execution order.
    pub fn writes(&self) -> impl Iterator<Item = &WriteSpec> {
        self.steps.iter().filter_map(|step| match step {
            Step::Write(write) => Some(write),
            _ => None,
        })
    }

    /// Returns the writes in execution order.
    pub fn writes_mut(&mut self) -> impl Iterator<Item = &mut WriteSpec> {
        self.steps.iter_mut().filter_map(|step| match step {
            Step::Write(write) => Some(write),
            _ => None,
        })
    }

    /// Returns the schema evolutions in execution order.
    pub fn evolutions(&self) -> impl Iterator<Item = &Evolution> {
        self.steps.iter().filter_map(|step| match step {
            Step::Evolve(evolution) => Some(evolution),
            _ => None,
        })
    }

    /// Returns the case with unordered writes, whose cells the library sorts. Returns `None` if the
    /// case is not disordered.
    pub fn sorted(&self) -> Option<Self> {
        let mut sorted = Self { disordered: false, ..self.clone() };
        sorted.writes_mut().for_each(|write| write.layout = Layout::Unordered);
        self.disordered.then_some(sorted)
    }

    /// Returns the attributes after all steps.
    pub fn final_attributes(&self) -> Vec<AttributeSpec> {
        let mut attributes = self.array.attributes.clone();
        self.evolutions().for_each(|evolution| apply(&mut attributes, evolution));
        attributes
    }

    /// Returns the attributes of the array and of all evolutions.
    pub fn all_attributes(&self) -> Vec<AttributeSpec> {
        let added = self.evolutions().flat_map(|evolution| &evolution.add_attributes);
        self.array.attributes.iter().chain(added).cloned().collect()
    }

    /// Returns `true` if the array is dense.
    pub fn is_dense(&self) -> bool {
        self.array.array_type == ArrayType::Dense
    }
}

/// Applies a schema evolution: first adds attributes at the end, then drops attributes.
pub fn apply(attributes: &mut Vec<AttributeSpec>, evolution: &Evolution) {
    attributes.extend(evolution.add_attributes.iter().cloned());
    attributes.retain(|attribute| !evolution.drop_attributes.contains(&attribute.name));
}

/// Returns the seed of case `index`, derived from the seed of a run.
pub fn seed_of(seed: u64, index: u64) -> u64 {
    tdb_testkit::hostile::SplitMix64::new(seed ^ index.wrapping_mul(0xd134_2543_de82_ef95)).next()
}
