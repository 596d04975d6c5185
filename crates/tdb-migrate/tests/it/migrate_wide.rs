//! Distant subarrays of a dense array are written without the cells in between.

use std::sync::Arc;

use crate::fragments_support::Random;
use crate::migrate::difference;
use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_array::{Array, ArrayOptions, CreateOptions, TimeRange, WriteBatch, WriteIds};
use tdb_job::MaintainError;
use tdb_migrate::{Migrate, MigrationReport, Obstacle};
use tdb_storage::{MemoryStorage, Storage};
use tdb_types::{Datatype, FormatVersion, Layout, Scalar};

/// First and last row, first and last column.
type Write = (i64, i64, i64, i64);

/// Creates a dense array of `side` by `side` cells with one fragment per subarray.
fn dense(side: i64, tile: i64, writes: &[Write]) -> Array {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let dimension = |name: &str| Dimension::new(name, 0i64..=side - 1).with_tile(tile);
    let schema = SchemaBuilder::dense().dimension(dimension("y")).dimension(dimension("x"));
    let schema = schema.attribute(Attribute::new("a", Datatype::Int32)).build().unwrap();
    CreateOptions::new().create_on(&storage, schema).unwrap();
    for (number, (top, bottom, left, right)) in writes.iter().enumerate() {
        let array = ArrayOptions::new().open_on(storage.clone()).unwrap();
        let cells = (bottom - top + 1) * (right - left + 1);
        let values: Vec<i32> = (0..cells).map(|cell| i32::try_from(cell).unwrap() + 1000 * number as i32).collect();
        let write = array.write().ids(WriteIds::new().at(number as u64 + 1));
        let write = write.range("y", *top..=*bottom).unwrap().range("x", *left..=*right).unwrap();
        write.cells(WriteBatch::new().with("a", &values[..])).unwrap();
    }
    ArrayOptions::new().open_on(storage).unwrap()
}

fn flattened(array: &Array, migrate: Migrate) -> (MigrationReport, Array) {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let plan = migrate.flatten().plan(array).unwrap();
    let report = plan.into_storage(&storage, &CreateOptions::new()).unwrap();
    assert_eq!(report.fragments, plan.fragment_count() as u64);
    let new = ArrayOptions::new().open_on(storage).unwrap();
    assert_eq!(new.non_empty_domain().unwrap(), array.non_empty_domain().unwrap());
    assert_eq!(difference(array, &new), None);
    (report, new)
}

#[test]
fn cells_in_the_corners() {
    let side = 1 << 20;
    let end = side - 1;
    let corners = [(0, 0, 0, 0), (end, end, end, end), (0, 0, end, end), (0, 1, 0, 1)];
    let array = dense(side, 16, &corners);
    for migrate in [
        Migrate::new(),
        Migrate::new().to(FormatVersion::new(3).unwrap()),
        Migrate::new().tile_extent("y", Scalar::I64(128)),
        Migrate::new().cell_order(Layout::ColMajor).tile_order(Layout::ColMajor),
    ] {
        let (report, _) = flattened(&array, migrate);
        assert_eq!(report.fragments, 3);
        assert!(report.cells <= 3 * 128 * 16, "{report:?}");
    }
    // A migration at an earlier time leaves out later cells.
    let early = array.reopened_between(TimeRange::until(1)).unwrap();
    let (report, _) = flattened(&early, Migrate::new());
    assert_eq!((report.fragments, report.cells), (1, 1));
}

/// The MBR of a row and a column is mostly empty. Adjacent subarrays become one fragment.
#[test]
fn crosses_and_neighbours() {
    let side = 1 << 13;
    let cross = [(100, 100, 0, side - 1), (0, side - 1, 5000, 5000)];
    let (report, _) = flattened(&dense(side, 16, &cross), Migrate::new());
    assert!((3..=5).contains(&report.fragments), "{report:?}");
    assert_eq!(report.cells, 2 * 16 * 8192 - 256);
    let near = [(0, 9, 0, 9), (0, 9, 20, 39), (8000, 8010, 8000, 8010), (8000, 8010, 8020, 8025)];
    let (report, _) = flattened(&dense(side, 10, &near), Migrate::new());
    assert_eq!(report.fragments, 2);
    // Few cells are in between.
    let (report, _) = flattened(&dense(100, 10, &[(0, 0, 0, 0), (99, 99, 99, 99)]), Migrate::new());
    assert_eq!((report.fragments, report.cells), (1, 10_000));
}

/// Crossing rows and columns cut each other into pieces. Larger subarrays bound the number of
/// pieces.
#[test]
fn pieces_are_bounded() {
    let side = 1 << 11;
    let along = |at: i64| [(at, at, 0, side - 1), (0, side - 1, at, at)];
    let lines: Vec<Write> = (0..25).flat_map(|line| along(81 * line)).collect();
    let (report, _) = flattened(&dense(side, 4, &lines), Migrate::new());
    assert!(report.fragments <= 200, "{report:?}");
}

#[test]
fn random_subarrays() {
    let mut random = Random(7);
    let mut below = |end: i64| i64::from(random.number(end.cast_unsigned()));
    let side = 1 << 12;
    for round in 0..12 {
        let writes: Vec<Write> = (0..1 + round)
            .map(|_| {
                let (top, left) = (below(side), below(side));
                (top, (top + below(70)).min(side - 1), left, (left + below(70)).min(side - 1))
            })
            .collect();
        let (report, _) = flattened(&dense(side, 8, &writes), Migrate::new());
        // Tiles of 8 by 8 around subarrays of up to 70 by 70, with amplification 2, or one subarray
        // below 2^20 cells.
        let most = 2 * 80 * 80 * writes.len() as u64;
        assert!(report.cells <= most.max(1 << 20), "{report:?} {writes:?}");
    }
}

#[test]
fn excessive_growth_is_refused() {
    let array = dense(1 << 20, 1, &[(0, 0, 0, 0), (5, 5, 5, 5)]);
    let migrate = Migrate::new().tile_extent("x", Scalar::I64(1 << 15)).tile_extent("y", Scalar::I64(1 << 15));
    let MaintainError::CannotMigrate { against, .. } = migrate.clone().flatten().plan(&array).unwrap_err() else {
        panic!()
    };
    assert_eq!(against, [Obstacle::Spread { cells: 1 << 30, stored: 2 }]);
    assert!(against[0].to_string().contains("1073741824 cells would be written"), "{}", against[0]);
}
