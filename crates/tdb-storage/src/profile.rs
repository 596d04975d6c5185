//! Read costs of storages.

/// The preferred read pattern of a storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadProfile {
    /// Maximum gap, in bytes, between ranges that are better read as one (see
    /// [`coalesce`](crate::coalesce)).
    pub gap: u64,
    /// Preferred maximum size of one request, in bytes. A larger range arrives sooner as several
    /// requests.
    pub largest: u64,
    /// Maximum number of requests in flight. A value of 1, as for local files, states that latency
    /// is negligible, and no bytes are read ahead.
    pub in_flight: usize,
    /// `true` if requests never wait: they return the bytes or an error at once. Reading ahead then
    /// runs on the caller's thread, so the storage knows all requests of a read when the read
    /// returns.
    pub is_immediate: bool,
}

impl ReadProfile {
    /// The profile of local files: a read costs about as much as copying 16 KiB from the page
    /// cache.
    pub const LOCAL: Self = Self { gap: 16 << 10, largest: 16 << 20, in_flight: 1, is_immediate: false };

    /// Creates a profile of requests that wait.
    #[must_use]
    pub const fn new(gap: u64, largest: u64, in_flight: usize) -> Self {
        Self { gap, largest, in_flight, is_immediate: false }
    }

    /// Returns the same profile for requests that never wait.
    #[must_use]
    pub const fn immediate(self) -> Self {
        Self { is_immediate: true, ..self }
    }

    /// Returns `true` if latency is high enough for reading ahead.
    #[must_use]
    pub const fn is_remote(&self) -> bool {
        self.in_flight > 1
    }
}
