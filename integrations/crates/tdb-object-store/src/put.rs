//! Files that are written in one request. Nothing is overwritten: the store is asked to refuse where something has the name.
//!
//! A store that isn't known to do so is tried: what was just written is written once more, with the same bytes and the same condition.
//! A store that heeds it refuses; one that doesn't has written the same bytes again, which harms nobody.

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
use crate::error::{StoreProblem, is_in_doubt, of_store};
use crate::mark::Mark;
use crate::pause::pause;
use crate::place::Place;

/// Puts a file there, in one request.
///
/// Files of a fragment that isn't committed yet have names that nobody else chooses, and nobody sees them: they are written without more
/// ado. The store is tried with one of them, which is written twice at once, or else, where that tells nothing, once more beside the next file. So that takes a
/// request more, and nobody waits for it. Before any other file is written the store has to have shown that it heeds conditions.
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

/// Whether a file is one of a fragment that another file will commit: from format 5 on. Such fragments have their format in their
/// folders' names.
fn is_uncommitted(location: &Path) -> bool {
    /// The first format with files that commit.
    const COMMITTED_APART: u32 = 5;
    let folder = location.as_ref().rsplit('/').nth(1).and_then(TimestampedName::parse);
    folder.is_some_and(|name| matches!(name.form(), NameForm::Versioned(version) if version >= COMMITTED_APART))
}

impl Put {
    /// Makes the request twice, if nothing has the name: the store has to refuse the second one.
    async fn trying(&self, place: &Place, path: &str) -> Result<()> {
        match place.store.head(&self.location).await {
            Ok(_) => return Err(StorageError::AlreadyExists { path: place.describe(path) }),
            Err(StoreError::NotFound { .. }) => {}
            Err(error) => return Err(of_store(place.describe(path), &error)),
        }
        self.surely(place, path).await?;
        let shown = shown(&self.once(place).await);
        place.conditions.learn(shown);
        match shown {
            Shown::Ignores => Err(self.refuse(place, path, true).await),
            // Where nothing was shown, the next file will be tried with: this one is there.
            Shown::Heeds | Shown::Nothing => Ok(()),
        }
    }

    /// Makes the request twice at once: a store that heeds conditions refuses one of the two. Some look for the file before they write it, and do
    /// both where requests meet: that nothing was refused says nothing yet.
    async fn doubled(&self, place: &Place, path: &str) -> Result<Shown> {
        match join!(self.once(place), self.once(place)) {
            (Ok(_), other) | (other, Ok(_)) => Ok(match shown(&other) {
                Shown::Heeds => Shown::Heeds,
                Shown::Ignores | Shown::Nothing => Shown::Nothing,
            }),
            _ => self.surely(place, path).await.map(|()| Shown::Nothing),
        }
    }

    /// Writes what was written before once more.
    async fn again(&self, place: &Place) -> Shown {
        match shown(&self.once(place).await) {
            // Somebody may have removed the file meanwhile; now it is there again.
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

    /// That the store ignores conditions. The file goes again if it was written: nothing had its name before.
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

    /// Also where an answer gets lost: the write may have been done then, and its repetition is refused. Whose file has the name
    /// tells which it was.
    async fn surely(&self, place: &Place, path: &str) -> Result<()> {
        let Place { store, options, .. } = place;
        let begun = Instant::now();
        for repetition in 0.. {
            let Err(error) = self.once(place).await else { return Ok(()) };
            let problem = of_store(place.describe(path), &error);
            if !options.mark_writes || !is_in_doubt(&error) {
                return Err(problem);
            }
            match self.mark.is_on(&**store, &self.location).await {
                Ok(true) => return Ok(()),
                Ok(false) => return Err(StorageError::AlreadyExists { path: place.describe(path) }),
                Err(StoreError::NotFound { .. }) => {}
                Err(_) => return Err(problem),
            }
            // It wasn't done. What was too busy has been asked often enough.
            let is_busy = matches!(StoreProblem::of(&problem), Some(StoreProblem::Busy { .. }));
            if is_busy || repetition >= options.retries || begun.elapsed() > options.patience {
                return Err(problem);
            }
            pause(repetition).await;
        }
        Ok(())
    }
}

/// What the answer shows to a file that is there already.
fn shown(answer: &Result<PutResult, StoreError>) -> Shown {
    match answer {
        Ok(_) => Shown::Ignores,
        Err(StoreError::AlreadyExists { .. } | StoreError::Precondition { .. }) => Shown::Heeds,
        Err(_) => Shown::Nothing,
    }
}

/// The attributes of a file, if the store keeps any.
pub(crate) fn attributes(place: &Place, mark: &Mark) -> Attributes {
    if place.options.mark_writes { mark.attributes() } else { Attributes::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_fragments_are_not_committed_by_themselves() {
        let name = "__1607022667427_1607022667427_1c7b2f2f4a2d4d9f8c0b1a2d3e4f5061";
        let is = |path: String| is_uncommitted(&Path::parse(path).unwrap());
        for path in [format!("a/__fragments/{name}_22/a0.tdb"), format!("{name}_5/__fragment_metadata.tdb")] {
            assert!(is(path.clone()), "{path}");
        }
        // The others count as soon as they are there: before format 5 that of the metadata commits.
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
