//! Arrays of `read`, `write` and `query` on a store.

use std::path::Path;

use tdb_cases::coverage::Coverage;
use tdb_cases::runner::CaseKind;
use tdb_cases::tally::Counts;
use tdb_cases::verdict::{Failure, Verdict};
use tdb_reference::{Reference, Result};

use super::read::{Read, ReadCase, Written};

/// The kind of cases of this module.
pub struct OnStore {
    /// Used alternately: arrays of the library, arrays of both sides, and arrays with conditions
    /// and selections.
    kinds: [Read; 3],
}

impl OnStore {
    pub fn new(seed: u64) -> Self {
        let kind = |written, conditions| Read { seed, written, conditions, names_files: false };
        Self { kinds: [kind(Written::None, false), kind(Written::All, false), kind(Written::None, true)] }
    }

    fn kind(&self, index: u64) -> &Read {
        &self.kinds[(index % 3) as usize]
    }
}

impl CaseKind for OnStore {
    type Case = ReadCase;
    type Sides = Reference;

    fn command(&self) -> String {
        "stores".to_owned()
    }

    fn start(&self) -> Result<Reference> {
        self.kinds[0].start()
    }

    fn case(&self, index: u64) -> Option<ReadCase> {
        self.kind(index).case(index)
    }

    fn examine(
        &self,
        case: &ReadCase,
        index: u64,
        reference: &mut Reference,
        folder: &Path,
        counts: &mut Counts,
    ) -> Result<Verdict> {
        self.kind(index).examine(case, index, reference, folder, counts)
    }

    fn shrink(
        &self,
        case: ReadCase,
        failure: Failure,
        fails: &mut dyn FnMut(&ReadCase) -> Option<Failure>,
    ) -> (ReadCase, Failure) {
        self.kinds[0].shrink(case, failure, fails)
    }

    fn print(&self, case: &ReadCase, index: u64, question: Option<usize>) -> String {
        self.kind(index).print(case, index, question)
    }

    fn cover(&self, case: &ReadCase, coverage: &mut Coverage) {
        self.kinds[0].cover(case, coverage);
    }
}
