//! What the reference library asks of a schema that it creates, beyond what readers rely on.

use tdb_filters::{Filter, FilterPipeline};
use tdb_types::{ByteWriter, DataOrder, Datatype, Feature, FormatVersion, PhysicalType, Scalar};

use super::{name_of_attribute, name_of_dimension, readable};
use crate::dimension::{max_key, unsigned_bits};
use crate::error::Result;
use crate::{ArraySchema, Attribute, Dimension, SchemaError};

/// Names that begin with this are the format's own.
const RESERVED_PREFIX: &str = "__";

/// Checks everything that the reference library asks of a new schema.
pub(crate) fn creatable(schema: &ArraySchema) -> Result<()> {
    readable(schema)?;
    version(schema)?;
    if schema.is_dense() && schema.allows_duplicates {
        return Err(SchemaError::invalid("array schema", "is dense, where no two cells have the same coordinates"));
    }
    schema.dimensions().iter().try_for_each(|dimension| self::dimension(dimension, schema))?;
    schema.attributes.iter().try_for_each(|attribute| self::attribute(attribute, schema))?;
    // Whether the version has words for every filter shows when it's written.
    schema.write(&mut ByteWriter::new())
}

/// What the schema says must be something that its version has words for.
fn version(schema: &ArraySchema) -> Result<()> {
    let version = schema.version;
    let some = |condition: bool, feature| condition.then_some(feature);
    let any_attribute = |test: fn(&Attribute) -> bool| schema.attributes.iter().any(test);
    let used = [
        some(schema.allows_duplicates, Feature::AllowsDuplicates),
        some(!dimensions_alike(schema.dimensions()), Feature::PerDimensionFiles),
        some(any_attribute(|attribute| !has_default_fill(attribute)), Feature::FillValue),
        some(any_attribute(Attribute::is_nullable), Feature::Validity),
        some(!schema.validity_filters.is_empty(), Feature::Validity),
        some(any_attribute(|attribute| attribute.order() != DataOrder::Unordered), Feature::AttributeOrder),
        some(!schema.labels.is_empty(), Feature::DimensionLabels),
        some(!schema.enumerations.is_empty(), Feature::Enumerations),
        some(schema.current_domain.is_some(), Feature::CurrentDomain),
    ];
    match used.into_iter().flatten().find(|feature| !version.has(*feature)) {
        Some(feature) => Err(too_old(version, feature)),
        None => Ok(()),
    }
}

fn too_old(version: FormatVersion, feature: Feature) -> SchemaError {
    let row = feature.row();
    SchemaError::invalid(
        "array schema",
        format!("format version {version} is too old; version {} has it: {}", row.since, row.what),
    )
}

/// Whether the dimensions can do with one datatype, one kind of filters and one file.
fn dimensions_alike(dimensions: &[Dimension]) -> bool {
    let first = dimensions.first().map(Dimension::datatype);
    dimensions.iter().all(|dimension| {
        Some(dimension.datatype()) == first
            && !dimension.is_var()
            && *dimension.own_filters() == FilterPipeline::default()
    })
}

fn has_default_fill(attribute: &Attribute) -> bool {
    let mut expected = attribute.datatype().default_fill().into_iter().cycle();
    !attribute.fill_valid() && attribute.fill_pattern().iter().all(|byte| expected.next() == Some(*byte))
}

fn dimension(dimension: &Dimension, schema: &ArraySchema) -> Result<()> {
    let invalid = |why: String| Err(SchemaError::invalid(name_of_dimension(dimension), why));
    if let Some((low, high)) = dimension.domain() {
        if !dimension.physical().is_float() && high.key() - low.key() == max_key(dimension.physical()) {
            return invalid(format!("the domain can't be all of {}", dimension.datatype()));
        }
        match dimension.tile_extent() {
            Some(extent) if !extent_fits(low, high, extent) => {
                return invalid(format!("tile extent {extent} exceeds the domain from {low} to {high}"));
            }
            _ if super::last_tile_overflows(dimension) => {
                return invalid(format!("the last tile reaches beyond what {} can hold", dimension.datatype()));
            }
            _ => {}
        }
    }
    let inherits = dimension.own_filters().is_empty();
    if inherits && dimension.datatype().is_float() && has_double_delta(&schema.coords_filters) {
        return invalid("floats can't take over coordinate filters with double delta".to_owned());
    }
    if dimension.is_var() && !inherits_or_has_string_compressor_first(dimension, schema) {
        return invalid("run-length and dictionary encoding of strings must be the first filter".to_owned());
    }
    Ok(())
}

/// Whether an extent is one that people may ask for: positive in its own type, not more than the domain.
fn extent_fits(low: Scalar, high: Scalar, extent: Scalar) -> bool {
    match extent.physical() {
        PhysicalType::F32 | PhysicalType::F64 => extent.to_f64() <= high.to_f64() - low.to_f64() + 1.0,
        _ => unsigned_bits(extent) <= (high.key() - low.key()).saturating_add(1),
    }
}

fn has_double_delta(filters: &FilterPipeline) -> bool {
    filters.filters.iter().any(|filter| matches!(filter, Filter::DoubleDelta { .. }))
}

fn inherits_or_has_string_compressor_first(dimension: &Dimension, schema: &ArraySchema) -> bool {
    let own = &dimension.own_filters().filters;
    string_compressor_first(if own.is_empty() { &schema.coords_filters.filters } else { own })
}

/// Run-length and dictionary encoding of strings work on whole strings, so nothing may come before them.
fn string_compressor_first(filters: &[Filter]) -> bool {
    !filters.iter().skip(1).any(|filter| matches!(filter, Filter::Rle { .. } | Filter::Dictionary { .. }))
}

fn attribute(attribute: &Attribute, schema: &ArraySchema) -> Result<()> {
    let invalid = |why: &str| Err(SchemaError::invalid(name_of_attribute(attribute), why));
    if attribute.name().starts_with(RESERVED_PREFIX) {
        return invalid("names that begin with `__` are the format's own");
    }
    if attribute.fill_valid() && !attribute.is_nullable() {
        return invalid("only nullable attributes have a validity to fill");
    }
    let strings = matches!(attribute.datatype(), Datatype::StringAscii | Datatype::StringUtf8);
    if strings && attribute.is_var() && !string_compressor_first(&attribute.filters().filters) {
        return invalid("run-length and dictionary encoding of strings must be the first filter");
    }
    if attribute.order() == DataOrder::Unordered {
        return Ok(());
    }
    if !schema.is_dense() || schema.dim_count() != 1 {
        return invalid("only dense arrays of one dimension have ordered attributes");
    }
    let one_value = if attribute.datatype() == Datatype::StringAscii {
        attribute.is_var()
    } else {
        attribute.cell_val_num().fixed() == Some(1)
    };
    if one_value { Ok(()) } else { invalid("ordered attributes have one value per cell") }
}
