//! A decoder for LZ4 blocks.
//!
//! The decoder of `lz4_flex` copies overlapping matches byte by byte. Runs of equal values are
//! common, and such copies dominate. This decoder repeats a value of 1, 2, 4 or 8 bytes without
//! reading it again, and otherwise doubles the copied length in each step.

/// Number of bytes copied for short literals, without a call or loop.
const LITERALS_AT_ONCE: usize = 16;
/// Number of bytes copied for short matches, word by word.
const MATCH_AT_ONCE: usize = 3 * WORD;
const WORD: usize = 8;

/// Decodes a block into exactly `out`. Returns `None` if the block is invalid or has another
/// length.
///
/// A block is a list of sequences. A sequence starts with a token, which contains the lengths of
/// literals and match. Further bytes of the literals' length, the literals, the match distance, and
/// further bytes of the match length follow. The last sequence ends after the literals.
pub(super) fn decode(mut input: &[u8], out: &mut [u8]) -> Option<()> {
    let mut at = 0;
    loop {
        // Most sequences are short and not near the end of the input or output. A few comparisons
        // check them completely.
        while let Some(sequence) = input.first_chunk::<SHORT_SEQUENCE>()
            && out.len() - at >= LITERALS_AT_ONCE + MATCH_AT_ONCE
        {
            let [token, literals @ .., _, _] = sequence;
            let (count, len) = (usize::from(token >> 4), usize::from(token & MORE));
            if count == usize::from(MORE) || len == usize::from(MORE) {
                break;
            }
            *out[at..].first_chunk_mut()? = *literals;
            at += count;
            let distance = usize::from(u16::from_le_bytes([sequence[1 + count], sequence[2 + count]]));
            let len = len + LEAST_MATCH;
            match at.checked_sub(distance) {
                Some(from) if distance >= WORD => copy_words(out, from, at)?,
                _ => copy_match(out, at, distance, len)?,
            }
            at += len;
            input = &input[3 + count..];
        }
        let (token, rest) = input.split_first()?;
        input = rest;
        let literals = length(token >> 4, &mut input)?;
        out[at..].get_mut(..literals)?.copy_from_slice(input.get(..literals)?);
        input = &input[literals..];
        at += literals;
        if input.is_empty() {
            return (at == out.len()).then_some(());
        }
        let (distance, rest) = input.split_first_chunk()?;
        input = rest;
        let len = length(token & MORE, &mut input)?.checked_add(LEAST_MATCH)?;
        copy_match(out, at, usize::from(u16::from_le_bytes(*distance)), len)?;
        at += len;
    }
}

/// All four bits set: further length bytes follow.
const MORE: u8 = 15;
/// Size of a token, the literals copied at once, and a distance, in bytes.
const SHORT_SEQUENCE: usize = 1 + LITERALS_AT_ONCE + 2;
/// Length of a match with the stored length 0, in bytes.
const LEAST_MATCH: usize = 4;

/// Reads a length. If all four bits of the token are set, the following bytes are added, up to and
/// including the first byte other than 255.
#[inline]
fn length(bits: u8, input: &mut &[u8]) -> Option<usize> {
    let mut length = usize::from(bits);
    if bits == MORE {
        loop {
            let (byte, rest) = input.split_first()?;
            *input = rest;
            length = length.checked_add(usize::from(*byte))?;
            if *byte != u8::MAX {
                break;
            }
        }
    }
    Some(length)
}

/// Copies `len` bytes from `distance` before `at`. The source may overlap the destination.
#[inline]
fn copy_match(out: &mut [u8], at: usize, distance: usize, len: usize) -> Option<()> {
    let from = at.checked_sub(distance).filter(|from| *from < at)?;
    if len > out.len() - at {
        return None;
    }
    let (before, after) = out.split_at_mut(at);
    let (before, copy) = (&before[from..], &mut after[..len]);
    // Runs of equal values have the distance of the values' size.
    match distance {
        1 => repeat::<1>(before, copy),
        2 => repeat::<2>(before, copy),
        4 => repeat::<4>(before, copy),
        8 => repeat::<8>(before, copy),
        _ => {
            // The copied bytes repeat with period `distance`, so each step can copy all of them.
            let mut done = 0;
            while done < len {
                let step = (distance + done).min(len - done);
                out.copy_within(from..from + step, at + done);
                done += step;
            }
            Some(())
        }
    }
}

/// Fills `copy` with repetitions of `N` bytes, without reading bytes that were just written.
#[inline]
fn repeat<const N: usize>(bytes: &[u8], copy: &mut [u8]) -> Option<()> {
    let bytes: [u8; N] = *bytes.first_chunk()?;
    let (copies, rest) = copy.as_chunks_mut();
    copies.fill(bytes);
    rest.copy_from_slice(&bytes[..rest.len()]);
    Some(())
}

/// Copies [`MATCH_AT_ONCE`] bytes within `out`, word by word. The ranges may overlap at a distance
/// of at least a word.
#[inline]
fn copy_words(out: &mut [u8], from: usize, to: usize) -> Option<()> {
    let bytes = out.get_mut(from..to + MATCH_AT_ONCE)?;
    let to = to - from;
    for step in (0..MATCH_AT_ONCE).step_by(WORD) {
        let word: [u8; WORD] = *bytes[step..].first_chunk()?;
        *bytes[to + step..].first_chunk_mut()? = word;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use lz4_flex::block::{compress, decompress_into};
    use proptest::prelude::*;

    use super::decode;

    /// Bytes with repeats at all distances.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let run = (prop::collection::vec(any::<u8>(), 1..40), 1..60_usize);
        let runs = prop::collection::vec(run, 0..20);
        runs.prop_map(|runs| runs.into_iter().flat_map(|(bytes, times)| bytes.repeat(times)).collect())
    }

    proptest! {
        #[test]
        fn encoded_blocks_decode(bytes in bytes()) {
            let mut out = vec![0; bytes.len()];
            prop_assert_eq!(decode(&compress(&bytes), &mut out), Some(()));
            prop_assert_eq!(out, bytes);
        }

        #[test]
        fn damaged_blocks_decode_like_lz4_flex_or_fail(
            bytes in bytes(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            len in 0..3000_usize,
        ) {
            let mut block = compress(&bytes);
            for (place, byte) in changes {
                let place = place.index(block.len());
                block[place] = byte;
            }
            for len in [len, bytes.len()] {
                let (mut out, mut expected) = (vec![0; len], vec![0; len]);
                if decode(&block, &mut out).is_some() {
                    prop_assert_eq!(decompress_into(&block, &mut expected).ok(), Some(len));
                    prop_assert_eq!(out, expected);
                }
            }
        }
    }

    #[test]
    fn invalid_blocks_are_rejected() {
        let mut out = [0; 8];
        for block in [
            &[][..],
            &[0x10],                  // missing literals
            &[0x10, 7, 2, 0, 0],      // a distance to before the start
            &[0x10, 7, 0, 0, 0],      // a distance of zero
            &[0x10, 7, 1],            // half a distance
            &[0x1f, 7, 1, 0, 255],    // a length without end
            &[0x1f, 7, 1, 0, 200, 0], // more than the output holds
            &[0x13, 7, 1, 0, 0x00],   // exactly the output, then an empty sequence
        ] {
            let fits = block == [0x13, 7, 1, 0, 0x00];
            assert_eq!(decode(block, &mut out).is_some(), fits, "{block:x?}");
        }
        assert_eq!(out, [7; 8]);
    }
}
