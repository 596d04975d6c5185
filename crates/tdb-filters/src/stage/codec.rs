//! Filters of the compression family, applied to a part.

#[cfg(feature = "bzip2")]
use super::bzip2;
use super::contexts::Contexts;
#[cfg(feature = "lz4")]
use super::lz4;
use super::tail::Tail;
use super::{delta, double_delta, rle};
use crate::FilterError;
use crate::word::Integer;

/// A filter of the compression family. The [frame](super::frame) applies it to each part.
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
    /// Runs of equal units. `unit` is in bytes.
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

impl Codec {
    /// Decodes a part into `out` and overwrites every byte.
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

    /// Appends the encoded bytes of a part.
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
