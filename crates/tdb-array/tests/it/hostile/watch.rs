//! Runs attacks and records findings.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tdb_array::{ArrayError, ErrorCategory};
use tdb_storage::{Storage, StorageError};
use tdb_testkit::allocations::peak_while;
use tdb_testkit::{Lie, LyingStorage};
use tdb_types::Limits;

use crate::hostile::attack::{BUDGET, read_everything, walk_everything};
use crate::hostile::damage::Tree;

/// A longer case counts as a hang. Intact fixtures are read in milliseconds.
const LONGEST: Duration = Duration::from_secs(60);

/// A longer case counts as a finding.
const LONG: Duration = Duration::from_secs(5);

/// Memory limit of a reader of damaged files: a few tiles and generic tiles of maximum size,
/// batches within the budget, and a multiple of the size of the files.
fn memory_bound(bytes: usize) -> u64 {
    2 * Limits::SMALL.tile_bytes + 2 * Limits::SMALL.generic_tile_bytes + 16 * (BUDGET + bytes) as u64
}

thread_local! {
    static ATTACKING: Cell<bool> = const { Cell::new(false) };
    static PANICKED_AT: Cell<Option<String>> = const { Cell::new(None) };
}

type Current = Arc<Mutex<Option<(Instant, String)>>>;

/// The findings so far.
pub struct Watch {
    current: Current,
    notes: Mutex<Notes>,
}

#[derive(Default)]
struct Notes {
    /// First case and number of cases of each finding.
    findings: BTreeMap<String, (String, usize)>,
    outcomes: BTreeMap<&'static str, usize>,
    peak: (u64, String),
    slowest: (Duration, String),
}

