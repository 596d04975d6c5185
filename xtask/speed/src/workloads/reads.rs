//! Reads of arrays that the reference library has written.

use tdb_reference::TimedReads;

use crate::arrays::{self, Codec};
use crate::cases::{Asking, Case};
use crate::limits::{self, Direction};
use crate::ours;
use crate::outcome::Result;
use crate::task::{ReadTask, Request, Task};
use crate::workload::{Ask, Bench, Group, Limit, Workload};

struct Read {
    case: Case,
    uri: String,
}

pub(super) fn read(case: Case) -> Box<dyn Workload> {
    Box::new(Read { case, uri: String::new() })
}

impl Workload for Read {
    fn name(&self) -> &str {
        &self.case.name
    }

    fn group(&self) -> Group {
        self.case.group
    }

    fn prepare(&mut self, bench: &mut Bench) -> Result<()> {
        self.uri = arrays::ensure(&mut bench.reference, &bench.arrays, &self.case.array)?;
        Ok(())
    }

    fn theirs(&self, bench: &mut Bench, ask: Ask) -> Result<TimedReads> {
        let (case, uri, repeats) = (&self.case, &self.uri, ask.repeats);
        let reference = bench.reference_of(ask.threads);
        if !case.aggregates.is_empty() {
            return Ok(reference.time_aggregates(uri, &case.query, &case.aggregates, repeats)?);
        }
        Ok(match case.asking {
            Asking::Once => reference.time_reads(uri, &case.query, Some(case.room()), repeats)?,
            Asking::OneByOne | Asking::Points => reference.time_reads_one_by_one(uri, &case.query, repeats)?,
        })
    }

    fn ours(&self, _: &mut Bench, ask: Ask) -> Result<TimedReads> {
        let Case { query, asking, aggregates, whole, .. } = &self.case;
        let (query, aggregates) = (query.clone(), aggregates.clone());
        let task = Task::Read(ReadTask { query, asking: *asking, aggregates, whole: *whole });
        let Ask { threads, repeats, digest } = ask;
        ours::measure(Request { uri: self.uri.clone(), task, threads, repeats, digest })
    }

    /// Returns a limit only for reads that return all loaded cells. A slice loads more, and
    /// statistics can answer some queries without loading cells.
    fn limit(&self, bench: &Bench, timed: &TimedReads) -> Result<Option<Limit>> {
        let case = &self.case;
        let gives_all = case.query.ranges.is_empty() && case.query.condition.is_none() && case.aggregates.is_empty();
        if !gives_all || timed.bytes == 0 {
            return Ok(None);
        }
        of_array(bench, &case.array, timed.bytes, Direction::Decode)
    }
}

/// Returns the time to run cells through the first attribute's codec, or to read or write them as a
/// file without a codec.
pub(super) fn of_array(
    bench: &Bench,
    array: &arrays::SpeedArray,
    bytes: u64,
    direction: Direction,
) -> Result<Option<Limit>> {
    let bytes = bytes as f64;
    Ok(Some(match array.codec() {
        Some(codec) => {
            let what = match codec {
                Codec::Zstd => "Zstandard",
                Codec::Gzip => "zlib",
                Codec::Lz4 => "LZ4",
                Codec::Bzip2 => "bzip2",
                Codec::Sha256 => "SHA-256",
            };
            Limit { what, seconds: bytes / limits::codec(codec, array, direction)?, is_codec: true }
        }
        None if !array.is_plain() => return Ok(None),
        None => {
            let (what, speed) = match direction {
                Direction::Decode => ("page cache", bench.machine.page_cache),
                Direction::Encode => ("new file", bench.machine.new_file),
            };
            Limit { what, seconds: bytes / speed, is_codec: false }
        }
    }))
}
