//! Known defects of the reference library in generated cases.
//!
//! `docs/internals/conformance.md` lists these defects, and the defects that the generator avoids.

mod aggregates;
mod pieces;

pub use aggregates::{fails_on, misstates, mistakes_aggregates, refuses_aggregates};

use tdb_types::Layout;

use super::case::{Case, Question, Step};
use super::limits::orders_otherwise;
use crate::scalars::{integer_bytes, order_of, type_limits};
use tdb_reference::Release;
use tdb_reference::model::{Bytes, Column, QuerySpec, RangesSpec, ReadResult};

/// Returns why the library refuses or crashes. Returns `None` if there is no known reason.
pub fn explanation(case: &Case, question: Option<&Question>, message: &str) -> Option<&'static str> {
    let ordered = question.is_some_and(|question| matches!(question.query.layout, Layout::RowMajor | Layout::ColMajor));
    let mut written = case.writes().flat_map(|write| &write.cells);
    if message.contains("crashed") && ordered && has_empty_strings(case) {
        return Some("crashes in ordered reads if a string dimension contains only the empty string");
    }
    if message.contains("was stopped after") && ordered && !case.is_dense() {
        return Some("splits the subarray of an ordered read endlessly");
    }
    if message.contains("All tiles should have at least one cell") && repeats_times(case) {
        return Some("cannot read consolidated tiles of cells that were all overwritten at the same time");
    }
    if message.contains("Cannot get file size") && message.contains(".del'") {
        return Some("looks for delete files whose consolidated commits were vacuumed");
    }
    if message.contains("no current buffer") && case.encrypted && written.any(has_empty_cells) {
        return Some("cannot read encrypted empty tiles that went through other filters first");
    }
    // Writes of several fragments also consolidate their commits.
    let gathers = |step: &&Step| match step {
        Step::Consolidate(mode) => *mode == "commits",
        Step::Write(write) => write.layout == Layout::GlobalOrder,
        _ => false,
    };
    if message.contains("start timestamp cannot be after end") && case.steps.iter().filter(gathers).count() > 1 {
        return Some("cannot consolidate commits again after an older one was added");
    }
    if message.contains("DoubleDeltaException") || message.contains("Cannot compress with DoubleDelta") {
        return Some("refuses to write double deltas that overflow because of fill values");
    }
    if message.contains("delta is not positive") && case.disordered {
        return Some("refuses positive deltas of unsorted cells");
    }
    let mut dense = case.writes().filter(|_| case.is_dense()).flat_map(|write| &write.cells);
    if message.contains("crashed") && message.contains("job write") && dense.any(|column| column.offsets.is_some()) {
        return Some("sometimes crashes in dense writes of variable-size cells");
    }
    if message.contains("must coincide with the tile bounds") {
        return Some("refuses some complete tiles in global order if the domain starts below zero");
    }
    let unordered = question.is_some_and(|question| question.query.layout == Layout::Unordered);
    if message.contains("crashed") && unordered && case.array.allows_dups && adds_nullable(case) {
        return Some("crashes in unordered reads of nullable attributes that a fragment lacks");
    }
    None
}

/// Returns why the library's result lacks cells. Returns `None` if there is no known reason.
pub fn lacks_cells(case: &Case, question: &Question, theirs: &ReadResult) -> Option<&'static str> {
    let ordered = matches!(question.query.layout, Layout::RowMajor | Layout::ColMajor);
    // A result that exceeds the buffers is split at strings, and no part contains the empty string.
    (ordered && theirs.submits > 1 && has_empty_strings(case))
        .then_some("loses empty strings when it splits ordered reads")
}

fn adds_nullable(case: &Case) -> bool {
    case.evolutions().flat_map(|evolution| &evolution.add_attributes).any(|attribute| attribute.nullable)
}

/// `true` if a write contains the empty string as a coordinate.
fn has_empty_strings(case: &Case) -> bool {
    let is_string = |name: &str| case.array.dimension(name).is_some_and(|dimension| dimension.domain.is_none());
    case.writes().flat_map(|write| &write.cells).any(|column| is_string(&column.name) && has_empty_cells(column))
}

