//! Writes.

use std::ptr;

use tdb_types::Layout;

use super::array::purpose;
use super::buffers::FieldBuffer;
use super::context::Context;
use super::handle::{Handle, allocate, call};
use crate::model::{Bytes, WriteSpec};
use crate::reference::Result;

impl Context {
    /// Writes one fragment.
    pub(in crate::reference) fn write(&self, uri: &str, spec: &WriteSpec) -> Result<()> {
        let array = self.open_to_change(uri, purpose::WRITE, spec.timestamp)?;
        let schema = self.schema_of(&array)?;
        let names: Vec<_> = spec.cells.iter().map(|column| column.name.clone()).collect();
        let fields = self.select_fields(&schema, &names)?;
        let mut buffers = fields
            .into_iter()
            .zip(&spec.cells)
            .map(|(field, column)| FieldBuffer::holding(field, column))
            .collect::<Result<Vec<_>>>()?;
        let query = allocate!(self, tiledb_query_free, tiledb_query_alloc(array.pointer(), purpose::WRITE))?;
        call!(self, tiledb_query_set_layout(query.pointer(), u32::from(spec.layout.code())))?;
        if let Some(ranges) = &spec.subarray {
            self.restrict(&array, &query, ranges)?;
        }
        for buffer in &mut buffers {
            buffer.attach(self, &query)?;
        }
        call!(self, tiledb_query_submit(query.pointer()))?;
        if spec.layout == Layout::GlobalOrder {
            call!(self, tiledb_query_finalize(query.pointer()))?;
        }
        drop(query);
        self.close(&array)
    }

    fn restrict(&self, array: &Handle, query: &Handle, ranges: &[(Bytes, Bytes)]) -> Result<()> {
        let subarray = allocate!(self, tiledb_subarray_free, tiledb_subarray_alloc(array.pointer()))?;
        for (dimension, (first, last)) in (0..).zip(ranges) {
            let (start, end) = (first.as_ptr().cast(), last.as_ptr().cast());
            call!(self, tiledb_subarray_add_range(subarray.pointer(), dimension, start, end, ptr::null()))?;
        }
        call!(self, tiledb_query_set_subarray_t(query.pointer(), subarray.pointer()))
    }
}
