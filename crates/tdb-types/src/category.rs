//! What to do about an error.

/// What a caller may do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCategory {
    /// The request is wrong: change it.
    Usage,
    /// The bytes are damaged: restore or repair them.
    Corrupt,
    /// The bytes are beyond this library or this build of it: use a newer or fuller one.
    Unsupported,
    /// The array is encrypted and its key is missing or wrong, or it is not encrypted and a key was given: give the right
    /// one, or none.
    Key,
    /// Nothing is there, or it can't be reached: check path, permissions, disk. A file of an array that was vacuumed after it
    /// was opened: open it again.
    Unavailable,
    /// Somebody has asked to end it: nothing is wrong.
    Cancelled,
}
