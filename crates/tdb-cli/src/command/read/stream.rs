//! Output of batches as they arrive.

use std::io::Write;

use tdb_array::{Array, ArrayError, Monitor, Query};
use tdb_schema::ArraySchema;
use tdb_types::saturating_len;

use super::args::Args;
use crate::command::selection::Selected;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::progress::{Progress, QueryProgress};
use tdb_print::Terminal;
use tdb_print::{RowFormat, cell_writer, stdout};

/// Assumed bytes of a variable-size cell.
const VAR_CELL: u64 = 64;
/// Minimum budget in bytes. A smaller budget saves no memory.
const SMALLEST_BUDGET: u64 = 64 << 10;

/// Returns the bytes of a batch: the budget, but at most the probable size of all cells up to the
/// limit.
pub(super) fn budget(args: &Args, schema: &ArraySchema, fields: &[Selected<'_>]) -> usize {
    let size = |field: &Selected<'_>| field.cell_size(schema).unwrap_or(VAR_CELL);
    let row: u64 = fields.iter().map(size).fold(1, u64::saturating_add);
    let wanted = args.limit.map_or(u64::MAX, |limit| limit.saturating_mul(row)).max(SMALLEST_BUDGET);
    saturating_len(args.budget.min(wanted))
}

/// Runs the query, prints the cells, and returns the number of cells.
pub(super) fn run(
    array: &Array,
    query: Query,
    fields: &[Selected<'_>],
    args: &Args,
    terminal: Terminal,
) -> Result<u64> {
    let shown = fields.iter().map(|field| field.field(array, args.raw)).collect::<Result<Vec<_>>>()?;
    let format = RowFormat::or_default(args.format, terminal);
    let mut writer = cell_writer(format, shown, args.null.as_deref(), terminal)?;
    let mut out = stdout();
    // Cells on the same terminal show progress without a bar.
    let is_shown = terminal.stderr && !terminal.stdout;
    // With a limit, the part of the plan that will be read is unknown, and planning may take longer
    // than reading.
    let monitor = if args.limit.is_some() { Monitor::only_cancelling() } else { Monitor::new() };
    interrupt::cancels(&monitor);
    let mut progress = Progress::new(is_shown && args.limit.is_some());
    let bar = QueryProgress::of(&monitor, is_shown && args.limit.is_none());
    let mut printed = 0;
    let mut left = args.limit.unwrap_or(u64::MAX);
    let mut batches = query.monitor(&monitor).batches()?;
    while left > 0
        && let Some(batch) = batches.next()
    {
        let result = batch.map_err(|error| match error {
            ArrayError::Cancelled => Failure::interrupted().and(format_args!("{printed} cells were printed")),
            error => error.into(),
        });
        // Prints the cells before the error.
        let batch = result.or_else(|failure| out.flush().map_err(Into::into).and(Err(failure)))?;
        let rows = batch.len().min(saturating_len(left));
        writer.rows(&batch, 0..rows, &mut out)?;
        if terminal.stdout {
            out.flush()?;
        }
        left -= rows as u64;
        printed += rows as u64;
        if let Some(line) = progress.line("{spinner} {human_pos} cells, {per_sec}", None) {
            line.set_position(printed);
        }
    }
    progress.finish();
    drop(bar);
    writer.finish(&mut out)?;
    out.flush()?;
    Ok(printed)
}
