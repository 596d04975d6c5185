//! Files of arrays are altered, cut and removed: how much of that a verification finds. It must never panic, hang, or take
//! memory without bound.
//!
//! `TDB_CORRUPTIONS` in the environment says how many alterations are made, if not the few that are made by default; what
//! `docs/reliability.md` says comes from 200,000 of them.

mod alter;
mod classes;
mod seen;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use alter::Alteration;
use classes::Class;
use seen::Seen;
use tdb_array::tdb_filters::EncryptionKey;
use tdb_maintain::Verify;
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::allocations::peak_while;
use tdb_testkit::fixtures::{self, Fixture};
use tdb_testkit::hostile::SplitMix64;
use tdb_types::Limits;

/// So many alterations are made unless somebody asks for more.
const DEFAULT: usize = 5000;
/// What takes longer than this does work that its bytes don't ask for: sound fixtures take milliseconds.
const LONG: Duration = Duration::from_secs(5);

/// What came of the alterations of one class.
#[derive(Default)]
struct Outcome {
    made: usize,
    found: usize,
    /// Some that weren't.
    missed: Vec<String>,
}

#[derive(Default)]
struct Matrix {
    rows: BTreeMap<Class, Outcome>,
    panicked: Vec<String>,
    slow: Vec<String>,
    large: Vec<String>,
    slowest: Duration,
    peak: u64,
}

/// One fixture, and what can be seen of it.
struct Subject {
    name: &'static str,
    key: Option<[u8; 32]>,
    storage: Arc<MemoryStorage>,
    files: Vec<(String, Vec<u8>)>,
    times: Vec<u64>,
    seen: Seen,
    classes: BTreeMap<String, Class>,
}

impl Subject {
    fn of(fixture: &Fixture) -> Option<Self> {
        let key = fixture.expected().key();
        let storage = fixture.array_storage();
        let shared: Arc<dyn Storage> = storage.clone();
        let files: Vec<_> = fixture.array_files().map(|path| (path.to_owned(), fixture.read(path))).collect();
        let (times, classes) = classes::of(&shared, key)?;
        let seen = Seen::of(&shared, key, &times);
        let is_read = seen.cells.is_some() && seen.statistics.is_some() && seen.structure.is_some();
        is_read.then_some(Self { name: fixture.name(), key, storage, files, times, seen, classes })
    }

    /// A file, with the same chance for each of them, or for each byte of all.
    fn pick(&self, rng: &mut SplitMix64) -> usize {
        if rng.below(2) == 0 {
            return rng.below(self.files.len());
        }
        let all: usize = self.files.iter().map(|(_, bytes)| bytes.len()).sum();
        let mut at = rng.below(all.max(1));
        let place = self.files.iter().position(|(_, bytes)| {
            let is_here = at < bytes.len();
            at = at.saturating_sub(bytes.len());
            is_here
        });
        place.unwrap_or(0)
    }

    fn alter(&self, index: usize, alteration: Alteration, matrix: &mut Matrix) {
        let (path, sound) = &self.files[index];
        match alteration.apply(sound) {
            Some(bytes) => self.storage.insert(path, bytes).expect("a file in memory"),
            None => self.storage.remove_file(path).expect("a file in memory"),
        }
        let case = format!("{}: {path}: {alteration}", self.name);
        let found = self.verify(&case, matrix);
        let shared: Arc<dyn Storage> = self.storage.clone();
        let now = Seen::of(&shared, self.key, &self.times);
        self.storage.insert(path, sound.clone()).expect("a file in memory");
        let class = self.class(path, &now);
        let row = matrix.rows.entry(class).or_default();
        row.made += 1;
        row.found += usize::from(found);
        if !found && row.missed.len() < 400 {
            row.missed.push(case);
        }
    }

