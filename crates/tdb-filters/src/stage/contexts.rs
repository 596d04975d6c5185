//! State of codecs, reused between parts.

use std::fmt;

use crate::FilterError;
use crate::ivs::IvSource;

/// Contexts of the codecs, created on first use.
#[derive(Default)]
pub(crate) struct Contexts {
    #[cfg(feature = "zlib")]
    pub(super) gzip: super::gzip::Context,
    #[cfg(feature = "zstd")]
    pub(super) zstd: super::zstd::Context,
    #[cfg(feature = "lz4")]
    pub(super) lz4: super::lz4::Context,
    pub(crate) ivs: IvSource,
    /// The first value of the tile outside the range of a filter.
    pub(crate) lost: Option<FilterError>,
    /// The MD5 digest of the next chunk, if already computed.
    #[cfg_attr(not(feature = "checksum"), allow(dead_code))]
    pub(crate) digest: Option<[u8; 16]>,
}

impl fmt::Debug for Contexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Contexts")
    }
}
