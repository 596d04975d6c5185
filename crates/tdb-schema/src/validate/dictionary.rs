//! Validation of dictionary filters.
//!
//! The reference library also creates schemas with unsupported dictionary filters. It applies a
//! dictionary filter to strings in every version, even in versions in which it cannot read the
//! result.

use tdb_filters::{BoundPipeline, Filter, FilterPipeline, TileKind};
use tdb_types::{CellValNum, Datatype, Feature, FormatVersion};

use super::{name_of_attribute, name_of_dimension};
use crate::error::Result;
use crate::{ArraySchema, FieldRef, SchemaError};

/// Checks the dictionary filters of all fields.
pub(crate) fn dictionaries(schema: &ArraySchema) -> Result<()> {
    schema.fields().try_for_each(|field| dictionaries_of(schema, field))
}

/// Checks the dictionary filters of a field's values, offsets and validity.
pub(crate) fn dictionaries_of(schema: &ArraySchema, field: FieldRef) -> Result<()> {
    let filters = schema.filters_of(field);
    let (name, datatype, number, nullable) = match field {
        FieldRef::Dimension(index) => {
            let Some(dimension) = schema.dimensions().get(index) else { return Ok(()) };
            (name_of_dimension(dimension), dimension.datatype(), dimension.cell_val_num(), false)
        }
        FieldRef::Attribute(index) => {
            let Some(attribute) = schema.attributes.get(index) else { return Ok(()) };
            (name_of_attribute(attribute), attribute.datatype(), attribute.cell_val_num(), attribute.is_nullable())
        }
    };
    let is_carrying = number == CellValNum::Var && carries_offsets(&filters, datatype, schema);
    let why = if has_dictionary(&filters) {
        works(&filters, datatype, number, schema.version, is_carrying)
    } else if number == CellValNum::Var && !is_carrying && has_dictionary(&schema.offsets_filters) {
        Err("dictionary does not support offsets".to_owned())
    } else if nullable && has_dictionary(&schema.validity_filters) {
        Err("dictionary does not support validity".to_owned())
    } else {
        Ok(())
    };
    why.map_err(|why| SchemaError::invalid(name, why))
}

fn is_dictionary(filter: &Filter) -> bool {
    matches!(filter, Filter::Dictionary { .. })
}

fn has_dictionary(filters: &FilterPipeline) -> bool {
    filters.filters.iter().any(is_dictionary)
}

/// Returns `true` if readers take the offsets of the field's strings from the filtered values.
/// Readers decide by the version of the schema.
fn carries_offsets(filters: &FilterPipeline, datatype: Datatype, schema: &ArraySchema) -> bool {
    BoundPipeline::bind(filters, TileKind::var_data(datatype, schema.version))
        .is_ok_and(|bound| bound.carries_offsets())
}

/// Checks a dictionary filter, which supports only strings whose offsets pass through the filter.
fn works(
    filters: &FilterPipeline,
    datatype: Datatype,
    number: CellValNum,
    version: FormatVersion,
    is_carrying: bool,
) -> Result<(), String> {
    let since = match datatype {
        Datatype::StringAscii => Feature::DictionaryStringOffsets.row().since,
        Datatype::StringUtf8 => Feature::Utf8StringOffsets.row().since,
        _ => return Err("dictionary does not support datatypes other than string_ascii and string_utf8".to_owned()),
    };
    let dictionaries = filters.filters.iter().filter(|filter| is_dictionary(filter)).count();
    match () {
        () if number != CellValNum::Var => Err("dictionary does not support strings of fixed length".to_owned()),
        () if version.number() < since => {
            Err(format!("dictionary does not support {datatype} before format version {since}, found {version}"))
        }
        () if !filters.filters.first().is_some_and(is_dictionary) => {
            Err("dictionary does not support use after other filters; make it the first filter".to_owned())
        }
        () if dictionaries > 1 || !is_carrying => {
            Err("dictionary does not support repetition in a pipeline".to_owned())
        }
        () => Ok(()),
    }
}
