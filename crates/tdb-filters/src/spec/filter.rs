//! Filters and their options.

use std::fmt;

use tdb_types::{ByteReader, ByteWriter, Datatype, DecodeError, Feature, FormatVersion};

use super::WebPOptions;
use crate::FilterError;

/// A filter with its stored options.
///
/// Two filters are equal if they are stored as the same bytes. A NaN scale therefore equals itself.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Filter {
    /// No filter. A compressor configured as "no compression" is also parsed as this variant.
    None,
    /// A zlib stream, despite the name.
    Gzip {
        /// The level, 0 to 9. Negative levels mean the default, 6.
        level: i32,
    },
    /// A zstd frame.
    Zstd {
        /// The level, -7 to 22. Lower levels mean 3. Level -1 is zstd's "fast" level, not the
        /// default.
        level: i32,
    },
    /// A raw LZ4 block.
    Lz4 {
        /// The level, which is stored without effect.
        level: i32,
    },
    /// Run-length encoding of cells. As the first filter of strings of variable size, it encodes
    /// entire strings (see
    /// [`BoundPipeline::carries_offsets`](crate::BoundPipeline::carries_offsets)).
    Rle {
        /// The level, which is stored without effect.
        level: i32,
    },
    /// A bzip2 stream.
    Bzip2 {
        /// The level, 1 to 9. Lower levels mean 1.
        level: i32,
    },
    /// Differences of differences, bit-packed to the width of the largest difference.
    DoubleDelta {
        /// The level, which is stored without effect.
        level: i32,
        /// The datatype to assume instead of the incoming datatype.
        reinterpret: Option<Datatype>,
    },
    /// Integers stored relative to the minimum of a window, in fewer bytes.
    BitWidthReduction {
        /// Maximum window size, in bytes.
        max_window: u32,
    },
    /// Bit transposition.
    Bitshuffle,
    /// Byte transposition.
    Byteshuffle,
    /// Differences of integers that ascend within each window.
    PositiveDelta {
        /// Maximum window size, in bytes.
        max_window: u32,
    },
    /// Encryption. Stored only in the headers of generic tiles.
    Aes256Gcm,
    /// An MD5 digest stored with the data.
    Md5,
    /// A SHA-256 digest stored with the data.
    Sha256,
    /// Dictionary encoding of strings.
    Dictionary {
        /// The level, which is stored without effect.
        level: i32,
    },
    /// Floats stored as scaled integers.
    FloatScale {
        /// The factor of the integer.
        scale: f64,
        /// The value represented by integer 0.
        offset: f64,
        /// Size of the integer in bytes: 1, 2, 4 or 8.
        byte_width: u64,
    },
    /// Exclusive or of each value with its predecessor.
    Xor,
    /// A WebP image.
    WebP(WebPOptions),
    /// Differences of consecutive values.
    Delta {
        /// The level, which is stored without effect.
        level: i32,
        /// The datatype to assume instead of the incoming datatype.
        reinterpret: Option<Datatype>,
    },
    /// A filter unknown to this library. It can be printed and written, but not run.
    Unknown {
        /// The code in the file.
        code: u8,
        /// The options as stored.
        options: Vec<u8>,
    },
}

/// Filter codes.
mod code {
    pub(super) const NONE: u8 = 0;
    pub(super) const GZIP: u8 = 1;
    pub(super) const ZSTD: u8 = 2;
    pub(super) const LZ4: u8 = 3;
    pub(super) const RLE: u8 = 4;
    pub(super) const BZIP2: u8 = 5;
    pub(super) const DOUBLE_DELTA: u8 = 6;
    pub(super) const DICTIONARY: u8 = 14;
    pub(super) const DELTA: u8 = 19;
}

/// Compressor codes, the first byte of a compressor's options. Only these two differ from the
/// filter code.
mod compressor {
    pub(super) const DICTIONARY: u8 = 7;
    pub(super) const DELTA: u8 = 8;
}

