//! What the reference library is known to get wrong, where the generator can't simply stay away from it.
//!
//! `docs/internals/conformance.md` lists these and those that the generator avoids.

mod aggregates;
mod pieces;

pub use aggregates::{fails_on, misstates, mistakes_aggregates, refuses_aggregates};

use tdb_types::{ArrayType, Layout};

use super::case::{Case, Question, Step};
use super::limits::orders_otherwise;
use crate::scalars::{integer_bytes, order_of, type_limits};
use tdb_reference::Release;
use tdb_reference::model::{Bytes, Column, QuerySpec, RangesSpec, ReadColumn, ReadResult};

/// Why a refusal or crash of the library is no surprise; `None` if it is one.
pub fn explanation(case: &Case, question: Option<&Question>, message: &str) -> Option<&'static str> {
    let ordered = question.is_some_and(|question| matches!(question.query.layout, Layout::RowMajor | Layout::ColMajor));
    if message.contains("crashed") && ordered && has_empty_strings(case) {
        return Some("crashes in ordered reads where a string dimension holds nothing but the empty string");
    }
    if message.contains("was stopped after") && ordered && case.array.array_type == ArrayType::Sparse {
        return Some("cuts what an ordered read asks for into parts without end");
    }
    if message.contains("All tiles should have at least one cell") && repeats_times(case) {
        return Some("can't read consolidated tiles of cells that were all overwritten at the same time");
    }
    if message.contains("Cannot get file size") && message.contains(".del'") {
        return Some("looks for the files of deletes whose consolidated commits were vacuumed");
    }
    if message.contains("no current buffer") && case.encrypted && writes_empty_cells(case) {
        return Some("can't read encrypted tiles without bytes that went through other filters first");
    }
    // Writes that are cut into several fragments gather their commits too.
    let gathers = |step: &&Step| match step {
        Step::Consolidate(mode) => *mode == "commits",
        Step::Write(write) => write.layout == Layout::GlobalOrder,
        _ => false,
    };
    if message.contains("start timestamp cannot be after end") && case.steps.iter().filter(gathers).count() > 1 {
        return Some("can't consolidate commits again once an older one has come");
    }
    if message.contains("DoubleDeltaException") || message.contains("Cannot compress with DoubleDelta") {
        return Some("refuses to write double deltas that overflow, which fill values make");
    }
    if message.contains("delta is not positive") && case.disordered {
        return Some("refuses positive deltas of cells that aren't in order");
    }
    if message.contains("crashed") && message.contains("job write") && writes_variable_cells(case) {
        return Some("crashes now and then in dense writes of variable-size cells");
    }
    if message.contains("must coincide with the tile bounds") {
        return Some("refuses some whole tiles in global order where the domain begins below zero");
    }
    let unordered = question.is_some_and(|question| question.query.layout == Layout::Unordered);
    if message.contains("crashed") && unordered && case.array.allows_dups && adds_nullable(case) {
        return Some("crashes in unordered reads of nullable attributes that a fragment lacks");
    }
    None
}

/// Why the library's answer is known to lack cells; `None` if it should be whole.
pub fn lacks_cells(case: &Case, question: &Question, theirs: &ReadResult) -> Option<&'static str> {
    let ordered = matches!(question.query.layout, Layout::RowMajor | Layout::ColMajor);
    // A result that doesn't fit the buffers is cut at strings, and the empty one gets into no part.
    (ordered && theirs.submits > 1 && has_empty_strings(case))
        .then_some("loses empty strings where it cuts ordered reads")
}

fn adds_nullable(case: &Case) -> bool {
    case.steps.iter().any(|step| match step {
        Step::Evolve(evolution) => evolution.add_attributes.iter().any(|attribute| attribute.nullable),
        _ => false,
    })
}

/// Whether some write has the empty string as a coordinate.
fn has_empty_strings(case: &Case) -> bool {
    let strings = case.array.dimensions.iter().filter(|dimension| dimension.domain.is_none());
    strings.into_iter().any(|dimension| {
        case.writes().flat_map(|write| &write.cells).any(|column| {
            let offsets = column.offsets.iter().flat_map(|offsets| offsets.windows(2));
            column.name == dimension.name && offsets.into_iter().any(|ends| ends[0] == ends[1])
        })
    })
}

/// Whether some write has a cell without bytes.
fn writes_empty_cells(case: &Case) -> bool {
    case.writes().flat_map(|write| &write.cells).any(|column| {
        let offsets = column.offsets.iter().flat_map(|offsets| offsets.windows(2));
        offsets.into_iter().any(|ends| ends[0] == ends[1])
    })
}

fn writes_variable_cells(case: &Case) -> bool {
    let mut dense = case.writes().filter(|write| write.subarray.is_some());
    dense.any(|write| write.cells.iter().any(|column| column.offsets.is_some()))
}

