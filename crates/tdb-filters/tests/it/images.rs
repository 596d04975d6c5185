//! Images of the reference library, compared pixel by pixel, images of this library, and hostile
//! images.
#![cfg(feature = "webp")]

use crate::common;

use crate::common::{V22, chunks, decode, encode, tile_of};
use proptest::prelude::*;
use tdb_filters::{Filter, FilterError, TileKind, WebPFormat, WebPOptions};
use tdb_testkit::allocations::peak_while;
use tdb_testkit::fixtures;
use tdb_testkit::hostile::{SplitMix64, seeded_mutations, truncations};
use tdb_types::Datatype;

const KIND: TileKind = TileKind::new(Datatype::UInt8, 1, tdb_filters::TileRole::Fixed, V22);

fn depth(format: WebPFormat) -> u16 {
    if matches!(format, WebPFormat::Rgba | WebPFormat::Bgra) { 4 } else { 3 }
}

/// A filter for images of `rows` by `columns` pixels.
fn images(format: WebPFormat, rows: u16, columns: u16, lossless: bool) -> Filter {
    let x_extent = columns * depth(format);
    Filter::WebP(WebPOptions { quality: 75.0, format, lossless, y_extent: rows, x_extent })
}

/// A filter for lossy images.
fn lossy(format: WebPFormat, rows: u16, columns: u16, quality: f32) -> Filter {
    let x_extent = columns * depth(format);
    Filter::WebP(WebPOptions { quality, format, lossless: false, y_extent: rows, x_extent })
}

/// An image fixture.
struct Sample {
    name: &'static str,
    /// Rows and columns of pixels of the array, and of a tile.
    size: [usize; 2],
    tile: [u16; 2],
    format: WebPFormat,
    lossless: bool,
}

impl Sample {
    fn filter(&self) -> Filter {
        images(self.format, self.tile[0], self.tile[1], self.lossless)
    }

    fn tile_len(&self) -> usize {
        usize::from(self.tile[0]) * usize::from(self.tile[1] * depth(self.format))
    }
}

const fn small(name: &'static str, tile: [u16; 2], format: WebPFormat, lossless: bool) -> Sample {
    Sample { name, size: [24, 20], tile, format, lossless }
}

/// A size that is not a multiple of the tile's.
const fn odd(name: &'static str, tile: [u16; 2], format: WebPFormat, lossless: bool) -> Sample {
    Sample { name, size: [19, 23], tile, format, lossless }
}

const SAMPLES: &[Sample] = &[
    small("webp-lossless", [16, 12], WebPFormat::Rgb, true),
    small("webp-lossy", [16, 12], WebPFormat::Bgr, false),
    small("webp-alpha", [16, 12], WebPFormat::Rgba, false),
    odd("images-rgb", [7, 5], WebPFormat::Rgb, true),
    odd("images-bgr", [1, 19], WebPFormat::Bgr, true),
    odd("images-rgba", [5, 7], WebPFormat::Rgba, true),
    odd("images-bgra", [19, 1], WebPFormat::Bgra, true),
    odd("images-rgb-lossy", [18, 17], WebPFormat::Rgb, false),
    odd("images-bgr-lossy", [7, 5], WebPFormat::Bgr, false),
    odd("images-rgba-lossy", [1, 19], WebPFormat::Rgba, false),
    odd("images-bgra-lossy", [18, 1], WebPFormat::Bgra, false),
    odd("images-bgra-even", [16, 22], WebPFormat::Bgra, false),
];

/// The filtered tiles of a fixture's only data file, each with one chunk.
fn filtered_tiles(name: &str) -> Vec<Vec<u8>> {
    let fixture = fixtures::named(&format!("v22-by-2.30.0-dense-{name}"));
    let path = fixture.array_files().find(|path| path.ends_with("/a0.tdb")).unwrap().to_owned();
    let file = fixture.read(&path);
    let (mut rest, mut tiles) = (file.as_slice(), Vec::new());
    while !rest.is_empty() {
        let u32_at = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!(rest[..8], 1u64.to_le_bytes());
        let (tile, others) = rest.split_at(20 + u32_at(12) + u32_at(16));
        tiles.push(tile.to_vec());
        rest = others;
    }
    tiles
}

