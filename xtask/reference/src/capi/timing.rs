//! Times reads without transferring their results.

use sha2::{Digest, Sha256};

use super::buffers::FieldBuffer;
use super::context::Context;
use super::handle::Handle;
use super::read::FIRST_ROOM;
use crate::memory::peak_memory;
use crate::model::{AggregateFunction, AggregateSpec, Bytes, QuerySpec, ReadColumn};
use crate::protocol::{TimedRead, TimedReads};
use crate::stopwatch::{Stopwatch, repeated};
use crate::{Error, Result};

impl Context {
    /// Opens and closes an array once to warm up the caches, and then `repeats` timed times.
    pub(crate) fn time_opens(&self, uri: &str, repeats: usize) -> Result<TimedReads> {
        self.open_and_close(uri)?;
        repeated(repeats, || {
            let start = Stopwatch::start();
            self.open_and_close(uri)?;
            Ok(start.taken(start.seconds(), 0))
        })
    }

    /// Reads once to determine the size of the result and to warm up the caches, and then `repeats`
    /// timed times.
    ///
    /// Each timed read opens the array again, and submits the query until it is complete. The
    /// buffers are allocated and all pages touched in advance. The buffers hold the complete
    /// result. Only the library's memory budget can cause several submissions.
    pub(crate) fn time_reads(
        &self,
        uri: &str,
        spec: &QuerySpec,
        room: Option<usize>,
        repeats: usize,
    ) -> Result<TimedReads> {
        let whole = self.read_with_room(uri, spec, room.unwrap_or(FIRST_ROOM))?;
        let digest = digest_of(&whole.columns);
        let (cells, bytes) = (whole.cells, byte_count(&whole.columns));
        let array = self.open_to_read(uri, spec.timestamps)?;
        let mut buffers = self.buffers(&array, spec, 0)?;
        self.close(&array)?;
        for (buffer, read) in buffers.iter_mut().zip(&whole.columns) {
            buffer.resize(read.column.values.len(), read.len());
        }
        drop(whole);
        let timed = repeated(repeats, || {
            let mut seen = 0;
            let taken = self.timed(uri, spec, |array| {
                let (submits, cells) = self.submit_all(array, spec, &mut buffers)?;
                seen = cells;
                Ok(submits)
            })?;
            match seen == cells {
                true => Ok(taken),
                false => Err(Error::Library(format!("a repeated read returned {seen} cells instead of {cells}"))),
            }
        })?;
        Ok(TimedReads { cells, bytes, digest, ..timed })
    }

    /// Computes aggregates once to warm up the caches, and then `repeats` timed times. Each timed
    /// run opens the array again.
    ///
    /// The digest covers the results. The number of cells is the result of a count, if any.
    pub(crate) fn time_aggregates(
        &self,
        uri: &str,
        spec: &QuerySpec,
        aggregates: &[AggregateSpec],
        repeats: usize,
    ) -> Result<TimedReads> {
        let results = self.aggregate(uri, spec, aggregates)?;
        let digest = digest_of(&results);
        let count =
            aggregates.iter().zip(&results).find(|(aggregate, _)| aggregate.function == AggregateFunction::Count);
        let count = count.and_then(|(_, column)| column.column.values.first_chunk().copied().map(u64::from_le_bytes));
        let timed = repeated(repeats, || {
            self.timed(uri, spec, |array| {
                let mut buffers = self.aggregate_buffers(array, aggregates)?;
                self.aggregate_into(array, spec, aggregates, &mut buffers)
            })
        })?;
        Ok(TimedReads { cells: count.map_or(0, |count| count as usize), digest, ..timed })
    }

