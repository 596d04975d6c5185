//! Reads of dense arrays.

use tdb_reference::model::{FilterSpec, Pipeline, QuerySpec, RangesSpec, Rule, attribute};
use tdb_types::{Datatype, Layout};

use super::case::{Case, case};
use super::windows::{range, square, window};
use crate::arrays::{SpeedArray, dense, dense_of, layered, plain, scaled_side, stack, zstd};
use crate::workload::Group;

pub(super) fn dense_cases(side: u64) -> Vec<Case> {
    let (plain, zstd) = (dense("plain", side, plain()), dense("zstd", side, zstd()));
    let (eight, twenty) = (layered(side / 2, 8), layered(side / 2, 20));
    let words = attribute("word", Datatype::StringUtf8).var();
    let words = dense_of("words", side / 4, words, Rule::Word { seed: 9 });
    let nullable =
        dense_of("nullable", side / 2, attribute("value", Datatype::Float64).nullable(), Rule::MaybeWave { seed: 1 });
    let nullable_words = attribute("word", Datatype::StringAscii).var().nullable();
    let nullable_words = dense_of("nullable-words", side / 4, nullable_words, Rule::MaybeWord { seed: 9 });
    let times = attribute("time", Datatype::Int64).filters([FilterSpec::DOUBLE_DELTA]);
    let times = dense_of("int64-delta", side / 2, times, Rule::Ascending { seed: 2 });
    let side = side as i64;
    let middle = side / 2 + 100;
    let all = || QuerySpec::all(Layout::RowMajor);
    let rows = [
        ("unfiltered, all", &plain, all()),
        ("unfiltered, all, as one", &plain, all()),
        ("unfiltered, all, global", &plain, QuerySpec::all(Layout::GlobalOrder)),
        ("unfiltered, all, col-major", &plain, QuerySpec::all(Layout::ColMajor)),
        ("unfiltered, 2000 x 2000", &plain, square(side / 4 + 10, 2000.min(side / 2))),
        ("unfiltered, 64 x 64", &plain, square(middle, 64)),
        ("unfiltered, one point", &plain, square(middle, 1)),
        ("zstd, all", &zstd, all()),
        ("zstd, 64 x 64", &zstd, square(middle, 64)),
        ("zstd, one point", &zstd, square(middle, 1)),
        ("unfiltered, 64 rows across tiles", &plain, window((middle, 64), (0, side))),
        ("unfiltered, 64 columns across tiles", &plain, window((0, side), (middle, 64))),
        ("unfiltered, each 16th row", &plain, strided(side)),
        ("zstd, each 16th row", &zstd, strided(side)),
        ("eight layers, all", &eight, all()),
        ("twenty layers, all", &twenty, all()),
        ("strings, all", &words, all()),
        ("strings, 64 x 64", &words, square(side / 8, 64)),
        ("nullable, all", &nullable, all()),
        ("nullable strings, all", &nullable_words, all()),
        ("double delta, all", &times, all()),
    ];
    let of = |(name, array, query): (&str, &SpeedArray, _)| {
        let whole = name.ends_with("as one");
        Case { whole, ..case(Group::Dense, &format!("dense, {name}"), array.clone(), query) }
    };
    rows.map(of).into()
}

/// Returns a query of each 16th row as a separate range.
fn strided(side: i64) -> QuerySpec {
    let rows = (0..side / 16).map(|row| [16 * row + 5; 2]);
    QuerySpec { ranges: vec![RangesSpec::new("y", rows)], ..QuerySpec::all(Layout::RowMajor) }
}

/// Returns reads of all cells of arrays with common filter chains.
pub(super) fn chain_cases(side: u64) -> Vec<Case> {
    let zstd = || FilterSpec::Zstd { level: Some(3) };
    let doubles: [(&str, Pipeline); 10] = [
        ("gzip", [FilterSpec::Gzip { level: Some(6) }].into()),
        ("lz4", [FilterSpec::Lz4 { level: None }].into()),
        ("bzip2", [FilterSpec::Bzip2 { level: Some(1) }].into()),
        ("byteshuffle-lz4", [FilterSpec::Byteshuffle, FilterSpec::Lz4 { level: None }].into()),
        ("byteshuffle-zstd", [FilterSpec::Byteshuffle, zstd()].into()),
        ("bitshuffle-lz4", [FilterSpec::Bitshuffle, FilterSpec::Lz4 { level: None }].into()),
        ("bitshuffle-zstd", [FilterSpec::Bitshuffle, zstd()].into()),
        ("xor-zstd", [FilterSpec::Xor, zstd()].into()),
        ("float-scale", [FilterSpec::ScaleFloat { factor: 1.0 / 128.0, offset: 0.0, byte_width: 4 }].into()),
        ("sha256", [FilterSpec::ChecksumSha256].into()),
    ];
    let all =
        |name: &str, array| case(Group::Dense, &format!("dense, {name}, all"), array, QuerySpec::all(Layout::RowMajor));
    let mut cases: Vec<Case> =
        doubles.into_iter().map(|(name, pipeline)| all(name, dense(name, side, pipeline))).collect();
    let widths = [FilterSpec::POSITIVE_DELTA, FilterSpec::BIT_WIDTH_REDUCTION];
    let times = attribute("time", Datatype::Int64).filters(widths);
    let times = dense_of("positive-delta-bit-width", side, times, Rule::Ascending { seed: 2 });
    cases.push(all("positive delta and bit width", times));
    for (name, filter, rule) in [
        ("dictionary strings", FilterSpec::Dictionary, Rule::Word { seed: 9 }),
        ("RLE strings", FilterSpec::Rle, Rule::WordRuns { seed: 9 }),
    ] {
        let words = attribute("word", Datatype::StringAscii).var().filters([filter]);
        cases.push(all(name, dense_of(&name.replace(' ', "-"), side / 2, words, rule)));
    }
    cases
}

/// Returns reads of single images and of crops of all images in a stack.
pub(super) fn image_cases(scale: f64) -> Vec<Case> {
    let side = scaled_side(1024, 256, scale);
    let stack = stack(64, side);
    let image = QuerySpec { ranges: vec![range("z", 31, 1)], ..QuerySpec::all(Layout::RowMajor) };
    let crop = window((side as i64 / 8 + 3, side as i64 / 4), (side as i64 / 8 + 5, side as i64 / 4));
    vec![
        case(Group::Dense, "dense, stack of images, one image", stack.clone(), image),
        case(Group::Dense, "dense, stack of images, a crop of all", stack, crop),
    ]
}
