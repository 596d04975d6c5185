//! Measures a point of a curve.

use std::path::Path;

use tdb_reference::{Stopwatch, TimedReads, peak_memory, reset_peak_memory};

use crate::outcome::Result;
use crate::scenario;
use crate::task::{CurvePoint, Request};

/// Minimum total time of a point's runs in seconds, if they are short.
const PATIENCE: f64 = 0.5;
/// Maximum number of runs. Small writes add fragments.
const MOST: usize = 50;

pub fn work(request: &Request, point: &CurvePoint) -> Result<TimedReads> {
    // The scale affects only the list of points.
    let curve = scenario::all(1.0).into_iter().find(|curve| curve.name == point.curve).ok_or("unknown curve")?;
    let series = curve.series.iter().find(|series| series.name == point.series).ok_or("unknown series")?;
    let folder = Path::new(&request.uri);
    let mut timed = TimedReads::default();
    let mut act = (series.prepare)(folder, point.x, request.threads)?;
    reset_peak_memory();
    let before = peak_memory();
    act()?;
    timed.peak_memory = peak_memory().saturating_sub(before);
    let all = Stopwatch::start();
    while timed.reads.len() < request.repeats || (all.seconds() < PATIENCE && timed.reads.len() < MOST) {
        let start = Stopwatch::start();
        act()?;
        timed.reads.push(start.taken(0.0, 1));
    }
    Ok(timed)
}