impl Watch {
    /// Starts a watchdog. A case that hangs ends the process after a report.
    pub fn start() -> Self {
        let otherwise = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !ATTACKING.get() {
                return otherwise(info);
            }
            let place = info.location().map(|place| format!("{}:{}", place.file(), place.line()));
            let payload = info.payload();
            let text = payload.downcast_ref::<&str>().copied();
            let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("");
            let message = text.chars().take(300).collect::<String>();
            PANICKED_AT.set(Some(format!("panic at {}: {message}", place.unwrap_or_default())));
        }));
        let current = Current::default();
        let seen = Arc::downgrade(&current);
        std::thread::spawn(move || {
            while let Some(current) = seen.upgrade() {
                if let Some((start, case)) = &*current.lock().unwrap()
                    && start.elapsed() > LONGEST
                {
                    eprintln!("timeout: {case}");
                    std::process::exit(1);
                }
                drop(current);
                std::thread::sleep(Duration::from_millis(200));
            }
        });
        Self { current, notes: Mutex::default() }
    }

    /// Reads an intact fixture in every way. It must be readable or unsupported.
    pub fn expect_sound(&self, tree: &Tree) {
        for variant in 0..12 {
            let case = format!("{} as it is, variant {variant}", tree.name());
            match self.run(tree, variant, &case) {
                Some(Err(error)) if error.category() != ErrorCategory::Unsupported => {
                    self.note(format!("an intact array is rejected: {error}"), &case);
                }
                _ => {}
            }
        }
    }

    /// Reads a crafted array.
    pub fn read(&self, tree: &Tree, variant: usize) {
        let case = format!("{}, variant {variant}", tree.name());
        self.run(tree, variant, &case);
        assert!(tree.is_unchanged(), "{case}: reading changed files");
    }

    /// Reads a fixture through a storage that reports false sizes. Reads of missing bytes must stay
    /// within the limits.
    pub fn lie(&self, tree: &Tree, about: &str, lie: Lie, variant: usize) {
        let case = format!("{}: {about}: {lie:?}, variant {}", tree.name(), variant % 12);
        let storage = LyingStorage::new(tree.storage(), about, lie);
        self.run_on(tree, storage.clone(), variant, &case);
        if storage.hollow_bytes() > memory_bound(tree.size()) {
            self.note(format!("{lie:?}: reads of holes exceed the limits"), &case);
        }
    }

    /// Reads a fixture with one file replaced, then restores it.
    pub fn attack(&self, tree: &Tree, path: &str, bytes: impl Into<Arc<[u8]>>, what: &dyn Display, variant: usize) {
        let bytes: Arc<[u8]> = bytes.into();
        tree.put(path, Arc::clone(&bytes));
        let case = format!("{}: {path}: {what}, variant {}", tree.name(), variant % 12);
        if let Some(Err(error)) = self.run(tree, variant, &case)
            && error.category() == ErrorCategory::Unavailable
            && !(is_missing(&error) && names_files(path))
        {
            self.note(format!("called unavailable: {}", family(path)), &format!("{case}: {error}"));
        }
        if *tree.storage().read(path).unwrap() != *bytes {
            self.note("reading changed files".to_owned(), &case);
        }
        tree.repair(path);
    }

    fn run(&self, tree: &Tree, variant: usize, case: &str) -> Option<Result<u64, ArrayError>> {
        self.run_on(tree, tree.storage(), variant, case)
    }

    fn run_on(
        &self,
        tree: &Tree,
        storage: impl Storage + Clone + 'static,
        variant: usize,
        case: &str,
    ) -> Option<Result<u64, ArrayError>> {
        let (elapsed, outcome) = self.run_once(tree, storage.clone(), variant, case);
        // Run a slow case again, since the machine may have been busy.
        if elapsed > LONG && self.run_once(tree, storage, variant, case).0 > LONG {
            self.note(format!("took more than {LONG:?}"), case);
        }
        outcome
    }

    fn run_once(
        &self,
        tree: &Tree,
        storage: impl Storage + 'static,
        variant: usize,
        case: &str,
    ) -> (Duration, Option<Result<u64, ArrayError>>) {
        let start = Instant::now();
        *self.current.lock().unwrap() = Some((start, case.to_owned()));
        let mut outcome = None;
        let variant = variant % 12;
        let storage: Arc<dyn Storage> = Arc::new(storage);
        ATTACKING.set(true);
        let peak = peak_while(|| {
            let attack = if tree.is_group() { walk_everything } else { read_everything };
            outcome = catch_unwind(AssertUnwindSafe(|| attack(storage, tree.key(), variant))).ok();
        });
        ATTACKING.set(false);
        *self.current.lock().unwrap() = None;
        let elapsed = start.elapsed();
        let mut notes = self.notes.lock().unwrap();
        *notes.outcomes.entry(name_of(outcome.as_ref())).or_default() += 1;
        if peak > notes.peak.0 {
            notes.peak = (peak, case.to_owned());
        }
        if elapsed > notes.slowest.0 {
            notes.slowest = (elapsed, case.to_owned());
        }
        drop(notes);
        if outcome.is_none() {
            self.note(PANICKED_AT.take().unwrap_or_default(), case);
        }
        if peak > memory_bound(tree.size()) {
            self.note(format!("more than {} MiB allocated", (peak >> 20).next_power_of_two() / 2), case);
        }
        (elapsed, outcome)
    }

    fn note(&self, finding: String, case: &str) {
        let mut notes = self.notes.lock().unwrap();
        let entry = notes.findings.entry(finding).or_insert_with_key(|finding| {
            eprintln!("{finding}\n    {case}");
            (case.to_owned(), 0)
        });
        entry.1 += 1;
    }

    /// Fails if there are findings, or fewer than `least` cases.
    pub fn finish(self, cases: usize, least: usize) {
        let Notes { findings, outcomes, peak, slowest } = self.notes.into_inner().unwrap();
        println!("{cases} cases: {outcomes:?}");
        println!("at most {} KiB ({}), at most {:?} ({})", peak.0 >> 10, peak.1, slowest.0, slowest.1);
        assert!(cases >= least, "{cases} cases");
        let list =
            findings.iter().map(|(finding, (case, count))| format!("{finding}\n    {count} times, first {case}"));
        assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), list.collect::<Vec<_>>().join("\n"));
    }
}

/// `true` if the error reports a missing file.
fn is_missing(error: &ArrayError) -> bool {
    matches!(error, ArrayError::Storage(StorageError::NotFound { .. }))
}

/// Returns `true` if a file of this name may refer to other files: consolidated commits by name,
/// schemas and fragment metadata by their fields.
fn names_files(path: &str) -> bool {
    path.ends_with(".con") || path.ends_with("__fragment_metadata.tdb") || path.starts_with("__schema/")
}

fn name_of(outcome: Option<&Result<u64, ArrayError>>) -> &'static str {
    match outcome {
        None => "panicked",
        Some(Ok(_)) => "read",
        Some(Err(error)) => match error.category() {
            ErrorCategory::Usage => "usage",
            ErrorCategory::Corrupt => "corrupt",
            ErrorCategory::Unsupported => "unsupported",
            ErrorCategory::Unavailable => "unavailable",
            ErrorCategory::Key => "key",
            other => unreachable!("{other:?}"),
        },
    }
}

/// Returns the kind of a file.
fn family(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    if path.starts_with("__fragments") { file } else { path.split('/').next().unwrap_or(path) }
}
