//! Implementations of the filters. Each filter has a module with a decoder and an encoder.
//!
//! Stages treat data and metadata in three ways (see `docs/reference/filters.md`):
//!
//! - A [`Codec`], or encryption, packs all earlier metadata into the data and leaves only new
//!   metadata ([`frame`]).
//! - A transform rewrites the data and prepends metadata.
//! - A checksum keeps the data and prepends metadata.

#[cfg(feature = "aes")]
pub(crate) mod aes;
pub(crate) mod ahead;
pub(crate) mod bit_width_reduction;
pub(crate) mod bitshuffle;
pub(crate) mod byteshuffle;
#[cfg(feature = "bzip2")]
mod bzip2;
#[cfg(feature = "checksum")]
pub(crate) mod checksum;
mod codec;
mod contexts;
mod delta;
pub(crate) mod dictionary;
mod double_delta;
pub(crate) mod float_scale;
pub(crate) mod frame;
#[cfg(feature = "zlib")]
mod gzip;
#[cfg(feature = "lz4")]
mod lz4;
mod parts;
pub(crate) mod positive_delta;
mod rle;
pub(crate) mod string_codec;
pub(crate) mod string_rle;
pub(crate) mod strings;
mod tail;
#[cfg(feature = "webp")]
pub(crate) mod webp;
mod windows;
mod xor;
#[cfg(feature = "zstd")]
mod zstd;

use tdb_types::ByteReader;

use crate::FilterError;
use crate::flow::{Metadata, Sink};
use crate::word::Integer;

pub(crate) use codec::Codec;
pub(crate) use contexts::Contexts;
pub(crate) use tail::Tail;

/// A filter, ready to run.
#[derive(Clone, Debug)]
pub(crate) enum Stage {
    Codec(Codec),
    BitWidthReduction {
        integer: Integer,
        max_window: u32,
    },
    PositiveDelta {
        integer: Integer,
        max_window: u32,
    },
    Byteshuffle {
        size: usize,
    },
    Bitshuffle {
        size: usize,
    },
    Xor {
        size: usize,
    },
    FloatScale(float_scale::FloatScale),
    #[cfg(feature = "webp")]
    WebP(webp::Images),
    #[cfg(feature = "checksum")]
    Checksum(checksum::Algorithm),
    #[cfg(feature = "aes")]
    Encryption(aes::Cipher),
    /// A filter that cannot be run, with the reason.
    Refused(FilterError),
}

/// The effect of encoding on the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The data were rewritten into the output.
    Rewrote,
    /// The data are unchanged, as with checksums.
    #[cfg_attr(not(feature = "checksum"), allow(dead_code))]
    Kept,
}

impl Stage {
    /// Returns `true` if decoding rewrites the data.
    pub(crate) fn rewrites(&self) -> bool {
        match self {
            #[cfg(feature = "checksum")]
            Self::Checksum(_) => false,
            _ => true,
        }
    }

    /// Decodes a transform: reads the header from the front of `meta` and writes the decoded `data`
    /// into `sink`.
    pub(crate) fn decode(
        &self,
        meta: &mut ByteReader<'_>,
        data: &[u8],
        sink: &mut Sink<'_>,
    ) -> Result<(), FilterError> {
        match self {
            Self::BitWidthReduction { integer, .. } => bit_width_reduction::decode(*integer, meta, data, sink),
            Self::PositiveDelta { integer, .. } => positive_delta::decode(*integer, meta, data, sink),
            Self::Byteshuffle { size } => byteshuffle::decode(*size, meta, data, sink),
            Self::Bitshuffle { size } => bitshuffle::decode(*size, meta, data, sink),
            Self::Xor { size } => xor::decode(*size, meta, data, sink),
            Self::FloatScale(scale) => scale.decode(meta, data, sink),
            #[cfg(feature = "webp")]
            Self::WebP(images) => images.decode(meta, data, sink),
            Self::Refused(why) => Err(why.clone()),
            // The driver runs these stages directly, because they treat metadata differently.
            Self::Codec(_) => Ok(()),
            #[cfg(feature = "aes")]
            Self::Encryption(_) => Ok(()),
            #[cfg(feature = "checksum")]
            Self::Checksum(_) => Ok(()),
        }
    }

    /// Applies the filter to `data`. `None` means that an empty chunk passed a filter that keeps
    /// data.
    pub(crate) fn encode(
        &self,
        meta: &mut Metadata<'_>,
        data: Option<&[u8]>,
        out: &mut Vec<u8>,
        contexts: &mut Contexts,
    ) -> Result<Effect, FilterError> {
        match self {
            Self::Codec(codec) => frame::encode(*codec, meta, data, out, contexts)?,
            Self::BitWidthReduction { integer, max_window } => {
                bit_width_reduction::encode(*integer, *max_window, meta, data, out)?;
            }
            Self::PositiveDelta { integer, max_window } => {
                positive_delta::encode(*integer, *max_window, meta, data, out)?;
            }
            Self::Byteshuffle { size } => byteshuffle::encode(*size, meta, data, out)?,
            Self::Bitshuffle { size } => bitshuffle::encode(*size, meta, data, out)?,
            Self::Xor { size } => xor::encode(*size, meta, data, out)?,
            Self::FloatScale(scale) => scale.encode(meta, data, out, &mut contexts.lost)?,
            #[cfg(feature = "webp")]
            Self::WebP(images) => images.encode(meta, data, out)?,
            #[cfg(feature = "checksum")]
            Self::Checksum(algorithm) => {
                algorithm.encode(meta, data, contexts.digest.take())?;
                return Ok(Effect::Kept);
            }
            #[cfg(feature = "aes")]
            Self::Encryption(cipher) => cipher.encode(meta, data, out, &mut contexts.ivs)?,
            Self::Refused(why) => return Err(why.clone()),
        }
        Ok(Effect::Rewrote)
    }
}
