//! URLs of stores.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::{ClientOptions, ObjectStore, RetryConfig};
use percent_encoding::percent_decode_str;
use tdb_storage::Storage;
use url::{Position, Url};

use crate::credentials::{Profile, has_s3_credentials, is_on_ec2};
use crate::place::is_web;
use crate::said::without_queries;
use crate::settings::Settings;
use crate::web::WebConnector;
use crate::web_storage::WebStorage;
use crate::{Connector, ObjectStorage, SCHEMES, StoreOptions, UrlError};

/// Opens the storage at a URL: `s3://bucket/folder`, `gs://bucket/folder`, `az://container/folder`,
/// or the `http(s)://…` of a web server. The server must list folders by WebDAV, or the folder or a
/// parent folder must contain a [manifest](tdb_storage::Manifest).
///
/// Finds credentials in the usual places:
///
/// - S3: `AWS_ACCESS_KEY_ID` and related variables, a web identity or container, the profile
///   `AWS_PROFILE` in `~/.aws`, or the EC2 instance. Without any of these, requests are unsigned,
///   as for public buckets. `AWS_ENDPOINT_URL` selects another server than Amazon's.
/// - Google: `GOOGLE_SERVICE_ACCOUNT` and related variables, or the application default
///   credentials. Set `GOOGLE_SKIP_SIGNATURE=true` for public buckets.
/// - Azure: `AZURE_STORAGE_ACCOUNT_NAME`, `AZURE_STORAGE_ACCOUNT_KEY`, `AZURE_STORAGE_SAS_KEY` and
///   related variables. Set `AZURE_STORAGE_USE_EMULATOR=true` for Azurite, at
///   `AZURITE_BLOB_STORAGE_URL`.
///
/// Query parameters override the environment. One process can use several servers. For S3:
/// `?profile=NAME` (keys, region and `endpoint_url` of the profile, none from the environment),
/// `?endpoint=http://127.0.0.1:9000` and `?region=…`, joined by `&`. For Google and Azure:
/// `?endpoint=…`. Do not put keys into a URL.
///
/// Paths in buckets are literal, as in the reference library: `s3://bucket/a%20b` and
/// `s3://bucket/a b` differ. Parameters start at the last `?`. If the path contains a `?`, append
/// another `?` to the URL. URLs of web servers are percent-encoded: `http://host/a%20b` is the
/// folder `a b`.
///
/// Sends no request.
///
/// # Errors
/// [`UrlError`] if the URL, the configuration in the environment or a profile is invalid.
pub fn open(url: &str) -> Result<Arc<dyn Storage>, UrlError> {
    open_with(url, &StoreOptions::default())
}

/// Opens the storage at a URL, with options.
///
/// # Errors
/// As for [`open`].
pub fn open_with(url: &str, options: &StoreOptions) -> Result<Arc<dyn Storage>, UrlError> {
    Stores::new(options.clone()).open(url)
}

/// Stores, opened by URL. Folders of a bucket share connections and [cache](StoreOptions::cache).
#[derive(Default)]
pub struct Stores {
    options: StoreOptions,
    /// Keyed by scheme, user, host, port and query. `true` for a web server without listings.
    opened: Mutex<HashMap<String, (ObjectStorage, Arc<AtomicBool>)>>,
}

impl fmt::Debug for Stores {
    /// Prints the number of stores only, because URLs may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("Stores").field("options", &self.options).field("opened", &opened.len()).finish()
    }
}

impl Stores {
    /// Creates an empty set of stores. The options apply to each of them.
    #[must_use]
    pub fn new(options: StoreOptions) -> Self {
        Self { options, opened: Mutex::default() }
    }

    /// Opens the storage at a URL, like [`open`]. The environment is read when the first URL of a
    /// bucket is opened.
    ///
    /// # Errors
    /// [`UrlError`] if the URL, the configuration in the environment or a profile is invalid.
    pub fn open(&self, url: &str) -> Result<Arc<dyn Storage>, UrlError> {
        let wrong = |why: String| UrlError::Configuration { url: clean(url), why };
        let (bucket, path) = parts(url);
        let parsed = Url::parse(&bucket).map_err(|source| UrlError::Malformed { url: clean(url), source })?;
        if parsed.fragment().is_some() || !matches!(parsed.path(), "" | "/") {
            return Err(wrong("the bucket or the settings contain an invalid character".to_owned()));
        }
        let path = path_of(parsed.scheme(), path).map_err(|why| wrong(why.to_owned()))?;
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        // The query selects the server and the credentials.
        let reached = format!("{}?{}", &parsed[..Position::BeforePath], parsed.query().unwrap_or_default());
        let (bucket, lists_nothing) = match opened.entry(reached) {
            Entry::Occupied(bucket) => bucket.get().clone(),
            Entry::Vacant(place) => {
                place.insert((open_bucket(&parsed, &clean(url), &self.options)?, Arc::default())).clone()
            }
        };
        drop(opened);
        if is_web(parsed.scheme()) {
            let storage = WebStorage::open(Arc::new(bucket), path, lists_nothing);
            return storage.map(|storage| Arc::new(storage) as _).map_err(|error| wrong(error.to_string()));
        }
        match path.as_str() {
            "" => Ok(Arc::new(bucket)),
            path => bucket.sub(path).map_err(|error| wrong(error.to_string())),
        }
    }
}

