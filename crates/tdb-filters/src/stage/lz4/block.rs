//! Decoding LZ4 blocks.
//!
//! `lz4_flex` has a decoder, but copies a match that overlaps what it makes byte by byte. After a bitshuffle long runs of
//! a few bytes are the rule, and these copies most of the work: here they double what they copy with each step.

/// Few literals are copied as this many, which takes no call and no loop.
const LITERALS_AT_ONCE: usize = 16;
/// Short matches are copied as this many, in words.
const MATCH_AT_ONCE: usize = 3 * WORD;
const WORD: usize = 8;

/// Decodes a block that must fill `out` exactly; none if it doesn't, or isn't a block.
///
/// A block is a list of sequences: a token with the lengths of literals and of the match behind them, more bytes of the
/// first length, the literals, the distance back to what is matched, more bytes of the second length. The last sequence
/// ends after its literals.
pub(super) fn decode(mut input: &[u8], out: &mut [u8]) -> Option<()> {
    let mut at = 0;
    loop {
        // Most sequences are short and not near the end of anything, so that few comparisons do for all of one.
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

/// All four bits of a length: more bytes follow.
const MORE: u8 = 15;
/// Bytes of a token, the most literals without more bytes for their length, and a distance.
const SHORT_SEQUENCE: usize = 1 + LITERALS_AT_ONCE + 2;
/// Bytes of a match whose length is given as 0.
const LEAST_MATCH: usize = 4;

/// A length of which the token has four bits: if they are all set, bytes follow that add to it, up to one that isn't 255.
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

/// Copies `len` bytes from `distance` before `at`, where they may not have been made yet.
#[inline]
fn copy_match(out: &mut [u8], at: usize, distance: usize, len: usize) -> Option<()> {
    let from = at.checked_sub(distance).filter(|from| *from < at)?;
    if len > out.len() - at {
        return None;
    }
    if distance == 1 {
        let byte = out[from];
        out[at..at + len].fill(byte);
    } else {
        // What was copied repeats after `distance` bytes, so that all of it can be copied at once.
        let mut done = 0;
        while done < len {
            let step = (distance + done).min(len - done);
            out.copy_within(from..from + step, at + done);
            done += step;
        }
    }
    Some(())
}

/// Copies [`MATCH_AT_ONCE`] bytes within `out`, word by word, so that they may overlap at a distance of a word.
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
        fn decodes_what_was_encoded(bytes in bytes()) {
            let mut out = vec![0; bytes.len()];
            prop_assert_eq!(decode(&compress(&bytes), &mut out), Some(()));
            prop_assert_eq!(out, bytes);
        }

        #[test]
        fn decodes_broken_blocks_as_the_library_or_not_at_all(
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
    fn broken_blocks_are_none() {
        let mut out = [0; 8];
        for block in [
            &[][..],
            &[0x10],                  // literals that aren't there
            &[0x10, 7, 2, 0, 0],      // a distance to before the start
            &[0x10, 7, 0, 0, 0],      // a distance of nothing
            &[0x10, 7, 1],            // half a distance
            &[0x1f, 7, 1, 0, 255],    // a length without an end
            &[0x1f, 7, 1, 0, 200, 0], // more than there is room for
            &[0x13, 7, 1, 0, 0x00],   // exactly the room, then an empty sequence
        ] {
            let fits = block == [0x13, 7, 1, 0, 0x00];
            assert_eq!(decode(block, &mut out).is_some(), fits, "{block:x?}");
        }
        assert_eq!(out, [7; 8]);
    }
}