    /// Whether a verification finds anything.
    fn verify(&self, case: &str, matrix: &mut Matrix) -> bool {
        let shared: Arc<dyn Storage> = self.storage.clone();
        let verify = Verify::new().threads(1).limits(Limits::SMALL);
        let verify = self.key.into_iter().fold(verify, |verify, key| verify.key(EncryptionKey::new(key)));
        let begun = Instant::now();
        let mut outcome = None;
        let peak = peak_while(|| outcome = catch_unwind(AssertUnwindSafe(|| verify.storage(shared))).ok());
        let elapsed = begun.elapsed();
        matrix.slowest = matrix.slowest.max(elapsed);
        matrix.peak = matrix.peak.max(peak);
        if elapsed > LONG {
            matrix.slow.push(format!("{elapsed:?}: {case}"));
        }
        let bytes: usize = self.files.iter().map(|(_, bytes)| bytes.len()).sum();
        if peak > 2 * Limits::SMALL.tile_bytes + 2 * Limits::SMALL.generic_tile_bytes + 64 * bytes as u64 {
            matrix.large.push(format!("{peak} bytes: {case}"));
        }
        match outcome {
            None => {
                matrix.panicked.push(case.to_owned());
                false
            }
            Some(Ok(report)) => !report.is_sound() || report.arrays == 0,
            // The key doesn't fit any more, which says that something is wrong.
            Some(Err(_)) => true,
        }
    }

    /// What the alteration has changed.
    fn class(&self, path: &str, now: &Seen) -> Class {
        if *now == self.seen {
            Class::Nothing
        } else if now.cells.is_none() {
            Class::CellsLost
        } else if now.cells != self.seen.cells {
            self.classes.get(path).copied().unwrap_or_else(|| classes::of_path(path))
        } else if now.statistics != self.seen.statistics && !classes::is_commit(path) {
            Class::Statistics
        } else if now.structure.is_none() {
            Class::StructureLost
        } else {
            classes::structure_of_path(path)
        }
    }
}

#[test]
fn alterations_are_found() {
    let count = std::env::var("TDB_CORRUPTIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(DEFAULT);
    let all = fixtures::all().into_iter().chain(fixtures::of_older_releases());
    let subjects: Vec<Subject> = all.filter_map(|fixture| Subject::of(&fixture)).collect();
    assert!(subjects.len() > 450, "{} fixtures", subjects.len());
    let mut matrix = Matrix::default();
    let mut rng = SplitMix64::new(14);
    let mut made = 0;
    for subject in subjects.iter().cycle() {
        let index = subject.pick(&mut rng);
        if let Some(alteration) = Alteration::sample(&subject.files[index].1, &mut rng) {
            subject.alter(index, alteration, &mut matrix);
            made += 1;
        }
        if made >= count {
            break;
        }
    }
    print(&matrix, made);
    assert!(matrix.panicked.is_empty(), "panicked: {:#?}", matrix.panicked);
    assert!(matrix.slow.is_empty(), "took long: {:#?}", matrix.slow);
    assert!(matrix.large.is_empty(), "took much memory: {:#?}", matrix.large);
    let goal = matrix.rows.iter().filter(|(class, _)| class.is_promised());
    let (made, found) = goal.fold((0, 0), |(made, found), (_, row)| (made + row.made, found + row.found));
    assert!(made > count / 10, "{made} alterations that can be found");
    assert!(found * 1000 > made * 990, "{found} of {made} alterations were found");
}

fn print(matrix: &Matrix, made: usize) {
    println!("{made} alterations; at most {:?} and {} KiB", matrix.slowest, matrix.peak >> 10);
    println!("| what the alteration changes | made | found | |\n| --- | --- | --- | --- |");
    for (class, row) in &matrix.rows {
        let share = 100.0 * row.found as f64 / row.made as f64;
        println!("| {} | {} | {} | {share:.2} % |", class.text(), row.made, row.found);
    }
    if std::env::var_os("TDB_CORRUPTIONS_MISSED").is_some() {
        for (class, row) in matrix.rows.iter().filter(|(class, _)| **class != Class::Nothing) {
            println!("\n{}:\n    {}", class.text(), row.missed.join("\n    "));
        }
    }
}
