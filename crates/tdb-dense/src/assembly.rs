//! A batch under construction.

use tdb_cells::{Column, ColumnBuffers, TileScratch, Workers, pack_validity};
use tdb_query::BufferPool;
use tdb_schema::FieldRef;
use tdb_snapshot::{ArrayError, Result};
use tdb_types::{Buffer, PhysicalType};

use crate::fields::{Field, Fields};
use crate::kept::KeptTiles;
use crate::shape::Shape;
use crate::var::Found;
use crate::work::Work;
use crate::{coordinates, fixed, var};

/// The assembly of the cells of a batch. Every field of every [`Work`] is a separate job for the
/// next free worker.
#[derive(Debug)]
pub(super) struct Assembly<'a> {
    shape: &'a Shape,
    fields: &'a Fields,
    works: &'a [Work],
    workers: &'a Workers,
    pool: &'a mut BufferPool,
    kept: &'a mut KeptTiles,
    /// Fields to assemble, as indices into the outputs.
    wanted: &'a [usize],
    cells: usize,
    /// For each variable-length field of `wanted`, the offsets of the cells in the batch and the
    /// location of their bytes. The offsets include the end of the last cell.
    lengths: Vec<Option<(Buffer, Vec<Found>)>>,
}

/// A part of a batch: one field in one unit of work.
enum Job<'w> {
    Fixed { field: usize, work: &'w Work, result: &'w mut [u8] },
    Validity { field: usize, work: &'w Work, result: &'w mut [u8] },
    Coordinates { dimension: usize, physical: PhysicalType, work: &'w Work, result: &'w mut [u8] },
    Values { field: usize, work: &'w Work, found: Found, offsets: &'w [u64], result: &'w mut [u8] },
}

impl<'a> Assembly<'a> {
    pub(super) fn new(
        (shape, fields, workers): (&'a Shape, &'a Fields, &'a Workers),
        works: &'a [Work],
        wanted: &'a [usize],
        (pool, kept): (&'a mut BufferPool, &'a mut KeptTiles),
    ) -> Self {
        let cells = works.last().map_or(0, |work| work.cells.end);
        Self { shape, fields, works, workers, pool, kept, wanted, cells, lengths: Vec::new() }
    }

    /// Determines the length of variable-length cells. Returns the bytes of the fields in `wanted`.
    pub(super) fn measure(&mut self) -> Result<u128> {
        let fields = self.fields;
        self.kept.prepare(self.wanted, (fields, self.workers), self.works)?;
        let kept = &*self.kept;
        let mut bytes = 0;
        for &index in self.wanted {
            let output = &fields.outputs[index];
            bytes += u128::from(fields.field(index).cell_bytes()) * self.cells as u128;
            if !output.is_var() {
                self.lengths.push(None);
                continue;
            }
            let mut offsets = self.pool.take((self.cells + 1) * 8);
            let words = offsets.values_mut::<u64>().unwrap_or_default();
            let Some((first, lengths)) = words.split_first_mut() else { continue };
            *first = 0;
            let jobs: Vec<_> = self.works.iter().zip(split(lengths, self.works, 1)).collect();
            let found = self.workers.map(self.cells as u64 * 8, jobs, |(work, lengths), scratch| {
                var::lengths((fields.field(index), index, kept), work, lengths, scratch)
            })?;
            // A tile has at most 2^64 bytes and a batch fits into memory, but the sum over many
            // cells could overflow.
            let end = lengths.iter_mut().fold(0u64, |end, length| {
                *length = end.saturating_add(*length);
                *length
            });
            bytes += u128::from(end);
            self.lengths.push(Some((offsets, found)));
        }
        Ok(bytes)
    }

    /// Builds the columns of the fields in `wanted`.
    pub(super) fn finish(mut self) -> Result<Vec<Column>> {
        let mut buffers = Vec::new();
        let outputs = self.wanted.iter().map(|index| &self.fields.outputs[*index]);
        for (output, lengths) in outputs.zip(&self.lengths) {
            let len = match (lengths, output.cell_size()) {
                (Some((offsets, _)), _) => last(offsets),
                (None, size) => self.cells.checked_mul(size.unwrap_or(0)),
            };
            let validity = if output.nullable { self.cells } else { 0 };
            let len = len.filter(|len| *len <= isize::MAX as usize).ok_or_else(too_large)?;
            buffers.push((self.pool.take(len), self.pool.take(validity)));
        }
        self.fill(&mut buffers)?;
        let mut columns = Vec::new();
        for (place, (values, validity)) in buffers.into_iter().enumerate() {
            let index = self.wanted[place];
            let output = &self.fields.outputs[index];
            let offsets = self.lengths[place].take().map(|(offsets, _)| offsets);
            let offsets = offsets.map(|offsets| self.in_values(index, offsets)).transpose()?;
            let validity = output.nullable.then(|| {
                let mut bits = self.pool.take(self.cells.div_ceil(8));
                pack_validity(&validity, &mut bits);
                bits
            });
            columns.push(output.column(self.cells, ColumnBuffers { values, offsets, validity }));
        }
        Ok(columns)
    }

    /// Writes the values and validity of all fields.
    fn fill(&mut self, buffers: &mut [(Buffer, Buffer)]) -> Result<()> {
        let (shape, fields, works) = (self.shape, self.fields, self.works);
        let work = self.wanted.iter().zip(&*buffers);
        let work = work.map(|(&index, (values, validity))| fields.work(index, values.len() + validity.len())).sum();
        let mut jobs = Vec::new();
        let buffers = buffers.iter_mut().zip(&mut self.lengths);
        for (&index, ((values, validity), lengths)) in self.wanted.iter().zip(buffers) {
            let output = &fields.outputs[index];
            match (lengths, output.field) {
                (Some((offsets, found)), _) => {
                    let offsets = offsets.values::<u64>().unwrap_or_default();
                    let found = std::mem::take(found);
                    jobs.extend(value_jobs(index, works, found, offsets, values));
                }
                (None, FieldRef::Dimension(dimension)) => {
                    let physical = output.datatype.physical();
                    let results = works.iter().zip(split(values, works, physical.size()));
                    jobs.extend(results.map(|(work, result)| Job::Coordinates { dimension, physical, work, result }));
                }
                (None, FieldRef::Attribute(_)) => {
                    let results = works.iter().zip(split(values, works, output.cell_size().unwrap_or(0)));
                    jobs.extend(results.map(|(work, result)| Job::Fixed { field: index, work, result }));
                }
            }
            if output.nullable {
                let results = works.iter().zip(split(validity, works, 1));
                jobs.extend(results.map(|(work, result)| Job::Validity { field: index, work, result }));
            }
        }
        self.workers.for_each(work, jobs, |job, scratch| job.run(shape, fields, scratch))
    }

    /// Converts offsets in bytes to offsets in values.
    fn in_values(&self, index: usize, mut offsets: Buffer) -> Result<Buffer> {
        let output = &self.fields.outputs[index];
        let size = output.datatype.size() as u64;
        let words = offsets.values_mut::<u64>().unwrap_or_default();
        if size > 1 {
            if words.iter().fold(0, |all, offset| all | (offset % size)) != 0 {
                return Err(ArrayError::Corrupt {
                    file: self.fields.folder(),
                    what: format!(
                        "field {:?}: the bytes of a cell are not a whole number of {} values",
                        output.name, output.datatype
                    ),
                });
            }
            words.iter_mut().for_each(|offset| *offset /= size);
        }
        Ok(offsets)
    }
}

impl Job<'_> {
    fn run(self, shape: &Shape, fields: &Fields, scratch: &mut TileScratch) -> Result<()> {
        match self {
            Self::Fixed { field, work, result } => fixed::values(fields.field(field), work, result, scratch),
            Self::Validity { field, work, result } => fixed::validity(fields.field(field), work, result, scratch),
            Self::Coordinates { dimension, physical, work, result } => {
                coordinates::coordinates(&shape.axes[dimension], dimension, physical, work, result);
                Ok(())
            }
            Self::Values { field, work, found, offsets, result } => {
                let base = offsets.first().copied().unwrap_or(0);
                // The batch is in memory, hence all distances fit into `usize`.
                let offset = |cell: usize| (offsets[cell] - base) as usize;
                let field: Field<'_> = fields.field(field);
                var::values(field, work, found, offset, result, scratch)
            }
        }
    }
}

