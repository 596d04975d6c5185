//! Runs cases of one release or of all releases, and prints a table row for each.

use std::path::Path;
use std::time::Instant;

use tdb_cases::runner::{self, Amount, CaseKind, Settings};
use tdb_cases::tally::Tally;
use tdb_cases::writer::start;
use tdb_reference::{NEWEST, RELEASES, Reference, Release};

/// The processes of an older release and of the newest.
pub struct Sides {
    pub older: Reference,
    pub newest: Reference,
}

impl Sides {
    /// Starts both processes.
    pub fn start(older: Release) -> tdb_reference::Result<Self> {
        Ok(Self { older: start(older.library)?, newest: start(NEWEST)? })
    }
}

/// Returns the headings and cells of a table row.
pub type Row = fn(&str, &Tally) -> Vec<(&'static str, String)>;

/// Runs cases of every release, or of one, and prints a row for each. Returns the sums over all
/// releases.
///
/// # Errors
/// Fails if a release cannot be started or cannot create its arrays.
pub fn run<K: CaseKind>(
    (only, kind, row): (Option<Release>, impl Fn(Release) -> K, Row),
    amount: &Amount,
    settings: &Settings,
    folder: &Path,
) -> Result<Tally, String> {
    let mut all = Tally::default();
    let headings: Vec<&str> = row("release", &all).into_iter().map(|(heading, _)| heading).collect();
    println!("{}", headings.join(" | "));
    let line = |name: &str, tally: &Tally| {
        row(name, tally).into_iter().map(|(_, cell)| format!("| {cell} ")).collect::<String>() + "|"
    };
    for &release in RELEASES.iter().filter(|release| only.is_none_or(|only| only == **release)) {
        let started = Instant::now();
        let tally = runner::run(kind(release), amount.clone(), settings, folder)?;
        println!("{} in {:.1} seconds", line(release.library, &tally), started.elapsed().as_secs_f64());
        let is_hung = tally.hung > 0;
        all.merge(tally);
        if is_hung {
            break;
        }
    }
    println!("{}", line("all", &all));
    Ok(all)
}
