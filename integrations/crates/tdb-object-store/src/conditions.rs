//! Whether a store heeds the conditions of writes, and how that is found out at little cost.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use object_store::path::Path;

use crate::mark::Mark;

/// Whether a store heeds the conditions of writes.
#[derive(Debug)]
pub(crate) struct Conditions {
    /// Whether it has shown it.
    are_heeded: AtomicBool,
    /// A file that we have written, and that may be written once more to see whether the store refuses it.
    sample: Mutex<Option<Put>>,
    /// Whether a file was written twice at once.
    is_doubled: AtomicBool,
}

/// Larger files aren't sent twice where smaller ones may come.
const DOUBLED: usize = 256 << 10;

/// What a store did when a file was written that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// It refused.
    Heeds,
    /// It wrote it again.
    Ignores,
    /// There was another error, which tells nothing.
    Nothing,
}

/// A file that is written in one request, where nothing may have the name.
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

    /// Remembers what a store has shown; nothing needs to be written once more if it heeds conditions.
    pub(crate) fn learn(&self, shown: Shown) {
        if shown == Shown::Heeds {
            self.are_heeded.store(true, Ordering::Relaxed);
            *self.sample() = None;
        }
    }

    /// Whether a file of so many bytes may be written twice at once to see whether the store refuses one: one file, and no large one.
    pub(crate) fn may_double(&self, bytes: usize) -> bool {
        bytes <= DOUBLED && !self.are_heeded() && !self.is_doubled.swap(true, Ordering::Relaxed)
    }

    /// Keeps a file to be written once more; of several the smallest.
    pub(crate) fn keep(&self, put: Put) {
        let mut sample = self.sample();
        if !self.are_heeded() && sample.as_ref().is_none_or(|kept| put.bytes.len() < kept.bytes.len()) {
            *sample = Some(put);
        }
    }

    /// The file that was kept: nobody else writes it meanwhile.
    pub(crate) fn take(&self) -> Option<Put> {
        self.sample().take()
    }

    fn sample(&self) -> MutexGuard<'_, Option<Put>> {
        self.sample.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
