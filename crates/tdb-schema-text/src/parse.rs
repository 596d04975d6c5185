//! Interpretation of the text as a definition.

use std::num::NonZeroU32;

use tdb_filters::FilterPipeline;
use tdb_rtree::{DimRange, NdRange};
use tdb_schema::{ArrayDefinition, Attribute, Dimension, DimensionLabel, Enumeration, EnumerationRef, SchemaBuilder};
use tdb_types::{CellValNum, DataOrder, Datatype, FormatVersion, Layout, PhysicalType, Scalar};
use toml::Value;

use crate::document::{self, Document};
use crate::value::Given;
use crate::{Result, SchemaTextError, filters};

pub(crate) fn definition(document: &Document, version: Option<FormatVersion>) -> Result<ArrayDefinition> {
    let builder = array(document, version)?;
    let mut builder = document
        .dimensions
        .iter()
        .try_fold(builder, |builder, text| Ok::<_, SchemaTextError>(builder.dimension(dimension(text)?)))?;
    if let Some(current) = current_domain(&document.dimensions)? {
        builder = builder.current_domain(current);
    }
    for text in &document.attributes {
        builder = builder.attribute(attribute(text)?);
    }
    for text in &document.enumerations {
        builder = builder.enumeration(EnumerationRef::unplaced(text.name.as_str()));
    }
    for text in &document.labels {
        builder = builder.label(label(text, &document.dimensions)?);
    }
    let mut definition = ArrayDefinition::new(builder.build()?)?;
    for text in &document.enumerations {
        definition = definition.with_enumeration(enumeration(text)?)?;
    }
    for text in document.labels.iter().filter(|label| !label.external) {
        let what = format!("dimension label {:?}", text.name);
        let datatype = document.dimensions.iter().find(|dimension| dimension.name == text.dimension);
        let datatype = self::datatype(datatype.map_or("", |dimension| dimension.datatype.as_str()), &what)?;
        let extent = text.tile_extent.as_ref().map(|value| extent(datatype, value, &what)).transpose()?;
        let filters = own_filters(text.filters.as_ref(), &what)?;
        definition = definition.with_label(&text.name, extent, filters)?;
    }
    Ok(definition)
}

/// Converts attributes and enumerations.
pub(crate) fn additions(text: &document::Additions) -> Result<(Vec<Attribute>, Vec<Enumeration>)> {
    let attributes = text.attributes.iter().map(attribute).collect::<Result<_>>()?;
    Ok((attributes, text.enumerations.iter().map(enumeration).collect::<Result<_>>()?))
}

/// Converts the keys of the array itself, without dimensions, attributes, enumerations and labels.
fn array(document: &Document, version: Option<FormatVersion>) -> Result<SchemaBuilder> {
    const WHAT: &str = "array schema";
    let mut builder = match document.array_type.as_str() {
        "dense" => SchemaBuilder::dense(),
        "sparse" => SchemaBuilder::sparse(),
        other => return Err(unknown(WHAT, "array_type", other, &["dense", "sparse"])),
    };
    let stated = document.format_version.map(FormatVersion::new).transpose();
    let stated = stated.map_err(|error| SchemaTextError::invalid(WHAT, error.to_string()).at("format_version"))?;
    builder = builder.version(version.or(stated).unwrap_or(FormatVersion::DEFAULT));
    let order = |key: &'static str, text: &Option<String>, allowed: &[Layout]| match text {
        None => Ok(Layout::RowMajor),
        Some(text) => allowed.iter().copied().find(|order| order.name() == text).ok_or_else(|| {
            let names: Vec<_> = allowed.iter().map(|order| order.name()).collect();
            unknown(WHAT, key, text, &names)
        }),
    };
    builder = builder
        .tile_order(order("tile_order", &document.tile_order, &[Layout::RowMajor, Layout::ColMajor])?)
        .cell_order(order("cell_order", &document.cell_order, &[Layout::RowMajor, Layout::ColMajor, Layout::Hilbert])?)
        .allows_duplicates(document.allows_duplicates);
    if let Some(value) = &document.capacity {
        let Some(Scalar::U64(capacity)) = value.scalar(PhysicalType::U64) else {
            return Err(
                SchemaTextError::invalid(WHAT, format!("invalid capacity {value}, expected a number")).at("capacity")
            );
        };
        builder = builder.capacity(capacity);
    }
    if let Some(filters) = &document.coords_filters {
        builder = builder.coords_filters(filters::parse(filters, "coords_filters")?);
    }
    if let Some(filters) = &document.offsets_filters {
        builder = builder.offsets_filters(filters::parse(filters, "offsets_filters")?);
    }
    if let Some(filters) = &document.validity_filters {
        let filters = filters::parse(filters, "validity_filters")?;
        // If the caller requests a version, default validity filters are ignored, because the
        // version may lack validity.
        let default = version.is_some() && filters == FilterPipeline::default_validity();
        builder = if default { builder } else { builder.validity_filters(filters) };
    }
    Ok(builder)
}

