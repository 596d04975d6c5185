//! A store with counters for requests and round trips.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, stream};
use tdb_object_store::object_store::memory::InMemory;
use tdb_object_store::object_store::path::Path;
use tdb_object_store::object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, Result,
};

/// Delay of each response. Long enough that concurrent requests overlap.
const DELAY: Duration = Duration::from_millis(20);

/// An in-memory store with delays and counters.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    store: InMemory,
    seen: Arc<Mutex<Seen>>,
}

/// The recorded requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Method and path of each request.
    pub(crate) requests: Vec<String>,
    /// Length of the longest chain of requests, each started after the previous response.
    answered: usize,
}

impl Seen {
    pub(crate) fn round_trips(&self) -> usize {
        self.answered
    }
}

impl Counted {
    /// Returns the requests since the last call.
    pub(crate) fn take(&self) -> Seen {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }

    async fn wait(&self, what: &str, location: &Path) {
        wait(self.seen.clone(), format!("{what} {location}")).await;
    }
}

async fn wait(seen: Arc<Mutex<Seen>>, request: String) {
    let depth = {
        let mut seen = seen.lock().unwrap();
        seen.requests.push(request);
        seen.answered + 1
    };
    tokio::time::sleep(DELAY).await;
    let mut seen = seen.lock().unwrap();
    seen.answered = seen.answered.max(depth);
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "counted {}", self.store)
    }
}

#[async_trait::async_trait]
impl ObjectStore for Counted {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.wait("PUT", location).await;
        self.store.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.wait("POST", location).await;
        self.store.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.wait(if options.head { "HEAD" } else { "GET" }, location).await;
        self.store.get_opts(location, options).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.wait("GET", location).await;
        self.store.get_ranges(location, ranges).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let (seen, gone) = (self.seen.clone(), self.store.delete_stream(locations));
        stream::once(wait(seen, "DELETE".to_owned())).flat_map(|()| stream::empty()).chain(gone).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let (seen, listed) = (self.seen.clone(), self.store.list(prefix));
        let request = format!("LIST {}", prefix.cloned().unwrap_or_default());
        stream::once(wait(seen, request)).flat_map(|()| stream::empty()).chain(listed).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.wait("LIST", &prefix.cloned().unwrap_or_default()).await;
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.wait("COPY", from).await;
        self.store.copy_opts(from, to, options).await
    }
}
