//! What is wrong with a key.

use std::fmt;

/// Bytes of a key.
pub(crate) const KEY_LEN: usize = 32;

/// What stands between a key and the bytes that it was given for, or not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyProblem {
    /// The bytes are encrypted, and no key was given.
    Missing,
    /// The bytes are not authentic under the key: it is another one's, or they were damaged or changed; one tile alone
    /// doesn't show which.
    Wrong,
    /// A key was given, and the bytes are not encrypted.
    NotNeeded,
    /// What was given has another length than keys have.
    Length,
}

impl fmt::Display for KeyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "it is encrypted, and no key was given; give the key that it was written with",
            Self::Wrong => {
                "it can't be decrypted with the key that was given; give the key that it was written with \
                 (if that is the one, the file was damaged or changed)"
            }
            Self::NotNeeded => "it is not encrypted, but a key was given; give none",
            Self::Length => "what was given is no key: keys have 32 bytes",
        })
    }
}