/// All pixels decoded by the reference library, in row-major order.
fn expected_pixels(name: &str) -> Vec<u8> {
    let fixture = fixtures::named(&format!("v22-by-2.30.0-dense-{name}"));
    fixture.expected().queries[0].columns[0].to_bytes().values
}

#[test]
fn the_reference_librarys_images_have_its_pixels() {
    for sample in SAMPLES {
        let Sample { name, size: [rows, columns], tile: [tile_rows, tile_columns], format, .. } = *sample;
        let pixel = usize::from(depth(format));
        let (row_len, tile_row) = (columns * pixel, usize::from(tile_columns) * pixel);
        let expected = expected_pixels(name);
        assert_eq!(expected.len(), rows * row_len);
        let across = columns.div_ceil(tile_columns.into());
        let tiles = filtered_tiles(name);
        assert_eq!(tiles.len(), across * rows.div_ceil(tile_rows.into()), "{name}");
        let mut compared = 0;
        for (index, filtered) in tiles.iter().enumerate() {
            let tile = decode(&[sample.filter()], KIND, filtered, sample.tile_len())
                .unwrap_or_else(|error| panic!("{name}, tile {index}: {error}"));
            for (y, pixels) in tile.chunks(tile_row).enumerate() {
                let y = index / across * usize::from(tile_rows) + y;
                let x = index % across * tile_row;
                // Pixels beyond the edge of the domain are never read.
                let inside = if y < rows { tile_row.min(row_len - x) } else { 0 };
                let wanted = &expected.get(y * row_len + x..).unwrap_or_default()[..inside];
                assert_eq!(&pixels[..inside], wanted, "{name}, tile {index}, row {y} from byte {x}");
                compared += inside;
            }
        }
        assert_eq!(compared, expected.len(), "{name}");
    }
}

fn format() -> impl Strategy<Value = WebPFormat> {
    prop::sample::select(vec![WebPFormat::Rgb, WebPFormat::Bgr, WebPFormat::Rgba, WebPFormat::Bgra])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lossless_images_come_back(
        format in format(),
        rows in 1..40u16,
        columns in 1..40u16,
        seed in any::<u64>(),
        noise in prop::sample::select(vec![1u64, 3, 256]),
        later in prop::sample::select(vec![None, Some(Filter::Rle { level: -1 }), Some(Filter::Sha256)]),
    ) {
        let mut rng = SplitMix64::new(seed);
        let len = usize::from(rows) * usize::from(columns * depth(format));
        let tile: Vec<u8> = (0..len).map(|_| (rng.next() % noise) as u8).collect();
        let filters: Vec<Filter> = [images(format, rows, columns, true)].into_iter().chain(later).collect();
        let filtered = encode(&filters, KIND, &tile).unwrap();
        // Images are never split into chunks.
        prop_assert_eq!(chunks(&filtered).len(), 1);
        prop_assert_eq!(decode(&filters, KIND, &filtered, len).unwrap(), tile);
    }
}

/// Transparent pixels keep their colors. The reference library's encoder drops them.
#[test]
fn transparent_pixels_keep_their_colors() {
    let filter = [images(WebPFormat::Rgba, 1, 2, true)];
    let tile = [1, 2, 3, 0, 4, 5, 6, 7];
    let filtered = encode(&filter, KIND, &tile).unwrap();
    assert_eq!(decode(&filter, KIND, &filtered, 8).unwrap(), tile);
    // Decoded in another format, without alpha.
    let rgb = [images(WebPFormat::Bgr, 1, 2, true)];
    let mut narrower = filtered.clone();
    narrower[8] = 6;
    assert_eq!(decode(&rgb, KIND, &narrower, 6).unwrap(), [3, 2, 1, 6, 5, 4]);
}

