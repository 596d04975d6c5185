//! Single random edits.

use super::SplitMix64;

/// Lengths and counts at the boundaries of integer types, which expose arithmetic errors in
/// parsers.
const EDGES: [u64; 16] = [
    0,
    1,
    2,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX,
];

/// Maximum length of inserted and copied runs. Keeps cases near the size of the original.
const LONGEST_RUN: usize = 32;

/// Makes one random edit. Empty bytes can only grow.
pub(super) fn edit(bytes: &mut Vec<u8>, rng: &mut SplitMix64) {
    if bytes.is_empty() {
        return insert_run(bytes, rng);
    }
    match rng.below(8) {
        0 => overwrite_byte(bytes, rng),
        1 => flip_bit(bytes, rng),
        2 | 3 => overwrite_integer(bytes, rng),
        4 => insert_run(bytes, rng),
        5 => remove_run(bytes, rng),
        6 => splice(bytes, rng),
        _ => {
            // Truncates only a little, because a large cut would hide the other edits.
            let kept = bytes.len() - (1 + rng.below(LONGEST_RUN.min(bytes.len())));
            bytes.truncate(kept);
        }
    }
}

fn overwrite_byte(bytes: &mut [u8], rng: &mut SplitMix64) {
    let place = rng.below(bytes.len());
    bytes[place] = rng.next() as u8;
}

fn flip_bit(bytes: &mut [u8], rng: &mut SplitMix64) {
    let place = rng.below(bytes.len());
    bytes[place] ^= 1 << rng.below(8);
}

/// Overwrites 1, 2, 4 or 8 bytes with a little-endian boundary value, or with a value close to the
/// old one.
fn overwrite_integer(bytes: &mut [u8], rng: &mut SplitMix64) {
    let width = (1 << rng.below(4)).min(bytes.len());
    let place = rng.below(bytes.len() - width + 1);
    let field = &mut bytes[place..place + width];
    let mut old = [0; 8];
    old[..width].copy_from_slice(field);
    let value = match rng.below(3) {
        0 => u64::from_le_bytes(old).wrapping_add(1 + rng.below(16) as u64),
        1 => u64::from_le_bytes(old).wrapping_sub(1 + rng.below(16) as u64),
        _ => *rng.pick(&EDGES),
    };
    field.copy_from_slice(&value.to_le_bytes()[..width]);
}

fn insert_run(bytes: &mut Vec<u8>, rng: &mut SplitMix64) {
    let place = rng.below(bytes.len() + 1);
    let length = 1 + rng.below(LONGEST_RUN);
    let constant = (rng.below(2) == 0).then(|| rng.next() as u8);
    bytes.splice(place..place, (0..length).map(|_| constant.unwrap_or_else(|| rng.next() as u8)));
}

fn remove_run(bytes: &mut Vec<u8>, rng: &mut SplitMix64) {
    let start = rng.below(bytes.len());
    let end = (start + 1 + rng.below(LONGEST_RUN)).min(bytes.len());
    bytes.drain(start..end);
}

/// Copies a run over, or in front of, another run.
fn splice(bytes: &mut Vec<u8>, rng: &mut SplitMix64) {
    let source = rng.below(bytes.len());
    let end = (source + 1 + rng.below(LONGEST_RUN)).min(bytes.len());
    let run = bytes[source..end].to_vec();
    let place = rng.below(bytes.len());
    let replaced = if rng.below(2) == 0 { run.len() } else { 0 };
    let replaced_end = (place + replaced).min(bytes.len());
    bytes.splice(place..replaced_end, run);
}
