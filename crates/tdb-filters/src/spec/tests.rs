use tdb_types::Datatype;

use super::*;

fn version(number: u32) -> FormatVersion {
    FormatVersion::new(number).unwrap()
}

fn parse(bytes: &[u8], version: FormatVersion) -> Result<FilterPipeline, DecodeError> {
    let mut reader = ByteReader::new(bytes);
    let pipeline = FilterPipeline::parse(&mut reader, version)?;
    reader.finish("pipeline")?;
    Ok(pipeline)
}

fn write(pipeline: &FilterPipeline, version: FormatVersion) -> Vec<u8> {
    let mut writer = ByteWriter::new();
    pipeline.write(&mut writer, version).unwrap();
    writer.into_bytes()
}

#[test]
fn generic_tile_pipeline() {
    // The 18 bytes in the header of every generic tile.
    let bytes = [0, 0, 1, 0, 1, 0, 0, 0, 1, 5, 0, 0, 0, 1, 1, 0, 0, 0];
    for version in FormatVersion::all() {
        assert_eq!(parse(&bytes, version).unwrap(), FilterPipeline::generic_tile());
        assert_eq!(write(&FilterPipeline::generic_tile(), version), bytes);
    }
}

fn every_filter() -> FilterPipeline {
    FilterPipeline::new(vec![
        Filter::None,
        Filter::Gzip { level: -1 },
        Filter::Zstd { level: 5 },
        Filter::Lz4 { level: -1 },
        Filter::Rle { level: -1 },
        Filter::Bzip2 { level: 9 },
        Filter::DoubleDelta { level: -1, reinterpret: None },
        Filter::DoubleDelta { level: -1, reinterpret: Some(Datatype::UInt16) },
        Filter::BitWidthReduction { max_window: 256 },
        Filter::Bitshuffle,
        Filter::Byteshuffle,
        Filter::PositiveDelta { max_window: 1024 },
        Filter::Aes256Gcm,
        Filter::Md5,
        Filter::Sha256,
        Filter::Dictionary { level: -1 },
        Filter::FloatScale { scale: 0.5, offset: -3.25, byte_width: 2 },
        Filter::Xor,
        Filter::Unknown { code: 17, options: Vec::new() },
        Filter::WebP(WebPOptions {
            quality: 80.0,
            format: WebPFormat::Rgba,
            lossless: false,
            y_extent: 12,
            x_extent: 48,
        }),
        Filter::Delta { level: -1, reinterpret: Some(Datatype::Int8) },
        Filter::Delta { level: -1, reinterpret: None },
        Filter::Unknown { code: 200, options: vec![1, 2, 0xff] },
    ])
}

#[test]
fn every_filter_round_trips() {
    let pipeline = every_filter();
    for number in [20, 22, 23] {
        let bytes = write(&pipeline, version(number));
        assert_eq!(parse(&bytes, version(number)).unwrap(), pipeline);
        for truncated in tdb_testkit::hostile::truncations(&bytes) {
            parse(truncated, version(number)).unwrap_err();
        }
    }
}

