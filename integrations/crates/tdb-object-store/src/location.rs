//! URLs of stores.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
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
use crate::unsigned::Unsigned;
use crate::web::WebConnector;
use crate::{Connector, ObjectStorage, SCHEMES, StoreOptions, UrlError};

/// The storage at a URL: `s3://bucket/folder`, `gs://bucket/folder`, `az://container/folder`, or a WebDAV server's `http(s)://…`.
///
/// Credentials come from where each store's users keep them:
///
/// - S3: `AWS_ACCESS_KEY_ID` and the other variables of that kind, a web identity or container, the profile
///   `AWS_PROFILE` of `~/.aws`, the instance on EC2; without any of these requests are not signed, as for public buckets.
///   `AWS_ENDPOINT_URL` names other servers than Amazon's.
/// - Google: `GOOGLE_SERVICE_ACCOUNT` and the like, the application's default credentials; `GOOGLE_SKIP_SIGNATURE=true` for public
///   buckets.
/// - Azure: `AZURE_STORAGE_ACCOUNT_NAME`, `AZURE_STORAGE_ACCOUNT_KEY`, `AZURE_STORAGE_SAS_KEY` and the like;
///   `AZURE_STORAGE_USE_EMULATOR=true` for Azurite, at `AZURITE_BLOB_STORAGE_URL`.
///
/// A URL may say of itself which server is asked, and by whom, behind a `?`; that wins over the environment, and so several servers can be
/// used at the same time: `s3://bucket/folder?profile=NAME` (keys, region and `endpoint_url` of that profile, and none of
/// the environment), `?endpoint=http://127.0.0.1:9000` and `?region=…`, joined by `&`; for Google and Azure, `?endpoint=…`. Keys don't belong there.
///
/// A path in a bucket is taken character by character, as the reference library does it: `s3://bucket/a%20b` is not `s3://bucket/a b`.
/// Settings begin at the last `?`, so that the URL of a name with a `?` ends with another. A URL of a web server is
/// percent-encoded, as everywhere on the web: `http://host/a%20b` is the folder `a b`.
///
/// Nothing is asked of the store yet.
///
/// # Errors
/// [`UrlError`].
pub fn open(url: &str) -> Result<Arc<dyn Storage>, UrlError> {
    open_with(url, &StoreOptions::default())
}

/// As [`open`], asked as the options say.
///
/// # Errors
/// As there.
pub fn open_with(url: &str, options: &StoreOptions) -> Result<Arc<dyn Storage>, UrlError> {
    Stores::new(options.clone()).open(url)
}

/// Stores by their URLs: all folders of a bucket share its connections, and what is [kept](StoreOptions::cache) of it.
#[derive(Default)]
pub struct Stores {
    options: StoreOptions,
    /// By scheme, user, host and query.
    opened: Mutex<HashMap<String, ObjectStorage>>,
}

impl fmt::Debug for Stores {
    /// How many, for URLs may hold what is secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("Stores").field("options", &self.options).field("opened", &opened.len()).finish()
    }
}

impl Stores {
    /// None yet; all that will be are asked as the options say.
    #[must_use]
    pub fn new(options: StoreOptions) -> Self {
        Self { options, opened: Mutex::default() }
    }

    /// The storage at a URL, as [`open`] understands it. What the environment says when the first URL of a bucket is opened holds
    /// for all that follow.
    ///
    /// # Errors
    /// [`UrlError`].
    pub fn open(&self, url: &str) -> Result<Arc<dyn Storage>, UrlError> {
        let wrong = |why: String| UrlError::Configuration { url: clean(url), why };
        let (bucket, path) = parts(url);
        let parsed = Url::parse(&bucket).map_err(|source| UrlError::Malformed { url: clean(url), source })?;
        if parsed.fragment().is_some() || !matches!(parsed.path(), "" | "/") {
            return Err(wrong("its bucket or its settings contain a character that they can't".to_owned()));
        }
        let path = path_of(parsed.scheme(), path).map_err(|why| wrong(why.to_owned()))?;
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        // What follows a `?` says how the bucket is reached.
        let reached = format!("{}?{}", &parsed[..Position::BeforePath], parsed.query().unwrap_or_default());
        let bucket = match opened.entry(reached) {
            Entry::Occupied(bucket) => bucket.get().clone(),
            Entry::Vacant(place) => place.insert(open_bucket(&parsed, &clean(url), &self.options)?).clone(),
        };
        drop(opened);
        match path.as_str() {
            "" => Ok(Arc::new(bucket)),
            path => bucket.sub(path).map_err(|error| wrong(error.to_string())),
        }
    }
}

