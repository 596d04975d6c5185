//! Open arrays, and operations on arrays.

use std::ffi::CStr;

use tdb_types::{CellValNum, Datatype};

use super::calls::{allocate, call};
use super::context::{Context, KeyArguments, c_string, copied};
use super::handle::Handle;
use super::symbols::Ptr;
use crate::{Error, Result};

/// Codes of the C interface for the type of a query, and for the mode of an open array.
pub(super) mod purpose {
    pub(in crate::capi) const READ: u32 = 0;
    pub(in crate::capi) const WRITE: u32 = 1;
    pub(in crate::capi) const DELETE: u32 = 2;
}

/// A field of a schema.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) datatype: Datatype,
    /// Values per cell. `None` for a variable number.
    pub(super) cell_val_num: Option<u32>,
    pub(super) nullable: bool,
}

/// The fields of a schema.
#[derive(Debug)]
pub(super) struct Fields {
    pub(super) sparse: bool,
    pub(super) dimensions: Vec<Field>,
    pub(super) attributes: Vec<Field>,
}

/// Name of the field with all coordinates of a cell, in releases before 2.0.
pub(super) const COORDINATES: &str = "__coords";

impl Fields {
    /// Returns the field with all coordinates. The dimensions must have the same datatype.
    fn coordinates(&self) -> Field {
        let datatype = self.dimensions.first().map_or(Datatype::Any, |dimension| dimension.datatype);
        let number = self.dimensions.len() as u32;
        Field { name: COORDINATES.to_owned(), datatype, cell_val_num: Some(number), nullable: false }
    }

    /// `true` if there is a dimension with this name.
    pub(super) fn is_dimension(&self, name: &str) -> bool {
        self.dimensions.iter().any(|dimension| dimension.name == name)
    }
}

impl Context {
    /// `true` if this release supports coordinates only as [`COORDINATES`].
    pub(super) fn combines_coordinates(&self) -> bool {
        self.library().symbols.tiledb_dimension_get_cell_val_num.is_none()
    }

    pub(super) fn open_to_read(&self, uri: &str, timestamps: Option<(u64, u64)>) -> Result<Handle> {
        self.open(uri, purpose::READ, timestamps)
    }

    /// Opens the current state of an array, and closes it.
    pub(crate) fn open_and_close(&self, uri: &str) -> Result<()> {
        self.close(&self.open_to_read(uri, None)?)
    }

    /// Opens an array for a change with a timestamp, or with the current time.
    pub(super) fn open_to_change(&self, uri: &str, purpose: u32, timestamp: Option<u64>) -> Result<Handle> {
        self.open(uri, purpose, timestamp.map(|timestamp| (0, timestamp)))
    }

    /// Opens an array between two timestamps, with the key if any.
    fn open(&self, uri: &str, purpose: u32, timestamps: Option<(u64, u64)>) -> Result<Handle> {
        let symbols = &self.library().symbols;
        let handle = self.array(uri)?;
        let array = handle.pointer();
        let mut time_to_pass = None;
        if let Some((start, end)) = timestamps {
            if symbols.tiledb_array_set_open_timestamp_end.is_some() {
                if start > 0 {
                    call!(self, tiledb_array_set_open_timestamp_start(array, start))?;
                }
                call!(self, tiledb_array_set_open_timestamp_end(array, end))?;
            } else if start > 0 {
                return Err(self.library().missing("tiledb_array_set_open_timestamp_start"));
            } else {
                time_to_pass = Some(end);
            }
        }
        // Releases with these functions take the key as an argument. Later releases take it from
        // the configuration.
        let key = self.key().filter(|_| symbols.tiledb_array_open_with_key.is_some());
        match (key, time_to_pass) {
            (None, None) => call!(self, tiledb_array_open(array, purpose)),
            (None, Some(time)) => call!(self, tiledb_array_open_at(array, purpose, time)),
            (Some(KeyArguments { encryption, key, length }), None) => {
                call!(self, tiledb_array_open_with_key(array, purpose, encryption, key, length))
            }
            (Some(KeyArguments { encryption, key, length }), Some(time)) => {
                call!(self, tiledb_array_open_at_with_key(array, purpose, encryption, key, length, time))
            }
        }?;
        Ok(handle)
    }

