//! Reduces cases to the features of an older release.

mod order;
mod steps;

pub use order::orders_otherwise;
use steps::names;

use tdb_types::{ArrayType, Datatype, Layout, PhysicalType};

use super::case::{Case, Step};
use super::overhang;
use crate::scalars::integer_of;
use tdb_reference::model::{AttributeSpec, DimensionSpec, FilterSpec, Pipeline};
use tdb_reference::{Ability, Release};

/// Removes all features from a case that the release lacks. Returns `None` if too little would
/// remain.
pub fn fit(mut case: Case, release: Release) -> Option<Case> {
    let attributes = case.all_attributes();
    let datatypes = attributes.iter().map(|attribute| attribute.datatype);
    let dimensions = case.array.dimensions.iter().map(|dimension| dimension.datatype);
    if datatypes.chain(dimensions).any(|datatype| !knows(release, datatype)) || !can_have(&case, release) {
        return None;
    }
    // Release 2.25.0 supports current domains only in sparse arrays.
    let dense = case.array.array_type == ArrayType::Dense;
    if !release.can(Ability::CurrentDomains) || (dense && release.library == "2.25.0") {
        case.array.current_domain = None;
    }
    let enumerated = names(&attributes, |attribute| attribute.enumeration.is_some());
    if !release.can(Ability::Enumerations) {
        case.array.enumerations.clear();
    }
    if !release.can(Ability::ValidityFilters) {
        case.array.validity_filters = None;
    }
    change_attributes(&mut case, |attribute| limit_attribute(attribute, release));
    let spec = &mut case.array;
    for dimension in &mut spec.dimensions {
        let var = dimension.domain.is_none();
        limit_pipeline(&mut dimension.filters, dimension.datatype, var, release);
        if !release.can(Ability::OwnDimensions) {
            dimension.filters = Pipeline::default();
        }
    }
    // Coordinates of all datatypes share the first of these pipelines.
    for pipeline in
        [&mut spec.coords_filters, &mut spec.offsets_filters, &mut spec.validity_filters].into_iter().flatten()
    {
        limit_pipeline(pipeline, Datatype::UInt64, false, release);
    }
    // Up to 2.10, dense writes passed the attribute's datatype to the validity filters, but reads
    // never do.
    if let Some(pipeline) = &mut spec.validity_filters
        && !release.can(Ability::CellTimestamps)
        && spec.array_type == ArrayType::Dense
    {
        pipeline.filters.retain(|filter| !sees_datatype(filter));
    }
    steps::limit(&mut case, release, &enumerated);
    if !release.can(Ability::OwnDimensions) {
        name_anonymous(&mut case);
    }
    if !release.can(Ability::WriteTimes) {
        case.questions.iter_mut().for_each(|question| question.query.timestamps = None);
    }
    Some(case)
}

fn change_attributes(case: &mut Case, mut change: impl FnMut(&mut AttributeSpec)) {
    case.array.attributes.iter_mut().for_each(&mut change);
    for step in &mut case.steps {
        if let Step::Evolve(evolution) = step {
            evolution.add_attributes.iter_mut().for_each(&mut change);
        }
    }
}

/// `true` if all fields have the same names in the release and in later releases.
pub fn keeps_names(case: &Case, release: Release) -> bool {
    release.can(Ability::OwnDimensions) || case.array.attributes.iter().all(|spec| !spec.name.is_empty())
}

/// `true` if the release can write the array despite tiles that end at or beyond the end of the
/// datatype. No release is reliable with cells in these tiles. Before 2.10 no release is reliable
/// with other cells either if the domain starts below zero.
pub fn can_make_tiles(case: &Case, release: Release) -> bool {
    let negative = case.array.dimensions.iter().any(is_negative) && release.numbers() < [2, 10, 0];
    !overhang::is_beyond(&case.array) || !(negative || overhang::is_written(case))
}

