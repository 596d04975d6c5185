//! Random array schemas.

use tdb_types::{ArrayType, Datatype, Layout};

use super::super::random::Random;
use super::axis::{self, Axis};
use super::cells;
use super::filters::{self, Purpose};
use super::text;
use crate::scalars::integer_bytes;
use tdb_reference::model::{
    ArraySpec, AttributeSpec, Bytes, Column, EnumerationSpec, FilterSpec, Pipeline, WebpFormat, bytes_of, var_column,
};

/// Generates a schema, with the axes of its dimensions.
pub fn array(random: &mut Random) -> (ArraySpec, Vec<Axis>) {
    let dense = random.percent(40);
    let mut axes = if dense { dense_axes(random) } else { sparse_axes(random) };
    let specs = axes.iter().map(|axis| axis.spec.clone());
    let mut spec = if dense { ArraySpec::dense(specs, []) } else { ArraySpec::sparse(specs, []) };
    spec.tile_order = *random.pick(&[Layout::RowMajor, Layout::ColMajor]);
    spec.cell_order = *random.pick(&[Layout::RowMajor, Layout::ColMajor]);
    if !dense {
        sparse_settings(random, &mut spec, &mut axes);
    }
    if random.percent(30) {
        spec.coords_filters = Some(filters::coordinate_pipeline(random));
    }
    if random.percent(50) {
        spec.offsets_filters = Some(filters::pipeline(random, Purpose::Offsets));
    }
    if random.percent(50) {
        spec.validity_filters = Some(filters::pipeline(random, Purpose::Validity));
    }
    if random.percent(20) {
        spec.enumerations.push(enumeration(random, "labels"));
    }
    let attributes = if dense { random.between(1, 4) } else { random.between(0, 4) };
    for index in 0..attributes {
        let attribute = attribute(random, &spec, index);
        spec.attributes.push(attribute);
    }
    if random.percent(15) {
        current_domain(random, &mut spec, &mut axes);
    }
    if dense && axes.len() == 2 && INTEGERS.contains(&axes[1].spec.datatype) && random.percent(40) {
        let stays = |attribute: &AttributeSpec| !axes.iter().any(Axis::is_beyond) || keeps_pixels(attribute);
        spec.attributes.extend(image(random, &axes[1]).filter(stays));
    }
    (spec, axes)
}

/// Generates an attribute with images, if rows of tiles consist of complete pixels. The attribute
/// must be the last one.
fn image(random: &mut Random, x: &Axis) -> Option<AttributeSpec> {
    let formats = [(3, [WebpFormat::Rgb, WebpFormat::Bgr]), (4, [WebpFormat::Rgba, WebpFormat::Bgra])];
    let fitting: Vec<WebpFormat> =
        formats.into_iter().filter(|(depth, _)| x.extent % depth == 0).flat_map(|(_, formats)| formats).collect();
    if fitting.is_empty() {
        return None;
    }
    let format = *random.pick(&fitting);
    let (lossless, quality) = (random.percent(50), *random.pick(&[0.0, 20.0, 75.0, 100.0]));
    let filters = Pipeline::from([FilterSpec::Webp { quality, format, lossless }]);
    let (name, datatype) = ("image".to_owned(), Datatype::UInt8);
    let (nullable, enumeration) = (random.percent(20), None);
    Some(AttributeSpec { name, datatype, cell_val_num: Some(1), nullable, fill: None, filters, enumeration })
}

/// `true` if images are stored without changes. For an array whose last tile ends at or beyond the
/// end of the datatype, another array provides the expected cells.
fn keeps_pixels(image: &AttributeSpec) -> bool {
    image.filters.filters.iter().all(|filter| match filter {
        FilterSpec::Webp { lossless, format, .. } => *lossless && matches!(format, WebpFormat::Rgb | WebpFormat::Bgr),
        _ => true,
    })
}

/// `true` if an attribute contains images.
pub fn has_images(array: &ArraySpec) -> bool {
    let mut filters = array.attributes.iter().flat_map(|attribute| &attribute.filters.filters);
    filters.any(|filter| matches!(filter, FilterSpec::Webp { .. }))
}

fn name(random: &mut Random, plain: &str, index: usize) -> String {
    match random.below(12) {
        0 => format!("{plain} {index} /%ü"),
        1 => format!("{plain}.{index}"),
        _ => format!("{plain}{index}"),
    }
}

const INTEGERS: [Datatype; 8] = [
    Datatype::Int8,
    Datatype::UInt8,
    Datatype::Int16,
    Datatype::UInt16,
    Datatype::Int32,
    Datatype::UInt32,
    Datatype::Int64,
    Datatype::UInt64,
];

fn dense_axes(random: &mut Random) -> Vec<Axis> {
    let count = random.weighted(&[30, 40, 20, 10]) + 1;
    let datatype = dimension_type(random, true);
    let most = match (count, random.below(30)) {
        (1, 0) => 20_000,
        (1, _) => 400,
        (2, 0) => 150,
        (2, _) => 30,
        (3, _) => 9,
        _ => 5,
    };
    (0..count)
        .map(|index| {
            let name = name(random, "d", index);
            axis::dense(random, name, datatype, most)
        })
        .collect()
}

