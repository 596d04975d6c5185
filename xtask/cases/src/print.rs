//! Cases as readable text.

use std::fmt::Write as _;
use std::ops::Bound;

use tdb_types::{Datatype, Scalar};

use super::case::{Case, Question, Step};
use super::ours::condition_of;
use super::selection::{Form, Interval, Selection};
use tdb_reference::model::{AttributeSpec, Bytes, Column, Pipeline, QuerySpec, WriteSpec};

/// Maximum number of cells to print per write.
const SHOWN_CELLS: usize = 24;

/// Formats a case with one question, or with all questions.
pub fn case(case: &Case, only: Option<usize>) -> String {
    let mut text = array(case);
    for one in &case.steps {
        text.push_str(&step(case, one));
    }
    for (index, asked) in case.questions.iter().enumerate() {
        if only.is_none_or(|only| only == index) {
            text.push_str(&question(case, asked));
        }
    }
    text
}

/// Formats the array of a case, without its steps.
pub fn array(case: &Case) -> String {
    let mut text = String::new();
    let array = &case.array;
    let _ = writeln!(
        text,
        "array {}, tiles {}, cells {}, capacity {:?}{}{}",
        array.array_type.name(),
        array.tile_order.name(),
        array.cell_order.name(),
        array.capacity,
        if array.allows_dups { ", duplicates allowed" } else { "" },
        if case.encrypted { ", encrypted" } else { "" }
    );
    for (what, filters) in [
        ("coordinates", &array.coords_filters),
        ("offsets", &array.offsets_filters),
        ("validity", &array.validity_filters),
    ] {
        if let Some(filters) = filters {
            let _ = writeln!(text, "  filters of {what}{}", pipeline(filters));
        }
    }
    for dimension in &array.dimensions {
        let value = |bytes: &Bytes| bytes_as_text(dimension.datatype, bytes);
        let domain = dimension.domain.as_ref().map_or("any".to_owned(), |ends| range(dimension.datatype, ends));
        let extent = dimension.extent.as_ref().map_or("none".to_owned(), value);
        let (name, datatype) = (&dimension.name, dimension.datatype.name());
        let _ =
            writeln!(text, "  dimension {name:?} {datatype} {domain} extent {extent}{}", pipeline(&dimension.filters));
    }
    for attribute in &array.attributes {
        let _ = writeln!(text, "  attribute {}", attribute_line(attribute));
    }
    for enumeration in &array.enumerations {
        let _ = writeln!(text, "  enumeration {:?} {}", enumeration.name, enumeration.datatype.name());
    }
    if let Some(current) = &array.current_domain {
        let _ = writeln!(text, "  current domain {}", region(case, current));
    }
    text
}

fn attribute_line(attribute: &AttributeSpec) -> String {
    let mut text = format!("{:?} {}", attribute.name, attribute.datatype.name());
    match attribute.cell_val_num {
        None => text.push_str(" var"),
        Some(1) => {}
        Some(number) => drop(write!(text, " x {number}")),
    }
    if attribute.nullable {
        text.push_str(" nullable");
    }
    if let Some((fill, valid)) = &attribute.fill {
        let _ = write!(text, " fill {} valid {valid}", fill.to_hex());
    }
    if let Some(name) = &attribute.enumeration {
        let _ = write!(text, " enumeration {name:?}");
    }
    text + &pipeline(&attribute.filters)
}

fn pipeline(pipeline: &Pipeline) -> String {
    if *pipeline == Pipeline::default() {
        return String::new();
    }
    let filters: Vec<String> = pipeline.filters.iter().map(|filter| format!("{filter:?}")).collect();
    let chunk = pipeline.max_chunk_size.map_or(String::new(), |size| format!(" chunks {size}"));
    format!(" [{}]{chunk}", filters.join(", "))
}

