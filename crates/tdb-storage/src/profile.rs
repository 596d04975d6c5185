//! How storages differ in what a read costs.

/// How a storage likes to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadProfile {
    /// Ranges of a file that lie at most so many bytes apart are better read as one, gap included (see
    /// [`coalesce`](crate::coalesce)).
    pub gap: u64,
    /// Most bytes of one request, where many bytes are wanted: a larger range arrives sooner as several requests.
    pub largest: u64,
    /// How many requests may wait for their answers at once. With 1 there is no waiting worth the name, as with local files:
    /// then nothing is read ahead.
    pub in_flight: usize,
}

impl ReadProfile {
    /// Of local files: a read costs about as much as copying 16 KiB out of the page cache.
    pub const LOCAL: Self = Self { gap: 16 << 10, largest: 16 << 20, in_flight: 1 };

    /// A profile.
    #[must_use]
    pub const fn new(gap: u64, largest: u64, in_flight: usize) -> Self {
        Self { gap, largest, in_flight }
    }

    /// Whether answers take so long that it is worth to ask for bytes before they are needed.
    #[must_use]
    pub const fn is_remote(&self) -> bool {
        self.in_flight > 1
    }
}
