//! Consolidations and vacuums, with their arrays.

mod arrays;
mod job;

use std::error::Error;
use std::path::Path;

use tdb_array::{Array, ArrayOptions, Order};
use tdb_maintain::{Consolidate, ConsolidateFragments, Vacuum};
use tdb_reference::model::Bytes;
use tdb_reference::{Stopwatch, TimedReads, repeated};

use super::digest;
pub use arrays::{MaintainedArray, all as arrays};
pub use job::Job;

/// Returns the digest and the number of all cells.
pub fn digest_of(path: &Path) -> Result<(Bytes, usize), Box<dyn Error>> {
    let array = Array::open(path)?;
    let query = |budget| -> Result<_, Box<dyn Error>> { Ok(array.read().order(Order::RowMajor).budget(budget)) };
    let mut cells = 0;
    for batch in query(64 << 20)?.batches()? {
        cells += batch?.len();
    }
    Ok((digest::of_cells(std::iter::once(query(usize::MAX)))?, cells))
}

/// Runs a job in the worker process.
pub fn work(job: Job, uri: &str, threads: usize) -> Result<TimedReads, Box<dyn Error>> {
    repeated(1, || {
        let start = Stopwatch::start();
        by_us(job, uri, threads)?;
        Ok(start.taken(0.0, 1))
    })
}

pub fn by_us(job: Job, uri: &str, threads: usize) -> Result<(), Box<dyn Error>> {
    let array = ArrayOptions::new().threads(threads).open(uri)?;
    match job {
        Job::Fragments => drop(ConsolidateFragments::new().amplification(1000.0).plan(&array)?.run()?),
        Job::Commits => drop(Consolidate::commits().plan(&array)?.run()?),
        Job::Footers => drop(Consolidate::footers().plan(&array)?.run()?),
        Job::VacuumFragments => drop(Vacuum::fragments().plan(&array)?.run()?),
        Job::VacuumCommits => drop(Vacuum::commits().plan(&array)?.run()?),
    }
    Ok(())
}
