//! The filters at work: one file each, decoding and encoding side by side.
//!
//! Three kinds of stages differ in what they do with data and metadata (see `docs/filters.md`):
//!
//! - a [`Codec`], and encryption, packs all metadata so far into the data, and leaves its own as the only one ([`frame`]);
//! - a transform rewrites the data, and puts its metadata before the earlier;
//! - a checksum leaves the data alone, and puts its metadata before the earlier.

#[cfg(feature = "aes")]
pub(crate) mod aes;
pub(crate) mod bit_width_reduction;
pub(crate) mod bitshuffle;
pub(crate) mod byteshuffle;
#[cfg(feature = "bzip2")]
mod bzip2;
#[cfg(feature = "checksum")]
pub(crate) mod checksum;
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
pub(crate) mod string_rle;
pub(crate) mod strings;
#[cfg(feature = "webp")]
pub(crate) mod webp;
mod windows;
mod xor;
#[cfg(feature = "zstd")]
mod zstd;

use std::fmt;

use tdb_types::ByteReader;

use crate::FilterError;
use crate::flow::{Metadata, Sink};
use crate::scratch::IvSource;
use crate::word::Integer;

/// One filter, ready to run.
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
    /// A filter that can't be run, and why.
    Refused(FilterError),
}

/// A filter of the compression family: part in, part out, inside a [`frame`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Codec {
    #[cfg(feature = "zlib")]
    Gzip {
        level: i32,
    },
    #[cfg(feature = "zstd")]
    Zstd {
        level: i32,
    },
    #[cfg(feature = "lz4")]
    Lz4,
    #[cfg(feature = "bzip2")]
    Bzip2 {
        level: i32,
    },
    /// Runs of equal units of so many bytes.
    Rle {
        unit: usize,
    },
    DoubleDelta {
        integer: Integer,
    },
    Delta {
        integer: Integer,
    },
}

/// What to make of the bytes after the last whole value of a part, which the reference library's deltas don't write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// Nobody can tell what they were.
    Refused,
    /// Zeros. Metadata of filters before end with lengths, of which the high bytes are lost first: zeros, but in windows of
    /// many bytes. Those filters hold all lengths against the data, so that a wrong one is found. (The reference library
    /// leaves there what the memory held.)
    Zeros,
}

impl Tail {
    /// The whole values of a part that is to be decoded; what follows them is dealt with.
    fn split<'a>(self, part: &'a mut [u8], size: usize, filter: &'static str) -> Result<&'a mut [u8], FilterError> {
        let (values, lost) = part.split_at_mut(part.len() / size * size);
        if self == Self::Refused && !lost.is_empty() {
            let what = "the writer has lost the bytes after the last whole value of the part";
            return Err(FilterError::Corrupt { filter, what });
        }
        lost.fill(0);
        Ok(values)
    }
}

/// What a stage did while encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The data are in the output.
    Rewrote,
    /// The data stay as they are, as with checksums.
    #[cfg_attr(not(feature = "checksum"), allow(dead_code))]
    Kept,
}

impl Stage {
    /// Whether decoding writes data, instead of only looking at them.
    pub(crate) fn rewrites(&self) -> bool {
        match self {
            #[cfg(feature = "checksum")]
            Self::Checksum(_) => false,
            _ => true,
        }
    }

    /// Undoes a transform: takes its header from the front of `meta`, and puts what `data` held into `sink`.
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
            // The driver runs the other kinds itself: they treat metadata in their own ways.
            Self::Codec(_) => Ok(()),
            #[cfg(feature = "aes")]
            Self::Encryption(_) => Ok(()),
            #[cfg(feature = "checksum")]
            Self::Checksum(_) => Ok(()),
        }
    }

    /// Applies the filter to `data`, which is one part, or none if an empty chunk passed a filter that keeps data.
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
            Self::FloatScale(scale) => scale.encode(meta, data, out)?,
            #[cfg(feature = "webp")]
            Self::WebP(images) => images.encode(meta, data, out)?,
            #[cfg(feature = "checksum")]
            Self::Checksum(algorithm) => {
                algorithm.encode(meta, data)?;
                return Ok(Effect::Kept);
            }
            #[cfg(feature = "aes")]
            Self::Encryption(cipher) => cipher.encode(meta, data, out, &mut contexts.ivs)?,
            Self::Refused(why) => return Err(why.clone()),
        }
        Ok(Effect::Rewrote)
    }
}

impl Codec {
    /// Decodes one part into `out`, all of which is written.
    pub(crate) fn decode_part(
        self,
        input: &[u8],
        out: &mut [u8],
        tail: Tail,
        contexts: &mut Contexts,
    ) -> Result<(), FilterError> {
        let _ = &contexts;
        match self {
            #[cfg(feature = "zlib")]
            Self::Gzip { .. } => contexts.gzip.decode(input, out),
            #[cfg(feature = "zstd")]
            Self::Zstd { .. } => contexts.zstd.decode(input, out),
            #[cfg(feature = "lz4")]
            Self::Lz4 => lz4::decode(input, out),
            #[cfg(feature = "bzip2")]
            Self::Bzip2 { .. } => bzip2::decode(input, out),
            Self::Rle { unit } => rle::decode(unit, input, out),
            Self::DoubleDelta { integer } => double_delta::decode(integer, input, out, tail),
            Self::Delta { integer } => delta::decode(integer, input, out, tail),
        }
    }

    /// Appends the encoded bytes of one part.
    pub(crate) fn encode_part(
        self,
        input: &[u8],
        out: &mut Vec<u8>,
        contexts: &mut Contexts,
    ) -> Result<(), FilterError> {
        let _ = &contexts;
        match self {
            #[cfg(feature = "zlib")]
            Self::Gzip { level } => contexts.gzip.encode(level, input, out),
            #[cfg(feature = "zstd")]
            Self::Zstd { level } => contexts.zstd.encode(level, input, out),
            #[cfg(feature = "lz4")]
            Self::Lz4 => contexts.lz4.encode(input, out),
            #[cfg(feature = "bzip2")]
            Self::Bzip2 { level } => bzip2::encode(level, input, out),
            Self::Rle { unit } => rle::encode(unit, input, out),
            Self::DoubleDelta { integer } => double_delta::encode(integer, input, out),
            Self::Delta { integer } => delta::encode(integer, input, out),
        }
    }
}

/// Contexts of the codecs, made when first needed.
#[derive(Default)]
pub(crate) struct Contexts {
    #[cfg(feature = "zlib")]
    gzip: gzip::Context,
    #[cfg(feature = "zstd")]
    zstd: zstd::Context,
    #[cfg(feature = "lz4")]
    lz4: lz4::Context,
    pub(crate) ivs: IvSource,
}

impl fmt::Debug for Contexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Contexts")
    }
}
