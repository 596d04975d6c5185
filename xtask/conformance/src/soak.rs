//! Concurrent writers, readers, deletes and maintenance of both libraries. Every reader must see a
//! committed state.
//!
//! All cells of a write have the same serial number, which determines the timestamp. A read of
//! mixed states sees two numbers, or too few cells. Both sides maintain the array alternately,
//! because the library takes no lock. Concurrent jobs could remove files while other jobs
//! consolidate them.

use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tdb_array::{ArrayError, ArrayOptions, ErrorCategory};
use tdb_cases::case::{Case, Step};
use tdb_cases::ours::{self, Manner, describe};
use tdb_cases::writer::{carry_out, start};
use tdb_job::MaintainError;
use tdb_maintain::{Consolidate, ConsolidateFragments, FragmentPlan, Plan, Vacuum};
use tdb_reference::model::{
    ArraySpec, Comparison, Condition, MetadataEntry, QuerySpec, WriteSpec, attribute, bytes_of, column, dimension,
};
use tdb_reference::{NEWEST, Reference};
use tdb_testkit::Ledger;
use tdb_types::{Datatype, Layout};
use tdb_verify::{Severity, Verify};

/// Number of cells of each write.
const CELLS: i32 = 500;
/// Timestamp of the write with serial number 0.
const EPOCH: u64 = 1_700_000_000_000;

/// Number of operations of each kind, by tdb and by the library.
#[derive(Debug, Default)]
struct Counts {
    writes: [AtomicUsize; 2],
    deletes: [AtomicUsize; 2],
    reads: [AtomicUsize; 2],
    /// Operations that were repeated because a file had just been removed.
    again: [AtomicUsize; 2],
    /// Reads in which the library crashed.
    crashed: AtomicUsize,
    maintained: [AtomicUsize; 2],
    /// Metadata writes by the library.
    described: AtomicUsize,
    verified: AtomicUsize,
    /// Maintenance jobs that were abandoned because of concurrent changes.
    gave_way: [AtomicUsize; 2],
}

fn add(count: &AtomicUsize) {
    count.fetch_add(1, Ordering::Relaxed);
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// State shared by all threads.
struct Soak<'a> {
    uri: &'a str,
    is_sparse: bool,
    /// The array, without writes.
    case: Case,
    ledger: Ledger,
    counts: Counts,
    end: Instant,
    wrong: Mutex<Vec<String>>,
    /// Held by writes to a dense array. A late commit would lie above a consolidated fragment of
    /// earlier and later writes.
    one_writer: Mutex<()>,
    one_maintainer: Mutex<()>,
}

/// Runs a sparse and a dense array for half of the seconds each.
///
/// # Errors
/// Fails if a reader saw a state that was never committed.
pub fn run(seconds: u64, folder: &Path) -> Result<(), Box<dyn Error>> {
    for is_sparse in [true, false] {
        let uri = folder.join(if is_sparse { "sparse" } else { "dense" }).to_string_lossy().into_owned();
        Reference::start(NEWEST)?.create(&uri, &spec(is_sparse))?;
        let soak = Soak {
            uri: &uri,
            is_sparse,
            case: Case::of(spec(is_sparse)),
            ledger: Ledger::default(),
            counts: Counts::default(),
            end: Instant::now() + Duration::from_millis(500 * seconds),
            wrong: Mutex::new(Vec::new()),
            one_writer: Mutex::new(()),
            one_maintainer: Mutex::new(()),
        };
        soak.run();
        let kind = if is_sparse { "sparse" } else { "dense" };
        println!("{kind}: {} committed; by tdb and by the library: {:?}", soak.ledger.count(), soak.counts);
        let wrong = locked(&soak.wrong);
        if !wrong.is_empty() {
            return Err(wrong.join("\n").into());
        }
        drop(wrong);
        soak.check_at_last()?;
    }
    Ok(())
}

fn spec(is_sparse: bool) -> ArraySpec {
    let place = dimension("place", Datatype::Int32, [0, CELLS - 1], 64);
    let attributes = ["serial", "square"].map(|name| attribute(name, Datatype::UInt64));
    if is_sparse { ArraySpec::sparse([place], attributes).capacity(64) } else { ArraySpec::dense([place], attributes) }
}

