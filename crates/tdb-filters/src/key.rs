//! The key of an encrypted array.

use std::fmt;

use crate::FilterError;

/// The key of an encrypted array: 32 bytes, used as they are.
///
/// It is never printed, and the feature `aes` overwrites its memory when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct EncryptionKey([u8; Self::LEN]);

impl EncryptionKey {
    /// Bytes of a key.
    pub const LEN: usize = 32;

    /// A key of these bytes.
    #[must_use]
    pub const fn new(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }
}

impl From<[u8; EncryptionKey::LEN]> for EncryptionKey {
    fn from(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }
}

impl TryFrom<&[u8]> for EncryptionKey {
    type Error = FilterError;

    fn try_from(bytes: &[u8]) -> Result<Self, FilterError> {
        bytes.try_into().map(Self).map_err(|_| FilterError::KeyLength { found: bytes.len() })
    }
}

impl fmt::Debug for EncryptionKey {
    /// Never the key itself, which would end in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EncryptionKey(…)")
    }
}

#[cfg(feature = "aes")]
impl Drop for EncryptionKey {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.0);
    }
}

/// What stands between a key and the bytes that it was given for, or not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyProblem {
    /// The bytes are encrypted, and no key was given.
    Missing,
    /// The bytes are not authentic under the key: it is another one's, or they were damaged or changed, which can't be told
    /// apart by one tile alone.
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
