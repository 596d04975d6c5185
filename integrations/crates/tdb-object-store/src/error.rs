//! Errors of stores, as errors of storages.

use std::io;
use std::sync::Arc;

use object_store::Error as StoreError;
use tdb_storage::StorageError;

use crate::said::Said;

/// A problem with a store or with access to it. [`StoreProblem::of`] finds it as the source of a
/// [`StorageError::Io`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreProblem {
    /// The store rejected the credentials: a wrong or expired key or token.
    #[error(
        "the credentials are invalid or have expired ({said}): check the keys in the environment or the profile, or get new ones"
    )]
    Unauthenticated {
        /// Message of the store.
        said: String,
    },
    /// The credentials are valid, but lack permission.
    #[error("access denied ({said}): get permission, or use other credentials")]
    Denied {
        /// Message of the store.
        said: String,
    },
    /// The bucket or container does not exist.
    #[error(
        "the bucket or container does not exist: check its name, and the server and account in the environment or the profile"
    )]
    NoBucket,
    /// The store rejected an unsigned request. Requests are unsigned if no credentials were found.
    #[error(
        "the store rejects unsigned requests ({said}): set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
    )]
    Unsigned {
        /// Message of the store.
        said: String,
    },
    /// The bucket is in another region.
    #[error("the bucket is in another region{}: set AWS_REGION to its region", named(region.as_deref()))]
    WrongRegion {
        /// Region of the bucket, if the store named it.
        region: Option<String>,
    },
    /// No response or an incomplete one: the store is unreachable, or the connection broke.
    #[error(
        "the store is unreachable, or the connection was lost ({said}): check its address and the network, and try again"
    )]
    CutOff {
        /// Description of the failure.
        said: String,
    },
    /// The store was overloaded or failed on every attempt.
    #[error("the store was overloaded or failed at each attempt ({said}): try again later")]
    Busy {
        /// Last message of the store.
        said: String,
    },
    /// The store ignores write conditions. Two writers could overwrite each other's files.
    #[error("the store ignores the condition that a new file must not exist: refusing to write to it")]
    IgnoresConditions,
    /// The web server cannot list folders, which is required to find the files of an array.
    #[error(
        "the server does not list folders, and the folder has no tdb-manifest.txt: run `tdb manifest` where the array is written, or use a server with WebDAV (PROPFIND)"
    )]
    ListsNothing,
    /// The store does not support the operation.
    #[error("the store does not support the operation ({said})")]
    NotSupported {
        /// Description of the operation.
        said: String,
    },
    /// The store returned the whole file for a range request.
    #[error("the server ignores byte ranges and returns whole files: use a server with ranges")]
    IgnoresRanges,
    /// The store returned another range of the file.
    #[error("the store returned another part of the file ({said})")]
    OtherPart {
        /// Description of the range.
        said: String,
    },
    /// A file on a web server has another size than listed.
    #[error("the file has {found} bytes, expected {listed}")]
    OtherSize {
        /// Size in the listing, in bytes.
        listed: u64,
        /// Size in the response, in bytes.
        found: u64,
    },
    /// A response had the wrong number of bytes.
    #[error("the store returned {got} bytes, expected {asked}")]
    WrongLength {
        /// Number of bytes requested.
        asked: u64,
        /// Number of bytes received.
        got: u64,
    },
    /// A response exceeded its size limit, or a listing has no end.
    #[error("the response of the store is too large or endless ({said})")]
    TooMuch {
        /// Description of the response.
        said: String,
    },
    /// Another problem.
    #[error("{said}")]
    Other {
        /// Message of the store.
        said: String,
    },
}

impl StoreProblem {
    /// Returns the store problem behind an error. Returns `None` for other errors.
    #[must_use]
    pub fn of(error: &StorageError) -> Option<&Self> {
        match error {
            StorageError::Io { source, .. } => source.get_ref().and_then(|inner| inner.downcast_ref()),
            _ => None,
        }
    }

    /// Converts the problem to an error for a file. `path` is the path or URL known to the user.
    pub(crate) fn at(self, path: String) -> StorageError {
        let kind = match self {
            Self::Unauthenticated { .. } | Self::Denied { .. } | Self::Unsigned { .. } => {
                io::ErrorKind::PermissionDenied
            }
            Self::NoBucket => io::ErrorKind::NotFound,
            Self::Busy { .. } => io::ErrorKind::TimedOut,
            Self::CutOff { .. } => io::ErrorKind::ConnectionAborted,
            Self::IgnoresConditions | Self::IgnoresRanges | Self::ListsNothing | Self::NotSupported { .. } => {
                io::ErrorKind::Unsupported
            }
            Self::WrongLength { .. } | Self::OtherSize { .. } => io::ErrorKind::UnexpectedEof,
            Self::TooMuch { .. } => io::ErrorKind::InvalidData,
            Self::WrongRegion { .. } | Self::OtherPart { .. } | Self::Other { .. } => io::ErrorKind::Other,
        };
        StorageError::Io { path, source: Arc::new(io::Error::new(kind, self)) }
    }
}

