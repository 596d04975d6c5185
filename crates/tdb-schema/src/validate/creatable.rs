//! Rules of the reference library for new schemas, beyond the rules for readers.

use tdb_filters::{BoundPipeline, Filter, FilterPipeline, TileKind, WebPFormat, WebPOptions};
use tdb_types::{ByteWriter, CellValNum, DataOrder, Datatype, Feature, FormatVersion, Scalar};

use super::{name_of_attribute, name_of_dimension, readable};
use crate::attribute::ANONYMOUS;
use crate::dimension::max_key;
use crate::error::Result;
use crate::scalar_bits::unsigned_bits;
use crate::{ArraySchema, Attribute, Dimension, SchemaError};

/// The prefix of names reserved by the format.
const RESERVED_PREFIX: &str = "__";

/// Checks all rules of the reference library for new schemas.
pub(crate) fn creatable(schema: &ArraySchema) -> Result<()> {
    readable(schema)?;
    version(schema)?;
    if schema.is_dense() && schema.allows_duplicates {
        return Err(SchemaError::invalid("array schema", "a dense array cannot allow duplicates"));
    }
    schema.dimensions().iter().try_for_each(|dimension| self::dimension(dimension, schema))?;
    schema.attributes.iter().try_for_each(|attribute| self::attribute(attribute, schema))?;
    // Writing the schema checks that the version supports every filter.
    schema.write(&mut ByteWriter::new())
}

/// Checks that the version supports every feature of the schema.
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
        format!("format version {version} is too old; use version {} or later: {}", row.since, row.what),
    )
}

/// Returns `true` if the dimensions can share a datatype, a pipeline and a file.
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
            return invalid(format!("the domain must not cover all values of {}", dimension.datatype()));
        }
        match dimension.tile_extent() {
            Some(extent) if !extent_fits(low, high, extent) => {
                return invalid(format!("tile extent {extent} exceeds the domain from {low} to {high}"));
            }
            // The reference library computes the end of the last tile in 64 bits. In smaller types
            // the last tile may therefore extend beyond the type, also in dense arrays.
            _ if dimension.physical().size() == 8 && last_tile_overflows(dimension) => {
                return invalid(format!("the last tile exceeds the range of {}", dimension.datatype()));
            }
            _ => {}
        }
    }
    let inherits = dimension.own_filters().is_empty();
    if inherits && dimension.datatype().is_float() && has_double_delta(&schema.coords_filters) {
        return invalid("a dimension of floats cannot use coordinate filters with double delta".to_owned());
    }
    // Inherited coordinate filters are exempt, because some dimensions may ignore them.
    let kind = tile_kind(dimension.datatype(), dimension.cell_val_num(), schema.version);
    if let Err(why) = filters_accept(dimension.own_filters(), dimension.datatype(), kind) {
        return invalid(why);
    }
    if dimension.is_var() && !inherits_or_has_string_compressor_first(dimension, schema) {
        return invalid("run-length and dictionary encoding of strings must be the first filter".to_owned());
    }
    Ok(())
}

/// Returns `true` if the last tile of a dimension extends beyond the maximum of the datatype.
fn last_tile_overflows(dimension: &Dimension) -> bool {
    let (Some((low, high)), Some(extent)) = (dimension.domain_keys(), dimension.extent_cells()) else { return false };
    let tiles_before = dimension.tile_index(high);
    let end = u128::from(low) + (u128::from(tiles_before) + 1) * u128::from(extent);
    end > u128::from(max_key(dimension.physical())) + 1
}

/// Returns `true` if the reference library accepts the extent for a new dimension.
fn extent_fits(low: Scalar, high: Scalar, extent: Scalar) -> bool {
    match (low, high, extent) {
        // Computed in the type of the dimension, like in the reference library. The domain of all
        // floats has infinite width.
        (Scalar::F32(low), Scalar::F32(high), Scalar::F32(extent)) => {
            let span = high - low;
            // A domain of a single coordinate gets the extent 0 by default.
            extent <= span + 1.0 && (extent > 0.0 || span == 0.0)
        }
        (Scalar::F64(low), Scalar::F64(high), Scalar::F64(extent)) => {
            let span = high - low;
            extent <= span + 1.0 && (extent > 0.0 || span == 0.0)
        }
        _ => {
            let physical = extent.physical();
            let span = (high.key() - low.key()).saturating_add(1);
            // An extent above the maximum of a signed type is negative in this type. It is allowed
            // only if the domain is a single tile.
            let is_negative = physical.is_signed_integer() && extent.to_f64() < 0.0;
            unsigned_bits(extent) <= span && (!is_negative || unsigned_bits(extent) == span)
        }
    }
}

fn has_double_delta(filters: &FilterPipeline) -> bool {
    filters.filters.iter().any(|filter| matches!(filter, Filter::DoubleDelta { .. }))
}

fn inherits_or_has_string_compressor_first(dimension: &Dimension, schema: &ArraySchema) -> bool {
    let own = &dimension.own_filters().filters;
    string_compressor_first(if own.is_empty() { &schema.coords_filters.filters } else { own })
}

