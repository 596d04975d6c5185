//! Detects at little cost if a store honors write conditions.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use object_store::path::Path;

use crate::mark::Mark;

/// Knowledge about the write conditions of a store.
#[derive(Debug)]
pub(crate) struct Conditions {
    /// `true` after the store has honored a condition.
    are_heeded: AtomicBool,
    /// A written file, kept for a second write as a trial.
    sample: Mutex<Option<Put>>,
    /// `true` if a file was already written twice at once.
    is_doubled: AtomicBool,
}

/// Maximum size in bytes of a file that is sent twice. A smaller file may follow.
const DOUBLED: usize = 256 << 10;

/// Behavior of a store when a file is written twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The store refused the second write.
    Heeds,
    /// The store accepted the second write.
    Ignores,
    /// Another error, so the behavior is unknown.
    Nothing,
}

/// A new file, written in one request.
#[derive(Debug)]
pub(crate) struct Put {
    pub(crate) location: Path,
    pub(crate) bytes: Bytes,
    pub(crate) mark: Mark,
}

impl Conditions {
    pub(crate) fn new(are_heeded: bool) -> Self {
        Self { are_heeded: AtomicBool::new(are_heeded), sample: Mutex::default(), is_doubled: AtomicBool::new(false) }
    }

    pub(crate) fn are_heeded(&self) -> bool {
        self.are_heeded.load(Ordering::Relaxed)
    }

    /// Records the behavior of the store. Drops the kept file if the store honors conditions.
    pub(crate) fn learn(&self, shown: Shown) {
        if shown == Shown::Heeds {
            self.are_heeded.store(true, Ordering::Relaxed);
            *self.sample() = None;
        }
    }

    /// Returns `true` if a file of this size may be written twice at once as a trial. Permits one
    /// small file.
    pub(crate) fn may_double(&self, bytes: usize) -> bool {
        bytes <= DOUBLED && !self.are_heeded() && !self.is_doubled.swap(true, Ordering::Relaxed)
    }

    /// Keeps a file for a trial, unless a smaller file is already kept.
    pub(crate) fn keep(&self, put: Put) {
        let mut sample = self.sample();
        if !self.are_heeded() && sample.as_ref().is_none_or(|kept| put.bytes.len() < kept.bytes.len()) {
            *sample = Some(put);
        }
    }

    /// Takes the kept file. Only one caller gets the file.
    pub(crate) fn take(&self) -> Option<Put> {
        self.sample().take()
    }

    fn sample(&self) -> MutexGuard<'_, Option<Put>> {
        self.sample.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