#[cold]
fn unknown(what: &str, key: &'static str, found: &str, known: &[&str]) -> SchemaTextError {
    let known: Vec<_> = known.iter().map(|name| format!("{name:?}")).collect();
    SchemaTextError::invalid(what, format!("invalid {key} {found:?}, expected one of {}", known.join(", "))).at(key)
}

fn datatype(name: &str, what: &str) -> Result<Datatype> {
    Datatype::from_name(name).ok_or_else(|| {
        let names: Vec<_> = Datatype::ALL.iter().map(|datatype| datatype.name()).collect();
        SchemaTextError::invalid(what, format!("unknown datatype {name:?}, expected one of {}", names.join(", ")))
            .at("datatype")
    })
}

fn own_filters(filters: Option<&document::Filters>, what: &str) -> Result<FilterPipeline> {
    filters.map_or_else(|| Ok(FilterPipeline::default()), |filters| filters::parse(filters, what))
}

fn scalar(datatype: Datatype, value: &Given, key: &'static str, what: &str) -> Result<Scalar> {
    value
        .value(datatype)
        .ok_or_else(|| SchemaTextError::invalid(what, format!("{key}: {}", value.no_value(datatype))).at(key))
}

/// Parses a tile extent. Extents of signed datatypes are also unsigned numbers.
fn extent(datatype: Datatype, value: &Given, what: &str) -> Result<Scalar> {
    let unsigned = match datatype.physical() {
        PhysicalType::I8 => PhysicalType::U8,
        PhysicalType::I16 => PhysicalType::U16,
        PhysicalType::I32 => PhysicalType::U32,
        PhysicalType::I64 => PhysicalType::U64,
        other => other,
    };
    let extent =
        value.scalar(unsigned).and_then(|extent| Scalar::from_le_bytes(datatype.physical(), &extent.to_le_bytes()));
    extent.ok_or_else(|| {
        SchemaTextError::invalid(what, format!("{value} is not a valid tile extent of {datatype}")).at("tile_extent")
    })
}

fn dimension(text: &document::Dimension) -> Result<Dimension> {
    let what = format!("dimension {:?}", text.name);
    let datatype = datatype(&text.datatype, &what)?;
    let mut dimension = match &text.domain {
        Some([low, high]) => {
            let bound = |value| scalar(datatype, value, "domain", &what);
            Dimension::new(text.name.as_str(), bound(low)?..=bound(high)?).with_datatype(datatype)
        }
        None if datatype == Datatype::StringAscii => Dimension::string(text.name.as_str()),
        None => {
            return Err(SchemaTextError::invalid(what, "missing domain; only dimensions of string_ascii can omit it"));
        }
    };
    if let Some(value) = &text.tile_extent {
        dimension = dimension.with_tile(extent(datatype, value, &what)?);
    }
    Ok(dimension.with_filters(own_filters(text.filters.as_ref(), &what)?))
}

/// Returns the current domain. Either all dimensions or no dimension must have the key
/// `current_domain`.
fn current_domain(dimensions: &[document::Dimension]) -> Result<Option<NdRange>> {
    if dimensions.iter().all(|dimension| dimension.current_domain.is_none()) {
        return Ok(None);
    }
    let ranges = dimensions.iter().map(|text| {
        let what = format!("dimension {:?}", text.name);
        let datatype = datatype(&text.datatype, &what)?;
        let Some([low, high]) = &text.current_domain else {
            return Err(SchemaTextError::invalid(what, "missing current_domain, which another dimension has"));
        };
        if datatype == Datatype::StringAscii {
            let bound = |value: &Given| {
                value.cell(datatype, CellValNum::Var).ok_or_else(|| {
                    SchemaTextError::invalid(what.as_str(), format!("{value} is not a string")).at("current_domain")
                })
            };
            return Ok(DimRange::strings(bound(low)?, bound(high)?));
        }
        let bound = |value| Ok::<_, SchemaTextError>(scalar(datatype, value, "current_domain", &what)?.key());
        Ok(DimRange::Fixed { lo: bound(low)?, hi: bound(high)? })
    });
    Ok(Some(NdRange(ranges.collect::<Result<_>>()?)))
}

