//! Reads.

use std::ptr;

use super::array::purpose;
use super::buffers::FieldBuffer;
use super::context::{Context, c_string};
use super::handle::{Handle, allocate, call};
use super::symbols::{Ptr, Range};
use crate::model::{QuerySpec, ReadResult};
use crate::reference::{Error, Result};

/// The buffers of the first submission; most fixtures fit.
pub(super) const FIRST_ROOM: usize = 1 << 18;

mod query_status {
    pub(super) const COMPLETED: u32 = 1;
    pub(super) const INCOMPLETE: u32 = 3;
}

impl Context {
    /// Reads cells, submitting until the query is complete.
    pub(in crate::reference) fn read(&self, uri: &str, spec: &QuerySpec) -> Result<ReadResult> {
        self.read_with_room(uri, spec, FIRST_ROOM)
    }

    /// Reads cells, with buffers of `room` bytes at first. Sorted reads of millions of cells want room for all of them:
    /// for small buffers the library cuts the region into so many parts that these exhaust the memory.
    pub(super) fn read_with_room(&self, uri: &str, spec: &QuerySpec, room: usize) -> Result<ReadResult> {
        let array = self.open_to_read(uri, spec.timestamps)?;
        let schema = self.schema_of(&array)?;
        let fields = self.select_fields(&schema, &spec.fields)?;
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
        let cells = columns.first().map_or(0, |column| column.len());
        Ok(ReadResult { cells, columns, submits })
    }

    /// A query with everything but its buffers.
    pub(super) fn read_query(&self, array: &Handle, spec: &QuerySpec) -> Result<Handle> {
        let query = allocate!(self, tiledb_query_free, tiledb_query_alloc(array.pointer(), purpose::READ))?;
        call!(self, tiledb_query_set_layout(query.pointer(), u32::from(spec.layout.code())))?;
        // Dense reads refuse to start without a subarray, even for the whole domain.
        let subarray = self.subarray(array, spec)?;
        call!(self, tiledb_query_set_subarray_t(query.pointer(), subarray.pointer()))?;
        if let Some(condition) = &spec.condition {
            let condition = self.condition(condition)?;
            call!(self, tiledb_query_set_condition(query.pointer(), condition.pointer()))?;
        }
        Ok(query)
    }

    fn subarray(&self, array: &Handle, spec: &QuerySpec) -> Result<Handle> {
        let handle = allocate!(self, tiledb_subarray_free, tiledb_subarray_alloc(array.pointer()))?;
        let subarray = handle.pointer();
        let schema = self.schema_of(array)?;
        let fields = self.fields(&schema)?;
        if spec.ranges.is_empty() && !fields.sparse {
            self.select_whole_domain(&schema, subarray)?;
        }
        let dimensions = fields.dimensions;
        for ranges in &spec.ranges {
            let name = c_string(&ranges.dimension)?;
            let dimension = dimensions.iter().find(|field| field.name == ranges.dimension);
            let dimension = dimension.ok_or_else(|| Error::Library(format!("no dimension {}", ranges.dimension)))?;
            for (first, last) in &ranges.ranges {
                let (start, end) = (first.as_ptr().cast(), last.as_ptr().cast());
                if dimension.cell_val_num.is_none() {
                    let (start_size, end_size) = (first.len() as u64, last.len() as u64);
                    call!(
                        self,
                        tiledb_subarray_add_range_var_by_name(
                            subarray,
                            name.as_ptr(),
                            start,
                            start_size,
                            end,
                            end_size
                        )
                    )?;
                } else {
                    let no_stride = ptr::null();
                    call!(self, tiledb_subarray_add_range_by_name(subarray, name.as_ptr(), start, end, no_stride))?;
                }
            }
        }
        Ok(handle)
    }

    /// Restricts the first dimension to all that it has: the library then takes the whole of the others too.
    fn select_whole_domain(&self, schema: &Handle, subarray: Ptr) -> Result<()> {
        let domain = allocate!(self, tiledb_domain_free, tiledb_array_schema_get_domain(schema.pointer()))?;
        let first =
            allocate!(self, tiledb_dimension_free, tiledb_domain_get_dimension_from_index(domain.pointer(), 0))?;
        let field = self.fields(schema)?.dimensions.remove(0);
        let mut ends = ptr::null();
        call!(self, tiledb_dimension_get_domain(first.pointer(), &mut ends))?;
        // The last coordinate follows the first.
        let (mut start, mut end) = (ends, ends.wrapping_byte_add(field.datatype.size()));
        let rectangle = self.current_rectangle(schema)?;
        if let Some(rectangle) = &rectangle {
            let mut range = Range { min: start, min_size: 0, max: end, max_size: 0 };
            call!(self, tiledb_ndrectangle_get_range(rectangle.pointer(), 0, &mut range))?;
            (start, end) = (range.min, range.max);
        }
        call!(self, tiledb_subarray_add_range(subarray, 0, start, end, ptr::null()))
    }

    /// The current domain, if the release knows of one and it is set.
    fn current_rectangle(&self, schema: &Handle) -> Result<Option<Handle>> {
        if self.library().symbols.tiledb_array_schema_get_current_domain.is_none() {
            return Ok(None);
        }
        let current_domain =
            allocate!(self, tiledb_current_domain_free, tiledb_array_schema_get_current_domain(schema.pointer()))?;
        let mut is_empty = 1;
        call!(self, tiledb_current_domain_get_is_empty(current_domain.pointer(), &mut is_empty))?;
        if is_empty != 0 {
            return Ok(None);
        }
        let pointer = current_domain.pointer();
        allocate!(self, tiledb_ndrectangle_free, tiledb_current_domain_get_ndrectangle(pointer)).map(Some)
    }

    /// Submits once, and says whether that completed the query.
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
