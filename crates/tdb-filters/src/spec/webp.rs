//! Options of the WebP filter.

use std::fmt;

use tdb_types::{ByteReader, ByteWriter, DecodeError};

/// Options of [`Filter::WebP`](crate::Filter::WebP).
#[derive(Clone, Copy, Debug)]
pub struct WebPOptions {
    /// The quality of lossy images, 0.0 to 100.0.
    pub quality: f32,
    /// The channels of a pixel.
    pub format: WebPFormat,
    /// `true` for lossless compression.
    pub lossless: bool,
    /// Rows per tile.
    pub y_extent: u16,
    /// Bytes per row of a tile, which is the number of pixels times the number of channels.
    pub x_extent: u16,
}

/// The channels of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // variants list the channels in order
pub enum WebPFormat {
    None,
    Rgb,
    Bgr,
    Rgba,
    Bgra,
}

impl WebPFormat {
    const ALL: [(u8, Self, &'static str); 5] = [
        (0, Self::None, "none"),
        (1, Self::Rgb, "rgb"),
        (2, Self::Bgr, "bgr"),
        (3, Self::Rgba, "rgba"),
        (4, Self::Bgra, "bgra"),
    ];

    /// Returns the name for display and parsing.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().2
    }

    /// Returns the format with this [`name`](Self::name), or `None` if the name is unknown.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|row| row.2 == name).map(|row| row.1)
    }

    fn from_code(code: u8) -> Option<Self> {
        Self::ALL.iter().find(|row| row.0 == code).map(|row| row.1)
    }

    fn row(self) -> &'static (u8, Self, &'static str) {
        // Rows are in the order of the variants.
        &Self::ALL[self as usize]
    }
}

impl WebPOptions {
    pub(super) const DEFAULT: Self =
        Self { quality: 100.0, format: WebPFormat::None, lossless: false, y_extent: 0, x_extent: 0 };

    pub(super) fn parse(options: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            quality: options.f32("quality")?,
            format: options.code("pixel format", "a pixel format from 0 to 4", WebPFormat::from_code)?,
            lossless: options.bool("lossless")?,
            y_extent: options.u16("y extent")?,
            x_extent: options.u16("x extent")?,
        })
        // Two bytes of padding follow, without meaning.
    }

    pub(super) fn write(&self, options: &mut ByteWriter) {
        options.f32(self.quality);
        options.u8(self.format.row().0);
        options.bool(self.lossless);
        options.u16(self.y_extent);
        options.u16(self.x_extent);
        options.u16(0);
    }
}

impl PartialEq for WebPOptions {
    fn eq(&self, other: &Self) -> bool {
        let key = |options: &Self| {
            (options.quality.to_bits(), options.format, options.lossless, options.y_extent, options.x_extent)
        };
        key(self) == key(other)
    }
}

impl Eq for WebPOptions {}

impl fmt::Display for WebPOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { quality, format, lossless, y_extent, x_extent } = self;
        let loss = if *lossless { "lossless".to_owned() } else { format!("quality {quality}") };
        write!(f, "{}, {loss}, {y_extent} rows of {x_extent} bytes", format.row().2)
    }
}
