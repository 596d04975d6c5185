//! The field that cells are meant for.

use std::sync::Arc;

use arrow_schema::DataType;
use tdb_array::Array;
use tdb_array::tdb_schema::{ArrayDefinition, ArraySchema, Enumeration, FieldRef};
use tdb_array::tdb_types::{CellValNum, Datatype};

use crate::dates::Unit;
use crate::element::Element;
use crate::{ArrowOptions, Error, Result};

/// The field of an array that cells are meant for, or the values of an enumeration.
#[derive(Clone, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) name: &'a str,
    pub(crate) datatype: Datatype,
    pub(crate) number: CellValNum,
    pub(crate) nullable: bool,
    pub(crate) enumeration: Option<Arc<Enumeration>>,
}

impl<'a> Target<'a> {
    /// The field of this name.
    pub(crate) fn of(array: &Array, name: &'a str) -> Result<Self> {
        match Self::in_schema(array.schema(), name, |name| Ok(Some(array.enumeration(name)?)))? {
            Some(target) => Ok(target),
            None => {
                // Whose error names the fields that there are.
                let _ = array.read().select([name])?;
                let why = "labels are written into their own arrays";
                Err(Error::MissingField { field: name.to_owned(), why })
            }
        }
    }

    /// The field of this name of arrays that are made from a definition; none if they have no such field.
    pub(crate) fn of_definition(definition: &ArrayDefinition, name: &'a str) -> Result<Option<Self>> {
        let enumeration = |name: &str| Ok(definition.enumeration(name).cloned().map(Arc::new));
        Self::in_schema(definition.schema(), name, enumeration)
    }

    fn in_schema(
        schema: &ArraySchema,
        name: &'a str,
        values: impl Fn(&str) -> Result<Option<Arc<Enumeration>>>,
    ) -> Result<Option<Self>> {
        let field = schema.field(name);
        let Some(kind) = field.and_then(|field| schema.field_type(field)) else { return Ok(None) };
        let enumeration = match field {
            Some(FieldRef::Attribute(index)) => {
                schema.attributes().get(index).and_then(|attribute| attribute.enumeration())
            }
            _ => None,
        };
        let is_position = kind.cell_val_num == CellValNum::ONE && !kind.datatype.is_float();
        let enumeration = enumeration.filter(|_| is_position).map(values).transpose()?.flatten();
        let (datatype, number) = (kind.datatype, kind.cell_val_num);
        Ok(Some(Self { name, datatype, number, nullable: kind.nullable, enumeration }))
    }

    /// The values of an enumeration, in place of those of the field that has it.
    pub(crate) fn values_of(&self, enumeration: &Enumeration) -> Self {
        let (datatype, number) = (enumeration.datatype(), enumeration.cell_val_num());
        Self { name: self.name, datatype, number, nullable: true, enumeration: None }
    }

    /// Bytes of a cell, or of one of its values if cells differ in length.
    pub(crate) fn size(&self) -> usize {
        self.datatype.size() * self.number.fixed().unwrap_or(1) as usize
    }

    /// Whether "no time" becomes null in that type, which has another unit than the field.
    pub(crate) fn is_date_without_word(&self, data_type: &DataType) -> bool {
        let element = Element::of(self.datatype, &ArrowOptions::new());
        let unit = Unit::of_arrow(data_type, self.datatype.is_datetime());
        // Of another unit are also milliseconds in place of seconds.
        unit.is_some() && (matches!(element, Element::Date(..)) || unit != Unit::of(self.datatype))
    }

    pub(crate) fn wrong_type(&self, data_type: &DataType) -> Error {
        let per_cell = match self.number.fixed() {
            Some(1) => "one value".to_owned(),
            Some(number) => format!("{number} values"),
            None => "any number of values".to_owned(),
        };
        let (field, data_type, datatype) = (self.name.to_owned(), data_type.clone(), self.datatype);
        Error::WrongType { field, data_type, datatype, per_cell }
    }
}
