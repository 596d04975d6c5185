//! Obstacles to a migration.

use tdb_array::tdb_schema::{ArraySchema, Attribute};
use tdb_filters::{Filter, FilterPipeline};
use tdb_job::Obstacle;
use tdb_types::{ByteWriter, DataOrder, Datatype, Feature, FormatVersion, Layout};

/// Returns the obstacles in a schema: features that `version` lacks, labels outside of the array,
/// and filters that change the values.
pub(super) fn of_schema(schema: &ArraySchema, version: FormatVersion) -> Vec<Obstacle> {
    let mut all = Vec::new();
    let mut lacks = |is_used: bool, feature: Feature, what: String| {
        if is_used && !version.has(feature) {
            all.push(Obstacle::Feature { what, since: feature.row().since });
        }
    };
    lacks(schema.allows_duplicates(), Feature::AllowsDuplicates, "duplicates".to_owned());
    lacks(schema.cell_order() == Layout::Hilbert, Feature::Validity, "cells in Hilbert order".to_owned());
    let first = schema.dimensions().first().map(tdb_array::tdb_schema::Dimension::datatype);
    for dimension in schema.dimensions() {
        let what = |what: &str| format!("dimension {:?} {what}", dimension.name());
        lacks(dimension.is_var(), Feature::PerDimensionFiles, what("of strings"));
        let is_other = Some(dimension.datatype()) != first;
        lacks(is_other, Feature::PerDimensionFiles, what("with another datatype than the first dimension"));
    }
    for attribute in schema.attributes() {
        let what = |what: &str| format!("attribute {:?} {what}", attribute.name());
        lacks(attribute.is_nullable(), Feature::Validity, what("with nulls"));
        lacks(!has_default_fill(attribute), Feature::FillValue, what("with a custom fill value"));
        lacks(attribute.order() != DataOrder::Unordered, Feature::AttributeOrder, what("with ordered values"));
    }
    for label in schema.labels() {
        lacks(true, Feature::DimensionLabels, format!("dimension label {:?}", label.name));
    }
    for enumeration in schema.enumerations() {
        lacks(true, Feature::Enumerations, format!("enumeration {:?}", enumeration.name));
    }
    lacks(schema.current_domain().is_some(), Feature::CurrentDomain, "the current domain".to_owned());
    let outside = schema.labels().iter().filter(|label| label.external || !label.relative);
    all.extend(outside.map(|label| Obstacle::OutsideLabel(label.name.clone())));
    for (name, datatype) in datatypes(schema) {
        if let Some(since) = since(datatype).filter(|since| version.number() < *since) {
            all.push(Obstacle::Feature { what: format!("{name} of datatype {datatype}"), since });
        }
    }
    for (field, filters) in filters(schema) {
        for filter in &filters.filters {
            if let Some(since) = since_of_filter(filter).filter(|since| version.number() < *since) {
                all.push(Obstacle::Feature { what: format!("filter {} of {field}", filter.name()), since });
            }
            if loses(filter) {
                all.push(Obstacle::Loses { field: field.clone(), filter: filter.name().to_owned() });
            }
        }
    }
    for (name, filters) in filters(schema) {
        if let Err(error) = filters.write(&mut ByteWriter::new(), version) {
            all.push(Obstacle::Filter { field: name, why: error.to_string() });
        }
    }
    all
}

/// Returns an obstacle if `version` does not support the metadata entry.
pub(super) fn of_metadata(key: &[u8], datatype: Datatype, version: FormatVersion) -> Option<Obstacle> {
    if !version.has(Feature::MetadataFolder) {
        return Some(Obstacle::Metadata);
    }
    let since = since(datatype).filter(|since| version.number() < *since)?;
    let what = format!("metadata {:?} of datatype {datatype}", String::from_utf8_lossy(key));
    Some(Obstacle::Feature { what, since })
}

fn has_default_fill(attribute: &Attribute) -> bool {
    let mut expected = attribute.datatype().default_fill().into_iter().cycle();
    !attribute.fill_valid() && attribute.fill_pattern().iter().all(|byte| expected.next() == Some(*byte))
}

fn datatypes(schema: &ArraySchema) -> impl Iterator<Item = (String, Datatype)> {
    let dimensions =
        schema.dimensions().iter().map(|field| (format!("dimension {:?}", field.name()), field.datatype()));
    let attributes =
        schema.attributes().iter().map(|field| (format!("attribute {:?}", field.name()), field.datatype()));
    dimensions.chain(attributes)
}

/// Returns the first format version whose releases all support a datatype. Returns `None` if the
/// releases of all format versions do.
fn since(datatype: Datatype) -> Option<u32> {
    Some(match datatype {
        // Release 1.5 treats datetimes as zero-size values and divides by the size.
        _ if datatype.is_datetime() => 3,
        _ if datatype.is_time() => 9,
        Datatype::Blob => 11,
        Datatype::Bool => 14,
        Datatype::GeomWkb | Datatype::GeomWkt => 21,
        _ => return None,
    })
}

/// Returns the first format version whose releases all support a filter. Returns `None` if the
/// releases of all format versions do, or if the filter itself checks the version.
fn since_of_filter(filter: &Filter) -> Option<u32> {
    Some(match filter {
        Filter::Md5 | Filter::Sha256 => 5,
        Filter::Dictionary { .. } => 13,
        Filter::FloatScale { .. } => 15,
        Filter::Xor | Filter::WebP(_) => 16,
        _ => return None,
    })
}

/// Returns `true` if filtering a second time may change the values again.
fn loses(filter: &Filter) -> bool {
    match filter {
        Filter::FloatScale { .. } => true,
        Filter::WebP(options) => !options.lossless,
        _ => false,
    }
}

/// Returns the non-empty filter pipelines with a description of the owner, except the validity
/// filters.
fn filters(schema: &ArraySchema) -> impl Iterator<Item = (String, &FilterPipeline)> {
    let own = |filters: &&FilterPipeline| !filters.filters.is_empty();
    let dimensions =
        schema.dimensions().iter().map(|field| (format!("dimension {:?}", field.name()), field.own_filters()));
    let attributes = schema.attributes().iter().map(|field| (format!("attribute {:?}", field.name()), field.filters()));
    let shared = [("coordinates", schema.coords_filters()), ("offsets", schema.offsets_filters())];
    let shared = shared.into_iter().map(|(name, filters)| (name.to_owned(), filters));
    dimensions.chain(attributes).chain(shared).filter(move |(_, filters)| own(filters))
}