#[test]
fn opaque_images_are_opaque_in_every_format() {
    let filtered = encode(&[images(WebPFormat::Rgb, 2, 1, true)], KIND, &[1, 2, 3, 4, 5, 6]).unwrap();
    let mut wider = filtered.clone();
    wider[8] = 8;
    let decoded = decode(&[images(WebPFormat::Bgra, 2, 1, true)], KIND, &wider, 8).unwrap();
    assert_eq!(decoded, [3, 2, 1, 255, 6, 5, 4, 255]);
}

#[test]
fn invalid_options_are_rejected() {
    let refused = |format, y_extent, x_extent| {
        let filter = Filter::WebP(WebPOptions { quality: 75.0, format, lossless: true, y_extent, x_extent });
        decode(&[filter], KIND, &tile_of(12, &[], &[]), 12).unwrap_err().to_string()
    };
    insta::assert_snapshot!(refused(WebPFormat::None, 2, 6), @"chunk 0: webp: pixel format: found none, expected rgb, bgr, rgba or bgra");
    insta::assert_snapshot!(refused(WebPFormat::Rgb, 0, 6), @"chunk 0: webp: y extent: found 0, expected 1 to 16383");
    insta::assert_snapshot!(refused(WebPFormat::Rgb, 16_384, 6), @"chunk 0: webp: y extent: found 16384, expected 1 to 16383");
    insta::assert_snapshot!(refused(WebPFormat::Rgba, 2, 6), @"chunk 0: webp: x extent: found 6, expected 1 to 16383 whole pixels");
    insta::assert_snapshot!(refused(WebPFormat::Rgb, 2, 0), @"chunk 0: webp: x extent: found 0, expected 1 to 16383 whole pixels");
}

#[test]
fn unencodable_images_are_rejected() {
    let refused = |quality| {
        let filter = lossy(WebPFormat::Rgb, 1, 1, quality);
        encode(&[filter], KIND, &[1, 2, 3]).unwrap_err().to_string()
    };
    insta::assert_snapshot!(refused(-1.0), @"chunk 0: webp: quality: found -1, expected 0 to 100");
    insta::assert_snapshot!(refused(100.5), @"chunk 0: webp: quality: found 100.5, expected 0 to 100");
    insta::assert_snapshot!(refused(f32::NAN), @"chunk 0: webp: quality: found NaN, expected 0 to 100");
    let error = encode(&[images(WebPFormat::Rgb, 1, 2, true)], KIND, &[1, 2, 3]).unwrap_err();
    insta::assert_snapshot!(error, @"chunk 0: tile of pixels: expected 6 bytes, found 3");
}

/// Builds with the decoder lack the lossy encoder unless the feature is enabled.
#[test]
fn lossy_encoding_needs_its_feature() {
    let encoded = encode(&[lossy(WebPFormat::Rgb, 1, 1, 50.0)], KIND, &[1, 2, 3]);
    if cfg!(feature = "webp-lossy") {
        encoded.expect("an image");
    } else {
        let error = encoded.unwrap_err();
        assert!(matches!(error.root(), FilterError::CodecDisabled { feature: "webp-lossy", .. }), "{error}");
    }
}

/// Images of the reference library, with filter and first tile.
fn samples() -> impl Iterator<Item = (&'static Sample, Vec<u8>)> {
    SAMPLES.iter().map(|sample| (sample, filtered_tiles(sample.name).swap_remove(0)))
}

/// Offset of the first RIFF chunk: after the headers of tile and chunk, the filter's metadata, and
/// "RIFF", length, "WEBP".
const FIRST_CHUNK: usize = 20 + 8 + 12;

