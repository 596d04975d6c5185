//! Replays the fuzz targets on their corpora, on tiles of the reference library, and on damaged
//! versions of both.

#[allow(unreachable_pub)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use tdb_testkit::fixtures::{FilterCase, filter_cases};
use tdb_testkit::hostile::seeded_mutations;
use tdb_testkit::replay_mutated;
use tdb_types::Datatype;

/// Builds the input of a fuzz target. `payload` is the filtered or unfiltered tile.
fn input(case: &FilterCase, payload: &[u8]) -> Vec<u8> {
    let datatype = Datatype::from_name(&case.datatype).unwrap();
    let values = case.cell_size / datatype.size() as u64;
    let cells = case.offsets.as_ref().map_or(case.unfiltered_bytes().len() as u64 / case.cell_size, |o| o.len() as u64);
    let role = if case.offsets.is_some() { 2 } else { 0 };
    let mut input = vec![case.format_version as u8 - 1, datatype.code(), role, values as u8 - 1];
    input.extend_from_slice(&u16::try_from(cells).unwrap().to_le_bytes());
    let pipeline = case.pipeline_bytes();
    input.extend_from_slice(&u16::try_from(pipeline.len()).unwrap().to_le_bytes());
    input.extend_from_slice(&pipeline);
    input.extend_from_slice(payload);
    input
}

/// Cases small enough for a few hundred mutations.
fn small_cases() -> Vec<FilterCase> {
    let small = |case: &FilterCase| {
        let values = case.cell_size / Datatype::from_name(&case.datatype).unwrap().size() as u64;
        case.unfiltered_bytes().len() <= 4096 && values <= 16
    };
    let cases: Vec<_> = filter_cases().into_iter().filter(small).collect();
    assert!(cases.len() > 300, "only {} small cases", cases.len());
    cases
}

#[test]
fn pipelines() {
    assert!(replay_mutated(env!("CARGO_MANIFEST_DIR"), "pipeline_parse", 2000, fuzz::pipeline_parse) >= 10);
    for case in filter_cases() {
        let data = [&[case.format_version as u8 - 1][..], &case.pipeline_bytes()].concat();
        fuzz::pipeline_parse(&data);
        seeded_mutations(2, &data, 100, fuzz::pipeline_parse);
    }
}

#[test]
fn filtered_tiles() {
    assert!(replay_mutated(env!("CARGO_MANIFEST_DIR"), "decode", 1000, fuzz::decode) >= 10);
    for case in small_cases() {
        let data = input(&case, case.filtered_bytes());
        fuzz::decode(&data);
        seeded_mutations(4, &data, 60, fuzz::decode);
    }
}

#[test]
fn tiles() {
    assert!(replay_mutated(env!("CARGO_MANIFEST_DIR"), "roundtrip", 300, fuzz::roundtrip) >= 10);
    for case in small_cases() {
        let data = input(&case, case.unfiltered_bytes());
        fuzz::roundtrip(&data);
        seeded_mutations(6, &data, 20, fuzz::roundtrip);
    }
}

/// The decoder's fuzz seeds include encrypted tiles, and images in all formats, by the reference
/// library.
#[test]
fn seeds_of_encryption_and_images_are_sound() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/decode");
    let mut sound = [0; 2];
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let kinds = [name.starts_with("aes"), name.starts_with("images")];
        if kinds.contains(&true) {
            assert!(fuzz::decodes(&std::fs::read(entry.path()).unwrap()), "{name}");
        }
        sound.iter_mut().zip(kinds).for_each(|(sound, kind)| *sound += u32::from(kind));
    }
    assert!(sound[0] >= 1 && sound[1] >= 6, "{sound:?}");
}
