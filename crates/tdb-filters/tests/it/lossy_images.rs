//! Quality of lossy images, compared with the reference library.
#![cfg(feature = "webp-lossy")]

use crate::common;

use crate::common::{chunks, decode, encode};
use proptest::prelude::*;
use tdb_filters::{Filter, TileKind, WebPFormat, WebPOptions};
use tdb_testkit::allocations::peak_while;
use tdb_types::Datatype;

const FORMATS: [WebPFormat; 4] = [WebPFormat::Rgb, WebPFormat::Bgr, WebPFormat::Rgba, WebPFormat::Bgra];

fn kind() -> TileKind {
    TileKind::fixed(Datatype::UInt8, 1, common::V22)
}

fn depth(format: WebPFormat) -> usize {
    if matches!(format, WebPFormat::Rgba | WebPFormat::Bgra) { 4 } else { 3 }
}

/// A picture: rows and columns of pixels, and their format.
#[derive(Clone, Copy, Debug)]
struct Picture {
    rows: usize,
    columns: usize,
    format: WebPFormat,
    quality: f32,
}

impl Picture {
    fn filter(self) -> Filter {
        let [y_extent, x_extent] = [self.rows, self.columns * depth(self.format)].map(|side| side as u16);
        let Self { quality, format, .. } = self;
        Filter::WebP(WebPOptions { quality, format, lossless: false, y_extent, x_extent })
    }

    /// Waves in all three colors with some noise, and arbitrary alpha.
    fn pixels(self, opaque: bool) -> Vec<u8> {
        let wave = |at: usize, period: usize| (at % period).abs_diff(period / 2) * 2 * 160 / period;
        let noise = |x: usize, y: usize| (x * 7919 + y * 104_729 + x * y * 31) % 13;
        let mut pixels = Vec::new();
        for (y, x) in (0..self.rows).flat_map(|y| (0..self.columns).map(move |x| (y, x))) {
            let shade = noise(x, y);
            let mut colours =
                [40 + wave(x + y, 83) + shade, 30 + wave(x * 2 + y, 131) + shade, 50 + wave(x + 3 * y, 197) + shade];
            if matches!(self.format, WebPFormat::Bgr | WebPFormat::Bgra) {
                colours.reverse();
            }
            pixels.extend(colours.map(|colour| colour as u8));
            if depth(self.format) == 4 {
                pixels.push(if opaque { 255 } else { (x * y * 17 + x) as u8 });
            }
        }
        pixels
    }

    /// The decoded pixels, and the encoded image.
    fn there_and_back(self, pixels: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let filtered = encode(&[self.filter()], kind(), pixels).unwrap();
        let (_, image) = chunks(&filtered).remove(0);
        (decode(&[self.filter()], kind(), &filtered, pixels.len()).unwrap(), image)
    }

    /// Peak signal-to-noise ratio of the colors, in dB.
    fn nearness(self, given: &[u8], found: &[u8]) -> f64 {
        let depth = depth(self.format);
        let colours = given.iter().zip(found).enumerate().filter(|(index, _)| index % depth < 3);
        let (mut sum, mut count) = (0.0, 0.0);
        for (_, (given, found)) in colours {
            sum += f64::from(given.abs_diff(*found)).powi(2);
            count += 1.0;
        }
        10.0 * (255.0 * 255.0 * count / f64::max(sum, 1e-6)).log10()
    }
}

fn alpha(pixels: &[u8]) -> Vec<u8> {
    pixels.iter().skip(3).step_by(4).copied().collect()
}

/// Quality, dB and bytes of the 150 by 200 pixel image encoded by release 2.30.0.
const OF_THE_REFERENCE_LIBRARY: [(f32, f64, usize); 6] = [
    (0.0, 28.68, 630),
    (25.0, 31.82, 1554),
    (50.0, 33.39, 2170),
    (75.0, 34.33, 2976),
    (90.0, 38.87, 8088),
    (100.0, 44.09, 14784),
];