/// Returns `true` if every string compressor of the pipeline is of the same kind as the first
/// filter.
///
/// Run-length and dictionary encoding need whole strings as input, so no other filter may precede
/// them.
fn string_compressor_first(filters: &[Filter]) -> bool {
    let Some(first) = filters.first() else { return true };
    let is_string_compressor = |filter: &&Filter| matches!(filter, Filter::Rle { .. } | Filter::Dictionary { .. });
    filters.iter().filter(is_string_compressor).all(|filter| filter.code() == first.code())
}

fn tile_kind(datatype: Datatype, number: CellValNum, version: FormatVersion) -> TileKind {
    match number.fixed() {
        Some(number) => TileKind::fixed(datatype, number, version),
        None => TileKind::var_data(datatype, version),
    }
}

/// Checks that each filter supports the datatype of its input.
fn filters_accept(filters: &FilterPipeline, datatype: Datatype, kind: TileKind) -> Result<(), String> {
    BoundPipeline::bind(filters, kind).map_err(|error| error.to_string())?;
    let mut datatype = datatype;
    for filter in &filters.filters {
        match filter {
            Filter::Delta { .. } | Filter::DoubleDelta { .. } if filter.output_datatype(datatype).is_float() => {
                return Err(format!("{} requires integers, not floats", filter.name()));
            }
            Filter::Delta { reinterpret: Some(other), .. } | Filter::DoubleDelta { reinterpret: Some(other), .. }
                if other.size() > datatype.size() =>
            {
                let size = datatype.size();
                return Err(format!("{} cannot reinterpret values of {size} bytes as {other}", filter.name()));
            }
            Filter::BitWidthReduction { .. } | Filter::PositiveDelta { .. } if !counts(datatype) => {
                return Err(format!("{} requires integers, dates or times", filter.name()));
            }
            _ => {}
        }
        datatype = filter.output_datatype(datatype);
    }
    Ok(())
}

/// Returns `true` if filters for integers accept the datatype.
fn counts(datatype: Datatype) -> bool {
    datatype.is_integer() || datatype.is_datetime() || datatype.is_time() || datatype.is_bytes()
}

fn attribute(attribute: &Attribute, schema: &ArraySchema) -> Result<()> {
    let invalid = |why: &str| Err(SchemaError::invalid(name_of_attribute(attribute), why));
    let is_given = attribute.name() == ANONYMOUS && schema.version.has(Feature::NamedAttributes);
    if attribute.name().starts_with(RESERVED_PREFIX) && !is_given {
        return invalid("names that begin with `__` are reserved");
    }
    if attribute.fill_valid() && !attribute.is_nullable() {
        return invalid("only nullable attributes have a fill validity");
    }
    let strings = matches!(attribute.datatype(), Datatype::StringAscii | Datatype::StringUtf8);
    if strings && attribute.is_var() && !string_compressor_first(&attribute.filters().filters) {
        return invalid("run-length and dictionary encoding of strings must be the first filter");
    }
    let kind = tile_kind(attribute.datatype(), attribute.cell_val_num(), schema.version);
    if let Err(why) = filters_accept(attribute.filters(), attribute.datatype(), kind) {
        return invalid(&why);
    }
    if attribute.filters().filters.iter().any(|filter| matches!(filter, Filter::WebP(_))) {
        image(attribute, schema).or_else(invalid)?;
    }
    if attribute.order() == DataOrder::Unordered {
        return Ok(());
    }
    if !schema.is_dense() || schema.dim_count() != 1 {
        return invalid("only dense arrays of one dimension can have ordered attributes");
    }
    let one_value = if attribute.datatype() == Datatype::StringAscii {
        attribute.is_var()
    } else {
        attribute.cell_val_num().fixed() == Some(1)
    };
    if one_value { Ok(()) } else { invalid("ordered attributes must have one value per cell") }
}

/// Checks the layout of images: tiles are rows of bytes, in two integer dimensions.
fn image(attribute: &Attribute, schema: &ArraySchema) -> Result<(), &'static str> {
    if !schema.is_dense() {
        return Err("the WebP filter requires a dense array");
    }
    let [y, x] = schema.dimensions() else { return Err("the WebP filter requires two dimensions") };
    if y.datatype() != x.datatype() || !y.datatype().is_integer() {
        return Err("the WebP filter requires dimensions of the same integer datatype");
    }
    if attribute.datatype() != Datatype::UInt8 {
        return Err("the WebP filter requires values of uint8");
    }
    for filter in &attribute.filters().filters {
        let Filter::WebP(WebPOptions { quality, format, x_extent, .. }) = filter else { continue };
        if !(0.0..=100.0).contains(quality) {
            return Err("the WebP filter requires a quality of 0 to 100");
        }
        let channels = match format {
            WebPFormat::Rgba | WebPFormat::Bgra => 4,
            _ => 3,
        };
        if x_extent % channels != 0 {
            return Err("the WebP filter requires tile rows of whole pixels");
        }
    }
    Ok(())
}
