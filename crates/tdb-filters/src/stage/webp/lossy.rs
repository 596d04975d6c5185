//! Lossy images: VP8, with lossless alpha.

use std::panic::{AssertUnwindSafe, catch_unwind};

use zenwebp::{ColorType, EncoderParams, WebPEncoder};

use super::errors::could_not_encode;
use super::images::Images;
use crate::FilterError;

/// The minimum quality. The encoder's quality 0 is about 2 dB worse than quality 0 of the reference
/// library. Quality 1 is only slightly worse.
const WORST: u8 = 1;
/// The effort used by the reference library.
const METHOD: u8 = 4;
/// The effort without blocks smaller than 16 x 16 pixels. The modes of small blocks dominate the
/// first partition, whose length has 19 bits. Noise pictures of about 25 million pixels exceed it.
const LARGE_BLOCKS: u8 = 1;

/// Appends the image of these pixels, with red first.
///
/// The result is decoded as a check, because the encoder does not detect pictures too large for the
/// format.
pub(super) fn encode(images: Images, quality: f32, pixels: &[u8], out: &mut Vec<u8>) -> Result<(), FilterError> {
    // A whole number from 0 to 100.
    let quality = (quality.round() as u8).max(WORST);
    let opaque = images.without_alpha(pixels);
    let (pixels, color) = match (&opaque, images.channels) {
        (Some(opaque), _) => (opaque.as_slice(), ColorType::Rgb8),
        (None, 4) => (pixels, ColorType::Rgba8),
        (None, _) => (pixels, ColorType::Rgb8),
    };
    let start = out.len();
    let mut result = Ok(());
    for method in [METHOD, LARGE_BLOCKS] {
        out.truncate(start);
        let mut params = EncoderParams::lossy(quality);
        params.method = method;
        result = encode_once(images, params, (pixels, color), out).and_then(|()| images.read_back(&out[start..]));
        if result.is_ok() {
            break;
        }
    }
    result
}

fn encode_once(
    images: Images,
    params: EncoderParams,
    (pixels, color): (&[u8], ColorType),
    out: &mut Vec<u8>,
) -> Result<(), FilterError> {
    let encoded = catch_unwind(AssertUnwindSafe(|| {
        let mut encoder = WebPEncoder::new(out);
        encoder.set_params(params);
        encoder.encode(pixels, images.width, images.height, color)
    }));
    match encoded {
        Ok(result) => result.map_err(|error| could_not_encode(&error)),
        Err(_) => Err(could_not_encode(&"cannot encode the image")),
    }
}

impl Images {
    /// Returns the pixels without alpha, if all are opaque.
    fn without_alpha(self, pixels: &[u8]) -> Option<Vec<u8>> {
        let mut four = pixels.chunks_exact(4);
        if self.channels != 4 || !four.all(|pixel| pixel[3] == u8::MAX) {
            return None;
        }
        let mut opaque = Vec::with_capacity(self.pixels() * 3);
        pixels.chunks_exact(4).for_each(|pixel| opaque.extend_from_slice(&pixel[..3]));
        Some(opaque)
    }

    /// Checks that an image can be decoded.
    fn read_back(self, image: &[u8]) -> Result<(), FilterError> {
        let mut pixels = vec![0; self.pixels() * self.channels];
        let decoded = self.decode_image(image, &mut pixels);
        decoded.map_err(|error| could_not_encode(&format!("cannot read the encoded image: {error}")))
    }
}
