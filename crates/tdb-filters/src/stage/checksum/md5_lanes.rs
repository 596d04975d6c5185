//! MD5 (RFC 1321) of several parts of equal length at once.
//!
//! Each step depends on the previous step, so that a single part leaves most of the processor idle.

/// Number of parts digested in parallel.
pub(crate) const LANES: usize = 8;

/// A word of each part.
type Words<const LANES: usize> = [u32; LANES];

const START: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
/// MD5 block size, in bytes.
const BLOCK: usize = 64;

/// Returns the digests of parts of equal length, or `None` if the lengths differ.
pub(crate) fn digests<const LANES: usize>(parts: [&[u8]; LANES]) -> Option<[[u8; 16]; LANES]> {
    let len = parts[0].len();
    if parts.iter().any(|part| part.len() != len) {
        return None;
    }
    let mut state = START.map(|word| [word; LANES]);
    let blocks = parts.map(|part| part.as_chunks::<BLOCK>());
    for block in 0..len / BLOCK {
        let block = blocks.map(|(blocks, _)| &blocks[block]);
        compress(&mut state, &words(block));
    }
    let tails = blocks.map(|(_, rest)| tail(rest, len as u64));
    let count = if len % BLOCK < BLOCK - 8 { 1 } else { 2 };
    for block in 0..count {
        compress(&mut state, &words(tails.each_ref().map(|tail| &tail[block])));
    }
    let digest = |lane: usize| {
        let mut digest = [0; 16];
        for (bytes, words) in digest.chunks_exact_mut(4).zip(&state) {
            bytes.copy_from_slice(&words[lane].to_le_bytes());
        }
        digest
    };
    Some(std::array::from_fn(digest))
}

/// Builds the final blocks: the remaining bytes, a 1 bit, zeros, and the length in bits.
fn tail(rest: &[u8], len: u64) -> [[u8; BLOCK]; 2] {
    let mut tail = [0; 2 * BLOCK];
    tail[..rest.len()].copy_from_slice(rest);
    tail[rest.len()] = 0x80;
    let end = if rest.len() < BLOCK - 8 { BLOCK } else { 2 * BLOCK };
    tail[end - 8..end].copy_from_slice(&(len << 3).to_le_bytes());
    let mut blocks = [[0; BLOCK]; 2];
    for (block, bytes) in blocks.iter_mut().zip(tail.chunks_exact(BLOCK)) {
        block.copy_from_slice(bytes);
    }
    blocks
}

/// Returns the sixteen words of a block of each part.
fn words<const LANES: usize>(blocks: [&[u8; BLOCK]; LANES]) -> [Words<LANES>; 16] {
    let mut words = [[0; LANES]; 16];
    for (lane, block) in blocks.iter().enumerate() {
        for (words, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
            words[lane] = u32::from_le_bytes(*bytes);
        }
    }
    words
}

/// The sixteen steps of a round: the function, the rotations of four consecutive steps, the first
/// word's index, the index increment, and the added constants.
macro_rules! round {
    ($f:expr, ($a:ident $b:ident $c:ident $d:ident), $words:ident[$lane:ident], $shifts:expr, $first:expr, $step:expr, $adds:expr) => {
        round!(@four $f, ($a $b $c $d), $words[$lane], $shifts, $first, $step, $adds, 0);
        round!(@four $f, ($a $b $c $d), $words[$lane], $shifts, $first, $step, $adds, 4);
        round!(@four $f, ($a $b $c $d), $words[$lane], $shifts, $first, $step, $adds, 8);
        round!(@four $f, ($a $b $c $d), $words[$lane], $shifts, $first, $step, $adds, 12);
    };
    (@four $f:expr, ($a:ident $b:ident $c:ident $d:ident), $words:ident[$lane:ident], $shifts:expr, $first:expr, $step:expr, $adds:expr, $at:expr) => {
        round!(@one $f, ($a $b $c $d), $words[$lane], $shifts[0], $first, $step, $adds, $at);
        round!(@one $f, ($d $a $b $c), $words[$lane], $shifts[1], $first, $step, $adds, $at + 1);
        round!(@one $f, ($c $d $a $b), $words[$lane], $shifts[2], $first, $step, $adds, $at + 2);
        round!(@one $f, ($b $c $d $a), $words[$lane], $shifts[3], $first, $step, $adds, $at + 3);
    };
    (@one $f:expr, ($a:ident $b:ident $c:ident $d:ident), $words:ident[$lane:ident], $shift:expr, $first:expr, $step:expr, $adds:expr, $at:expr) => {
        let word = $words[($first + $step * ($at)) % 16][$lane];
        let mixed: u32 = $f($b, $c, $d);
        $a = $a.wrapping_add(mixed).wrapping_add(word).wrapping_add($adds[$at]).rotate_left($shift).wrapping_add($b);
    };
}