/// `true` if release 2.30.0 can read the footers after consolidation. Format 11 is not readable.
pub fn footers_can_be_joined(case: &Case, release: Release) -> bool {
    let joins = case.steps.iter().any(|step| matches!(step, Step::Consolidate("fragment_meta")));
    release.format != 11 || !joins
}

/// Renames the anonymous attribute in questions and writes. Releases before 2.0 store the attribute
/// as `__attr`, and all later releases show this name.
fn name_anonymous(case: &mut Case) {
    let name = |field: &mut String| {
        if field.is_empty() {
            "__attr".clone_into(field);
        }
    };
    case.questions.iter_mut().flat_map(|question| &mut question.query.fields).for_each(name);
    case.writes_mut().flat_map(|write| &mut write.cells).for_each(|column| name(&mut column.name));
}

/// `true` if the release supports the datatype.
pub fn knows(release: Release, datatype: Datatype) -> bool {
    match datatype {
        Datatype::Bool => release.can(Ability::Booleans),
        Datatype::Blob => release.can(Ability::Blobs),
        Datatype::GeomWkb | Datatype::GeomWkt => release.can(Ability::Geometries),
        _ if datatype.is_datetime() => release.can(Ability::Dates),
        _ if datatype.is_time() => release.can(Ability::Times),
        _ => true,
    }
}

/// `true` if the release supports the array's dimensions, orders and names.
fn can_have(case: &Case, release: Release) -> bool {
    let spec = &case.array;
    let dense = spec.array_type == ArrayType::Dense;
    let is_usual = |own: &DimensionSpec| own.domain.is_some() && own.datatype == spec.dimensions[0].datatype;
    let of_one_type = spec.dimensions.iter().all(is_usual);
    let combined = release.can(Ability::OwnDimensions) || (of_one_type && !spec.attributes.is_empty());
    let ordered = spec.cell_order != Layout::Hilbert || release.can(Ability::Hilbert);
    let duplicates = !spec.allows_dups || release.can(Ability::Duplicates);
    let evolves = case.evolutions().next().is_none() || release.can(Ability::Evolution);
    let names = spec.dimension_names().chain(spec.attributes.iter().map(|attribute| attribute.name.as_str()));
    // Until 2.2.2 the names of fields were used as file names.
    let named = release.numbers() >= [2, 2, 3] || names.into_iter().all(|name| !name.contains('/'));
    // Releases 2.3 to 2.9 refuse writes to negative coordinates of 8 or 16 bits, or crash.
    let negative = dense && matches!(spec.dimensions[0].datatype, Datatype::Int8 | Datatype::Int16);
    let damaged = negative && release.numbers() >= [2, 3, 0] && release.numbers() < [2, 10, 0];
    let extended = release.can(Ability::OwnDimensions) || spec.dimensions.iter().all(is_taken_by_the_first);
    combined && ordered && duplicates && evolves && named && !damaged && extended
}

/// `true` if releases before 2.0 accept the tile extent. These releases compute a wrong end of the
/// last tile if the domain starts below zero.
fn is_taken_by_the_first(dimension: &DimensionSpec) -> bool {
    let physical = dimension.datatype.physical();
    let (Some((low, high)), Some(extent), false) = (&dimension.domain, &dimension.extent, physical.is_float()) else {
        return true;
    };
    let integer = |bytes: &[u8]| integer_of(physical, bytes);
    let (low, high, extent) = (integer(low), integer(high), integer(extent));
    // These releases count the coordinates of the domain in the datatype, with the integer
    // promotion of C++. They convert an overflow to a 64-bit length.
    let overflow = if physical == PhysicalType::I32 { (1_i128 << 64) - (1 << 32) } else { 0 };
    let cells = high - low + 1;
    let counted = if cells > i128::from(i32::MAX) { cells + overflow } else { cells };
    low >= 0 || counted % extent == 0
}

fn is_negative(dimension: &DimensionSpec) -> bool {
    let physical = dimension.datatype.physical();
    !physical.is_float() && dimension.domain.as_ref().is_some_and(|(low, _)| integer_of(physical, low) < 0)
}

