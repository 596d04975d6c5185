//! What makes the arrays: one release, or several one after the other.

use std::thread;
use std::time::Duration;

use tdb_reference::{Ability, Reference, Release, Result};

use super::case::{Case, KEY, Step};
use super::place;

/// How long the library may take for one job: those of a case take a few milliseconds. Where it doesn't come to an end, it
/// takes a gigabyte of memory every few seconds.
const JOB_PATIENCE: Duration = Duration::from_secs(15);
/// The same where each of its requests goes to a server.
const JOB_PATIENCE_ON_STORE: Duration = Duration::from_secs(30);

/// A release, with one thread of its own: cases run at the same time.
///
/// # Errors
///
/// If it can't be fetched.
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

/// An older release, and its process; and newer ones that write to its arrays.
pub struct Writer {
    pub release: Release,
    pub reference: Reference,
    pub later_writers: Vec<(Release, Reference)>,
}

impl Writer {
    /// Every release that writes.
    pub fn releases(&self) -> Vec<Release> {
        let later_writers = self.later_writers.iter().map(|(release, _)| *release);
        std::iter::once(self.release).chain(later_writers).collect()
    }

    /// Every process.
    pub fn sides(&mut self) -> impl Iterator<Item = &mut Reference> {
        std::iter::once(&mut self.reference).chain(self.later_writers.iter_mut().map(|(_, later)| later))
    }

    /// Whether the later release has a place for fragments before anything is written there: releases 2.8 to 2.11 can't consolidate
    /// into an array of formats 1 to 6, whose new fragments lie in another folder than its own.
    fn has_folder(&self, later: Release) -> bool {
        let makes_it = later.can(Ability::Deletes) || !later.can(Ability::ConsolidatedCommits);
        self.release.can(Ability::Nullable) || makes_it
    }

    /// Creates the array and writes first; what comes then is shared out among the later writers, if there are any, in their order.
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

/// Has all arrays from now on be encrypted, or none.
pub fn set_key(side: &mut Reference, encrypted: bool) {
    for (setting, value) in
        [("sm.encryption_type", "AES_256_GCM".into()), ("sm.encryption_key", String::from_utf8_lossy(KEY))]
    {
        match encrypted {
            true => side.config().insert(setting.to_owned(), value.into_owned()),
            false => side.config().remove(setting),
        };
    }
}

/// Has the library check what writes say of the order of their cells, and whether coordinates come twice, or believe it.
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
                // Fragments of one millisecond come in no order.
                thread::sleep(Duration::from_millis(2));
            }
        }
        Step::Evolve(evolution) => {
            // Of schemas of one millisecond chance decides which is the newest.
            thread::sleep(Duration::from_millis(2));
            reference.evolve(uri, evolution)?;
        }
        Step::Delete(condition, time) => reference.delete(uri, condition, Some(*time))?,
        Step::Consolidate(mode) => reference.consolidate(uri, mode)?,
        Step::Vacuum(mode) => reference.vacuum(uri, mode)?,
    }
    Ok(())
}
