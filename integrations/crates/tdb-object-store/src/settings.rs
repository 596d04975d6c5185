//! Query parameters of URLs, which select the server and the credentials. They override the
//! environment.

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use url::Url;

/// Query parameters of a URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Name of a profile in the credentials and config files of AWS.
    pub(crate) profile: Option<String>,
    /// Server to use instead of the store's default.
    pub(crate) endpoint: Option<String>,
    /// Region of an S3 bucket.
    pub(crate) region: Option<String>,
}

impl Settings {
    /// Parses the query. Fails if the store does not support a parameter, or if a parameter is
    /// empty or repeated. The message contains no values, because a value may be a secret.
    pub(crate) fn of(url: &Url) -> Result<Self, String> {
        let known: &[&str] = match url.scheme() {
            "s3" | "s3a" => &["profile", "endpoint", "region"],
            "http" | "https" => &[],
            _ => &["endpoint"],
        };
        let mut settings = Self::default();
        for (name, value) in url.query_pairs() {
            let place = match &*name {
                "profile" => &mut settings.profile,
                "endpoint" => &mut settings.endpoint,
                "region" => &mut settings.region,
                _ => return Err(unknown(&name, known)),
            };
            if !known.contains(&&*name) {
                return Err(unknown(&name, known));
            }
            if value.is_empty() || place.replace(value.into_owned()).is_some() {
                return Err(format!("expected exactly one non-empty value for the setting {name:?}"));
            }
        }
        Ok(settings)
    }

    /// Creates a builder for S3 from these settings and the environment.
    ///
    /// With a profile, the keys, the region and the endpoint of the environment are ignored.
    pub(crate) fn s3(&self) -> AmazonS3Builder {
        let from_env = AmazonS3Builder::from_env();
        let mut builder = match &self.profile {
            None => from_env,
            Some(_) => KEPT.iter().fold(AmazonS3Builder::new(), |builder, key| match from_env.get_config_value(key) {
                Some(value) => builder.with_config(*key, value),
                None => builder,
            }),
        };
        if let Some(endpoint) = &self.endpoint {
            builder = builder.with_config(AmazonS3ConfigKey::S3Endpoint, endpoint);
        }
        if let Some(region) = &self.region {
            builder = builder.with_config(AmazonS3ConfigKey::Region, region);
        }
        builder
    }
}

/// Environment variables that also apply with a profile. They control the form of requests, not the
/// server or the credentials.
const KEPT: &[AmazonS3ConfigKey] = &[
    AmazonS3ConfigKey::VirtualHostedStyleRequest,
    AmazonS3ConfigKey::UnsignedPayload,
    AmazonS3ConfigKey::Checksum,
    AmazonS3ConfigKey::RequestPayer,
];

fn unknown(name: &str, known: &[&str]) -> String {
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    // If the user forgot the parameter name, this text may be the secret.
    let shown = name.chars().take(20).all(|letter| letter.is_ascii_lowercase() || letter == '_');
    let name = if shown && name.len() <= 20 { format!("{name:?} ") } else { String::new() };
    format!("unknown setting {name}for this kind of URL; known settings: {known}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> Result<Settings, String> {
        Settings::of(&Url::parse(url).unwrap())
    }

    #[test]
    fn settings_must_be_known_to_the_store() {
        assert_eq!(of("s3://b/f").unwrap(), Settings::default());
        let some = of("s3://b/f?endpoint=http://127.0.0.1:1&profile=one&region=eu-west-1").unwrap();
        assert_eq!(some.endpoint.as_deref(), Some("http://127.0.0.1:1"));
        assert_eq!((some.profile.as_deref(), some.region.as_deref()), (Some("one"), Some("eu-west-1")));
        assert_eq!(of("az://c?endpoint=http%3A%2F%2Fh").unwrap().endpoint.as_deref(), Some("http://h"));
        for url in [
            "az://c?profile=one",
            "http://h/f?endpoint=http://g",
            "s3://b?profile=",
            "s3://b?profile=a&profile=b",
            "s3://b?endpint=x",
        ] {
            of(url).unwrap_err();
        }
        let error = of("s3://b?SECRET").unwrap_err();
        assert!(!error.contains("SECRET") && error.contains("endpoint"), "{error}");
        let error = of("s3://b?endpint=SECRET").unwrap_err();
        assert!(!error.contains("SECRET") && error.contains("\"endpint\""), "{error}");
    }
}