/// All of the bucket or server that a URL names. Messages show the whole URL.
fn open_bucket(url: &Url, shown: &str, options: &StoreOptions) -> Result<ObjectStorage, UrlError> {
    let wrong = |why: String| UrlError::Configuration { url: shown.to_owned(), why };
    let retry = RetryConfig { max_retries: options.retries, retry_timeout: options.patience, ..RetryConfig::default() };
    if !SCHEMES.contains(&url.scheme()) {
        return Err(UrlError::Scheme { url: shown.to_owned() });
    }
    let settings = Settings::of(url).map_err(wrong)?;
    let mut heeds_conditions = true;
    let store: object_store::Result<Arc<dyn ObjectStore>> = match url.scheme() {
        "s3" | "s3a" => {
            let builder = s3(&settings, url)?;
            // Amazon's own heeds them.
            heeds_conditions = server(&builder).is_none();
            let skips = builder.get_config_value(&AmazonS3ConfigKey::SkipSignature);
            let store = builder.with_retry(retry).with_http_connector(Connector::default()).build();
            match skips.is_some_and(|skips| skips == "true") {
                true => store.map(|store| Arc::new(Unsigned(store)) as _),
                false => store.map(|store| Arc::new(store) as _),
            }
        }
        "gs" | "gcs" => {
            let mut builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket(url));
            if let Some(endpoint) = &settings.endpoint {
                builder = builder.with_base_url(endpoint);
            }
            heeds_conditions = builder.get_config_value(&GoogleConfigKey::BaseUrl).is_none();
            builder
                .with_retry(retry)
                .with_http_connector(Connector::default())
                .build()
                .map(|store| Arc::new(store) as _)
        }
        "az" | "azure" | "abfs" | "abfss" => {
            let mut builder = MicrosoftAzureBuilder::from_env().with_url(url.as_str());
            if let Some(endpoint) = settings.endpoint {
                builder = builder.with_allow_http(endpoint.starts_with("http:")).with_endpoint(endpoint);
            }
            builder
                .with_retry(retry)
                .with_http_connector(Connector::default())
                .build()
                .map(|store| Arc::new(store) as _)
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
        ..options.clone()
    };
    ObjectStorage::with_options(store, &root_of(url), "", options).map_err(|error| wrong(error.to_string()))
}

/// A builder for S3 that has credentials, if there are any.
fn s3(settings: &Settings, url: &Url) -> Result<AmazonS3Builder, UrlError> {
    let mut builder = settings.s3().with_bucket_name(bucket(url));
    let named = settings.profile.as_deref();
    if named.is_some() || !has_s3_credentials(|name| std::env::var_os(name).is_some()) {
        let profile = Profile::of_user(named)?.unwrap_or_default();
        let is_anonymous = profile.access_key_id.is_none() && !is_on_ec2();
        for (key, value) in profile.settings() {
            // What the URL and the environment say wins.
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
    // Who names a server by `http:` knows that it isn't encrypted.
    let is_plain = server(&builder).is_some_and(|server| server.starts_with("http:"));
    Ok(if is_plain { builder.with_allow_http(true) } else { builder })
}

/// The server that is asked, if it isn't Amazon's.
fn server(builder: &AmazonS3Builder) -> Option<String> {
    let [first, second] = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint];
    builder.get_config_value(&first).or_else(|| builder.get_config_value(&second))
}

fn bucket(url: &Url) -> &str {
    url.host_str().unwrap_or_default()
}

/// The URL up to the path: `s3://bucket`.
fn root_of(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    // `abfss://CONTAINER@ACCOUNT…`; elsewhere it is a user, who is nobody's business.
    let container = match url.scheme() {
        "abfs" | "abfss" if !url.username().is_empty() => format!("{}@", url.username()),
        _ => String::new(),
    };
    format!("{}://{container}{}{port}", url.scheme(), bucket(url))
}

/// The URL of the bucket with its settings, and the path in the bucket. Not by the rules of the web, which give some characters of the
/// path a meaning.
fn parts(url: &str) -> (String, &str) {
    let (place, settings) = url.split_at(url.rfind('?').unwrap_or(url.len()));
    let start = place.find("://").map_or(0, |at| at + "://".len());
    let end = place[start..].find('/').map_or(place.len(), |at| start + at);
    (format!("{}{settings}", &place[..end]), &place[end..])
}

/// The path as the store has it.
fn path_of(scheme: &str, path: &str) -> Result<String, &'static str> {
    let path = path.strip_prefix('/').unwrap_or(path).trim_end_matches('/');
    if !is_web(scheme) {
        return Ok(path.to_owned());
    }
    if path.contains('#') {
        return Err("write a # of a name as %23");
    }
    let names = path.split('/').map(|part| {
        let name = percent_decode_str(part).decode_utf8().map_err(|_| "its path is not UTF-8")?;
        if name.contains('/') { Err("a name in it contains a slash") } else { Ok(name) }
    });
    Ok(names.collect::<Result<Vec<_>, _>>()?.join("/"))
}

/// A URL without what may be secret: user, password, and what follows the path.
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
    fn urls_become_places() {
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

    /// A client takes long to make.
    static STORES: LazyLock<Stores> = LazyLock::new(Stores::default);

    const SERVER: &str = "?endpoint=http://127.0.0.1:9&region=eu-west-1";

    /// The path in the store that a URL leads to.
    fn root(url: &str) -> String {
        let (bucket, path) = parts(url);
        path_of(Url::parse(&bucket).unwrap().scheme(), path).unwrap()
    }

    proptest! {
        #[test]
        fn the_uri_of_a_folder_leads_to_it(name in "[ -.0-[\\]-~é語]{1,12}|%[0-9A-Fa-f+]{2}|[0-9]%") {
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

    #[test]
    fn secrets_are_not_repeated() {
        let error = open("ftp://user:SECRET@host/a?sig=SECRET").unwrap_err().to_string();
        assert!(error.starts_with("ftp://host/a: stores are s3,") && !error.contains("SECRET"), "{error}");
    }
}