/// Opens the bucket or server of a URL. `shown` is the whole URL, for messages.
fn open_bucket(url: &Url, shown: &str, options: &StoreOptions) -> Result<ObjectStorage, UrlError> {
    let wrong = |why: String| UrlError::Configuration { url: shown.to_owned(), why };
    let retry = RetryConfig { max_retries: options.retries, retry_timeout: options.patience, ..RetryConfig::default() };
    if !SCHEMES.contains(&url.scheme()) {
        return Err(UrlError::Scheme { url: shown.to_owned() });
    }
    let settings = Settings::of(url).map_err(wrong)?;
    let (mut heeds_conditions, mut unsigned) = (true, false);
    let store: object_store::Result<Arc<dyn ObjectStore>> = match url.scheme() {
        "s3" | "s3a" => {
            let builder = s3(&settings, url)?;
            // Amazon's servers honor conditions.
            heeds_conditions = server(&builder).is_none();
            let skips = builder.get_config_value(&AmazonS3ConfigKey::SkipSignature);
            unsigned = skips.is_some_and(|skips| skips == "true");
            let builder = builder.with_retry(retry).with_http_connector(Connector::default());
            builder.build().map(|store| Arc::new(store) as _)
        }
        "gs" | "gcs" => {
            let mut builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket(url));
            if let Some(endpoint) = &settings.endpoint {
                builder = builder.with_base_url(endpoint);
            }
            heeds_conditions = builder.get_config_value(&GoogleConfigKey::BaseUrl).is_none();
            let builder = builder.with_retry(retry).with_http_connector(Connector::default());
            builder.build().map(|store| Arc::new(store) as _)
        }
        "az" | "azure" | "abfs" | "abfss" => {
            let mut builder = MicrosoftAzureBuilder::from_env().with_url(url.as_str());
            if let Some(endpoint) = settings.endpoint {
                builder = builder.with_allow_http(endpoint.starts_with("http:")).with_endpoint(endpoint);
            }
            let builder = builder.with_retry(retry).with_http_connector(Connector::default());
            builder.build().map(|store| Arc::new(store) as _)
        }
        "http" | "https" => {
            let server = url.origin().ascii_serialization();
            let client = ClientOptions::new().with_allow_http(url.scheme() == "http");
            let builder = HttpBuilder::new().with_url(server).with_client_options(client).with_retry(retry);
            let builder = builder.with_http_connector(WebConnector);
            heeds_conditions = false;
            builder.build().map(|store| Arc::new(store) as _)
        }
        _ => return Err(UrlError::Scheme { url: shown.to_owned() }),
    };
    let store = store.map_err(|error| wrong(without_queries(&error.to_string())))?;
    let keeps_attributes = !is_web(url.scheme());
    let options = StoreOptions {
        try_conditions: options.try_conditions && !heeds_conditions,
        mark_writes: options.mark_writes || keeps_attributes,
        unsigned,
        ..options.clone()
    };
    ObjectStorage::with_options(store, &root_of(url), "", options).map_err(|error| wrong(error.to_string()))
}

/// Creates a builder for S3 with credentials, if any are found.
fn s3(settings: &Settings, url: &Url) -> Result<AmazonS3Builder, UrlError> {
    let mut builder = settings.s3().with_bucket_name(bucket(url));
    let named = settings.profile.as_deref();
    if named.is_some() || !has_s3_credentials(|name| std::env::var_os(name).is_some()) {
        let profile = Profile::of_user(named)?.unwrap_or_default();
        let is_anonymous = profile.access_key_id.is_none() && !is_on_ec2();
        for (key, value) in profile.settings() {
            // The URL and the environment take precedence over the profile.
            if builder.get_config_value(&key).is_none() {
                builder = builder.with_config(key, value);
            }
        }
        if is_anonymous
            && builder.get_config_value(&AmazonS3ConfigKey::SkipSignature).is_none_or(|skips| skips == "false")
        {
            builder = builder.with_skip_signature(true);
        }
    }
    // An endpoint with `http:` is an explicit choice of an unencrypted connection.
    let is_plain = server(&builder).is_some_and(|server| server.starts_with("http:"));
    Ok(if is_plain { builder.with_allow_http(true) } else { builder })
}

/// Returns the endpoint, or `None` for Amazon's servers.
fn server(builder: &AmazonS3Builder) -> Option<String> {
    let [first, second] = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint];
    builder.get_config_value(&first).or_else(|| builder.get_config_value(&second))
}

fn bucket(url: &Url) -> &str {
    url.host_str().unwrap_or_default()
}

