//! Subarrays of queries.

use std::ptr;

use super::array::{Field, Fields};
use super::calls::{allocate, call};
use super::context::{Context, c_string};
use super::handle::Handle;
use super::symbols::{In, Ptr, Range};
use crate::model::{Bytes, QuerySpec, RangesSpec};
use crate::{Error, Result};

impl Context {
    /// Sets the subarray of a write.
    pub(super) fn select_box(&self, array: &Handle, query: &Handle, ranges: &[(Bytes, Bytes)]) -> Result<()> {
        if self.library().symbols.tiledb_query_set_subarray_t.is_none() {
            return self.select_box_in_place(query, ranges);
        }
        let subarray = allocate!(self, tiledb_subarray_free, tiledb_subarray_alloc(array.pointer()))?;
        for (dimension, (first, last)) in (0..).zip(ranges) {
            let (start, end) = (first.as_ptr().cast(), last.as_ptr().cast());
            call!(self, tiledb_subarray_add_range(subarray.pointer(), dimension, start, end, ptr::null()))?;
        }
        call!(self, tiledb_query_set_subarray_t(query.pointer(), subarray.pointer()))
    }

    /// Sets a subarray as in releases before 2.7: the bounds of all dimensions in one buffer.
    fn select_box_in_place(&self, query: &Handle, ranges: &[(Bytes, Bytes)]) -> Result<()> {
        let ends: Vec<u8> = ranges.iter().flat_map(|(first, last)| [&first[..], last].concat()).collect();
        call!(self, tiledb_query_set_subarray(query.pointer(), ends.as_ptr().cast()))
    }

    /// Sets the ranges of a read.
    pub(super) fn select_ranges(&self, array: &Handle, query: &Handle, spec: &QuerySpec) -> Result<()> {
        let symbols = &self.library().symbols;
        if symbols.tiledb_query_set_subarray_t.is_some() {
            // Dense reads fail without a subarray, even for the whole domain.
            let subarray = self.subarray_object(array, spec)?;
            return call!(self, tiledb_query_set_subarray_t(query.pointer(), subarray.pointer()));
        }
        let schema = self.schema_of(array)?;
        if spec.ranges.is_empty() {
            let dense = !self.fields(&schema)?.sparse;
            return if dense { self.select_box_in_place(query, &self.whole_domain(&schema)?) } else { Ok(()) };
        }
        if symbols.tiledb_query_add_range.is_none() {
            return self.select_one_range_each(&schema, query, spec);
        }
        let dimensions = self.fields(&schema)?.dimensions;
        for ranges in &spec.ranges {
            let position = dimensions.iter().position(|field| field.name == ranges.dimension);
            let position = position.ok_or_else(|| Error::Library(format!("no dimension {}", ranges.dimension)))?;
            let (index, is_var) = (position as u32, dimensions[position].cell_val_num.is_none());
            for (first, last) in &ranges.ranges {
                let (query, start, end) = (query.pointer(), first.as_ptr().cast(), last.as_ptr().cast());
                if is_var {
                    let (start_size, end_size) = (first.len() as u64, last.len() as u64);
                    call!(self, tiledb_query_add_range_var(query, index, start, start_size, end, end_size))?;
                } else {
                    call!(self, tiledb_query_add_range(query, index, start, end, ptr::null()))?;
                }
            }
        }
        Ok(())
    }

    /// Sets the ranges of a read as in releases before 1.6: one range per dimension.
    fn select_one_range_each(&self, schema: &Handle, query: &Handle, spec: &QuerySpec) -> Result<()> {
        let whole = self.whole_domain(schema)?;
        let dimensions = self.fields(schema)?.dimensions;
        let range_of = |(dimension, whole): (&Field, (Bytes, Bytes))| match spec
            .ranges
            .iter()
            .find(|ranges| ranges.dimension == dimension.name)
            .map(|found| &found.ranges[..])
        {
            None | Some([]) => Ok(whole),
            Some([range]) => Ok(range.clone()),
            Some(_) => Err(self.library().missing("tiledb_query_add_range, for several ranges of a dimension")),
        };
        let ranges = dimensions.iter().zip(whole).map(range_of).collect::<Result<Vec<_>>>()?;
        self.select_box_in_place(query, &ranges)
    }

