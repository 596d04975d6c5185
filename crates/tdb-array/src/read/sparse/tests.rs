//! Reading with so little room that everything is done piece by piece; see `tests/it/sparse.rs` for reading as anyone can.

#[path = "../../../tests/it/sparse_support/mod.rs"]
mod sparse_support;

use proptest::prelude::*;

use crate::read::Reader;
use sparse_support::cases::cases;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 300 } else { 10_000 }))]

    #[test]
    fn little_room_gives_the_same_cells(case in cases(), room in prop_oneof![Just(1_usize), 100..3000_usize]) {
        let array = case.array();
        let mut batches = case.query(&array).batches().unwrap();
        if let Reader::Sparse(reader) = &mut batches.reader {
            (reader.context.room, reader.context.sorting) = (room, room);
            reader.context.passing = room / 2;
        }
        case.check(&batches.map(Result::unwrap).collect::<Vec<_>>())?;
    }
}
