//! Files for reading.

use std::sync::Arc;

use object_store::path::Path;
use tdb_storage::{ReadAt, ReadProfile, Result, StorageError};

use crate::place::Place;
use crate::range::read_range;
use crate::runtime::wait;

/// A file on a store. Has no open handle: each read is a request.
#[derive(Debug)]
pub(crate) struct ObjectFile {
    place: Arc<Place>,
    path: String,
    location: Path,
    size: u64,
}

impl ObjectFile {
    pub(crate) fn new(place: Arc<Place>, path: String, location: Path, size: u64) -> Self {
        Self { place, path, location, size }
    }
}

impl ReadAt for ObjectFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_into(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let need = buffer.len() as u64;
        let end = offset.checked_add(need).filter(|end| *end <= self.size);
        let Some(end) = end else {
            return Err(StorageError::UnexpectedEnd {
                path: self.place.describe(&self.path),
                offset,
                need,
                size: self.size,
            });
        };
        let (place, path, location, size) = (self.place.clone(), self.path.clone(), self.location.clone(), self.size);
        let read = async move { read_range(&place, &path, &location, offset..end, size).await };
        let bytes = wait(read).map_err(|error| StorageError::from_io(self.place.describe(&self.path), error))??;
        buffer.copy_from_slice(&bytes);
        Ok(())
    }

    fn profile(&self) -> ReadProfile {
        self.place.options.profile
    }
}
