//! How much a file may make a reader allocate.

/// Upper bounds on what the bytes of a file may make a reader allocate, beyond a small multiple of the bytes themselves.
///
/// The defaults are generous enough for every array that the reference library writes with its own defaults. Lower
/// them to read files from strangers on a small machine, raise them for unusually large tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Most bytes of one unfiltered tile of cells. Default: 4 GiB, or what addresses of 32 bits have room for.
    pub tile_bytes: u64,
    /// Most bytes of one unfiltered generic tile (schema, section of fragment metadata, …). Default: 1 GiB.
    pub generic_tile_bytes: u64,
    /// Most bytes of all commit files of an array together: those that gather, ignore and replace other commits.
    /// Default: 128 MiB, which is about a million commits.
    pub commit_bytes: u64,
    /// Most nesting of conditions. Default: 64.
    pub depth: u32,
    /// Most comparisons and combinations of one condition, each of which is worked out for every cell. Default: 65 536.
    /// All conditions by which cells of an array were deleted may have 16 times as many together.
    pub condition_nodes: u32,
}

impl Limits {
    /// Small limits, for fuzzing and for files from strangers: 16 MiB tiles, 4 MiB generic tiles.
    pub const SMALL: Self = Self {
        tile_bytes: 16 << 20,
        generic_tile_bytes: 4 << 20,
        commit_bytes: 1 << 20,
        depth: 16,
        condition_nodes: 1 << 10,
    };

    /// The same limits with another bound on one unfiltered tile, in bytes.
    #[must_use]
    pub const fn with_tile_bytes(mut self, bytes: u64) -> Self {
        self.tile_bytes = bytes;
        self
    }

    /// The same limits with another bound on one unfiltered generic tile, in bytes.
    #[must_use]
    pub const fn with_generic_tile_bytes(mut self, bytes: u64) -> Self {
        self.generic_tile_bytes = bytes;
        self
    }

    /// The same limits with another bound on the files that list commits, in bytes.
    #[must_use]
    pub const fn with_commit_bytes(mut self, bytes: u64) -> Self {
        self.commit_bytes = bytes;
        self
    }

    /// The same limits with another bound on what one condition holds.
    #[must_use]
    pub const fn with_condition_nodes(mut self, nodes: u32) -> Self {
        self.condition_nodes = nodes;
        self
    }
}

impl Limits {
    /// The same limits, lowered to what can be in memory at all: 2 GiB less 1 MiB where addresses have 32 bits. Whatever
    /// reads files applies this to the limits that it is given, so that what is within them has a length in memory.
    #[must_use]
    pub fn addressable(self) -> Self {
        self.lowered_to(MOST_IN_MEMORY)
    }

    fn lowered_to(mut self, most: u64) -> Self {
        for bytes in [&mut self.tile_bytes, &mut self.generic_tile_bytes, &mut self.commit_bytes] {
            *bytes = (*bytes).min(most);
        }
        self
    }
}

/// Most bytes that memory is asked for at once: a little less than any allocation may have, so that what belongs to the bytes
/// (the next header, the rest of a word) has room behind them.
const MOST_IN_MEMORY: u64 = (isize::MAX as u64) >> 20 << 20;

/// A number of bytes as a length in memory; `None` if nothing in memory can be as long, which where addresses have 32 bits
/// is about 2 GiB.
///
/// Sizes in files have 64 bits. Those that memory is reserved for are checked against [`Limits`] first, and become lengths
/// through this.
///
/// ```
/// use tdb_types::memory_len;
///
/// assert_eq!(memory_len(5), Some(5));
/// assert_eq!(memory_len(u64::MAX), None);
/// ```
#[must_use]
pub fn memory_len(bytes: u64) -> Option<usize> {
    len_within(bytes, MOST_IN_MEMORY)
}

/// A number as a place or an amount to compare with, or to estimate by: the greatest there is if it is too large. Never a
/// reason to reserve memory; that is what [`memory_len`] is for.
#[must_use]
pub fn saturating_len(number: impl Into<u64>) -> usize {
    usize::try_from(number.into()).unwrap_or(usize::MAX)
}

fn len_within(bytes: u64, most: u64) -> Option<usize> {
    usize::try_from(bytes).ok().filter(|_| bytes <= most)
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tile_bytes: 4 << 30,
            generic_tile_bytes: 1 << 30,
            commit_bytes: 128 << 20,
            depth: 64,
            condition_nodes: 1 << 16,
        }
        .addressable()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a target with 32 bits can have in memory.
    const MOST_OF_32_BITS: u64 = i32::MAX as u64;

    #[test]
    fn limits_fit_addresses() {
        let lowered = Limits::default().lowered_to(MOST_OF_32_BITS);
        assert_eq!((lowered.tile_bytes, lowered.generic_tile_bytes), (MOST_OF_32_BITS, 1 << 30));
        assert_eq!(Limits::SMALL.lowered_to(MOST_OF_32_BITS), Limits::SMALL);
        let all = Limits::default().with_tile_bytes(u64::MAX).with_generic_tile_bytes(u64::MAX).addressable();
        assert!(memory_len(all.tile_bytes).is_some() && memory_len(all.generic_tile_bytes).is_some());
        let commits = Limits::default().with_commit_bytes(u64::MAX).addressable().commit_bytes;
        assert!(memory_len(commits).is_some());
    }

    #[test]
    fn lengths_fit_addresses() {
        for (bytes, len) in [(0, Some(0)), (MOST_OF_32_BITS, Some(i32::MAX as usize)), (MOST_OF_32_BITS + 1, None)] {
            assert_eq!(len_within(bytes, MOST_OF_32_BITS), len);
        }
        assert_eq!(memory_len(MOST_IN_MEMORY), usize::try_from(MOST_IN_MEMORY).ok());
        assert_eq!((memory_len(MOST_IN_MEMORY + 1), saturating_len(u64::MAX)), (None, usize::MAX));
        // Whole words, and a header behind.
        assert!(MOST_IN_MEMORY.is_multiple_of(8) && MOST_IN_MEMORY + 64 < isize::MAX as u64);
    }
}
