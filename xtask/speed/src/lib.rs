//! The same reads by the reference library and by ours, side by side.
//!
//! Both sides read the same arrays in processes of their own, one after the other in the same run, with one thread and
//! with all; both open the array anew for each read. That the cells are the same is checked by digest. Beside them
//! stand what the machine can do at all: copy memory, read the page cache, run the codec.

mod arguments;
mod arrays;
mod cases;
mod digest;
mod latency;
mod limits;
mod maintenance;
mod measured;
mod ours;
mod report;
mod stores;
mod writes;

use std::error::Error;

pub use arguments::{Arguments, WorkerArguments};

use arguments::Elsewhere;
use cases::{Asking, Case};
use measured::Measured;
use report::Row;
use tdb_reference::{NEWEST, Reference, TimedReads};

pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    if let Some(Elsewhere::Stores(arguments)) = &arguments.elsewhere {
        return stores::run(arguments);
    }
    if arguments.writes {
        return writes::run(arguments);
    }
    if arguments.maintain {
        return maintenance::run(arguments);
    }
    if arguments.latency {
        return latency::run();
    }
    let cases: Vec<Case> = cases::all(arguments.scale)
        .into_iter()
        .filter(|case| arguments.only.as_ref().is_none_or(|only| case.name.contains(only)))
        .collect();
    if arguments.list {
        cases.iter().for_each(|case| println!("{}", case.name));
        return Ok(());
    }
    let folder = arguments.arrays.clone().unwrap_or_else(arrays::default_folder);
    let mut reference = Reference::start(NEWEST)?;
    reference.patience(std::time::Duration::from_secs(1800));
    println!("{}", report::heading(&limits::measure()?));
    let mut different = Vec::new();
    for case in &cases {
        let uri = arrays::ensure(&mut reference, &folder, &case.array)?;
        let theirs = measure_theirs(&mut reference, &uri, case, arguments.repeats)?;
        let ours = measure_ours(&uri, case, arguments.repeats)?;
        let codec = case.array.codec().map(|codec| limits::codec(codec, &case.array)).transpose()?;
        let row = Row { case, theirs, ours, codec };
        println!("{}", row.line());
        if !row.is_same() {
            different.push(case.name.clone());
        }
    }
    if different.is_empty() { Ok(()) } else { Err(format!("different cells: {}", different.join(", ")).into()) }
}

pub fn run_worker(arguments: &WorkerArguments) -> Result<(), Box<dyn Error>> {
    match arguments.maintains {
        Some(job) => maintenance::work(job, &arguments.uri, arguments.threads),
        None => ours::work(arguments),
    }
}

fn measure_theirs(
    reference: &mut Reference,
    uri: &str,
    case: &Case,
    repeats: usize,
) -> Result<Measured, Box<dyn Error>> {
    let mut with = |threads: usize| -> Result<TimedReads, Box<dyn Error>> {
        for setting in ["sm.compute_concurrency_level", "sm.io_concurrency_level"] {
            reference.config().insert(setting.to_owned(), threads.to_string());
        }
        // A process of its own for each, so that the peak of memory is that of this read.
        reference.restart();
        if !case.aggregates.is_empty() {
            return Ok(reference.time_aggregates(uri, &case.query, &case.aggregates, repeats)?);
        }
        match case.asking {
            Asking::Once => Ok(reference.time_reads(uri, &case.query, Some(case.room()), repeats)?),
            Asking::OneByOne | Asking::Points => Ok(reference.time_reads_one_by_one(uri, &case.query, repeats)?),
        }
    };
    let measured = Measured { one_thread: with(1)?, all_threads: with(limits::threads())? };
    reference.config().clear();
    reference.restart();
    Ok(measured)
}

fn measure_ours(uri: &str, case: &Case, repeats: usize) -> Result<Measured, Box<dyn Error>> {
    let digest = ours::spawn(uri, case, 1, 0, true)?.digest;
    let mut one_thread = ours::spawn(uri, case, 1, repeats, false)?;
    let mut all_threads = ours::spawn(uri, case, limits::threads(), repeats, false)?;
    one_thread.digest = digest.clone();
    all_threads.digest = digest;
    Ok(Measured { one_thread, all_threads })
}
