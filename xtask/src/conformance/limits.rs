//! Cases that an older release can carry out: those of the newest, with what the release lacks taken away.

use tdb_types::{ArrayType, Datatype, Layout};

use super::case::{Case, Step};
use crate::model::{AttributeSpec, Column, FilterSpec, Pipeline};
use crate::reference::{Ability, Release};

/// The case as far as the release can carry it out; none if too little of it would be left.
pub fn fit(mut case: Case, release: Release) -> Option<Case> {
    let attributes = all_attributes(&case);
    let datatypes = attributes.iter().map(|attribute| attribute.datatype);
    let dimensions = case.array.dimensions.iter().map(|dimension| dimension.datatype);
    if datatypes.chain(dimensions).any(|datatype| !knows(release, datatype)) || !can_have(&case, release) {
        return None;
    }
    if !release.can(Ability::CurrentDomains) {
        case.array.current_domain = None;
    }
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
    // Coordinates of all datatypes go through the first of these.
    for pipeline in
        [&mut spec.coords_filters, &mut spec.offsets_filters, &mut spec.validity_filters].into_iter().flatten()
    {
        limit_pipeline(pipeline, Datatype::UInt64, false, release);
    }
    limit_steps(&mut case, release);
    if !release.can(Ability::WriteTimes) {
        case.questions.iter_mut().for_each(|question| question.query.timestamps = None);
    }
    Some(case)
}

/// Every attribute that the array has at some time.
fn all_attributes(case: &Case) -> Vec<AttributeSpec> {
    let added = case.steps.iter().filter_map(|step| match step {
        Step::Evolve(evolution) => Some(&evolution.add_attributes),
        _ => None,
    });
    case.array.attributes.iter().chain(added.flatten()).cloned().collect()
}

fn change_attributes(case: &mut Case, mut change: impl FnMut(&mut AttributeSpec)) {
    case.array.attributes.iter_mut().for_each(&mut change);
    for step in &mut case.steps {
        if let Step::Evolve(evolution) = step {
            evolution.add_attributes.iter_mut().for_each(&mut change);
        }
    }
}

fn knows(release: Release, datatype: Datatype) -> bool {
    match datatype {
        Datatype::Bool => release.can(Ability::Booleans),
        Datatype::Blob => release.can(Ability::Blobs),
        Datatype::GeomWkb | Datatype::GeomWkt => release.can(Ability::Geometries),
        _ if datatype.is_datetime() => release.can(Ability::Dates),
        _ if datatype.is_time() => release.can(Ability::Times),
        _ => true,
    }
}