/// The URL schemes supported by [`open`](crate::open).
pub const SCHEMES: &[&str] = &["s3", "s3a", "gs", "gcs", "az", "azure", "abfs", "abfss", "http", "https"];

/// A URL that cannot be opened as a storage.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// The text is not a URL.
    #[error("{url:?} is not a URL: {source}")]
    Malformed {
        /// The text.
        url: String,
        /// Cause.
        source: url::ParseError,
    },
    /// The scheme is not supported.
    #[error("{url}: unknown scheme, expected one of {}", SCHEMES.join(", "))]
    Scheme {
        /// The URL.
        url: String,
    },
    /// The URL, or the configuration in the environment, is invalid.
    #[error("{url}: {why}")]
    Configuration {
        /// The URL, without secrets.
        url: String,
        /// Cause.
        why: String,
    },
    /// A profile, from the URL or `AWS_PROFILE`, cannot be read.
    #[error("{file}: {why}")]
    Profile {
        /// Path of the profile file.
        file: String,
        /// Cause.
        why: String,
    },
}

fn named(region: Option<&str>) -> String {
    region.map(|region| format!(", {region}")).unwrap_or_default()
}

/// Converts an error of a store. `path` is the path or URL known to the user. `unsigned` is `true`
/// for a store with unsigned requests.
pub(crate) fn of_store(path: String, error: &StoreError, unsigned: bool) -> StorageError {
    match error {
        StoreError::AlreadyExists { .. } | StoreError::Precondition { .. } => StorageError::AlreadyExists { path },
        _ => match problem(error, unsigned) {
            Some(problem) => problem.at(path),
            None => StorageError::NotFound { path },
        },
    }
}

/// Error codes for a missing bucket.
const NO_BUCKET: &[&str] = &["NoSuchBucket", "ContainerNotFound", "ContainerBeingDeleted"];
/// Error codes for invalid credentials.
const REFUSED: &[&str] = &[
    "ExpiredToken",
    "ExpiredTokenException",
    "TokenRefreshRequired",
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "InvalidToken",
    "InvalidClientTokenId",
    "AuthenticationFailed",
];
/// Error codes for missing permission, used if the response has no status.
const DENIED: &[&str] = &["AccessDenied", "AuthorizationFailure", "AuthorizationPermissionMismatch"];
/// Error codes for overload and failure, whatever the status.
const BUSY: &[&str] = &["SlowDown", "ServerBusy", "InternalError", "ServiceUnavailable"];
/// Error codes for a bucket in another region.
const ELSEWHERE: &[&str] = &["PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"];
/// Name of web servers in `object_store`.
const WEB: &str = "HttpStore";
/// Message for writes to web servers.
pub(crate) const READ_ONLY: &str = "web servers are read-only: arrays cannot be written to them";
/// Message of `object_store` for a redirect without a target.
const REDIRECTED: &str = "Received redirect without LOCATION";
/// Message of `object_store` for a whole file in place of a range.
const NOT_PARTIAL: &str = "Received non-partial response";
/// Message of `object_store` for a web server without ranges.
const NO_RANGES: &str = "Range request not supported";

/// Returns `true` if a web server refused to list a folder, or answered with something other than a
/// listing.
fn lists_nothing(said: &Said) -> bool {
    let is_refused = said.begins("Error performing PROPFIND ") && matches!(said.status, Some(400 | 405 | 501));
    is_refused || said.begins("Error decoding PROPFIND response")
}

