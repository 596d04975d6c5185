//! Counts the instructions of key paths with callgrind, and compares them with the counts in the
//! repository.
//!
//! Counts do not depend on the speed or load of the machine. A change of a few percent is not
//! noise. Counts depend on compilers and the C library. The record contains these versions, and
//! other versions are not compared.
//!
//! Each path runs twice in a separate process with one thread: first uncounted, then counted. The
//! first run excludes one-time work of the process: symbol lookup, memory requests of the
//! allocator, detection of processor features. Callgrind counts while `counted_part` is on the
//! stack. Subtracting a run without the work would not need a function name. But it would take
//! twice as long, and process startup costs more than some paths.

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

/// The result of a comparison.
#[derive(Debug)]
pub enum Counted {
    /// No path needs more instructions.
    Passed,
    /// Nothing was compared. Contains the reason and a hint.
    Skipped(String),
    /// Nothing was compared, because this program was built without optimizations.
    Unoptimised,
}

/// Returns the path of the record. The record is stored next to the sources, because a commit must
/// change code and counts together.
fn record_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("counts.txt")
}

/// Returns the names of all paths.
#[must_use]
pub fn names() -> Vec<String> {
    paths::all().into_iter().map(|path| path.name).collect()
}

/// Counts and compares with the record. Prints a line for each path.
///
/// # Errors
/// Fails if a path takes over 3 % more instructions than recorded, is not recorded, or fails.
pub fn compare(only: Option<&str>) -> Result<Counted> {
    let here = match tools::Tools::here() {
        Ok(here) => here,
        Err(missing) => return Ok(Counted::Skipped(missing)),
    };
    let record = Record::read(&record_file())?;
    let differences = record.tools.differences(&here);
    if !differences.is_empty() {
        return Ok(Counted::Skipped(format!(
            "instruction counts were recorded with other tools: {}; run `cargo xtask speed --count --update` to record new \
             counts",
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
        worse.extend(gone.map(|name| format!("{name} (recorded, but the path does not exist)")));
    }
    match worse.is_empty() {
        true => Ok(Counted::Passed),
        false => Err(format!("more instructions than recorded: {}", worse.join(", ")).into()),
    }
}

/// Counts and writes the record: all paths, or only the selected ones.
///
/// # Errors
/// Fails if a path fails, or if this machine lacks the tools.
pub fn update(only: Option<&str>) -> Result<()> {
    if cfg!(debug_assertions) {
        return Err("this program was built without optimizations; run it with `cargo xtask`".into());
    }
    let here = tools::Tools::here()?;
    let old = Record::read(&record_file()).ok();
    let old = old.filter(|old| old.tools.differences(&here).is_empty());
    if only.is_some() && old.is_none() {
        return Err("the record was created with other tools; update all paths".into());
    }
    let chosen: Vec<CountedPath> = paths::all().into_iter().filter(|path| path.is_chosen(only)).collect();
    let counted = count(&chosen)?;
    let mut record = Record { tools: here, counts: Vec::new() };
    for name in names() {
        let new = counted.iter().find(|(counted, _)| *counted == name).map(|(_, count)| *count);
        let before = old.as_ref().and_then(|old| old.count(&name));
        // Keeps the counts of paths that are not selected. A complete update removes paths that no
        // longer exist.
        if let Some(count) = new.or(before.filter(|_| only.is_some())) {
            let verdict = before.map_or(Verdict::New, |before| Verdict::of(before, count));
            println!("{}", verdict.line(&name, count));
            record.counts.push((name, count));
        }
    }
    record.write(&record_file())
}

/// Counts the paths, with as many threads as processors.
fn count(chosen: &[CountedPath]) -> Result<Vec<(String, u64)>> {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())?;
    inputs::make(folder.path())?;
    callgrind::prepare(folder.path())?;
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut counts = Vec::new();
        while let Some(path) = chosen.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            let count = callgrind::count(path, folder.path()).map_err(|error| format!("{}: {error}", path.name))?;
            // Reports progress.
            eprintln!("{count:>12} {}", path.name);
            counts.push((path.name.clone(), count));
        }
        Ok(counts)
    };
    let counted: std::result::Result<Vec<_>, String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..super::limits::threads()).map(|_| scope.spawn(work)).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|_| Err("a counting thread panicked".to_owned()))
        };
        threads.into_iter().map(join).collect()
    });
    let mut counted: Vec<(String, u64)> = counted?.into_iter().flatten().collect();
    counted.sort_by_key(|(name, _)| chosen.iter().position(|path| path.name == *name));
    Ok(counted)
}
