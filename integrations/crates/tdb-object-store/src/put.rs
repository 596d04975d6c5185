//! Files written in one request. Never overwrites: the store has to refuse existing names.
//!
//! If the behavior of the store is unknown, the file is written a second time with the same bytes
//! and the same condition. A store with conditions refuses. A store without conditions writes the
//! same bytes again, to no harm.

use std::time::Instant;

use bytes::Bytes;
use futures_util::join;
use object_store::path::Path;
use object_store::{
    Attributes, Error as StoreError, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, PutResult,
};
use tdb_storage::{Result, StorageError};
use tdb_types::{NameForm, TimestampedName};

use crate::conditions::{Put, Shown};
use crate::error::{StoreProblem, is_in_doubt};
use crate::mark::Mark;
use crate::pause::pause;
use crate::place::Place;

/// Creates a file in one request.
///
/// Files of an uncommitted fragment have unique names and are ignored by readers. Their writes need
/// not wait for knowledge about the store, and the first file serves as the trial. The trial writes
/// the file twice at once. If the result is inconclusive, the trial repeats concurrently with the
/// next file. The trial costs an extra request but no waiting. Before any other file is written,
/// the store has to have honored a condition.
pub(crate) async fn put_new(place: &Place, path: &str, location: &Path, bytes: Bytes) -> Result<()> {
    let conditions = &*place.conditions;
    let put = Put { location: location.clone(), bytes, mark: Mark::new() };
    if conditions.are_heeded() {
        return put.surely(place, path).await;
    }
    match conditions.take() {
        Some(kept) if is_uncommitted(location) => {
            let (written, shown) = join!(put.surely(place, path), kept.again(place));
            conditions.learn(shown);
            match shown {
                Shown::Ignores => Err(put.refuse(place, path, written.is_ok()).await),
                Shown::Heeds => written,
                Shown::Nothing => written.map(|()| conditions.keep(put)),
            }
        }
        Some(kept) => match kept.again(place).await {
            Shown::Heeds => {
                conditions.learn(Shown::Heeds);
                put.surely(place, path).await
            }
            Shown::Ignores => Err(put.refuse(place, path, false).await),
            Shown::Nothing => put.trying(place, path).await,
        },
        None if is_uncommitted(location) => {
            match conditions.may_double(put.bytes.len()) {
                true => conditions.learn(put.doubled(place, path).await?),
                false => put.surely(place, path).await?,
            }
            conditions.keep(put);
            Ok(())
        }
        None => put.trying(place, path).await,
    }
}

/// Returns `true` for a file of a fragment with a separate commit file, which exists from format
/// version 5 on. The folder names of these fragments contain the version.
fn is_uncommitted(location: &Path) -> bool {
    /// First format version with commit files.
    const COMMITTED_APART: u32 = 5;
    let folder = location.as_ref().rsplit('/').nth(1).and_then(TimestampedName::parse);
    folder.is_some_and(|name| matches!(name.form(), NameForm::Versioned(version) if version >= COMMITTED_APART))
}

impl Put {
    /// Writes the file twice, unless it exists. The store has to refuse the second write.
    async fn trying(&self, place: &Place, path: &str) -> Result<()> {
        match place.store.head(&self.location).await {
            Ok(_) => return Err(StorageError::AlreadyExists { path: place.describe(path) }),
            Err(StoreError::NotFound { .. }) => {}
            Err(error) => return Err(place.failed(path, &error)),
        }
        self.surely(place, path).await?;
        let shown = shown(&self.once(place).await);
        place.conditions.learn(shown);
        match shown {
            Shown::Ignores => Err(self.refuse(place, path, true).await),
            // If the result is inconclusive, the next file is tried. This one is written.
            Shown::Heeds | Shown::Nothing => Ok(()),
        }
    }

