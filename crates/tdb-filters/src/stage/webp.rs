//! WebP: a tile of a two-dimensional dense array as an image, one row of the tile a row of pixels.
//!
//! | metadata | field |
//! | --- | --- |
//! | `u32` | number of parts, 1 |
//! | `u32` | bytes of the image |
//!
//! The data are a complete WebP file. Whether it was made with loss or without stands in it, not in the options.

mod header;
#[cfg(feature = "webp-lossy")]
mod lossy;

use std::borrow::Cow;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use image_webp::{ColorType, WebPDecoder, WebPEncoder};
use tdb_types::ByteReader;

use crate::flow::{Metadata, Sink, split_mut};
use crate::stage::parts::{self, Parts};
use crate::{FilterError, WebPFormat, WebPOptions};

const FILTER: &str = "webp";
/// What a quality must be, as the reference library has it.
const QUALITIES: std::ops::RangeInclusive<f32> = 0.0..=100.0;
/// Most pixels in a row, or rows.
const MAX_SIDE: u32 = 16_383;

/// What the images of an attribute look like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Images {
    width: u32,
    height: u32,
    /// Bytes of a pixel: 3, or 4 with alpha.
    channels: usize,
    /// Whether blue comes first.
    swapped: bool,
    /// Of images with loss the quality.
    loss: Option<f32>,
}

fn could_not_encode(error: &impl ToString) -> FilterError {
    FilterError::Encoder { filter: FILTER, message: error.to_string() }
}

impl Images {
    pub(crate) fn new(options: &WebPOptions) -> Result<Self, FilterError> {
        let invalid = |option, found: String, expected| {
            Err(FilterError::InvalidOption { filter: FILTER, option, found, expected })
        };
        let (channels, swapped) = match options.format {
            WebPFormat::Rgb => (3, false),
            WebPFormat::Bgr => (3, true),
            WebPFormat::Rgba => (4, false),
            WebPFormat::Bgra => (4, true),
            WebPFormat::None => return invalid("pixel format", "none".to_owned(), "rgb, bgr, rgba or bgra"),
        };
        let (row, height) = (u32::from(options.x_extent), u32::from(options.y_extent));
        let width = row / channels;
        if !row.is_multiple_of(channels) || !(1..=MAX_SIDE).contains(&width) {
            return invalid("x extent", row.to_string(), "1 to 16383 whole pixels");
        }
        if !(1..=MAX_SIDE).contains(&height) {
            return invalid("y extent", height.to_string(), "1 to 16383");
        }
        let loss = (!options.lossless).then_some(options.quality);
        Ok(Self { width, height, channels: channels as usize, swapped, loss })
    }

    fn pixels(self) -> usize {
        // Below 2²⁸.
        (self.width * self.height) as usize
    }

    /// Bytes of a tile.
    fn len(self) -> u64 {
        self.pixels() as u64 * self.channels as u64
    }

    pub(crate) fn decode(self, meta: &mut ByteReader<'_>, data: &[u8], sink: &mut Sink<'_>) -> Result<(), FilterError> {
        let mut parts = Parts::read(meta, data, FILTER)?;
        let mut out = sink.take(self.len().saturating_mul(parts.len()))?;
        while let Some(image) = parts.next()? {
            self.decode_image(image, split_mut(&mut out, FILTER, self.len())?)?;
        }
        Ok(())
    }

    fn decode_image(self, image: &[u8], out: &mut [u8]) -> Result<(), FilterError> {
        // What the decoder allocates follows from what the image says of its size.
        header::check(image, (self.width, self.height))?;
        let decoded = catch_unwind(AssertUnwindSafe(|| self.pixels_of(image, out)));
        match decoded {
            Ok(result) => result?,
            // The decoder forbids unsafe code, but isn't proof against all that an image can say.
            Err(_) => {
                return Err(FilterError::Corrupt { filter: FILTER, what: "the decoder can't cope with the image" });
            }
        }
        if self.swapped {
            self.swap(out);
        }
        Ok(())
    }

    fn pixels_of(self, image: &[u8], out: &mut [u8]) -> Result<(), FilterError> {
        let failed = |error: image_webp::DecodingError| {
            let message = error.to_string();
            FilterError::Decoder { filter: FILTER, message }
        };
        let mut decoder = WebPDecoder::new(Cursor::new(image)).map_err(failed)?;
        let channels = if decoder.has_alpha() { 4 } else { 3 };
        if channels == self.channels {
            return decoder.read_image(out).map_err(failed);
        }
        // Opaque images don't say so in each pixel; and transparency that nobody asked for is dropped.
        let mut pixels = vec![0; self.pixels() * channels];
        decoder.read_image(&mut pixels).map_err(failed)?;
        for (to, from) in out.chunks_exact_mut(self.channels).zip(pixels.chunks_exact(channels)) {
            to[..3].copy_from_slice(&from[..3]);
            to[3..].fill(u8::MAX);
        }
        Ok(())
    }

    pub(crate) fn encode(
        self,
        meta: &mut Metadata<'_>,
        data: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<(), FilterError> {
        let tile = data.unwrap_or_default();
        if tile.len() as u64 != self.len() {
            let (expected, found) = (self.len(), tile.len() as u64);
            return Err(FilterError::WrongSize { what: "tile of pixels", expected, found });
        }
        let start = out.len();
        match self.loss {
            None => self.encode_lossless(&self.arranged(tile), out)?,
            Some(quality) => self.encode_lossy(quality, tile, out)?,
        }
        parts::write(meta, &[out.len() - start])
    }

    fn encode_lossless(self, pixels: &[u8], out: &mut Vec<u8>) -> Result<(), FilterError> {
        let color = if self.channels == 4 { ColorType::Rgba8 } else { ColorType::Rgb8 };
        WebPEncoder::new(out).encode(pixels, self.width, self.height, color).map_err(|error| could_not_encode(&error))
    }

    fn encode_lossy(self, quality: f32, tile: &[u8], out: &mut Vec<u8>) -> Result<(), FilterError> {
        if !QUALITIES.contains(&quality) {
            let (option, found, expected) = ("quality", quality.to_string(), "0 to 100");
            return Err(FilterError::InvalidOption { filter: FILTER, option, found, expected });
        }
        lossy::encode(self, quality, &self.arranged(tile), out)
    }

    /// The pixels of a tile with red first, as encoders want them.
    fn arranged(self, tile: &[u8]) -> Cow<'_, [u8]> {
        if !self.swapped {
            return Cow::Borrowed(tile);
        }
        let mut pixels = tile.to_vec();
        self.swap(&mut pixels);
        Cow::Owned(pixels)
    }

    /// Red for blue, and blue for red.
    fn swap(self, pixels: &mut [u8]) {
        pixels.chunks_exact_mut(self.channels).for_each(|pixel| pixel.swap(0, 2));
    }
}

/// In builds that decode images with loss, but have no encoder of them.
#[cfg(not(feature = "webp-lossy"))]
mod lossy {
    use super::Images;
    use crate::FilterError;

    pub(super) fn encode(_: Images, _: f32, _: &[u8], _: &mut Vec<u8>) -> Result<(), FilterError> {
        Err(FilterError::CodecDisabled { filter: "encoder for lossy webp", feature: "webp-lossy" })
    }
}
