//! Strategies for schemas of every format version.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use tdb_filters::{Filter, FilterPipeline};
use tdb_rtree::{DimRange, NdRange};
use tdb_schema::{ArraySchema, Attribute, Dimension, DimensionLabel, EnumerationRef, SchemaBuilder};
use tdb_types::{CellValNum, DataOrder, Datatype, Feature, FormatVersion, Layout, Scalar};

pub(crate) fn version() -> impl Strategy<Value = FormatVersion> {
    proptest::sample::select(FormatVersion::all().collect::<Vec<_>>())
}

/// A schema that uses only features of `version`.
pub(crate) fn schema(version: FormatVersion) -> impl Strategy<Value = ArraySchema> {
    (any::<bool>(), any::<bool>(), layouts()).prop_flat_map(move |(dense, duplicates, (tile_order, cell_order))| {
        let hilbert = cell_order == Layout::Hilbert && !dense;
        let cell_order = if cell_order == Layout::Hilbert && dense { Layout::ColMajor } else { cell_order };
        (dimensions(version, dense, hilbert), attributes(version, dense), pipeline(), pipeline(), 1..u64::MAX)
            .prop_map(move |(dimensions, attributes, coords, offsets, capacity)| {
                let builder = if dense { SchemaBuilder::dense() } else { SchemaBuilder::sparse() };
                let builder = builder
                    .version(version)
                    .allows_duplicates(duplicates && !dense && version.has(Feature::AllowsDuplicates))
                    .tile_order(tile_order)
                    .cell_order(cell_order)
                    .capacity(capacity)
                    .coords_filters(coords)
                    .offsets_filters(offsets);
                let builder = dimensions.into_iter().fold(builder, SchemaBuilder::dimension);
                attributes.into_iter().fold(builder, SchemaBuilder::attribute)
            })
            .prop_flat_map(move |builder| newer_parts(version, builder))
    })
}

fn layouts() -> impl Strategy<Value = (Layout, Layout)> {
    let tiles = prop_oneof![Just(Layout::RowMajor), Just(Layout::ColMajor)];
    (tiles, prop_oneof![Just(Layout::RowMajor), Just(Layout::ColMajor), Just(Layout::Hilbert)])
}

/// Adds features of later versions: labels, enumerations, a current domain.
fn newer_parts(version: FormatVersion, builder: SchemaBuilder) -> impl Strategy<Value = ArraySchema> {
    let plain = builder.clone().build().expect("a schema without newer parts");
    let current =
        option::of(within(&plain)).prop_map(move |range| range.filter(|_| version.has(Feature::CurrentDomain)));
    let labels = if version.has(Feature::DimensionLabels) { 0..3_u32 } else { 0..1 };
    let enumerations = if version.has(Feature::Enumerations) { 0..3 } else { 0..1 };
    (current, labels, enumerations).prop_map(move |(current, labels, enumerations)| {
        let dimensions = u32::try_from(plain.dim_count()).expect("few dimensions");
        let mut builder = builder.clone();
        for index in 0..labels {
            builder = builder.label(label(index, index % dimensions));
        }
        for index in 0..enumerations {
            let name = format!("e{index}");
            builder = builder.enumeration(EnumerationRef { name: name.clone(), file_name: format!("__{index}_0") });
            builder = builder.attribute(Attribute::new(format!("in {name}"), Datatype::UInt8).with_enumeration(name));
        }
        current.clone().into_iter().fold(builder, SchemaBuilder::current_domain).build().expect("a schema")
    })
}

fn label(index: u32, dimension: u32) -> DimensionLabel {
    let (order, datatype) = match index {
        1 => (DataOrder::Decreasing, Datatype::StringAscii),
        _ => (DataOrder::Increasing, Datatype::Float64),
    };
    let label = DimensionLabel::new(dimension, format!("label {index}"), order, datatype);
    DimensionLabel { uri: format!("__labels/l{index}"), external: index == 2, ..label }
}

/// A rectangle within the domain.
fn within(schema: &ArraySchema) -> impl Strategy<Value = NdRange> + use<> {
    let ranges: Vec<_> = schema
        .dimensions()
        .iter()
        .map(|dimension| match dimension.domain_keys() {
            Some((low, high)) => {
                (low..=high, low..=high).prop_map(|(a, b)| DimRange::Fixed { lo: a.min(b), hi: a.max(b) }).boxed()
            }
            None => ("[a-z]{0,4}", "[a-z]{0,4}")
                .prop_map(|(a, b)| DimRange::strings(a.clone().min(b.clone()), a.max(b)))
                .boxed(),
        })
        .collect();
    ranges.prop_map(NdRange)
}

fn dimensions(version: FormatVersion, dense: bool, hilbert: bool) -> impl Strategy<Value = Vec<Dimension>> {
    let alike = dense || !version.has(Feature::PerDimensionFiles);
    let own_filters = version.has(Feature::PerDimensionFiles);
    (1_usize..5, coordinate_type(alike, dense), vec(coordinate_type(alike, dense), 4)).prop_flat_map(
        move |(count, shared, each)| {
            let dimensions: Vec<_> = (0..count)
                .map(|index| dimension(index, if alike { shared } else { each[index] }, hilbert, own_filters))
                .collect();
            dimensions
        },
    )
}