#[test]
fn images_of_another_size_are_rejected_before_decoding() {
    for (sample, filtered) in samples() {
        let (filter, len) = ([sample.filter()], sample.tile_len());
        // All chunks of the file with a size.
        let mut at = FIRST_CHUNK;
        let mut tried = 0;
        while at + 8 <= filtered.len() {
            let (name, size) =
                (&filtered[at..at + 4], u32::from_le_bytes(filtered[at + 4..at + 8].try_into().unwrap()));
            let side = match name {
                b"VP8 " => Some((at + 8 + 6, vec![0xff, 0x3f, 0xff, 0x3f])),
                b"VP8L" => Some((at + 8 + 1, vec![0xff, 0xff, 0xff, 0x0f])),
                b"VP8X" => Some((at + 8 + 4, vec![0xff; 6])),
                _ => None,
            };
            if let Some((place, bytes)) = side {
                let mut hostile = filtered.clone();
                hostile[place..place + bytes.len()].copy_from_slice(&bytes);
                let mut error = None;
                let peak = peak_while(|| error = decode(&filter, KIND, &hostile, len).err());
                let error = error.unwrap();
                assert!(error.to_string().contains("the size of the image differs from that of the tile"), "{error}");
                assert!(peak < len as u64 + 10_000, "{peak} bytes");
                tried += 1;
            }
            at += 8 + (size + size % 2) as usize;
        }
        assert!(tried > 0);
    }
}

#[test]
fn bytes_that_are_not_an_image_are_rejected() {
    let filter = [images(WebPFormat::Rgb, 1, 1, true)];
    let sound = encode(&filter, KIND, &[1, 2, 3]).unwrap();
    let refused = |change: &dyn Fn(&mut Vec<u8>)| {
        let (_, mut image) = chunks(&sound).remove(0);
        change(&mut image);
        let metadata = common::le!(u32: 1, image.len() as u32);
        decode(&filter, KIND, &tile_of(3, &metadata, &image), 3).unwrap_err().to_string()
    };
    insta::assert_snapshot!(refused(&|image| image.truncate(11)), @"chunk 0: webp: not an image: shorter than the header");
    insta::assert_snapshot!(refused(&|image| image[0] = b'L'), @"chunk 0: webp: not a WebP image");
    insta::assert_snapshot!(refused(&|image| image.truncate(12)), @"chunk 0: webp: the file contains no image");
    insta::assert_snapshot!(refused(&|image| image.truncate(23)), @"chunk 0: webp: the image has no size");
    insta::assert_snapshot!(refused(&|image| image[12..16].copy_from_slice(b"ANIM")), @"chunk 0: webp: animated");
    insta::assert_snapshot!(refused(&|image| image[12..16].copy_from_slice(b"ABCD")), @"chunk 0: webp: the file contains no image");
}

/// Damaged images may decode to anything, but cause neither a panic nor unbounded allocations.
#[test]
fn damaged_images() {
    let mut refused = 0;
    for (sample, filtered) in samples() {
        let (filter, len) = ([sample.filter()], sample.tile_len());
        let mut check = |bytes: &[u8]| {
            let peak = peak_while(|| refused += u32::from(decode(&filter, KIND, bytes, len).is_err()));
            // A few bytes of a lossless image can create many tables of a few KiB. A part of a
            // lossy image, with a length of 24 bits, is allocated before the bytes turn out to be
            // missing.
            let most = 1000 * filtered.len() + 64 * len + (16 << 20);
            assert!(peak < most as u64, "{peak} bytes for {}", filtered.len());
        };
        truncations(&filtered).step_by(13).for_each(&mut check);
        seeded_mutations(7, &filtered, 400, &mut check);
    }
    assert!(refused > 100, "{refused} refused");
}

/// A tile of several chunks, which no writer produces, is rejected.
#[test]
fn parts_must_be_whole_images() {
    let filter = [images(WebPFormat::Rgb, 2, 2, true)];
    let filtered = encode(&filter, KIND, &[7; 12]).unwrap();
    for len in [6, 13, 24] {
        let error = decode(&filter, KIND, &filtered, len).unwrap_err();
        assert!(matches!(error.root(), FilterError::WrongSize { .. }), "{error}");
    }
}