/// Why the library's answer to a question isn't worth asking for; `None` if it is.
pub fn is_wrong(case: &Case, question: &Question) -> Option<&'static str> {
    takes_strings_for_sorted(case, question)
        .or_else(|| leaves_ranges_unmerged(case, question))
        .or_else(|| keeps_older_cells(case, question))
        .or_else(|| mistakes_cells(case, question))
        .or_else(|| pieces::miscounts(case, question))
}

/// Where the result isn't in the order of cells, conditions on dense dimensions are judged by coordinates that are counted up along
/// the wrong dimension, and tests for null by the validity of neighbouring cells.
fn mistakes_cells(case: &Case, question: &Question) -> Option<&'static str> {
    let condition = question.query.condition.as_ref()?;
    let is_dense = case.array.array_type == ArrayType::Dense && case.array.dimensions.len() > 1;
    let otherwise = question.query.layout != case.array.cell_order && question.query.layout != Layout::GlobalOrder;
    let on_dimensions = case.array.dimension_names().any(|name| condition.has_field(name));
    (is_dense && otherwise && (on_dimensions || condition.tests_for_null()))
        .then_some("judges dense cells by their neighbours where the result isn't in the order of cells")
}

/// Of fragments with the same time, the one whose name is the greatest counts; in ordered reads the one whose name is the least, unless
/// they were consolidated. Of cells of a consolidated fragment the first one counts within a tile, and the last one across tiles.
fn keeps_older_cells(case: &Case, question: &Question) -> Option<&'static str> {
    let is_ordered = matches!(question.query.layout, Layout::RowMajor | Layout::ColMajor);
    let is_merged = case.steps.contains(&Step::Consolidate("fragments"));
    let is_deduplicated = case.array.array_type == ArrayType::Sparse && !case.array.allows_dups;
    ((is_ordered || is_merged) && is_deduplicated && repeats_times(case))
        .then_some("keeps the other one of cells that were written at the same time")
}

/// Whether several writes have the same time.
pub fn repeats_times(case: &Case) -> bool {
    let times: Vec<_> = case.writes().map(|write| write.timestamp).collect();
    times.iter().enumerate().any(|(place, time)| times[..place].contains(time))
}

/// Ranges that overlap are merged before an unordered read searches them, but for those behind one that ends where the
/// datatype does.
fn leaves_ranges_unmerged(case: &Case, question: &Question) -> Option<&'static str> {
    let is_unordered = case.array.array_type == ArrayType::Sparse && question.query.layout == Layout::Unordered;
    let is_left = |ranges: &RangesSpec| {
        let dimension = case.array.dimensions.iter().find(|spec| spec.name == ranges.dimension)?;
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
        .then_some("doesn't merge ranges with one that ends where the datatype does, and loses cells of them")
}

/// String dimensions that lead the order of cells.
fn takes_strings_for_sorted(case: &Case, question: &Question) -> Option<&'static str> {
    let dimensions = &case.array.dimensions;
    let leading = match case.array.cell_order {
        Layout::RowMajor => dimensions.first(),
        Layout::ColMajor => dimensions.last(),
        _ => None,
    };
    let leading = leading.filter(|dimension| dimension.domain.is_none())?;
    let restricted = question.query.ranges.iter().any(|ranges| ranges.dimension == leading.name);
    // Tiles of the other dimensions come before the leading one's order.
    let tiled = dimensions.iter().any(|dimension| dimension.domain.is_some());
    let zeros = case
        .writes()
        .flat_map(|write| &write.cells)
        .any(|column| column.name == leading.name && column.values.contains(&0));
    (restricted && (tiled || zeros)).then_some("takes strings for sorted that aren't, and for equal up to a zero byte")
}

/// What `reader` gets wrong in reading such an array of those releases; `None` if nothing is known.
pub fn misreads(case: &Case, question: &Question, writers: &[Release], reader: Release) -> Option<&'static str> {
    writers
        .iter()
        .find_map(|writer| misreads_of(case, question, *writer))
        .or_else(|| takes_ranges_one_by_one(case, question, reader))
}

/// Unordered reads with ranges that aren't in order and apart, of what has all coordinates in one file: cells come once for
/// each range that holds them, or never, or the read is refused. Release 2.30.0 gives each cell once.
fn takes_ranges_one_by_one(case: &Case, question: &Question, reader: Release) -> Option<&'static str> {
    let apart = |ranges: &RangesSpec| {
        let datatype = case.array.dimensions.iter().find(|spec| spec.name == ranges.dimension)?.datatype;
        let ends =
            ranges.ranges.windows(2).map(|pair| (order_of(datatype, &pair[0].1), order_of(datatype, &pair[1].0)));
        Some(ends.into_iter().all(|(last, next)| last < next))
    };
    let together = question.query.ranges.iter().any(|ranges| apart(ranges) == Some(false));
    let unordered = case.array.array_type == ArrayType::Sparse && question.query.layout == Layout::Unordered;
    (reader.numbers() < [2, 17, 0] && unordered && together)
        .then_some("release 2.16.3 takes ranges that overlap one by one in unordered reads")
}