/// Returns the URL up to the path: `s3://bucket`.
fn root_of(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    // In `abfss://CONTAINER@ACCOUNT…`, the user name is the container. In other schemes, the user
    // name is left out as private.
    let container = match url.scheme() {
        "abfs" | "abfss" if !url.username().is_empty() => format!("{}@", url.username()),
        _ => String::new(),
    };
    format!("{}://{container}{}{port}", url.scheme(), bucket(url))
}

/// Splits a URL into the bucket with parameters, and the path in the bucket. Takes the path
/// literally, without the special characters of web URLs.
fn parts(url: &str) -> (String, &str) {
    let (place, settings) = url.split_at(url.rfind('?').unwrap_or(url.len()));
    let start = place.find("://").map_or(0, |at| at + "://".len());
    let end = place[start..].find('/').map_or(place.len(), |at| start + at);
    (format!("{}{settings}", &place[..end]), &place[end..])
}

/// Returns the path in the store.
fn path_of(scheme: &str, path: &str) -> Result<String, &'static str> {
    let path = path.strip_prefix('/').unwrap_or(path).trim_end_matches('/');
    if !is_web(scheme) {
        return Ok(path.to_owned());
    }
    if path.contains('#') {
        return Err("write # in a name as %23");
    }
    let names = path.split('/').map(|part| {
        let name = percent_decode_str(part).decode_utf8().map_err(|_| "the path is not UTF-8")?;
        if name.contains('/') { Err("a name in the path contains a slash") } else { Ok(name) }
    });
    Ok(names.collect::<Result<Vec<_>, _>>()?.join("/"))
}

/// Removes secrets from a URL: user, password, and everything after the path.
fn clean(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let end = rest.find('/').unwrap_or(rest.len());
            let host = rest[..end].rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}{}", &rest[end..])
        }
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn urls_map_to_store_paths() {
        let storage = open("http://127.0.0.1:9/a%20b/c/").unwrap();
        assert_eq!(storage.describe("f"), "http://127.0.0.1:9/a%20b/c/f");
        let storage = open("s3://bucket/a/b?endpoint=http://127.0.0.1:9&region=eu-west-1").unwrap();
        assert_eq!(storage.uri("f").as_deref(), Some("s3://bucket/a/b/f"));
        for url in [
            "ftp://host/a",
            "nothing",
            "s3://bucket/a?profile",
            "http://127.0.0.1:9/a?b=c",
            "http://127.0.0.1:9/a#b",
            "http://127.0.0.1:9/a%2Fb",
            "http://127.0.0.1:9/a%2F..%2Fb",
            "http://127.0.0.1:9/a/../b",
            "s3://bucket#a/b?endpoint=http://127.0.0.1:9&region=eu-west-1",
            "s3://bucket/a/../b?endpoint=http://127.0.0.1:9&region=eu-west-1",
            "s3://bucket//a?endpoint=http://127.0.0.1:9&region=eu-west-1",
        ] {
            open(url).unwrap_err();
        }
        let url = Url::parse("abfss://container:SECRET@account.dfs.core.windows.net/a").unwrap();
        assert_eq!(root_of(&url), "abfss://container@account.dfs.core.windows.net");
    }

    /// Shared, because creating a client takes long.
    static STORES: LazyLock<Stores> = LazyLock::new(Stores::default);

    const SERVER: &str = "?endpoint=http://127.0.0.1:9&region=eu-west-1";

    /// Returns the path in the store for a URL.
    fn root(url: &str) -> String {
        let (bucket, path) = parts(url);
        path_of(Url::parse(&bucket).unwrap().scheme(), path).unwrap()
    }

    proptest! {
        #[test]
        fn uri_of_a_folder_opens_it(name in "[ -.0-[\\]-~é語]{1,12}|%[0-9A-Fa-f+]{2}|[0-9]%") {
            prop_assume!(name != "." && name != "..");
            let path = format!("folder/{name}");
            for server in ["s3://bucket", "http://127.0.0.1:9"] {
                let settings = if server.starts_with("s3") { SERVER } else { "" };
                let uri = STORES.open(&format!("{server}{settings}")).unwrap().sub(&path).unwrap().uri("").unwrap();
                prop_assert_eq!(root(&format!("{uri}?")), path.as_str());
                prop_assert_eq!(STORES.open(&format!("{uri}{settings}")).unwrap().uri("").unwrap(), uri);
            }
            prop_assert_eq!(root(&format!("s3://bucket/{path}?")), path);
        }
    }

    #[test]
    fn folders_of_a_bucket_share_it() {
        let stores = Stores::default();
        for url in ["http://127.0.0.1:9/a", "http://127.0.0.1:9/b/c", "http://127.0.0.1:8/a", "http://127.0.0.1:9"] {
            assert_eq!(stores.open(url).unwrap().describe(""), url);
        }
        assert_eq!(stores.opened.lock().unwrap().len(), 2);
    }
}