/// Formats a step of a case.
pub fn step(case: &Case, step: &Step) -> String {
    match step {
        Step::Write(write) => write_text(case, write),
        Step::Delete(condition, time) => format!("delete at {time}: {condition:?}\n"),
        Step::Consolidate(mode) => format!("consolidate {mode}\n"),
        Step::Vacuum(mode) => format!("vacuum {mode}\n"),
        Step::Evolve(evolution) => {
            let added = evolution.add_attributes.iter().map(|added| format!("evolve: add {}\n", attribute_line(added)));
            let dropped = evolution.drop_attributes.iter().map(|dropped| format!("evolve: drop {dropped:?}\n"));
            added.chain(dropped).collect()
        }
    }
}

fn write_text(case: &Case, write: &WriteSpec) -> String {
    let mut text = format!("write {} at {:?}", write.layout.name(), write.timestamp);
    if let Some(subarray) = &write.subarray {
        let _ = write!(text, " over {}", region(case, subarray));
    }
    text.push('\n');
    let attributes = case.all_attributes();
    for column in &write.cells {
        let dimension = case.array.dimension(&column.name);
        let attribute = attributes.iter().find(|attribute| attribute.name == column.name);
        let (datatype, number) = match (dimension, attribute) {
            (Some(dimension), _) => (dimension.datatype, Some(1)),
            (None, Some(attribute)) => (attribute.datatype, attribute.cell_val_num),
            (None, None) => (Datatype::UInt8, Some(1)),
        };
        let _ = writeln!(text, "  {:?}: {}", column.name, column_text(column, datatype, number));
    }
    text
}

fn column_text(column: &Column, datatype: Datatype, number: Option<u32>) -> String {
    let size = datatype.size() * number.unwrap_or(1) as usize;
    let cells = column.cells(size);
    let text = |(index, cell): (usize, &&[u8])| {
        let value = bytes_as_text(datatype, cell);
        if column.is_valid(index) { value } else { format!("null({value})") }
    };
    let shown: Vec<String> = cells.iter().enumerate().take(SHOWN_CELLS).map(text).collect();
    let more = cells.len().saturating_sub(SHOWN_CELLS);
    shown.join(" ") + &if more > 0 { format!(" … {more} more") } else { String::new() }
}

/// Formats a question.
pub fn question(case: &Case, question: &Question) -> String {
    let QuerySpec { fields, ranges, layout, timestamps, condition } = &question.query;
    let mut text = format!("read {} ", layout.name());
    match &fields[..] {
        [] => text.push_str("all fields"),
        fields => drop(write!(text, "{fields:?}")),
    }
    if let Some((start, end)) = timestamps {
        let _ = write!(text, " between {start} and {end}");
    }
    let _ =
        writeln!(text, "; budget {:?}, then {}; {} threads", question.budget, question.tiny_budget, question.threads);
    for ranges in ranges {
        let dimension = case.array.dimension(&ranges.dimension);
        let datatype = dimension.map_or(Datatype::UInt8, |dimension| dimension.datatype);
        let list: Vec<String> = ranges.ranges.iter().map(|ends| range(datatype, ends)).collect();
        let _ = writeln!(text, "  {:?} in {}", ranges.dimension, list.join(", "));
    }
    text.push_str(&selection(case, &question.selection));
    if let Some(condition) = condition {
        let _ = writeln!(text, "  where {}", condition_of(condition));
    }
    if !question.aggregates.is_empty() {
        let aggregates: Vec<String> = question.aggregates.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "  aggregates {}", aggregates.join(", "));
    }
    text
}

/// Maximum number of points and boxes to print per question.
const SHOWN: usize = 60;

