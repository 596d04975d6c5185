//! How many instructions key paths take, as callgrind counts them, held against those that are kept in the repository.
//!
//! Counts don't depend on how busy or how fast a machine is, so that a change of a few percent can be told from noise. They do depend
//! on the compilers and the C library: the record says which ones it was made with, and with others nothing is compared.
//!
//! Each path runs in a process of its own, on one thread, twice: once uncounted, so that what is done once in a process doesn't
//! count (symbols that are looked up, memory that the allocator fetches, what a processor can do), and once counted. Callgrind
//! switches counting on where `counted_part` begins and off where it ends. The difference of a run with and one without
//! the work would need no name of a function, but would take twice as long, and the start of a process, which is what it would
//! subtract, is more than what some paths take.

mod callgrind;
mod filters;
mod inputs;
mod parsing;
mod path;
mod paths;
mod record;
mod tools;
mod worker;
mod writing;

use std::path::{Path, PathBuf};

use crate::outcome::Result;
use path::CountedPath;
use record::{Record, Verdict};

pub use worker::{CountArguments, run_worker};

/// What came of a comparison.
#[derive(Debug)]
pub enum Counted {
    /// No path is worse.
    Passed,
    /// Nothing was compared; why not, and what would help.
    Skipped(String),
    /// Nothing was compared, since this program was built without optimisations.
    Unoptimised,
}

/// Beside the sources, so that a change of the code and of its counts are one commit.
fn record_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("counts.txt")
}

/// The names of all paths.
#[must_use]
pub fn names() -> Vec<String> {
    paths::all().into_iter().map(|path| path.name).collect()
}

/// Counts, and compares with the record; prints a line for each path.
///
/// # Errors
///
/// If a path takes over 3 % more instructions than the record says, is missing in it, or fails.
pub fn compare(only: Option<&str>) -> Result<Counted> {
    let here = match tools::Tools::here() {
        Ok(here) => here,
        Err(missing) => return Ok(Counted::Skipped(missing)),
    };
    let record = Record::read(&record_file())?;
    let differences = record.tools.differences(&here);
    if !differences.is_empty() {
        return Ok(Counted::Skipped(format!(
            "instruction counts were recorded with other tools, and say nothing here: {}; `cargo xtask speed --count --update` \
             records new ones",
            differences.join("; ")
        )));
    }
    if cfg!(debug_assertions) {
        return Ok(Counted::Unoptimised);
    }
    let chosen: Vec<CountedPath> = paths::all().into_iter().filter(|path| path.is_chosen(only)).collect();
    let mut worse = Vec::new();
    for (name, count) in count(&chosen)? {
        let verdict = record.judge(&name, count);
        println!("{}", verdict.line(&name, count));
        if verdict.is_failure() {
            worse.push(format!("{name} ({})", verdict.word()));
        }
    }
    if only.is_none() {
        let names = names();
        let gone = record.names().filter(|name| !names.iter().any(|known| known == name));
        worse.extend(gone.map(|name| format!("{name} (in the record, but no such path)")));
    }
    match worse.is_empty() {
        true => Ok(Counted::Passed),
        false => Err(format!("more instructions than recorded: {}", worse.join(", ")).into()),
    }
}

/// Counts, and writes the record: all of it, or the chosen paths of it.
///
/// # Errors
///
/// If a path fails, or this machine lacks what counts.
pub fn update(only: Option<&str>) -> Result<()> {
    if cfg!(debug_assertions) {
        return Err("this program was built without optimisations: its counts are no use".into());
    }
    let here = tools::Tools::here()?;
    let old = Record::read(&record_file()).ok();
    let old = old.filter(|old| old.tools.differences(&here).is_empty());
    if only.is_some() && old.is_none() {
        return Err("the record was made with other tools: update all of it".into());
    }
    let chosen: Vec<CountedPath> = paths::all().into_iter().filter(|path| path.is_chosen(only)).collect();
    let counted = count(&chosen)?;
    let mut record = Record { tools: here, counts: Vec::new() };
    for name in names() {
        let new = counted.iter().find(|(counted, _)| *counted == name).map(|(_, count)| *count);
        let before = old.as_ref().and_then(|old| old.count(&name));
        // Those that weren't asked for stay; of all, one that wasn't counted is gone.
        if let Some(count) = new.or(before.filter(|_| only.is_some())) {
            let verdict = before.map_or(Verdict::New, |before| Verdict::of(before, count));
            println!("{}", verdict.line(&name, count));
            record.counts.push((name, count));
        }
    }
    record.write(&record_file())
}

/// Counts the paths, as many at once as there are processors.
fn count(chosen: &[CountedPath]) -> Result<Vec<(String, u64)>> {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())?;
    inputs::make(folder.path())?;
    callgrind::prepare(folder.path())?;
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut counts = Vec::new();
        while let Some(path) = chosen.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            let count = callgrind::count(path, folder.path()).map_err(|error| format!("{}: {error}", path.name))?;
            // Somebody may be waiting.
            eprintln!("{count:>12} {}", path.name);
            counts.push((path.name.clone(), count));
        }
        Ok(counts)
    };
    let counted: std::result::Result<Vec<_>, String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..super::limits::threads()).map(|_| scope.spawn(work)).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|_| Err("a thread that counts has panicked".to_owned()))
        };
        threads.into_iter().map(join).collect()
    });
    let mut counted: Vec<(String, u64)> = counted?.into_iter().flatten().collect();
    counted.sort_by_key(|(name, _)| chosen.iter().position(|path| path.name == *name));
    Ok(counted)
}
