//! Properties that hold for any bytes. Called by the driver in `fuzz_targets`, and by a regular
//! test.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

use std::sync::{Arc, LazyLock};

use tdb_datafusion::ScanPieces;
use tdb_datafusion::datafusion::datasource::source::DataSource as _;
use tdb_datafusion::tdb_array::{Array, ArrayOptions};
use tdb_datafusion::tdb_storage::Storage;
use tdb_testkit::fixtures;

/// Arrays to scan.
static ARRAYS: LazyLock<Vec<Array>> = LazyLock::new(|| {
    let names = ["v22-by-2.30.0-dense-2d-row-row", "v22-by-2.30.0-sparse-2d"];
    let open = |name: &str| {
        let storage = fixtures::named(name).array_storage() as Arc<dyn Storage>;
        ArrayOptions::new().threads(1).open_on(storage).unwrap()
    };
    names.map(open).to_vec()
});

/// Checks that `ScanPieces::from_bytes` rejects the bytes, or that the scan survives a round trip.
/// Arrays must accept or reject the scan without a panic.
pub fn scan_pieces(data: &[u8]) {
    let Ok(pieces) = ScanPieces::from_bytes(data) else { return };
    assert_eq!(ScanPieces::from_bytes(&pieces.to_bytes()).unwrap(), pieces);
    for array in ARRAYS.iter() {
        let Ok(scan) = pieces.on(array.clone()) else { continue };
        // The claimed order was accepted.
        assert!(scan.eq_properties().schema().fields().len() <= array.schema().fields().count());
        let again = scan.pieces().unwrap();
        assert_eq!(again.to_bytes().len(), pieces.to_bytes().len());
        assert!(scan.partition_statistics(None).is_ok());
    }
}
