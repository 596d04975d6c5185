//! Compares opens, reads and writes on an object store between the reference library and this
//! project.
//!
//! Both use the same S3 server through the same proxy, which counts and delays requests. Run with
//! `cargo xtask speed stores`.
//!
//! * `place`: the server, the proxy and the credentials
//! * `arrays`, `cells`: the arrays, created by the reference library
//! * `ours`, `theirs`: measurements of each side
//! * `task`: the measured tasks
//! * `table`: the result

mod arrays;
mod cells;
mod ours;
mod outcome;
mod place;
mod table;
mod task;
mod theirs;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use outcome::Result;
use place::Place;
use table::Row;
use task::Task;
use theirs::Theirs;

/// Compare opens, reads and writes of arrays on an object store between the reference library and
/// this project, with increasing delays
#[derive(Parser)]
#[command(name = "cargo xtask speed stores")]
struct Arguments {
    /// URL for the arrays, such as `s3://bucket/folder`, on the server in AWS_ENDPOINT_URL
    /// [default: a small server in this process]
    url: Option<String>,
    /// Additional delays of each response, in milliseconds
    #[arg(long, value_delimiter = ',', default_values_t = [0, 30, 100])]
    delays: Vec<u64>,
    /// Number of repetitions (the median is reported)
    #[arg(long, default_value_t = 5)]
    repeats: usize,
    /// Show the requests of this project
    #[arg(long)]
    show: bool,
    /// Number of fragments of the larger array, which is only opened
    #[arg(long, default_value_t = 1000)]
    fragments: u32,
}

fn main() -> ExitCode {
    if let Some(served) = tdb_reference::serve() {
        return exit_code(served.map_err(Into::into));
    }
    exit_code(run(&Arguments::parse()))
}

fn exit_code(result: Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    eprintln!("error: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        eprintln!("  caused by: {cause}");
        source = cause.source();
    }
    ExitCode::FAILURE
}

fn run(arguments: &Arguments) -> Result<()> {
    let place = Place::of(arguments.url.as_deref())?;
    let mut theirs = Theirs::start(&place)?;
    eprintln!("creating the arrays");
    arrays::make(&place, &mut theirs, arguments.fragments)?;
    println!("{}", table::heading(&place));
    let mut missed = Vec::new();
    for delay in &arguments.delays {
        place.proxy().delay(Duration::from_millis(*delay));
        for task in Task::ALL {
            // With delays, opening a thousand fragments takes the reference library minutes.
            let repeats = if task == Task::OpenMany && *delay > 0 { 1 } else { arguments.repeats };
            let reference = theirs.measure(&place, task, repeats)?;
            let own = ours::measure(&place, task, arguments.repeats, arguments.show)?;
            let row = Row { task, fragments: arguments.fragments, delay: *delay, reference, ours: own };
            println!("{}", row.line());
            missed.extend(row.missed());
        }
    }
    if !missed.is_empty() {
        println!("\nMissed targets:\n\n- {}", missed.join("\n- "));
    }
    Ok(())
}
