//! Files written piece by piece.

use std::collections::{TryReserveError, VecDeque};
use std::fmt;
use std::sync::Arc;

use futures_util::join;
use object_store::path::Path;
use object_store::{
    Error as StoreError, MultipartUpload, ObjectStore, ObjectStoreExt, PutMultipartOptions, PutPayload,
};
use tdb_storage::{Result, StorageError, WriteFile};
use tokio::task::JoinHandle;

use crate::mark::Mark;
use crate::place::Place;
use crate::put::{attributes, put_new};
use crate::runtime::{leave, wait};

/// Writer of a file. Buffers small files in memory, and uploads larger ones in parts.
pub(crate) struct ObjectWriter {
    place: Arc<Place>,
    path: String,
    location: Path,
    /// Bytes received but not yet sent.
    bytes: Vec<u8>,
    parts: Option<Parts>,
    finished: bool,
}

/// A multipart upload.
struct Parts {
    upload: Box<dyn MultipartUpload>,
    mark: Mark,
    on_their_way: VecDeque<JoinHandle<Result<(), StoreError>>>,
}

impl fmt::Debug for ObjectWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectWriter").field("path", &self.place.describe(&self.path)).finish_non_exhaustive()
    }
}

impl ObjectWriter {
    pub(crate) fn new(place: Arc<Place>, path: String, location: Path) -> Self {
        Self { place, path, location, bytes: Vec::new(), parts: None, finished: false }
    }

    /// Waits for a request.
    fn ask<T: Send + 'static>(&self, job: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
        wait(job).map_err(|error| StorageError::from_io(self.place.describe(&self.path), error))?
    }

    /// Sends a part. Waits for earlier parts if too many are in flight.
    fn send(&mut self, part: Vec<u8>) -> Result<()> {
        let (place, path, location, parts) =
            (self.place.clone(), self.path.clone(), self.location.clone(), self.parts.take());
        let job = async move {
            let of = |error: StoreError| place.failed(&path, &error);
            let mut parts = match parts {
                Some(parts) => parts,
                None => {
                    let mark = Mark::new();
                    let attributes = attributes(&place, &mark);
                    let options = PutMultipartOptions { attributes, ..PutMultipartOptions::default() };
                    let upload = place.store.put_multipart_opts(&location, options).await.map_err(of)?;
                    Parts { upload, mark, on_their_way: VecDeque::new() }
                }
            };
            // Waits for parts of other files, which complete independently.
            let room = place.parts.clone().acquire_owned().await;
            let sent = parts.upload.put_part(PutPayload::from(part));
            parts.on_their_way.push_back(tokio::spawn(async move {
                let sent = sent.await;
                drop(room);
                sent
            }));
            // Reports failures early, and drops completed parts.
            while parts.on_their_way.front().is_some_and(JoinHandle::is_finished) {
                if let Err(error) = first(&mut parts).await {
                    give_up(&mut parts).await;
                    return Err(of(error));
                }
            }
            Ok(parts)
        };
        self.parts = Some(self.ask(job)?);
        Ok(())
    }
}

/// Cancels the parts in flight, and aborts the upload.
async fn give_up(parts: &mut Parts) {
    for part in &parts.on_their_way {
        part.abort();
    }
    while let Some(part) = parts.on_their_way.pop_front() {
        let _ = part.await;
    }
    // If this fails, the upload stays invisible, and stores remove it after some time.
    let _ = parts.upload.abort().await;
}

/// Waits for the oldest part in flight.
async fn first(parts: &mut Parts) -> Result<(), StoreError> {
    match parts.on_their_way.pop_front() {
        Some(part) => part.await?,
        None => Ok(()),
    }
}

async fn all_sent(parts: &mut Parts) -> Result<(), StoreError> {
    while !parts.on_their_way.is_empty() {
        first(parts).await?;
    }
    Ok(())
}

/// Completes an upload, unless the name exists meanwhile. Stores have no condition for this
/// request.
async fn complete(place: &Place, path: &str, location: &Path, mut parts: Parts) -> Result<()> {
    let of = |error: StoreError| place.failed(path, &error);
    let (sent, found) = join!(all_sent(&mut parts), place.store.head(location));
    let refused = match (sent, found) {
        (Err(error), _) => Some(of(error)),
        (Ok(()), Err(StoreError::NotFound { .. })) => None,
        (Ok(()), Err(error)) => Some(of(error)),
        (Ok(()), Ok(_)) => Some(StorageError::AlreadyExists { path: place.describe(path) }),
    };
    if let Some(error) = refused {
        give_up(&mut parts).await;
        return Err(error);
    }
    let Err(error) = parts.upload.complete().await else { return Ok(()) };
    // After a lost response, a retry finds no upload. The mark of the file then shows whether the
    // upload was completed.
    if place.options.mark_writes && parts.mark.is_on(&*place.store, location).await.unwrap_or(false) {
        return Ok(());
    }
    let _ = parts.upload.abort().await;
    Err(of(error))
}

/// Reserves memory for more bytes, up to the size of a part.
fn room(bytes: &mut Vec<u8>, more: usize, part: usize) -> std::result::Result<(), TryReserveError> {
    match bytes.capacity().saturating_mul(2) >= part {
        true => bytes.try_reserve_exact(part - bytes.len()),
        false => bytes.try_reserve(more),
    }
}

impl WriteFile for ObjectWriter {
    fn append(&mut self, mut bytes: &[u8]) -> Result<()> {
        let part = self.place.options.part.max(1);
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(part - self.bytes.len()));
            if room(&mut self.bytes, now.len(), part).is_err() {
                return Err(StorageError::TooLarge { path: self.place.describe(&self.path), size: part as u64 });
            }
            self.bytes.extend_from_slice(now);
            bytes = later;
            if self.bytes.len() == part {
                let full = std::mem::take(&mut self.bytes);
                self.send(full)?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.finished = true;
        let rest = std::mem::take(&mut self.bytes);
        let (place, path, location) = (self.place.clone(), self.path.clone(), self.location.clone());
        if self.parts.is_none() {
            return self.ask(async move { put_new(&place, &path, &location, rest.into()).await });
        }
        if !rest.is_empty() {
            self.send(rest)?;
        }
        match self.parts.take() {
            Some(parts) => self.ask(async move { complete(&place, &path, &location, parts).await }),
            None => Ok(()),
        }
    }
}

impl Drop for ObjectWriter {
    fn drop(&mut self) {
        let Some(mut parts) = self.parts.take().filter(|_| !self.finished) else { return };
        leave(async move { give_up(&mut parts).await });
    }
}
