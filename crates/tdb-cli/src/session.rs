//! The state of one run: the global options, and the opened arrays.

use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use tdb_array::{Array, Group};
use tdb_storage::{Counters, CountingStorage};

use crate::size::Bytes;
use tdb_print::{Terminal, printable};

// No doc comment, because clap would use it as the description of the command.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct Options {
    /// Print I/O statistics and elapsed time to standard error
    #[arg(long, global = true)]
    pub(crate) stats: bool,

    /// Skip parts of an array that cannot be read on opening. Each part is named in a warning, and
    /// the exit code is 1
    #[arg(long, global = true)]
    pub(crate) skip_damaged: bool,

    /// Do not wait until the disk has the written data. A power failure may then damage the array.
    /// Commands that copy, move, migrate or remove whole arrays ignore this option
    #[arg(long, global = true)]
    pub(crate) no_sync: bool,

    /// File with the key of an encrypted array: 32 bytes, or 64 hexadecimal digits. The environment
    /// variables TDB_KEY (the digits) and TDB_KEY_FILE do the same
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) key_file: Option<OsString>,
}

#[derive(Debug)]
struct Session {
    options: Options,
    begun: Instant,
    noted: Mutex<Noted>,
}

#[derive(Debug, Default)]
struct Noted {
    arrays: Vec<Array>,
    groups: Vec<Group>,
    counted: Vec<Counters>,
    counting: Vec<CountingStorage>,
    found: bool,
    cells: Option<u64>,
}

static SESSION: OnceLock<Session> = OnceLock::new();

fn session() -> &'static Session {
    SESSION.get_or_init(|| Session { options: Options::default(), begun: Instant::now(), noted: Mutex::default() })
}

/// Begins the run. Must be called once.
pub(crate) fn begin(options: Options) {
    // No earlier call has initialized the session.
    let _ = SESSION.set(Session { options, begun: Instant::now(), noted: Mutex::default() });
}

pub(crate) fn options() -> &'static Options {
    &session().options
}

fn note(record: impl FnOnce(&mut Noted)) {
    if let Ok(mut noted) = session().noted.lock() {
        record(&mut noted);
    }
}

/// Records an opened array.
pub(crate) fn opened(array: &Array) {
    note(|noted| noted.arrays.push(array.clone()));
}

/// Records an opened group.
pub(crate) fn opened_group(group: &Group) {
    note(|noted| noted.groups.push(group.clone()));
}

/// Records the reads of arrays that are closed again.
pub(crate) fn counted(counters: Counters) {
    note(|noted| noted.counted.push(counters));
}

/// Records the requests of a storage with separate counters.
pub(crate) fn counting(storage: &CountingStorage) {
    note(|noted| noted.counting.push(storage.clone()));
}

/// Records a finding that does not end the command.
pub(crate) fn found() {
    note(|noted| noted.found = true);
}

/// Records the number of printed cells.
pub(crate) fn printed(cells: u64) {
    note(|noted| noted.cells = Some(cells));
}

/// Prints a warning to standard error.
pub(crate) fn warn(text: &str, terminal: Terminal) {
    let paint = terminal.error_paint();
    // Standard error may be closed.
    let _ = writeln!(io::stderr(), "tdb: {} {}", paint.bold("warning:"), printable(text));
}

/// Prints warnings and statistics at the end of the run. Returns `true` if there was a finding.
pub(crate) fn finish(terminal: Terminal) -> bool {
    let session = session();
    let Ok(noted) = session.noted.lock() else { return false };
    let mut stderr = io::stderr().lock();
    let paint = terminal.error_paint();
    let mut found = noted.found;
    for damaged in noted.arrays.iter().flat_map(|array| array.damaged()) {
        found = true;
        let error = damaged.error.to_string();
        // Most errors include the complete path.
        let what = if error.contains(stem(&damaged.path)) { error } else { format!("{}: {error}", damaged.path) };
        // Standard error may be closed.
        let _ = writeln!(stderr, "tdb: {} skipped {}", paint.bold("warning:"), printable(&what));
    }
    if session.options.stats {
        let arrays = noted.arrays.iter().map(|array| array.counters());
        let counters = arrays.chain(noted.groups.iter().map(Group::counters)).chain(noted.counted.iter().copied());
        let counters = counters.chain(noted.counting.iter().map(CountingStorage::counters));
        let cells = noted.cells.map_or(String::new(), |cells| format!("{cells} cells "));
        let seconds = session.begun.elapsed().as_secs_f64();
        let _ = writeln!(stderr, "tdb: {cells}in {seconds:.3} s; {}", told(counters));
    }
    found
}

/// Formats the sum of the storage counters.
fn told(counters: impl Iterator<Item = Counters>) -> String {
    let (mut sum, mut waiting) = ([0; 5], Duration::ZERO);
    for one in counters {
        let counts = [one.lists, one.opens, one.reads, one.bytes, one.requests];
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        waiting += one.waiting;
    }
    let [lists, opens, reads, bytes, requests] = sum;
    let (bytes, waiting) = (Bytes(bytes), waiting.as_secs_f64());
    let told = format!("{lists} folders listed, {opens} files opened, {reads} reads, {bytes} read");
    // Local files have no requests to count.
    if requests == 0 { told } else { format!("{told}; {requests} requests, waited {waiting:.3} s") }
}

/// Returns the file name without extension, shared by a fragment and the commit of the fragment.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}