/// Whether the release can have an array of that shape.
fn can_have(case: &Case, release: Release) -> bool {
    let spec = &case.array;
    let dense = spec.array_type == ArrayType::Dense;
    let of_one_type = spec
        .dimensions
        .iter()
        .all(|dimension| dimension.domain.is_some() && dimension.datatype == spec.dimensions[0].datatype);
    // Releases 1.6 and 1.7 store an empty range for every tile of dates, so that 2.30.0 finds them in any range.
    let lost = !dense && spec.dimensions[0].datatype.is_datetime();
    let combined = release.can(Ability::OwnDimensions) || (of_one_type && !spec.attributes.is_empty() && !lost);
    let ordered = spec.cell_order != Layout::Hilbert || release.can(Ability::Hilbert);
    let duplicates = !spec.allows_dups || release.can(Ability::Duplicates);
    let evolved = case.steps.iter().any(|step| matches!(step, Step::Evolve(_)));
    let evolves = !evolved || release.can(Ability::Evolution);
    let names = spec.dimension_names().chain(spec.attributes.iter().map(|attribute| attribute.name.as_str()));
    // Fields name files until 2.2.2.
    let named = release.numbers() >= [2, 2, 3] || names.into_iter().all(|name| !name.contains('/'));
    // Releases 2.3 to 2.9 refuse to write over negative coordinates of 16 bits, or crash.
    let negative = dense && spec.dimensions[0].datatype == Datatype::Int16;
    let damaged = negative && release.numbers() >= [2, 3, 0] && release.numbers() < [2, 10, 0];
    combined && ordered && duplicates && evolves && named && !damaged
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

/// Release 2.2.2 writes validity tiles of the wrong size.
fn can_have_nulls(release: Release) -> bool {
    release.can(Ability::Nullable) && release.library != "2.2.2"
}

/// Takes out of a pipeline what the release doesn't have.
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
        // Until 2.16 later filters worked on the field's datatype, which 2.30.0 doesn't know.
        let staged = release.can(Ability::DeltaReinterpreted) || index > last;
        match filter {
            FilterSpec::ChecksumMd5 | FilterSpec::ChecksumSha256 => release.can(Ability::Checksums),
            FilterSpec::Rle => !var || (release.can(Ability::RleStrings) && coded),
            FilterSpec::Dictionary => release.can(Ability::DictionaryStrings) && coded,
            FilterSpec::ScaleFloat { .. } => release.can(Ability::FloatScale) && staged,
            FilterSpec::Webp { .. } => release.can(Ability::Webp),
            FilterSpec::Xor => release.can(Ability::Xor) && staged,
            FilterSpec::Delta { reinterpret } => {
                release.can(Ability::Delta)
                    && staged
                    && (reinterpret.is_none() || release.can(Ability::DeltaReinterpreted))
            }
            FilterSpec::DoubleDelta { reinterpret: Some(_) } => release.can(Ability::DeltaReinterpreted),
            _ => true,
        }
    });
    let has_dictionary = pipeline.filters.contains(&FilterSpec::Dictionary);
    if has_dictionary && !release.can(Ability::FiltersBehindDictionaries) {
        pipeline.filters.retain(|filter| *filter == FilterSpec::Dictionary);
    }
}

fn limit_steps(case: &mut Case, release: Release) {
    let sizes: Vec<(String, usize)> =
        all_attributes(case).into_iter().map(|attribute| (attribute.name, attribute.datatype.size())).collect();
    let nullable: Vec<String> = all_attributes(case)
        .into_iter()
        .filter(|attribute| attribute.nullable)
        .map(|attribute| attribute.name)
        .collect();
    let dense = case.array.array_type == ArrayType::Dense;
    let has_nulls = !nullable.is_empty();
    case.steps.retain(|step| match step {
        Step::Consolidate(mode) | Step::Vacuum(mode) => can_consolidate(release, mode, dense, has_nulls),
        _ => true,
    });
    if !release.can(Ability::Vacuum) {
        case.steps.retain(|step| !matches!(step, Step::Vacuum(_)));
    }
    for step in &mut case.steps {
        let Step::Write(write) = step else { continue };
        if !release.can(Ability::WriteTimes) {
            write.timestamp = None;
        }
        for column in &mut write.cells {
            if !nullable.contains(&column.name) {
                column.validity = None;
            }
            let size = sizes.iter().find(|(name, _)| *name == column.name).map_or(1, |(_, size)| *size);
            if !release.can(Ability::EmptyCells) {
                fill_empty_cells(column, size);
            }
        }
    }
}

fn can_consolidate(release: Release, mode: &str, dense: bool, has_nulls: bool) -> bool {
    match mode {
        // Garbage in variable-size cells that nobody wrote, or a crash, before 2.1; no nulls before 2.3.
        "fragments" => (!dense || release.numbers() >= [2, 1, 0]) && (!has_nulls || release.numbers() >= [2, 3, 0]),
        "fragment_meta" => release.can(Ability::Vacuum),
        // Behind a consolidation of fragments these leave arrays that 2.30.0 doesn't open.
        _ => release.can(Ability::CurrentDomains),
    }
}

/// Puts one value into each empty cell.
fn fill_empty_cells(column: &mut Column, size: usize) {
    let Some(offsets) = &column.offsets else { return };
    let (mut values, mut starts) = (Vec::new(), vec![0]);
    for ends in offsets.windows(2) {
        values.extend_from_slice(&column.values[ends[0] as usize..ends[1] as usize]);
        if ends[0] == ends[1] {
            values.extend(std::iter::repeat_n(b'e', size));
        }
        starts.push(values.len() as u64);
    }
    (column.values, column.offsets) = (values.into(), Some(starts));
}