/// Processes a block of each part. The loop over the lanes is outermost, and the body has no
/// branches or loops, so that the compiler vectorizes over the lanes.
fn compress<const LANES: usize>(state: &mut [Words<LANES>; 4], words: &[Words<LANES>; 16]) {
    let [first, second, third, fourth] = state;
    for lane in 0..LANES {
        let (mut a, mut b, mut c, mut d) = (first[lane], second[lane], third[lane], fourth[lane]);
        round!(|x: u32, y: u32, z: u32| z ^ (x & (y ^ z)), (a b c d), words[lane], [7, 12, 17, 22], 0, 1, ADDS[0]);
        round!(|x: u32, y: u32, z: u32| y ^ (z & (x ^ y)), (a b c d), words[lane], [5, 9, 14, 20], 1, 5, ADDS[1]);
        round!(|x: u32, y: u32, z: u32| x ^ y ^ z, (a b c d), words[lane], [4, 11, 16, 23], 5, 3, ADDS[2]);
        round!(|x: u32, y: u32, z: u32| y ^ (x | !z), (a b c d), words[lane], [6, 10, 15, 21], 0, 7, ADDS[3]);
        first[lane] = first[lane].wrapping_add(a);
        second[lane] = second[lane].wrapping_add(b);
        third[lane] = third[lane].wrapping_add(c);
        fourth[lane] = fourth[lane].wrapping_add(d);
    }
}

/// The constants of the steps: the first 32 fractional bits of the absolute sines of 1, 2, 3 and so
/// on.
const ADDS: [[u32; 16]; 4] = [
    [
        0xd76a_a478,
        0xe8c7_b756,
        0x2420_70db,
        0xc1bd_ceee,
        0xf57c_0faf,
        0x4787_c62a,
        0xa830_4613,
        0xfd46_9501,
        0x6980_98d8,
        0x8b44_f7af,
        0xffff_5bb1,
        0x895c_d7be,
        0x6b90_1122,
        0xfd98_7193,
        0xa679_438e,
        0x49b4_0821,
    ],
    [
        0xf61e_2562,
        0xc040_b340,
        0x265e_5a51,
        0xe9b6_c7aa,
        0xd62f_105d,
        0x0244_1453,
        0xd8a1_e681,
        0xe7d3_fbc8,
        0x21e1_cde6,
        0xc337_07d6,
        0xf4d5_0d87,
        0x455a_14ed,
        0xa9e3_e905,
        0xfcef_a3f8,
        0x676f_02d9,
        0x8d2a_4c8a,
    ],
    [
        0xfffa_3942,
        0x8771_f681,
        0x6d9d_6122,
        0xfde5_380c,
        0xa4be_ea44,
        0x4bde_cfa9,
        0xf6bb_4b60,
        0xbebf_bc70,
        0x289b_7ec6,
        0xeaa1_27fa,
        0xd4ef_3085,
        0x0488_1d05,
        0xd9d4_d039,
        0xe6db_99e5,
        0x1fa2_7cf8,
        0xc4ac_5665,
    ],
    [
        0xf429_2244,
        0x432a_ff97,
        0xab94_23a7,
        0xfc93_a039,
        0x655b_59c3,
        0x8f0c_cc92,
        0xffef_f47d,
        0x8584_5dd1,
        0x6fa8_7e4f,
        0xfe2c_e6e0,
        0xa301_4314,
        0x4e08_11a1,
        0xf753_7e82,
        0xbd3a_f235,
        0x2ad7_d2bb,
        0xeb86_d391,
    ],
];

#[cfg(test)]
mod tests {
    use md5::{Digest, Md5};

    use super::*;

    #[test]
    fn lanes_match_digests_of_single_parts() {
        let bytes: Vec<u8> = (0..LANES * 1000u32 as usize).map(|byte| (byte * 31 % 251) as u8).collect();
        for len in (0..200).chain([255, 256, 999, 1000]) {
            let parts: [&[u8]; LANES] = std::array::from_fn(|lane| &bytes[lane * 1000..][..len]);
            let wanted = parts.map(|part| Md5::digest(part).into());
            assert_eq!(digests(parts), Some(wanted), "{len}");
            assert_eq!(digests([parts[1], parts[0]]), Some([wanted[1], wanted[0]]), "{len}");
        }
        let mut parts: [&[u8]; LANES] = [&bytes[..100]; LANES];
        parts[3] = &bytes[..99];
        assert_eq!(digests(parts), None);
    }
}
