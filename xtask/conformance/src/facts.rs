//! Compares schemas and fragments of an array on both sides.

use std::ops::Bound;

use tdb_array::Array;
use tdb_cases::case::Case;
use tdb_cases::ours::describe;
use tdb_filters::FilterPipeline;
use tdb_reference::model::{AttributeSpec, Bytes, DimensionSpec, EnumerationSpec, FragmentSummary};
use tdb_rtree::DimRange;
use tdb_schema::{Attribute, Dimension};
use tdb_types::{ByteWriter, Scalar};

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, got: &T) -> Result<(), String> {
    if expected == got { Ok(()) } else { Err(format!("{what}: expected {expected:?}, got {got:?}")) }
}

/// Compares the schema given to the library with the schema that tdb reads.
///
/// # Errors
/// Returns the first difference.
pub fn compare_schema(case: &Case, array: &Array) -> Result<(), String> {
    let (given, schema) = (&case.array, array.schema());
    equal("array type", &given.array_type, &schema.array_type())?;
    equal("tile order", &given.tile_order, &schema.tile_order())?;
    equal("cell order", &given.cell_order, &schema.cell_order())?;
    equal("capacity", &given.capacity.unwrap_or(10_000), &schema.capacity())?;
    equal("duplicates", &given.allows_dups, &schema.allows_duplicates())?;
    for (what, given, ours) in [
        ("coordinates' filters", &given.coords_filters, schema.coords_filters()),
        ("offsets' filters", &given.offsets_filters, schema.offsets_filters()),
        ("validity's filters", &given.validity_filters, schema.validity_filters()),
    ] {
        if let Some(given) = given {
            equal(what, &given.to_bytes(), &pipeline_bytes(ours, array)?)?;
        }
    }
    equal("number of dimensions", &given.dimensions.len(), &schema.dimensions().len())?;
    for (given, ours) in given.dimensions.iter().zip(schema.dimensions()) {
        dimension_facts(given, ours, case, array).map_err(|what| format!("dimension {:?}: {what}", given.name))?;
    }
    let attributes = case.final_attributes();
    equal("number of attributes", &attributes.len(), &schema.attributes().len())?;
    for (given, ours) in attributes.iter().zip(schema.attributes()) {
        attribute_facts(given, ours, case, array).map_err(|what| format!("attribute {:?}: {what}", given.name))?;
    }
    for given in &given.enumerations {
        enumeration_facts(given, array).map_err(|what| format!("enumeration {:?}: {what}", given.name))?;
    }
    let ours = schema.current_domain().map(|domain| domain.0.iter().map(ends).collect::<Vec<_>>());
    let expected = given.current_domain.as_ref().map(|given| {
        given.iter().zip(schema.dimensions()).map(|(given, dimension)| keys(given, dimension)).collect::<Vec<_>>()
    });
    equal("current domain", &expected, &ours)
}

fn pipeline_bytes(pipeline: &FilterPipeline, array: &Array) -> Result<Vec<u8>, String> {
    let mut writer = ByteWriter::new();
    pipeline.write(&mut writer, array.schema().version()).map_err(|error| describe(&error))?;
    Ok(writer.into_bytes())
}

fn dimension_facts(given: &DimensionSpec, ours: &Dimension, case: &Case, array: &Array) -> Result<(), String> {
    equal("name", &given.name.as_str(), &ours.name())?;
    equal("datatype", &given.datatype, &ours.datatype())?;
    let bytes = |scalar: Scalar| Bytes(scalar.to_le_bytes().to_vec());
    equal("domain", &given.domain, &ours.domain().map(|(low, high)| (bytes(low), bytes(high))))?;
    // The library fills in missing extents, unless the Hilbert order is set first.
    if given.extent.is_some() || given.domain.is_none() {
        equal("extent", &given.extent, &ours.tile_extent().map(bytes))?;
    }
    // Schema evolution stores the inherited filters in the dimension.
    if case.evolutions().next().is_some() && given.filters.filters.is_empty() {
        return Ok(());
    }
    equal("filters", &given.filters.to_bytes(), &pipeline_bytes(ours.own_filters(), array)?)
}

