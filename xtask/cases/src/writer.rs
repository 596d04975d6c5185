//! The writers of arrays: one release, or several releases in sequence.

use std::thread;
use std::time::Duration;

use tdb_reference::{Ability, Reference, Release, Result};

use super::case::{Case, KEY, Step};
use super::place;

/// Timeout of a job of the library. The jobs of a case take a few milliseconds. A job that does not
/// terminate takes a gigabyte of memory every few seconds.
const JOB_PATIENCE: Duration = Duration::from_secs(15);
/// Timeout of a job on a store, where each request goes to a server.
const JOB_PATIENCE_ON_STORE: Duration = Duration::from_secs(30);

/// Starts a release with a single thread, because cases run concurrently.
///
/// # Errors
/// Fails if the release cannot be downloaded.
pub fn start(library: &str) -> Result<Reference> {
    let mut reference = Reference::start(library)?;
    for setting in ["sm.compute_concurrency_level", "sm.io_concurrency_level"] {
        reference.config().insert(setting.to_owned(), "1".to_owned());
    }
    for (setting, value) in place::settings() {
        reference.config().insert((*setting).to_owned(), value.clone());
    }
    reference.patience(if place::is_on_store() { JOB_PATIENCE_ON_STORE } else { JOB_PATIENCE });
    Ok(reference)
}

/// The process of an older release, and the processes of newer releases that also write to the
/// arrays.
pub struct Writer {
    pub release: Release,
    pub reference: Reference,
    pub later_writers: Vec<(Release, Reference)>,
}

impl Writer {
    /// Returns all releases that write.
    pub fn releases(&self) -> Vec<Release> {
        let later_writers = self.later_writers.iter().map(|(release, _)| *release);
        std::iter::once(self.release).chain(later_writers).collect()
    }

    /// Returns all processes.
    pub fn sides(&mut self) -> impl Iterator<Item = &mut Reference> {
        std::iter::once(&mut self.reference).chain(self.later_writers.iter_mut().map(|(_, later)| later))
    }

    /// `true` if the later release has a folder for fragments before it writes. Releases 2.8 to
    /// 2.11 cannot consolidate into an array of formats 1 to 6, whose fragments are in another
    /// folder than the release's new fragments.
    fn has_folder(&self, later: Release) -> bool {
        let makes_it = later.can(Ability::Deletes) || !later.can(Ability::ConsolidatedCommits);
        self.release.can(Ability::Nullable) || makes_it
    }

    /// Creates the array and runs the first steps. The later writers run the other steps, in equal
    /// shares and in order.
    pub fn make(&mut self, case: &Case, uri: &str) -> Result<()> {
        self.reference.create(uri, &case.array)?;
        let (count, later_writers) = (case.steps.len(), self.later_writers.len());
        let mut is_begun = false;
        for (index, step) in case.steps.iter().enumerate() {
            let later = (index * (later_writers + 1) / count.max(1)).checked_sub(1);
            let can = |later: &usize| {
                is_begun || matches!(step, Step::Write(_)) || self.has_folder(self.later_writers[*later].0)
            };
            match later.filter(can) {
                None => carry_out(step, &mut self.reference, uri)?,
                Some(later) => {
                    carry_out(step, &mut self.later_writers[later].1, uri)?;
                    is_begun |= matches!(step, Step::Write(_));
                }
            }
        }
        Ok(())
    }
}

/// Enables or disables encryption of all further arrays.
pub fn set_key(side: &mut Reference, encrypted: bool) {
    use_key(side, encrypted.then_some(KEY));
}

/// Encrypts all further arrays with a key, or none.
pub fn use_key(side: &mut Reference, key: Option<&[u8]>) {
    let settings = [
        ("sm.encryption_type", "AES_256_GCM".into()),
        ("sm.encryption_key", String::from_utf8_lossy(key.unwrap_or_default())),
    ];
    for (setting, value) in settings {
        match key {
            Some(_) => side.config().insert(setting.to_owned(), value.into_owned()),
            None => side.config().remove(setting),
        };
    }
}

/// Enables or disables the library's checks of the cell order and of repeated coordinates in
/// writes.
pub fn set_checks(side: &mut Reference, case: &Case) {
    let settings =
        [("sm.check_global_order", !case.disordered && !case.repeated), ("sm.check_coord_dups", !case.repeated)];
    for (setting, checks) in settings {
        side.config().insert(setting.to_owned(), checks.to_string());
    }
}

pub fn make(case: &Case, reference: &mut Reference, uri: &str) -> Result<()> {
    reference.create(uri, &case.array)?;
    case.steps.iter().try_for_each(|step| carry_out(step, reference, uri))
}

pub fn carry_out(step: &Step, reference: &mut Reference, uri: &str) -> Result<()> {
    match step {
        Step::Write(write) => {
            reference.write(uri, write)?;
            if write.timestamp.is_none() {
                // Fragments of one millisecond have no defined order.
                thread::sleep(Duration::from_millis(2));
            }
        }
        Step::Evolve(evolution) => {
            // Among schemas of one millisecond, the newest is random.
            thread::sleep(Duration::from_millis(2));
            reference.evolve(uri, evolution)?;
        }
        Step::Delete(condition, time) => reference.delete(uri, condition, Some(*time))?,
        Step::Consolidate(mode) => reference.consolidate(uri, mode)?,
        Step::Vacuum(mode) => reference.vacuum(uri, mode)?,
    }
    Ok(())
}
