//! Tiles filtered by the reference library. All decode, and tiles without general compressors are
//! encoded to the same bytes.

use crate::common;

use tdb_filters::{BoundPipeline, Filter, FilterPipeline, Scratch, TileKind, TileRole};
use tdb_testkit::fixtures::{FilterCase, filter_cases};
use tdb_types::{ByteReader, ByteWriter, Datatype, Feature, FormatVersion};

struct Case {
    case: FilterCase,
    version: FormatVersion,
    pipeline: FilterPipeline,
    bound: BoundPipeline,
}

impl Case {
    fn new(case: FilterCase) -> Self {
        let version = common::version(case.format_version);
        let bytes = case.pipeline_bytes();
        let mut reader = ByteReader::new(&bytes);
        let pipeline = FilterPipeline::parse(&mut reader, version).unwrap();
        reader.finish("pipeline").unwrap();
        let datatype = Datatype::from_name(&case.datatype).unwrap();
        let kind = if case.offsets.is_some() {
            TileKind::var_data(datatype, version)
        } else {
            TileKind::new(datatype, case.cell_size, TileRole::Fixed, version)
        };
        let bound = BoundPipeline::bind(&pipeline, kind).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        Self { case, version, pipeline, bound }
    }

    /// Returns `true` if the output of all filters is independent of the implementation.
    fn is_deterministic(&self) -> bool {
        !self.pipeline.filters.iter().any(|filter| {
            matches!(filter, Filter::Gzip { .. } | Filter::Zstd { .. } | Filter::Lz4 { .. } | Filter::Bzip2 { .. })
        })
    }

    fn decode(&self, filtered: &[u8], scratch: &mut Scratch) -> Vec<u8> {
        let name = &self.case.name;
        let mut tile = vec![0xa5; self.case.unfiltered_bytes().len()];
        if self.bound.carries_offsets() {
            let expected = self.case.offsets.as_ref().unwrap();
            let mut offsets = Vec::new();
            self.bound
                .decode_strings(filtered, &mut tile, &mut offsets, expected.len() as u64, scratch)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(offsets, *expected, "{name}");
        } else {
            self.bound.decode_tile(filtered, &mut tile, scratch).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        tile
    }

    fn encode(&self, tile: &[u8], scratch: &mut Scratch) -> Vec<u8> {
        let mut out = Vec::new();
        let aligned = self.version.has(Feature::CellAlignedVarChunks);
        let offsets = self.case.offsets.as_deref().filter(|_| aligned);
        self.bound
            .encode_tile_lossy(tile, offsets, &mut out, scratch)
            .unwrap_or_else(|error| panic!("{}: {error}", self.case.name));
        out
    }
}

fn cases() -> Vec<Case> {
    let cases: Vec<Case> = filter_cases().into_iter().map(Case::new).collect();
    assert!(cases.len() >= 300, "only {} cases", cases.len());
    cases
}

#[test]
fn parsed_pipelines_write_the_same_bytes() {
    for case in cases() {
        let mut writer = ByteWriter::new();
        case.pipeline.write(&mut writer, case.version).unwrap();
        assert_eq!(writer.as_slice(), case.case.pipeline_bytes(), "{}", case.case.name);
    }
}

#[test]
fn every_tile_decodes() {
    // A shared scratch: no data of a tile may affect later tiles.
    let mut scratch = Scratch::new();
    for case in cases() {
        let tile = case.decode(case.case.filtered_bytes(), &mut scratch);
        assert!(tile == case.case.unfiltered_bytes(), "{} decodes to other bytes", case.case.name);
    }
}

#[test]
fn tiles_without_general_compressors_are_encoded_to_the_same_bytes() {
    let mut scratch = Scratch::new();
    let (mut compared, mut equal) = (0, 0);
    for case in cases().iter().filter(|case| case.is_deterministic()) {
        let expected = case.case.filtered_bytes();
        let tile = case.case.unfiltered_bytes();
        let encoded = case.encode(tile, &mut scratch);
        let differing = encoded.iter().zip(expected).filter(|(a, b)| a != b).count();
        if encoded.len() == expected.len() && differing > 0 {
            // The reference library stores uninitialized memory as the minimum of windows whose
            // range overflows.
            assert!(case.case.name.starts_with("bit width"), "{}", case.case.name);
            let blank = |tile: &[u8]| without_raw_minima(tile, case.bound.kind().datatype.size());
            assert_eq!(blank(&encoded), blank(expected), "{}", case.case.name);
        } else {
            assert!(encoded == expected, "{} encodes to other bytes", case.case.name);
            equal += 1;
        }
        compared += 1;
    }
    assert!(compared >= 250 && compared - equal <= 12, "{equal} of {compared} cases");
}

/// Blanks out the minima of raw windows of the last filter. A window's header consists of a value,
/// the bits, and the length.
fn without_raw_minima(tile: &[u8], value: usize) -> Vec<u8> {
    let mut tile = tile.to_vec();
    for chunk in tdb_filters::ChunkIndex::parse(&tile.clone()).unwrap().chunks() {
        let metadata = &mut tile[chunk.metadata.start as usize..chunk.metadata.end as usize];
        let windows = u32::from_le_bytes(metadata[4..8].try_into().unwrap()) as usize;
        for window in metadata[8..].chunks_mut(value + 5).take(windows) {
            if usize::from(window[value]) == 8 * value {
                window[..value].fill(0);
            }
        }
    }
    tile
}

#[test]
fn encoded_tiles_round_trip() {
    let mut scratch = Scratch::new();
    for case in cases() {
        let tile = case.case.unfiltered_bytes();
        let encoded = case.encode(tile, &mut scratch);
        assert!(case.decode(&encoded, &mut scratch) == tile, "{} does not round-trip", case.case.name);
    }
}