    /// Runs the queries in sequence on an open array: once to collect the cells and warm up the
    /// caches, and then `repeats` timed times. Each timed run opens the array again.
    ///
    /// The digest covers the cells of all queries, column by column.
    pub(crate) fn time_reads_one_by_one(&self, uri: &str, spec: &QuerySpec, repeats: usize) -> Result<TimedReads> {
        /// Buffer size in bytes per field of a query.
        const ROOM: usize = 1 << 12;
        let queries = spec.one_by_one();
        let array = self.open_to_read(uri, spec.timestamps)?;
        let mut buffers = self.buffers(&array, spec, ROOM)?;
        let mut columns: Vec<_> = buffers.iter().map(FieldBuffer::empty_column).collect();
        for query in &queries {
            self.complete(&self.read_query(&array, query)?, &mut buffers)?;
            let results = buffers.iter().zip(&mut columns);
            results.for_each(|(buffer, column)| buffer.append_to(&mut column.column));
        }
        self.close(&array)?;
        let cells = columns.first().map_or(0, ReadColumn::len);
        let timed = repeated(repeats, || {
            self.timed(uri, spec, |array| {
                for query in &queries {
                    self.complete(&self.read_query(array, query)?, &mut buffers)?;
                }
                Ok(queries.len())
            })
        })?;
        let bytes = byte_count(&columns);
        Ok(TimedReads { cells, bytes, digest: digest_of(&columns), ..timed })
    }

    /// Opens an array and reads once into buffers of `room` bytes, timed. The digest covers the
    /// last submission.
    pub(crate) fn time_first_read(&self, uri: &str, spec: &QuerySpec, room: usize) -> Result<TimedReads> {
        let (mut buffers, mut cells) = (Vec::new(), 0);
        let read = self.timed(uri, spec, |array| {
            buffers = self.buffers(array, spec, room)?;
            let submits;
            (submits, cells) = self.submit_all(array, spec, &mut buffers)?;
            Ok(submits)
        })?;
        let columns: Vec<_> = buffers.iter().map(FieldBuffer::column).collect();
        let (bytes, digest) = (byte_count(&columns), digest_of(&columns));
        Ok(TimedReads { cells, bytes, digest, reads: vec![read], peak_memory: peak_memory() })
    }

    /// Allocates buffers of `room` bytes for the fields of a query.
    fn buffers(&self, array: &Handle, spec: &QuerySpec, room: usize) -> Result<Vec<FieldBuffer>> {
        let schema = self.schema_of(array)?;
        let fields = self.select_fields(&schema, &spec.fields)?.into_iter();
        fields.map(|field| FieldBuffer::with_room(field, room)).collect()
    }

    /// Opens an array, reads, and closes the array, timed. `read` returns the number of
    /// submissions.
    fn timed(&self, uri: &str, spec: &QuerySpec, read: impl FnOnce(&Handle) -> Result<usize>) -> Result<TimedRead> {
        let start = Stopwatch::start();
        let array = self.open_to_read(uri, spec.timestamps)?;
        let open_seconds = start.seconds();
        let submits = read(&array)?;
        self.close(&array)?;
        Ok(start.taken(open_seconds, submits))
    }

    /// Submits a query once, and fails if the query is incomplete.
    fn complete(&self, query: &Handle, buffers: &mut [FieldBuffer]) -> Result<()> {
        match self.submit(query, buffers)? {
            true => Ok(()),
            false => Err(Error::Library("a query returns more cells than its buffers hold".to_owned())),
        }
    }

    /// Submits a new query until it is complete. Returns the number of submissions and cells.
    fn submit_all(&self, array: &Handle, spec: &QuerySpec, buffers: &mut [FieldBuffer]) -> Result<(usize, usize)> {
        let query = self.read_query(array, spec)?;
        let (mut submits, mut cells) = (0, 0);
        loop {
            submits += 1;
            let complete = self.submit(&query, buffers)?;
            cells += buffers.first().map_or(0, FieldBuffer::cells);
            if complete {
                return Ok((submits, cells));
            }
        }
    }
}

fn byte_count(columns: &[ReadColumn]) -> u64 {
    columns.iter().map(|read| read.column.byte_count()).sum()
}

/// Computes the digest of columns, see [`TimedReads::digest`].
fn digest_of(columns: &[ReadColumn]) -> Bytes {
    let mut hash = Sha256::new();
    for read in columns {
        hash.update(&read.column.values[..]);
        for offset in read.column.offsets.iter().flatten() {
            hash.update(offset.to_le_bytes());
        }
        if let Some(validity) = &read.column.validity {
            hash.update(&validity[..]);
        }
    }
    Bytes(hash.finalize().to_vec())
}
