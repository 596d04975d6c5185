//! Measures and draws how tdb's time and memory grow with cells, tiles, fragments, attributes,
//! ranges and threads.
//!
//! Each point is the CPU time of a separate process, which depends little on other load. The
//! shortest of several runs counts. Memory is the peak minus the usage before.

mod chart;
mod scale;

use std::fs;
use std::path::Path;

use crate::arguments::Arguments;
use crate::ours;
use crate::outcome::Result;
use crate::scenario::{self, Curve};
use crate::task::{CurvePoint, Request, Task};
use chart::{Chart, Line};

/// Measures all curves, draws each into `folder`, and prints a table of their slopes.
pub fn run(folder: &Path, arguments: &Arguments) -> Result<()> {
    let is_wanted = |curve: &Curve| arguments.only.as_ref().is_none_or(|only| curve.name.contains(only));
    let curves: Vec<Curve> = scenario::all(arguments.scale).into_iter().filter(is_wanted).collect();
    if arguments.list {
        curves.iter().for_each(|curve| println!("{}: {}", curve.name, curve.about));
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    println!("{}", scale::HEADING);
    for curve in &curves {
        let chart = measure(curve, arguments.repeats)?;
        for line in &chart.lines {
            println!("{}", scale::row(curve, line));
        }
        fs::write(folder.join(format!("{}.svg", curve.name)), chart.svg())?;
    }
    Ok(())
}

fn measure(curve: &Curve, repeats: usize) -> Result<Chart> {
    let place = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())?;
    let new = |series: &scenario::Series| Line { name: series.name, points: Vec::new() };
    let mut lines: Vec<Line> = curve.series.iter().map(new).collect();
    for x in &curve.points {
        let folder = place.path().join(x.to_string());
        (curve.make)(&folder, *x)?;
        let uri = folder.to_str().ok_or("the folder is not UTF-8")?;
        for (series, line) in curve.series.iter().zip(&mut lines) {
            let point = CurvePoint { curve: curve.name.to_owned(), series: series.name.to_owned(), x: *x };
            let threads = if curve.is_of_threads { usize::try_from(*x)? } else { 1 };
            let (uri, task) = (uri.to_owned(), Task::Curve(point));
            let timed = ours::spawn(&Request { uri, task, threads, repeats, digest: false })?;
            let seconds = timed.reads.iter().map(|run| match curve.is_of_threads {
                // CPU time does not decrease with more threads, so wall time is used.
                true => run.seconds,
                false => run.cpu_seconds,
            });
            line.points.push((*x, seconds.fold(f64::INFINITY, f64::min), timed.peak_memory));
        }
        fs::remove_dir_all(&folder)?;
    }
    let time = if curve.is_of_threads { "seconds" } else { "CPU seconds" };
    Ok(Chart { title: curve.about.to_owned(), x: curve.x, time, lines })
}