/// Creates a job per unit of work for the values of a variable-length field.
fn value_jobs<'w>(
    field: usize,
    works: &'w [Work],
    found: Vec<Found>,
    offsets: &'w [u64],
    mut values: &'w mut [u8],
) -> Vec<Job<'w>> {
    let mut jobs = Vec::new();
    for (work, found) in works.iter().zip(found) {
        let offsets = &offsets[work.cells.start..=work.cells.end];
        let len = (offsets[offsets.len() - 1] - offsets[0]) as usize;
        let (result, rest) = values.split_at_mut(len);
        values = rest;
        jobs.push(Job::Values { field, work, found, offsets, result });
    }
    jobs
}

/// Splits a column among units of work. Each cell has `size` items.
fn split<'w, T>(mut column: &'w mut [T], works: &[Work], size: usize) -> Vec<&'w mut [T]> {
    let mut parts = Vec::new();
    for work in works {
        let (part, rest) = column.split_at_mut(work.cells.len() * size);
        column = rest;
        parts.push(part);
    }
    parts
}

fn last(offsets: &Buffer) -> Option<usize> {
    let offsets = offsets.values::<u64>()?;
    usize::try_from(*offsets.last()?).ok()
}

#[cold]
fn too_large() -> ArrayError {
    ArrayError::Query("a batch of a single cell exceeds the memory".to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tdb_array::tdb_filters::{Filter, FilterPipeline};
    use tdb_array::{ArrayOptions, CreateOptions, WriteBatch};
    use tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
    use tdb_storage::{MemoryStorage, Storage};
    use tdb_types::Datatype;

    use crate::DenseReader;

    /// Returns `true` if a read of a mebibyte starts threads.
    fn starts_threads(filters: FilterPipeline) -> bool {
        const CELLS: i64 = 1 << 17;
        let x = Dimension::new("x", 0..=CELLS - 1).with_tile(CELLS / 8);
        let attribute = Attribute::new("a", Datatype::Int64).with_filters(filters);
        let schema = SchemaBuilder::dense().dimension(x).attribute(attribute).build().unwrap();
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        CreateOptions::new().create_on(&storage, ArrayDefinition::new(schema).unwrap()).unwrap();
        let cells: Vec<i64> = (0..CELLS).collect();
        let array = ArrayOptions::new().open_on(storage.clone()).unwrap();
        array.write().cells(WriteBatch::new().with("a", &cells)).unwrap();
        let array = ArrayOptions::new().threads(4).open_on(storage).unwrap();
        let mut reader = DenseReader::new(array.read().check().unwrap()).unwrap();
        assert_eq!(reader.next_batch().unwrap().unwrap().len(), cells.len());
        reader.query.array.workers().has_started()
    }

    #[test]
    fn copies_start_no_threads_where_a_codec_does() {
        assert!(!starts_threads(FilterPipeline::default()));
        assert!(!starts_threads(FilterPipeline::new(vec![Filter::Byteshuffle])));
        assert!(starts_threads(FilterPipeline::new(vec![Filter::Zstd { level: 3 }])));
    }
}