#[test]
fn quality_means_what_it_means_to_the_reference_library() {
    for format in FORMATS {
        for (quality, decibels, bytes) in OF_THE_REFERENCE_LIBRARY {
            let picture = Picture { rows: 150, columns: 200, format, quality };
            let pixels = picture.pixels(true);
            let (found, image) = picture.there_and_back(&pixels);
            let nearness = picture.nearness(&pixels, &found);
            println!("{format:?} {quality}: {nearness:.2} dB, {} bytes", image.len());
            assert!(nearness > decibels - 1.0, "{format:?}, quality {quality}: {nearness} dB, not {decibels}");
            let most = if quality < 1.0 { bytes * 2 } else { bytes * 5 / 4 };
            assert!(image.len() < most, "{format:?}, quality {quality}: {} bytes, not {bytes}", image.len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn images_of_any_size_are_near(
        format in prop::sample::select(FORMATS.to_vec()),
        rows in 1..70usize,
        columns in 1..70usize,
        quality in prop::sample::select(vec![0.0f32, 0.4, 10.0, 49.5, 75.0, 100.0]),
        opaque in any::<bool>(),
        later in prop::sample::select(vec![None, Some(Filter::Rle { level: -1 }), Some(Filter::Sha256)]),
    ) {
        let picture = Picture { rows, columns, format, quality };
        let pixels = picture.pixels(opaque);
        let filters: Vec<Filter> = [picture.filter()].into_iter().chain(later).collect();
        let filtered = encode(&filters, kind(), &pixels).unwrap();
        prop_assert_eq!(&encode(&filters, kind(), &pixels).unwrap(), &filtered, "not the same bytes again");
        prop_assert_eq!(chunks(&filtered).len(), 1);
        let found = decode(&filters, kind(), &filtered, pixels.len()).unwrap();
        let nearness = picture.nearness(&pixels, &found);
        let least = if quality < 10.0 { 18.0 } else if quality < 75.0 { 22.0 } else { 25.0 };
        prop_assert!(nearness > least, "{} dB", nearness);
        if depth(format) == 4 {
            prop_assert_eq!(alpha(&found), alpha(&pixels));
        }
    }
}

/// Like in the reference library, alpha is stored losslessly in a separate chunk, unless all pixels
/// are opaque.
#[test]
fn alpha_is_lossless() {
    for format in [WebPFormat::Rgba, WebPFormat::Bgra] {
        let picture = Picture { rows: 33, columns: 21, format, quality: 5.0 };
        let pixels = picture.pixels(false);
        let (found, image) = picture.there_and_back(&pixels);
        assert_eq!(alpha(&found), alpha(&pixels));
        assert_eq!(&image[12..16], b"VP8X");
        let opaque = picture.pixels(true);
        let (found, image) = picture.there_and_back(&opaque);
        assert_eq!(alpha(&found), vec![255; 33 * 21]);
        assert_eq!(&image[12..16], b"VP8 ");
    }
}

#[test]
fn images_of_maximum_length() {
    for (rows, columns) in [(16_383, 1), (1, 16_383)] {
        let picture = Picture { rows, columns, format: WebPFormat::Bgra, quality: 90.0 };
        let pixels = picture.pixels(false);
        let (found, _) = picture.there_and_back(&pixels);
        assert!(picture.nearness(&pixels, &found) > 25.0);
        assert_eq!(alpha(&found), alpha(&pixels));
    }
}

/// Copies of the pixels, the encoder's planes, and the decoded image: a few times the tile in
/// total.
#[test]
fn memory_of_encoding_is_bounded() {
    for format in FORMATS {
        for opaque in [true, false] {
            let picture = Picture { rows: 512, columns: 512, format, quality: 100.0 };
            let pixels = picture.pixels(opaque);
            let peak = peak_while(|| drop(encode(&[picture.filter()], kind(), &pixels).unwrap()));
            assert!(peak < 6 * pixels.len() as u64, "{format:?}: {peak} bytes for {}", pixels.len());
        }
    }
}

/// The encoder accepts whole numbers only.
#[test]
fn qualities_are_rounded() {
    let image = |quality| {
        let picture = Picture { rows: 40, columns: 60, format: WebPFormat::Rgb, quality };
        picture.there_and_back(&picture.pixels(true)).1
    };
    for (quality, whole) in [(49.5, 50.0), (49.4, 49.0), (0.4, 1.0)] {
        assert_eq!(image(quality), image(whole), "{quality}");
    }
    assert_ne!(image(49.0), image(50.0));
}
