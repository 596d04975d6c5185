//! Reads with so little memory that every step works piecewise. `tdb-array` tests reads through the
//! public API in `tests/it/sparse.rs`.

#[path = "../../tdb-array/tests/it/sparse_support/mod.rs"]
mod sparse_support;

use proptest::prelude::*;

use crate::SparseReader;
use sparse_support::cases::cases;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 300 } else { 10_000 }))]

    #[test]
    fn little_memory_returns_the_same_cells(mut case in cases(), room in prop_oneof![Just(1_usize), 100..3000_usize]) {
        let array = case.array();
        let (mut reader, _) = SparseReader::new(case.query(&array).check().unwrap()).unwrap();
        (reader.context.room, reader.context.sorting) = (room, room);
        reader.context.passing = room / 2;
        let batches = std::iter::from_fn(|| reader.next_batch().unwrap());
        // The caller of this reader normally cuts batches to the budget. The reader alone does not.
        case.budget = usize::MAX;
        case.check(&batches.collect::<Vec<_>>())?;
    }
}
