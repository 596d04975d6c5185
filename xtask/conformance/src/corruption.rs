//! Damaged fixtures: the findings of a verification, and the behavior of both sides' readers.

mod judge;
mod table;
mod theirs;

use std::error::Error;
use std::path::Path;
use std::thread;

use tdb_array::tdb_filters::EncryptionKey;
use tdb_corruption::{Cases, Seen, Subject};
use tdb_types::Limits;
use tdb_verify::Verify;

use judge::Reading;
use table::Table;
use theirs::Theirs;

/// Number of alterations, their seed, and the number of threads.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    pub cases: usize,
    pub seed: u64,
    pub jobs: usize,
    /// Run and print only this alteration.
    pub only: Option<usize>,
}

/// Runs the alterations and prints a table of the results of both sides.
///
/// # Errors
/// Fails if tdb panics, if the library cannot be downloaded, or if a file cannot be written.
pub fn run(amount: Amount, folder: &Path) -> Result<(), Box<dyn Error>> {
    let jobs = if amount.only.is_some() { 1 } else { amount.jobs.max(1) };
    let tables = thread::scope(|scope| {
        let job = |job| move || share(amount, (job, jobs), &folder.join(job.to_string()));
        let threads: Vec<_> = (0..jobs).map(|number| scope.spawn(job(number))).collect();
        let joined = threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err("a panic".to_owned())));
        joined.collect::<Result<Vec<Table>, String>>()
    })?;
    let mut all = Table::default();
    tables.into_iter().for_each(|table| all.add(table));
    println!("{all}");
    Ok(())
}

/// Runs the alterations of thread `job` out of `jobs` threads.
fn share(amount: Amount, (job, jobs): (usize, usize), folder: &Path) -> Result<Table, String> {
    let subjects = tdb_corruption::all();
    let mut theirs = Theirs::new(folder, &subjects)?;
    let mut table = Table::default();
    for (number, (subject, damage)) in Cases::new(&subjects, amount.seed).take(amount.cases).enumerate() {
        let is_wanted = amount.only.map_or(number % jobs == job, |only| only == number);
        if !is_wanted {
            continue;
        }
        let (is_found, now) = subject.while_damaged(&damage, || (is_found(subject), subject.now()));
        let ours = our_reading(subject.sound(), &now);
        let reading = theirs.read_damaged(subject, &damage)?;
        if amount.only.is_some() || reading.as_ref().is_some_and(Reading::is_worst) {
            let verdict = reading.as_ref().map_or_else(|| "left out".to_owned(), ToString::to_string);
            println!(
                "case {number}: {}: {damage}: detected: {is_found}; tdb: {ours}; library: {verdict}",
                subject.name()
            );
        }
        table.count(subject.class(&damage, &now), is_found, &ours, reading.as_ref());
    }
    Ok(table)
}

/// `true` if a verification has a finding.
fn is_found(subject: &Subject) -> bool {
    let verify = Verify::new().threads(1).limits(Limits::SMALL);
    let verify = subject.key().into_iter().fold(verify, |verify, key| verify.key(EncryptionKey::new(key)));
    match verify.storage(subject.storage()) {
        Ok(report) => !report.is_sound() || report.arrays + report.groups == 0,
        Err(_) => true,
    }
}

/// Classifies the result of tdb's reader. Considers only cells and listings, which the library
/// reads too.
fn our_reading(sound: &Seen, now: &Seen) -> Reading {
    match () {
        () if now.cells.is_none() || now.told.is_none() => Reading::Refused(String::new()),
        () if (now.cells, now.told) != (sound.cells, sound.told) => Reading::Other,
        () => Reading::Same,
    }
}
