//! Conversion of the fields of an array.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{Field, FieldRef};
use tdb_array::tdb_schema::{self, Enumeration, FieldType};
use tdb_array::tdb_types::CellValNum;
use tdb_array::{Array, Column};

use crate::keys::{DATATYPE_KEY, ENUMERATION_KEY, NULLABLE_KEY, ROLE_KEY, VALUES_KEY};
use crate::layout::Layout;
use crate::{ArrowOptions, Error, Result, to_arrow};

/// A field of an array, with the conversion of its columns to Arrow.
#[derive(Clone, Debug)]
pub(crate) struct ArrowField {
    pub(crate) field: FieldRef,
    /// `true` if a valid value may become null.
    pub(crate) may_become_null: bool,
    pub(crate) layout: Layout,
}

/// Role of a field in its array.
#[derive(Clone, Copy, Debug)]
enum Role {
    Dimension,
    Attribute,
    Label,
}

impl ArrowField {
    /// Creates the conversion of a field or label.
    pub(crate) fn of(array: &Array, name: &str, options: &ArrowOptions) -> Result<Self> {
        let schema = array.schema();
        let Some(field) = schema.field(name) else {
            let label = array.label(name)?;
            let label = label.description();
            let kind = FieldType { datatype: label.datatype, cell_val_num: label.cell_val_num, nullable: false };
            return Self::new(name, kind, Role::Label, None, options);
        };
        // `field_type` cannot fail for a field that was just found.
        let kind = schema
            .field_type(field)
            .ok_or_else(|| Error::MissingField { field: name.to_owned(), why: "it is selected" })?;
        match field {
            tdb_schema::FieldRef::Dimension(_) => Self::new(name, kind, Role::Dimension, None, options),
            tdb_schema::FieldRef::Attribute(index) => {
                let enumeration = schema.attributes().get(index).and_then(|attribute| attribute.enumeration());
                let enumeration = enumeration.map(|enumeration| array.enumeration(enumeration)).transpose()?;
                Self::new(name, kind, Role::Attribute, enumeration, options)
            }
        }
    }

    /// Converts a column to an Arrow array.
    pub(crate) fn array(&self, column: Column, options: &ArrowOptions) -> Result<ArrayRef> {
        to_arrow::array(self.field.name(), column, &self.layout, self.may_become_null, options)
    }

    fn new(
        name: &str,
        kind: FieldType,
        role: Role,
        enumeration: Option<Arc<Enumeration>>,
        options: &ArrowOptions,
    ) -> Result<Self> {
        let FieldType { datatype, cell_val_num, nullable } = kind;
        let mut metadata = HashMap::new();
        let mut say = |key: &str, value: String| metadata.insert(key.to_owned(), value);
        say(ROLE_KEY, format!("{role:?}").to_lowercase());
        say(DATATYPE_KEY, datatype.name().to_owned());
        say(VALUES_KEY, cell_val_num.fixed().map_or_else(|| "var".to_owned(), |number| number.to_string()));
        say(NULLABLE_KEY, nullable.to_string());
        if let Some(enumeration) = &enumeration {
            say(ENUMERATION_KEY, enumeration.name().to_owned());
        }
        let layout = match enumeration {
            Some(enumeration) if cell_val_num == CellValNum::ONE && !datatype.is_float() => {
                let values = to_arrow::enumeration_values(&enumeration, options)?;
                Layout::of_enumeration(enumeration, values, options)
            }
            _ => Layout::of(name, datatype, cell_val_num, options)?,
        };
        // Coordinates are never null.
        let may_become_null = layout.may_become_null() && !matches!(role, Role::Dimension);
        let data_type = layout.data_type(datatype, options);
        let ordered = matches!(&layout, Layout::Positions(enumeration, _) if enumeration.is_ordered());
        let field = Field::new(name, data_type, nullable || may_become_null)
            .with_dict_is_ordered(ordered)
            .with_metadata(metadata);
        Ok(Self { field: Arc::new(field), may_become_null, layout })
    }
}