/// Returns the problem behind an error. Returns `None` if the file does not exist.
fn problem(error: &StoreError, unsigned: bool) -> Option<StoreProblem> {
    let said = Said::of(error);
    if let Some(excess) = said.excess {
        return Some(StoreProblem::TooMuch { said: excess.to_string() });
    }
    if said.code(NO_BUCKET).is_some() {
        return Some(StoreProblem::NoBucket);
    }
    // Some stores repeat the request in the message. The code is enough.
    if let Some(code) = said.code(REFUSED) {
        return Some(StoreProblem::Unauthenticated { said: code.to_owned() });
    }
    if said.code(ELSEWHERE).is_some() || said.begins(REDIRECTED) {
        return Some(StoreProblem::WrongRegion { region: said.region });
    }
    // `object_store` has no separate error variant for refused listings.
    let is_denied = matches!(error, StoreError::PermissionDenied { .. })
        || said.status == Some(403)
        || (said.status.is_none() && said.code(DENIED).is_some());
    let is_unknown = matches!(error, StoreError::Unauthenticated { .. }) || said.status == Some(401);
    let is_busy = said.code(BUSY).is_some() || said.status.is_some_and(|status| matches!(status, 408 | 429 | 500..));
    Some(match error {
        StoreError::NotFound { .. } => return None,
        StoreError::NotImplemented { implementer, .. } if implementer.starts_with(WEB) => {
            StoreProblem::NotSupported { said: READ_ONLY.to_owned() }
        }
        _ if said.begins(NO_RANGES) => StoreProblem::IgnoresRanges,
        StoreError::NotSupported { .. } | StoreError::NotImplemented { .. } => {
            StoreProblem::NotSupported { said: said.shown() }
        }
        StoreError::Generic { store: "HTTP", .. } if lists_nothing(&said) => StoreProblem::ListsNothing,
        _ if (is_denied || is_unknown) && unsigned => StoreProblem::Unsigned { said: said.shown() },
        _ if is_denied => StoreProblem::Denied { said: said.shown() },
        _ if is_unknown => StoreProblem::Unauthenticated { said: said.shown() },
        _ if is_busy => StoreProblem::Busy { said: said.shown() },
        _ if said.is_cut_off => StoreProblem::CutOff { said: said.shown() },
        _ if said.begins(NOT_PARTIAL) => StoreProblem::IgnoresRanges,
        _ if said.begins("Requested ") => StoreProblem::OtherPart { said: said.shown() },
        _ => StoreProblem::Other { said: said.shown() },
    })
}

/// Returns `true` if a request may have succeeded although its response was lost. Includes errors
/// where the store refused a retry because the first attempt had succeeded.
pub(crate) fn is_in_doubt(error: &StoreError) -> bool {
    match error {
        StoreError::AlreadyExists { .. } | StoreError::Precondition { .. } => true,
        StoreError::NotFound { .. } | StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. } => false,
        _ => matches!(problem(error, false), Some(StoreProblem::Busy { .. } | StoreProblem::CutOff { .. })),
    }
}

/// Returns `true` if the store rejected the range of a request: out of bounds, or in an unsupported
/// form.
pub(crate) fn is_about_ranges(error: &StoreError) -> bool {
    let said = Said::of(error);
    match error {
        StoreError::NotSupported { .. } | StoreError::NotImplemented { .. } => true,
        StoreError::Generic { .. } => {
            said.status == Some(416)
                || said.code(&["InvalidRange"]).is_some()
                || said.begins("Wanted range")
                || said.begins(NOT_PARTIAL)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_contain_no_secrets() {
        let source = "Error performing GET https://a.blob.core.windows.net/c/f?sv=2&sig=SECRET in 3ms".into();
        let error = of_store("az://c/f".to_owned(), &StoreError::Generic { store: "MicrosoftAzure", source }, false);
        let text = format!("{error} {error:?}");
        assert!(text.contains("core.windows.net/c/f") && !text.contains("SECRET"), "{text}");
    }

    #[test]
    fn problems_are_distinguished() {
        let of = |source: &'static str| {
            let error = StoreError::Generic { store: "S3", source: source.into() };
            StoreProblem::of(&of_store("s3://b/f".to_owned(), &error, false)).cloned()
        };
        assert_eq!(of("Received redirect without LOCATION, this"), Some(StoreProblem::WrongRegion { region: None }));
        let answer = |rest: &str| format!("Server returned non-2xx status code: {rest}").leak() as &'static str;
        let slow = of(answer("503 Slow Down: <Error><Code>SlowDown</Code></Error>"));
        assert!(matches!(slow, Some(StoreProblem::Busy { .. })));
        let expired = of(answer("400 Bad Request: <Code>ExpiredToken</Code>"));
        assert_eq!(expired, Some(StoreProblem::Unauthenticated { said: "ExpiredToken".to_owned() }));
        let denied = StoreError::Generic { store: "S3", source: answer("403 Forbidden").into() };
        let unsigned = of_store("s3://b/f".to_owned(), &denied, true);
        assert!(matches!(StoreProblem::of(&unsigned), Some(StoreProblem::Unsigned { .. })), "{unsigned}");
        // Codes elsewhere in the message do not count.
        assert!(matches!(of("503 SlowDown: ExpiredToken"), Some(StoreProblem::Other { .. })));
        let gone = StoreError::NotFound {
            path: "f".to_owned(),
            source: answer("404 Not Found: <Code>NoSuchBucket</Code>").into(),
        };
        assert_eq!(StoreProblem::of(&of_store("s3://b/f".to_owned(), &gone, false)), Some(&StoreProblem::NoBucket));
    }
}
