//! Arrays to maintain.

use std::error::Error;

use tdb_array::{ArrayOptions, WriteBatch, WriteColumn, WriteIds};
use tdb_reference::model::{ArraySpec, Bytes, Rule, attribute, dimension};
use tdb_types::Datatype;

use super::Job;
use crate::arrays::zstd;
use crate::cells::columns;

/// An array with fragments by tdb. Both sides maintain the same array.
#[derive(Clone)]
pub struct MaintainedArray {
    pub name: &'static str,
    pub spec: ArraySpec,
    pub fragments: u64,
    pub jobs: &'static [Job],
    shape: Shape,
    /// Number of points of a fragment, or of rows of a dense fragment.
    size: u64,
}

#[derive(Clone, Copy)]
enum Shape {
    /// Adjacent groups of rows.
    Rows,
    /// Groups of rows, each overlapping nine neighbors.
    OverlappingRows,
    /// Points in adjacent regions.
    Points,
    /// Points scattered over the domain.
    ScatteredPoints,
}

const COLUMNS: i64 = 4096;
const FRAGMENTS: &[Job] = &[Job::Fragments, Job::VacuumFragments];
const SMALL: &[Job] = &[Job::Commits, Job::VacuumCommits, Job::Footers];

/// Returns all arrays. `scale` multiplies the numbers of cells.
pub fn all(scale: f64) -> Vec<MaintainedArray> {
    let rows = ((64.0 * scale) as u64).max(4);
    let points = ((25_000.0 * scale) as u64).max(100);
    let array = |name, spec, fragments, jobs, shape, size| MaintainedArray { name, spec, fragments, jobs, shape, size };
    vec![
        array("100 dense fragments, one after the other", dense(100 * rows, rows), 100, FRAGMENTS, Shape::Rows, rows),
        array(
            "100 dense fragments that overlap",
            dense(109 * rows, rows),
            100,
            FRAGMENTS,
            Shape::OverlappingRows,
            rows,
        ),
        array("100 sparse fragments, one after the other", sparse(), 100, FRAGMENTS, Shape::Points, points),
        array("100 sparse fragments that overlap", sparse(), 100, FRAGMENTS, Shape::ScatteredPoints, points),
        array("1,000 fragments", sparse(), 1000, SMALL, Shape::Points, 100),
    ]
}

/// Returns a schema of doubles, whose tiles have as many rows as a fragment.
fn dense(rows: u64, tile: u64) -> ArraySpec {
    let y = dimension("y", Datatype::Int64, [0, rows as i64 - 1], tile as i64);
    let x = dimension("x", Datatype::Int64, [0, COLUMNS - 1], 512);
    ArraySpec::dense([y, x], [attribute("value", Datatype::Float64).filters(zstd())])
}

/// Returns a schema of points with two doubles each.
fn sparse() -> ArraySpec {
    let sides = ["y", "x"].map(|name| dimension(name, Datatype::Int64, [0, i64::MAX - 20_000], 10_000));
    let doubles = ["a", "b"].map(|name| attribute(name, Datatype::Float64).filters(zstd()));
    let mut spec = ArraySpec::sparse(sides, doubles).capacity(10_000);
    spec.coords_filters = Some(zstd());
    spec
}

impl MaintainedArray {
    /// Writes a fragment.
    pub fn write(&self, uri: &str, number: u64) -> Result<(), Box<dyn Error>> {
        let array = ArrayOptions::new().open(uri)?;
        let write = array.write().ids(WriteIds::new().at(1_700_000_000_000 + 10 * number));
        let rows = |first: u64, count: u64| (first as i64)..=((first + count) as i64 - 1);
        match self.shape {
            Shape::Rows | Shape::OverlappingRows => {
                let count = if matches!(self.shape, Shape::Rows) { self.size } else { 10 * self.size };
                let value = wave(number, count * COLUMNS as u64);
                let cells = WriteBatch::new().with("value", WriteColumn::bytes(&value));
                write.range("y", rows(number * self.size, count))?.cells(&cells)?;
            }
            Shape::Points | Shape::ScatteredPoints => {
                let [y, x] = self.points(number);
                let [a, b] = [wave(number, self.size), wave(number + 7, self.size)];
                let mut cells = WriteBatch::new();
                for (name, bytes) in [("y", &y[..]), ("x", &x), ("a", &a), ("b", &b)] {
                    cells = cells.with(name, WriteColumn::bytes(bytes));
                }
                write.cells(&cells)?;
            }
        }
        Ok(())
    }

    fn points(&self, number: u64) -> [Vec<u8>; 2] {
        let mut sides = [Vec::new(), Vec::new()];
        for cell in 0..self.size {
            let place = match self.shape {
                Shape::Points => [((number * self.size + cell) / 100) as i64, (cell % 100) as i64 * 97],
                _ => [0, 1].map(|side| Rule::scattered(number, 12, side, cell)),
            };
            sides.iter_mut().zip(place).for_each(|(side, place)| side.extend(place.to_le_bytes()));
        }
        sides
    }
}

fn wave(seed: u64, cells: u64) -> Bytes {
    columns(&[("value", Rule::Wave { seed })], cells).remove(0).values
}
