//! Converts the array specification for the reference library to tdb's schema builder.

use std::num::NonZeroU32;

use tdb_array::{ArrayOptions, CreateOptions};
use tdb_filters::{EncryptionKey, Filter, FilterPipeline, WebPFormat, WebPOptions};
use tdb_rtree::{DimRange, NdRange};
use tdb_schema::{
    ArrayDefinition, Attribute, Dimension, DimensionLabel, Enumeration, EnumerationRef, Result, SchemaBuilder,
};
use tdb_types::{ArrayType, CellValNum, Datatype, FormatVersion, Scalar};

use tdb_reference::model::{
    ArraySpec, AttributeSpec, Bytes, DimensionSpec, EnumerationSpec, FilterSpec, Pipeline, WebpFormat,
};

use crate::case::KEY;
use crate::scalars::{float_bytes, float_of, integer_bytes, integer_of};

/// Builds the definition of an array in a format version.
pub fn definition(spec: &ArraySpec, version: FormatVersion) -> Result<ArrayDefinition> {
    let mut builder = match spec.array_type {
        ArrayType::Dense => SchemaBuilder::dense(),
        ArrayType::Sparse => SchemaBuilder::sparse(),
    }
    .version(version);
    builder = builder.tile_order(spec.tile_order).cell_order(spec.cell_order).allows_duplicates(spec.allows_dups);
    builder = spec.capacity.into_iter().fold(builder, SchemaBuilder::capacity);
    builder = spec.coords_filters.iter().map(pipeline).fold(builder, SchemaBuilder::coords_filters);
    builder = spec.offsets_filters.iter().map(pipeline).fold(builder, SchemaBuilder::offsets_filters);
    builder = spec.validity_filters.iter().map(pipeline).fold(builder, SchemaBuilder::validity_filters);
    builder = spec.dimensions.iter().map(dimension).fold(builder, SchemaBuilder::dimension);
    builder = spec.attributes.iter().map(attribute).fold(builder, SchemaBuilder::attribute);
    for enumeration in &spec.enumerations {
        builder = builder.enumeration(EnumerationRef::unplaced(enumeration.name.as_str()));
    }
    for label in &spec.labels {
        let label = DimensionLabel::new(label.dimension, label.name.as_str(), label.order, label.datatype);
        builder = builder.label(label);
    }
    if let Some(ranges) = &spec.current_domain {
        builder = builder.current_domain(current_domain(&spec.dimensions, ranges));
    }
    let mut definition = ArrayDefinition::new(builder.build()?)?;
    for spec in &spec.enumerations {
        definition = definition.with_enumeration(enumeration(spec)?)?;
    }
    for label in &spec.labels {
        let filters = label.filters.as_ref().map(pipeline).unwrap_or_default();
        definition = definition.with_label(&label.name, None, filters)?;
    }
    Ok(definition)
}

fn scalar(datatype: Datatype, bytes: &Bytes) -> Scalar {
    Scalar::from_le_bytes(datatype.physical(), bytes).unwrap_or(Scalar::U8(0))
}

fn dimension(spec: &DimensionSpec) -> Dimension {
    let dimension = match &spec.domain {
        Some((low, high)) => {
            let bound = |bytes| scalar(spec.datatype, bytes);
            Dimension::new(spec.name.as_str(), bound(low)..=bound(high)).with_datatype(spec.datatype)
        }
        None => Dimension::string(spec.name.as_str()),
    };
    let extent = spec.extent.iter().map(|extent| scalar(spec.datatype, extent));
    let dimension = extent.fold(dimension, Dimension::with_tile);
    dimension.with_filters(pipeline(&spec.filters))
}

/// Builds an attribute.
pub(crate) fn attribute(spec: &AttributeSpec) -> Attribute {
    // A count of one value is not passed to the library. Cells of datatype `any` stay
    // variable-sized.
    let number = spec.cell_val_num.filter(|number| spec.datatype != Datatype::Any || *number != 1);
    let number = number.and_then(NonZeroU32::new).map_or(CellValNum::Var, CellValNum::Fixed);
    let mut attribute = Attribute::new(spec.name.as_str(), spec.datatype).with_cell_val_num(number);
    if let Some((fill, _)) = &spec.fill {
        attribute = attribute.with_fill_value(fill.0.clone());
    }
    if spec.nullable {
        attribute = attribute.nullable(spec.fill.as_ref().is_some_and(|(_, valid)| *valid));
    }
    if let Some(enumeration) = &spec.enumeration {
        attribute = attribute.with_enumeration(enumeration.as_str());
    }
    attribute.with_filters(pipeline(&spec.filters))
}

/// Returns the values of an enumeration.
pub(crate) fn enumeration_values(spec: &EnumerationSpec) -> Vec<&[u8]> {
    match (&spec.offsets, spec.cell_val_num) {
        (Some(offsets), _) => {
            let ends = offsets.iter().skip(1).copied().chain([spec.values.len() as u64]);
            offsets.iter().zip(ends).map(|(start, end)| &spec.values[*start as usize..end as usize]).collect()
        }
        (None, number) => spec.values.chunks(number.unwrap_or(1) as usize * spec.datatype.size()).collect(),
    }
}

