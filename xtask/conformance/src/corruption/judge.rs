//! Results of reading damaged fixtures.

use std::fmt;

use tdb_reference::Error;

/// The result of reading a damaged fixture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// The same cells as before the damage.
    Same,
    /// An error with this message.
    Refused(String),
    /// Other cells, without an error.
    Other,
    /// An allocation beyond the memory limit.
    TooMuchMemory(String),
    /// A timeout.
    Endless,
    /// A crash with this exit status.
    Crashed(String),
}

/// Number of kinds of results.
pub(super) const KINDS: usize = 6;

impl Reading {
    /// Classifies an error of the library.
    pub(super) fn of_error(error: Error) -> Result<Self, String> {
        match error {
            Error::Library(message) if is_of_memory(&message) => Ok(Self::TooMuchMemory(message)),
            Error::Library(message) => Ok(Self::Refused(message)),
            Error::Crashed { status, .. } if status.contains("signal") => Ok(Self::Crashed(status)),
            // The program around the library exits with a code if the library returns impossible
            // cell offsets.
            Error::Crashed { .. } => Ok(Self::Other),
            Error::TimedOut { .. } => Ok(Self::Endless),
            other => Err(other.to_string()),
        }
    }

    /// Returns the index of the kind, below [`KINDS`].
    pub(super) fn kind(&self) -> usize {
        match self {
            Self::Refused(_) => 0,
            Self::Other => 1,
            Self::Crashed(_) => 2,
            Self::Endless => 3,
            Self::TooMuchMemory(_) => 4,
            Self::Same => 5,
        }
    }

    /// `true` if the result is printed on a separate line.
    pub(super) fn is_worst(&self) -> bool {
        matches!(self, Self::Crashed(_) | Self::Endless)
    }
}

/// `true` if an error is a failed allocation.
fn is_of_memory(message: &str) -> bool {
    ["bad_alloc", "length_error", "vector::", "basic_string::"].iter().any(|says| message.contains(says))
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same => f.write_str("unchanged"),
            Self::Refused(message) => write!(f, "error: {message}"),
            Self::Other => f.write_str("other cells, without an error"),
            Self::TooMuchMemory(message) => write!(f, "out of memory: {message}"),
            Self::Endless => f.write_str("timeout"),
            Self::Crashed(status) => write!(f, "crash: {status}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use tdb_reference::Error;

    use super::Reading;

    #[test]
    fn allocation_errors_are_classified() {
        let of = |message: &str| Reading::of_error(Error::Library(message.to_owned())).expect("it is one of reading");
        assert_eq!(of("Error: std::bad_alloc").kind(), 4);
        assert_eq!(of("GZipException: Cannot decompress with GZIP").kind(), 0);
        assert_eq!(of("Tile: Incorrect unfiltered tile size allocated.").kind(), 0);
        let endless = Error::TimedOut { seconds: 1, job: "read".to_owned() };
        assert_eq!(Reading::of_error(endless), Ok(Reading::Endless));
    }
}
