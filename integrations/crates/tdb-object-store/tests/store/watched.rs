//! A small S3 server behind a proxy, with a storage.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::{BackoffConfig, RetryConfig};
use tdb_object_store::{Connector, ObjectStorage, StoreOptions, StoreProblem, object_store};
use tdb_storage::{Storage, StorageError};
use tdb_store_testkit::{Proxy, Server};

pub(crate) const BUCKET: &str = "bucket";
pub(crate) const KEY: &str = "AKIDEXAMPLE";
pub(crate) const SECRET: &str = "wJalrXUtnFEMI+SECRET/bPxRfiCY";
pub(crate) const TOKEN: &str = "FwoGZXIvYXdz/TOKEN+//////////w==";

/// A server and a proxy that injects faults.
pub(crate) struct Watched {
    pub(crate) server: Server,
    pub(crate) proxy: Proxy,
}

/// Maximum number of retries in these tests.
pub(crate) const RETRIES: usize = 4;

/// Maximum size of a listing in these tests, in bytes.
pub(crate) const LISTING: u64 = 4 << 20;

impl Watched {
    pub(crate) fn start() -> Self {
        let server = Server::start(BUCKET).unwrap();
        let proxy = Proxy::before(server.address()).unwrap();
        Self { server, proxy }
    }

    /// Starts both, and opens the [`storage`](Self::storage).
    pub(crate) fn open() -> (Self, Arc<dyn Storage>) {
        let watched = Self::start();
        let storage = watched.storage();
        (watched, storage)
    }

    pub(crate) fn builder(&self) -> AmazonS3Builder {
        // Short delays between retries, for fast tests.
        let backoff = BackoffConfig {
            init_backoff: Duration::from_millis(2),
            max_backoff: Duration::from_millis(20),
            ..BackoffConfig::default()
        };
        let retry = RetryConfig { backoff, max_retries: RETRIES, retry_timeout: Duration::from_secs(20) };
        AmazonS3Builder::new()
            .with_endpoint(self.proxy.endpoint())
            .with_allow_http(true)
            .with_region("us-east-1")
            .with_bucket_name(BUCKET)
            .with_access_key_id(KEY)
            .with_secret_access_key(SECRET)
            .with_token(TOKEN)
            .with_retry(retry)
            .with_http_connector(Connector::default())
    }

    /// Opens the folder `root` of the bucket, through the proxy.
    pub(crate) fn storage(&self) -> Arc<dyn Storage> {
        self.storage_by(self.builder())
    }

    pub(crate) fn storage_by(&self, builder: AmazonS3Builder) -> Arc<dyn Storage> {
        self.storage_as(builder, options())
    }

    pub(crate) fn storage_as(&self, builder: AmazonS3Builder, options: StoreOptions) -> Arc<dyn Storage> {
        let store = Arc::new(builder.build().unwrap());
        Arc::new(ObjectStorage::with_options(store, "s3://bucket", "root", options).unwrap())
    }
}

/// Returns the options for these tests.
pub(crate) fn options() -> StoreOptions {
    let mut options = StoreOptions::default();
    options.mark_writes = true;
    options.retries = RETRIES;
    options.part = 5 << 20;
    options.listing = LISTING;
    options
}

/// Returns the store problem behind an error.
pub(crate) fn problem(error: &StorageError) -> &StoreProblem {
    StoreProblem::of(error).unwrap_or_else(|| panic!("{error:?} is not an error of a store"))
}

/// Returns bytes without repetition, to detect shifted ranges.
pub(crate) fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at / 3 % 251) as u8 ^ (at / 1000) as u8).collect()
}
