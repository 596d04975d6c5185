//! Measurement of each query on all sides, alternately.

use crate::answers::difference;
use crate::outcome::Result;
use crate::queries::Query;
use crate::side::{Place, Running, Side};

/// Measurements of a side for a query.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    /// CPU seconds, ascending.
    cpu_seconds: Vec<f64>,
    /// Elapsed seconds, ascending.
    seconds: Vec<f64>,
    /// Peak memory of the process in bytes.
    pub(crate) peak_memory: u64,
}

impl Taken {
    /// Returns the median CPU time in seconds.
    pub(crate) fn cpu(&self) -> f64 {
        middle(&self.cpu_seconds, 2)
    }

    /// Returns the median elapsed time in seconds.
    pub(crate) fn clock(&self) -> f64 {
        middle(&self.seconds, 2)
    }

    /// Returns the interquartile range of CPU times, relative to the median.
    pub(crate) fn spread(&self) -> f64 {
        (middle(&self.cpu_seconds, 1) - middle(&self.cpu_seconds, 3)).abs() / self.cpu()
    }
}

/// Returns a quartile of ascending values: 1 for the lower, 2 for the median, 3 for the upper.
fn middle(ascending: &[f64], part: usize) -> f64 {
    let place = match part {
        1 => ascending.len() / 4,
        2 => ascending.len() / 2,
        _ => ascending.len() * 3 / 4,
    };
    ascending.get(place).or(ascending.last()).copied().unwrap_or(f64::NAN)
}

/// Runs a query on all sides alternately: once to warm up, then `repeats` times. Fails if a side
/// returns other rows than the first.
pub(crate) fn measure(query: &Query, sides: &[Side], place: Place<'_>, repeats: usize) -> Result<Vec<Taken>> {
    let mut running = sides.iter().map(|side| Running::start(*side, place)).collect::<Result<Vec<_>>>()?;
    let warm = running.iter_mut().map(|side| side.ask(query)).collect::<Result<Vec<_>>>()?;
    for (side, answer) in sides.iter().zip(&warm).skip(1) {
        if let Some(difference) = difference(&warm[0].rows, &answer.rows) {
            let first = sides[0].word();
            return Err(format!("{}: {first} and {} gave different rows: {difference}", query.name, side.word()).into());
        }
    }
    let mut taken = vec![(Vec::new(), Vec::new()); sides.len()];
    for _ in 0..repeats.max(1) {
        for (side, (cpu_seconds, seconds)) in running.iter_mut().zip(&mut taken) {
            let answer = side.ask(query)?;
            cpu_seconds.push(answer.cpu_seconds);
            seconds.push(answer.seconds);
        }
    }
    let all = running.iter().zip(taken).map(|(side, (mut cpu_seconds, mut seconds))| {
        cpu_seconds.sort_by(f64::total_cmp);
        seconds.sort_by(f64::total_cmp);
        Taken { cpu_seconds, seconds, peak_memory: side.peak_memory() }
    });
    Ok(all.collect())
}