fn sparse_axes(random: &mut Random) -> Vec<Axis> {
    let count = random.weighted(&[30, 40, 20, 10]) + 1;
    (0..count)
        .map(|index| {
            let (name, datatype) = (name(random, "d", index), dimension_type(random, false));
            axis::sparse(random, name, datatype, count == 1)
        })
        .collect()
}

fn dimension_type(random: &mut Random, dense: bool) -> Datatype {
    let dates: Vec<Datatype> =
        Datatype::ALL.iter().copied().filter(|datatype| datatype.is_datetime() || datatype.is_time()).collect();
    match random.below(10) {
        0 | 1 => *random.pick(&dates),
        2 if !dense => Datatype::Float32,
        3 if !dense => Datatype::Float64,
        4..=6 if !dense => Datatype::StringAscii,
        _ => *random.pick(&INTEGERS),
    }
}

fn sparse_settings(random: &mut Random, spec: &mut ArraySpec, axes: &mut [Axis]) {
    spec.allows_dups = random.percent(40);
    spec.capacity = match random.below(4) {
        0 => None,
        1 => Some(random.between(1, 4) as u64),
        _ => Some(random.between(1, 60) as u64),
    };
    if random.percent(25) {
        spec.cell_order = Layout::Hilbert;
        // In Hilbert order coordinates do not ascend, and extents are optional.
        for (axis, dimension) in axes.iter_mut().zip(&mut spec.dimensions) {
            if filters::needs_order(&axis.spec.filters) {
                axis.spec.filters = Pipeline::default();
            }
            if random.percent(50) {
                axis.spec.extent = None;
            }
            *dimension = axis.spec.clone();
        }
    }
}

/// Generates an attribute that the array does not have yet.
pub fn attribute(random: &mut Random, spec: &ArraySpec, index: usize) -> AttributeSpec {
    let dense = spec.array_type == ArrayType::Dense;
    let anonymous = index == 0 && random.percent(6);
    let name = if anonymous { String::new() } else { name(random, "a", index) };
    let enumerated = !spec.enumerations.is_empty() && random.percent(40);
    let datatype = if enumerated { *random.pick(&INTEGERS) } else { attribute_type(random) };
    let cell_val_num = match random.below(10) {
        _ if datatype == Datatype::Any => None,
        _ if enumerated => Some(1),
        0 => Some(2),
        1 => Some(u32::try_from(random.between(3, 20)).unwrap_or(3)),
        2..=5 if datatype.is_string() => None,
        2 | 3 => None,
        _ => Some(1),
    };
    let enumeration = enumerated.then(|| spec.enumerations[0].name.clone());
    let (nullable, fill, filters) = (random.percent(35), None, Pipeline::default());
    let mut attribute = AttributeSpec { name, datatype, cell_val_num, nullable, fill, filters, enumeration };
    if random.percent(65) {
        let constant = !dense && random.percent(10);
        let var = cell_val_num.is_none();
        attribute.filters = filters::pipeline(random, Purpose::Values { datatype, var, ascending: false, constant });
    }
    if random.percent(30) {
        let number = cell_val_num.unwrap_or(u32::try_from(random.between(1, 3)).unwrap_or(1));
        let mut fill = vec![0; number as usize * datatype.size()];
        cells::fill_value(random, &attribute, &mut fill);
        attribute.fill = Some((Bytes(fill), nullable && random.percent(50)));
    }
    attribute
}

fn attribute_type(random: &mut Random) -> Datatype {
    match random.below(5) {
        0 => *random.pick(&INTEGERS),
        1 => *random.pick(&[Datatype::Float32, Datatype::Float64]),
        2 => *random.pick(&[Datatype::StringAscii, Datatype::StringUtf8]),
        _ => *random.pick(Datatype::ALL),
    }
}

/// Generates an enumeration of strings or integers.
pub fn enumeration(random: &mut Random, name: &str) -> EnumerationSpec {
    let count = random.below(6);
    let ordered = random.percent(30);
    if random.percent(40) {
        let (name, datatype) = (name.to_owned(), Datatype::UInt32);
        let values = bytes_of((0..count).map(|value| value as u32 * 7));
        return EnumerationSpec { name, datatype, cell_val_num: Some(1), ordered, values, offsets: None };
    }
    let mut strings = text::strings(random, count);
    strings.sort_by(|a, b| a.0.cmp(&b.0));
    strings.dedup();
    let Column { name, values, mut offsets, .. } = var_column(name, strings.iter().map(|string| &string[..]));
    offsets.iter_mut().for_each(|offsets| offsets.truncate(strings.len()));
    EnumerationSpec { name, datatype: Datatype::StringUtf8, cell_val_num: None, ordered, values, offsets }
}

/// Restricts all axes to parts of their domains.
fn current_domain(random: &mut Random, spec: &mut ArraySpec, axes: &mut [Axis]) {
    let ranges = axes.iter_mut().map(|axis| {
        let datatype = axis.spec.datatype;
        match &axis.spec.domain {
            None => (Bytes::default(), Bytes(vec![b'~'; 41])),
            Some(domain) if datatype.is_float() => domain.clone(),
            Some(_) => {
                let low = random.integer(axis.low, axis.high);
                let high = random.integer(low, axis.high);
                (axis.low, axis.high, axis.written) = (low, high, axis.written.clamp(low, high));
                (integer_bytes(datatype.physical(), low), integer_bytes(datatype.physical(), high))
            }
        }
    });
    spec.current_domain = Some(ranges.collect());
}
