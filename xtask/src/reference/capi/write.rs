//! Writes.

use tdb_types::Layout;

use super::array::purpose;
use super::buffers::FieldBuffer;
use super::context::Context;
use super::coordinates;
use super::handle::{allocate, call};
use crate::model::WriteSpec;
use crate::reference::Result;

impl Context {
    /// Writes one fragment.
    pub(in crate::reference) fn write(&self, uri: &str, spec: &WriteSpec) -> Result<()> {
        let array = self.open_to_change(uri, purpose::WRITE, spec.timestamp)?;
        let schema = self.schema_of(&array)?;
        let known = self.fields(&schema)?;
        let combined = known.sparse && self.combines_coordinates();
        let cells = if combined { coordinates::combine(&spec.cells, &known) } else { spec.cells.clone() };
        let names: Vec<_> = cells.iter().map(|column| column.name.clone()).collect();
        let fields = self.select_fields(&schema, &names)?;
        let mut buffers = fields
            .into_iter()
            .zip(&cells)
            .map(|(field, column)| FieldBuffer::holding(field, column))
            .collect::<Result<Vec<_>>>()?;
        let query = allocate!(self, tiledb_query_free, tiledb_query_alloc(array.pointer(), purpose::WRITE))?;
        call!(self, tiledb_query_set_layout(query.pointer(), u32::from(spec.layout.code())))?;
        if let Some(ranges) = &spec.subarray {
            self.select_box(&array, &query, ranges)?;
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
}