fn selection(case: &Case, selection: &Selection) -> String {
    let mut text = String::new();
    let dimensions = &case.array.dimensions;
    for Form { dimension, range: ends, interval } in &selection.forms {
        let datatype = case.array.dimension(dimension).map_or(Datatype::UInt8, |known| known.datatype);
        let (from, to) = (range(datatype, ends), interval_text(datatype, interval));
        let _ = writeln!(text, "  {dimension:?} in {from}, given as {to}");
    }
    let point = |point: &Vec<Bytes>| {
        let along = dimensions.iter().zip(point).map(|(dimension, value)| bytes_as_text(dimension.datatype, value));
        format!("({})", Vec::from_iter(along).join(", "))
    };
    let region = |sides: &Vec<Vec<Interval>>| {
        let along = dimensions.iter().zip(sides).map(|(dimension, side)| {
            let parts = side.iter().map(|interval| interval_text(dimension.datatype, interval));
            if side.is_empty() { "all".to_owned() } else { Vec::from_iter(parts).join(" and ") }
        });
        Vec::from_iter(along).join(" x ")
    };
    if let Some(points) = &selection.points {
        let shown: Vec<String> = points.iter().take(SHOWN).map(point).collect();
        let _ = writeln!(text, "  {} points {}", points.len(), shown.join(", "));
    }
    if let Some(boxes) = &selection.boxes {
        let shown: Vec<String> = boxes.iter().take(SHOWN).map(region).collect();
        let _ = writeln!(text, "  {} boxes {}", boxes.len(), shown.join(", "));
    }
    if let Some(outside) = &selection.outside {
        let _ = writeln!(text, "  refused: {}", point(outside));
    }
    text
}

fn interval_text(datatype: Datatype, interval: &Interval) -> String {
    let text = |value: &Bytes| bytes_as_text(datatype, value);
    match interval {
        Interval::Prefix(prefix) => format!("{}*", text(prefix)),
        Interval::Ends(start, end) => {
            let start = match start {
                Bound::Included(start) => text(start),
                Bound::Excluded(start) => format!("(after {})", text(start)),
                Bound::Unbounded => String::new(),
            };
            let end = match end {
                Bound::Included(end) => format!("={}", text(end)),
                Bound::Excluded(end) => format!("<{}", text(end)),
                Bound::Unbounded => String::new(),
            };
            format!("{start}..{end}")
        }
    }
}

fn region(case: &Case, ranges: &[(Bytes, Bytes)]) -> String {
    let along = case.array.dimensions.iter().zip(ranges).map(|(dimension, ends)| range(dimension.datatype, ends));
    Vec::from_iter(along).join(" x ")
}

fn range(datatype: Datatype, (low, high): &(Bytes, Bytes)) -> String {
    format!("{}..={}", bytes_as_text(datatype, low), bytes_as_text(datatype, high))
}

/// Formats the values of a cell.
pub fn bytes_as_text(datatype: Datatype, bytes: &[u8]) -> String {
    if matches!(datatype, Datatype::StringAscii | Datatype::StringUtf8 | Datatype::Char) {
        let text = format!("\"{}\"", bytes.escape_ascii());
        return shortened(text, bytes.len());
    }
    let physical = datatype.physical();
    let scalar = |value: &[u8]| match Scalar::from_le_bytes(physical, value) {
        Some(Scalar::F32(value)) if value.is_nan() => format!("NaN({:08x})", value.to_bits()),
        Some(Scalar::F64(value)) if value.is_nan() => format!("NaN({:016x})", value.to_bits()),
        Some(Scalar::F32(value)) => format!("{value:?}"),
        Some(Scalar::F64(value)) => format!("{value:?}"),
        Some(scalar) => scalar.to_string(),
        None => format!("{value:?}"),
    };
    let values: Vec<String> = bytes.chunks(physical.size()).take(40).map(scalar).collect();
    match &values[..] {
        [one] => one.clone(),
        many => shortened(format!("[{}]", many.join(",")), bytes.len()),
    }
}

fn shortened(text: String, bytes: usize) -> String {
    if text.len() <= 160 {
        return text;
    }
    let start: String = text.chars().take(120).collect();
    format!("{start}… ({bytes} bytes)")
}
