//! How a store is asked.

use std::time::Duration;

use tdb_storage::ReadProfile;

/// How a store is asked, and how long it may take.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoreOptions {
    /// Which reads are joined and split, and how many requests wait at once.
    pub profile: ReadProfile,
    /// A file of at least so many bytes is written in parts of that size, several at once. Stores want 5 MiB or more.
    pub part: usize,
    /// How many parts are on their way at once, of all files together that are being written to a bucket. Beside these, each such file
    /// holds up to a part that isn't full yet: writing `n` files holds `parts_in_flight + n` parts at most.
    pub parts_in_flight: usize,
    /// Most bytes of the answers that make up a listing of a folder: a store whose listing has more, or no end, is not believed. Each name takes
    /// some 300 of them. It counts for stores whose connections are made by a [`Connector`](crate::Connector), as those of
    /// [`open`](crate::open).
    pub listing: u64,
    /// How often a request is made again that a store was too busy for, or whose connection broke.
    pub retries: usize,
    /// How long a request and its repetitions may take together.
    pub patience: Duration,
    /// Whether a store that isn't known to heed the conditions of writes is [tried](crate::StoreProblem::IgnoresConditions) before
    /// anything is committed: one request more beside those of a fragment, two for what is a single file.
    pub try_conditions: bool,
    /// Bytes of schemas, footers and lists of commits that are kept in memory: files that never change. 0 keeps none.
    pub cache: u64,
    /// Whether files get a mark of their writer among their attributes, by which a write whose answer got lost is known again.
    /// [`open`](crate::open) has it so on S3, Google's and Azure's stores, which keep such attributes; others may refuse them.
    pub mark_writes: bool,
}

impl Default for StoreOptions {
    /// Reads less than 128 KiB apart are joined, larger ones than 8 MiB split, 256 at once; 16 MiB are kept. Parts of 8 MiB are written, 8 of them at once.
    fn default() -> Self {
        Self {
            profile: ReadProfile::new(128 << 10, 8 << 20, 256),
            part: 8 << 20,
            parts_in_flight: 8,
            listing: 512 << 20,
            retries: 10,
            patience: Duration::from_secs(180),
            try_conditions: true,
            cache: 16 << 20,
            mark_writes: false,
        }
    }
}
