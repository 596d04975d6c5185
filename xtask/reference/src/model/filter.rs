//! Filters and their options.

use serde::{Deserialize, Serialize};
use tdb_types::Datatype;

/// A filter. Options that are `None` keep the library's default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "filter", rename_all = "snake_case")]
pub enum FilterSpec {
    None,
    Gzip { level: Option<i32> },
    Zstd { level: Option<i32> },
    Lz4 { level: Option<i32> },
    Rle,
    Bzip2 { level: Option<i32> },
    DoubleDelta { reinterpret: Option<Datatype> },
    BitWidthReduction { window: Option<u32> },
    Bitshuffle,
    Byteshuffle,
    PositiveDelta { window: Option<u32> },
    ChecksumMd5,
    ChecksumSha256,
    Dictionary,
    ScaleFloat { factor: f64, offset: f64, byte_width: u64 },
    Xor,
    Webp { quality: f32, format: WebpFormat, lossless: bool },
    Delta { reinterpret: Option<Datatype> },
}

/// The order of the colors in the cells of a WebP filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebpFormat {
    Rgb = 1,
    Bgr = 2,
    Rgba = 3,
    Bgra = 4,
}

impl FilterSpec {
    pub const DOUBLE_DELTA: Self = Self::DoubleDelta { reinterpret: None };
    pub const DELTA: Self = Self::Delta { reinterpret: None };
    pub const BIT_WIDTH_REDUCTION: Self = Self::BitWidthReduction { window: None };
    pub const POSITIVE_DELTA: Self = Self::PositiveDelta { window: None };
    pub const GZIP: Self = Self::Gzip { level: None };
    pub const ZSTD: Self = Self::Zstd { level: None };
    pub const LZ4: Self = Self::Lz4 { level: None };
    pub const BZIP2: Self = Self::Bzip2 { level: None };

    /// Returns the filter's code in files and in the C interface.
    pub const fn code(&self) -> u32 {
        match self {
            Self::None => 0,
            Self::Gzip { .. } => 1,
            Self::Zstd { .. } => 2,
            Self::Lz4 { .. } => 3,
            Self::Rle => 4,
            Self::Bzip2 { .. } => 5,
            Self::DoubleDelta { .. } => 6,
            Self::BitWidthReduction { .. } => 7,
            Self::Bitshuffle => 8,
            Self::Byteshuffle => 9,
            Self::PositiveDelta { .. } => 10,
            Self::ChecksumMd5 => 12,
            Self::ChecksumSha256 => 13,
            Self::Dictionary => 14,
            Self::ScaleFloat { .. } => 15,
            Self::Xor => 16,
            Self::Webp { .. } => 18,
            Self::Delta { .. } => 19,
        }
    }
}

/// Filters in write order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pipeline {
    pub filters: Vec<FilterSpec>,
    /// Maximum chunk size in bytes, stored with the pipeline. Zero disables chunks. Only releases
    /// before 2.0 write chunks of this size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_chunk_size: Option<u32>,
}

impl<const N: usize> From<[FilterSpec; N]> for Pipeline {
    fn from(filters: [FilterSpec; N]) -> Self {
        Self { filters: filters.into(), max_chunk_size: None }
    }
}

impl From<Vec<FilterSpec>> for Pipeline {
    fn from(filters: Vec<FilterSpec>) -> Self {
        Self { filters, max_chunk_size: None }
    }
}

impl Pipeline {
    /// `true` unless the pipeline is the default. A pipeline without filters may have a chunk size.
    pub fn is_stated(&self) -> bool {
        !self.filters.is_empty() || self.max_chunk_size.is_some()
    }

    /// Encodes the pipeline as in a schema of format 20 or later.
    ///
    /// `tdb-filters` encodes pipelines too. This second implementation is intentional: it encodes
    /// the pipeline given to the reference library, for a comparison with the library's file.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_bytes_in([0, 0])
    }

    /// Encodes the pipeline of an attribute in an array with the given tile extents. WebP filters
    /// store the extents.
    pub fn to_bytes_in(&self, extents: [u16; 2]) -> Vec<u8> {
        let mut bytes = self.max_chunk_size.unwrap_or(65536).to_le_bytes().to_vec();
        bytes.extend((self.filters.len() as u32).to_le_bytes());
        for filter in &self.filters {
            let options = filter.options(extents);
            bytes.push(filter.code() as u8);
            bytes.extend((options.len() as u32).to_le_bytes());
            bytes.extend(options);
        }
        bytes
    }
}

impl FilterSpec {
    fn options(&self, extents: [u16; 2]) -> Vec<u8> {
        let compressor = |code: u8, level: Option<i32>| [&[code][..], &level.unwrap_or(-1).to_le_bytes()].concat();
        let reinterpreting = |code: u8, datatype: Option<Datatype>| {
            let mut options = compressor(code, None);
            options.push(datatype.unwrap_or(Datatype::Any).code());
            options
        };
        match self {
            Self::Gzip { level } => compressor(1, *level),
            Self::Zstd { level } => compressor(2, *level),
            Self::Lz4 { level } => compressor(3, *level),
            Self::Rle => compressor(4, None),
            Self::Bzip2 { level } => compressor(5, *level),
            Self::Dictionary => compressor(7, None),
            Self::DoubleDelta { reinterpret } => reinterpreting(6, *reinterpret),
            Self::Delta { reinterpret } => reinterpreting(8, *reinterpret),
            Self::BitWidthReduction { window } => window.unwrap_or(256).to_le_bytes().to_vec(),
            Self::PositiveDelta { window } => window.unwrap_or(1024).to_le_bytes().to_vec(),
            Self::ScaleFloat { factor, offset, byte_width } => {
                [factor.to_le_bytes(), offset.to_le_bytes(), byte_width.to_le_bytes()].concat()
            }
            Self::Webp { quality, format, lossless } => {
                let flags = [*format as u8, u8::from(*lossless)];
                // Two bytes of padding at the end.
                [&quality.to_le_bytes()[..], &flags, &extents.map(u16::to_le_bytes).concat(), &[0, 0]].concat()
            }
            Self::None
            | Self::Bitshuffle
            | Self::Byteshuffle
            | Self::ChecksumMd5
            | Self::ChecksumSha256
            | Self::Xor => Vec::new(),
        }
    }
}
