//! Consolidations and vacuums on copies of an array in an in-memory file system.

use std::fs;
use std::path::Path;

use tdb_reference::{NEWEST, Reference, Stopwatch, TimedRead, TimedReads};

use crate::folders::{self, copy};
use crate::limits;
use crate::maintenance::{self, Job, MaintainedArray};
use crate::ours;
use crate::outcome::Result;
use crate::task::{Request, Task};
use crate::workload::{Ask, Bench, Group, Workload, set_threads};

struct Maintain {
    name: String,
    array: MaintainedArray,
    job: Job,
    cells: usize,
    bytes: u64,
}

pub(super) fn all(scale: f64) -> Vec<Box<dyn Workload>> {
    let mut all: Vec<Box<dyn Workload>> = Vec::new();
    for array in maintenance::arrays(scale) {
        for job in array.jobs {
            let (name, array) = (job.name(array.name), array.clone());
            all.push(Box::new(Maintain { name, array, job: *job, cells: 0, bytes: 0 }));
        }
    }
    all
}

impl Maintain {
    /// Runs a job several times, each time on a new copy of the prepared array.
    fn repeat(
        &self,
        bench: &Bench,
        ask: Ask,
        mut act: impl FnMut(&str, &mut TimedReads) -> Result<()>,
    ) -> Result<TimedReads> {
        let (prepared, target) = (bench.in_memory("prepared"), bench.in_memory("copy"));
        let digest = maintenance::digest_of(Path::new(&prepared))?.0;
        let mut timed = TimedReads { cells: self.cells, bytes: self.bytes, digest, reads: Vec::new(), peak_memory: 0 };
        for _ in 0..ask.repeats {
            copy(Path::new(&prepared), Path::new(&target))?;
            act(&target, &mut timed)?;
            if ask.digest {
                timed.digest = maintenance::digest_of(Path::new(&target))?.0;
            }
            fs::remove_dir_all(&target)?;
        }
        Ok(timed)
    }
}

impl Workload for Maintain {
    fn name(&self) -> &str {
        &self.name
    }

    fn group(&self) -> Group {
        Group::Maintenance
    }

    /// Creates the array. For a vacuum, also consolidates it.
    fn prepare(&mut self, bench: &mut Bench) -> Result<()> {
        let prepared = bench.in_memory("prepared");
        self.finish(bench)?;
        bench.reference.create(&prepared, &self.array.spec)?;
        (0..self.array.fragments).try_for_each(|number| self.array.write(&prepared, number))?;
        for before in self.job.before() {
            maintenance::by_us(*before, &prepared, limits::threads())?;
        }
        self.cells = maintenance::digest_of(Path::new(&prepared))?.1;
        Ok(())
    }

    fn theirs(&self, bench: &mut Bench, ask: Ask) -> Result<TimedReads> {
        self.repeat(bench, ask, |uri, timed| by_them(self.job, uri, ask.threads, timed))
    }

    fn ours(&self, bench: &mut Bench, ask: Ask) -> Result<TimedReads> {
        self.repeat(bench, ask, |uri, timed| {
            let (uri, task) = (uri.to_owned(), Task::Maintain(self.job));
            let ours = ours::spawn(&Request { uri, task, threads: ask.threads, repeats: 1, digest: false })?;
            timed.reads.extend(ours.reads);
            timed.peak_memory = timed.peak_memory.max(ours.peak_memory);
            Ok(())
        })
    }

    fn finish(&mut self, bench: &mut Bench) -> Result<()> {
        Ok(folders::remove(bench.in_memory("prepared"))?)
    }
}

/// Runs a job with the reference library in a separate process. The time excludes the startup of
/// the process.
fn by_them(job: Job, uri: &str, threads: usize, timed: &mut TimedReads) -> Result<()> {
    let mut reference = Reference::start(NEWEST)?;
    reference.patience(std::time::Duration::from_secs(1800));
    set_threads(&mut reference, threads);
    // A consolidated dense fragment contains all cells of the fragments' MBR. A high limit permits
    // this for distant fragments too.
    reference.config().insert("sm.consolidation.amplification".to_owned(), "1000".to_owned());
    for setting in ["sm.consolidation.mode", "sm.vacuum.mode"] {
        reference.config().insert(setting.to_owned(), job.mode().to_owned());
    }
    let cpu_before = reference.cpu_seconds()?;
    let start = Stopwatch::start();
    match job.is_vacuum() {
        false => reference.consolidate(uri, job.mode())?,
        true => reference.vacuum(uri, job.mode())?,
    }
    let seconds = start.seconds();
    let cpu_seconds = reference.cpu_seconds()? - cpu_before;
    timed.reads.push(TimedRead { seconds, cpu_seconds, open_seconds: 0.0, submits: 1 });
    timed.peak_memory = timed.peak_memory.max(reference.peak_memory()?);
    Ok(())
}
