//! Extensions of the full command: object stores, Parquet and Arrow files, and Zarr. Shared by both
//! programs of this package.

mod formats;

use std::io::{Error, ErrorKind};
use std::sync::Arc;

use formats::{ArrowFormat, ParquetFiles, ZarrFolders};
use tdb_cli::Extensions;
use tdb_object_store::{SCHEMES, Stores, UrlError};
use tdb_storage::StorageError;

/// Returns all extensions.
pub fn extensions() -> Extensions {
    let columns = Extensions::new().format(ParquetFiles).format(ArrowFormat::FILES).format(ArrowFormat::STREAMS);
    let local = columns.folder_format(ZarrFolders);
    let stores = Arc::new(Stores::default());
    let open = move |uri: &str| {
        // The error names the URI, without secrets.
        let scheme = uri.split("://").next().unwrap_or_default();
        let refused = |error| {
            let place = match &error {
                // Errors about profile files do not name the URI. Text before an `@` may be secret.
                UrlError::Profile { .. } if !uri.contains('@') => uri.split(['?', '#']).next().unwrap_or_default(),
                _ => scheme,
            };
            StorageError::from_io(place.to_owned(), Error::new(ErrorKind::InvalidInput, error))
        };
        stores.open(uri).map_err(refused)
    };
    SCHEMES.iter().fold(local, |all, scheme| all.storage(scheme, open.clone()))
}
