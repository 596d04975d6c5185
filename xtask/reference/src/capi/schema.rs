//! Creates schemas from their specifications.

use std::ptr;

use tdb_types::{CellValNum, Datatype};

use super::calls::{allocate, call};
use super::context::{Context, KeyArguments, c_string};
use super::handle::Handle;
use super::symbols::{In, Ptr, Range, Status};
use crate::Result;
use crate::model::{ArraySpec, AttributeSpec, Bytes, DimensionSpec, EnumerationSpec, FilterSpec, LabelSpec, Pipeline};

/// Codes of filter options in the C interface. They are not part of the format.
mod option {
    pub(super) const COMPRESSION_LEVEL: u32 = 0;
    pub(super) const BIT_WIDTH_MAX_WINDOW: u32 = 1;
    pub(super) const POSITIVE_DELTA_MAX_WINDOW: u32 = 2;
    pub(super) const SCALE_FLOAT_BYTE_WIDTH: u32 = 3;
    pub(super) const SCALE_FLOAT_FACTOR: u32 = 4;
    pub(super) const SCALE_FLOAT_OFFSET: u32 = 5;
    pub(super) const WEBP_QUALITY: u32 = 6;
    pub(super) const WEBP_INPUT_FORMAT: u32 = 7;
    pub(super) const WEBP_LOSSLESS: u32 = 8;
    pub(super) const REINTERPRET_DATATYPE: u32 = 9;
}

pub(super) fn code(datatype: Datatype) -> u32 {
    u32::from(datatype.code())
}

pub(super) fn cell_val_num_code(number: Option<u32>) -> u32 {
    number.unwrap_or(CellValNum::VAR_CODE)
}

/// Returns a pointer to the bytes. Null represents `None` in the C interface.
fn pointer_or_null(bytes: Option<&Bytes>) -> In {
    bytes.map_or(ptr::null(), |bytes| bytes.as_ptr().cast())
}

impl Context {
    /// Creates an empty array.
    pub(crate) fn create(&self, uri: &str, spec: &ArraySpec) -> Result<()> {
        let schema = self.schema(spec)?;
        let (uri, schema) = (c_string(uri)?, schema.pointer());
        let symbols = &self.library().symbols;
        match self.key().filter(|_| symbols.tiledb_array_create_with_key.is_some()) {
            None => call!(self, tiledb_array_create(uri.as_ptr(), schema)),
            Some(KeyArguments { encryption, key, length }) => {
                call!(self, tiledb_array_create_with_key(uri.as_ptr(), schema, encryption, key, length))
            }
        }
    }

    fn schema(&self, spec: &ArraySpec) -> Result<Handle> {
        let array_type = u32::from(spec.array_type.code());
        let handle = allocate!(self, tiledb_array_schema_free, tiledb_array_schema_alloc(array_type))?;
        let schema = handle.pointer();
        let domain = self.domain(&spec.dimensions)?;
        call!(self, tiledb_array_schema_set_domain(schema, domain.pointer()))?;
        call!(self, tiledb_array_schema_set_cell_order(schema, u32::from(spec.cell_order.code())))?;
        call!(self, tiledb_array_schema_set_tile_order(schema, u32::from(spec.tile_order.code())))?;
        if let Some(capacity) = spec.capacity {
            call!(self, tiledb_array_schema_set_capacity(schema, capacity))?;
        }
        if spec.allows_dups {
            call!(self, tiledb_array_schema_set_allows_dups(schema, 1))?;
        }
        self.set_schema_filters(schema, spec)?;
        for enumeration in &spec.enumerations {
            let enumeration = self.enumeration(enumeration)?;
            call!(self, tiledb_array_schema_add_enumeration(schema, enumeration.pointer()))?;
        }
        for attribute in &spec.attributes {
            let attribute = self.attribute(attribute)?;
            call!(self, tiledb_array_schema_add_attribute(schema, attribute.pointer()))?;
        }
        for label in &spec.labels {
            self.add_label(schema, label)?;
        }
        if let Some(ranges) = &spec.current_domain {
            let current_domain = self.current_domain(&domain, ranges)?;
            call!(self, tiledb_array_schema_set_current_domain(schema, current_domain.pointer()))?;
        }
        Ok(handle)
    }

    fn set_schema_filters(&self, schema: Ptr, spec: &ArraySpec) -> Result<()> {
        if let Some(pipeline) = &spec.coords_filters {
            let filters = self.filter_list(pipeline)?;
            call!(self, tiledb_array_schema_set_coords_filter_list(schema, filters.pointer()))?;
        }
        if let Some(pipeline) = &spec.offsets_filters {
            let filters = self.filter_list(pipeline)?;
            call!(self, tiledb_array_schema_set_offsets_filter_list(schema, filters.pointer()))?;
        }
        if let Some(pipeline) = &spec.validity_filters {
            let filters = self.filter_list(pipeline)?;
            call!(self, tiledb_array_schema_set_validity_filter_list(schema, filters.pointer()))?;
        }
        Ok(())
    }

