//! Stores without credentials, where requests are unsigned.

use std::error::Error;
use std::fmt;

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error as StoreError, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// A store with unsigned requests. Marks errors, because the missing signature may be the cause:
/// see [`is_unsigned`].
#[derive(Debug)]
pub(crate) struct Unsigned<T>(pub(crate) T);

/// The possible cause of a refusal.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct NotSigned(#[source] Box<dyn Error + Send + Sync>);

/// `true` if the error is from a store with unsigned requests.
pub(crate) fn is_unsigned(error: &StoreError) -> bool {
    error.source().is_some_and(<dyn Error>::is::<NotSigned>)
}

fn marked(error: StoreError) -> StoreError {
    match error {
        StoreError::PermissionDenied { path, source } => {
            StoreError::PermissionDenied { path, source: Box::new(NotSigned(source)) }
        }
        StoreError::Unauthenticated { path, source } => {
            StoreError::Unauthenticated { path, source: Box::new(NotSigned(source)) }
        }
        // Refused listings have this form.
        StoreError::Generic { store, source } => StoreError::Generic { store, source: Box::new(NotSigned(source)) },
        other => other,
    }
}

impl<T: ObjectStore> fmt::Display for Unsigned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[async_trait]
impl<T: ObjectStore> ObjectStore for Unsigned<T> {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.0.put_opts(location, payload, options).await.map_err(marked)
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.0.put_multipart_opts(location, options).await.map_err(marked)
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.0.get_opts(location, options).await.map_err(marked)
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.0.delete_stream(locations).map(|gone| gone.map_err(marked)).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.0.list(prefix).map(|listed| listed.map_err(marked)).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.0.list_with_delimiter(prefix).await.map_err(marked)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.0.copy_opts(from, to, options).await.map_err(marked)
    }
}
