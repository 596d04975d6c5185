//! Options for access to a store.

use std::time::Duration;

use tdb_storage::ReadProfile;

/// Options for access to a store.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoreOptions {
    /// Rules for merging and splitting reads, and the maximum number of concurrent requests.
    pub profile: ReadProfile,
    /// Size in bytes of the parts of large files. Files of at least this size are uploaded in
    /// several concurrent parts. Most stores require at least 5 MiB.
    pub part: usize,
    /// Maximum number of parts in flight, over all files being written to a bucket. Each file also
    /// buffers up to one incomplete part. Writing `n` files therefore holds at most
    /// `parts_in_flight + n` parts in memory.
    pub parts_in_flight: usize,
    /// Maximum size in bytes of the responses of a folder listing. Longer listings are errors. A
    /// name takes about 300 bytes. Applies to stores with a [`Connector`](crate::Connector), for
    /// example from [`open`](crate::open).
    pub listing: u64,
    /// Maximum number of retries when the store is overloaded or the connection breaks.
    pub retries: usize,
    /// Time since the first attempt after which a request is not retried.
    pub patience: Duration,
    /// `true` to [test](crate::StoreProblem::IgnoresConditions) before the first commit if the
    /// store honors write conditions, unless known. Costs one extra request for a fragment, and two
    /// for a single file.
    pub try_conditions: bool,
    /// Cache capacity in bytes for immutable files: schemas, footers and consolidated commits. 0
    /// disables the cache.
    pub cache: u64,
    /// `true` to store the writer in an attribute of each file. After a lost response, the
    /// attribute proves a successful write. [`open`](crate::open) enables marks for S3, Google and
    /// Azure. Other stores may reject attributes.
    pub mark_writes: bool,
    /// `true` if requests are unsigned, which may be the cause of a refusal.
    pub(crate) unsigned: bool,
}

impl Default for StoreOptions {
    /// Merges reads less than 128 KiB apart, splits reads above 8 MiB, and sends up to 256 requests
    /// at once. Caches 16 MiB. Writes parts of 8 MiB, up to 8 at once.
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
            unsigned: false,
        }
    }
}
