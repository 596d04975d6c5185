//! Array definitions from Arrow schemas.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;

use arrow_array::cast::AsArray;
use arrow_array::{Array as _, ArrayRef, RecordBatch, new_empty_array};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use tdb_array::tdb_filters::FilterPipeline;
use tdb_array::tdb_schema::{
    ArrayDefinition, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder, SchemaEvolution,
};
use tdb_array::tdb_types::{CellValNum, Datatype};

use crate::from_arrow::Target;
use crate::keys::{DATATYPE_KEY, ENUMERATION_KEY, NULLABLE_KEY, ROLE_KEY, SCHEMA_KEY, VALUES_KEY};
use crate::{Error, Result};

/// Restores the array definition that [`schema`](crate::schema) stored in the metadata of an Arrow
/// schema.
///
/// Drops attributes missing from the Arrow schema, and adds an attribute for each new field.
/// Dimensions, orders, filters, enumerations and the format version stay the same.
///
/// # Errors
/// - [`Error::NoDefinition`]: the metadata contains no definition.
/// - [`Error::Definition`]: the definition is unreadable.
/// - [`Error::MissingField`]: the Arrow schema lacks a dimension of a sparse array.
/// - [`Error::Refused`]: an array cannot hold the type of a new field.
/// - The changed definition violates the format.
pub fn definition(schema: &Schema) -> Result<ArrayDefinition> {
    let text = schema.metadata().get(SCHEMA_KEY).ok_or(Error::NoDefinition)?;
    let definition = tdb_schema_text::from_toml(text).map_err(|source| Error::Definition { source })?;
    let known = definition.schema();
    let is_there = |name: &str| schema.fields().iter().any(|field| field.name() == name);
    if let Some(missing) = known.dimensions().iter().find(|dimension| !known.is_dense() && !is_there(dimension.name()))
    {
        return Err(Error::MissingField { field: missing.name().to_owned(), why: "it is a dimension" });
    }
    let mut evolution = SchemaEvolution::new();
    let mut changes = 0;
    for attribute in known.attributes().iter().filter(|attribute| !is_there(attribute.name())) {
        evolution = evolution.drop_attribute(attribute.name());
        changes += 1;
    }
    for field in schema.fields() {
        let is_label = known.labels().iter().any(|label| label.name == *field.name());
        if known.field(field.name()).is_some() || is_label {
            continue;
        }
        let (attribute, enumeration) = attribute(field, None)?;
        if let Some(enumeration) = enumeration {
            evolution = evolution.add_enumeration(enumeration);
        }
        evolution = evolution.add_attribute(attribute);
        changes += 1;
    }
    if changes == 0 { Ok(definition) } else { Ok(evolution.build(&definition)?) }
}

/// Builder of an array definition from any Arrow schema. Takes the dimensions, and every setting of
/// a [`SchemaBuilder`].
///
/// ```
/// use tdb_array::tdb_schema::{Dimension, SchemaBuilder};
/// use tdb_arrow::NewArray;
/// use tdb_arrow::arrow_schema::{DataType, Field, Schema};
///
/// let arrow = Schema::new(vec![
///     Field::new("pos", DataType::UInt32, false),
///     Field::new("qual", DataType::Float32, true),
/// ]);
/// let pos = Dimension::new("pos", 0u32..=999_999);
/// let definition = NewArray::new(SchemaBuilder::sparse().capacity(1000)).dimension(pos).definition(&arrow)?;
/// assert!(definition.schema().attributes()[0].is_nullable());
/// # Ok::<(), tdb_arrow::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct NewArray {
    builder: SchemaBuilder,
    dimensions: Vec<Dimension>,
    /// Keyed by field name.
    enumerations: HashMap<String, Enumeration>,
    filters: FilterPipeline,
}

impl NewArray {
    /// Starts from a builder without dimensions and attributes. [`definition`](Self::definition)
    /// adds both.
    pub fn new(builder: SchemaBuilder) -> Self {
        Self { builder, dimensions: Vec::new(), enumerations: HashMap::new(), filters: FilterPipeline::default() }
    }

