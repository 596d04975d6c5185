//! Problems with encryption keys.

use std::fmt;

/// Length of a key, in bytes.
pub(crate) const KEY_LEN: usize = 32;

/// A mismatch between a key and the bytes to decrypt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyProblem {
    /// The bytes are encrypted, but no key was given.
    Missing,
    /// Decryption failed: the key is wrong, or the bytes are damaged. A single tile cannot
    /// distinguish the two.
    Wrong,
    /// A key was given, but the bytes are not encrypted.
    NotNeeded,
    /// The given key has the wrong length.
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
