//! The slope of a curve, and its extrapolation to a thousand times the size.

use super::chart::Line;
use crate::scenario::Curve;
use crate::table::text::time;

pub const HEADING: &str = "\
| size | operation | smallest | largest | time | time exponent | memory | memory exponent | time at 1,000 times the largest size |
| --- | --- | --: | --: | --: | --: | --: | --: | --- |";

/// Formats a row of the table.
pub fn row(curve: &Curve, line: &Line) -> String {
    let (Some(first), Some(last)) = (line.points.first(), line.points.last()) else { return String::new() };
    let times = slope(line.points.iter().map(|(x, seconds, _)| (*x as f64, *seconds)));
    let memories = slope(line.points.iter().map(|(x, _, bytes)| (*x as f64, *bytes as f64)));
    let far = match curve.is_of_threads {
        true => String::new(),
        // A budget limits memory, so the memory curve is not extrapolated.
        false => time(last.1 * 1000_f64.powf(times.max(0.0))),
    };
    format!(
        "| {} | {} | {} | {} | {}, {} | {times:.2} | {}, {} | {memories:.2} | {far} |",
        curve.x,
        line.name,
        first.0,
        last.0,
        time(first.1),
        time(last.1),
        megabytes(first.2 as f64),
        megabytes(last.2 as f64),
    )
}

fn megabytes(bytes: f64) -> String {
    format!("{:.1} MB", bytes / f64::from(1 << 20))
}

/// Returns the exponent of a power law for the last points: the slope of the regression line of
/// their logarithms. For small sizes, the fixed cost hides the slope.
pub fn slope(points: impl Iterator<Item = (f64, f64)>) -> f64 {
    const LAST: usize = 3;
    let points: Vec<(f64, f64)> = points.map(|(x, y)| (x.ln(), y.max(1e-12).ln())).collect();
    let last = &points[points.len().saturating_sub(LAST)..];
    let count = last.len() as f64;
    let [mean_x, mean_y] =
        [last.iter().map(|point| point.0).sum::<f64>() / count, last.iter().map(|point| point.1).sum::<f64>() / count];
    let above: f64 = last.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let below: f64 = last.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    above / below
}

#[cfg(test)]
mod tests {
    use super::slope;

    #[test]
    fn slope_of_square_is_two_and_of_constant_zero() {
        let points = |power: i32| [1.0_f64, 4.0, 16.0, 64.0].into_iter().map(move |x| (x, 3.0 * x.powi(power)));
        assert!((slope(points(2)) - 2.0).abs() < 1e-9);
        assert!(slope(points(0)).abs() < 1e-9);
    }
}
