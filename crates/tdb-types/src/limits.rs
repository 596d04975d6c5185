//! Bounds on the memory and work that a file can demand of a reader.

/// Upper bounds on the memory and work that a file can demand of a reader. The reader may also
/// allocate a small multiple of the file's own size.
///
/// The defaults admit every array that the reference library writes with its default settings.
/// Lower them to read untrusted files on a small machine. Raise them for unusually large tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum size of one unfiltered tile of cells, in bytes. Default: 4 GiB, or the largest
    /// allocation on 32-bit targets.
    pub tile_bytes: u64,
    /// Maximum size of one unfiltered generic tile (schema, section of fragment metadata), in
    /// bytes. Default: 1 GiB.
    pub generic_tile_bytes: u64,
    /// Maximum total size of an array's consolidated commits, ignore and vacuum files, in bytes.
    /// Default: 128 MiB, about a million commits.
    pub commit_bytes: u64,
    /// Maximum nesting depth of conditions. Default: 64.
    pub depth: u32,
    /// Maximum number of comparisons and combinations in one condition, each evaluated for every
    /// cell. Default: 65,536. All delete conditions of an array together may have up to 16 times
    /// this number.
    pub condition_nodes: u32,
}

impl Limits {
    /// Small limits for fuzzing and untrusted files, such as 16 MiB per tile and 4 MiB per generic
    /// tile.
    pub const SMALL: Self = Self {
        tile_bytes: 16 << 20,
        generic_tile_bytes: 4 << 20,
        commit_bytes: 1 << 20,
        depth: 16,
        condition_nodes: 1 << 10,
    };

    /// Sets the maximum size of one unfiltered tile, in bytes.
    #[must_use]
    pub const fn with_tile_bytes(mut self, bytes: u64) -> Self {
        self.tile_bytes = bytes;
        self
    }

    /// Sets the maximum size of one unfiltered generic tile, in bytes.
    #[must_use]
    pub const fn with_generic_tile_bytes(mut self, bytes: u64) -> Self {
        self.generic_tile_bytes = bytes;
        self
    }

    /// Sets the maximum total size of consolidated commits, ignore and vacuum files, in bytes.
    #[must_use]
    pub const fn with_commit_bytes(mut self, bytes: u64) -> Self {
        self.commit_bytes = bytes;
        self
    }

    /// Sets the maximum number of comparisons and combinations in one condition.
    #[must_use]
    pub const fn with_condition_nodes(mut self, nodes: u32) -> Self {
        self.condition_nodes = nodes;
        self
    }

    /// Lowers the limits in bytes to the largest possible allocation, which is 2 GiB minus 1 MiB on
    /// 32-bit targets.
    ///
    /// Every reader of files applies this function to its limits, so that each accepted size fits
    /// in `usize`.
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

/// The largest allocation, in bytes. It is slightly below `isize::MAX`, to leave room for bytes
/// appended to the data, such as the next header or the rest of a word.
const MOST_IN_MEMORY: u64 = (isize::MAX as u64) >> 20 << 20;

/// Converts a size in bytes to a length in memory. Returns `None` if the size exceeds the largest
/// allocation, which is about 2 GiB on 32-bit targets.
///
/// Files store sizes of up to 64 bits. Check a size against [`Limits`] and convert it with this
/// function before allocating.
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

/// Converts a number to `usize`, saturating at the maximum. Use the result for comparisons and
/// estimates only. To allocate memory, use [`memory_len`].
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

    /// The largest allocation on a 32-bit target.
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
        // A multiple of the word size, with room for a header.
        assert!(MOST_IN_MEMORY.is_multiple_of(8) && MOST_IN_MEMORY + 64 < isize::MAX as u64);
    }
}
