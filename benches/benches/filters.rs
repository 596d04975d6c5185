//! Every filter in both directions over tiles of 4 MiB in chunks of 64 KiB, compared with bare
//! codecs and with copies.
//!
//! Throughput is in unfiltered bytes.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use tdb_filters::{BoundPipeline, Filter, FilterPipeline, Scratch, TileKind};
use tdb_testkit::hostile::SplitMix64;
use tdb_types::{Datatype, FormatVersion};

const TILE: usize = 4 << 20;
const CHUNK: usize = 64 << 10;

/// Returns a slow random walk, like measurements.
fn walk() -> impl Iterator<Item = i64> {
    let mut random = SplitMix64::new(1);
    let mut value = 1_000_000i64;
    std::iter::repeat_with(move || {
        value += random.below(65) as i64 - 32;
        value
    })
}

fn int32_walk() -> Vec<u8> {
    walk().take(TILE / 4).flat_map(|value| (value as i32).to_le_bytes()).collect()
}

fn int64_ascending() -> Vec<u8> {
    walk()
        .scan(0, |sum, value| {
            *sum += value.abs() % 100;
            Some(*sum)
        })
        .take(TILE / 8)
        .flat_map(i64::to_le_bytes)
        .collect()
}

fn float64_walk() -> Vec<u8> {
    walk().take(TILE / 8).flat_map(|value| (value as f64 * 0.25).to_le_bytes()).collect()
}

fn short_int16() -> Vec<u8> {
    walk().take(TILE / 2).flat_map(|value| (value as i16).to_le_bytes()).collect()
}

/// Returns validity bytes, nearly all of them 1.
fn validity() -> Vec<u8> {
    walk().take(TILE).map(|value| u8::from(value % 500 != 0)).collect()
}

fn cells(datatype: Datatype) -> TileKind {
    TileKind::fixed(datatype, 1, FormatVersion::DEFAULT)
}

fn both_ways(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, filters: Vec<Filter>, kind: TileKind, tile: &[u8]) {
    let bound = BoundPipeline::bind(&FilterPipeline::new(filters), kind).expect("the pipeline suits the tile");
    let (mut scratch, mut filtered) = (Scratch::new(), Vec::new());
    bound.encode_tile(tile, None, &mut filtered, &mut scratch).expect("the tile can be filtered");
    let mut out = vec![0; tile.len()];
    group.bench_function(format!("{name}/decode"), |bencher| {
        bencher.iter(|| bound.decode_tile(black_box(&filtered), &mut out, &mut scratch));
    });
    assert!(out == tile || name.contains("float_scale"));
    group.bench_function(format!("{name}/encode"), |bencher| {
        bencher.iter(|| {
            filtered.clear();
            bound.encode_tile(black_box(tile), None, &mut filtered, &mut scratch)
        });
    });
}

