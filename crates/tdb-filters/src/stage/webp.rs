//! WebP: a tile of a two-dimensional dense array as an image, with a row of pixels per row of the
//! tile.
//!
//! | metadata | field |
//! | --- | --- |
//! | `u32` | number of parts, 1 |
//! | `u32` | length of the image |
//!
//! The data are a complete WebP file. The file itself states if compression is lossy, regardless of
//! the options.

mod errors;
mod header;
mod images;
#[cfg(feature = "webp-lossy")]
mod lossy;

use image_webp::{ColorType, WebPEncoder};
use tdb_types::ByteReader;

use crate::FilterError;
use crate::flow::{Metadata, Sink, split_mut};
use crate::stage::parts::{self, Parts};
use errors::{FILTER, could_not_encode};

pub(crate) use images::Images;

/// The valid qualities, as in the reference library.
const QUALITIES: std::ops::RangeInclusive<f32> = 0.0..=100.0;

impl Images {
    pub(crate) fn decode(self, meta: &mut ByteReader<'_>, data: &[u8], sink: &mut Sink<'_>) -> Result<(), FilterError> {
        let mut parts = Parts::read(meta, data, FILTER)?;
        let mut out = sink.take(self.len().saturating_mul(parts.len()))?;
        while let Some(image) = parts.next()? {
            self.decode_image(image, split_mut(&mut out, FILTER, self.len())?)?;
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
}

/// For builds with the decoder but without the lossy encoder.
#[cfg(not(feature = "webp-lossy"))]
mod lossy {
    use super::images::Images;
    use crate::FilterError;

    pub(super) fn encode(_: Images, _: f32, _: &[u8], _: &mut Vec<u8>) -> Result<(), FilterError> {
        Err(FilterError::CodecDisabled { filter: "encoder for lossy webp", feature: "webp-lossy" })
    }
}
