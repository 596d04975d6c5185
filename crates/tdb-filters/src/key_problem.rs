//! Problems with encryption keys.

use std::fmt;

/// Length of a key, in bytes.
pub(crate) const KEY_LEN: usize = 32;

/// A problem with the given key, or with the lack of a key.
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
            Self::Missing => "encrypted, but no key was given; pass the key that the array was written with",
            Self::Wrong => {
                "cannot decrypt with the given key; pass the key that the array was written with \
                 (if the key is correct, the file is damaged or modified)"
            }
            Self::NotNeeded => "not encrypted, but a key was given; do not pass a key",
            Self::Length => "invalid key: expected 32 bytes",
        })
    }
}
