//! Random arrays on an S3 server, written and read by the reference library and by ours, and compared.
//!
//! `cargo xtask conformance stores` starts servers and runs this on each. The server is named by the variables that the AWS tools
//! take: `AWS_ENDPOINT_URL`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`; without the first it is Amazon's own.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use clap::Parser;
use tdb_conformance::{CaseArguments, Store, run_on_store};
use tdb_storage::StorageError;

#[derive(Parser)]
#[command(about = "Random arrays on an S3 server, by the reference library and by ours")]
struct Arguments {
    /// The folder that arrays are made in: s3://bucket/folder
    uri: String,
    #[command(flatten)]
    cases: CaseArguments,
}

fn main() -> ExitCode {
    // The process that holds the library is this program, started a second time.
    if let Some(result) = tdb_reference::serve() {
        return exit_code(result.map_err(Into::into));
    }
    let Arguments { uri, cases } = Arguments::parse();
    let run = library_settings().and_then(|settings| {
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

/// What the library has to be told of the server; the keys it finds itself where ours does.
fn library_settings() -> Result<Vec<(&'static str, String)>, Box<dyn Error>> {
    let variable = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    let given = [
        ("AWS_ACCESS_KEY_ID", "vfs.s3.aws_access_key_id"),
        ("AWS_SECRET_ACCESS_KEY", "vfs.s3.aws_secret_access_key"),
        ("AWS_SESSION_TOKEN", "vfs.s3.aws_session_token"),
        ("AWS_REGION", "vfs.s3.region"),
    ];
    let mut settings: Vec<_> =
        given.into_iter().filter_map(|(name, setting)| Some((setting, variable(name)?))).collect();
    if let Some(endpoint) = variable("AWS_ENDPOINT_URL") {
        let (scheme, host) = endpoint.split_once("://").ok_or("AWS_ENDPOINT_URL has no scheme")?;
        settings.push(("vfs.s3.scheme", scheme.to_owned()));
        settings.push(("vfs.s3.endpoint_override", host.trim_end_matches('/').to_owned()));
        // Buckets aren't part of the names of such servers.
        settings.push(("vfs.s3.use_virtual_addressing", "false".to_owned()));
    }
    Ok(settings)
}
