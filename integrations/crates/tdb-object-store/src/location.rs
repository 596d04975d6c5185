//! URLs of stores.

use std::sync::Arc;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::{ClientOptions, ObjectStore, RetryConfig};
use tdb_storage::Storage;
use url::Url;

use crate::credentials::{Profile, has_s3_credentials, is_on_ec2};
use crate::said::without_queries;
use crate::unsigned::Unsigned;
use crate::{ObjectStorage, StoreOptions, UrlError};

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
///   `AZURE_STORAGE_USE_EMULATOR=true` for Azurite.
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
    let parsed = Url::parse(url).map_err(|source| UrlError::Malformed { url: clean(url), source })?;
    let wrong = |why: String| UrlError::Configuration { url: clean(url), why };
    let retry = RetryConfig { max_retries: options.retries, retry_timeout: options.patience, ..RetryConfig::default() };
    let mut heeds_conditions = true;
    let store: object_store::Result<Arc<dyn ObjectStore>> = match parsed.scheme() {
        "s3" | "s3a" => {
            let builder = s3(AmazonS3Builder::from_env(), &parsed)?;
            // Amazon's own heeds them.
            heeds_conditions = builder.get_config_value(&AmazonS3ConfigKey::Endpoint).is_none();
            let skips = builder.get_config_value(&AmazonS3ConfigKey::SkipSignature);
            let store = builder.with_retry(retry).build();
            match skips.is_some_and(|skips| skips == "true") {
                true => store.map(|store| Arc::new(Unsigned(store)) as _),
                false => store.map(|store| Arc::new(store) as _),
            }
        }
        "gs" | "gcs" => {
            let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket(&parsed));
            heeds_conditions = builder.get_config_value(&GoogleConfigKey::BaseUrl).is_none();
            builder.with_retry(retry).build().map(|store| Arc::new(store) as _)
        }
        "az" | "azure" | "abfs" | "abfss" => {
            let builder = MicrosoftAzureBuilder::from_env().with_url(parsed.as_str());
            builder.with_retry(retry).build().map(|store| Arc::new(store) as _)
        }
        "http" | "https" => {
            let server = parsed.origin().ascii_serialization();
            let client = ClientOptions::new().with_allow_http(parsed.scheme() == "http");
            let builder = HttpBuilder::new().with_url(server).with_client_options(client).with_retry(retry);
            heeds_conditions = false;
            builder.build().map(|store| Arc::new(store) as _)
        }
        _ => return Err(UrlError::Scheme { url: clean(url) }),
    };
    let store = store.map_err(|error| wrong(without_queries(&error.to_string())))?;
    let path = path_of(&parsed).ok_or_else(|| wrong("its path is not UTF-8".to_owned()))?;
    let keeps_attributes = !matches!(parsed.scheme(), "http" | "https");
    let options = StoreOptions {
        try_conditions: options.try_conditions && !heeds_conditions,
        mark_writes: options.mark_writes || keeps_attributes,
        ..options.clone()
    };
    let named = ObjectStorage::with_options(store, &root_of(&parsed), &path, options);
    Ok(Arc::new(named.map_err(|error| wrong(error.to_string()))?))
}

/// A builder for S3 that has credentials, if there are any.
fn s3(builder: AmazonS3Builder, url: &Url) -> Result<AmazonS3Builder, UrlError> {
    let mut builder = builder.with_bucket_name(bucket(url));
    if !has_s3_credentials(|name| std::env::var_os(name).is_some()) {
        let profile = Profile::of_user()?.unwrap_or_default();
        let is_anonymous = profile.access_key_id.is_none() && !is_on_ec2();
        for (key, value) in profile.settings() {
            // What the environment says wins.
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
    let is_plain =
        builder.get_config_value(&AmazonS3ConfigKey::Endpoint).is_some_and(|server| server.starts_with("http:"));
    Ok(if is_plain { builder.with_allow_http(true) } else { builder })
}

fn bucket(url: &Url) -> &str {
    url.host_str().unwrap_or_default()
}

/// The URL up to the path: `s3://bucket`.
fn root_of(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}", url.scheme(), bucket(url))
}

/// The path as the store has it.
fn path_of(url: &Url) -> Option<String> {
    let path = percent_encoding::percent_decode_str(url.path()).decode_utf8().ok()?;
    Some(path.trim_matches('/').to_owned())
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
    use super::*;

    #[test]
    fn urls_become_places() {
        let storage = open("http://127.0.0.1:9/a%20b/c/").unwrap();
        assert_eq!(storage.describe("f"), "http://127.0.0.1:9/a b/c/f");
        for url in ["ftp://host/a", "nothing"] {
            open(url).unwrap_err();
        }
    }

    #[test]
    fn secrets_are_not_repeated() {
        let error = open("ftp://user:SECRET@host/a?sig=SECRET").unwrap_err().to_string();
        assert!(error.starts_with("ftp://host/a: stores are s3,") && !error.contains("SECRET"), "{error}");
    }
}
