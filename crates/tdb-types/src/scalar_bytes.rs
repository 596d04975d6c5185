//! Bytes of a single value.

/// The little-endian bytes of one [`Scalar`](crate::Scalar): 1, 2, 4 or 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalarBytes {
    bytes: [u8; 8],
    len: u8,
}

impl ScalarBytes {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let mut value = Self { bytes: [0; 8], len: 0 };
        for (to, from) in value.bytes.iter_mut().zip(bytes) {
            *to = *from;
            value.len += 1;
        }
        value
    }
}

impl std::ops::Deref for ScalarBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}
