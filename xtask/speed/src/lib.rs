//! The same work by the reference library and by ours, side by side.
//!
//! Both sides do the same to the same arrays in processes of their own, in turns in the same run, with one thread and
//! with all; both open the array anew each time. That the cells are the same is checked by digest. Beside them
//! stands what the machine can do at all: copy memory, read the page cache, write a new file, run the codec.

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
mod side;
mod table;
mod task;
pub mod tdb;
mod workload;
mod workloads;

use std::error::Error;

pub use arguments::Arguments;

pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    if let Some(elsewhere) = &arguments.elsewhere {
        return elsewhere.run();
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
            Err("this program was built without optimisations; `cargo xtask` builds it with them".into())
        }
    }
}

/// What the process of our side does; what, it is told on standard input.
///
/// # Errors
///
/// If it can't be done.
pub fn run_worker() -> Result<(), Box<dyn Error>> {
    ours::work()
}
