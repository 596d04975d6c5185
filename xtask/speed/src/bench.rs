//! Runs the benchmark: each workload by both sides alternately.

use tdb_reference::{NEWEST, Reference, Stopwatch, TimedReads};

use crate::arguments::Arguments;
use crate::outcome::Result;
use crate::table::{self, Row};
use crate::workload::{Ask, Bench, Workload};
use crate::{arrays, limits, workloads};

/// Workloads that take at least this many seconds run only twice. They vary less, and all rows
/// together must finish within minutes.
const LONG: f64 = 2.0;

/// Measures the workloads. Prints the table, the means, and the rows below their targets.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut workloads = workloads::all(arguments.scale, &arguments.groups);
    workloads.retain(|workload| arguments.only.as_ref().is_none_or(|only| workload.name().contains(only)));
    if arguments.list {
        for workload in &workloads {
            println!("{:<24} {}", workload.group().name(), workload.name());
        }
        return Ok(());
    }
    let all = Stopwatch::start();
    let mut reference = Reference::start(NEWEST)?;
    reference.patience(std::time::Duration::from_secs(1800));
    let mut bench = Bench {
        reference,
        arrays: arguments.arrays.clone().unwrap_or_else(arrays::default_folder),
        memory: tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())?,
        machine: limits::measure()?,
    };
    println!("{}", table::heading(&bench.machine));
    let mut rows = Vec::new();
    for workload in &mut workloads {
        let row = measure(&mut **workload, &mut bench, arguments.repeats.max(1));
        let row = row.map_err(|error| format!("{}: {error}", workload.name()))?;
        println!("{}", row.line());
        rows.push(row);
    }
    println!("\n{}", table::summary(&rows, bench.machine.threads));
    println!("{} rows took {:.0} minutes.", rows.len(), all.seconds() / 60.0);
    let different: Vec<&str> = rows.iter().filter(|row| !row.is_same()).map(|row| row.name.as_str()).collect();
    if different.is_empty() { Ok(()) } else { Err(format!("different cells: {}", different.join(", ")).into()) }
}

fn measure(workload: &mut dyn Workload, bench: &mut Bench, repeats: usize) -> Result<Row> {
    workload.prepare(bench)?;
    let all = limits::threads();
    let (mut theirs, mut ours) = (<[TimedReads; 2]>::default(), <[TimedReads; 2]>::default());
    // Two rounds expose both sides to the same other load on the machine.
    for turn in 0..2_usize.min(repeats) {
        let repeats = |side: &TimedReads| match turn {
            0 => 1,
            _ if side.reads.iter().any(|run| run.seconds >= LONG) => 1,
            _ => repeats - 1,
        };
        for (place, threads) in [1, all].into_iter().enumerate() {
            let ask = |side: &TimedReads| Ask { threads, repeats: repeats(side), digest: turn == 0 };
            let (ask_theirs, ask_ours) = (ask(&theirs[place]), ask(&ours[place]));
            add(&mut theirs[place], workload.theirs(bench, ask_theirs)?);
            add(&mut ours[place], workload.ours(bench, ask_ours)?);
        }
    }
    let bytes = theirs[0].bytes.max(ours[0].bytes);
    let sample = TimedReads { cells: ours[0].cells, bytes, ..TimedReads::default() };
    let limit = workload.limit(bench, &sample)?;
    bench.reference.config().clear();
    bench.reference.restart();
    workload.finish(bench)?;
    Ok(Row { name: workload.name().to_owned(), group: workload.group(), theirs, ours, limit })
}

/// Adds the measurements of another round.
fn add(side: &mut TimedReads, timed: TimedReads) {
    (side.cells, side.bytes) = (timed.cells, timed.bytes);
    if !timed.digest.is_empty() {
        side.digest = timed.digest;
    }
    side.reads.extend(timed.reads);
    side.peak_memory = side.peak_memory.max(timed.peak_memory);
}
