//! Categories of errors by remedy.

/// The remedy for an error, from the caller's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCategory {
    /// The request is wrong. Change the request.
    Usage,
    /// The bytes are damaged. Restore or repair the file.
    Corrupt,
    /// The file needs a newer version of this library, or a build with more features.
    Unsupported,
    /// The encryption key is missing, wrong, or given for an unencrypted array. Correct the key.
    Key,
    /// A file is missing or unreachable. Check path, permissions and disk. If the array was
    /// vacuumed after it was opened, open it again.
    Unavailable,
    /// The caller cancelled the operation.
    Cancelled,
}