/// `true` if a column contains a cell of zero bytes.
fn has_empty_cells(column: &Column) -> bool {
    column.offsets.iter().flat_map(|offsets| offsets.windows(2)).any(|ends| ends[0] == ends[1])
}

/// Returns why the library's result for a question is unreliable. Returns `None` if it is reliable.
pub fn is_wrong(case: &Case, question: &Question) -> Option<&'static str> {
    takes_strings_for_sorted(case, question)
        .or_else(|| leaves_ranges_unmerged(case, question))
        .or_else(|| keeps_older_cells(case, question))
        .or_else(|| mistakes_cells(case, question))
        .or_else(|| pieces::miscounts(case, question))
}

/// Detects dense reads with a condition whose layout differs from the cell order. The library
/// evaluates dimensions with coordinates that advance along the wrong dimension. It tests for null
/// with the validity of neighboring cells.
fn mistakes_cells(case: &Case, question: &Question) -> Option<&'static str> {
    let condition = question.query.condition.as_ref()?;
    let is_dense = case.is_dense() && case.array.dimensions.len() > 1;
    let otherwise = question.query.layout != case.array.cell_order && question.query.layout != Layout::GlobalOrder;
    let on_dimensions = case.array.dimension_names().any(|name| condition.has_field(name));
    (is_dense && otherwise && (on_dimensions || condition.tests_for_null()))
        .then_some("evaluates conditions on neighboring cells if a dense read is not in cell order")
}

/// Detects reads of fragments with equal timestamps. Usually the fragment with the maximum name
/// wins. In ordered reads of fragments that are not consolidated, the minimum name wins. In a
/// consolidated fragment the first cell wins within a tile, and the last cell across tiles.
fn keeps_older_cells(case: &Case, question: &Question) -> Option<&'static str> {
    let is_ordered = matches!(question.query.layout, Layout::RowMajor | Layout::ColMajor);
    let is_merged = case.steps.contains(&Step::Consolidate("fragments"));
    let is_deduplicated = !case.is_dense() && !case.array.allows_dups;
    ((is_ordered || is_merged) && is_deduplicated && repeats_times(case))
        .then_some("returns another of the cells that were written at the same time")
}

/// `true` if several writes have the same timestamp.
pub fn repeats_times(case: &Case) -> bool {
    let times: Vec<_> = case.writes().map(|write| write.timestamp).collect();
    times.iter().enumerate().any(|(place, time)| times[..place].contains(time))
}

/// Detects overlapping ranges of unordered reads. The library merges ranges before the search,
/// except ranges after a range up to the maximum of the datatype.
fn leaves_ranges_unmerged(case: &Case, question: &Question) -> Option<&'static str> {
    let is_unordered = !case.is_dense() && question.query.layout == Layout::Unordered;
    let is_left = |ranges: &RangesSpec| {
        let dimension = case.array.dimension(&ranges.dimension)?;
        let physical = dimension.datatype.physical();
        let numbers = dimension.domain.is_some() && !physical.is_float();
        let greatest = integer_bytes(physical, type_limits(physical).1);
        let order = |bytes: &Bytes| order_of(dimension.datatype, bytes);
        let ranges = ranges.ranges.iter().enumerate();
        let mut last = ranges.clone().filter(|(_, (_, high))| numbers && *high == greatest);
        Some(last.any(|(index, (low, _))| {
            let mut others = ranges.clone().filter(|(other, _)| *other != index);
            others.any(|(_, (_, high))| order(high) >= order(low))
        }))
    };
    let mut all = question.query.ranges.iter();
    (is_unordered && all.any(|ranges| is_left(ranges) == Some(true)))
        .then_some("loses cells of ranges that overlap a range up to the maximum of the datatype")
}

/// Detects ranges on a string dimension that leads the cell order. The library treats unsorted
/// strings as sorted, and compares them only up to a zero byte.
fn takes_strings_for_sorted(case: &Case, question: &Question) -> Option<&'static str> {
    let dimensions = &case.array.dimensions;
    let leading = match case.array.cell_order {
        Layout::RowMajor => dimensions.first(),
        Layout::ColMajor => dimensions.last(),
        _ => None,
    };
    let leading = leading.filter(|dimension| dimension.domain.is_none())?;
    let restricted = question.query.ranges.iter().any(|ranges| ranges.dimension == leading.name);
    // Tiles of the other dimensions precede the order of the leading dimension.
    let tiled = dimensions.iter().any(|dimension| dimension.domain.is_some());
    let mut written = case.writes().flat_map(|write| &write.cells).filter(|column| column.name == leading.name);
    let zeros = written.any(|column| column.values.contains(&0));
    (restricted && (tiled || zeros))
        .then_some("treats unsorted strings as sorted, and compares them only up to a zero byte")
}

