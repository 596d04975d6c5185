//! Properties of WebP images, and their decoding.

use std::borrow::Cow;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use image_webp::WebPDecoder;

use super::errors::FILTER;
use super::header;
use crate::{FilterError, WebPFormat, WebPOptions};

/// Maximum number of pixels per row, and of rows.
const MAX_SIDE: u32 = 16_383;

/// The properties of an attribute's images.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Images {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Bytes per pixel: 3, or 4 with alpha.
    pub(super) channels: usize,
    /// `true` if the channels are in the order blue, green, red.
    pub(super) swapped: bool,
    /// The quality of lossy images, or `None` for lossless images.
    pub(super) loss: Option<f32>,
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

    pub(super) fn pixels(self) -> usize {
        // Each side is at most `MAX_SIDE`, so the product is below 2²⁸ and cannot overflow.
        (self.width * self.height) as usize
    }

    /// Returns the size of a tile, in bytes.
    pub(super) fn len(self) -> u64 {
        self.pixels() as u64 * self.channels as u64
    }

    pub(super) fn decode_image(self, image: &[u8], out: &mut [u8]) -> Result<(), FilterError> {
        // The decoder allocates memory for the size in the header, which may be wrong.
        header::check(image, (self.width, self.height))?;
        let decoded = catch_unwind(AssertUnwindSafe(|| self.pixels_of(image, out)));
        match decoded {
            Ok(result) => result?,
            // The decoder forbids unsafe code but may panic on hostile images.
            Err(_) => {
                return Err(FilterError::Corrupt { filter: FILTER, what: "cannot decode the image" });
            }
        }
        if self.swapped {
            self.swap(out);
        }
        Ok(())
    }

    pub(super) fn pixels_of(self, image: &[u8], out: &mut [u8]) -> Result<(), FilterError> {
        let failed = |error: image_webp::DecodingError| {
            let message = error.to_string();
            FilterError::Decoder { filter: FILTER, message }
        };
        let mut decoder = WebPDecoder::new(Cursor::new(image)).map_err(failed)?;
        let channels = if decoder.has_alpha() { 4 } else { 3 };
        if channels == self.channels {
            return decoder.read_image(out).map_err(failed);
        }
        // The image and the format differ in alpha. Encoders omit the channel of opaque images, so
        // the output is opaque. If the format has no alpha, the image's alpha is dropped.
        let mut pixels = vec![0; self.pixels() * channels];
        decoder.read_image(&mut pixels).map_err(failed)?;
        for (to, from) in out.chunks_exact_mut(self.channels).zip(pixels.chunks_exact(channels)) {
            to[..3].copy_from_slice(&from[..3]);
            to[3..].fill(u8::MAX);
        }
        Ok(())
    }

    /// Returns the pixels of a tile with red first, as required by the encoders.
    pub(super) fn arranged(self, tile: &[u8]) -> Cow<'_, [u8]> {
        if !self.swapped {
            return Cow::Borrowed(tile);
        }
        let mut pixels = tile.to_vec();
        self.swap(&mut pixels);
        Cow::Owned(pixels)
    }

    /// Swaps red and blue.
    pub(super) fn swap(self, pixels: &mut [u8]) {
        pixels.chunks_exact_mut(self.channels).for_each(|pixel| pixel.swap(0, 2));
    }
}
