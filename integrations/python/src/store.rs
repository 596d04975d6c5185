//! Stores with explicit options.

use std::str::FromStr;
use std::sync::Arc;

use tdb_array::tdb_storage::Storage;
use tdb_object_store::object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use tdb_object_store::object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use tdb_object_store::object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use tdb_object_store::object_store::{self, ObjectStore};
use tdb_object_store::{Connector, ObjectStorage};

use crate::error::{Failure, Result};
use crate::place::StoreSettings;

/// Names of fsspec and pandas, and those of `object_store`.
const ALIASES: [(&str, &str); 8] = [
    ("key", "aws_access_key_id"),
    ("secret", "aws_secret_access_key"),
    ("token", "aws_session_token"),
    ("endpoint_url", "aws_endpoint"),
    ("anon", "skip_signature"),
    ("account_name", "azure_storage_account_name"),
    ("account_key", "azure_storage_account_key"),
    ("sas_token", "azure_storage_sas_key"),
];

/// Opens the storage of a URL with options. Settings of the environment apply where no option does.
pub(crate) fn open(uri: &str, scheme: &str, settings: &StoreSettings) -> Result<Arc<dyn Storage>> {
    let wrong = |what: String| Failure::usage(format!("storage_options: {what}"));
    let rest = uri.split_once("://").map_or(uri, |(_, rest)| rest);
    let (bucket, path) = rest.split_once('/').unwrap_or((rest, ""));
    let store: object_store::Result<Arc<dyn ObjectStore>> = match scheme {
        "s3" | "s3a" => {
            let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
            let mut is_plain = false;
            for (key, value) in settings {
                is_plain |= key.contains("endpoint") && value.starts_with("http:");
                builder = builder.with_config(known::<AmazonS3ConfigKey>(key).map_err(wrong)?, value);
            }
            let builder = if is_plain { builder.with_allow_http(true) } else { builder };
            builder.with_http_connector(Connector::default()).build().map(|store| Arc::new(store) as _)
        }
        "gs" | "gcs" => {
            let mut builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket);
            for (key, value) in settings {
                builder = builder.with_config(known::<GoogleConfigKey>(key).map_err(wrong)?, value);
            }
            builder.with_http_connector(Connector::default()).build().map(|store| Arc::new(store) as _)
        }
        "az" | "azure" | "abfs" | "abfss" => {
            let mut builder = MicrosoftAzureBuilder::from_env().with_url(format!("{scheme}://{bucket}"));
            for (key, value) in settings {
                builder = builder.with_config(known::<AzureConfigKey>(key).map_err(wrong)?, value);
            }
            builder.with_http_connector(Connector::default()).build().map(|store| Arc::new(store) as _)
        }
        other => return Err(wrong(format!("{other}:// takes no options"))),
    };
    let store = store.map_err(|error| wrong(error.to_string()))?;
    let storage = ObjectStorage::new(store, &format!("{scheme}://{bucket}"), path.trim_end_matches('/'));
    Ok(Arc::new(storage?))
}

/// Parses the name of an option.
fn known<K: FromStr>(name: &str) -> Result<K, String> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name);
    alias.parse().map_err(|_| format!("unknown option {name:?}"))
}
