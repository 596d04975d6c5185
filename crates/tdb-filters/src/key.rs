//! Encryption keys.

use std::fmt;

use crate::FilterError;
use crate::key_problem::KEY_LEN;

/// The key of an encrypted array: 32 raw bytes.
///
/// A key is never printed. With the feature `aes`, dropping it overwrites the memory.
#[derive(Clone, PartialEq, Eq)]
pub struct EncryptionKey([u8; Self::LEN]);

impl EncryptionKey {
    /// Length of a key, in bytes.
    pub const LEN: usize = KEY_LEN;

    /// Creates a key from raw bytes.
    #[must_use]
    pub const fn new(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// Returns the raw bytes.
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
    /// Hides the key, which could otherwise end up in a log.
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
