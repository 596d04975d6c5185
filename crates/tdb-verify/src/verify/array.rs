//! Verification of one array: schemas, commits, metadata and fragments.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tdb_array::{Array, ArrayError, Damaged, ErrorCategory, Fragment, Monitor, TimeRange};
use tdb_schema::Enumeration;
use tdb_storage::{EntryKind, Storage};
use tdb_types::Datatype;
use tdb_types::names::{LABELS_FOLDER, METADATA_FOLDER};

use super::Verify;
use super::finding::{Finding, FindingKind, kept, unreadable};
use super::fragment::check_fragment;
use super::lists::{check_lists, unread};
use super::manifest::check_manifest;
use super::report::VerifyReport;
use super::rounds::settled;
use super::unfinished::{check_commits, check_journals};
use tdb_job::Result;
use tdb_job::{Target, list};

/// Reports of sound fragments by folder. They stay valid, because fragments never change.
type Sound = HashMap<String, VerifyReport>;

impl Verify {
    /// Verifies an array. `is_root` is `true` if the array is at the path that the caller gave.
    pub(super) fn check_array(
        &self,
        storage: &Arc<dyn Storage>,
        is_root: bool,
        report: &mut VerifyReport,
    ) -> Result<()> {
        let mut sound = Sound::new();
        report.absorb(settled(&**storage, || self.look_at_array(storage, is_root, &mut sound))?);
        check_manifest(&**storage, report);
        self.check_labels(storage, report)
    }

    /// Verifies the current state of an array.
    fn look_at_array(&self, storage: &Arc<dyn Storage>, is_root: bool, sound: &mut Sound) -> Result<VerifyReport> {
        let mut report = VerifyReport { arrays: 1, ..VerifyReport::default() };
        let options = self.array.clone().between(TimeRange::ALL).skip_damaged(true);
        let array = match options.open_on(storage.clone()) {
            Ok(array) => array,
            // Verification is impossible without the key.
            Err(error) if is_root && error.category() == ErrorCategory::Key => return Err(error.into()),
            Err(error) => {
                report.push(unreadable(&storage.describe(""), &error));
                return Ok(report);
            }
        };
        let mut found = Vec::new();
        check_schemas(&array, &mut found);
        check_rest(&array, &mut found);
        report.take(found, &storage.describe(""));
        self.check_fragments(&array, sound, &mut report)?;
        report.count(array.counters());
        Ok(report)
    }

    fn check_fragments(&self, array: &Array, sound: &mut Sound, report: &mut VerifyReport) -> Result<()> {
        let mut tell = |error: ArrayError| report.push_new(unreadable(&array.storage().describe(""), &error));
        let fragments = kept(array.fragments())?.map_err(&mut tell).unwrap_or_default();
        let (replaced, damaged) = kept(array.superseded_fragments())?.map_err(tell).unwrap_or_default();
        let mut found: Vec<Finding> =
            array.damaged().into_iter().chain(&damaged).map(|damaged| lost(array, damaged)).collect();
        // An unreadable list causes the same error for visible and for superseded fragments.
        found.dedup();
        report.take(found, &array.storage().describe(""));
        let monitor = self.monitor.as_ref().map_or_else(Monitor::only_cancelling, Monitor::clone);
        let workers = array.tile_workers(&monitor);
        let all = || fragments.iter().chain(&replaced);
        let is_unseen = |fragment: &&Fragment| !sound.contains_key(fragment.folder());
        all().filter(is_unseen).for_each(|fragment| workers.plan(fragment));
        for fragment in all() {
            if let Some(known) = sound.get(fragment.folder()) {
                report.absorb(known.clone());
                continue;
            }
            let mut own = VerifyReport::default();
            check_fragment(array, fragment, &workers, &mut own)?;
            if own.is_sound() {
                sound.insert(fragment.folder().to_owned(), own.clone());
            }
            report.absorb(own);
        }
        workers.finish();
        Ok(())
    }

