//! Benchmarks of tdb and the reference library.
//!
//! Both sides do the same work on the same arrays in separate processes. They run alternately, with
//! one thread and with all threads, and open the array again for each run. A digest verifies that
//! both sides read the same cells. The table also contains the limits of the machine: speed of
//! memory copies, page cache, new files, and codecs.

mod arguments;
mod arrays;
mod bench;
mod cases;
mod cells;
pub mod count;
mod counted_part;
mod curves;
mod digest;
mod elsewhere;
mod folders;
mod latency;
mod limits;
mod maintenance;
mod ours;
mod outcome;
mod scenario;
mod schemas;
mod table;
mod task;
pub mod tdb;
mod workload;
mod workloads;

use std::error::Error;

pub use arguments::Arguments;

/// Runs `cargo xtask speed`. `python` compares the Python package, and takes the arguments of its
/// program.
///
/// # Errors
/// A measurement fails, or a program of another workspace cannot be built.
pub fn run(
    arguments: &Arguments,
    python: impl Fn(&[String]) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    if let Some(elsewhere) = &arguments.elsewhere {
        return elsewhere.run(python);
    }
    if arguments.latency {
        return latency::run();
    }
    if arguments.count {
        return run_count(arguments);
    }
    if let Some(folder) = &arguments.curves {
        return curves::run(folder, arguments);
    }
    bench::run(arguments)
}

fn run_count(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let only = arguments.only.as_deref();
    if arguments.list {
        count::names().iter().for_each(|name| println!("{name}"));
        return Ok(());
    }
    if arguments.update {
        return count::update(only);
    }
    match count::compare(only)? {
        count::Counted::Passed => Ok(()),
        count::Counted::Skipped(why) => {
            println!("NOTHING WAS COMPARED: {why}");
            Ok(())
        }
        count::Counted::Unoptimised => {
            Err("this program was built without optimizations; run it with `cargo xtask`".into())
        }
    }
}

/// Runs the task from standard input in the worker process of tdb.
///
/// # Errors
/// Fails if the task fails.
pub fn run_worker() -> Result<(), Box<dyn Error>> {
    ours::work()
}
