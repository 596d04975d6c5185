//! The key of an encrypted array.

use std::fmt;

/// The key of an encrypted array: 32 bytes, used as they are.
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

impl fmt::Debug for EncryptionKey {
    /// Never the key itself, which would end in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EncryptionKey(…)")
    }
}
