//! Initialization vectors (IVs) for encryption.

use std::fmt;

/// The source of IVs.
#[derive(Default)]
pub(crate) struct IvSource(Option<Box<dyn FnMut() -> [u8; 12] + Send + Sync>>);

impl IvSource {
    pub(crate) fn new(source: impl FnMut() -> [u8; 12] + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(source)))
    }

    #[cfg(feature = "aes")]
    pub(crate) fn next(&mut self) -> Option<[u8; 12]> {
        self.0.as_mut().map(|next| next())
    }
}

impl fmt::Debug for IvSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "IvSource(…)" } else { "IvSource(none)" })
    }
}