    /// Returns the bounds of each dimension.
    fn whole_domain(&self, schema: &Handle) -> Result<Vec<(Bytes, Bytes)>> {
        let domain = allocate!(self, tiledb_domain_free, tiledb_array_schema_get_domain(schema.pointer()))?;
        let dimensions = self.fields(schema)?.dimensions;
        let ends_of = |(index, field): (u32, &Field)| {
            let dimension = allocate!(
                self,
                tiledb_dimension_free,
                tiledb_domain_get_dimension_from_index(domain.pointer(), index)
            )?;
            let mut ends = ptr::null();
            call!(self, tiledb_dimension_get_domain(dimension.pointer(), &mut ends))?;
            let size = field.datatype.size();
            // SAFETY: the domain of a fixed-size dimension is two coordinates, which live as long
            // as the dimension.
            let bytes = unsafe { std::slice::from_raw_parts(ends.cast::<u8>(), 2 * size) };
            Ok((Bytes(bytes[..size].to_vec()), Bytes(bytes[size..].to_vec())))
        };
        (0..).zip(&dimensions).map(ends_of).collect()
    }

    fn subarray_object(&self, array: &Handle, spec: &QuerySpec) -> Result<Handle> {
        let handle = allocate!(self, tiledb_subarray_free, tiledb_subarray_alloc(array.pointer()))?;
        let subarray = handle.pointer();
        let schema = self.schema_of(array)?;
        let fields = self.fields(&schema)?;
        if spec.ranges.is_empty() && !fields.sparse {
            self.select_whole_domain(&schema, subarray)?;
        }
        for ranges in &spec.ranges {
            self.add_ranges(&schema, &fields, subarray, ranges)?;
        }
        Ok(handle)
    }

    /// Adds ranges of a dimension or of a dimension label.
    fn add_ranges(&self, schema: &Handle, fields: &Fields, subarray: Ptr, spec: &RangesSpec) -> Result<()> {
        let dimension = fields.dimensions.iter().find(|field| field.name == spec.dimension);
        let label = match dimension {
            Some(_) => None,
            None => self.label_field(schema.pointer(), &spec.dimension)?,
        };
        let field = dimension.or(label.as_ref());
        let field = field.ok_or_else(|| Error::Library(format!("no dimension {}", spec.dimension)))?;
        let text = c_string(&spec.dimension)?;
        let name = text.as_ptr();
        for (first, last) in &spec.ranges {
            let (start, end) = (first.as_ptr().cast(), last.as_ptr().cast());
            let (start_size, end_size) = (first.len() as u64, last.len() as u64);
            match (dimension, field.cell_val_num) {
                (Some(_), Some(_)) => {
                    call!(self, tiledb_subarray_add_range_by_name(subarray, name, start, end, ptr::null()))
                }
                (Some(_), None) => {
                    call!(self, tiledb_subarray_add_range_var_by_name(subarray, name, start, start_size, end, end_size))
                }
                (None, Some(_)) => {
                    call!(self, tiledb_subarray_add_label_range(subarray, name, start, end, ptr::null()))
                }
                (None, None) => {
                    call!(self, tiledb_subarray_add_label_range_var(subarray, name, start, start_size, end, end_size))
                }
            }?;
        }
        Ok(())
    }

    /// Adds the whole first dimension as a range. The library then selects the other dimensions
    /// completely.
    fn select_whole_domain(&self, schema: &Handle, subarray: Ptr) -> Result<()> {
        let (first, last) = self.whole_domain(schema)?.swap_remove(0);
        let (mut start, mut end): (In, In) = (first.as_ptr().cast(), last.as_ptr().cast());
        let rectangle = self.current_rectangle(schema)?;
        if let Some(rectangle) = &rectangle {
            let mut range = Range { min: start, min_size: 0, max: end, max_size: 0 };
            call!(self, tiledb_ndrectangle_get_range(rectangle.pointer(), 0, &mut range))?;
            (start, end) = (range.min, range.max);
        }
        call!(self, tiledb_subarray_add_range(subarray, 0, start, end, ptr::null()))
    }

    /// Returns the current domain, or `None` if it is not set or not supported by the release.
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
}