/// Parses a number of values, or `"var"`.
fn number(value: &Value, key: &'static str, what: &str) -> Result<CellValNum> {
    let fixed = value.as_integer().and_then(|number| u32::try_from(number).ok()).and_then(NonZeroU32::new);
    match (fixed, value.as_str()) {
        (Some(number), _) if number.get() != CellValNum::VAR_CODE => Ok(CellValNum::Fixed(number)),
        (None, Some("var")) => Ok(CellValNum::Var),
        _ => {
            Err(SchemaTextError::invalid(what, format!("invalid {key} {value}, expected a number above 0 or \"var\""))
                .at(key))
        }
    }
}

fn attribute(text: &document::Attribute) -> Result<Attribute> {
    let what = format!("attribute {:?}", text.name);
    let datatype = datatype(&text.datatype, &what)?;
    let mut attribute = Attribute::new(text.name.as_str(), datatype);
    if let Some(value) = &text.values_per_cell {
        attribute = attribute.with_cell_val_num(number(value, "values_per_cell", &what)?);
    }
    if let Some(value) = &text.fill {
        let fill = value.cell(datatype, attribute.cell_val_num());
        let fill =
            fill.ok_or_else(|| SchemaTextError::invalid(&what, format!("fill: {value} is not a cell")).at("fill"))?;
        attribute = attribute.with_fill_value(fill);
    }
    match (text.nullable, text.fill_valid) {
        (true, valid) => attribute = attribute.nullable(valid),
        (false, true) => {
            return Err(
                SchemaTextError::invalid(what, "only nullable attributes have a fill validity").at("fill_valid")
            );
        }
        (false, false) => {}
    }
    if let Some(order) = &text.order {
        attribute = attribute.with_order(data_order(order, &what)?);
    }
    if let Some(enumeration) = &text.enumeration {
        attribute = attribute.with_enumeration(enumeration.as_str());
    }
    Ok(attribute.with_filters(own_filters(text.filters.as_ref(), &what)?))
}

fn data_order(text: &str, what: &str) -> Result<DataOrder> {
    let order = DataOrder::ALL.iter().copied().find(|order| order.name() == text);
    order.ok_or_else(|| unknown(what, "order", text, &["unordered", "increasing", "decreasing"]))
}

fn enumeration(text: &document::Enumeration) -> Result<Enumeration> {
    let what = format!("enumeration {:?}", text.name);
    let datatype = datatype(&text.datatype, &what)?;
    let number = match &text.values_per_value {
        Some(value) => number(value, "values_per_value", &what)?,
        None => CellValNum::ONE,
    };
    let values = text.values.iter().map(|value| {
        value
            .cell(datatype, number)
            .ok_or_else(|| SchemaTextError::invalid(what.as_str(), value.no_value(datatype)).at("values"))
    });
    let values = values.collect::<Result<Vec<_>>>()?;
    let enumeration = match number {
        CellValNum::Var => Enumeration::strings(text.name.as_str(), "", datatype, values)?,
        CellValNum::Fixed(number) => {
            let size = number.get() as usize * datatype.size();
            if let Some(value) = values.iter().find(|value| value.len() != size) {
                let why = format!("found a value of {} bytes, expected {size}", value.len());
                return Err(SchemaTextError::invalid(what, why).at("values"));
            }
            let empty = Enumeration::fixed(text.name.as_str(), "", datatype, Vec::new())?;
            empty.with_values_per_value(number)?.extended(values)?
        }
    };
    Ok(if text.ordered { enumeration.ordered() } else { enumeration })
}

fn label(text: &document::Label, dimensions: &[document::Dimension]) -> Result<DimensionLabel> {
    let what = format!("dimension label {:?}", text.name);
    let index = dimensions.iter().position(|dimension| dimension.name == text.dimension);
    let index = index.and_then(|index| u32::try_from(index).ok());
    let index = index.ok_or_else(|| {
        SchemaTextError::invalid(&what, format!("unknown dimension {:?}", text.dimension)).at("dimension")
    })?;
    let order = data_order(&text.order, &what)?;
    let mut label = DimensionLabel::new(index, text.name.as_str(), order, datatype(&text.datatype, &what)?);
    if let Some(attribute) = &text.attribute {
        label.attribute.clone_from(attribute);
    }
    label.external = text.external;
    match (&text.uri, text.external) {
        (Some(uri), true) => {
            label.uri.clone_from(uri);
            label.relative = text.relative.unwrap_or(false);
        }
        (None, true) => return Err(SchemaTextError::invalid(what, "missing `uri`, which an external label requires")),
        (Some(_), false) => {
            return Err(SchemaTextError::invalid(what, "only external labels can have a `uri`").at("uri"));
        }
        (None, false) => {}
    }
    Ok(label)
}