    fn domain(&self, dimensions: &[DimensionSpec]) -> Result<Handle> {
        let domain = allocate!(self, tiledb_domain_free, tiledb_domain_alloc())?;
        for dimension in dimensions {
            let dimension = self.dimension(dimension)?;
            call!(self, tiledb_domain_add_dimension(domain.pointer(), dimension.pointer()))?;
        }
        Ok(domain)
    }

    fn dimension(&self, spec: &DimensionSpec) -> Result<Handle> {
        let name = c_string(&spec.name)?;
        let domain = spec.domain.as_ref().map(|(first, last)| Bytes([&first[..], last].concat()));
        let (domain, extent) = (pointer_or_null(domain.as_ref()), pointer_or_null(spec.extent.as_ref()));
        let datatype = code(spec.datatype);
        let allocated =
            allocate!(self, tiledb_dimension_free, tiledb_dimension_alloc(name.as_ptr(), datatype, domain, extent))?;
        if spec.filters.is_stated() {
            let filters = self.filter_list(&spec.filters)?;
            call!(self, tiledb_dimension_set_filter_list(allocated.pointer(), filters.pointer()))?;
        }
        Ok(allocated)
    }

    pub(super) fn attribute(&self, spec: &AttributeSpec) -> Result<Handle> {
        let name = c_string(&spec.name)?;
        let allocated =
            allocate!(self, tiledb_attribute_free, tiledb_attribute_alloc(name.as_ptr(), code(spec.datatype)))?;
        let attribute = allocated.pointer();
        // Cells of datatype `any` are always variable-sized, and older releases refuse this call
        // for them.
        if spec.datatype != Datatype::Any {
            call!(self, tiledb_attribute_set_cell_val_num(attribute, cell_val_num_code(spec.cell_val_num)))?;
        }
        if spec.nullable {
            call!(self, tiledb_attribute_set_nullable(attribute, 1))?;
        }
        if let Some((value, valid)) = &spec.fill {
            let (bytes, size) = (value.as_ptr().cast(), value.len() as u64);
            if spec.nullable {
                call!(self, tiledb_attribute_set_fill_value_nullable(attribute, bytes, size, u8::from(*valid)))?;
            } else {
                call!(self, tiledb_attribute_set_fill_value(attribute, bytes, size))?;
            }
        }
        if spec.filters.is_stated() {
            let filters = self.filter_list(&spec.filters)?;
            call!(self, tiledb_attribute_set_filter_list(attribute, filters.pointer()))?;
        }
        if let Some(enumeration) = &spec.enumeration {
            call!(self, tiledb_attribute_set_enumeration_name(attribute, c_string(enumeration)?.as_ptr()))?;
        }
        Ok(allocated)
    }

    pub(super) fn enumeration(&self, spec: &EnumerationSpec) -> Result<Handle> {
        let name = c_string(&spec.name)?;
        let (values, values_size, offsets, offsets_size) = enumeration_parts(spec);
        allocate!(
            self,
            tiledb_enumeration_free,
            tiledb_enumeration_alloc(
                name.as_ptr(),
                code(spec.datatype),
                cell_val_num_code(spec.cell_val_num),
                i32::from(spec.ordered),
                values,
                values_size,
                offsets,
                offsets_size,
            )
        )
    }

    fn add_label(&self, schema: Ptr, label: &LabelSpec) -> Result<()> {
        let name = c_string(&label.name)?;
        let (order, datatype) = (u32::from(label.order.code()), code(label.datatype));
        call!(self, tiledb_array_schema_add_dimension_label(schema, label.dimension, name.as_ptr(), order, datatype))?;
        if let Some(pipeline) = &label.filters {
            let filters = self.filter_list(pipeline)?;
            call!(self, tiledb_array_schema_set_dimension_label_filter_list(schema, name.as_ptr(), filters.pointer()))?;
        }
        Ok(())
    }

    pub(super) fn current_domain(&self, domain: &Handle, ranges: &[(Bytes, Bytes)]) -> Result<Handle> {
        let rectangle = allocate!(self, tiledb_ndrectangle_free, tiledb_ndrectangle_alloc(domain.pointer()))?;
        for (index, (first, last)) in (0..).zip(ranges) {
            let range = Range {
                min: first.as_ptr().cast(),
                min_size: first.len() as u64,
                max: last.as_ptr().cast(),
                max_size: last.len() as u64,
            };
            call!(self, tiledb_ndrectangle_set_range(rectangle.pointer(), index, &range))?;
        }
        let current_domain = allocate!(self, tiledb_current_domain_free, tiledb_current_domain_create())?;
        self.set_rectangle(&current_domain, &rectangle)?;
        Ok(current_domain)
    }

