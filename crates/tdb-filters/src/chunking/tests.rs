use tdb_types::FormatVersion;

use super::*;

fn version(number: u32) -> FormatVersion {
    FormatVersion::new(number).unwrap()
}

const NONE: [usize; 0] = [];

/// Lengths of the chunks.
fn lengths(cuts: &Cuts) -> Vec<usize> {
    let lengths: Vec<usize> = cuts.ranges().map(|range| range.len()).collect();
    assert_eq!(lengths.len(), cuts.len());
    lengths
}

fn even(pipeline: &FilterPipeline, kind: TileKind, len: usize) -> Vec<usize> {
    let unit = match kind.role {
        TileRole::Coordinates { .. } => kind.datatype.size() as u64,
        _ => kind.cell_size,
    };
    lengths(&Chunking::new(pipeline, &kind, unit as usize).cut(len, None))
}

fn var(pipeline: &FilterPipeline, datatype: Datatype, cells: &[usize]) -> Vec<usize> {
    let kind = TileKind::var_data(datatype, version(22));
    let mut offsets = Vec::new();
    let len = cells.iter().fold(0, |start, len| {
        offsets.push(start);
        start + *len as u64
    });
    let values = vec![0; len as usize];
    let cells = Cells::new(&values, &offsets).unwrap();
    lengths(&Chunking::new(pipeline, &kind, datatype.size()).cut(values.len(), Some(cells)))
}

#[test]
fn cells_of_fixed_size() {
    let pipeline = FilterPipeline::default();
    let fixed = |datatype, number, len| even(&pipeline, TileKind::fixed(datatype, number, version(22)), len);
    assert_eq!(fixed(Datatype::Float64, 1, 320_000), [65536, 65536, 65536, 65536, 57856]);
    assert_eq!(fixed(Datatype::Float64, 3, 24 * 3000), [65520, 6480]);
    assert_eq!(fixed(Datatype::StringAscii, 100_000, 300_000), [100_000; 3]);
    assert_eq!(fixed(Datatype::UInt8, 1, 7), [7]);
    assert_eq!(fixed(Datatype::UInt8, 1, 65536), [65536]);
    assert_eq!(fixed(Datatype::Int32, 1, 0), NONE);
}

#[test]
fn the_stored_chunk_size_applies_only_if_zero_or_old() {
    let of = |max_chunk_size, number| {
        let pipeline = FilterPipeline { max_chunk_size, filters: vec![] };
        even(&pipeline, TileKind::fixed(Datatype::UInt8, 1, version(number)), 320_000)
    };
    assert_eq!(of(1000, 22), [65536, 65536, 65536, 65536, 57856]);
    assert_eq!(of(0, 22), [320_000]);
    assert_eq!(of(10_000, 3), [10_000; 32]);
}

#[test]
fn cells_of_variable_size() {
    let pipeline = FilterPipeline::default();
    let blobs = |cells: &[usize]| var(&pipeline, Datatype::Blob, cells);
    assert_eq!(blobs(&[30_000; 10]), [90_000, 90_000, 90_000, 30_000]);
    // The last cell ends a chunk, so an empty chunk follows.
    assert_eq!(blobs(&[70_000]), [70_000, 0]);
    assert_eq!(blobs(&[30_000; 3]), [90_000, 0]);
    // Data of exactly the chunk length are a single chunk, regardless of the cells.
    assert_eq!(blobs(&[65_536]), [65_536]);
    assert_eq!(blobs(&[100]), [100]);
    assert_eq!(blobs(&[0, 0, 0]), [0]);
    assert_eq!(blobs(&[]), [0]);
    // A cell opens the next chunk if the previous is more than half full and the sum is too long. A
    // cell longer than the limit then fills a chunk alone.
    assert_eq!(blobs(&[40_000, 60_000, 10]), [40_000, 60_010]);
    assert_eq!(blobs(&[40_000, 200_000, 10]), [40_000, 200_000, 10]);
    assert_eq!(blobs(&[40_000, 200_000]), [40_000, 200_000]);
    assert_eq!(blobs(&[10, 200_000, 10]), [200_010, 10]);
}

#[test]
fn cells_of_variable_size_without_offsets_are_cut_evenly() {
    let kind = TileKind::var_data(Datatype::Blob, version(10));
    assert_eq!(even(&FilterPipeline::default(), kind, 300_000), [65536, 65536, 65536, 65536, 37856]);
    assert_eq!(even(&FilterPipeline::default(), kind, 0), NONE);
}

#[test]
fn delta_has_no_empty_chunks() {
    let pipeline = FilterPipeline::new(vec![Filter::Delta { level: -1, reinterpret: None }]);
    assert_eq!(var(&pipeline, Datatype::Blob, &[70_000]), [70_000]);
    assert_eq!(var(&pipeline, Datatype::Blob, &[30_000; 10]), [90_000, 90_000, 90_000, 30_000]);
    assert_eq!(var(&pipeline, Datatype::Blob, &[0]), NONE);
}

#[test]
fn string_codecs_write_one_chunk() {
    let rle = FilterPipeline::new(vec![Filter::Zstd { level: 3 }, Filter::Rle { level: -1 }]);
    let dictionary = FilterPipeline::new(vec![Filter::Dictionary { level: -1 }]);
    let whole = |pipeline: &FilterPipeline, datatype, number| {
        even(pipeline, TileKind::var_data(datatype, version(number)), 200_000).len() == 1
    };
    assert!(!whole(&rle, Datatype::StringAscii, 11) && whole(&rle, Datatype::StringAscii, 12));
    // Even before version 17, which permits offsets in UTF-8 data.
    assert!(whole(&rle, Datatype::StringUtf8, 12));
    assert!(!whole(&rle, Datatype::Char, 22));
    assert!(!whole(&dictionary, Datatype::StringUtf8, 12) && whole(&dictionary, Datatype::StringUtf8, 13));
    let offsets = TileKind::offsets(version(22));
    assert_eq!(even(&rle, offsets, 80_000), [65536, 14464]);
}

#[test]
fn coordinates() {
    let pipeline = FilterPipeline::default_coords();
    let kind = TileKind::coordinates(Datatype::Int64, 2, version(3));
    assert_eq!(even(&pipeline, kind, 160_000), [65536, 14464, 65536, 14464]);
    assert_eq!(even(&pipeline, TileKind::coordinates(Datatype::Int32, 3, version(2)), 36), [12, 12, 12]);
    assert_eq!(even(&pipeline, kind, 0), NONE);
}
