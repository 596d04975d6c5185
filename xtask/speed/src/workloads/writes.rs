//! Writes to arrays in memory, to exclude disk speed: from before an array is opened until the
//! fragment is committed.

use tdb_reference::TimedReads;
use tdb_reference::model::{Column, GeneratedWrite, QuerySpec, Rule, WriteSpec, attribute};
use tdb_types::{Datatype, Layout};

use super::reads::of_array;
use crate::arrays::{SpeedArray, dense, dense_of, nullable_points, plain, scaled, scaled_side, sparse, strings, zstd};
use crate::folders;
use crate::limits::Direction;
use crate::ours;
use crate::outcome::Result;
use crate::task::{Request, Task, WriteTask};
use crate::workload::{Ask, Bench, Group, Limit, Workload};

/// Writes of the same cells to a new array.
pub(super) struct Write {
    name: String,
    group: Group,
    array: SpeedArray,
    write: GeneratedWrite,
    fragments: usize,
    /// An array with the same cells, from which cells in global order are read.
    sorted: Option<String>,
    spec: Option<WriteSpec>,
}

pub(super) fn write(name: &str, group: Group, array: SpeedArray, layout: Layout) -> Write {
    let write = GeneratedWrite { layout, timestamp: None, ..array.writes[0].clone() };
    Write { name: name.to_owned(), group, array, write, fragments: 1, sorted: None, spec: None }
}

pub(super) fn all(scale: f64) -> Vec<Box<dyn Workload>> {
    let side = scaled_side(8192, 512, scale);
    let cells = |millions| scaled(millions, scale);
    let words = attribute("word", Datatype::StringUtf8).var();
    let points = |name, filters, order| sparse(name, cells(10.0), 1, filters, order);
    let many = |name: &str, array: SpeedArray, layout, fragments| -> Box<dyn Workload> {
        Box::new(Write { fragments, ..write(&format!("write, {name}"), Group::Writes, array, layout) })
    };
    let large = |name, array, layout| many(name, array, layout, 1);
    vec![
        large("dense, unfiltered, row-major", dense("plain", side, plain()), Layout::RowMajor),
        large("dense, unfiltered, col-major", dense("plain", side, plain()), Layout::ColMajor),
        large("dense, unfiltered, global", dense("plain", side, plain()), Layout::GlobalOrder),
        large("dense, zstd, row-major", dense("zstd", side, zstd()), Layout::RowMajor),
        large(
            "dense, strings, row-major",
            dense_of("words", side / 4, words, Rule::Word { seed: 9 }),
            Layout::RowMajor,
        ),
        large("sparse, unfiltered, unordered", points("plain", plain(), Layout::RowMajor), Layout::Unordered),
        large("sparse, unfiltered, global", points("plain", plain(), Layout::RowMajor), Layout::GlobalOrder),
        large("sparse, zstd coordinates, unordered", points("zstd", zstd(), Layout::RowMajor), Layout::Unordered),
        large("sparse, zstd coordinates, global", points("zstd", zstd(), Layout::RowMajor), Layout::GlobalOrder),
        large("sparse, Hilbert, unordered", points("hilbert", plain(), Layout::Hilbert), Layout::Unordered),
        large("sparse, strings, unordered", strings(cells(2.0)), Layout::Unordered),
        large("sparse, strings, global", strings(cells(2.0)), Layout::GlobalOrder),
        large("sparse, nullable, unordered", nullable_points(cells(2.0)), Layout::Unordered),
        many("dense, one of 64 cells", dense("small", 512, plain()).of_cells(64), Layout::RowMajor, 1),
        many("dense, a thousand of 64 cells", dense("small", 512, plain()).of_cells(64), Layout::RowMajor, 1000),
        many("sparse, a thousand of 10 cells", few_points(), Layout::Unordered, 1000),
    ]
}

/// Returns ten points in an array that has room for many.
fn few_points() -> SpeedArray {
    let mut array = sparse("small", 100_000, 1, plain(), Layout::RowMajor);
    array.writes.iter_mut().for_each(|write| write.cells = 10);
    array
}