    /// Appends a dimension. In a sparse array, the field of the same name holds its coordinates.
    pub fn dimension(mut self, dimension: Dimension) -> Self {
        self.dimensions.push(dimension);
        self
    }

    /// Adds the values of this batch's dictionaries to the enumerations, skipping duplicates.
    /// Enumerations are empty unless a batch was added.
    ///
    /// # Errors
    /// - [`Error::Refused`]: an array cannot hold the type of the values.
    /// - A value cannot be converted.
    pub fn add_dictionaries(&mut self, batch: &RecordBatch) -> Result<()> {
        for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
            let Some(dictionary) = column.as_any_dictionary_opt().filter(|_| enumerated(field.data_type()).is_some())
            else {
                continue;
            };
            let enumeration = match self.enumerations.remove(field.name()) {
                None => enumeration(field, dictionary.values())?,
                Some(known) => {
                    let more = enumeration(field, dictionary.values())?;
                    let positions = known.positions();
                    let new: Vec<&[u8]> = more.values().filter(|value| !positions.contains_key(value)).collect();
                    if new.is_empty() { known } else { known.clone().extended(new)? }
                }
            };
            self.enumerations.insert(field.name().clone(), enumeration);
        }
        Ok(())
    }

    /// Sets the filters of all attributes.
    pub fn filters(mut self, filters: FilterPipeline) -> Self {
        self.filters = filters;
        self
    }

    /// Builds the definition. Each field that is no dimension becomes an attribute.
    ///
    /// # Errors
    /// - [`Error::Refused`]: an array cannot hold the type of a field.
    /// - [`Error::WrongType`]: the field of a dimension has another type than the dimension.
    /// - [`Error::MissingField`]: the schema lacks a dimension of a sparse array.
    /// - The definition violates the format.
    pub fn definition(self, schema: &Schema) -> Result<ArrayDefinition> {
        let mut missing = None;
        let mut builder = self.builder;
        for dimension in &self.dimensions {
            match schema.fields().iter().find(|field| field.name() == dimension.name()) {
                Some(field) => check_coordinates(field, dimension)?,
                None => missing = Some(dimension.name().to_owned()),
            }
            builder = builder.dimension(dimension.clone());
        }
        let mut enumerations = Vec::new();
        for field in schema.fields() {
            if self.dimensions.iter().any(|dimension| dimension.name() == field.name()) {
                continue;
            }
            let (attribute, enumeration) = attribute(field, self.enumerations.get(field.name()))?;
            builder = builder.attribute(attribute.with_filters(self.filters.clone()));
            if let Some(enumeration) = enumeration {
                builder = builder.enumeration(EnumerationRef::unplaced(enumeration.name()));
                enumerations.push(enumeration);
            }
        }
        let schema = builder.build()?;
        if let Some(field) = missing.filter(|_| !schema.is_dense()) {
            return Err(Error::MissingField { field, why: "it is a dimension" });
        }
        let mut definition = ArrayDefinition::new(schema)?;
        for enumeration in enumerations {
            definition = definition.with_enumeration(enumeration)?;
        }
        definition.check()?;
        Ok(definition)
    }
}

/// Checks that an Arrow type can hold the coordinates of a dimension.
fn check_coordinates(field: &Field, dimension: &Dimension) -> Result<()> {
    let (datatype, number) = (dimension.datatype(), dimension.cell_val_num());
    let target =
        Target { name: field.name(), datatype, number, nullable: false, is_dimension: true, enumeration: None };
    target.cells(&new_empty_array(field.data_type())).map(|_| ())
}

