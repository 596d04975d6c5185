//! What stores say, as errors of storages.

use std::io;
use std::sync::Arc;

use object_store::Error as StoreError;
use tdb_storage::StorageError;

use crate::said::Said;
use crate::unsigned::is_unsigned;

/// What is wrong with a store, or with how it is asked: the source of a [`StorageError::Io`], where
/// [`StoreProblem::of`] finds it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreProblem {
    /// The store doesn't know who asks: a wrong or expired key or token.
    #[error(
        "the credentials are refused, or have expired ({said}): check the keys in the environment or the profile, or get new ones"
    )]
    Unauthenticated {
        /// What the store said.
        said: String,
    },
    /// The store knows who asks, and doesn't allow it.
    #[error("access is denied ({said}): ask for permission, or give the credentials of somebody who has it")]
    Denied {
        /// What the store said.
        said: String,
    },
    /// There is no such bucket or container.
    #[error(
        "there is no such bucket or container: check its name, and which server and account the environment or the profile says"
    )]
    NoBucket,
    /// Requests aren't signed, since nobody said who asks, and the store refuses those.
    #[error(
        "the store refuses requests that are not signed ({said}): set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \
         AWS_PROFILE"
    )]
    Unsigned {
        /// What the store said.
        said: String,
    },
    /// The bucket is in another region than was asked.
    #[error("the bucket is in another region{}: set AWS_REGION to it", named(region.as_deref()))]
    WrongRegion {
        /// The one that it is in, if the store said so.
        region: Option<String>,
    },
    /// There is no answer, or not all of one: nobody is there, or the connection broke.
    #[error(
        "the store can't be reached, or the connection broke ({said}): check its address and the network, and try again"
    )]
    CutOff {
        /// What happened.
        said: String,
    },
    /// The store was too busy, or failed, as often as it was asked.
    #[error("the store was too busy or failed each time it was asked ({said}): try again later")]
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
    /// The store answers with whole files where parts of them are asked for.
    #[error("this store ignores ranges, and answers with whole files: nothing can be read from it")]
    IgnoresRanges,
    /// The store answered with another part of the file than was asked for.
    #[error("the store answered with another part of the file ({said})")]
    OtherPart {
        /// Which one.
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
    /// The store answers with more than there may be of such an answer, or with a listing that has no end.
    #[error("the store answers with too much, or without end ({said})")]
    TooMuch {
        /// What it answers with.
        said: String,
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
            Self::Unauthenticated { .. } | Self::Denied { .. } | Self::Unsigned { .. } => {
                io::ErrorKind::PermissionDenied
            }
            Self::NoBucket => io::ErrorKind::NotFound,
            Self::Busy { .. } => io::ErrorKind::TimedOut,
            Self::CutOff { .. } => io::ErrorKind::ConnectionAborted,
            Self::IgnoresConditions | Self::IgnoresRanges | Self::ListsNothing | Self::NotSupported { .. } => {
                io::ErrorKind::Unsupported
            }
            Self::WrongLength { .. } => io::ErrorKind::UnexpectedEof,
            Self::TooMuch { .. } => io::ErrorKind::InvalidData,
            Self::WrongRegion { .. } | Self::OtherPart { .. } | Self::Other { .. } => io::ErrorKind::Other,
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

fn named(region: Option<&str>) -> String {
    region.map(|region| format!(", {region}")).unwrap_or_default()
}

/// What a store's error is for a file, of which the user knows the URL.
pub(crate) fn of_store(path: String, error: &StoreError) -> StorageError {
    match error {
        StoreError::AlreadyExists { .. } | StoreError::Precondition { .. } => StorageError::AlreadyExists { path },
        _ => match problem(error) {
            Some(problem) => problem.at(path),
            None => StorageError::NotFound { path },
        },
    }
}

/// How stores say that there is no such bucket.
const NO_BUCKET: &[&str] = &["NoSuchBucket", "ContainerNotFound", "ContainerBeingDeleted"];
/// How they say that they don't know who asks.
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
/// How they say that they know who asks, where no status says so.
const DENIED: &[&str] = &["AccessDenied", "AuthorizationFailure", "AuthorizationPermissionMismatch"];
/// How they say that they were too busy, or failed, whatever the status.
const BUSY: &[&str] = &["SlowDown", "ServerBusy", "InternalError", "ServiceUnavailable"];
/// How they say that a bucket is somewhere else.
const ELSEWHERE: &[&str] = &["PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"];
/// How `object_store` calls servers of the web.
const WEB: &str = "HttpStore";
/// Why it can't write there as it has to.
const READ_ONLY: &str = "arrays are read from servers of the web, and not written to them";
/// What an answer is called that says so without saying where.
const REDIRECTED: &str = "Received redirect without LOCATION";
/// What an answer is called that has a whole file instead of a part.
const NOT_PARTIAL: &str = "Received non-partial response";

/// Whether a server of the web refused to list a folder, or answered with something else.
fn lists_nothing(said: &Said) -> bool {
    let is_refused = said.begins("Error performing PROPFIND ") && matches!(said.status, Some(400 | 405 | 501));
    is_refused || said.begins("Error decoding PROPFIND response")
}

/// The problem behind an error; none if it is only that nothing has the name.
fn problem(error: &StoreError) -> Option<StoreProblem> {
    let said = Said::of(error);
    if let Some(excess) = said.excess {
        return Some(StoreProblem::TooMuch { said: excess.to_string() });
    }
    if said.code(NO_BUCKET).is_some() {
        return Some(StoreProblem::NoBucket);
    }
    // Some repeat in words what they were sent: the code says enough.
    if let Some(code) = said.code(REFUSED) {
        return Some(StoreProblem::Unauthenticated { said: code.to_owned() });
    }
    if said.code(ELSEWHERE).is_some() || said.begins(REDIRECTED) {
        return Some(StoreProblem::WrongRegion { region: said.region });
    }
    // Listings that are refused have no variant of their own.
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
        StoreError::NotSupported { .. } | StoreError::NotImplemented { .. } => {
            StoreProblem::NotSupported { said: said.shown() }
        }
        StoreError::Generic { store: "HTTP", .. } if lists_nothing(&said) => StoreProblem::ListsNothing,
        _ if (is_denied || is_unknown) && is_unsigned(error) => StoreProblem::Unsigned { said: said.shown() },
        _ if is_denied => StoreProblem::Denied { said: said.shown() },
        _ if is_unknown => StoreProblem::Unauthenticated { said: said.shown() },
        _ if is_busy => StoreProblem::Busy { said: said.shown() },
        _ if said.is_cut_off => StoreProblem::CutOff { said: said.shown() },
        _ if said.begins(NOT_PARTIAL) => StoreProblem::IgnoresRanges,
        _ if said.begins("Requested ") => StoreProblem::OtherPart { said: said.shown() },
        _ => StoreProblem::Other { said: said.shown() },
    })
}

