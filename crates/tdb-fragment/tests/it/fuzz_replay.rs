//! The fuzz bodies, run on all stored inputs and on mutations of them.

#[allow(unreachable_pub, clippy::expect_used)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use crate::support::{Made, make_of};
use tdb_fragment::tdb_types::{ByteReader, FormatVersion, Limits};
use tdb_fragment::{
    ConsolidatedFooters, FragmentFile, GenericTileDecoder, GenericTileEncoder, SectionId, Step, locate,
};
use tdb_testkit::hostile::{seeded_mutations, single_byte_changes, truncations};
use tdb_testkit::replay_target;

/// Replays a target's corpus, and mutations of each of its files.
fn replay(target: &str, body: fn(&[u8]), mutations: usize) {
    let count = replay_target(env!("CARGO_MANIFEST_DIR"), target, |data| {
        body(data);
        seeded_mutations(1, data, mutations, body);
        if data.len() < 800 {
            truncations(data).for_each(body);
            single_byte_changes(data, body);
        }
    });
    assert!(count >= 5, "{target}: {count} seeds");
}

#[test]
fn footers() {
    replay("footer", fuzz::footer, 2000);
}

#[test]
fn files() {
    replay("file", fuzz::file, 100);
}

#[test]
fn sections() {
    replay("section", fuzz::section, 1000);
}

#[test]
fn consolidated() {
    replay("consolidated", fuzz::consolidated, 500);
}

#[test]
fn steps_to_the_footer() {
    replay("locate", fuzz::locate, 1000);
}

/// Writes the seeds: `cargo test -p tdb-fragment --test it fuzz_replay::seeds -- --ignored`.
#[test]
#[ignore = "writes into the checkout"]
fn seeds() {
    let versions: [(u8, &[u32]); 5] =
        [(0, &[5, 11, 22]), (1, &[2, 8, 22]), (2, &[7, 15]), (3, &[6, 23]), (4, &[1, 3, 4])];
    let mut footers = Vec::new();
    for (choice, versions) in versions {
        for &number in versions {
            let made = make_of(fuzz::schemas::schema(choice), FormatVersion::new(number).unwrap(), 5, 7);
            let bytes = FragmentFile::write(&made.header, &made.contents, &made.schema, &mut encoder()).unwrap();
            let name = format!("schema{choice}-v{number}");
            let version = u8::try_from(number).unwrap();
            seed("file", &name, &[&[choice, version, u8::from(!made.header.dense)], &bytes]);
            let size = bytes.len() as u64;
            let found = locate(made.header.version, Some(&made.schema), size, &bytes).unwrap();
            let Step::Footer(range) = found else { continue };
            let footer = &bytes[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()];
            seed("footer", &name, &[&[choice], footer]);
            let stray = if number == 11 { &[1; 8][..] } else { &[] };
            seed("footer", &format!("{name}-stray"), &[&[choice], footer, stray]);
            seed("locate", &name, &[&[choice, version, 9], &bytes[bytes.len().saturating_sub(footer.len() + 20)..]]);
            footers.push((name, footer.to_vec()));
            if number == 22 && !made.header.dense {
                section_seeds(choice, &made, &bytes);
            }
        }
    }
    let fragments: Vec<(&str, &[u8])> = footers.iter().map(|(name, footer)| (&**name, &**footer)).collect();
    for count in [0, 1, 2, 3, fragments.len()] {
        let file = ConsolidatedFooters::write_file(&fragments[..count], &mut encoder()).unwrap();
        seed("consolidated", &format!("file-{count}"), &[&file]);
        let payload = GenericTileDecoder::new(Limits::SMALL).decode_file(&file, None).unwrap().payload;
        seed("consolidated", &format!("payload-{count}"), &[&payload]);
    }
}

/// Writes a seed for each kind of section, for a field that has the section.
fn section_seeds(choice: u8, made: &Made, file: &[u8]) {
    let parsed =
        FragmentFile::parse(file, made.folder(), &made.schema, &mut GenericTileDecoder::new(Limits::SMALL), None);
    let footer = parsed.unwrap().footer;
    for slot in 0..5u8 {
        let field = footer.slots().field(usize::from(slot)).unwrap();
        let ids = [
            SectionId::TileOffsets(field),
            SectionId::TileVarSizes(field),
            SectionId::TileMins(field),
            SectionId::TileSums(field),
            SectionId::FragmentStatistics,
            SectionId::ProcessedConditions,
            SectionId::RTree,
            SectionId::TileMaxs(field),
        ];
        for (kind, id) in ids.into_iter().enumerate() {
            let start = usize::try_from(footer.section_offset(id).unwrap()).unwrap();
            let mut decoder = GenericTileDecoder::new(Limits::SMALL);
            let payload = decoder.decode(&mut ByteReader::new(&file[start..])).unwrap().payload;
            let kind = 8 * slot + u8::try_from(kind).unwrap();
            let size = 1_000_000u64.to_le_bytes();
            seed("section", &format!("{id}").replace(' ', "-"), &[&[choice, kind, 5], &size, &payload]);
        }
    }
}

fn encoder() -> GenericTileEncoder {
    GenericTileEncoder::new(FormatVersion::DEFAULT)
}

fn seed(target: &str, name: &str, parts: &[&[u8]]) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), parts.concat()).unwrap();
}
