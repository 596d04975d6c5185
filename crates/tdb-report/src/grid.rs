//! A two-dimensional histogram, drawn as shades.

use crate::axis::{bin, ratio};
use crate::picture::Picture;

const ACROSS: usize = 60;
const DOWN: usize = 36;
/// CSS classes of the shades, from low to high.
const SHADES: [&str; 8] = ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"];

/// A grid with a count for each cell.
pub(crate) struct Grid {
    down: usize,
    counts: Vec<u64>,
}

impl Grid {
    pub(crate) fn new() -> Self {
        Self { down: DOWN, counts: vec![0; ACROSS * DOWN] }
    }

    /// Creates a grid with one row.
    pub(crate) fn flat() -> Self {
        Self { down: 1, counts: vec![0; ACROSS] }
    }

    pub(crate) fn parts(&self) -> usize {
        self.counts.len()
    }

    pub(crate) fn most(&self) -> u64 {
        self.counts.iter().copied().max().unwrap_or(0)
    }

    /// Adds 1 to each cell of the grid that a rectangle touches. The sides of the rectangle are
    /// ranges from 0 to 1.
    pub(crate) fn add(&mut self, across: (f64, f64), down: (f64, f64)) {
        // The end of a range is exclusive.
        let ends = |(from, to): (f64, f64), parts: usize| {
            let first = bin(from, parts);
            (first, bin((to - 1e-9).max(from), parts).max(first))
        };
        let (left, right) = ends(across, ACROSS);
        let (top, bottom) = ends(down, self.down);
        for row in top..=bottom {
            self.counts[row * ACROSS + left..=row * ACROSS + right].iter_mut().for_each(|count| *count += 1);
        }
    }

    /// Draws the logarithm of the counts.
    #[allow(clippy::cast_precision_loss)] // for pictures
    pub(crate) fn draw(&self, picture: &mut Picture, at: (f64, f64), size: (f64, f64)) {
        let most = (self.most() as f64).ln_1p().max(f64::MIN_POSITIVE);
        let shades: Vec<Option<usize>> = (self.counts.iter())
            .map(|count| (*count > 0).then(|| bin((*count as f64).ln_1p() / most, SHADES.len())))
            .collect();
        draw(picture, &shades, ACROSS, at, size);
    }
}

/// Draws shades, row by row. Merges adjacent cells of equal shade into a rectangle.
pub(crate) fn draw(
    picture: &mut Picture,
    shades: &[Option<usize>],
    across: usize,
    (left, top): (f64, f64),
    (width, height): (f64, f64),
) {
    let (across, down) = (across.max(1), shades.len() / across.max(1));
    let (wide, tall) = (width / ratio(across, 1), height / ratio(down.max(1), 1));
    picture.rect("frame", left, top, width, height, "");
    for (row, shades) in shades.chunks(across).enumerate() {
        let mut start = 0;
        for run in shades.chunk_by(|a, b| a == b) {
            if let Some(shade) = run[0] {
                let (x, y) = (left + wide * ratio(start, 1), top + tall * ratio(row, 1));
                picture.rect(SHADES[shade.min(7)], x, y, wide * ratio(run.len(), 1), tall, "");
            }
            start += run.len();
        }
    }
}
