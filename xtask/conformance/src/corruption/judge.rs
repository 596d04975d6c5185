//! What became of a reading.

use std::fmt;

use tdb_reference::Error;

/// What became of reading something that was damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// As before.
    Same,
    /// An error, of this text.
    Refused(String),
    /// Something else, without a word.
    Other,
    /// More memory was asked for than may be taken.
    TooMuchMemory(String),
    /// It didn't come to an end.
    Endless,
    /// The process ended so.
    Crashed(String),
}

/// How many kinds there are.
pub(super) const KINDS: usize = 6;

impl Reading {
    /// What an error of the library stands for.
    pub(super) fn of_error(error: Error) -> Result<Self, String> {
        match error {
            Error::Library(message) if is_of_memory(&message) => Ok(Self::TooMuchMemory(message)),
            Error::Library(message) => Ok(Self::Refused(message)),
            Error::Crashed { status, .. } if status.contains("signal") => Ok(Self::Crashed(status)),
            // It is the program around the library that ends with a code: offsets of cells that it was given can't be.
            Error::Crashed { .. } => Ok(Self::Other),
            Error::TimedOut { .. } => Ok(Self::Endless),
            other => Err(other.to_string()),
        }
    }

    /// The number of its kind, below [`KINDS`].
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

    /// Whether somebody may want to see how it comes.
    pub(super) fn is_worst(&self) -> bool {
        matches!(self, Self::Crashed(_) | Self::Endless)
    }
}

/// Whether an error is one of an allocation that failed.
fn is_of_memory(message: &str) -> bool {
    ["bad_alloc", "length_error", "vector::", "basic_string::"].iter().any(|says| message.contains(says))
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same => f.write_str("as before"),
            Self::Refused(message) => write!(f, "an error {message}"),
            Self::Other => f.write_str("something else, without a word"),
            Self::TooMuchMemory(message) => write!(f, "too much memory: {message}"),
            Self::Endless => f.write_str("no end"),
            Self::Crashed(status) => write!(f, "a crash: {status}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use tdb_reference::Error;

    use super::Reading;

    #[test]
    fn errors_of_allocations_are_told_apart() {
        let of = |message: &str| Reading::of_error(Error::Library(message.to_owned())).expect("it is one of reading");
        assert_eq!(of("Error: std::bad_alloc").kind(), 4);
        assert_eq!(of("GZipException: Cannot decompress with GZIP").kind(), 0);
        assert_eq!(of("Tile: Incorrect unfiltered tile size allocated.").kind(), 0);
        let endless = Error::TimedOut { seconds: 1, job: "read" };
        assert_eq!(Reading::of_error(endless), Ok(Reading::Endless));
    }
}