/// The known filters with default options, by code and name.
static FILTERS: [(u8, &str, Filter); 19] = [
    (code::NONE, "none", Filter::None),
    (code::GZIP, "gzip", Filter::Gzip { level: Filter::DEFAULT_LEVEL }),
    (code::ZSTD, "zstd", Filter::Zstd { level: Filter::DEFAULT_LEVEL }),
    (code::LZ4, "lz4", Filter::Lz4 { level: Filter::DEFAULT_LEVEL }),
    (code::RLE, "rle", Filter::Rle { level: Filter::DEFAULT_LEVEL }),
    (code::BZIP2, "bzip2", Filter::Bzip2 { level: Filter::DEFAULT_LEVEL }),
    (code::DOUBLE_DELTA, "double_delta", Filter::DoubleDelta { level: Filter::DEFAULT_LEVEL, reinterpret: None }),
    (7, "bit_width_reduction", Filter::BitWidthReduction { max_window: Filter::DEFAULT_BIT_WIDTH_WINDOW }),
    (8, "bitshuffle", Filter::Bitshuffle),
    (9, "byteshuffle", Filter::Byteshuffle),
    (10, "positive_delta", Filter::PositiveDelta { max_window: Filter::DEFAULT_POSITIVE_DELTA_WINDOW }),
    (11, "aes_256_gcm", Filter::Aes256Gcm),
    (12, "md5", Filter::Md5),
    (13, "sha256", Filter::Sha256),
    (code::DICTIONARY, "dictionary", Filter::Dictionary { level: Filter::DEFAULT_LEVEL }),
    (15, "float_scale", Filter::FloatScale { scale: 1.0, offset: 0.0, byte_width: 8 }),
    (16, "xor", Filter::Xor),
    (18, "webp", Filter::WebP(WebPOptions::DEFAULT)),
    (code::DELTA, "delta", Filter::Delta { level: Filter::DEFAULT_LEVEL, reinterpret: None }),
];

impl Filter {
    /// The stored level if none was set.
    pub const DEFAULT_LEVEL: i32 = -1;
    /// The default window of [`Filter::BitWidthReduction`], in bytes.
    pub const DEFAULT_BIT_WIDTH_WINDOW: u32 = 256;
    /// The default window of [`Filter::PositiveDelta`], in bytes.
    pub const DEFAULT_POSITIVE_DELTA_WINDOW: u32 = 1024;
    /// Size of the code and of the options' length field, in bytes.
    pub(super) const MIN_STORED_BYTES: u64 = 5;

    /// Returns the code stored in files.
    #[must_use]
    pub fn code(&self) -> u8 {
        match self {
            Self::Unknown { code, .. } => *code,
            _ => self.row().map_or(code::NONE, |row| row.0),
        }
    }

    /// Returns the approximate time of reversing the filter, as the number of times that the bytes
    /// could be copied meanwhile.
    pub(super) fn copies(&self) -> u64 {
        match self {
            Self::None | Self::Unknown { .. } => 0,
            Self::Bitshuffle
            | Self::Byteshuffle
            | Self::BitWidthReduction { .. }
            | Self::Delta { .. }
            | Self::DoubleDelta { .. }
            | Self::FloatScale { .. }
            | Self::PositiveDelta { .. }
            | Self::Rle { .. }
            | Self::Xor => 1,
            Self::Aes256Gcm | Self::Dictionary { .. } | Self::Lz4 { .. } | Self::Md5 | Self::Sha256 => 4,
            Self::Gzip { .. } | Self::Zstd { .. } => 7,
            Self::Bzip2 { .. } | Self::WebP(_) => 60,
        }
    }