/// What the newest release gets wrong in reading such an array of that release.
fn misreads_of(case: &Case, question: &Question, release: Release) -> Option<&'static str> {
    // Cells come in another order than the array's, and overwritten ones along with those that replaced them.
    let merged = matches!(question.query.layout, Layout::GlobalOrder | Layout::Unordered);
    if merged && orders_otherwise(&case.array, release) {
        return Some("merges fragments that lie in another order");
    }
    // A tile's range of strings was stored as from the empty string to the empty string.
    let dates = case.array.array_type == ArrayType::Sparse && case.array.dimensions[0].datatype.is_datetime();
    if dates && release.numbers() < [2, 0, 0] {
        return Some("takes all dates to lie in any range, because their tiles have none");
    }
    let strings = release.numbers() < [2, 4, 0] && has_empty_strings(case);
    (strings && !question.query.ranges.is_empty()).then_some("skips tiles that hold empty strings and others")
}

/// The same fields of all cells, and the dimensions: a question that the above doesn't touch.
pub fn whole_question(case: &Case, question: &Question) -> QuerySpec {
    let mut query = QuerySpec { layout: Layout::RowMajor, ranges: Vec::new(), ..question.query.clone() };
    if !query.fields.is_empty() {
        let missing =
            case.array.dimension_names().filter(|name| !question.query.fields.iter().any(|field| field == name));
        query.fields.extend(missing.map(str::to_owned));
    }
    query
}

/// Of the cells of the whole array those that the question asks for.
pub fn choose(case: &Case, question: &Question, whole: &ReadResult) -> ReadResult {
    let mut wanted = vec![true; whole.cells];
    for ranges in &question.query.ranges {
        let Some(dimension) = case.array.dimensions.iter().find(|spec| spec.name == ranges.dimension) else { continue };
        let Some(column) = whole.columns.iter().find(|column| column.column.name == dimension.name) else { continue };
        let order = |bytes: &[u8]| order_of(dimension.datatype, bytes);
        for (wanted, cell) in wanted.iter_mut().zip(column.cells()) {
            let place = order(cell);
            let holds = |ends: &&(Bytes, Bytes)| (order(&ends.0)..=order(&ends.1)).contains(&place);
            *wanted &= ranges.ranges.iter().any(|ends| holds(&ends));
        }
    }
    let chosen: Vec<usize> = (0..whole.cells).filter(|cell| wanted[*cell]).collect();
    let columns = whole.columns.iter().map(|column| take(column, &chosen)).collect();
    ReadResult { cells: chosen.len(), columns, ..whole.clone() }
}

fn take(column: &ReadColumn, chosen: &[usize]) -> ReadColumn {
    let cells = column.cells();
    let (mut values, mut offsets) = (Vec::new(), vec![0]);
    for cell in chosen {
        values.extend_from_slice(cells[*cell]);
        offsets.push(values.len() as u64);
    }
    let validity = column.column.validity.as_ref();
    let validity = validity.map(|validity| Bytes(chosen.iter().map(|cell| validity[*cell]).collect()));
    let offsets = column.column.offsets.is_some().then_some(offsets);
    let column_of_chosen = Column { name: column.column.name.clone(), values: Bytes(values), offsets, validity };
    ReadColumn { column: column_of_chosen, ..column.clone() }
}

/// Why an older release didn't do what it was asked for, where it is no surprise: the array can't be made then, and nothing
/// is to be compared. Release, what it says, and why.
const REFUSALS: &[(&str, &str, &str)] = &[
    ("2.0.8", "Total size must be non-zero", "can't consolidate tiles of empty cells"),
    (
        "2.14.0",
        "Invalid number of validity cells",
        "can't consolidate nullable cells of variable size with small buffers",
    ),
];

/// Why that release didn't make the array; `None` if it should have.
pub fn refusal(release: Release, message: &str) -> Option<&'static str> {
    let known = REFUSALS.iter().find(|(of, says, _)| *of == release.library && message.contains(says));
    if let Some((.., why)) = known {
        return Some(why);
    }
    let crashed = |job: &str| message.contains("crashed") && message.contains(&format!("in the job {job}"));
    if crashed("consolidate") && release.numbers() < [2, 11, 0] {
        return Some("crashes now and then when it consolidates");
    }
    (crashed("create") && release.numbers() < [1, 6, 0]).then_some("crashes on shuffles of coordinates")
}
