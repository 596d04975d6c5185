//! Cells that were deleted by a condition.

use super::Array;
use crate::{ArrayError, Fragment, Result};

/// Refuses to read cells where a condition would have to be evaluated: where it deleted cells written before, in a fragment
/// that was not made since by applying the condition. Such an array opens, and shows everything but its cells.
pub(crate) fn refuse_unapplied_deletes(array: &Array) -> Result<()> {
    for delete in &array.directory().deletes {
        // By format, a condition applies to what was written in the same millisecond too.
        let applies = |fragment: &&Fragment| delete.name.end() >= fragment.name().start();
        for fragment in array.fragments().iter().filter(applies) {
            if !fragment.processed_conditions()?.contains(&delete.path) {
                return Err(ArrayError::Unsupported {
                    file: array.storage().describe(&delete.path),
                    what: "cells of this array were deleted by a condition, which this release doesn't evaluate"
                        .to_owned(),
                });
            }
        }
    }
    Ok(())
}
