//! What stores say, as errors of storages.

use std::error::Error;
use std::io;
use std::sync::Arc;

use object_store::Error as StoreError;
use tdb_storage::StorageError;

/// What is wrong with a store, or with how it is asked: the source of a [`StorageError::Io`], where
/// [`StoreProblem::of`] finds it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreProblem {
    /// The store doesn't know who asks: a wrong or expired key or token.
    #[error("the credentials are refused, or have expired ({said})")]
    Unauthenticated {
        /// What the store said.
        said: String,
    },
    /// The store knows who asks, and doesn't allow it.
    #[error("access is denied ({said})")]
    Denied {
        /// What the store said.
        said: String,
    },
    /// There is no such bucket or container.
    #[error("there is no such bucket or container")]
    NoBucket,
    /// The bucket is in another region than was asked.
    #[error("the bucket is in another region: set AWS_REGION to it")]
    WrongRegion,
    /// The store was too busy, or failed, as often as it was asked.
    #[error("the store was too busy or failed each time it was asked ({said})")]
    Busy {
        /// What the store said at last.
        said: String,
    },
    /// The store overwrites what it was asked not to overwrite: two writers could destroy each other's work.
    #[error("this store ignores the condition that a file must not be there yet: nothing is written to it")]
    IgnoresConditions,
    /// A server of the web that lists no folders, without which nobody knows what an array is made of.
    #[error(
        "this server lists no folders: of servers of the web, arrays are read from those that speak WebDAV (PROPFIND)"
    )]
    ListsNothing,
    /// The store can't do what is needed.
    #[error("this store can't do that ({said})")]
    NotSupported {
        /// What it can't do.
        said: String,
    },
    /// An answer had another number of bytes than was asked for.
    #[error("the store answered with {got} bytes instead of {asked}")]
    WrongLength {
        /// How many were asked for.
        asked: u64,
        /// How many came.
        got: u64,
    },
    /// Anything else.
    #[error("{said}")]
    Other {
        /// What the store said.
        said: String,
    },
}

impl StoreProblem {
    /// The problem behind an error, if a store has caused it.
    #[must_use]
    pub fn of(error: &StorageError) -> Option<&Self> {
        match error {
            StorageError::Io { source, .. } => source.get_ref().and_then(|inner| inner.downcast_ref()),
            _ => None,
        }
    }

    /// The error that this is for a file, of which the user knows the URL.
    pub(crate) fn at(self, path: String) -> StorageError {
        let kind = match self {
            Self::Unauthenticated { .. } | Self::Denied { .. } => io::ErrorKind::PermissionDenied,
            Self::NoBucket => io::ErrorKind::NotFound,
            Self::Busy { .. } => io::ErrorKind::TimedOut,
            Self::IgnoresConditions | Self::ListsNothing | Self::NotSupported { .. } => io::ErrorKind::Unsupported,
            Self::WrongLength { .. } => io::ErrorKind::UnexpectedEof,
            Self::WrongRegion | Self::Other { .. } => io::ErrorKind::Other,
        };
        StorageError::Io { path, source: Arc::new(io::Error::new(kind, self)) }
    }
}

/// The schemes that [`open`](crate::open) knows.
pub const SCHEMES: &[&str] = &["s3", "s3a", "gs", "gcs", "az", "azure", "abfs", "abfss", "http", "https"];

/// A URL that no storage could be opened at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// It isn't a URL.
    #[error("{url:?} is not a URL: {source}")]
    Malformed {
        /// The text.
        url: String,
        /// What is wrong with it.
        source: url::ParseError,
    },
    /// It names no kind of store that is known.
    #[error("{url}: stores are {}", SCHEMES.join(", "))]
    Scheme {
        /// The URL.
        url: String,
    },
    /// It, or what the environment says, can't be used.
    #[error("{url}: {why}")]
    Configuration {
        /// The URL, without what may be secret.
        url: String,
        /// What is wrong.
        why: String,
    },
    /// A profile, of `AWS_PROFILE` or of the URL, can't be read.
    #[error("{file}: {why}")]
    Profile {
        /// The file of profiles.
        file: String,
        /// What is wrong.
        why: String,
    },
}

/// What a store's error is for a file, of which the user knows the URL.
pub(crate) fn of_store(path: String, error: &StoreError) -> StorageError {
    match error {
        StoreError::NotFound { source, .. } if says(source.as_ref(), NO_BUCKET) => StoreProblem::NoBucket.at(path),
        StoreError::NotFound { .. } => StorageError::NotFound { path },
        StoreError::AlreadyExists { .. } | StoreError::Precondition { .. } => StorageError::AlreadyExists { path },
        _ => problem(error).at(path),
    }
}

