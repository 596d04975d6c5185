//! Mutations to invalid or nearly invalid schemas.

use tdb_cases::random::Random;
use tdb_cases::scalars::{float_bytes, integer_bytes, type_limits};
use tdb_reference::model::{ArraySpec, Bytes, FilterSpec, LabelSpec, Pipeline};
use tdb_types::{ArrayType, DataOrder, Datatype, Layout};

/// Mutates a property of the schema that is subject to rules. Returns a name of the mutation.
pub(super) fn mutate(spec: &mut ArraySpec, random: &mut Random) -> &'static str {
    match random.below(26) {
        0..=7 => domain(spec, random),
        8..=11 => filters(spec, random),
        12..=15 => labels(spec, random),
        16..=20 => attributes(spec, random),
        21 => {
            spec.cell_order = Layout::Hilbert;
            "hilbert order"
        }
        22 => {
            spec.allows_dups = true;
            "duplicates"
        }
        23 => {
            spec.capacity = Some(0);
            "capacity 0"
        }
        24 => {
            spec.dimensions.truncate(random.below(2));
            spec.current_domain = None;
            "fewer dimensions"
        }
        _ => {
            spec.array_type = match spec.array_type {
                ArrayType::Dense => ArrayType::Sparse,
                ArrayType::Sparse => ArrayType::Dense,
            };
            "the other type of array"
        }
    }
}

/// Sets bounds and extents near the limits of the datatype.
fn domain(spec: &mut ArraySpec, random: &mut Random) -> &'static str {
    let index = random.below(spec.dimensions.len());
    let physical = spec.dimensions[index].datatype.physical();
    if spec.dimensions[index].domain.is_none() || physical.is_float() {
        return floats(spec, index, random);
    }
    let (least, most) = type_limits(physical);
    let near = |random: &mut Random, value: i128| (value + random.integer(-3, 3)).clamp(least, most);
    let (low, high) = (near(random, least), near(random, most));
    let bounds = match random.below(6) {
        0 => (low, high),
        1 => (near(random, 0), high),
        2 => (least, most),
        3 => (high - random.integer(0, 20), high),
        4 => (low, low + random.integer(0, 20)),
        _ => (high, low),
    };
    let span = (bounds.1 - bounds.0 + 1).max(1);
    let extent = match random.below(7) {
        0 => None,
        1 => Some(0),
        2 => Some(1),
        3 => Some(span),
        4 => Some(span + 1),
        5 => Some(random.integer(1, span)),
        _ => Some(-1),
    };
    spec.current_domain = None;
    let dimension = &mut spec.dimensions[index];
    dimension.domain = Some((integer_bytes(physical, bounds.0), integer_bytes(physical, bounds.1)));
    dimension.extent = extent.map(|extent| integer_bytes(physical, extent));
    "bounds at the edges"
}

fn floats(spec: &mut ArraySpec, index: usize, random: &mut Random) -> &'static str {
    let dimension = &mut spec.dimensions[index];
    let values = [f64::INFINITY, -1.0, 0.0, 0.5, 1.0, 2.0, 3.5, 1e30, f64::from(f32::MAX)];
    let value = |random: &mut Random| float_bytes(dimension.datatype, *random.pick(&values));
    if dimension.domain.is_none() {
        spec.array_type = ArrayType::Dense;
        return "dense strings";
    }
    dimension.domain = Some((value(random), value(random)));
    dimension.extent = Some(value(random)).filter(|_| random.percent(80));
    spec.current_domain = None;
    "bounds of floats"
}

fn filters(spec: &mut ArraySpec, random: &mut Random) -> &'static str {
    let choices = [
        FilterSpec::Rle,
        FilterSpec::Dictionary,
        FilterSpec::ZSTD,
        FilterSpec::DOUBLE_DELTA,
        FilterSpec::DELTA,
        FilterSpec::BIT_WIDTH_REDUCTION,
        FilterSpec::POSITIVE_DELTA,
        FilterSpec::Byteshuffle,
        FilterSpec::Bitshuffle,
        FilterSpec::Xor,
        FilterSpec::ScaleFloat { factor: 1.0, offset: 0.0, byte_width: 4 },
        FilterSpec::ChecksumMd5,
    ];
    let count = random.between(1, 3);
    let pipeline = Pipeline::from((0..count).map(|_| random.pick(&choices).clone()).collect::<Vec<_>>());
    match random.below(5) {
        0 => spec.coords_filters = Some(pipeline),
        1 => spec.offsets_filters = Some(pipeline),
        2 => spec.validity_filters = Some(pipeline),
        3 if !spec.attributes.is_empty() => {
            let index = random.below(spec.attributes.len());
            spec.attributes[index].filters = pipeline;
        }
        _ => {
            let index = random.below(spec.dimensions.len());
            spec.dimensions[index].filters = pipeline;
        }
    }
    "any filters"
}

fn labels(spec: &mut ArraySpec, random: &mut Random) -> &'static str {
    for index in 0..random.between(1, 2) {
        let names = ["l", "l2", spec.dimensions[0].name.as_str(), "__l"];
        let name = if random.percent(75) { names[index] } else { names[random.below(names.len())] };
        let common = [Datatype::Float64, Datatype::StringAscii, Datatype::Int32, Datatype::DatetimeDay];
        let datatype = if random.percent(80) { *random.pick(&common) } else { *random.pick(Datatype::ALL) };
        let order =
            *random.pick(&[DataOrder::Increasing, DataOrder::Decreasing, DataOrder::Increasing, DataOrder::Unordered]);
        let filters = random.percent(40).then(|| Pipeline::from([FilterSpec::ZSTD]));
        let dimension = random.below(spec.dimensions.len()) as u32 + u32::from(random.percent(5));
        spec.labels.push(LabelSpec { dimension, name: name.to_owned(), order, datatype, filters });
    }
    "labels"
}

fn attributes(spec: &mut ArraySpec, random: &mut Random) -> &'static str {
    if spec.attributes.is_empty() {
        spec.array_type = ArrayType::Dense;
        return "dense without attributes";
    }
    let index = random.below(spec.attributes.len());
    let (first, dimension) = (spec.attributes[0].name.clone(), spec.dimensions[0].name.clone());
    let attribute = &mut spec.attributes[index];
    match random.below(6) {
        0 => {
            attribute.name = random.pick(&["__x", "__coords", "", "a b", "é", "_"]).to_string();
            "an odd name"
        }
        1 => {
            attribute.name = if random.percent(50) { first } else { dimension };
            "a name twice"
        }
        2 => {
            attribute.datatype = *random.pick(Datatype::ALL);
            if attribute.datatype == Datatype::Any {
                // The library accepts any number of values per cell for this type, and forgets it.
                attribute.cell_val_num = None;
            }
            attribute.fill = None;
            "another datatype"
        }
        3 => {
            attribute.cell_val_num = *random.pick(&[None, Some(1), Some(2)]);
            attribute.fill = None;
            "another number of values"
        }
        4 => {
            let length = random.between(1, 9);
            attribute.fill = Some((Bytes(vec![1; length]), random.percent(50)));
            "another fill value"
        }
        _ => {
            attribute.enumeration = Some((*random.pick(&["labels", "none"])).to_owned());
            "an enumeration"
        }
    }
}
