//! What the reference library is known to get wrong, where the generator can't simply stay away from it.
//!
//! `docs/conformance.md` tells of these and of those that the generator avoids.

use tdb_types::{ArrayType, Layout};

use super::case::{Case, Question, Step};
use crate::model::ReadResult;

/// Why a refusal or crash of the library is no surprise; none if it is.
pub fn explanation(case: &Case, question: Option<&Question>, message: &str) -> Option<&'static str> {
    let ordered = question.is_some_and(|question| matches!(question.query.layout, Layout::RowMajor | Layout::ColMajor));
    if message.contains("crashed") && ordered && has_empty_strings(case) {
        return Some("crashes in ordered reads where a string dimension holds nothing but the empty string");
    }
    if message.contains("was stopped after") && ordered && case.array.array_type == ArrayType::Sparse {
        return Some("cuts what an ordered read asks for into parts without end");
    }
    if message.contains("Cannot get file size") && message.contains(".del'") {
        return Some("looks for the files of deletes whose consolidated commits were vacuumed");
    }
    if message.contains("DoubleDeltaException") {
        return Some("refuses to write double deltas that overflow, which consolidation makes of fill values");
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

/// Why the library's answer is known to lack cells; none if it should be whole.
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

fn writes_variable_cells(case: &Case) -> bool {
    let mut dense = case.writes().filter(|write| write.subarray.is_some());
    dense.any(|write| write.cells.iter().any(|column| column.offsets.is_some()))
}

/// Why the library's answer to a question isn't worth asking for; none if it is.
pub fn is_wrong(case: &Case, question: &Question) -> Option<&'static str> {
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
