//! Pinned snapshots: the same contents in another process or at a later time.

use std::collections::{BTreeMap, HashSet};

use super::Snapshot;
use crate::{ArrayError, Fragment, FragmentEntry, Result};

/// The parts of an array that determine query results: schema, fragments and delete commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The path of the schema file below the array's folder.
    pub schema: String,
    /// The folders of fragments, in order of application.
    pub fragments: Vec<String>,
    /// The paths of delete commits.
    pub deletes: Vec<String>,
}

const NO_SCHEMA: &str = "the schema of the query part no longer exists; split the query again";
const NO_FRAGMENT: &str =
    "a fragment of the query part no longer exists, possibly because of a vacuum; split the query again";
const NO_DELETE: &str = "a delete commit of the query part no longer exists; split the query again";

impl Snapshot {
    /// Returns the pin of this snapshot. Includes only fragments accepted by `matters`.
    ///
    /// # Errors
    /// The same as [`fragments`](Self::fragments).
    pub fn pin(&self, matters: impl Fn(&Fragment) -> bool) -> Result<Pin> {
        let fragments = self.fragments()?.iter().filter(|fragment| matters(fragment));
        Ok(Pin {
            schema: self.schema_path().to_owned(),
            fragments: fragments.map(|fragment| fragment.folder().to_owned()).collect(),
            deletes: self.directory().deletes.clone(),
        })
    }

    /// Returns the array with the schema of a pin.
    ///
    /// # Errors
    /// [`ArrayError::Outdated`] if the schema no longer exists. Another error if the schema cannot
    /// be read.
    pub fn by_schema_of(&self, pin: &Pin) -> Result<Self> {
        if self.schema_path() == pin.schema {
            return Ok(self.clone());
        }
        if !self.schema_paths().contains(&pin.schema) {
            return Err(self.gone(NO_SCHEMA));
        }
        self.by_schema(&pin.schema)
    }

    /// Returns the array with the contents of a pin. If all further fragments of the array are
    /// irrelevant according to `matters`, returns the array itself, so that nothing is loaded
    /// again.
    ///
    /// # Errors
    /// [`ArrayError::Outdated`] if fragments or delete commits no longer exist. Another error if
    /// footers cannot be read.
    pub fn pinned(&self, pin: &Pin, matters: impl Fn(&Fragment) -> bool) -> Result<Self> {
        let directory = self.directory();
        let known: HashSet<&str> = pin.fragments.iter().map(String::as_str).collect();
        let of_snapshot = directory.fragments.iter().filter(|entry| known.contains(entry.folder.as_str()));
        let all_count = of_snapshot.map(|entry| entry.folder.as_str()).eq(pin.fragments.iter().map(String::as_str));
        if all_count && directory.deletes == pin.deletes {
            let is_new = |fragment: &&Fragment| !known.contains(fragment.folder());
            if !self.fragments()?.iter().filter(is_new).any(&matters) {
                return Ok(self.clone());
            }
        }
        if !pin.deletes.iter().all(|path| directory.deletes.contains(path)) {
            return Err(self.gone(NO_DELETE));
        }
        let all = directory.fragments.iter().chain(&directory.replaced);
        let all: BTreeMap<&str, &FragmentEntry> = all.map(|entry| (entry.folder.as_str(), entry)).collect();
        let entries = pin.fragments.iter().map(|folder| all.get(folder.as_str()).map(|entry| (*entry).clone()));
        let entries = entries.collect::<Option<Vec<_>>>().ok_or_else(|| self.gone(NO_FRAGMENT))?;
        Ok(self.restricted_to(entries).with_deletes_alone(&pin.deletes))
    }

    fn gone(&self, why: &'static str) -> ArrayError {
        ArrayError::Outdated { path: self.storage().describe(""), why }
    }
}