fn attribute_facts(given: &AttributeSpec, ours: &Attribute, case: &Case, array: &Array) -> Result<(), String> {
    equal("name", &given.name.as_str(), &ours.name())?;
    equal("datatype", &given.datatype, &ours.datatype())?;
    equal("values per cell", &given.cell_val_num, &ours.cell_val_num().fixed())?;
    equal("nullable", &given.nullable, &ours.is_nullable())?;
    equal("enumeration", &given.enumeration.as_deref(), &ours.enumeration())?;
    if let Some((fill, valid)) = &given.fill {
        equal("fill value", &fill.0, &ours.fill_value().to_vec())?;
        equal("validity of the fill value", &(*valid && given.nullable), &ours.fill_valid())?;
    }
    equal("filters", &given.filters.to_bytes_in(extents(case)), &pipeline_bytes(ours.filters(), array)?)
}

/// Returns the tile extents of images: those of the first two dimensions.
fn extents(case: &Case) -> [u16; 2] {
    let mut extents = case.array.dimensions.iter().map(|dimension| {
        let bytes = dimension.extent.as_ref().map_or(&[][..], |bytes| bytes);
        let byte = |index: usize| bytes.get(index).copied().unwrap_or(0);
        u16::from_le_bytes([byte(0), byte(1)])
    });
    [(); 2].map(|()| extents.next().unwrap_or(0))
}

fn enumeration_facts(given: &EnumerationSpec, array: &Array) -> Result<(), String> {
    let ours = array.enumeration(&given.name).map_err(|error| describe(&error))?;
    equal("datatype", &given.datatype, &ours.datatype())?;
    equal("ordered", &given.ordered, &ours.is_ordered())?;
    equal("values", &given.values.0, &ours.data().to_vec())?;
    if let Some(offsets) = &given.offsets {
        equal("offsets", offsets, &ours.offsets().to_vec())?;
    }
    Ok(())
}

type Ends = (Vec<u8>, Bound<Vec<u8>>);

/// Returns the ends of a range as comparable bytes: keys of numbers, or strings.
fn ends(range: &DimRange) -> Ends {
    match range {
        DimRange::Fixed { lo, hi } => (lo.to_le_bytes().to_vec(), Bound::Included(hi.to_le_bytes().to_vec())),
        DimRange::Var { lo, hi } => (lo.clone(), hi.clone()),
    }
}

fn keys((low, high): &(Bytes, Bytes), dimension: &Dimension) -> Ends {
    let key = |bytes: &Bytes| match Scalar::from_le_bytes(dimension.physical(), bytes) {
        Some(scalar) if !dimension.is_var() => scalar.key().to_le_bytes().to_vec(),
        _ => bytes.to_vec(),
    };
    (key(low), Bound::Included(key(high)))
}

/// Compares the fragment lists of the library and tdb.
///
/// # Errors
/// Returns the first difference.
pub fn compare_fragments(theirs: &[FragmentSummary], array: &Array) -> Result<(), String> {
    let fragments = array.fragments().map_err(|error| error.to_string())?;
    let mut expected: Vec<String> = theirs.iter().map(|fragment| fragment.name.clone()).collect();
    let mut got: Vec<String> = fragments.iter().map(|fragment| fragment.name().to_string()).collect();
    expected.sort_unstable();
    got.sort_unstable();
    equal("fragments", &expected, &got)?;
    for theirs in theirs {
        let ours = fragments.iter().find(|ours| ours.name().to_string() == theirs.name);
        let Some(ours) = ours else { continue };
        let what = |fact: &str| format!("{fact} of fragment {}", theirs.name);
        equal(&what("density"), &theirs.dense, &ours.footer().header().dense)?;
        let domain = ours.non_empty_domain().map(|domain| domain.0.iter().map(ends).collect::<Vec<_>>());
        let dimensions = array.schema().dimensions();
        let expected = theirs.non_empty_domain.iter().zip(dimensions).map(|(given, dimension)| keys(given, dimension));
        equal(&what("non-empty domain"), &Some(expected.collect()), &domain)?;
        if let Some(mbrs) = theirs.mbrs {
            equal(&what("tiles"), &mbrs, &ours.tile_count())?;
        }
    }
    Ok(())
}
