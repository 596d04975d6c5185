//! The arrays that a session opened recently.

use std::sync::{Arc, Mutex, PoisonError};

use tdb_array::{Array, TimeRange};

use crate::opened::Opened;

/// Maximum number of arrays. Each holds metadata in memory, and some open files.
const MOST: usize = 32;

/// Recently opened arrays, by URI.
#[derive(Debug, Default)]
pub(crate) struct Recent(Mutex<Vec<Entry>>);

#[derive(Debug)]
struct Entry {
    uri: String,
    /// Requested time. `None` for the time of opening.
    time: Option<TimeRange>,
    array: Array,
    /// The same array, or an earlier snapshot, with its columns.
    opened: Option<Arc<Opened>>,
}

impl Recent {
    /// Returns the last snapshot of the array at a URI: of this time, or of another time, which
    /// still saves reads.
    pub(crate) fn array(&self, uri: &str, time: Option<TimeRange>) -> Option<Array> {
        self.with(|entries| {
            let mut same = entries.iter().filter(|entry| entry.uri == uri);
            let other = same.clone().next();
            same.find(|entry| entry.time == time).or(other).map(|entry| entry.array.clone())
        })
    }

    /// Returns the last table of the array at a URI that satisfies `is_such`.
    pub(crate) fn opened(&self, uri: &str, is_such: impl Fn(&Opened) -> bool) -> Option<Arc<Opened>> {
        self.with(|entries| {
            let mut opened = entries.iter().filter(|entry| entry.uri == uri).filter_map(|entry| entry.opened.clone());
            opened.find(|opened| is_such(opened))
        })
    }

    /// Adds an array. Evicts the least recently used one.
    pub(crate) fn keep_array(&self, uri: &str, time: Option<TimeRange>, array: &Array) {
        self.with(|entries| {
            let known = entries.iter().position(|entry| entry.uri == uri && entry.time == time);
            let opened = known.and_then(|place| entries.remove(place).opened);
            entries.truncate(MOST - 1);
            entries.insert(0, Entry { uri: uri.to_owned(), time, array: array.clone(), opened });
        });
    }

    /// Adds the table of a kept array.
    pub(crate) fn keep_opened(&self, opened: &Arc<Opened>) {
        self.with(|entries| {
            let is_it = |entry: &&mut Entry| entry.uri == opened.uri && entry.time == opened.options.time;
            if let Some(entry) = entries.iter_mut().find(is_it) {
                entry.opened = Some(opened.clone());
            }
        });
    }

    /// Removes all snapshots of the array at a URI.
    pub(crate) fn forget(&self, uri: &str) {
        self.with(|entries| entries.retain(|entry| entry.uri != uri));
    }

    fn with<T>(&self, work: impl FnOnce(&mut Vec<Entry>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
