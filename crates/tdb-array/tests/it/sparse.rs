//! Sparse reads compared with a plain model: overlapping fragments, timestamps, deletions, all
//! orders, several ranges, small memory limits.

use std::sync::Arc;

use crate::sparse_support::cases::cases;
use crate::sparse_support::model::{Stored, cells};
use proptest::prelude::*;
use tdb_array::{Aggregate, Batch, Exactness};
use tdb_storage::CountingStorage;
use tdb_types::Limits;

/// Number of cases, lower in debug builds.
const CASES: u32 = if cfg!(debug_assertions) { 300 } else { 10_000 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn reads_what_the_model_reads(case in cases()) {
        let array = case.array();
        let batches: Vec<Batch> = case.query(&array).batches().unwrap().map(Result::unwrap).collect();
        case.check(&batches)?;
    }

    /// Aggregates and parts of a query have the same cells as a read, each as often.
    #[test]
    fn aggregates_and_parts_have_the_cells_of_a_read(case in cases(), parts in 1..5_usize) {
        let array = case.array();
        let expected = case.expected();
        let counted = case.query(&array).aggregate([Aggregate::count()]).unwrap().value::<u64>("count").unwrap();
        prop_assert_eq!(counted, Some(expected.len() as u64));
        if let Exactness::Exact(cells) = case.query(&array).cell_count().unwrap() {
            prop_assert_eq!(cells, expected.len() as u64);
        }
        let mut found = Vec::new();
        for part in case.query(&array).split(parts).unwrap() {
            let query = part.query(&array).unwrap();
            found.extend(query.batches().unwrap().flat_map(|batch| cells(&case.schema, &batch.unwrap())));
        }
        found.sort();
        prop_assert_eq!(found, expected);
    }

    /// Tiles beyond the memory limit are unfiltered again for each batch, with the same result.
    #[test]
    fn little_memory_gives_the_same_result(mut case in cases()) {
        case.budget = case.budget.min(100);
        let array = case.options().limits(Limits::default().with_tile_bytes(600)).open_on(case.storage()).unwrap();
        let batches: Result<Vec<Batch>, _> = case.query(&array).batches().unwrap().collect();
        match batches {
            Ok(batches) => case.check(&batches)?,
            Err(error) => prop_assert!(error.to_string().contains("limit"), "{}", error),
        }
    }

    /// A plan with a single batch lists exactly the bytes that the read requests.
    #[test]
    fn plans_list_exactly_the_bytes_read(mut case in cases()) {
        case.budget = 64 << 20;
        // Unordered fragments would be read twice.
        case.fragments.iter_mut().for_each(|fragment| {
            fragment.stored = Stored::Global;
            fragment.arrange(&case.schema);
        });
        let storage = CountingStorage::new(case.storage());
        let array = case.options().open_on(Arc::new(storage.clone())).unwrap();
        let plan = case.query(&array).plan().unwrap();
        let mut batches = case.query(&array).batches().unwrap();
        let before = storage.counters();
        let cells: usize = batches.by_ref().map(|batch| batch.unwrap().len()).sum();
        let after = storage.counters();
        let read = after.bytes - before.bytes;
        prop_assert!(read <= plan.bytes(), "{} bytes were read, but the plan is\n{}", read, plan);
        // If no cell is excluded, everything planned is read.
        let planned: u64 = plan.fragments.iter().flat_map(|fragment| &fragment.tiles).map(|tile| tile.cells).sum();
        if cells as u64 == planned {
            prop_assert_eq!(read, plan.bytes(), "the plan is\n{}", plan);
        }
    }
}
