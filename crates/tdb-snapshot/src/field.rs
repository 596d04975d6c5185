//! Fields by their names, and what they look like in a result.

use std::sync::Arc;

use tdb_aggregate::ValueKind;
use tdb_cells::{CellsError, Column, ColumnBuffers};
use tdb_schema::{ArraySchema, FieldRef};
use tdb_types::{CellValNum, Datatype};

use crate::{ArrayError, Result, Snapshot};

/// A selected field as the array's schema has it: what its column looks like, and what stands where nothing was written.
#[derive(Clone, Debug)]
pub struct OutputField {
    /// Which field it is.
    pub field: FieldRef,
    /// Its name.
    pub name: Arc<str>,
    /// The type of its values.
    pub datatype: Datatype,
    /// How many values a cell has.
    pub cell_val_num: CellValNum,
    /// Whether cells may be null.
    pub nullable: bool,
    /// The bytes of a cell that nobody wrote.
    pub fill: Vec<u8>,
    /// Whether such a cell is valid.
    pub fill_valid: bool,
}

impl OutputField {
    /// The fields of a result.
    ///
    /// # Errors
    /// A cell of one of them, or one of each together, is larger than a tile may be: nothing of it may be held, not even
    /// its fill value.
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
                    let what = format!("{what} larger than the {limit} bytes that a tile may have; raise `tile_bytes`");
                    return Err(ArrayError::Unsupported { file: array.storage().describe(array.schema_path()), what });
                }
            }
            Ok(Self::of(array.schema(), *field))
        };
        fields.iter().map(field).collect()
    }

    /// One field.
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

    /// A cell that nobody wrote; `None` if it is null.
    pub fn fill_cell(&self) -> Option<&[u8]> {
        (!self.nullable || self.fill_valid).then_some(&self.fill)
    }

    /// How aggregates take its values: "no time" (NaT) of an attribute is null.
    pub fn kind(&self) -> ValueKind {
        let kind = ValueKind::of(self.datatype, self.cell_val_num);
        match self.field {
            FieldRef::Attribute(_) => kind,
            FieldRef::Dimension(_) => kind.without_null(),
        }
    }

    /// Whether aggregates may meet a null.
    pub fn may_be_null(&self) -> bool {
        self.nullable || self.kind() == ValueKind::Time
    }

    /// Bytes of one cell, unless they vary.
    pub fn cell_size(&self) -> Option<usize> {
        self.cell_val_num.fixed().map(|number| number as usize * self.datatype.size())
    }

    /// Whether cells differ in length.
    pub fn is_var(&self) -> bool {
        self.cell_val_num.is_var()
    }

    /// A column of `len` cells with these values.
    pub fn column(&self, len: usize, buffers: ColumnBuffers) -> Column {
        Column::new(self.name.clone(), self.datatype, self.cell_val_num, len, buffers)
    }
}

/// The error that there is no such field or label.
pub fn unknown_field(schema: &ArraySchema, name: &str) -> CellsError {
    let dimensions = schema.domain().dimensions().iter().map(|dimension| dimension.name().to_owned());
    let attributes = schema.attributes().iter().map(|attribute| attribute.name().to_owned());
    let labels = schema.labels().iter().map(|label| label.name.clone());
    CellsError::UnknownField { name: name.to_owned(), known: dimensions.chain(attributes).chain(labels).collect() }
}