fn filters(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("filters");
    group.throughput(Throughput::Bytes(TILE as u64));
    group.sample_size(10).warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(400));
    let (int16, int32, int64, float64, valid) =
        (short_int16(), int32_walk(), int64_ascending(), float64_walk(), validity());
    let (kind16, kind32, kind64, kindf) =
        (cells(Datatype::Int16), cells(Datatype::Int32), cells(Datatype::Int64), cells(Datatype::Float64));

    let mut copy = vec![0; TILE];
    group.bench_function("memcpy", |bencher| bencher.iter(|| copy.copy_from_slice(black_box(&int32))));
    both_ways(&mut group, "none", vec![], kind32, &int32);
    for (name, kind, tile) in [("2", kind16, &int16), ("4", kind32, &int32), ("8", kind64, &int64)] {
        both_ways(&mut group, &format!("byteshuffle_{name}"), vec![Filter::Byteshuffle], kind, tile);
        both_ways(&mut group, &format!("bitshuffle_{name}"), vec![Filter::Bitshuffle], kind, tile);
        both_ways(&mut group, &format!("xor_{name}"), vec![Filter::Xor], kind, tile);
        let delta = Filter::Delta { level: -1, reinterpret: None };
        both_ways(&mut group, &format!("delta_{name}"), vec![delta], kind, tile);
        let double = Filter::DoubleDelta { level: -1, reinterpret: None };
        both_ways(&mut group, &format!("double_delta_{name}"), vec![double], kind, tile);
        let reduce = Filter::BitWidthReduction { max_window: 256 };
        both_ways(&mut group, &format!("bit_width_reduction_{name}"), vec![reduce], kind, tile);
    }
    let positive = Filter::PositiveDelta { max_window: 1024 };
    both_ways(&mut group, "positive_delta_8", vec![positive], kind64, &int64);
    for byte_width in [2, 4] {
        let scale = Filter::FloatScale { scale: 0.25, offset: 0.0, byte_width };
        both_ways(&mut group, &format!("float_scale_{byte_width}"), vec![scale], kindf, &float64);
    }
    both_ways(&mut group, "md5", vec![Filter::Md5], kind32, &int32);
    both_ways(&mut group, "sha256", vec![Filter::Sha256], kind32, &int32);
    let validity_kind = TileKind::validity(FormatVersion::DEFAULT);
    both_ways(&mut group, "rle_validity", vec![Filter::Rle { level: -1 }], validity_kind, &valid);
    both_ways(&mut group, "rle_4", vec![Filter::Rle { level: -1 }], kind32, &int32);
    both_ways(&mut group, "zstd", vec![Filter::Zstd { level: -1 }], kind32, &int32);
    both_ways(&mut group, "gzip_1", vec![Filter::Gzip { level: 1 }], kind32, &int32);
    both_ways(&mut group, "lz4", vec![Filter::Lz4 { level: -1 }], kind32, &int32);
    both_ways(&mut group, "bzip2", vec![Filter::Bzip2 { level: -1 }], kind32, &int32);
    let common = vec![Filter::Byteshuffle, Filter::Zstd { level: -1 }];
    both_ways(&mut group, "byteshuffle+zstd", common, kind32, &int32);
    let common = vec![Filter::DoubleDelta { level: -1, reinterpret: None }, Filter::Zstd { level: -1 }];
    both_ways(&mut group, "double_delta+zstd", common, kind64, &int64);
    bare_codecs(&mut group, &int32);
    group.finish();
}

/// Benchmarks bare codecs with the same contexts and chunks. The difference is the overhead of the
/// framing.
fn bare_codecs(group: &mut BenchmarkGroup<'_, WallTime>, tile: &[u8]) {
    let mut compressor = zstd::bulk::Compressor::new(-1).expect("a level of zstd");
    let mut decompressor = zstd::bulk::Decompressor::new().expect("zstd decompresses");
    let compress = |chunk: &[u8], out: &mut [u8]| compressor.compress_to_buffer(chunk, out).expect("zstd");
    bare(group, "zstd", tile, compress, |chunk, out| {
        decompressor.decompress_to_buffer(chunk, out).expect("zstd decompresses");
    });
    let compress = |chunk: &[u8], out: &mut [u8]| lz4_flex::block::compress_into(chunk, out).expect("LZ4");
    bare(group, "lz4", tile, compress, |chunk, out| {
        lz4_flex::block::decompress_into(chunk, out).expect("LZ4 decompresses");
    });
    let mut deflate = flate2::Compress::new(flate2::Compression::new(1), true);
    let mut inflate = flate2::Decompress::new(true);
    let compress = |chunk: &[u8], out: &mut [u8]| {
        deflate.reset();
        deflate.compress(chunk, out, flate2::FlushCompress::Finish).expect("zlib compresses");
        deflate.total_out() as usize
    };
    bare(group, "gzip_1", tile, compress, |chunk, out| {
        inflate.reset(true);
        inflate.decompress(chunk, out, flate2::FlushDecompress::Finish).expect("zlib decompresses");
    });
}

/// Benchmarks a codec. `compress` writes to the start of a buffer and returns the length.
fn bare(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    tile: &[u8],
    mut compress: impl FnMut(&[u8], &mut [u8]) -> usize,
    mut decompress: impl FnMut(&[u8], &mut [u8]),
) {
    let (mut buffer, mut out) = (vec![0; 2 * CHUNK], vec![0; CHUNK]);
    let mut compressed = |chunk| {
        let len = compress(chunk, &mut buffer);
        buffer[..len].to_vec()
    };
    let chunks: Vec<Vec<u8>> = tile.chunks(CHUNK).map(&mut compressed).collect();
    group.bench_function(format!("bare_{name}/decode"), |bencher| {
        bencher.iter(|| chunks.iter().for_each(|chunk| decompress(chunk, &mut out)));
    });
    group.bench_function(format!("bare_{name}/encode"), |bencher| {
        bencher.iter(|| tile.chunks(CHUNK).map(|chunk| compress(chunk, &mut buffer)).sum::<usize>());
    });
}

criterion_group!(benches, filters);
criterion_main!(benches);