#[test]
fn printed() {
    let lines: Vec<String> = every_filter().filters.iter().map(Filter::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"));
    let mut pipeline = FilterPipeline::default();
    insta::assert_snapshot!(pipeline, @"no filters");
    pipeline.max_chunk_size = 1000;
    pipeline.filters = vec![Filter::Byteshuffle, Filter::Zstd { level: 3 }];
    insta::assert_snapshot!(pipeline, @"byteshuffle | zstd(3), chunks of 1000 bytes");
    pipeline.max_chunk_size = 0;
    insta::assert_snapshot!(pipeline, @"byteshuffle | zstd(3), not chunked");
}

#[test]
fn double_delta_states_its_type_since_version_20() {
    let old = [0, 0, 1, 0, 1, 0, 0, 0, 6, 5, 0, 0, 0, 6, 255, 255, 255, 255];
    let new = [0, 0, 1, 0, 1, 0, 0, 0, 6, 6, 0, 0, 0, 6, 255, 255, 255, 255, 17];
    let pipeline = FilterPipeline::new(vec![Filter::DoubleDelta { level: -1, reinterpret: None }]);
    assert_eq!(write(&pipeline, version(19)), old);
    assert_eq!(write(&pipeline, version(20)), new);
    assert_eq!(parse(&old, version(19)).unwrap(), pipeline);
    assert_eq!(parse(&new, version(20)).unwrap(), pipeline);
}

#[test]
fn filters_missing_in_a_version_are_rejected() {
    let refuse = |filter: Filter, number| {
        FilterPipeline::new(vec![filter]).write(&mut ByteWriter::new(), version(number)).unwrap_err()
    };
    insta::assert_snapshot!(
        refuse(Filter::DoubleDelta { level: -1, reinterpret: Some(Datatype::Int8) }, 19),
        @"format version 19 does not have a double delta filter with a reinterpreted datatype"
    );
    insta::assert_snapshot!(
        refuse(Filter::Delta { level: -1, reinterpret: None }, 18),
        @"format version 18 does not have the delta filter"
    );
}

#[test]
fn the_compressor_code_selects_the_filter() {
    // A zstd filter with zlib options: the reference library reads it as zlib.
    let bytes = [0, 0, 1, 0, 2, 0, 0, 0, 2, 5, 0, 0, 0, 1, 9, 0, 0, 0, 1, 5, 0, 0, 0, 0, 9, 0, 0, 0];
    let pipeline = parse(&bytes, FormatVersion::DEFAULT).unwrap();
    assert_eq!(pipeline.filters, [Filter::Gzip { level: 9 }, Filter::None]);
}

#[test]
fn longer_options_are_skipped() {
    let bytes = [0, 0, 1, 0, 2, 0, 0, 0, 7, 6, 0, 0, 0, 0, 1, 0, 0, 0xee, 0xee, 9, 0, 0, 0, 0];
    let pipeline = parse(&bytes, FormatVersion::DEFAULT).unwrap();
    assert_eq!(pipeline.filters, [Filter::BitWidthReduction { max_window: 256 }, Filter::Byteshuffle]);
}

#[test]
fn errors_say_where() {
    let error = |bytes: &[u8]| parse(bytes, FormatVersion::DEFAULT).unwrap_err();
    insta::assert_snapshot!(
        error(&[0, 0, 1, 0, 1, 0, 0, 0, 2, 5, 0, 0, 0, 9, 0, 0, 0, 0]),
        @"filter pipeline: filter 0: compressor: found 9 at 0xd, expected a compressor code from 0 to 8"
    );
    insta::assert_snapshot!(
        error(&[0, 0, 1, 0, 255, 255, 255, 255, 0, 0, 0, 0, 0]),
        @"filter pipeline: filters: expected 21474836475 bytes at 0x8, found 5"
    );
    insta::assert_snapshot!(
        error(&[0, 0, 1, 0, 1, 0, 0, 0, 7, 3, 0, 0, 0, 0, 1, 0]),
        @"filter pipeline: filter 0: maximum window: expected 4 bytes at 0xd, found 3"
    );
    insta::assert_snapshot!(
        error(&[0, 0, 1, 0, 1, 0, 0, 0, 6, 6, 0, 0, 0, 6, 0, 0, 0, 0, 44]),
        @"filter pipeline: filter 0: reinterpreted datatype: found 44 at 0x12, expected a datatype code from 0 to 43"
    );
}

#[test]
fn nan_equals_itself() {
    let filter = Filter::FloatScale { scale: f64::NAN, offset: 0.0, byte_width: 1 };
    assert_eq!(filter, filter.clone());
    assert_ne!(filter, Filter::FloatScale { scale: 1.0, offset: 0.0, byte_width: 1 });
    assert_ne!(Filter::Md5, Filter::Sha256);
}
