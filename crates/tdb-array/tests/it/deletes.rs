//! Deletes that the fixtures of the reference library do not cover. See `fixtures.rs` for further
//! deletes.

use std::sync::Arc;

use tdb_array::{Array, ArrayError, ArrayOptions, ErrorCategory, Order, TimeRange, WriteIds};
use tdb_condition::Condition;
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::fixtures;
use tdb_types::{FormatVersion, Limits};

use crate::arrays::count;

/// A writable copy of a fixture's array.
fn copy(name: &str) -> Arc<MemoryStorage> {
    fixtures::named(&format!("v22-by-2.30.0-{name}")).array_storage()
}

/// Adds a delete commit with the given timestamp.
fn delete(storage: &MemoryStorage, time: u64, stays: &Condition) -> String {
    let path = format!("__commits/__{time}_{time}_{:032x}_22.del", 7);
    storage.insert(&path, stays.to_file(FormatVersion::DEFAULT).unwrap()).unwrap();
    path
}

fn open(storage: &MemoryStorage, end: u64) -> Array {
    let storage: Arc<dyn Storage> = Arc::new(storage.clone());
    ArrayOptions::new().threads(1).between(TimeRange::until(end)).open_on(storage).unwrap()
}

fn places(array: &Array) -> Result<Vec<i32>, ArrayError> {
    let mut places = Vec::new();
    for batch in array.read().select(["x"])?.order(Order::RowMajor).batches()? {
        places.extend_from_slice(batch?.column("x")?.values()?);
    }
    Ok(places)
}

