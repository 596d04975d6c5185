//! Formats figures.

use tdb_reference::TimedReads;

/// Returns the median wall time.
pub fn seconds(side: &TimedReads) -> f64 {
    quantiles(side.reads.iter().map(|run| run.seconds))[1]
}

pub fn cpu_seconds(side: &TimedReads) -> f64 {
    quantiles(side.reads.iter().map(|run| run.cpu_seconds))[1]
}

/// Returns the lower quartile, the median and the upper quartile.
pub fn quantiles(seconds: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut seconds: Vec<f64> = seconds.collect();
    seconds.sort_by(f64::total_cmp);
    let last = seconds.len().saturating_sub(1);
    // For few values, the lower and upper quartile are the minimum and maximum.
    [last / 4, seconds.len() / 2, (last * 3).div_ceil(4)].map(|at| seconds.get(at).copied().unwrap_or(f64::NAN))
}

pub fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// Formats the median, half of the interquartile range as a percentage of the median, and bytes or
/// cells per second.
pub fn time_and_speed(side: &TimedReads) -> String {
    let [low, median, high] = quantiles(side.reads.iter().map(|run| run.seconds));
    let spread = (high - low) / 2.0 / median * 100.0;
    let speed = match (side.bytes, side.cells) {
        (bytes, _) if bytes >= 1 << 20 => format!(", {:.0} MB/s", bytes as f64 / median / 1e6),
        (_, cells) if cells >= 1000 && cells as f64 / median >= 1e6 => {
            format!(", {:.1} M/s", cells as f64 / median / 1e6)
        }
        (_, cells) if cells >= 1000 => format!(", {:.0} k/s", cells as f64 / median / 1e3),
        _ => String::new(),
    };
    format!("{} ± {spread:.0} %{speed}", time(median))
}

pub fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes >> 20)
}

pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
