//! What the full command adds to the small one: object stores, Parquet and Arrow files, Zarr. Both of this package's programs have it.

mod formats;

use std::io::{Error, ErrorKind};
use std::sync::Arc;

use formats::{ArrowFiles, ArrowStreams, ParquetFiles, ZarrFolders};
use tdb_cli::Extensions;
use tdb_object_store::{SCHEMES, Stores, UrlError};
use tdb_storage::StorageError;

/// All of it.
pub fn extensions() -> Extensions {
    let columns = Extensions::new().format(ParquetFiles).format(ArrowFiles).format(ArrowStreams);
    let local = columns.folder_format(ZarrFolders);
    let stores = Arc::new(Stores::default());
    let open = move |uri: &str| {
        // The error itself names the URI, without what may be secret in it.
        let scheme = uri.split("://").next().unwrap_or_default();
        let refused = |error| {
            let place = match &error {
                // One about a file of profiles doesn't, and what stands before an @ may be secret.
                UrlError::Profile { .. } if !uri.contains('@') => uri.split(['?', '#']).next().unwrap_or_default(),
                _ => scheme,
            };
            StorageError::from_io(place.to_owned(), Error::new(ErrorKind::InvalidInput, error))
        };
        stores.open(uri).map_err(refused)
    };
    SCHEMES.iter().fold(local, |all, scheme| all.storage(scheme, open.clone()))
}
