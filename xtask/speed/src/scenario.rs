//! Curves: sizes, and operations at each size.

mod subjects;

use std::path::Path;

use crate::outcome::Result;
use subjects::Act;

/// Creates the input of a size in a folder.
pub type Make = fn(&Path, u64) -> Result<()>;

/// A curve of operations over a growing size.
pub struct Curve {
    /// Name of the SVG file.
    pub name: &'static str,
    pub about: &'static str,
    /// Label of the horizontal axis.
    pub x: &'static str,
    pub points: Vec<u64>,
    pub make: Make,
    pub series: Vec<Series>,
    /// `true` if the sizes are numbers of threads.
    pub is_of_threads: bool,
}

/// An operation at each size.
pub struct Series {
    pub name: &'static str,
    /// Prepares the operation, given a folder, the size, and the number of threads.
    pub prepare: fn(&Path, u64, usize) -> Result<Act>,
}

fn series(name: &'static str, prepare: fn(&Path, u64, usize) -> Result<Act>) -> Series {
    Series { name, prepare }
}

/// Returns powers of `factor` times `first`, up to `last`.
fn steps(first: u64, factor: u64, last: f64) -> Vec<u64> {
    std::iter::successors(Some(first), |step| Some(step * factor)).take_while(|step| *step as f64 <= last).collect()
}

/// Returns all curves. `scale` limits the sizes.
pub fn all(scale: f64) -> Vec<Curve> {
    let curve = |name, about, x, points, make: Make, series| Curve {
        name,
        about,
        x,
        points,
        make,
        series,
        is_of_threads: false,
    };
    vec![
        curve("cells", "More cells", "cells", steps(4096, 4, 16e6 * scale), subjects::cells, cells()),
        curve(
            "tiles",
            "Two million cells in more tiles",
            "tiles",
            steps(4, 4, 65e3 * scale.max(0.3)),
            subjects::tiles,
            tiles(),
        ),
        curve(
            "fragments",
            "More fragments",
            "fragments",
            steps(1, 4, 4096.0 * scale.max(0.3)),
            subjects::fragments,
            fragments(),
        ),
        curve(
            "attributes",
            "More attributes",
            "attributes",
            steps(1, 4, 1024.0 * scale.max(1.0)),
            subjects::attributes,
            attributes(),
        ),
        curve(
            "ranges",
            "More ranges and points in one query of a million cells",
            "ranges",
            steps(1, 4, 16384.0),
            subjects::spread,
            ranges(),
        ),
        Curve {
            is_of_threads: true,
            ..curve(
                "threads",
                "More threads",
                "threads",
                vec![1, 2, 3, 4],
                |folder, _| subjects::cells(folder, 2_000_000),
                threads(),
            )
        },
    ]
}

fn cells() -> Vec<Series> {
    vec![
        series("dense read", |folder, _, threads| subjects::reading(&folder.join("grid"), threads)),
        series("sparse read, sorted", |folder, _, threads| subjects::reading(&folder.join("points"), threads)),
        series("dense write", subjects::writing_grid),
        series("sparse write, sorted", subjects::writing_points),
    ]
}

fn tiles() -> Vec<Series> {
    vec![
        series("all cells", |folder, _, threads| subjects::reading(&folder.join("row"), threads)),
        series("open and one cell", |folder, _, threads| subjects::opening_and_point(&folder.join("row"), threads)),
        series("write", subjects::writing_tiles),
    ]
}

fn fragments() -> Vec<Series> {
    vec![
        series("open, with footers", |folder, _, threads| subjects::opening(&folder.join("row"), threads)),
        series("open and one cell", |folder, _, threads| subjects::opening_and_point(&folder.join("row"), threads)),
        series("all cells", |folder, _, threads| subjects::reading(&folder.join("row"), threads)),
        series("open and a small write", |folder, _, threads| subjects::small_write(&folder.join("row"), threads)),
    ]
}

fn attributes() -> Vec<Series> {
    vec![
        series("open, with footers", |folder, _, threads| subjects::opening(&folder.join("row"), threads)),
        series("all attributes", |folder, _, threads| subjects::reading(&folder.join("row"), threads)),
        series("one attribute", |folder, _, threads| subjects::reading_one(&folder.join("row"), threads)),
    ]
}

fn ranges() -> Vec<Series> {
    vec![
        series("ranges", |folder, ranges, threads| subjects::asking_ranges(&folder.join("points"), ranges, threads)),
        series("points", |folder, points, threads| subjects::asking_points(&folder.join("points"), points, threads)),
    ]
}

fn threads() -> Vec<Series> {
    vec![
        series("dense read", |folder, _, threads| subjects::reading(&folder.join("grid"), threads)),
        series("sparse read, sorted", |folder, _, threads| subjects::reading(&folder.join("points"), threads)),
        series("sparse write, sorted", |folder, _, threads| subjects::writing_points(folder, 2_000_000, threads)),
    ]
}

#[cfg(test)]
mod tests {
    use super::{all, steps};

    #[test]
    fn sizes_grow_up_to_the_last() {
        assert_eq!(steps(1, 4, 70.0), [1, 4, 16, 64]);
        for curve in all(1.0) {
            assert!(curve.points.len() > 3 && curve.points.is_sorted(), "{}", curve.name);
        }
    }
}