    /// Returns the name used by [`Display`](fmt::Display) and error messages.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.row().map_or("unknown", |row| row.1)
    }

    /// Returns the filter with this [name](Self::name) and default options, or `None` if no filter
    /// has the name. For WebP, the quality is 100, and the size of the images is 0.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        FILTERS.iter().find(|row| row.1 == name).map(|row| row.2.clone())
    }

    /// Returns the row of a known filter, or `None` for an unknown filter.
    fn row(&self) -> Option<&'static (u8, &'static str, Self)> {
        FILTERS.iter().find(|row| std::mem::discriminant(&row.2) == std::mem::discriminant(self))
    }

    /// Returns `true` for the compression family, which packs metadata and data into a new stream.
    #[must_use]
    pub fn is_compressor(&self) -> bool {
        matches!(self.code(), code::GZIP..=code::DOUBLE_DELTA | code::DICTIONARY | code::DELTA)
    }

    /// Returns the datatype of the filter's output for values of `input`, as seen by the next
    /// filter.
    #[must_use]
    pub fn output_datatype(&self, input: Datatype) -> Datatype {
        match *self {
            Self::FloatScale { byte_width, .. } => signed_integer(byte_width),
            Self::Xor => signed_integer(input.size() as u64),
            Self::Delta { reinterpret: Some(datatype), .. } | Self::DoubleDelta { reinterpret: Some(datatype), .. }
                if datatype != Datatype::Any =>
            {
                datatype
            }
            Self::Aes256Gcm => Datatype::Blob,
            _ => input,
        }
    }

    pub(super) fn parse(reader: &mut ByteReader<'_>, version: FormatVersion) -> Result<Self, DecodeError> {
        let code = reader.u8("filter code")?;
        let length = reader.u32("length of filter options")?;
        let mut options = reader.sub("filter options", u64::from(length))?;
        let filter = Self::parse_options(code, &mut options, version)?;
        reader.explain(|| filter.to_string());
        Ok(filter)
    }

    fn parse_options(code: u8, options: &mut ByteReader<'_>, version: FormatVersion) -> Result<Self, DecodeError> {
        let Some((.., known)) = FILTERS.iter().find(|row| row.0 == code) else {
            let options = options.bytes("options", options.remaining() as u64)?.to_vec();
            return Ok(Self::Unknown { code, options });
        };
        let mut filter = known.clone();
        match &mut filter {
            Self::BitWidthReduction { max_window } | Self::PositiveDelta { max_window } => {
                *max_window = options.u32("maximum window")?;
            }
            Self::FloatScale { scale, offset, byte_width } => {
                *scale = options.f64("scale")?;
                *offset = options.f64("offset")?;
                *byte_width = options.u64("byte width")?;
            }
            Self::WebP(webp) => *webp = WebPOptions::parse(options)?,
            _ if known.is_compressor() => filter = Self::parse_compressor(options, version)?,
            _ => {}
        }
        Ok(filter)
    }

    /// The compressor code determines the filter, as in the reference library. The filter code,
    /// which is consistent in all known files, only selects this layout of options.
    fn parse_compressor(options: &mut ByteReader<'_>, version: FormatVersion) -> Result<Self, DecodeError> {
        let offset = options.offset();
        let compressor = options.u8("compressor")?;
        let level = options.i32("level")?;
        Ok(match compressor {
            code::NONE => Self::None,
            code::GZIP => Self::Gzip { level },
            code::ZSTD => Self::Zstd { level },
            code::LZ4 => Self::Lz4 { level },
            code::RLE => Self::Rle { level },
            code::BZIP2 => Self::Bzip2 { level },
            code::DOUBLE_DELTA => {
                let reinterpret = parse_reinterpret(options, version.has(Feature::DoubleDeltaReinterpret))?;
                Self::DoubleDelta { level, reinterpret }
            }
            compressor::DICTIONARY => Self::Dictionary { level },
            compressor::DELTA => Self::Delta { level, reinterpret: parse_reinterpret(options, true)? },
            other => return Err(DecodeError::invalid("compressor", offset, other, "a compressor code from 0 to 8")),
        })
    }

    pub(super) fn write(&self, writer: &mut ByteWriter, version: FormatVersion) -> Result<(), FilterError> {
        let mut options = ByteWriter::new();
        self.write_options(&mut options, version)?;
        writer.u8(self.code());
        writer.u32(crate::length_u32("length of filter options", options.len())?);
        writer.bytes(options.as_slice());
        Ok(())
    }

    fn write_options(&self, options: &mut ByteWriter, version: FormatVersion) -> Result<(), FilterError> {
        let mut compressor = |code: u8, level: i32| {
            options.u8(code);
            options.i32(level);
        };
        match *self {
            Self::None | Self::Bitshuffle | Self::Byteshuffle | Self::Aes256Gcm => {}
            Self::Md5 | Self::Sha256 | Self::Xor => {}
            Self::Gzip { level }
            | Self::Zstd { level }
            | Self::Lz4 { level }
            | Self::Rle { level }
            | Self::Bzip2 { level } => compressor(self.code(), level),
            Self::Dictionary { level } => compressor(compressor::DICTIONARY, level),
            Self::DoubleDelta { level, reinterpret } => {
                compressor(code::DOUBLE_DELTA, level);
                if version.has(Feature::DoubleDeltaReinterpret) {
                    options.u8(reinterpret.unwrap_or(Datatype::Any).code());
                } else if reinterpret.is_some() {
                    let what = "a double delta filter with a reinterpreted datatype";
                    return Err(FilterError::NotInVersion { what, version });
                }
            }
            Self::Delta { level, reinterpret } => {
                if !version.has(Feature::DeltaReinterpret) {
                    return Err(FilterError::NotInVersion { what: "the delta filter", version });
                }
                compressor(compressor::DELTA, level);
                options.u8(reinterpret.unwrap_or(Datatype::Any).code());
            }
            Self::BitWidthReduction { max_window } | Self::PositiveDelta { max_window } => options.u32(max_window),
            Self::FloatScale { scale, offset, byte_width } => {
                options.f64(scale);
                options.f64(offset);
                options.u64(byte_width);
            }
            Self::WebP(webp) => webp.write(options),
            Self::Unknown { options: ref raw, .. } => options.bytes(raw),
        }
        Ok(())
    }
}