    fn array(&self, uri: &str) -> Result<Handle> {
        let uri = c_string(uri)?;
        allocate!(self, tiledb_array_free, tiledb_array_alloc(uri.as_ptr()))
    }

    pub(super) fn close(&self, array: &Handle) -> Result<()> {
        call!(self, tiledb_array_close(array.pointer()))
    }

    /// Loads the newest schema of an array.
    pub(super) fn load_schema(&self, uri: &CStr) -> Result<Handle> {
        let symbols = &self.library().symbols;
        match self.key().filter(|_| symbols.tiledb_array_schema_load_with_key.is_some()) {
            None => allocate!(self, tiledb_array_schema_free, tiledb_array_schema_load(uri.as_ptr())),
            Some(KeyArguments { encryption, key, length }) => allocate!(
                self,
                tiledb_array_schema_free,
                tiledb_array_schema_load_with_key(uri.as_ptr(), encryption, key, length)
            ),
        }
    }

    pub(super) fn schema_of(&self, array: &Handle) -> Result<Handle> {
        allocate!(self, tiledb_array_schema_free, tiledb_array_get_schema(array.pointer()))
    }

    /// Consolidates according to the setting `sm.consolidation.mode`.
    pub(crate) fn consolidate(&self, uri: &str) -> Result<()> {
        let uri = c_string(uri)?;
        let symbols = &self.library().symbols;
        match self.key().filter(|_| symbols.tiledb_array_consolidate_with_key.is_some()) {
            None => call!(self, tiledb_array_consolidate(uri.as_ptr(), self.config())),
            Some(KeyArguments { encryption, key, length }) => {
                let config = self.config();
                call!(self, tiledb_array_consolidate_with_key(uri.as_ptr(), encryption, key, length, config))
            }
        }
    }

    /// Consolidates fragments, given the names of their folders.
    pub(crate) fn consolidate_fragments(&self, uri: &str, fragments: &[String]) -> Result<()> {
        let names = fragments.iter().map(|name| c_string(name)).collect::<Result<Vec<_>>>()?;
        let pointers: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
        let (uri, count) = (c_string(uri)?, pointers.len() as u64);
        call!(self, tiledb_array_consolidate_fragments(uri.as_ptr(), pointers.as_ptr(), count, self.config()))
    }

    /// Vacuums according to the setting `sm.vacuum.mode`.
    pub(crate) fn vacuum(&self, uri: &str) -> Result<()> {
        call!(self, tiledb_array_vacuum(c_string(uri)?.as_ptr(), self.config()))
    }

    pub(crate) fn delete_fragments(&self, uri: &str, (start, end): (u64, u64)) -> Result<()> {
        call!(self, tiledb_array_delete_fragments_v2(c_string(uri)?.as_ptr(), start, end))
    }

    /// Returns the dimensions and attributes of a schema.
    pub(super) fn fields(&self, schema: &Handle) -> Result<Fields> {
        let (mut array_type, mut attribute_count, mut dimension_count) = (0, 0, 0);
        call!(self, tiledb_array_schema_get_array_type(schema.pointer(), &mut array_type))?;
        call!(self, tiledb_array_schema_get_attribute_num(schema.pointer(), &mut attribute_count))?;
        let domain = allocate!(self, tiledb_domain_free, tiledb_array_schema_get_domain(schema.pointer()))?;
        call!(self, tiledb_domain_get_ndim(domain.pointer(), &mut dimension_count))?;
        let dimensions = (0..dimension_count).map(|index| self.dimension_field(&domain, index)).collect::<Result<_>>();
        let attributes = (0..attribute_count).map(|index| self.attribute_field(schema, index)).collect::<Result<_>>();
        Ok(Fields { sparse: array_type == 1, dimensions: dimensions?, attributes: attributes? })
    }

    fn dimension_field(&self, domain: &Handle, index: u32) -> Result<Field> {
        let dimension =
            allocate!(self, tiledb_dimension_free, tiledb_domain_get_dimension_from_index(domain.pointer(), index))?;
        let (mut name, mut datatype, mut cell_val_num) = (std::ptr::null(), 0, 1);
        call!(self, tiledb_dimension_get_name(dimension.pointer(), &mut name))?;
        let name = copied(name).unwrap_or_default();
        call!(self, tiledb_dimension_get_type(dimension.pointer(), &mut datatype))?;
        if self.library().symbols.tiledb_dimension_get_cell_val_num.is_some() {
            call!(self, tiledb_dimension_get_cell_val_num(dimension.pointer(), &mut cell_val_num))?;
        }
        field(name, datatype, cell_val_num, false)
    }