/// Builds an enumeration.
pub(crate) fn enumeration(spec: &EnumerationSpec) -> Result<Enumeration> {
    let values = enumeration_values(spec);
    let enumeration = match spec.cell_val_num.and_then(NonZeroU32::new) {
        None => Enumeration::strings(spec.name.as_str(), "", spec.datatype, values)?,
        Some(number) => {
            let empty = Enumeration::fixed(spec.name.as_str(), "", spec.datatype, Vec::new())?;
            empty.with_values_per_value(number)?.extended(values)?
        }
    };
    Ok(if spec.ordered { enumeration.ordered() } else { enumeration })
}

/// Builds the ranges of a current domain.
pub(crate) fn current_domain(dimensions: &[DimensionSpec], ranges: &[(Bytes, Bytes)]) -> NdRange {
    let ranges = dimensions.iter().zip(ranges).map(|(dimension, (low, high))| match &dimension.domain {
        None => DimRange::strings(low.0.clone(), high.0.clone()),
        Some(_) => {
            let key = |bytes| scalar(dimension.datatype, bytes).key();
            DimRange::Fixed { lo: key(low), hi: key(high) }
        }
    });
    NdRange(ranges.collect())
}

/// Builds a filter pipeline.
pub fn pipeline(spec: &Pipeline) -> FilterPipeline {
    let mut pipeline = FilterPipeline::new(spec.filters.iter().map(filter).collect());
    if let Some(size) = spec.max_chunk_size {
        pipeline.max_chunk_size = size;
    }
    pipeline
}

fn filter(spec: &FilterSpec) -> Filter {
    let level = |level: &Option<i32>| level.unwrap_or(-1);
    match spec {
        FilterSpec::None => Filter::None,
        FilterSpec::Gzip { level: given } => Filter::Gzip { level: level(given) },
        FilterSpec::Zstd { level: given } => Filter::Zstd { level: level(given) },
        FilterSpec::Lz4 { level: given } => Filter::Lz4 { level: level(given) },
        FilterSpec::Bzip2 { level: given } => Filter::Bzip2 { level: level(given) },
        FilterSpec::Rle => Filter::Rle { level: -1 },
        FilterSpec::Dictionary => Filter::Dictionary { level: -1 },
        FilterSpec::DoubleDelta { reinterpret } => Filter::DoubleDelta { level: -1, reinterpret: *reinterpret },
        FilterSpec::Delta { reinterpret } => Filter::Delta { level: -1, reinterpret: *reinterpret },
        FilterSpec::BitWidthReduction { window } => Filter::BitWidthReduction { max_window: window.unwrap_or(256) },
        FilterSpec::PositiveDelta { window } => Filter::PositiveDelta { max_window: window.unwrap_or(1024) },
        FilterSpec::Bitshuffle => Filter::Bitshuffle,
        FilterSpec::Byteshuffle => Filter::Byteshuffle,
        FilterSpec::ChecksumMd5 => Filter::Md5,
        FilterSpec::ChecksumSha256 => Filter::Sha256,
        FilterSpec::Xor => Filter::Xor,
        FilterSpec::ScaleFloat { factor, offset, byte_width } => {
            Filter::FloatScale { scale: *factor, offset: *offset, byte_width: *byte_width }
        }
        FilterSpec::Webp { quality, format, lossless } => Filter::WebP(WebPOptions {
            quality: *quality,
            format: match format {
                WebpFormat::Rgb => WebPFormat::Rgb,
                WebpFormat::Bgr => WebPFormat::Bgr,
                WebpFormat::Rgba => WebPFormat::Rgba,
                WebpFormat::Bgra => WebPFormat::Bgra,
            },
            lossless: *lossless,
            y_extent: 0,
            x_extent: 0,
        }),
    }
}

/// Fills in missing extents of Hilbert arrays with the length of the domain. The library does this
/// too, because it receives the cell order after the domain.
pub fn state_extents(spec: &mut ArraySpec) {
    for dimension in spec.dimensions.iter_mut().filter(|dimension| dimension.extent.is_none()) {
        let Some((low, high)) = &dimension.domain else { continue };
        let (datatype, physical) = (dimension.datatype, dimension.datatype.physical());
        dimension.extent = Some(match datatype.is_float() {
            true => float_bytes(datatype, float_of(datatype, high) - float_of(datatype, low)),
            false => integer_bytes(physical, integer_of(physical, high) - integer_of(physical, low) + 1),
        });
    }
}

/// Returns the options to open and create an array.
pub fn options(encrypted: bool) -> (ArrayOptions, CreateOptions) {
    let key = encrypted.then(|| EncryptionKey::new(*KEY));
    (ArrayOptions::new().key(key.clone()), CreateOptions::new().key(key))
}