    /// Verifies the arrays of dimension labels inside of an array.
    fn check_labels(&self, storage: &Arc<dyn Storage>, report: &mut VerifyReport) -> Result<()> {
        let entries = list(&**storage, LABELS_FOLDER);
        let entries = entries.inspect_err(|error| report.push(unreadable(&storage.describe(LABELS_FOLDER), error)));
        let Ok(entries) = entries else { return Ok(()) };
        for entry in entries.iter().filter(|entry| entry.kind == EntryKind::Folder) {
            match storage.sub(&format!("{LABELS_FOLDER}/{}", entry.name)) {
                Ok(label) => self.check_array(&label, false, report)?,
                Err(error) => report.push(unreadable(&storage.describe(LABELS_FOLDER), &error)),
            }
        }
        Ok(())
    }
}

/// Reports damaged data that the array left out when it was opened.
fn lost(array: &Array, damaged: &Damaged) -> Finding {
    unreadable(&array.storage().describe(&damaged.path), &damaged.error)
}

/// Checks that the values of an enumeration consist of whole elements of the datatype, and that
/// booleans are 0 or 1.
fn check_values(file: &str, enumeration: &Enumeration) -> Option<Finding> {
    let wrong = |what| Some(Finding::wrong(FindingKind::Counts, file, what));
    let is_boolean = |value: &[u8]| value.iter().all(|byte| *byte <= 1);
    if enumeration.datatype() == Datatype::Bool
        && let Some((position, value)) = enumeration.values().enumerate().find(|(_, value)| !is_boolean(value))
    {
        let name = enumeration.name();
        return wrong(format!("value {position} of bool enumeration {name:?}: expected 0 or 1, found bytes {value:?}"));
    }
    let position = enumeration.uneven_value()?;
    let what = format!(
        "value {position} of enumeration {:?} has {} bytes, expected a multiple of {} bytes of {}",
        enumeration.name(),
        enumeration.value(position).map_or(0, <[u8]>::len),
        enumeration.datatype().size(),
        enumeration.datatype()
    );
    wrong(what)
}

/// Checks all schemas with their enumerations and labels.
fn check_schemas(array: &Array, found: &mut Vec<Finding>) {
    let mut enumerations = HashSet::new();
    for path in array.schema_paths() {
        let file = array.storage().describe(path);
        let schema = array.schema_at(path).inspect_err(|error| found.push(unreadable(&file, error)));
        let Ok(schema) = schema else { continue };
        for reference in schema.enumerations() {
            if !enumerations.insert(reference.file_name.clone()) {
                continue;
            }
            match array.read_enumeration(reference) {
                Ok(enumeration) if enumeration.name() != reference.name => {
                    let what = format!(
                        "the schema refers to enumeration {:?}, but its file contains enumeration {:?}",
                        reference.name,
                        enumeration.name()
                    );
                    found.push(Finding::wrong(FindingKind::Copies, file.as_str(), what));
                }
                Ok(enumeration) => found.extend(check_values(&file, &enumeration)),
                Err(error) => found.push(unreadable(&file, &error)),
            }
        }
        for label in schema.labels().iter().filter(|label| label.relative) {
            let there = array.storage().exists(&label.uri);
            if !matches!(there, Ok(true)) {
                let what =
                    format!("the array of dimension label {:?} is missing: expected at {}", label.name, label.uri);
                found.push(Finding::wrong(FindingKind::Unreadable, file.as_str(), what));
            }
        }
    }
}

/// Checks delete commits, metadata, journals, lists of files, and leftovers of interrupted writes.
fn check_rest(array: &Array, found: &mut Vec<Finding>) {
    found.extend(array.damaged_deletes().iter().map(|damaged| lost(array, damaged)));
    if let Err(error) = array.metadata() {
        found.push(unreadable(&array.storage().describe(METADATA_FOLDER), &error));
    }
    check_commits(array, found);
    check_journals(array, found);
    check_lists(&Target::Array(array.clone()), found);
    let leftovers = array.leftovers().unwrap_or_else(|error| {
        unread(&array.storage().describe(""), &error.into(), found);
        Vec::new()
    });
    // Damaged fragments are reported elsewhere.
    for leftover in leftovers.iter().filter(|leftover| leftover.kind == EntryKind::File) {
        let file = array.storage().describe(&leftover.path);
        found.push(Finding::note(FindingKind::Unused, file, leftover.what));
    }
}
