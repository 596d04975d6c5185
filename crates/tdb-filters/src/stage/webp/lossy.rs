//! Images with loss: VP8, with alpha stored without loss.

use std::panic::{AssertUnwindSafe, catch_unwind};

use zenwebp::{ColorType, EncoderParams, WebPEncoder};

use super::errors::could_not_encode;
use super::images::Images;
use crate::FilterError;

/// The encoder's quality 0 loses some 2 dB more than the reference library's, its quality 1 a little less.
const WORST: u8 = 1;
/// The effort that the reference library makes, too.
const METHOD: u8 = 4;
/// The effort that looks at no blocks smaller than 16 x 16 pixels. Their modes are most of a picture's first partition,
/// whose length has 19 bits: pictures of some 25 million pixels of noise take more.
const LARGE_BLOCKS: u8 = 1;

/// Appends the image of these pixels, red first.
///
/// What was encoded is read back before it counts, so that nothing is stored that nobody can read: the encoder doesn't see
/// when a picture outgrows the format.
pub(super) fn encode(images: Images, quality: f32, pixels: &[u8], out: &mut Vec<u8>) -> Result<(), FilterError> {
    // A whole number; between 0 and 100.
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
        Err(_) => Err(could_not_encode(&"the encoder can't cope with the image")),
    }
}

impl Images {
    /// The pixels without their alpha, if they have one and none is transparent.
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
        decoded.map_err(|error| could_not_encode(&format!("the image can't be read back ({error})")))
    }
}
