//! Writes.

use tdb_types::Layout;

use super::array::purpose;
use super::buffers::FieldBuffer;
use super::calls::{allocate, call};
use super::context::Context;
use super::coordinates;
use crate::Result;
use crate::memory::{peak_memory, reset_peak_memory};
use crate::model::WriteSpec;
use crate::protocol::TimedReads;
use crate::stopwatch::{Stopwatch, repeated};

impl Context {
    pub(crate) fn write(&self, uri: &str, spec: &WriteSpec) -> Result<()> {
        let mut buffers = self.write_buffers(uri, spec)?;
        self.write_from(uri, spec, &mut buffers)
    }

    /// Writes `repeats` fragments of the same cells. Times each from before the array is opened
    /// until after it is closed. The buffers are filled in advance.
    pub(crate) fn time_writes(&self, uri: &str, spec: &WriteSpec, repeats: usize) -> Result<TimedReads> {
        let mut buffers = self.write_buffers(uri, spec)?;
        reset_peak_memory();
        let before = peak_memory();
        let timed = repeated(repeats, || -> Result<_> {
            let start = Stopwatch::start();
            self.write_from(uri, spec, &mut buffers)?;
            Ok(start.taken(0.0, 1))
        })?;
        // The memory of the given cells does not count.
        Ok(TimedReads { peak_memory: timed.peak_memory.saturating_sub(before), ..timed })
    }

    fn write_buffers(&self, uri: &str, spec: &WriteSpec) -> Result<Vec<FieldBuffer>> {
        let array = self.open_to_change(uri, purpose::WRITE, spec.timestamp)?;
        let schema = self.schema_of(&array)?;
        let known = self.fields(&schema)?;
        let combined = known.sparse && self.combines_coordinates();
        let cells = if combined { coordinates::combine(&spec.cells, &known) } else { spec.cells.clone() };
        let names: Vec<_> = cells.iter().map(|column| column.name.clone()).collect();
        let fields = self.select_fields(&schema, &names)?;
        let buffers = fields.into_iter().zip(&cells).map(|(field, column)| FieldBuffer::holding(field, column));
        let buffers = buffers.collect::<Result<Vec<_>>>()?;
        self.close(&array)?;
        Ok(buffers)
    }

    fn write_from(&self, uri: &str, spec: &WriteSpec, buffers: &mut [FieldBuffer]) -> Result<()> {
        let array = self.open_to_change(uri, purpose::WRITE, spec.timestamp)?;
        let query = allocate!(self, tiledb_query_free, tiledb_query_alloc(array.pointer(), purpose::WRITE))?;
        call!(self, tiledb_query_set_layout(query.pointer(), u32::from(spec.layout.code())))?;
        if let Some(ranges) = &spec.subarray {
            self.select_box(&array, &query, ranges)?;
        }
        for buffer in buffers {
            buffer.attach(self, &query)?;
        }
        call!(self, tiledb_query_submit(query.pointer()))?;
        if spec.layout == Layout::GlobalOrder {
            call!(self, tiledb_query_finalize(query.pointer()))?;
        }
        drop(query);
        self.close(&array)
    }
}