    /// Sets the rectangle of a current domain. In release 2.25 this function takes no context.
    fn set_rectangle(&self, current_domain: &Handle, rectangle: &Handle) -> Result<()> {
        let (current_domain, rectangle) = (current_domain.pointer(), rectangle.pointer());
        if !self.library().release().starts_with("2.25.") {
            return call!(self, tiledb_current_domain_set_ndrectangle(current_domain, rectangle));
        }
        type WithoutContext = unsafe extern "C" fn(Ptr, Ptr) -> Status;
        let function = self.library().symbols.tiledb_current_domain_set_ndrectangle;
        let function = function.ok_or_else(|| self.library().missing("tiledb_current_domain_set_ndrectangle"))?;
        // SAFETY: in this release the function has this type.
        let function =
            unsafe { std::mem::transmute::<unsafe extern "C" fn(Ptr, Ptr, Ptr) -> Status, WithoutContext>(function) };
        // SAFETY: both objects are alive.
        self.check(unsafe { function(current_domain, rectangle) })
    }

    fn filter_list(&self, pipeline: &Pipeline) -> Result<Handle> {
        let list = allocate!(self, tiledb_filter_list_free, tiledb_filter_list_alloc())?;
        if let Some(size) = pipeline.max_chunk_size {
            call!(self, tiledb_filter_list_set_max_chunk_size(list.pointer(), size))?;
        }
        for spec in &pipeline.filters {
            let filter = allocate!(self, tiledb_filter_free, tiledb_filter_alloc(spec.code()))?;
            self.set_options(&filter, spec)?;
            call!(self, tiledb_filter_list_add_filter(list.pointer(), filter.pointer()))?;
        }
        Ok(list)
    }

    fn set_options(&self, filter: &Handle, spec: &FilterSpec) -> Result<()> {
        match spec {
            FilterSpec::Gzip { level: Some(level) }
            | FilterSpec::Zstd { level: Some(level) }
            | FilterSpec::Lz4 { level: Some(level) }
            | FilterSpec::Bzip2 { level: Some(level) } => self.set_option(filter, option::COMPRESSION_LEVEL, level),
            FilterSpec::BitWidthReduction { window: Some(window) } => {
                self.set_option(filter, option::BIT_WIDTH_MAX_WINDOW, window)
            }
            FilterSpec::PositiveDelta { window: Some(window) } => {
                self.set_option(filter, option::POSITIVE_DELTA_MAX_WINDOW, window)
            }
            FilterSpec::DoubleDelta { reinterpret: Some(datatype) }
            | FilterSpec::Delta { reinterpret: Some(datatype) } => {
                self.set_option(filter, option::REINTERPRET_DATATYPE, &datatype.code())
            }
            FilterSpec::ScaleFloat { factor, offset, byte_width } => {
                self.set_option(filter, option::SCALE_FLOAT_FACTOR, factor)?;
                self.set_option(filter, option::SCALE_FLOAT_OFFSET, offset)?;
                self.set_option(filter, option::SCALE_FLOAT_BYTE_WIDTH, byte_width)
            }
            FilterSpec::Webp { quality, format, lossless } => {
                self.set_option(filter, option::WEBP_QUALITY, quality)?;
                self.set_option(filter, option::WEBP_INPUT_FORMAT, &(*format as u8))?;
                self.set_option(filter, option::WEBP_LOSSLESS, &u8::from(*lossless))
            }
            _ => Ok(()),
        }
    }

    /// Sets a filter option. `value` must have the type that the library's headers declare for the
    /// option.
    fn set_option<T: Copy>(&self, filter: &Handle, option: u32, value: &T) -> Result<()> {
        call!(self, tiledb_filter_set_option(filter.pointer(), option, ptr::from_ref(value).cast()))
    }
}

/// Returns the values and offsets of an enumeration as arguments. Pointers to empty data are null.
pub(super) fn enumeration_parts(spec: &EnumerationSpec) -> (In, u64, In, u64) {
    let values: In = if spec.values.is_empty() { ptr::null() } else { spec.values.as_ptr().cast() };
    let offsets = spec.offsets.as_deref().unwrap_or_default();
    let offsets_pointer: In = if offsets.is_empty() { ptr::null() } else { offsets.as_ptr().cast() };
    (values, spec.values.len() as u64, offsets_pointer, size_of_val(offsets) as u64)
}