    fn attribute_field(&self, schema: &Handle, index: u32) -> Result<Field> {
        let attribute = allocate!(
            self,
            tiledb_attribute_free,
            tiledb_array_schema_get_attribute_from_index(schema.pointer(), index)
        )?;
        let (mut name, mut datatype, mut cell_val_num, mut nullable) = (std::ptr::null(), 0, 1, 0);
        call!(self, tiledb_attribute_get_name(attribute.pointer(), &mut name))?;
        let mut name = copied(name).unwrap_or_default();
        // The first releases use this name for anonymous attributes, but return no name.
        if name.is_empty() && self.combines_coordinates() {
            "__attr".clone_into(&mut name);
        }
        call!(self, tiledb_attribute_get_type(attribute.pointer(), &mut datatype))?;
        call!(self, tiledb_attribute_get_cell_val_num(attribute.pointer(), &mut cell_val_num))?;
        if self.library().symbols.tiledb_attribute_get_nullable.is_some() {
            call!(self, tiledb_attribute_get_nullable(attribute.pointer(), &mut nullable))?;
        }
        field(name, datatype, cell_val_num, nullable != 0)
    }

    /// Returns the dimension label with this name, or `None`.
    pub(super) fn label_field(&self, schema: Ptr, name: &str) -> Result<Option<Field>> {
        if self.library().symbols.tiledb_array_schema_has_dimension_label.is_none() {
            return Ok(None);
        }
        let text = c_string(name)?;
        let mut exists = 0;
        call!(self, tiledb_array_schema_has_dimension_label(schema, text.as_ptr(), &mut exists))?;
        if exists == 0 {
            return Ok(None);
        }
        let label = allocate!(
            self,
            tiledb_dimension_label_free,
            tiledb_array_schema_get_dimension_label_from_name(schema, text.as_ptr())
        )?;
        let (mut datatype, mut cell_val_num) = (0, 1);
        call!(self, tiledb_dimension_label_get_label_type(label.pointer(), &mut datatype))?;
        call!(self, tiledb_dimension_label_get_label_cell_val_num(label.pointer(), &mut cell_val_num))?;
        field(name.to_owned(), datatype, cell_val_num, false).map(Some)
    }

    /// Returns the fields with these names: attributes, dimensions, labels, and special fields.
    /// Without names, returns all attributes, and for sparse arrays the dimensions first.
    pub(super) fn select_fields(&self, schema: &Handle, names: &[String]) -> Result<Vec<Field>> {
        let fields = self.fields(schema)?;
        if names.is_empty() {
            let dimensions = if fields.sparse { fields.dimensions } else { Vec::new() };
            return Ok(dimensions.into_iter().chain(fields.attributes).collect());
        }
        let coordinates = fields.coordinates();
        let known: Vec<Field> = fields.dimensions.into_iter().chain(fields.attributes).collect();
        let select = |name: &String| {
            if name == COORDINATES {
                return Ok(coordinates.clone());
            }
            if let Some(field) = known.iter().find(|field| &field.name == name) {
                return Ok(field.clone());
            }
            if name == "__timestamps" {
                return field(name.clone(), u32::from(Datatype::UInt64.code()), 1, false);
            }
            let label = self.label_field(schema.pointer(), name)?;
            label.ok_or_else(|| Error::Library(format!("the array has no field {name:?}")))
        };
        names.iter().map(select).collect()
    }
}

/// Creates a field. Fails if the datatype code is unknown.
fn field(name: String, datatype: u32, cell_val_num: u32, nullable: bool) -> Result<Field> {
    let known = u8::try_from(datatype).ok().and_then(Datatype::from_code);
    let datatype = known.ok_or_else(|| Error::Library(format!("{name:?} has the unknown datatype {datatype}")))?;
    let cell_val_num = (cell_val_num != CellValNum::VAR_CODE).then_some(cell_val_num);
    Ok(Field { name, datatype, cell_val_num, nullable })
}
