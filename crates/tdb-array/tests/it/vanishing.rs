//! Files deleted between listing and reading by a concurrent vacuum.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tdb_array::{Array, ArrayError, ArrayOptions};
use tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_storage::{ReadAt, Result, Storage, StorageError, forward_storage};
use tdb_types::Datatype;

use crate::arrays::create;

const LISTED: &str = "__commits/__1_1_00000000000000000000000000000001_22.con";

/// A storage without a listed file. The first `again` attempts to open the file fail. The next
/// attempt also removes the file from the listing.
#[derive(Debug)]
struct Vanishing {
    inner: Arc<dyn Storage>,
    again: AtomicUsize,
}

impl Vanishing {
    fn opening(&self, path: &str) -> Result<()> {
        if path != LISTED {
            return Ok(());
        }
        let is_over = self.again.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err();
        if is_over {
            self.inner.remove_file(path)?;
        }
        Err(StorageError::NotFound { path: self.describe(path) })
    }
}

impl Storage for Vanishing {
    forward_storage!(|this| this.inner => list, names, file_size, profile, kind, sub, describe, uri);
    forward_storage!(|this| this.inner => create_folder, create_new, create_file, sync_folder, remove_file, remove_folder);

    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>> {
        self.opening(path)?;
        self.inner.open(path)
    }

    fn open_sized(&self, path: &str, size: u64) -> Result<Arc<dyn ReadAt>> {
        self.opening(path)?;
        self.inner.open_sized(path, size)
    }
}

fn opened(again: usize) -> std::result::Result<Array, ArrayError> {
    let x = Dimension::new("x", 0i32..=9).with_tile(10);
    let schema = SchemaBuilder::dense().dimension(x).attribute(Attribute::new("a", Datatype::Int32)).build().unwrap();
    let inner = create(schema);
    inner.create_new(LISTED, b"").unwrap();
    ArrayOptions::new().open_on(Arc::new(Vanishing { inner, again: AtomicUsize::new(again) }))
}

#[test]
fn concurrently_vacuumed_files_are_no_error() {
    assert!(opened(0).unwrap().fragments().unwrap().is_empty());
}

#[test]
fn listed_but_missing_files_are_errors() {
    let error = opened(1).unwrap_err();
    assert!(
        matches!(&error, ArrayError::Storage(StorageError::NotFound { path }) if path.ends_with(".con")),
        "{error}"
    );
}