#[test]
fn an_attribute_that_was_dropped_still_decides() {
    let array = ArrayOptions::new().open_on(copy("sparse-deletes-dropped")).unwrap();
    assert!(array.schema().field("a").is_none());
    assert_eq!(places(&array).unwrap(), [1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn plans_include_fields_of_conditions() {
    let array = ArrayOptions::new().open_on(copy("sparse-deletes")).unwrap();
    let plan = array.read().select(["x"]).unwrap().plan().unwrap();
    let fields = |fragment: usize| -> Vec<&str> {
        plan.fragments[fragment].reads.iter().map(|reads| reads.field.as_str()).collect()
    };
    assert_eq!(fields(0), ["x", "a", "s", "s"]);
    let before = ArrayOptions::new().at(1_700_000_000_500);
    let array = before.open_on(copy("sparse-deletes")).unwrap();
    let plan = array.read().select(["x"]).unwrap().plan().unwrap();
    assert_eq!(plan.fragments[0].reads.len(), 1, "{plan}");
}

#[test]
fn a_test_for_null_that_the_reference_library_stores_and_cannot_read() {
    let storage = copy("sparse-deletes-nullable");
    let array = open(&storage, 1_700_000_000_000);
    let all = places(&array).unwrap();
    let stays = Condition::field("n").ne("");
    delete(&storage, 1_700_000_000_000, &stays);
    let left = places(&open(&storage, 1_700_000_000_000)).unwrap();
    assert_eq!(left, all.iter().copied().filter(|place| place % 4 != 0).collect::<Vec<_>>());
    assert!(left.len() < all.len());
}

#[test]
fn all_cells_can_be_deleted() {
    let storage = copy("sparse-2d");
    delete(&storage, 1_800_000_000_000, &Condition::Or(Vec::new()));
    for order in [Order::RowMajor, Order::ColMajor, Order::Global, Order::Unordered] {
        let array = open(&storage, u64::MAX);
        assert_eq!(count(array.read().order(order)), 0);
    }
    assert!(!places(&open(&storage, 1_799_999_999_999)).unwrap().is_empty());
}

#[test]
fn commits_that_cannot_be_applied_are_errors_that_name_them() {
    let storage = copy("sparse-2d");
    let time = 1_800_000_000_000;
    let path = delete(&storage, time, &Condition::field("x").eq(1_u8));
    let error = places(&open(&storage, u64::MAX)).unwrap_err();
    assert_eq!(error.category(), ErrorCategory::Corrupt);
    assert!(error.to_string().contains(&path) && error.to_string().contains("\"x\""), "{error}");

    storage.insert(&path, &b""[..]).unwrap();
    let error = places(&open(&storage, u64::MAX)).unwrap_err();
    assert_eq!(error.category(), ErrorCategory::Corrupt);
    assert!(error.to_string().contains(&path), "{error}");

    let storage = copy("sparse-2d");
    storage.insert(&path.replace(".del", ".upd"), &b""[..]).unwrap();
    let error = places(&open(&storage, u64::MAX)).unwrap_err();
    assert_eq!(error.category(), ErrorCategory::Unsupported);
    assert!(error.to_string().contains("updated by a condition"), "{error}");
    assert!(places(&open(&storage, time - 1)).is_ok());

    let storage = copy("dense-1d");
    delete(&storage, time, &Condition::field("a").eq(1_i32));
    let error = open(&storage, u64::MAX).read().plan().unwrap_err();
    assert_eq!(error.category(), ErrorCategory::Unsupported);
}

/// Every delete commit of every fixture is reproduced byte by byte.
#[test]
fn delete_commits_come_back_byte_for_byte() {
    let mut count = 0;
    for fixture in fixtures::all() {
        for path in fixture.array_files().filter(|path| path.ends_with(".del")) {
            let bytes = fixture.read(path);
            let condition = Condition::parse_file(&bytes, &Limits::default(), None).unwrap();
            let tile = tdb_generic_tile::GenericTile::parse_file(&bytes, &Limits::default(), None).unwrap();
            let mut payload = tdb_types::ByteWriter::new();
            condition.write(&mut payload).unwrap();
            assert_eq!(payload.as_slice(), tile.payload, "{}: {path}", fixture.name());
            count += 1;
        }
    }
    assert!(count > 25, "only {count} delete commits");
}

/// The limit applies to the total size of all conditions, because each is evaluated for every cell.
#[test]
fn all_conditions_together_are_limited_too() {
    let storage = copy("sparse-2d");
    let stays = Condition::Or((0..3).map(|value| Condition::field("a").ge(value)).collect());
    for index in 0..20 {
        let path = format!("__commits/__1800000000000_1800000000000_{index:032x}_22.del");
        storage.insert(&path, stays.to_file(FormatVersion::DEFAULT).unwrap()).unwrap();
    }
    let open = |limits: Limits| {
        let options = ArrayOptions::new().threads(1).between(TimeRange::ALL).limits(limits);
        options.open_on(Arc::new(storage.clone())).unwrap()
    };
    // Twenty conditions of four nodes each. Every file is within the limits.
    assert!(places(&open(Limits::default().with_condition_nodes(5))).is_ok());
    let error = places(&open(Limits::default().with_condition_nodes(4))).unwrap_err();
    assert!(error.to_string().contains(&format!("{:032x}_22.del", 16)), "{error}");
    let error = places(&open(Limits::default().with_generic_tile_bytes(1200))).unwrap_err();
    assert!(error.to_string().contains("_22.del"), "{error}");
}

/// A delete commit that readers reject would make the whole array unreadable.
#[test]
fn unreadable_conditions_are_not_stored() {
    let storage = copy("sparse-2d");
    let limits = Limits::default();
    let field = || Condition::field("a");
    let nested = |depth: u32| {
        let turn = |within: Condition, level: u32| match level % 2 {
            0 => Condition::Or(vec![within]),
            _ => Condition::And(vec![within]),
        };
        (1..depth).fold(field().lt(0), turn)
    };
    let wide = |nodes: u32| Condition::Or((1..nodes).map(|_| field().lt(0)).collect());
    let array = open(&storage, u64::MAX);
    let cells = places(&array).unwrap().len();
    for (condition, what) in [
        (nested(limits.depth + 1), "found 65 levels, expected at most 64"),
        (wide(limits.condition_nodes + 1), "found 65537 comparisons and combinations, expected at most 65536"),
        (nested(5000), "nested deeper than 1000"),
    ] {
        let error = array.delete_cells(&condition, &WriteIds::new()).unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
        assert_eq!(error.category(), ErrorCategory::Usage);
    }
    for condition in [nested(limits.depth), wide(limits.condition_nodes)] {
        array.delete_cells(&condition, &WriteIds::new()).unwrap();
        assert_eq!(places(&open(&storage, u64::MAX)).unwrap().len(), cells);
    }
}

/// Conditions built by a program may nest arbitrarily deep.
#[test]
fn filters_that_nest_too_deep_are_refused() {
    let array = open(&copy("sparse-2d"), u64::MAX);
    let below = || Condition::field("a").lt(0);
    let deep = (0..3000).fold(below(), |within, _| below().and(below().or(within)));
    let error = array.read().filter(deep).batches().err().unwrap();
    assert!(error.to_string().contains("nested deeper than 1000"), "{error}");
    let negated = (0..1_000_000).fold(below(), |within, _| !within);
    assert!(array.read().filter(negated).batches().is_ok());
}
