//! Reads.

use super::array::purpose;
use super::buffers::FieldBuffer;
use super::calls::{allocate, call};
use super::context::Context;
use super::coordinates;
use super::handle::Handle;
use crate::model::{QuerySpec, ReadResult};
use crate::{Error, Result};

/// Buffer size in bytes of the first submission, which is enough for most fixtures.
pub(super) const FIRST_ROOM: usize = 1 << 18;

mod query_status {
    pub(super) const COMPLETED: u32 = 1;
    pub(super) const INCOMPLETE: u32 = 3;
}

impl Context {
    /// Reads cells and submits the query until it is complete.
    pub(crate) fn read(&self, uri: &str, spec: &QuerySpec) -> Result<ReadResult> {
        self.read_with_room(uri, spec, FIRST_ROOM)
    }

    /// Reads cells with buffers of initially `room` bytes. Sorted reads of millions of cells need
    /// room for all cells. For small buffers, the library splits the subarray into parts until
    /// memory is exhausted.
    pub(super) fn read_with_room(&self, uri: &str, spec: &QuerySpec, room: usize) -> Result<ReadResult> {
        let array = self.open_to_read(uri, spec.timestamps)?;
        let schema = self.schema_of(&array)?;
        let known = self.fields(&schema)?;
        let combined = self.combines_coordinates();
        let names = if combined { coordinates::combined_names(&spec.fields, &known) } else { spec.fields.clone() };
        let fields = self.select_fields(&schema, &names)?;
        let mut buffers =
            fields.into_iter().map(|field| FieldBuffer::with_room(field, room)).collect::<Result<Vec<_>>>()?;
        let mut columns: Vec<_> = buffers.iter().map(FieldBuffer::empty_column).collect();
        let query = self.read_query(&array, spec)?;
        let mut submits = 0;
        loop {
            submits += 1;
            let complete = self.submit(&query, &mut buffers)?;
            for (buffer, column) in buffers.iter().zip(&mut columns) {
                buffer.append_to(&mut column.column);
            }
            if complete {
                break;
            }
            buffers.iter_mut().for_each(FieldBuffer::grow);
        }
        drop(query);
        self.close(&array)?;
        if combined {
            columns = coordinates::separate(columns, &spec.fields, &known);
        }
        let cells = columns.first().map_or(0, |column| column.len());
        Ok(ReadResult { cells, columns, submits })
    }

    /// Creates a query without buffers.
    pub(super) fn read_query(&self, array: &Handle, spec: &QuerySpec) -> Result<Handle> {
        let query = allocate!(self, tiledb_query_free, tiledb_query_alloc(array.pointer(), purpose::READ))?;
        call!(self, tiledb_query_set_layout(query.pointer(), u32::from(spec.layout.code())))?;
        self.select_ranges(array, &query, spec)?;
        if let Some(condition) = &spec.condition {
            let condition = self.condition(condition)?;
            call!(self, tiledb_query_set_condition(query.pointer(), condition.pointer()))?;
        }
        Ok(query)
    }

    /// Submits the query once. Returns `true` if it is complete.
    pub(super) fn submit(&self, query: &Handle, buffers: &mut [FieldBuffer]) -> Result<bool> {
        for buffer in buffers {
            buffer.attach(self, query)?;
        }
        call!(self, tiledb_query_submit(query.pointer()))?;
        let mut status = 0;
        call!(self, tiledb_query_get_status(query.pointer(), &mut status))?;
        match status {
            query_status::COMPLETED => Ok(true),
            query_status::INCOMPLETE => Ok(false),
            other => Err(Error::Library(format!("a read ended with query status {other}"))),
        }
    }
}
