//! Damage inside of generic tiles. Payloads are changed and encoded again, to get past checksums
//! and codecs.

use std::sync::Arc;

use tdb_array::{Array, ArrayOptions};
use tdb_filters::EncryptionKey;
use tdb_fragment::SectionId;
use tdb_generic_tile::{GenericTileDecoder, GenericTileEncoder};
use tdb_testkit::hostile::seeded_mutations;
use tdb_types::{ByteReader, ByteWriter, FormatVersion, Limits};

use crate::hostile::damage::Tree;

/// Calls `body` with path and content of damaged versions of the fixture's files. Each version has
/// a damaged payload in one generic tile.
pub fn damaged_payloads(tree: &Tree, count: usize, mut body: impl FnMut(&str, Arc<[u8]>)) {
    let key = tree.key().map(EncryptionKey::new);
    let mut decoder = GenericTileDecoder::new(Limits::SMALL).with_key(key.clone());
    let options = ArrayOptions::new().threads(1).key(key.clone());
    let schemas = tree.paths().filter(|path| path.starts_with("__schema/"));
    for path in schemas {
        let file = tree.bytes(path);
        let Ok(tile) = decoder.decode_file(&file, None) else { continue };
        seeded_mutations(1, &tile.payload, count, |payload| body(path, packed(payload, key.as_ref()).into()));
    }
    let Ok(array) = options.open_on(tree.storage()) else { return };
    for (path, starts) in sections(&array) {
        let file = tree.bytes(&path);
        for start in starts {
            let Ok(tile) = decoder.decode(&mut ByteReader::new(&file[start..])) else { continue };
            seeded_mutations(start as u64, &tile.payload, count, |payload| {
                body(&path, moved(&file, start, &packed(payload, key.as_ref())).into());
            });
        }
    }
}

/// Returns the start of each section in each fragment's metadata.
fn sections(array: &Array) -> Vec<(String, Vec<usize>)> {
    let of_fragment = |fragment: &tdb_array::Fragment| {
        let footer = fragment.footer();
        let dimensions = fragment.schema().dimensions().len();
        let ids = SectionId::in_file_order(fragment.version(), *footer.slots(), dimensions, footer.is_dense());
        let mut starts: Vec<usize> = ids.filter_map(|id| Some(footer.section_offset(id)? as usize)).collect();
        starts.sort_unstable();
        starts.dedup();
        (format!("{}/__fragment_metadata.tdb", fragment.folder()), starts)
    };
    array.fragments().unwrap().iter().map(of_fragment).collect()
}

/// Encodes a payload as a generic tile, encrypted if there is a key.
pub fn packed(payload: &[u8], key: Option<&EncryptionKey>) -> Vec<u8> {
    let mut tile = ByteWriter::new();
    let encoder = GenericTileEncoder::new(FormatVersion::DEFAULT);
    let mut encoder = match key {
        // Reuse of the IV reveals no secrets in a test.
        Some(key) => encoder.encrypting(key.clone(), || [7; 12]),
        None => encoder,
    };
    encoder.encode(payload, &mut tile).unwrap();
    tile.into_bytes()
}

/// Moves a section to the end of the sections, and updates its offset in the footer from `start`.
fn moved(file: &[u8], start: usize, section: &[u8]) -> Vec<u8> {
    let (rest, len) = file.split_last_chunk().unwrap();
    let len = u64::from_le_bytes(*len);
    let (sections, footer) = rest.split_at(rest.len() - len as usize);
    let mut footer = footer.to_vec();
    let (old, new) = ((start as u64).to_le_bytes(), (sections.len() as u64).to_le_bytes());
    // Other bytes equal to the offset are damaged too.
    for place in 0..footer.len().saturating_sub(7) {
        if footer[place..place + 8] == old {
            footer[place..place + 8].copy_from_slice(&new);
        }
    }
    [sections, section, &footer, &len.to_le_bytes()].concat()
}
