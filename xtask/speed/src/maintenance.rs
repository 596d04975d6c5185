//! The same consolidations and vacuums by the reference library and by ours, each of a fresh copy of the same array in memory.

mod arrays;
mod job;

use std::error::Error;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tdb_array::{Array, ArrayOptions, Order};
use tdb_maintain::{Consolidate, ConsolidateFragments, Vacuum};
use tdb_reference::model::Bytes;
use tdb_reference::{NEWEST, Reference, peak_memory, reset_peak_memory};

use super::arguments::Arguments;
use super::{digest, limits, report};
use arrays::MaintainedArray;
pub use job::Job;

/// What one run took.
#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
struct Taken {
    seconds: f64,
    peak_memory: u64,
}

/// Of one side by so many threads: the median time, the greatest peak.
struct Side {
    seconds: f64,
    peak_memory: u64,
    digest: Bytes,
}

/// Measures all jobs on all arrays.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let arrays = arrays::all(arguments.scale);
    let is_wanted = |name: &str| arguments.only.as_ref().is_none_or(|only| name.contains(only));
    let all = limits::threads();
    println!(
        "| job | cells | reference, 1 thread | ours, 1 thread | ratio | reference, {all} threads | ours, {all} threads | ratio | \
         memory: reference, ours | same cells |\n| --- | --: | --: | --: | --: | --: | --: | --: | --: | --- |"
    );
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())?;
    let mut different = Vec::new();
    for array in arrays {
        let jobs: Vec<Job> = array.jobs.iter().copied().filter(|job| is_wanted(&job.name(array.name))).collect();
        if arguments.list {
            jobs.iter().for_each(|job| println!("{}", job.name(array.name)));
            continue;
        }
        if jobs.is_empty() {
            continue;
        }
        let base = folder.path().join("base");
        make(&array, &base)?;
        for job in jobs {
            if !measure(&array, job, folder.path(), &base, arguments.repeats)? {
                different.push(job.name(array.name));
            }
        }
        fs::remove_dir_all(&base)?;
    }
    if different.is_empty() { Ok(()) } else { Err(format!("different cells: {}", different.join(", ")).into()) }
}

fn make(array: &MaintainedArray, path: &Path) -> Result<(), Box<dyn Error>> {
    let uri = path.to_str().ok_or("the folder is not UTF-8")?;
    Reference::start(NEWEST)?.create(uri, &array.spec)?;
    (0..array.fragments).try_for_each(|number| array.write(uri, number))
}

/// Prints a row; gives whether both sides' arrays hold what was there before.
fn measure(
    array: &MaintainedArray,
    job: Job,
    folder: &Path,
    base: &Path,
    repeats: usize,
) -> Result<bool, Box<dyn Error>> {
    // What a vacuum removes is there before.
    let prepared = folder.join("prepared");
    copy(base, &prepared)?;
    for before in job.before() {
        by_us(*before, path_of(&prepared)?, limits::threads())?;
    }
    let (expected, cells) = digest_of(&prepared)?;
    let mut sides = Vec::new();
    for threads in [1, limits::threads()] {
        sides.push(repeat(repeats, &prepared, folder, |uri| by_them(job, uri, threads))?);
        sides.push(repeat(repeats, &prepared, folder, |uri| spawn(job, uri, threads))?);
    }
    fs::remove_dir_all(&prepared)?;
    let is_same = sides.iter().all(|side| side.digest == expected);
    let megabytes = |index: usize| format!("{} MB", sides[index].peak_memory >> 20);
    println!(
        "| {} | {cells} | {} | {} | **{:.1}** | {} | {} | **{:.1}** | {}, {} | {} |",
        job.name(array.name),
        report::time(sides[0].seconds),
        report::time(sides[1].seconds),
        sides[0].seconds / sides[1].seconds,
        report::time(sides[2].seconds),
        report::time(sides[3].seconds),
        sides[2].seconds / sides[3].seconds,
        megabytes(2),
        megabytes(3),
        if is_same { "yes" } else { "NO" },
    );
    Ok(is_same)
}

