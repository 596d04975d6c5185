//! Cells that were deleted by a condition.

use tdb_types::TimestampedName;

use super::Array;
use crate::{ArrayError, Fragment, Result};

/// Refuses to read cells where a condition would have to be evaluated: where it deleted cells written before, in a fragment
/// that was not made since by applying the condition. Such an array opens, and shows everything but its cells.
pub(crate) fn refuse_unapplied_deletes(array: &Array) -> Result<()> {
    for delete in &array.directory().deletes {
        let name = delete.rsplit('/').next().and_then(TimestampedName::parse);
        // By format, a condition applies to what was written in the same millisecond too.
        let applies = |fragment: &&Fragment| name.as_ref().is_none_or(|name| name.end() >= fragment.name().start());
        for fragment in array.fragments().iter().filter(applies) {
            if !fragment.processed_conditions()?.iter().any(|processed| processed == delete) {
                return Err(ArrayError::Unsupported {
                    file: array.storage().describe(delete),
                    what: "cells of this array were deleted by a condition, which this release doesn't evaluate"
                        .to_owned(),
                });
            }
        }
    }
    Ok(())
}