impl Soak<'_> {
    fn run(&self) {
        thread::scope(|scope| {
            scope.spawn(|| self.guard("writer of tdb", || self.write_on(None)));
            scope.spawn(|| self.guard("writer of the library", || self.write_on(Some(start(NEWEST)?))));
            scope.spawn(|| self.guard("reader of tdb", || self.read_on(None)));
            scope.spawn(|| self.guard("reader of the library", || self.read_on(Some(start(NEWEST)?))));
            scope.spawn(|| self.guard("metadata writer of the library", || self.describe_on(start(NEWEST)?)));
            scope.spawn(|| self.guard("verification by tdb", || self.verify_on()));
            scope.spawn(|| self.guard("maintenance by tdb", || self.maintain_on(None)));
            scope.spawn(|| self.guard("maintenance by the library", || self.maintain_on(Some(start(NEWEST)?))));
        });
    }

    /// Runs a thread, and stops all threads if it fails.
    fn guard(&self, who: &str, act: impl FnOnce() -> Result<(), Box<dyn Error>>) {
        if let Err(error) = act() {
            locked(&self.wrong).push(format!("{who}: {error}"));
        }
    }

    fn goes_on(&self) -> bool {
        Instant::now() < self.end && locked(&self.wrong).is_empty()
    }

    fn write_on(&self, mut reference: Option<Reference>) -> Result<(), Box<dyn Error>> {
        let side = usize::from(reference.is_some());
        for turn in (1..).take_while(|_| self.goes_on()) {
            // Deletes all earlier cells.
            let deletes = self.is_sparse && turn % 8 == 0;
            let alone = (!self.is_sparse).then(|| locked(&self.one_writer));
            let serial = self.ledger.begin(deletes);
            let older = Condition::compare("serial", Comparison::Less, serial.to_le_bytes());
            let step = match deletes {
                true => Step::Delete(older, EPOCH + serial),
                false => Step::Write(self.write_spec(serial)),
            };
            match &mut reference {
                None => ours::carry_out(&step, &self.case, self.uri, Manner::by(16))?,
                Some(reference) => self.until_open(|| carry_out(&step, reference, self.uri))?,
            }
            self.ledger.committed(serial);
            drop(alone);
            add(&if deletes { &self.counts.deletes } else { &self.counts.writes }[side]);
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Repeats an operation of the library until the array opens. The library fails to open an
    /// array if a file is removed between a listing and the query of its size.
    fn until_open(&self, mut act: impl FnMut() -> tdb_reference::Result<()>) -> tdb_reference::Result<()> {
        loop {
            match act() {
                Err(error) if is_gone(&error.to_string()) => add(&self.counts.again[1]),
                done => return done,
            }
        }
    }

    fn write_spec(&self, serial: u64) -> WriteSpec {
        let both = [("serial", serial), ("square", serial * serial)];
        let mut cells: Vec<_> = both.map(|(name, value)| column(name, vec![value; CELLS as usize])).into();
        if self.is_sparse {
            cells.push(column("place", 0..CELLS));
        }
        let whole = vec![(bytes_of([0_i32]), bytes_of([CELLS - 1]))];
        let layout = if self.is_sparse { Layout::Unordered } else { Layout::RowMajor };
        WriteSpec { layout, subarray: (!self.is_sparse).then_some(whole), timestamp: Some(EPOCH + serial), cells }
    }

    fn read_on(&self, mut reference: Option<Reference>) -> Result<(), Box<dyn Error>> {
        let side = usize::from(reference.is_some());
        while self.goes_on() {
            let least = self.ledger.least();
            let seen = match &mut reference {
                None => self.read(),
                Some(reference) => self.read_by(reference),
            };
            match seen {
                Ok(Some(values)) => {
                    let seen = one_state(&values)?;
                    self.ledger.may_see(least, seen)?;
                    add(&self.counts.reads[side]);
                }
                // Open the array again.
                Ok(None) => add(&self.counts.again[side]),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads serial numbers and squares. Returns `None` if a file was gone.
    fn read(&self) -> Result<Option<[Vec<u64>; 2]>, Box<dyn Error>> {
        let read = || -> Result<[Vec<u64>; 2], ArrayError> {
            let array = ArrayOptions::new().threads(1).open(self.uri)?;
            let mut values = [Vec::new(), Vec::new()];
            for batch in array.read().select(["serial", "square"])?.batches()? {
                let batch = batch?;
                for (all, name) in values.iter_mut().zip(["serial", "square"]) {
                    all.extend_from_slice(batch.column(name)?.values::<u64>()?);
                }
            }
            Ok(values)
        };
        match read() {
            Ok(values) => Ok(Some(values)),
            Err(error) if error.category() == ErrorCategory::Unavailable => Ok(None),
            Err(error) => Err(describe(&error).into()),
        }
    }

    fn read_by(&self, reference: &mut Reference) -> Result<Option<[Vec<u64>; 2]>, Box<dyn Error>> {
        let layout = if self.is_sparse { Layout::GlobalOrder } else { Layout::RowMajor };
        let query = QuerySpec { fields: vec!["serial".into(), "square".into()], ..QuerySpec::all(layout) };
        let read = match reference.read(self.uri, &query) {
            Ok(read) => read,
            Err(error) if is_gone(&error.to_string()) => return Ok(None),
            // The library sometimes crashes if files are removed during a read.
            Err(tdb_reference::Error::Crashed { .. }) => {
                add(&self.counts.crashed);
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        let values = |index: usize| {
            let cells = read.columns[index].cells().into_iter();
            cells.map(|cell| u64::from_le_bytes(cell.try_into().unwrap_or_default())).collect()
        };
        Ok(Some([values(0), values(1)]))
    }

    /// Writes metadata. Metadata files grow under their final names.
    fn describe_on(&self, mut reference: Reference) -> Result<(), Box<dyn Error>> {
        for number in (0_i32..).take_while(|_| self.goes_on()) {
            let (key, value) = ("number".to_owned(), bytes_of([number]));
            let entry = MetadataEntry { key, datatype: Datatype::Int32, count: 1, value };
            self.until_open(|| reference.put_metadata(self.uri, std::slice::from_ref(&entry), None))?;
            add(&self.counts.described);
        }
        Ok(())
    }

    /// Verifies the array in a loop. Files that are being written must not be findings.
    fn verify_on(&self) -> Result<(), Box<dyn Error>> {
        while self.goes_on() {
            let report = Verify::new().threads(1).folder(self.uri)?;
            if let Some(finding) = report.findings.iter().find(|finding| finding.severity == Severity::Finding) {
                return Err(finding.to_string().into());
            }
            add(&self.counts.verified);
        }
        Ok(())
    }

    fn maintain_on(&self, mut reference: Option<Reference>) -> Result<(), Box<dyn Error>> {
        let side = usize::from(reference.is_some());
        if let Some(reference) = &mut reference {
            reference.config().insert("sm.consolidation.buffer_size".to_owned(), "1000000".to_owned());
        }
        for turn in (0..).take_while(|_| self.goes_on()) {
            let alone = locked(&self.one_maintainer);
            let is_done = match &mut reference {
                None => self.maintain(turn)?,
                Some(reference) => {
                    let done = match turn % 6 {
                        0 | 3 => reference.consolidate(self.uri, "fragments"),
                        1 => reference.consolidate(self.uri, "commits"),
                        2 => reference.consolidate(self.uri, "fragment_meta"),
                        4 => reference.vacuum(self.uri, "commits"),
                        _ => reference.vacuum(self.uri, "fragments"),
                    };
                    match done {
                        Ok(()) => true,
                        Err(error) if is_excused(&error.to_string()) => false,
                        Err(error) => return Err(error.into()),
                    }
                }
            };
            drop(alone);
            add(&if is_done { &self.counts.maintained } else { &self.counts.gave_way }[side]);
            thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    fn maintain(&self, turn: usize) -> Result<bool, Box<dyn Error>> {
        let array = ArrayOptions::new().threads(1).open(self.uri)?;
        let done = match turn % 7 {
            0 | 3 => ConsolidateFragments::new().plan(&array).and_then(FragmentPlan::run).map(drop),
            1 => Consolidate::commits().plan(&array).and_then(Plan::run).map(drop),
            2 => Consolidate::footers().plan(&array).and_then(Plan::run).map(drop),
            4 => Vacuum::commits().plan(&array).and_then(Plan::run).map(drop),
            5 => Vacuum::footers().plan(&array).and_then(Plan::run).map(drop),
            _ => Vacuum::fragments().plan(&array).and_then(Plan::run).map(drop),
        };
        match done {
            Ok(()) => Ok(true),
            Err(MaintainError::Conflict { .. } | MaintainError::Refused { .. }) => Ok(false),
            Err(error) => Err(format!("turn {}: {}", turn % 7, describe(&error)).into()),
        }
    }

    /// Checks that all readers see the last committed state at the end, also after further
    /// maintenance.
    fn check_at_last(&self) -> Result<(), Box<dyn Error>> {
        let mut reference = start(NEWEST)?;
        let mut last = Vec::new();
        for turn in 0..8 {
            let least = self.ledger.least();
            for values in [self.read()?, self.read_by(&mut reference)?] {
                let seen = one_state(&values.ok_or("a file is missing after all writers ended")?)?;
                self.ledger.may_see(least, seen)?;
                last.push(seen);
            }
            if turn < 7 {
                self.maintain(turn)?;
            }
        }
        if last.iter().any(|seen| *seen != last[0]) {
            return Err(format!("maintenance changes reads: {last:?}").into());
        }
        let report = Verify::new().folder(self.uri)?;
        if report.is_sound() { Ok(()) } else { Err(format!("{:#?}", report.findings).into()) }
    }
}

/// Returns the serial number of all cells, or `None` if there are no cells.
fn one_state([serials, squares]: &[Vec<u64>; 2]) -> Result<Option<u64>, String> {
    // Cells of a dense array that were never written.
    if serials.iter().all(|serial| *serial == u64::MAX) {
        return Ok(None);
    }
    let first = serials[0];
    let is_whole = serials.len() == CELLS as usize && serials.iter().all(|serial| *serial == first);
    if is_whole && squares.iter().all(|square| *square == first * first) {
        return Ok(Some(first));
    }
    let mut serials = serials.clone();
    serials.dedup();
    Err(format!("mixed or incomplete state: {} cells, serials {serials:?}", squares.len()))
}

/// `true` if an error of the library means that a file is gone.
fn is_gone(message: &str) -> bool {
    ["Cannot get file size", "Cannot open file", "No such file", "does not exist", "Cannot read from file"]
        .iter()
        .any(|says| message.contains(says))
}

/// `true` if a failure of the library's maintenance is known.
fn is_excused(message: &str) -> bool {
    is_gone(message) || crate::maintain::refused(message).is_some()
}
