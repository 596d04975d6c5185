//! Fields by name, and the layout of result columns.

use std::sync::Arc;

use tdb_aggregate::ValueKind;
use tdb_cells::{CellsError, Column, ColumnBuffers};
use tdb_schema::{ArraySchema, FieldRef};
use tdb_types::{CellValNum, Datatype};

use crate::{ArrayError, Result, Snapshot};

/// A selected field of the array's schema: the layout of the column, and the fill value.
#[derive(Clone, Debug)]
pub struct OutputField {
    /// The reference to the field.
    pub field: FieldRef,
    /// The name of the field.
    pub name: Arc<str>,
    /// The type of the values.
    pub datatype: Datatype,
    /// The number of values per cell.
    pub cell_val_num: CellValNum,
    /// `true` if cells may be null.
    pub nullable: bool,
    /// The fill value: the bytes of a cell that was never written.
    pub fill: Vec<u8>,
    /// `true` if the fill value is not null.
    pub fill_valid: bool,
}

impl OutputField {
    /// Returns the fields of a result.
    ///
    /// # Errors
    /// The cell of a selected attribute, or the cells of all selected attributes together, exceed
    /// the maximum tile size. Then not even a fill value fits into the limit.
    pub fn all(array: &Snapshot, fields: &[FieldRef]) -> Result<Vec<Self>> {
        let limit = array.limits().tile_bytes;
        let mut row = 0u64;
        let field = |field: &FieldRef| {
            if let FieldRef::Attribute(index) = *field
                && let attribute = &array.schema().attributes()[index]
            {
                let size = attribute.cell_size().unwrap_or(0);
                row = row.saturating_add(size);
                if row > limit {
                    let what = match size > limit {
                        true => format!("one cell of attribute {:?} is", attribute.name()),
                        false => "single cells of the selected attributes are together".to_owned(),
                    };
                    let what = format!("{what} larger than the limit of {limit} bytes per tile; raise `tile_bytes`");
                    return Err(ArrayError::Unsupported { file: array.storage().describe(array.schema_path()), what });
                }
            }
            Ok(Self::of(array.schema(), *field))
        };
        fields.iter().map(field).collect()
    }

    /// Returns the layout and the fill value of a field.
    pub fn of(schema: &ArraySchema, field: FieldRef) -> Self {
        match field {
            FieldRef::Attribute(index) => {
                let attribute = &schema.attributes()[index];
                Self {
                    field,
                    name: attribute.name().into(),
                    datatype: attribute.datatype(),
                    cell_val_num: attribute.cell_val_num(),
                    nullable: attribute.is_nullable(),
                    fill: attribute.fill_value().into_owned(),
                    fill_valid: attribute.fill_valid(),
                }
            }
            FieldRef::Dimension(index) => {
                let dimension = &schema.domain().dimensions()[index];
                Self {
                    field,
                    name: dimension.name().into(),
                    datatype: dimension.datatype(),
                    cell_val_num: dimension.cell_val_num(),
                    nullable: false,
                    fill: Vec::new(),
                    fill_valid: true,
                }
            }
        }
    }

    /// Returns the fill value, or `None` if the fill value is null.
    pub fn fill_cell(&self) -> Option<&[u8]> {
        (!self.nullable || self.fill_valid).then_some(&self.fill)
    }

    /// Returns the kind of the values in aggregates. "Not a time" (NaT) is null in an attribute.
    pub fn kind(&self) -> ValueKind {
        let kind = ValueKind::of(self.datatype, self.cell_val_num);
        match self.field {
            FieldRef::Attribute(_) => kind,
            FieldRef::Dimension(_) => kind.without_null(),
        }
    }

    /// Returns `true` if aggregates may encounter a null.
    pub fn may_be_null(&self) -> bool {
        self.nullable || self.kind() == ValueKind::Time
    }

    /// Returns the size of a cell in bytes. Returns `None` for variable-length cells.
    pub fn cell_size(&self) -> Option<usize> {
        self.cell_val_num.fixed().map(|number| number as usize * self.datatype.size())
    }

    /// Returns `true` if cells have variable length.
    pub fn is_var(&self) -> bool {
        self.cell_val_num.is_var()
    }

    /// Creates a column of `len` cells from these buffers.
    pub fn column(&self, len: usize, buffers: ColumnBuffers) -> Column {
        Column::new(self.name.clone(), self.datatype, self.cell_val_num, len, buffers)
    }
}

/// Returns the error for an unknown field or label.
pub fn unknown_field(schema: &ArraySchema, name: &str) -> CellsError {
    let dimensions = schema.domain().dimensions().iter().map(|dimension| dimension.name().to_owned());
    let attributes = schema.attributes().iter().map(|attribute| attribute.name().to_owned());
    let labels = schema.labels().iter().map(|label| label.name.clone());
    CellsError::UnknownField { name: name.to_owned(), known: dimensions.chain(attributes).chain(labels).collect() }
}
