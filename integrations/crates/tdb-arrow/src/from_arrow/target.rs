//! The target field of a conversion.

use std::sync::Arc;

use arrow_schema::DataType;
use tdb_array::Array;
use tdb_array::tdb_schema::{ArrayDefinition, ArraySchema, Enumeration, FieldRef};
use tdb_array::tdb_types::{CellValNum, Datatype};

use crate::dates::Unit;
use crate::layout::type_of_values;
use crate::{Error, Result};

/// Target of a conversion: a field of an array, or the values of an enumeration.
#[derive(Clone, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) name: &'a str,
    pub(crate) datatype: Datatype,
    pub(crate) number: CellValNum,
    pub(crate) nullable: bool,
    pub(crate) is_dimension: bool,
    pub(crate) enumeration: Option<Arc<Enumeration>>,
}

impl<'a> Target<'a> {
    /// Returns the field of this name.
    pub(crate) fn of(array: &Array, name: &'a str) -> Result<Self> {
        match Self::in_schema(array.schema(), name, |name| Ok(Some(array.enumeration(name)?)))? {
            Some(target) => Ok(target),
            None => {
                // The error lists the array's fields.
                let _ = array.read().select([name])?;
                let why = "labels are written to separate arrays";
                Err(Error::MissingField { field: name.to_owned(), why })
            }
        }
    }

    /// Returns the field of this name in a definition. Returns `None` if the definition lacks it.
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
        let is_dimension = matches!(field, Some(FieldRef::Dimension(_)));
        Ok(Some(Self { name, datatype, number, nullable: kind.nullable, is_dimension, enumeration }))
    }

    /// Returns the values of the field's enumeration as a target.
    pub(crate) fn values_of(&self, enumeration: &Enumeration) -> Self {
        let (datatype, number) = type_of_values(enumeration);
        Self { name: self.name, datatype, number, nullable: true, is_dimension: false, enumeration: None }
    }

    /// Returns the number of bytes per cell, or per value for cells of variable length.
    pub(crate) fn size(&self) -> usize {
        self.datatype.size() * self.number.fixed().unwrap_or(1) as usize
    }

    /// Returns the number of bytes of a null cell, which is zero for variable length.
    pub(crate) fn cell_size(&self) -> usize {
        if self.number.is_var() { 0 } else { self.size() }
    }

    /// Returns `true` if "no time" can represent null, which is the case in dates and times.
    /// Coordinates are never null.
    pub(crate) fn has_no_time(&self) -> bool {
        !self.is_dimension && Unit::of(self.datatype).is_some()
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