/// Returns the signed integer datatype of this size.
fn signed_integer(bytes: u64) -> Datatype {
    match bytes {
        1 => Datatype::Int8,
        2 => Datatype::Int16,
        4 => Datatype::Int32,
        _ => Datatype::Int64,
    }
}

/// Reads the datatype of a delta filter. Returns `None` for `any`, which means the incoming
/// datatype.
fn parse_reinterpret(options: &mut ByteReader<'_>, has: bool) -> Result<Option<Datatype>, DecodeError> {
    if !has || options.remaining() == 0 {
        return Ok(None);
    }
    let datatype = Datatype::read(options, "reinterpreted datatype")?;
    Ok(Some(datatype).filter(|&datatype| datatype != Datatype::Any))
}

impl PartialEq for Filter {
    fn eq(&self, other: &Self) -> bool {
        let bytes = |filter: &Self| {
            let mut writer = ByteWriter::new();
            // The newest version can represent every filter.
            filter.write(&mut writer, FormatVersion::MAX).ok().map(|()| writer.into_bytes())
        };
        self.code() == other.code() && bytes(self) == bytes(other)
    }
}

impl Eq for Filter {}

impl fmt::Display for Filter {
    /// Prints the name, and effective options in parentheses: `zstd(3)`, `double_delta(int32)`,
    /// `md5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Gzip { level } | Self::Zstd { level } | Self::Bzip2 { level } => write!(f, "({level})"),
            Self::BitWidthReduction { max_window } | Self::PositiveDelta { max_window } => {
                write!(f, "(window {max_window})")
            }
            Self::DoubleDelta { reinterpret: Some(datatype), .. } | Self::Delta { reinterpret: Some(datatype), .. } => {
                write!(f, "({datatype})")
            }
            Self::FloatScale { scale, offset, byte_width } => {
                write!(f, "(scale {scale}, offset {offset}, {byte_width} bytes)")
            }
            Self::WebP(webp) => write!(f, "({webp})"),
            Self::Unknown { code, options } => {
                write!(f, "(code {code}")?;
                if !options.is_empty() {
                    f.write_str(", options ")?;
                    options.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                }
                f.write_str(")")
            }
            _ => Ok(()),
        }
    }
}