/// Does it on copies, one after the other.
fn repeat(
    repeats: usize,
    prepared: &Path,
    folder: &Path,
    mut act: impl FnMut(&str) -> Result<Taken, Box<dyn Error>>,
) -> Result<Side, Box<dyn Error>> {
    let target = folder.join("copy");
    let (mut taken, mut digest) = (Vec::new(), Bytes::default());
    for _ in 0..repeats.max(1) {
        copy(prepared, &target)?;
        taken.push(act(path_of(&target)?)?);
        digest = digest_of(&target)?.0;
        fs::remove_dir_all(&target)?;
    }
    let peak_memory = taken.iter().map(|taken| taken.peak_memory).max().unwrap_or(0);
    Ok(Side { seconds: report::median(taken.iter().map(|taken| taken.seconds)), peak_memory, digest })
}

fn path_of(path: &Path) -> Result<&str, Box<dyn Error>> {
    path.to_str().ok_or_else(|| "the folder is not UTF-8".into())
}

/// What all cells are, and how many.
fn digest_of(path: &Path) -> Result<(Bytes, usize), Box<dyn Error>> {
    let array = Array::open(path)?;
    let query = |budget| -> Result<_, Box<dyn Error>> { Ok(array.read().order(Order::RowMajor).budget(budget)) };
    let mut cells = 0;
    for batch in query(64 << 20)?.batches()? {
        cells += batch?.len();
    }
    Ok((digest::of_cells(std::iter::once(query(usize::MAX)))?, cells))
}

/// By the library, in a process of its own; its start doesn't count.
fn by_them(job: Job, uri: &str, threads: usize) -> Result<Taken, Box<dyn Error>> {
    let mut reference = Reference::start(NEWEST)?;
    reference.patience(Duration::from_secs(1800));
    for setting in ["sm.compute_concurrency_level", "sm.io_concurrency_level"] {
        reference.config().insert(setting.to_owned(), threads.to_string());
    }
    // What dense fragments cover is all written.
    reference.config().insert("sm.consolidation.amplification".to_owned(), "1000".to_owned());
    for setting in ["sm.consolidation.mode", "sm.vacuum.mode"] {
        reference.config().insert(setting.to_owned(), job.mode().to_owned());
    }
    reference.version()?;
    let start = Instant::now();
    match job.is_vacuum() {
        false => reference.consolidate(uri, job.mode())?,
        true => reference.vacuum(uri, job.mode())?,
    }
    Ok(Taken { seconds: start.elapsed().as_secs_f64(), peak_memory: reference.peak_memory()? })
}

/// By ours, in a process of its own; its start doesn't count.
fn spawn(job: Job, uri: &str, threads: usize) -> Result<Taken, Box<dyn Error>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["speed-worker", uri, &threads.to_string(), "1", "--maintains", job.key()]);
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("ours failed: {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// What the spawned process does.
pub fn work(job: Job, uri: &str, threads: usize) -> Result<(), Box<dyn Error>> {
    reset_peak_memory();
    let start = Instant::now();
    by_us(job, uri, threads)?;
    let taken = Taken { seconds: start.elapsed().as_secs_f64(), peak_memory: peak_memory() };
    println!("{}", serde_json::to_string(&taken)?);
    Ok(())
}

fn by_us(job: Job, uri: &str, threads: usize) -> Result<(), Box<dyn Error>> {
    let array = ArrayOptions::new().threads(threads).open(uri)?;
    match job {
        Job::Fragments => drop(ConsolidateFragments::new().amplification(1000.0).run(&array)?),
        Job::Commits => drop(Consolidate::commits().plan(&array)?.run()?),
        Job::Footers => drop(Consolidate::footers().plan(&array)?.run()?),
        Job::VacuumFragments => drop(Vacuum::fragments().plan(&array)?.run()?),
        Job::VacuumCommits => drop(Vacuum::commits().plan(&array)?.run()?),
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &target)?,
            false => drop(fs::copy(entry.path(), target)?),
        }
    }
    Ok(())
}
