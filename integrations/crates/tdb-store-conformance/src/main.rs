//! Compares the reference library and this project on random arrays on a store.
//!
//! `cargo xtask conformance stores` starts servers, and runs this program on each. For S3, set the
//! variables of the AWS tools: `AWS_ENDPOINT_URL`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
//! `AWS_REGION`. Without `AWS_ENDPOINT_URL`, uses Amazon's servers. For Azure, set
//! `AZURE_STORAGE_ACCOUNT_NAME`, `AZURE_STORAGE_ACCOUNT_KEY` and, for Azurite,
//! `AZURITE_BLOB_STORAGE_URL`.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use clap::Parser;
use tdb_conformance::{CaseArguments, Store, run_on_store};
use tdb_storage::StorageError;

#[derive(Parser)]
#[command(about = "Compare the reference library and tdb on random arrays on a store")]
struct Arguments {
    /// Folder for the arrays, in the URI form of the reference library: s3://bucket/folder or
    /// azure://container/folder
    uri: String,
    #[command(flatten)]
    cases: CaseArguments,
}

fn main() -> ExitCode {
    // This program, started again, is the process that loads the library.
    if let Some(result) = tdb_reference::serve() {
        return exit_code(result.map_err(Into::into));
    }
    let Arguments { uri, cases } = Arguments::parse();
    let settings = if uri.starts_with("azure://") { azure_settings() } else { s3_settings() };
    let run = settings.and_then(|settings| {
        let uri = uri.trim_end_matches('/').to_owned();
        run_on_store(Store { uri, open: Box::new(open), settings }, &cases)
    });
    exit_code(run)
}

fn exit_code(result: Result<(), Box<dyn Error>>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn open(uri: &str) -> Result<std::sync::Arc<dyn tdb_storage::Storage>, StorageError> {
    let refused = |error| StorageError::from_io(uri.to_owned(), io::Error::new(io::ErrorKind::InvalidInput, error));
    tdb_object_store::open(uri).map_err(refused)
}

/// Settings of the reference library.
type Settings = Vec<(&'static str, String)>;

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the settings for an Azure account.
fn azure_settings() -> Result<Settings, Box<dyn Error>> {
    let account = variable("AZURE_STORAGE_ACCOUNT_NAME").ok_or("AZURE_STORAGE_ACCOUNT_NAME is not set")?;
    let mut settings = Settings::new();
    if let Some(address) = variable("AZURITE_BLOB_STORAGE_URL") {
        // In Azurite, the account is the first part of the path.
        settings.push(("vfs.azure.blob_endpoint", format!("{}/{account}", address.trim_end_matches('/'))));
    }
    let key = variable("AZURE_STORAGE_ACCOUNT_KEY");
    settings.extend(key.map(|key| ("vfs.azure.storage_account_key", key)));
    settings.push(("vfs.azure.storage_account_name", account));
    Ok(settings)
}

/// Returns the settings for an S3 server. The library itself finds keys outside of variables.
fn s3_settings() -> Result<Settings, Box<dyn Error>> {
    let given = [
        ("AWS_ACCESS_KEY_ID", "vfs.s3.aws_access_key_id"),
        ("AWS_SECRET_ACCESS_KEY", "vfs.s3.aws_secret_access_key"),
        ("AWS_SESSION_TOKEN", "vfs.s3.aws_session_token"),
        ("AWS_REGION", "vfs.s3.region"),
    ];
    let mut settings: Settings =
        given.into_iter().filter_map(|(name, setting)| Some((setting, variable(name)?))).collect();
    if let Some(endpoint) = variable("AWS_ENDPOINT_URL") {
        let (scheme, host) = endpoint.split_once("://").ok_or("AWS_ENDPOINT_URL has no scheme")?;
        settings.push(("vfs.s3.scheme", scheme.to_owned()));
        settings.push(("vfs.s3.endpoint_override", host.trim_end_matches('/').to_owned()));
        // These servers do not use bucket names in host names.
        settings.push(("vfs.s3.use_virtual_addressing", "false".to_owned()));
    }
    Ok(settings)
}
