//! What one run of the command has in common: the options that every command takes, and the arrays that it opened.

use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use tdb_array::{Array, Group};
use tdb_storage::{Counters, CountingStorage};

use crate::size::Bytes;
use tdb_print::{Terminal, printable};

// No documentation comment: it would become that of the whole command.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct Options {
    /// Say on standard error how much was read of arrays and groups, and how long it took
    #[arg(long, global = true)]
    pub(crate) stats: bool,

    /// Leave out the parts of an array that can't be read; standard error names them, and the exit code is 1
    #[arg(long, global = true)]
    pub(crate) skip_damaged: bool,

    /// The key of an encrypted array: a file of 32 bytes, or of 64 hexadecimal digits. TDB_KEY (the digits) and
    /// TDB_KEY_FILE in the environment do the same
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

/// Begins the run; once.
pub(crate) fn begin(options: Options) {
    // Nobody has asked for the session yet.
    let _ = SESSION.set(Session { options, begun: Instant::now(), noted: Mutex::default() });
}

pub(crate) fn options() -> &'static Options {
    &session().options
}

/// Notes an array that was opened.
pub(crate) fn opened(array: &Array) {
    if let Ok(mut noted) = session().noted.lock() {
        noted.arrays.push(array.clone());
    }
}

/// Notes a group that was opened.
pub(crate) fn opened_group(group: &Group) {
    if let Ok(mut noted) = session().noted.lock() {
        noted.groups.push(group.clone());
    }
}

/// Notes what was read of arrays that are closed again.
pub(crate) fn counted(counters: Counters) {
    if let Ok(mut noted) = session().noted.lock() {
        noted.counted.push(counters);
    }
}

/// Notes a storage that counts for itself.
pub(crate) fn counting(storage: &CountingStorage) {
    if let Ok(mut noted) = session().noted.lock() {
        noted.counting.push(storage.clone());
    }
}

/// Notes that something is wrong which doesn't end the command.
pub(crate) fn found() {
    if let Ok(mut noted) = session().noted.lock() {
        noted.found = true;
    }
}

/// Notes how many cells were printed.
pub(crate) fn printed(cells: u64) {
    if let Ok(mut noted) = session().noted.lock() {
        noted.cells = Some(cells);
    }
}

/// Says on standard error what people should know, though nothing is wrong.
pub(crate) fn warn(text: &str, terminal: Terminal) {
    let paint = terminal.error_paint();
    // Nobody may be listening.
    let _ = writeln!(io::stderr(), "tdb: {} {}", paint.bold("warning:"), printable(text));
}

/// Says what there is to say at the end. Gives whether something was left out.
pub(crate) fn finish(terminal: Terminal) -> bool {
    let session = session();
    let Ok(noted) = session.noted.lock() else { return false };
    let mut stderr = io::stderr().lock();
    let paint = terminal.error_paint();
    let mut found = noted.found;
    for damaged in noted.arrays.iter().flat_map(|array| array.damaged()) {
        found = true;
        let error = damaged.error.to_string();
        // Most errors say the path, and the whole of it.
        let what = if error.contains(stem(&damaged.path)) { error } else { format!("{}: {error}", damaged.path) };
        // Nobody may be listening.
        let _ = writeln!(stderr, "tdb: {} left out {}", paint.bold("warning:"), printable(&what));
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

/// What was asked of storages.
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
    // Files of this machine are waited for as well, but nobody asks them by requests.
    if requests == 0 { told } else { format!("{told}; {requests} requests, {waiting:.3} s waiting for them") }
}

/// The last name of a path without its extension: a fragment and its commit share it.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}