/// Returns how `reader` misreads an array by these releases. Returns `None` if no defect is known.
pub fn misreads(case: &Case, question: &Question, writers: &[Release], reader: Release) -> Option<&'static str> {
    writers
        .iter()
        .find_map(|writer| misreads_of(case, question, *writer))
        .or_else(|| takes_ranges_one_by_one(case, question, reader))
}

/// Detects unordered reads with overlapping or unsorted ranges, of arrays with all coordinates in
/// one file. The library returns a cell once per matching range, or never, or refuses the read.
/// Release 2.30.0 returns each cell once.
fn takes_ranges_one_by_one(case: &Case, question: &Question, reader: Release) -> Option<&'static str> {
    let apart = |ranges: &RangesSpec| {
        let datatype = case.array.dimension(&ranges.dimension)?.datatype;
        let mut pairs = ranges.ranges.windows(2);
        Some(pairs.all(|pair| order_of(datatype, &pair[0].1) < order_of(datatype, &pair[1].0)))
    };
    let together = question.query.ranges.iter().any(|ranges| apart(ranges) == Some(false));
    let unordered = !case.is_dense() && question.query.layout == Layout::Unordered;
    (reader.numbers() < [2, 17, 0] && unordered && together)
        .then_some("release 2.16.3 processes overlapping ranges one by one in unordered reads")
}

/// Returns how the newest release misreads an array that this release wrote.
fn misreads_of(case: &Case, question: &Question, release: Release) -> Option<&'static str> {
    // The result has another order than the array, and contains overwritten cells next to their
    // replacements.
    let merged = matches!(question.query.layout, Layout::GlobalOrder | Layout::Unordered);
    if merged && orders_otherwise(&case.array, release) {
        return Some("merges fragments stored in another order");
    }
    // The string range of a tile was stored as ranging from the empty string to the empty string.
    let dates = !case.is_dense() && case.array.dimensions[0].datatype.is_datetime();
    if dates && release.numbers() < [2, 0, 0] {
        return Some("includes all dates in any range, because their tiles store no range");
    }
    let strings = release.numbers() < [2, 4, 0] && has_empty_strings(case);
    (strings && !question.query.ranges.is_empty()).then_some("skips tiles that contain both empty and other strings")
}

/// Returns a question about all cells that avoids the above defects: the same fields, and the
/// dimensions.
pub fn whole_question(case: &Case, question: &Question) -> QuerySpec {
    let mut query = QuerySpec { layout: Layout::RowMajor, ranges: Vec::new(), ..question.query.clone() };
    if !query.fields.is_empty() {
        add_dimensions(case, &mut query.fields);
    }
    query
}

/// Adds the dimensions that a list of fields lacks.
pub fn add_dimensions(case: &Case, fields: &mut Vec<String>) {
    let missing = case.array.dimension_names().filter(|name| !fields.iter().any(|field| field == name));
    let missing: Vec<String> = missing.map(str::to_owned).collect();
    fields.extend(missing);
}

/// Returns why an older release refuses to create an array. Then nothing is compared. Returns
/// `None` if there is no known reason.
pub fn refusal(release: Release, message: &str) -> Option<&'static str> {
    if release.library == "2.0.8" && message.contains("Total size must be non-zero") {
        return Some("cannot consolidate tiles of empty cells");
    }
    if release.library == "2.14.0" && message.contains("Invalid number of validity cells") {
        return Some("cannot consolidate nullable cells of variable size with small buffers");
    }
    let crashed = |job: &str| message.contains("crashed") && message.contains(&format!("in the job {job}"));
    if crashed("consolidate") && release.numbers() < [2, 11, 0] {
        return Some("sometimes crashes in consolidation");
    }
    (crashed("create") && release.numbers() < [1, 6, 0]).then_some("crashes on shuffles of coordinates")
}