impl Write {
    /// Replaces the array of a side by a new array.
    fn target(&self, bench: &mut Bench, side: &str) -> Result<String> {
        let uri = bench.in_memory(side);
        folders::remove(&uri)?;
        bench.reference.create(&uri, &self.array.spec)?;
        Ok(uri)
    }

    /// Computes the digest of the written cells with a read by the reference library.
    fn digest(&self, bench: &mut Bench, uri: &str, timed: &mut TimedReads) -> Result<()> {
        let all = QuerySpec::all(if self.array.is_hilbert() { Layout::GlobalOrder } else { Layout::RowMajor });
        let room = usize::try_from(timed.bytes)? * 2 + (1 << 20);
        timed.digest = bench.reference.time_reads(uri, &all, Some(room), 0)?.digest;
        Ok(())
    }
}

impl Workload for Write {
    fn name(&self) -> &str {
        &self.name
    }

    fn group(&self) -> Group {
        self.group
    }

    fn prepare(&mut self, bench: &mut Bench) -> Result<()> {
        let mut spec = self.write.materialise();
        if self.write.layout == Layout::GlobalOrder {
            let sorted = self.target(bench, "sorted")?;
            let order = if self.array.is_sparse() { Layout::Unordered } else { Layout::RowMajor };
            bench.reference.write(&sorted, &WriteSpec { layout: order, ..spec })?;
            let names = self.write.columns.iter().map(|(name, _)| name.as_str());
            spec = WriteSpec { cells: ours::columns_in_global_order(&sorted, names)?, ..self.write.materialise() };
            self.sorted = Some(sorted);
        }
        self.spec = Some(spec);
        Ok(())
    }

    fn theirs(&self, bench: &mut Bench, ask: Ask) -> Result<TimedReads> {
        let uri = self.target(bench, "theirs")?;
        let spec = self.spec.as_ref().ok_or("not prepared")?;
        let reference = bench.reference_of(ask.threads);
        let mut timed = reference.time_writes(&uri, spec, ask.repeats * self.fragments)?;
        // `fragments` writes are one run.
        let runs = timed.reads.chunks(self.fragments).map(|writes| {
            let sum = |part: fn(&tdb_reference::TimedRead) -> f64| writes.iter().map(part).sum();
            let (seconds, cpu_seconds) = (sum(|write| write.seconds), sum(|write| write.cpu_seconds));
            tdb_reference::TimedRead { seconds, cpu_seconds, open_seconds: 0.0, submits: writes.len() }
        });
        timed.reads = runs.collect();
        timed.cells = usize::try_from(self.write.cells)? * self.fragments;
        timed.bytes = spec.cells.iter().map(Column::byte_count).sum::<u64>() * self.fragments as u64;
        if ask.digest {
            self.digest(bench, &uri, &mut timed)?;
        }
        Ok(timed)
    }

    fn ours(&self, bench: &mut Bench, ask: Ask) -> Result<TimedReads> {
        let uri = self.target(bench, "ours")?;
        let (write, sorted, fragments) = (self.write.clone(), self.sorted.clone(), self.fragments);
        let task = Task::Write(WriteTask { write, sorted, fragments });
        let Ask { threads, repeats, .. } = ask;
        let mut timed = ours::spawn(&Request { uri: uri.clone(), task, threads, repeats, digest: false })?;
        if ask.digest {
            self.digest(bench, &uri, &mut timed)?;
        }
        Ok(timed)
    }

    fn limit(&self, bench: &Bench, timed: &TimedReads) -> Result<Option<Limit>> {
        match self.fragments {
            1 if timed.bytes >= 1 << 20 => of_array(bench, &self.array, timed.bytes, Direction::Encode),
            _ => Ok(None),
        }
    }

    fn finish(&mut self, bench: &mut Bench) -> Result<()> {
        self.spec = None;
        let folders = ["sorted", "theirs", "ours"].map(|name| bench.in_memory(name));
        Ok(folders.iter().try_for_each(folders::remove)?)
    }
}
