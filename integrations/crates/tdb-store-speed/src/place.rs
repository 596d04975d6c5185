//! The server, the proxy and the credentials.

use std::env;
use std::net::{SocketAddr, ToSocketAddrs};
use std::process;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tdb_object_store::object_store::ObjectStore;
use tdb_object_store::object_store::aws::AmazonS3Builder;
use tdb_object_store::{Connector, ObjectStorage, StoreOptions};
use tdb_storage::Storage;
use tdb_store_testkit::{Proxy, Server};

use crate::outcome::Result;

/// Location of the arrays, with access settings.
pub(crate) struct Place {
    proxy: Proxy,
    /// The in-process server, if used.
    server: Option<Server>,
    bucket: String,
    /// Folder in the bucket, empty at the start.
    folder: String,
    key: String,
    secret: String,
    region: String,
}

impl Place {
    /// Creates a new folder below a URL, on the server in the environment. Without a URL, starts an
    /// in-process server.
    pub(crate) fn of(url: Option<&str>) -> Result<Self> {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
        let unique = format!("speed-{seconds}-{}", process::id());
        let region = variable("AWS_REGION").unwrap_or_else(|| "us-east-1".to_owned());
        let Some(url) = url else {
            let server = Server::start("bucket")?;
            let proxy = Proxy::before(server.address())?;
            let (bucket, name) = ("bucket".to_owned(), "nobody".to_owned());
            return Ok(Self {
                proxy,
                server: Some(server),
                bucket,
                folder: unique,
                key: name.clone(),
                secret: name,
                region,
            });
        };
        let rest = url.strip_prefix("s3://").ok_or("the URL is not an S3 URL")?.trim_end_matches('/');
        let (bucket, folder) = rest.split_once('/').unwrap_or((rest, ""));
        let wanted = |name: &str| variable(name).ok_or_else(|| format!("{name} is not set"));
        Ok(Self {
            proxy: Proxy::before(address(&wanted("AWS_ENDPOINT_URL")?)?)?,
            server: None,
            bucket: bucket.to_owned(),
            folder: format!("{folder}/{unique}").trim_start_matches('/').to_owned(),
            key: wanted("AWS_ACCESS_KEY_ID")?,
            secret: wanted("AWS_SECRET_ACCESS_KEY")?,
            region,
        })
    }

    pub(crate) fn proxy(&self) -> &Proxy {
        &self.proxy
    }

    /// Returns the description of the server for the table.
    pub(crate) fn server(&self) -> &'static str {
        if self.server.is_some() { "a small server in the same process" } else { "a separate server" }
    }

    /// Returns the URI of an array for the reference library.
    pub(crate) fn uri(&self, array: &str) -> String {
        format!("s3://{}/{}/{array}", self.bucket, self.folder)
    }

    /// Returns the settings of the reference library.
    pub(crate) fn settings(&self) -> Vec<(String, String)> {
        let settings = [
            ("vfs.s3.scheme", "http"),
            ("vfs.s3.endpoint_override", &self.proxy.address().to_string()),
            ("vfs.s3.use_virtual_addressing", "false"),
            ("vfs.s3.region", &self.region),
            ("vfs.s3.aws_access_key_id", &self.key),
            ("vfs.s3.aws_secret_access_key", &self.secret),
        ];
        settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
    }

    /// Opens the bucket for unmeasured work.
    pub(crate) fn store(&self) -> Result<Arc<dyn ObjectStore>> {
        let builder = AmazonS3Builder::new()
            .with_endpoint(self.proxy.endpoint())
            .with_allow_http(true)
            .with_region(&self.region)
            .with_bucket_name(&self.bucket)
            .with_access_key_id(&self.key)
            .with_secret_access_key(&self.secret)
            // The same connector as for URLs.
            .with_http_connector(Connector::default());
        Ok(Arc::new(builder.build()?))
    }

    /// Returns the path of an array in the bucket.
    pub(crate) fn path(&self, array: &str) -> String {
        format!("{}/{array}", self.folder)
    }

    /// Opens the folder of an array, with the options of opened URLs.
    pub(crate) fn storage(&self, array: &str, heeds_conditions: bool) -> Result<Arc<dyn Storage>> {
        let mut options = StoreOptions::default();
        options.try_conditions = !heeds_conditions;
        options.mark_writes = true;
        let url = format!("s3://{}", self.bucket);
        Ok(Arc::new(ObjectStorage::with_options(self.store()?, &url, &self.path(array), options)?))
    }
}

/// Resolves the address of a server URL.
fn address(endpoint: &str) -> Result<SocketAddr> {
    let host = endpoint.strip_prefix("http://").ok_or("AWS_ENDPOINT_URL must begin with http://")?;
    let found = host.trim_end_matches('/').to_socket_addrs()?.next();
    Ok(found.ok_or("AWS_ENDPOINT_URL names no server")?)
}
