//! Fragment information.

use std::ptr;

use super::array::Field;
use super::calls::{allocate, call};
use super::context::{Context, KeyArguments, c_string, copied};
use super::handle::Handle;
use crate::Result;
use crate::model::{Bytes, FragmentSummary};

impl Context {
    /// Returns the fragments of an array, in the library's order.
    pub(crate) fn fragments(&self, uri: &str) -> Result<Vec<FragmentSummary>> {
        let text = c_string(uri)?;
        let schema = self.load_schema(&text)?;
        let dimensions = self.fields(&schema)?.dimensions;
        let info = allocate!(self, tiledb_fragment_info_free, tiledb_fragment_info_alloc(text.as_ptr()))?;
        let symbols = &self.library().symbols;
        match self.key().filter(|_| symbols.tiledb_fragment_info_load_with_key.is_some()) {
            None => call!(self, tiledb_fragment_info_load(info.pointer())),
            Some(KeyArguments { encryption, key, length }) => {
                call!(self, tiledb_fragment_info_load_with_key(info.pointer(), encryption, key, length))
            }
        }?;
        let mut count = 0;
        call!(self, tiledb_fragment_info_get_fragment_num(info.pointer(), &mut count))?;
        (0..count).map(|index| self.fragment(&info, index, &dimensions)).collect()
    }

    fn fragment(&self, handle: &Handle, index: u32, dimensions: &[Field]) -> Result<FragmentSummary> {
        let info = handle.pointer();
        let (mut format_version, mut dense, mut first, mut last, mut cells) = (0, 0, 0, 0, 0);
        call!(self, tiledb_fragment_info_get_version(info, index, &mut format_version))?;
        call!(self, tiledb_fragment_info_get_dense(info, index, &mut dense))?;
        call!(self, tiledb_fragment_info_get_timestamp_range(info, index, &mut first, &mut last))?;
        call!(self, tiledb_fragment_info_get_cell_num(info, index, &mut cells))?;
        let mut mbrs = 0;
        let has_mbrs = dense == 0 && self.library().symbols.tiledb_fragment_info_get_mbr_num.is_some();
        if has_mbrs {
            call!(self, tiledb_fragment_info_get_mbr_num(info, index, &mut mbrs))?;
        }
        let mut schema_name = ptr::null();
        if self.library().symbols.tiledb_fragment_info_get_array_schema_name.is_some() {
            call!(self, tiledb_fragment_info_get_array_schema_name(info, index, &mut schema_name))?;
        }
        let schema_name = copied(schema_name);
        let non_empty_domain = (0..)
            .zip(dimensions)
            .map(|(dimension_index, field)| self.extent_of(handle, index, dimension_index, field))
            .collect::<Result<_>>()?;
        Ok(FragmentSummary {
            name: self.fragment_name(handle, index)?,
            format_version,
            dense: dense != 0,
            timestamps: (first, last),
            cells,
            non_empty_domain,
            schema_name,
            mbrs: has_mbrs.then_some(mbrs),
        })
    }

    /// Returns the name of a fragment. In older releases, extracts it from a URI.
    fn fragment_name(&self, info: &Handle, index: u32) -> Result<String> {
        if self.library().symbols.tiledb_fragment_info_get_fragment_name_v2.is_some() {
            let name =
                allocate!(self, tiledb_string_free, tiledb_fragment_info_get_fragment_name_v2(info.pointer(), index))?;
            return self.text_of(&name);
        }
        let mut uri = ptr::null();
        call!(self, tiledb_fragment_info_get_fragment_uri(info.pointer(), index, &mut uri))?;
        let uri = copied(uri).unwrap_or_default();
        Ok(uri.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned())
    }

    /// Returns the first and last coordinate of a fragment along a dimension.
    fn extent_of(&self, info: &Handle, fragment: u32, index: u32, field: &Field) -> Result<(Bytes, Bytes)> {
        let info = info.pointer();
        if field.cell_val_num.is_some() {
            let size = field.datatype.size();
            let mut both = vec![0u8; 2 * size];
            let place = both.as_mut_ptr().cast();
            call!(self, tiledb_fragment_info_get_non_empty_domain_from_index(info, fragment, index, place))?;
            let last = both.split_off(size);
            return Ok((Bytes(both), Bytes(last)));
        }
        let (mut first_size, mut last_size) = (0, 0);
        call!(
            self,
            tiledb_fragment_info_get_non_empty_domain_var_size_from_index(
                info,
                fragment,
                index,
                &mut first_size,
                &mut last_size,
            )
        )?;
        let (mut first, mut last) = (vec![0u8; first_size as usize], vec![0u8; last_size as usize]);
        let places = (first.as_mut_ptr().cast(), last.as_mut_ptr().cast());
        call!(
            self,
            tiledb_fragment_info_get_non_empty_domain_var_from_index(info, fragment, index, places.0, places.1)
        )?;
        Ok((Bytes(first), Bytes(last)))
    }
}
