//! Buffers of queries.

use std::ffi::CString;

use super::array::Field;
use super::calls::call;
use super::context::{Context, c_string};
use super::handle::Handle;
use crate::Result;
use crate::model::{Bytes, Column, ReadColumn};

/// The buffers of a field. The library keeps pointers to the buffers and sizes. They must not be
/// moved or resized between [`FieldBuffer::attach`] and the end of the submission.
pub(super) struct FieldBuffer {
    name: CString,
    field: Field,
    data: Vec<u8>,
    offsets: Vec<u64>,
    validity: Vec<u8>,
    /// Sizes in bytes: of the buffers before a submission, of their used parts afterwards.
    sizes: Box<Sizes>,
}

#[derive(Default)]
struct Sizes {
    data: u64,
    offsets: u64,
    validity: u64,
}

impl FieldBuffer {
    /// Allocates buffers for results: `bytes` for data, and as much for offsets.
    pub(super) fn with_room(field: Field, bytes: usize) -> Result<Self> {
        let mut buffer = Self::empty(field)?;
        buffer.resize(bytes, bytes / 8);
        Ok(buffer)
    }

    /// Copies the cells of a column to write. The library does not take the last offset.
    pub(super) fn holding(field: Field, column: &Column) -> Result<Self> {
        let mut buffer = Self::empty(field)?;
        buffer.data = column.values.to_vec();
        buffer.offsets = column.offsets.clone().unwrap_or_default();
        buffer.offsets.pop();
        buffer.validity = column.validity.as_ref().map(|validity| validity.to_vec()).unwrap_or_default();
        Ok(buffer)
    }

    fn empty(field: Field) -> Result<Self> {
        let name = c_string(&field.name)?;
        let (data, offsets, validity) = Default::default();
        Ok(Self { name, field, data, offsets, validity, sizes: Box::default() })
    }

    /// Resizes the buffers to `bytes` of data, and to the number of cells that fit. For
    /// variable-size cells, the number of cells is `cells`.
    pub(super) fn resize(&mut self, bytes: usize, cells: usize) {
        let value_size = self.field.datatype.size();
        let cell_size = value_size * self.field.cell_val_num.unwrap_or(1) as usize;
        self.data.resize(bytes.max(cell_size).next_multiple_of(cell_size), 0);
        let cells = if self.is_variable() { cells.max(1) } else { self.data.len() / cell_size };
        self.offsets.resize(if self.is_variable() { cells } else { 0 }, 0);
        self.validity.resize(if self.field.nullable { cells } else { 0 }, 0);
    }

    /// Doubles the size of the buffers.
    pub(super) fn grow(&mut self) {
        self.resize(self.data.len() * 2, self.offsets.len() * 2);
    }

    fn is_variable(&self) -> bool {
        self.field.cell_val_num.is_none()
    }

    /// Sets the buffers of a query.
    pub(super) fn attach(&mut self, context: &Context, query: &Handle) -> Result<()> {
        self.sizes.data = self.data.len() as u64;
        self.sizes.offsets = size_of_val(&self.offsets[..]) as u64;
        self.sizes.validity = self.validity.len() as u64;
        if context.library().symbols.tiledb_query_set_data_buffer.is_none() {
            return self.attach_in_one_call(context, query);
        }
        let (query, name) = (query.pointer(), self.name.as_ptr());
        let data = self.data.as_mut_ptr().cast();
        call!(context, tiledb_query_set_data_buffer(query, name, data, &mut self.sizes.data))?;
        if self.is_variable() {
            let offsets = self.offsets.as_mut_ptr();
            call!(context, tiledb_query_set_offsets_buffer(query, name, offsets, &mut self.sizes.offsets))?;
        }
        if self.field.nullable {
            let validity = self.validity.as_mut_ptr();
            call!(context, tiledb_query_set_validity_buffer(query, name, validity, &mut self.sizes.validity))?;
        }
        Ok(())
    }

    /// Sets the buffers as in releases before 2.4.
    fn attach_in_one_call(&mut self, context: &Context, query: &Handle) -> Result<()> {
        let (query, name) = (query.pointer(), self.name.as_ptr());
        let (data, data_size) = (self.data.as_mut_ptr().cast(), &mut self.sizes.data);
        let (offsets, offsets_size) = (self.offsets.as_mut_ptr(), &mut self.sizes.offsets);
        let (valid, valid_size) = (self.validity.as_mut_ptr(), &mut self.sizes.validity);
        match (self.field.cell_val_num.is_none(), self.field.nullable) {
            (false, false) => call!(context, tiledb_query_set_buffer(query, name, data, data_size)),
            (true, false) => {
                call!(context, tiledb_query_set_buffer_var(query, name, offsets, offsets_size, data, data_size))
            }
            (false, true) => {
                call!(context, tiledb_query_set_buffer_nullable(query, name, data, data_size, valid, valid_size))
            }
            (true, true) => call!(
                context,
                tiledb_query_set_buffer_var_nullable(
                    query,
                    name,
                    offsets,
                    offsets_size,
                    data,
                    data_size,
                    valid,
                    valid_size,
                )
            ),
        }
    }

    /// Returns the data of the last submission.
    pub(super) fn data(&self) -> &[u8] {
        &self.data[..self.sizes.data as usize]
    }

    /// Returns the offsets of the last submission, without the end of the last cell.
    pub(super) fn offsets(&self) -> &[u64] {
        &self.offsets[..self.sizes.offsets as usize / size_of::<u64>()]
    }

    /// Returns the validity of the last submission.
    pub(super) fn validity(&self) -> &[u8] {
        &self.validity[..self.sizes.validity as usize]
    }

    /// Returns the number of cells of the last submission.
    pub(super) fn cells(&self) -> usize {
        match self.field.cell_val_num {
            None => self.offsets().len(),
            Some(number) => self.data().len() / (number as usize * self.field.datatype.size()),
        }
    }

    /// Returns an empty column for the results.
    pub(super) fn empty_column(&self) -> ReadColumn {
        let offsets = self.is_variable().then(|| vec![0]);
        let validity = self.field.nullable.then(Bytes::default);
        let column = Column { name: self.field.name.clone(), values: Bytes::default(), offsets, validity };
        ReadColumn { datatype: self.field.datatype, cell_val_num: self.field.cell_val_num, column }
    }

    /// Returns the results of the last submission.
    pub(super) fn column(&self) -> ReadColumn {
        let mut column = self.empty_column();
        self.append_to(&mut column.column);
        column
    }

    /// Appends the results of the last submission to a column.
    pub(super) fn append_to(&self, column: &mut Column) {
        let before = column.values.len() as u64;
        column.values.0.extend_from_slice(self.data());
        if let Some(offsets) = &mut column.offsets {
            // The first cell starts at the end of the previous submission. The column already
            // contains this offset.
            offsets.extend(self.offsets().iter().skip(1).map(|offset| before + offset));
            if self.cells() > 0 {
                offsets.push(column.values.len() as u64);
            }
        }
        if let Some(validity) = &mut column.validity {
            validity.0.extend_from_slice(self.validity());
        }
    }
}