    /// Writes the file twice at once. A store with conditions refuses one write. Two successes are
    /// inconclusive: some stores check for the file before writing, and accept both concurrent
    /// writes.
    async fn doubled(&self, place: &Place, path: &str) -> Result<Shown> {
        match join!(self.once(place), self.once(place)) {
            (Ok(_), other) | (other, Ok(_)) => Ok(match shown(&other) {
                Shown::Heeds => Shown::Heeds,
                Shown::Ignores | Shown::Nothing => Shown::Nothing,
            }),
            _ => self.surely(place, path).await.map(|()| Shown::Nothing),
        }
    }

    /// Writes an existing file again.
    async fn again(&self, place: &Place) -> Shown {
        match shown(&self.once(place).await) {
            // The file may have been removed meanwhile, and exists again now.
            Shown::Ignores => match shown(&self.once(place).await) {
                Shown::Heeds => {
                    let _ = place.store.delete(&self.location).await;
                    Shown::Heeds
                }
                other => other,
            },
            other => other,
        }
    }

    /// Returns the error for a store that ignores conditions. Deletes the file if it was written.
    /// The name was free before.
    async fn refuse(&self, place: &Place, path: &str, is_written: bool) -> StorageError {
        if is_written {
            let _ = place.store.delete(&self.location).await;
        }
        StoreProblem::IgnoresConditions.at(place.describe(path))
    }

    async fn once(&self, place: &Place) -> Result<PutResult, StoreError> {
        let options = PutOptions { attributes: attributes(place, &self.mark), ..PutMode::Create.into() };
        place.store.put_opts(&self.location, PutPayload::from_bytes(self.bytes.clone()), options).await
    }

    /// Writes the file, with retries after lost responses. After a successful first attempt, the
    /// store refuses the retry. The mark of the file then shows the writer.
    async fn surely(&self, place: &Place, path: &str) -> Result<()> {
        let Place { store, options, .. } = place;
        let begun = Instant::now();
        for repetition in 0.. {
            let Err(error) = self.once(place).await else { return Ok(()) };
            let problem = place.failed(path, &error);
            if !options.mark_writes || !is_in_doubt(&error) {
                return Err(problem);
            }
            match self.mark.is_on(&**store, &self.location).await {
                Ok(true) => return Ok(()),
                Ok(false) => return Err(StorageError::AlreadyExists { path: place.describe(path) }),
                Err(StoreError::NotFound { .. }) => {}
                Err(_) => return Err(problem),
            }
            // The write did not happen. `object_store` has already retried an overloaded store.
            let is_busy = matches!(StoreProblem::of(&problem), Some(StoreProblem::Busy { .. }));
            if is_busy || repetition >= options.retries || begun.elapsed() > options.patience {
                return Err(problem);
            }
            pause(repetition).await;
        }
        Ok(())
    }
}

/// Interprets the response to writing an existing file.
fn shown(answer: &Result<PutResult, StoreError>) -> Shown {
    match answer {
        Ok(_) => Shown::Ignores,
        Err(StoreError::AlreadyExists { .. } | StoreError::Precondition { .. }) => Shown::Heeds,
        Err(_) => Shown::Nothing,
    }
}

/// Returns the attributes of a new file. Empty if marks are disabled.
pub(crate) fn attributes(place: &Place, mark: &Mark) -> Attributes {
    if place.options.mark_writes { mark.attributes() } else { Attributes::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragment_files_are_uncommitted() {
        let name = "__1607022667427_1607022667427_1c7b2f2f4a2d4d9f8c0b1a2d3e4f5061";
        let is = |path: String| is_uncommitted(&Path::parse(path).unwrap());
        for path in [format!("a/__fragments/{name}_22/a0.tdb"), format!("{name}_5/__fragment_metadata.tdb")] {
            assert!(is(path.clone()), "{path}");
        }
        // The other files take effect at once. Before format version 5, the metadata file commits
        // the fragment.
        for path in [
            format!("a/__commits/{name}_22.wrt"),
            format!("{name}_5.ok"),
            format!("{name}_4/__fragment_metadata.tdb"),
            format!("{name}/__fragment_metadata.tdb"),
            format!("a/__schema/{name}"),
            format!("a/__meta/{name}"),
            "a".to_owned(),
        ] {
            assert!(!is(path.clone()), "{path}");
        }
    }
}