/// Returns the attribute for a field, and the enumeration for its dictionary: `known`, or an empty
/// enumeration.
fn attribute(field: &Field, known: Option<&Enumeration>) -> Result<(Attribute, Option<Enumeration>)> {
    let nullable = match field.metadata().get(NULLABLE_KEY) {
        Some(told) if field.is_nullable() => told == "true",
        _ => field.is_nullable(),
    };
    let finish = |attribute: Attribute| if nullable { attribute.nullable(false) } else { attribute };
    let Some((key, values)) = enumerated(field.data_type()) else {
        let (datatype, number) = cells_of(field)?;
        return Ok((finish(Attribute::new(field.name(), datatype).with_cell_val_num(number)), None));
    };
    let datatype = match told(field) {
        Some((datatype, CellValNum::ONE)) if crate::layout::integer(datatype) == *key => datatype,
        _ => held(field, key)?.0,
    };
    let enumeration = match known {
        Some(known) => known.clone(),
        None => enumeration(field, &new_empty_array(values))?,
    };
    Ok((finish(Attribute::new(field.name(), datatype).with_enumeration(enumeration.name())), Some(enumeration)))
}

/// Returns the key and value types of a dictionary that becomes an enumeration. Returns `None` for
/// other types. A dictionary of booleans becomes plain values.
fn enumerated(data_type: &DataType) -> Option<(&DataType, &DataType)> {
    match data_type {
        DataType::Dictionary(key, values) if **values != DataType::Boolean => Some((key, values)),
        _ => None,
    }
}

/// Creates the enumeration of a field from the values of its dictionary.
fn enumeration(field: &Field, values: &ArrayRef) -> Result<Enumeration> {
    let name = field.metadata().get(ENUMERATION_KEY).map_or(field.name().as_str(), String::as_str);
    let (of_values, number) = held(field, values.data_type())?;
    let target = Target {
        name: field.name(),
        datatype: of_values,
        number,
        nullable: true,
        is_dimension: false,
        enumeration: None,
    };
    let cells = target.cells(values)?;
    let mut each = cells.each(target.size());
    if let Some(nulls) = values.nulls() {
        each =
            each.into_iter().enumerate().filter(|(value, _)| nulls.is_valid(*value)).map(|(_, value)| value).collect();
    }
    // Arrow dictionaries may contain duplicates.
    let mut seen = HashSet::new();
    each.retain(|value| seen.insert(*value));
    let enumeration = match number.fixed() {
        None => Enumeration::strings(name, "", of_values, each)?,
        Some(per_value) => {
            let enumeration = Enumeration::fixed(name, "", of_values, each.concat())?;
            enumeration.with_values_per_value(NonZeroU32::new(per_value).unwrap_or(NonZeroU32::MIN))?
        }
    };
    let ordered = field.dict_is_ordered() == Some(true);
    Ok(if ordered { enumeration.ordered() } else { enumeration })
}

/// Returns the type from a field's metadata, or `None` if the metadata has no type or the Arrow
/// type no longer matches.
fn told(field: &Field) -> Option<(Datatype, CellValNum)> {
    field.metadata().get(ROLE_KEY)?;
    let datatype = Datatype::from_name(field.metadata().get(DATATYPE_KEY)?)?;
    let number = match field.metadata().get(VALUES_KEY)?.as_str() {
        "var" => CellValNum::Var,
        number => CellValNum::Fixed(number.parse().ok()?),
    };
    if matches!(field.data_type(), DataType::Dictionary(..)) {
        return Some((datatype, number));
    }
    let target =
        Target { name: field.name(), datatype, number, nullable: true, is_dimension: false, enumeration: None };
    target.cells(&new_empty_array(field.data_type())).is_ok().then_some((datatype, number))
}

/// Returns the datatype and cell value number that a new array uses for a field. Dictionaries count
/// as their values.
///
/// # Errors
/// [`Error::Refused`] for an unsupported type.
pub fn cells_of(field: &Field) -> Result<(Datatype, CellValNum)> {
    match field.data_type() {
        DataType::Dictionary(_, values) => held(field, values),
        data_type => told(field).map_or_else(|| held(field, data_type), Ok),
    }
}

