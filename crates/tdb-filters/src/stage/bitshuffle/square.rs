//! Bitshuffle of 8-byte values. 64 values form a square matrix of bits, and so do the words at the
//! same position in 64 rows.

/// Number of values in a square, and number of bits in a value.
const SIDE: usize = 64;
/// Size in bytes of a value, and of a row of a square.
const WORD: usize = 8;
/// Squares transposed in parallel, one per word of a vector.
const LANES: usize = 4;

/// The rows of several squares.
type Squares = [[u64; LANES]; SIDE];

/// Returns `true` if `len` bytes form whole squares.
pub(super) fn fits(len: usize) -> bool {
    len.is_multiple_of(SIDE * WORD)
}

/// Converts values to rows of bits. The length must be [whole squares](fits).
pub(super) fn encode(values: &[u8], rows: &mut [u8]) {
    let row_len = values.len() / SIDE;
    for (pair, values) in values.chunks(LANES * SIDE * WORD).enumerate() {
        let mut squares: Squares = [[0; LANES]; SIDE];
        for (lane, values) in values.chunks_exact(SIDE * WORD).enumerate() {
            for (words, value) in squares.iter_mut().zip(values.as_chunks::<WORD>().0) {
                words[lane] = u64::from_le_bytes(*value);
            }
        }
        transpose(&mut squares);
        let place = pair * LANES * WORD;
        for (row, words) in rows.chunks_exact_mut(row_len).zip(&squares) {
            for (to, word) in row[place..].as_chunks_mut::<WORD>().0.iter_mut().zip(words) {
                *to = word.to_le_bytes();
            }
        }
    }
}

/// Converts rows of bits to values.
pub(super) fn decode(rows: &[u8], values: &mut [u8]) {
    let row_len = rows.len() / SIDE;
    for (pair, values) in values.chunks_mut(LANES * SIDE * WORD).enumerate() {
        let mut squares: Squares = [[0; LANES]; SIDE];
        let place = pair * LANES * WORD;
        for (row, words) in rows.chunks_exact(row_len).zip(&mut squares) {
            for (from, word) in row[place..].as_chunks::<WORD>().0.iter().zip(words) {
                *word = u64::from_le_bytes(*from);
            }
        }
        transpose(&mut squares);
        for (lane, values) in values.chunks_exact_mut(SIDE * WORD).enumerate() {
            for (words, value) in squares.iter().zip(values.as_chunks_mut::<WORD>().0) {
                *value = words[lane].to_le_bytes();
            }
        }
    }
}

/// Moves bit `c` of row `r` to bit `r` of row `c`. Swaps quarters of the square, then quarters of
/// each quarter, and so on. Each pass over the memory does two such steps.
fn transpose(squares: &mut Squares) {
    two_steps::<32, 16>(squares, 0x0000_0000_ffff_ffff, 0x0000_ffff_0000_ffff);
    two_steps::<8, 4>(squares, 0x00ff_00ff_00ff_00ff, 0x0f0f_0f0f_0f0f_0f0f);
    two_steps::<2, 1>(squares, 0x3333_3333_3333_3333, 0x5555_5555_5555_5555);
}

/// Swaps the off-diagonal quarters of squares with `2 * WIDE` bits per side, then of squares with
/// `2 * NARROW` bits per side. Each mask selects the lower half of the rows of such squares.
#[inline(always)]
fn two_steps<const WIDE: usize, const NARROW: usize>(squares: &mut Squares, wide: u64, narrow: u64) {
    for rows in squares.chunks_exact_mut(2 * WIDE) {
        let (upper, lower) = rows.split_at_mut(WIDE);
        let ((a, b), (c, d)) = (upper.split_at_mut(NARROW), lower.split_at_mut(NARROW));
        for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
            for lane in 0..LANES {
                let (mut p, mut q, mut r, mut s) = (a[lane], b[lane], c[lane], d[lane]);
                swap::<WIDE>(&mut p, &mut r, wide);
                swap::<WIDE>(&mut q, &mut s, wide);
                swap::<NARROW>(&mut p, &mut q, narrow);
                swap::<NARROW>(&mut r, &mut s, narrow);
                (a[lane], b[lane], c[lane], d[lane]) = (p, q, r, s);
            }
        }
    }
}

/// Swaps the higher bits of `upper` with the lower bits of `lower`.
#[inline(always)]
fn swap<const SHIFT: usize>(upper: &mut u64, lower: &mut u64, mask: u64) {
    let differing = ((*upper >> SHIFT) ^ *lower) & mask;
    *lower ^= differing;
    *upper ^= differing << SHIFT;
}

#[cfg(test)]
mod tests {
    use super::{SIDE, decode, encode};

    /// Encodes values bit by bit.
    fn plain(values: &[u8]) -> Vec<u8> {
        let count = values.len() / 8;
        let mut rows = vec![0; values.len()];
        for value in 0..count {
            for bit in (0..SIDE).filter(|bit| values[8 * value + bit / 8] >> (bit % 8) & 1 == 1) {
                let place = bit * count + value;
                rows[place / 8] |= 1 << (place % 8);
            }
        }
        rows
    }

    #[test]
    fn rows_match_the_plain_encoding_and_round_trip() {
        let mut state = 1_u64;
        let mut byte = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        for squares in [0, 1, 2, 3, 16] {
            let values: Vec<u8> = (0..squares * 512).map(|_| byte()).collect();
            let (mut rows, mut back) = (vec![0; values.len()], vec![0; values.len()]);
            encode(&values, &mut rows);
            assert_eq!(rows, plain(&values), "{squares}");
            decode(&rows, &mut back);
            assert_eq!(back, values, "{squares}");
        }
    }
}