fn problem(error: &StoreError) -> StoreProblem {
    let said = told(error);
    match error {
        StoreError::PermissionDenied { source, .. } if says(source.as_ref(), EXPIRED) => {
            StoreProblem::Unauthenticated { said }
        }
        StoreError::PermissionDenied { .. } => StoreProblem::Denied { said },
        StoreError::Unauthenticated { .. } => StoreProblem::Unauthenticated { said },
        StoreError::NotSupported { .. } | StoreError::NotImplemented { .. } => StoreProblem::NotSupported { said },
        StoreError::Generic { store: "HTTP", source } if lists_nothing(source.as_ref()) => StoreProblem::ListsNothing,
        _ if said.contains("Received redirect without LOCATION") || said.contains("PermanentRedirect") => {
            StoreProblem::WrongRegion
        }
        // Answers to listings are told apart by nobody else.
        _ if NO_BUCKET.iter().any(|word| said.contains(word)) => StoreProblem::NoBucket,
        _ if EXPIRED.iter().any(|word| said.contains(word)) => StoreProblem::Unauthenticated { said },
        _ if DENIED.iter().any(|word| said.contains(word)) => StoreProblem::Denied { said },
        _ if BUSY.iter().any(|word| said.contains(word)) => StoreProblem::Busy { said },
        _ => StoreProblem::Other { said },
    }
}

/// How stores say that there is no such bucket or container.
const NO_BUCKET: &[&str] = &["NoSuchBucket", "ContainerNotFound"];

/// How they say that who asks may not do it.
const DENIED: &[&str] = &["AccessDenied", "AuthorizationFailure", "AuthorizationPermissionMismatch", "403 Forbidden"];

/// How stores say that they don't know who asks.
const EXPIRED: &[&str] =
    &["ExpiredToken", "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "AuthenticationFailed"];

/// How they say that they were too busy.
const BUSY: &[&str] = &["SlowDown", "429", "500", "502", "503", "504", "ServerBusy"];

/// Whether a server refused to list a folder, or answered with something else.
fn lists_nothing(source: &(dyn Error + 'static)) -> bool {
    let text = source.to_string();
    let refused = ["status code: 400", "status code: 405", "status code: 501"];
    text.contains("PROPFIND") && (text.contains("decoding") || refused.iter().any(|status| text.contains(status)))
}

fn says(source: &(dyn Error + 'static), words: &[&str]) -> bool {
    let text = chain(source);
    words.iter().any(|word| text.contains(word))
}

/// An error and all that have led to it.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

/// Most characters of what a store says that are passed on: some answer with pages.
const TOLD: usize = 400;

/// What a store said, on one line, without what could be secret: the code and the message of an answer in XML, or the text
/// without what follows a `?` in its URLs, since that is where signatures and tokens stand.
fn told(error: &StoreError) -> String {
    let text = error.to_string();
    let element = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        rest.split('<').next().map(str::trim).filter(|inside| !inside.is_empty())
    };
    let line = match (element("Code"), element("Message"), text.split_once("non-2xx status code: ")) {
        (Some(code), Some(message), _) => format!("{code}: {message}"),
        (Some(code), None, _) => code.to_owned(),
        (None, _, Some((_, status))) => status.trim_end_matches([':', ' ']).to_owned(),
        _ => text,
    };
    let words = line.split_whitespace().map(|word| match word.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{}", rest.split('?').next().unwrap_or_default()),
        None => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ").chars().take(TOLD).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_told() {
        let source = "Error performing GET https://a.blob.core.windows.net/c/f?sv=2&sig=SECRET in 3ms".into();
        let error = of_store("az://c/f".to_owned(), &StoreError::Generic { store: "MicrosoftAzure", source });
        let text = format!("{error} {error:?}");
        assert!(text.contains("core.windows.net/c/f") && !text.contains("SECRET"), "{text}");
    }

    #[test]
    fn problems_are_told_apart() {
        let of = |source: &'static str| {
            StoreProblem::of(&of_store(
                "s3://b/f".to_owned(),
                &StoreError::Generic { store: "S3", source: source.into() },
            ))
            .cloned()
        };
        assert_eq!(of("Received redirect without LOCATION, this"), Some(StoreProblem::WrongRegion));
        assert!(matches!(of("503 Slow Down: SlowDown"), Some(StoreProblem::Busy { .. })));
        assert!(matches!(of("ExpiredToken: the token"), Some(StoreProblem::Unauthenticated { .. })));
        let gone = StoreError::NotFound { path: "f".to_owned(), source: "<Code>NoSuchBucket</Code>".into() };
        assert_eq!(StoreProblem::of(&of_store("s3://b/f".to_owned(), &gone)), Some(&StoreProblem::NoBucket));
    }
}