/// Returns the array type for an Arrow type.
fn held(field: &Field, data_type: &DataType) -> Result<(Datatype, CellValNum)> {
    let refused = |why| Err(Error::Refused { field: field.name().clone(), data_type: data_type.clone(), why });
    let list = |item: &Field, number: CellValNum| match held(field, item.data_type()) {
        Ok((datatype, CellValNum::ONE)) => Ok((datatype, number)),
        Ok(_) => refused("lists of lists or strings are not supported; the values of a cell need a fixed size"),
        Err(error) => Err(error),
    };
    let fixed = |size: i32| u32::try_from(size).ok().and_then(NonZeroU32::new).map(CellValNum::Fixed);
    if let Some(datatype) = of_one_value(data_type) {
        return Ok((datatype, CellValNum::ONE));
    }
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Ok((Datatype::StringUtf8, CellValNum::Var)),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Ok((Datatype::Blob, CellValNum::Var)),
        DataType::FixedSizeBinary(size) => match fixed(*size) {
            Some(number) => Ok((Datatype::Blob, number)),
            None => refused("values without bytes are not supported"),
        },
        DataType::FixedSizeList(item, size) => match fixed(*size) {
            Some(number) => list(item, number),
            None => refused("lists without values are not supported"),
        },
        DataType::List(item) | DataType::LargeList(item) => list(item, CellValNum::Var),
        DataType::Dictionary(..) => {
            refused("dictionaries within lists or dictionaries are not supported; use the values")
        }
        DataType::Null => refused("the field has no type; leave it out, or cast it"),
        DataType::Float16 => refused("floats of 16 bits are not supported; cast it to Float32"),
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) | DataType::Decimal256(..) => {
            refused("decimals are not supported; cast it to Float64 or to an integer")
        }
        DataType::Interval(_) => refused("intervals are not supported; cast it to a Duration or an integer"),
        DataType::Struct(_) | DataType::Map(..) | DataType::Union(..) => {
            refused("a cell has values of a single type; split it into one field per part")
        }
        DataType::RunEndEncoded(..) => refused("run-end encoding is not supported; decode it first"),
        _ => refused("cast it to a List"),
    }
}

/// Returns the datatype for an Arrow type with one value per cell.
fn of_one_value(data_type: &DataType) -> Option<Datatype> {
    Some(match data_type {
        DataType::Boolean => Datatype::Bool,
        DataType::Int8 => Datatype::Int8,
        DataType::Int16 => Datatype::Int16,
        DataType::Int32 => Datatype::Int32,
        DataType::Int64 => Datatype::Int64,
        DataType::UInt8 => Datatype::UInt8,
        DataType::UInt16 => Datatype::UInt16,
        DataType::UInt32 => Datatype::UInt32,
        DataType::UInt64 => Datatype::UInt64,
        DataType::Float32 => Datatype::Float32,
        DataType::Float64 => Datatype::Float64,
        DataType::Date32 => Datatype::DatetimeDay,
        DataType::Date64 | DataType::Timestamp(TimeUnit::Millisecond, _) => Datatype::DatetimeMs,
        DataType::Timestamp(TimeUnit::Second, _) => Datatype::DatetimeSec,
        DataType::Timestamp(TimeUnit::Microsecond, _) => Datatype::DatetimeUs,
        DataType::Timestamp(TimeUnit::Nanosecond, _) => Datatype::DatetimeNs,
        DataType::Time32(TimeUnit::Millisecond) | DataType::Duration(TimeUnit::Millisecond) => Datatype::TimeMs,
        DataType::Time32(_) | DataType::Duration(TimeUnit::Second) => Datatype::TimeSec,
        DataType::Time64(TimeUnit::Microsecond) | DataType::Duration(TimeUnit::Microsecond) => Datatype::TimeUs,
        DataType::Time64(_) | DataType::Duration(TimeUnit::Nanosecond) => Datatype::TimeNs,
        _ => return None,
    })
}
