//! Sources of S3 credentials beyond those of `object_store`.

use std::path::{Path, PathBuf};

use ini::Ini;
use object_store::aws::AmazonS3ConfigKey;

use crate::UrlError;

/// Environment variables that each select a source of credentials.
const SOURCES: [&str; 5] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_SKIP_SIGNATURE",
];

/// Returns `true` if the environment selects a source of credentials.
pub(crate) fn has_s3_credentials(is_set: impl Fn(&str) -> bool) -> bool {
    SOURCES.into_iter().any(is_set)
}

/// Returns `true` on an EC2 instance, which provides credentials. Elsewhere such requests run into
/// a timeout.
pub(crate) fn is_on_ec2() -> bool {
    // On EC2 the asset tag is the instance id.
    std::fs::read_to_string("/sys/devices/virtual/dmi/id/board_asset_tag").is_ok_and(|tag| tag.starts_with("i-"))
}

/// A profile of the AWS tools.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Profile {
    pub(crate) access_key_id: Option<String>,
    secret_access_key: Option<String>,
    session_token: Option<String>,
    region: Option<String>,
    endpoint: Option<String>,
}

impl Profile {
    /// Returns the named profile, or the profile in `AWS_PROFILE`, or the default profile. Returns
    /// `None` if none is named and the default does not exist.
    pub(crate) fn of_user(named: Option<&str>) -> Result<Option<Self>, UrlError> {
        let home =
            std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE")).map(PathBuf::from).unwrap_or_default();
        let file = |variable: &str, name: &str| {
            std::env::var_os(variable).map_or_else(|| home.join(".aws").join(name), PathBuf::from)
        };
        let files = [file("AWS_SHARED_CREDENTIALS_FILE", "credentials"), file("AWS_CONFIG_FILE", "config")];
        let of_environment = std::env::var("AWS_PROFILE").ok().filter(|name| !name.is_empty());
        Self::read(&files, named.or(of_environment.as_deref()))
    }

    /// Reads a profile from the credentials and config files.
    fn read([credentials, config]: &[PathBuf; 2], named: Option<&str>) -> Result<Option<Self>, UrlError> {
        let name = named.unwrap_or("default");
        let mut profile = Self::default();
        let mut found = false;
        // In the config file, all sections except the default are named `profile NAME`.
        let in_config = if name == "default" { name.to_owned() } else { format!("profile {name}") };
        for (file, section) in [(credentials, name), (config, &in_config)] {
            let Some(ini) = load(file)? else { continue };
            let Some(section) = ini.section(Some(section)) else { continue };
            found = true;
            let get = |key: &str| section.get(key).map(ToOwned::to_owned);
            profile = Self {
                access_key_id: profile.access_key_id.or_else(|| get("aws_access_key_id")),
                secret_access_key: profile.secret_access_key.or_else(|| get("aws_secret_access_key")),
                session_token: profile.session_token.or_else(|| get("aws_session_token")),
                region: profile.region.or_else(|| get("region")),
                endpoint: profile.endpoint.or_else(|| get("endpoint_url")),
            };
        }
        match named {
            Some(name) if !found => Err(UrlError::Profile {
                file: credentials.display().to_string(),
                why: format!("no profile {name:?} in this file or in {}", config.display()),
            }),
            _ => Ok(found.then_some(profile)),
        }
    }

    /// Returns the profile as settings of a store.
    pub(crate) fn settings(&self) -> impl Iterator<Item = (AmazonS3ConfigKey, String)> {
        let Self { access_key_id, secret_access_key, session_token, region, endpoint } = self.clone();
        [
            (AmazonS3ConfigKey::AccessKeyId, access_key_id),
            (AmazonS3ConfigKey::SecretAccessKey, secret_access_key),
            (AmazonS3ConfigKey::Token, session_token),
            (AmazonS3ConfigKey::Region, region),
            (AmazonS3ConfigKey::Endpoint, endpoint),
        ]
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?)))
    }
}

fn load(file: &Path) -> Result<Option<Ini>, UrlError> {
    let why = match Ini::load_from_file(file) {
        Ok(ini) => return Ok(Some(ini)),
        Err(ini::Error::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        // The parser's message could quote a line with a key.
        Err(ini::Error::Parse(error)) => format!("line {} cannot be parsed", error.line),
        Err(ini::Error::Io(error)) => error.to_string(),
    };
    Err(UrlError::Profile { file: file.display().to_string(), why })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let files = [folder.path().join("credentials"), folder.path().join("config")];
        let read = |name| Profile::read(&files, name);
        assert!(read(None).unwrap().is_none());
        std::fs::write(
            &files[0],
            "[default]\naws_access_key_id = A\naws_secret_access_key=b+/=\n[other]\naws_access_key_id=C\n",
        )
        .unwrap();
        std::fs::write(
            &files[1],
            "[default]\nregion = eu-west-1\n[profile other]\nendpoint_url = http://127.0.0.1:1\n",
        )
        .unwrap();
        let names = |profile: &Profile| profile.settings().map(|(_, value)| value).collect::<Vec<_>>();
        assert_eq!(names(&read(None).unwrap().unwrap()), ["A", "b+/=", "eu-west-1"]);
        assert_eq!(names(&read(Some("other")).unwrap().unwrap()), ["C", "http://127.0.0.1:1"]);
        let Err(error) = read(Some("third")) else { panic!("there is no such profile") };
        assert!(error.to_string().contains("\"third\""), "{error}");
        std::fs::write(&files[0], "[default\nSECRET\n").unwrap();
        let Err(error) = read(None) else { panic!("the file is not a profile file") };
        assert!(!error.to_string().contains("SECRET"), "{error}");
    }
}