/// `true` if the filter depends on the datatype.
fn sees_datatype(filter: &FilterSpec) -> bool {
    !matches!(
        filter,
        FilterSpec::None
            | FilterSpec::Gzip { .. }
            | FilterSpec::Zstd { .. }
            | FilterSpec::Lz4 { .. }
            | FilterSpec::Bzip2 { .. }
            | FilterSpec::Rle
            | FilterSpec::ChecksumMd5
            | FilterSpec::ChecksumSha256
    )
}

fn limit_attribute(attribute: &mut AttributeSpec, release: Release) {
    if !release.can(Ability::Enumerations) {
        attribute.enumeration = None;
    }
    if !can_have_nulls(release) {
        attribute.nullable = false;
        attribute.fill = attribute.fill.take().map(|(value, _)| (value, false));
    }
    if !release.can(Ability::FillValues) {
        attribute.fill = None;
    }
    limit_pipeline(&mut attribute.filters, attribute.datatype, attribute.cell_val_num.is_none(), release);
}

/// `true` if the release can write nulls. Release 2.2.2 writes validity tiles of the wrong size.
fn can_have_nulls(release: Release) -> bool {
    release.can(Ability::Nullable) && release.library != "2.2.2"
}

/// Removes filters from a pipeline that the release does not support.
fn limit_pipeline(pipeline: &mut Pipeline, datatype: Datatype, var: bool, release: Release) {
    if !release.can(Ability::Unchunked) {
        pipeline.max_chunk_size = None;
    }
    let strings = var && matches!(datatype, Datatype::StringAscii | Datatype::StringUtf8);
    let coded = !strings || release.can(Ability::Utf8RunLengths) || datatype == Datatype::StringAscii;
    let last = pipeline.filters.len().saturating_sub(1);
    let mut index = 0;
    pipeline.filters.retain(|filter| {
        index += 1;
        // Until 2.16 later filters used the field's datatype, and 2.30.0 does not handle this.
        let staged = release.can(Ability::DeltaReinterpreted) || index > last;
        match filter {
            FilterSpec::ChecksumMd5 | FilterSpec::ChecksumSha256 => release.can(Ability::Checksums),
            FilterSpec::Rle => !var || (release.can(Ability::RleStrings) && coded),
            FilterSpec::Dictionary => release.can(Ability::DictionaryStrings) && coded,
            FilterSpec::ScaleFloat { .. } => release.can(Ability::FloatScale) && staged,
            FilterSpec::Xor => release.can(Ability::Xor) && staged,
            FilterSpec::Webp { .. } => release.can(Ability::Webp),
            FilterSpec::Delta { reinterpret } => {
                release.can(Ability::Delta)
                    && staged
                    && (reinterpret.is_none() || release.can(Ability::DeltaReinterpreted))
            }
            FilterSpec::DoubleDelta { reinterpret: Some(_) } => release.can(Ability::DeltaReinterpreted),
            _ => true,
        }
    });
    let whole = datatype.is_integer() || datatype.is_datetime() || datatype.is_time() || datatype.is_bytes();
    let (mut counts, mut is_float) = (whole, datatype.is_float());
    pipeline.filters.retain(|filter| match filter {
        // These filters output integers.
        FilterSpec::ScaleFloat { .. } | FilterSpec::Xor => {
            (counts, is_float) = (true, false);
            true
        }
        FilterSpec::BitWidthReduction { .. } | FilterSpec::PositiveDelta { .. } => counts,
        FilterSpec::Delta { reinterpret: None } | FilterSpec::DoubleDelta { reinterpret: None } => !is_float,
        _ => true,
    });
    let alone = [FilterSpec::Dictionary, FilterSpec::Rle].into_iter().find(|filter| pipeline.filters.contains(filter));
    if let Some(alone) = alone.filter(|_| strings && !release.can(Ability::FiltersBehindDictionaries)) {
        pipeline.filters.retain(|filter| *filter == alone);
    }
}
