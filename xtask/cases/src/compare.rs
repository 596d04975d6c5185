//! Compares the reads of both sides.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use tdb_types::Datatype;

use super::ours::Reading;
use super::print::bytes_as_text;
use tdb_reference::model::{Column, ReadColumn, ReadResult};

/// The extent to which the order of cells is defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The order is fully defined.
    Fully,
    /// Only cells with equal coordinates may be in any order. Contains the ranges of such cells.
    Runs(Vec<Range<usize>>),
    /// The order is not defined.
    Nothing,
}

/// Returns the first difference, or `None`. Compares only as many columns of `theirs` as `ours`
/// has.
pub fn difference(theirs: &ReadResult, ours: &Reading, settled: &Settled) -> Option<String> {
    if theirs.columns.len() < ours.columns.len() && theirs.cells + ours.cells > 0 {
        let expected: Vec<_> = theirs.columns.iter().map(|column| &column.column.name).collect();
        let got: Vec<_> = ours.columns.iter().map(|column| &column.name).collect();
        return Some(format!("columns: expected {expected:?}, got {got:?}"));
    }
    if theirs.cells != ours.cells {
        let all = 0..theirs.cells;
        let mut text = format!("{} cells expected, {} got", theirs.cells, ours.cells);
        let columns = &theirs.columns[..ours.columns.len().min(theirs.columns.len())];
        if let Some(more) = as_multisets(columns, &ours.columns, std::slice::from_ref(&all), ours.cells) {
            let _ = write!(text, "\n{more}");
        }
        return Some(text);
    }
    if ours.cells == 0 {
        return None;
    }
    let mut pairs = theirs.columns.iter().zip(&ours.columns);
    if let Some(text) = pairs.find_map(|(theirs, ours)| shape_difference(&theirs.column, ours)) {
        return Some(text);
    }
    let columns = &theirs.columns[..ours.columns.len()];
    match settled {
        Settled::Nothing => as_multisets(columns, &ours.columns, std::slice::from_ref(&(0..theirs.cells)), ours.cells),
        Settled::Runs(runs) => as_multisets(columns, &ours.columns, runs, ours.cells),
        Settled::Fully => columns.iter().zip(&ours.columns).find_map(|(a, b)| in_order(a, b, theirs.cells)),
    }
}

fn shape_difference(theirs: &Column, ours: &Column) -> Option<String> {
    let shape = |column: &Column| (column.name.clone(), column.offsets.is_some(), column.validity.is_some());
    let (expected, got) = (shape(theirs), shape(ours));
    (expected != got).then(|| format!("column (name, variable size, nullable): expected {expected:?}, got {got:?}"))
}

/// Returns the first cell that differs.
fn in_order(ReadColumn { datatype, column, .. }: &ReadColumn, ours: &Column, cells: usize) -> Option<String> {
    if column == ours {
        return None;
    }
    let text = |column: &Column, cell: usize| one_cell(*datatype, column, cells, cell);
    let is_same = |cell: usize| {
        column.cell(cells, cell) == ours.cell(cells, cell) && column.is_valid(cell) == ours.is_valid(cell)
    };
    Some(match (0..cells).find(|cell| !is_same(*cell)) {
        Some(cell) => {
            format!("cell {cell} of {:?}: expected {}, got {}", column.name, text(column, cell), text(ours, cell))
        }
        None => format!("column {:?}: cells are equal, but buffers differ", column.name),
    })
}

fn one_cell(datatype: Datatype, column: &Column, cells: usize, cell: usize) -> String {
    let text = bytes_as_text(datatype, column.cell(cells, cell));
    if column.is_valid(cell) { text } else { format!("null (over {text})") }
}

/// Concatenates all columns of each cell.
fn rows(columns: &[&Column], cells: usize) -> Vec<Vec<u8>> {
    let mut rows = vec![Vec::new(); cells];
    for column in columns {
        for (index, row) in rows.iter_mut().enumerate() {
            let cell = column.cell(cells, index);
            row.extend((cell.len() as u64).to_le_bytes());
            row.extend(cell);
            row.extend(column.validity.as_ref().map(|validity| validity[index]));
        }
    }
    rows
}

fn as_multisets(theirs: &[ReadColumn], ours: &[Column], runs: &[Range<usize>], our_cells: usize) -> Option<String> {
    let their_cells = theirs.first().map_or(0, ReadColumn::len);
    let their_columns: Vec<&Column> = theirs.iter().map(|column| &column.column).collect();
    let our_columns: Vec<&Column> = ours.iter().collect();
    let (expected, got) = (rows(&their_columns, their_cells), rows(&our_columns, our_cells));
    if expected == got {
        return None;
    }
    let whole = runs.len() == 1;
    for run in runs {
        // For each row, the library's count minus tdb's, and one position on each side.
        let mut counts: HashMap<&[u8], (i64, [usize; 2])> = HashMap::new();
        for (index, row) in expected.iter().enumerate().take(run.end).skip(run.start) {
            let (count, places) = counts.entry(row).or_default();
            *count += 1;
            places[0] = index;
        }
        let our_run = if whole { 0..got.len() } else { run.clone() };
        for (index, row) in got.iter().enumerate().take(our_run.end).skip(our_run.start) {
            let (count, places) = counts.entry(row).or_default();
            *count -= 1;
            places[1] = index;
        }
        if counts.values().all(|(count, _)| *count == 0) {
            continue;
        }
        let mut text = format!("among the cells {run:?} of {}\n", expected.len());
        for (what, side, sign) in [("missing", 0, 1), ("not expected", 1, -1)] {
            let rows = counts.values().filter(|(count, _)| count.signum() == sign).map(|(_, places)| places[side]);
            let mut rows: Vec<usize> = rows.collect();
            rows.sort_unstable();
            let _ = writeln!(text, "{} cells {what}", rows.len());
            let (columns, cells) = [(&their_columns, their_cells), (&our_columns, our_cells)][side];
            for &row in rows.iter().take(4) {
                let _ = writeln!(text, "  {what}: {}", row_as_text(theirs, columns, cells, row));
            }
        }
        return Some(text);
    }
    None
}

fn row_as_text(types: &[ReadColumn], columns: &[&Column], cells: usize, row: usize) -> String {
    let cell = |(of, column): (&ReadColumn, &&Column)| {
        format!("{} {}", column.name, one_cell(of.datatype, column, cells, row))
    };
    types.iter().zip(columns).map(cell).collect::<Vec<_>>().join(", ")
}