fn coordinate_type(fixed: bool, dense: bool) -> impl Strategy<Value = Datatype> {
    let allowed = Datatype::ALL.iter().copied().filter(move |datatype| {
        datatype.may_be_dimension() && !(fixed && datatype.is_string()) && !(dense && datatype.is_float())
    });
    proptest::sample::select(allowed.collect::<Vec<_>>())
}

fn dimension(index: usize, datatype: Datatype, hilbert: bool, own: bool) -> impl Strategy<Value = Dimension> {
    let name = format!("dimension {index}");
    let bounds = (any::<u64>(), any::<u64>(), any::<u64>(), any::<bool>(), pipeline());
    bounds.prop_map(move |(low, width, extent, extended, filters)| {
        let dimension = if datatype.is_string() {
            Dimension::string(name.clone())
        } else {
            let (low, high, extent) = numbers(datatype, low, width, extent);
            let dimension = Dimension::new(name.clone(), low..=high).with_datatype(datatype);
            if extended || hilbert { dimension } else { dimension.with_tile(extent) }
        };
        if own { dimension.with_filters(filters) } else { dimension }
    })
}

/// Derives consistent bounds and a tile extent from arbitrary numbers.
fn numbers(datatype: Datatype, low: u64, width: u64, extent: u64) -> (Scalar, Scalar, Scalar) {
    let physical = datatype.physical();
    if physical.is_float() {
        let low = (low % 2_000_000) as f64 - 1e6;
        let width = (width % 1_000_000) as f64 + 1.0;
        let extent = width / ((extent % 100) as f64 + 1.0);
        let scalar = |value: f64| match datatype {
            Datatype::Float32 => Scalar::F32(value as f32),
            _ => Scalar::F64(value),
        };
        return (scalar(low), scalar(low + width), scalar(extent));
    }
    // The numbers stay in a quarter of the type to avoid overflow.
    let quarter = (u64::MAX >> (64 - 8 * physical.size())) / 4;
    let (low, width) = (low % quarter, width % quarter);
    let mut bytes = (extent % (width + 1) + 1).to_le_bytes().to_vec();
    bytes.truncate(physical.size());
    let extent = Scalar::from_le_bytes(physical, &bytes).expect("as many bytes as the type has");
    (Scalar::from_key(physical, low), Scalar::from_key(physical, low + width), extent)
}

fn attributes(version: FormatVersion, dense: bool) -> impl Strategy<Value = Vec<Attribute>> {
    let least = usize::from(dense);
    (least..5).prop_flat_map(move |count| (0..count).map(|index| attribute(version, index)).collect::<Vec<_>>())
}

fn attribute(version: FormatVersion, index: usize) -> impl Strategy<Value = Attribute> {
    let name = "[a-zäö .é]{0,5}".prop_map(move |name| if index == 0 { name } else { format!("{name}{index}") });
    let datatype = proptest::sample::select(Datatype::ALL);
    let cell = prop_oneof![Just(CellValNum::ONE), Just(CellValNum::Var), (1_u32..6).prop_map(fixed)];
    let fill = vec(any::<u8>(), 1..9);
    (name, datatype, cell, option::of(any::<bool>()), option::of(fill), pipeline()).prop_map(
        move |(name, datatype, cell, nullable, fill, filters)| {
            let cell = if datatype == Datatype::Any { CellValNum::Var } else { cell };
            let mut attribute = Attribute::new(name, datatype).with_cell_val_num(cell).with_filters(filters);
            if let Some(mut fill) = fill.filter(|_| version.has(Feature::FillValue)) {
                if let Some(size) = attribute.cell_size() {
                    fill = fill.into_iter().cycle().take(usize::try_from(size).expect("a small cell")).collect();
                }
                attribute = attribute.with_fill_value(fill);
            }
            match nullable.filter(|_| version.has(Feature::Validity)) {
                Some(fill_valid) => attribute.nullable(fill_valid),
                None => attribute,
            }
        },
    )
}

fn fixed(number: u32) -> CellValNum {
    CellValNum::from_code(number).expect("a number of values")
}

/// A pipeline of filters for every version and every input.
fn pipeline() -> impl Strategy<Value = FilterPipeline> {
    let filter = prop_oneof![
        (-7..23).prop_map(|level| Filter::Zstd { level }),
        (0..9).prop_map(|level| Filter::Gzip { level }),
        Just(Filter::Byteshuffle),
        Just(Filter::Bitshuffle),
        (1..10).prop_map(|level| Filter::Bzip2 { level }),
        Just(Filter::Sha256),
    ];
    (vec(filter, 0..4), any::<u32>()).prop_map(|(filters, max_chunk_size)| FilterPipeline { max_chunk_size, filters })
}
