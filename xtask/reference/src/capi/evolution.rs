//! Schema evolution.

use super::calls::{allocate, call};
use super::context::{Context, c_string};
use super::schema::enumeration_parts;
use super::symbols::Ptr;
use crate::Result;
use crate::model::{Bytes, Evolution};

impl Context {
    pub(crate) fn evolve(&self, uri: &str, evolution: &Evolution) -> Result<()> {
        let handle = allocate!(self, tiledb_array_schema_evolution_free, tiledb_array_schema_evolution_alloc())?;
        let pointer = handle.pointer();
        for enumeration in &evolution.add_enumerations {
            let enumeration = self.enumeration(enumeration)?;
            call!(self, tiledb_array_schema_evolution_add_enumeration(pointer, enumeration.pointer()))?;
        }
        self.extend_enumerations(uri, pointer, evolution)?;
        for attribute in &evolution.add_attributes {
            let attribute = self.attribute(attribute)?;
            call!(self, tiledb_array_schema_evolution_add_attribute(pointer, attribute.pointer()))?;
        }
        for name in &evolution.drop_attributes {
            call!(self, tiledb_array_schema_evolution_drop_attribute(pointer, c_string(name)?.as_ptr()))?;
        }
        for name in &evolution.drop_enumerations {
            call!(self, tiledb_array_schema_evolution_drop_enumeration(pointer, c_string(name)?.as_ptr()))?;
        }
        if let Some(ranges) = &evolution.expand_current_domain {
            self.expand_current_domain(uri, pointer, ranges)?;
        }
        if let Some(at) = evolution.timestamp {
            call!(self, tiledb_array_schema_evolution_set_timestamp_range(pointer, at, at))?;
        }
        call!(self, tiledb_array_evolve(c_string(uri)?.as_ptr(), pointer))
    }

    fn extend_enumerations(&self, uri: &str, evolution: Ptr, spec: &Evolution) -> Result<()> {
        if spec.extend_enumerations.is_empty() {
            return Ok(());
        }
        let array = self.open_to_read(uri, None)?;
        for extended in &spec.extend_enumerations {
            let name = c_string(&extended.name)?;
            let array = array.pointer();
            let old = allocate!(self, tiledb_enumeration_free, tiledb_array_get_enumeration(array, name.as_ptr()))?;
            let (values, values_size, offsets, offsets_size) = enumeration_parts(extended);
            let new = allocate!(
                self,
                tiledb_enumeration_free,
                tiledb_enumeration_extend(old.pointer(), values, values_size, offsets, offsets_size)
            )?;
            call!(self, tiledb_array_schema_evolution_extend_enumeration(evolution, new.pointer()))?;
        }
        Ok(())
    }

    fn expand_current_domain(&self, uri: &str, evolution: Ptr, ranges: &[(Bytes, Bytes)]) -> Result<()> {
        let uri = c_string(uri)?;
        let schema = self.load_schema(&uri)?;
        let domain = allocate!(self, tiledb_domain_free, tiledb_array_schema_get_domain(schema.pointer()))?;
        let current_domain = self.current_domain(&domain, ranges)?;
        call!(self, tiledb_array_schema_evolution_expand_current_domain(evolution, current_domain.pointer()))
    }

    /// Rewrites the newest schema in the library's own format version.
    pub(crate) fn upgrade(&self, uri: &str) -> Result<()> {
        call!(self, tiledb_array_upgrade_version(c_string(uri)?.as_ptr(), self.config()))
    }
}
