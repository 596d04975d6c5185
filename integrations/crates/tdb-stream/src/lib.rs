//! The batches of a query as an asynchronous [`Stream`](futures_core::Stream), for any runtime.
//!
//! ```
//! use futures_util::TryStreamExt;
//! use tdb_array::Array;
//! use tdb_stream::StreamBatches;
//!
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../fixtures/v22-by-2.30.0-sparse-2d/array");
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! let array = Array::open(folder)?;
//! let mut batches = array.read().range("y", -10..=-7)?.stream();
//! let mut cells = 0;
//! while let Some(batch) = batches.try_next().await? {
//!     cells += batch.len();
//! }
//! assert_eq!(cells, 9);
//! # Ok::<(), tdb_array::ArrayError>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each stream reads on a separate thread, because reading computes as much as it waits. The thread
//! blocks while the stream is full. Dropping the stream cancels the query, including pending
//! storage requests. If the query has a [monitor](tdb_array::Query::monitor), which other queries
//! may share, the thread instead ends after the batch in progress.
//!
//! Opening an array blocks. In a runtime, do it where blocking is allowed (`spawn_blocking` in
//! tokio).

mod stream;

pub use stream::{BatchStream, StreamBatches};
