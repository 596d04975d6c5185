//! Alterations of a file.

use std::fmt;

use tdb_testkit::hostile::SplitMix64;

/// An alteration of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Alteration {
    /// Flips a bit.
    Bit(usize, u8),
    /// Replaces a byte.
    Byte(usize, u8),
    /// Overwrites bytes with zeros, like a lost disk block.
    Zeros(usize, usize),
    /// Truncates the file to a length.
    Cut(usize),
    /// Deletes the file.
    Gone,
}

impl Alteration {
    pub(crate) fn sample(bytes: &[u8], rng: &mut SplitMix64) -> Option<Self> {
        let one_in = |rng: &mut SplitMix64, count| rng.below(count) == 0;
        if bytes.is_empty() || one_in(rng, 12) {
            return Some(Self::Gone);
        }
        let at = rng.below(bytes.len());
        Some(match rng.below(8) {
            0..=3 => Self::Bit(at, rng.below(8) as u8),
            4 | 5 => Self::Byte(at, bytes[at].wrapping_add(1 + rng.below(255) as u8)),
            6 => {
                let len = (1 + rng.below(64)).min(bytes.len() - at);
                if bytes[at..at + len].iter().all(|byte| *byte == 0) {
                    return None;
                }
                Self::Zeros(at, len)
            }
            _ => Self::Cut(at),
        })
    }

    /// Returns the altered file, or `None` if it is deleted.
    pub(crate) fn apply(self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut altered = bytes.to_vec();
        match self {
            Self::Bit(at, bit) => altered[at] ^= 1 << bit,
            Self::Byte(at, value) => altered[at] = value,
            Self::Zeros(at, len) => altered[at..at + len].fill(0),
            Self::Cut(len) => altered.truncate(len),
            Self::Gone => return None,
        }
        Some(altered)
    }
}

impl fmt::Display for Alteration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bit(at, bit) => write!(f, "bit {bit} of byte {at}"),
            Self::Byte(at, value) => write!(f, "byte {at} set to {value:#04x}"),
            Self::Zeros(at, len) => write!(f, "{len} zeros from byte {at} on"),
            Self::Cut(len) => write!(f, "truncated to {len} bytes"),
            Self::Gone => f.write_str("deleted"),
        }
    }
}