/// Whether the answer to a request got lost, so that it may have been done or not; also where a repetition of it was refused because
/// it had been done.
pub(crate) fn is_in_doubt(error: &StoreError) -> bool {
    match error {
        StoreError::AlreadyExists { .. } | StoreError::Precondition { .. } => true,
        StoreError::NotFound { .. } | StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. } => false,
        _ => matches!(problem(error), Some(StoreProblem::Busy { .. } | StoreProblem::CutOff { .. })),
    }
}

/// Whether an error says that the part of a file that was asked for isn't there, or can't be asked for like that.
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
        assert_eq!(of("Received redirect without LOCATION, this"), Some(StoreProblem::WrongRegion { region: None }));
        let answer = |rest: &str| format!("Server returned non-2xx status code: {rest}").leak() as &'static str;
        let slow = of(answer("503 Slow Down: <Error><Code>SlowDown</Code></Error>"));
        assert!(matches!(slow, Some(StoreProblem::Busy { .. })));
        let expired = of(answer("400 Bad Request: <Code>ExpiredToken</Code>"));
        assert_eq!(expired, Some(StoreProblem::Unauthenticated { said: "ExpiredToken".to_owned() }));
        // Words that stand somewhere else are no codes.
        assert!(matches!(of("503 SlowDown: ExpiredToken"), Some(StoreProblem::Other { .. })));
        let gone = StoreError::NotFound {
            path: "f".to_owned(),
            source: answer("404 Not Found: <Code>NoSuchBucket</Code>").into(),
        };
        assert_eq!(StoreProblem::of(&of_store("s3://b/f".to_owned(), &gone)), Some(&StoreProblem::NoBucket));
    }
}
