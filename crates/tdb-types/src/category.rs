//! Categories of errors.

/// The category of an error, which determines the remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCategory {
    /// The request is wrong. Change the request.
    Usage,
    /// The bytes are damaged. Restore or repair the file.
    Corrupt,
    /// The file needs a newer release of this library, a build with more features, or, if it is
    /// older than format version 1, an old release of the reference library.
    Unsupported,
    /// The encryption key is missing, wrong, or given for an unencrypted array. Correct the key.
    Key,
    /// A file is missing or unreachable. Check path, permissions and disk. If the array was
    /// vacuumed after it was opened, open it again.
    Unavailable,
    /// The caller cancelled the operation.
    Cancelled,
}
