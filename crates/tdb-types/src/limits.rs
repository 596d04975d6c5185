//! How much a file may make a reader allocate.

/// Upper bounds on what the bytes of a file may make a reader allocate, beyond a small multiple of the bytes themselves.
///
/// The defaults are generous enough for every array that the reference library writes with its own defaults. Lower
/// them to read files from strangers on a small machine, raise them for unusually large tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Most bytes of one unfiltered tile of cells. Default: 4 GiB.
    pub tile_bytes: u64,
    /// Most bytes of one unfiltered generic tile (schema, section of fragment metadata, …). Default: 1 GiB.
    pub generic_tile_bytes: u64,
    /// Most bytes of the files of an array together that speak of commits: of those gathered, ignored and replaced.
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

    /// The same limits with another bound on the files that speak of commits, in bytes.
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

impl Default for Limits {
    fn default() -> Self {
        Self {
            tile_bytes: 4 << 30,
            generic_tile_bytes: 1 << 30,
            commit_bytes: 128 << 20,
            depth: 64,
            condition_nodes: 1 << 16,
        }
    }
}
