//! Schema files.

use tdb_schema::{ArraySchema, SchemaError};
use tdb_storage::Storage;

use crate::access::Access;
use crate::{ArrayError, Result};

/// Reads the schema at a path below the array's folder.
///
/// # Errors
/// The file cannot be read, or is damaged or unsupported.
pub fn load_schema(storage: &dyn Storage, path: &str, access: &Access) -> Result<ArraySchema> {
    let bytes = access.read(storage, path)?;
    let tile = access.decoder().decode_file(&bytes, None).map_err(SchemaError::from);
    tile.and_then(|tile| ArraySchema::parse_tile(&tile, None))
        .map_err(|source| ArrayError::Schema { file: storage.describe(path), source })
}
