//! Compares the reads of both sides.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use tdb_types::Datatype;

use super::ours::Reading;
use super::print::bytes_as_text;
use tdb_reference::model::{Column, ReadColumn, ReadResult};

/// How far the order of the cells is defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The order is fully defined.
    Fully,
    /// Only cells with equal coordinates may be in any order. The ranges of such cells.
    Runs(Vec<Range<usize>>),
    /// The order is not defined.
    Nothing,
}

/// Returns the first difference, or `None`. Compares only as many columns of `theirs` as `ours`
/// has.
pub fn difference(theirs: &ReadResult, ours: &Reading, settled: &Settled) -> Option<String> {
    if theirs.columns.len() < ours.columns.len() && theirs.cells + ours.cells > 0 {
        let names =
            |columns: &mut dyn Iterator<Item = &Column>| columns.map(|column| column.name.clone()).collect::<Vec<_>>();
        let theirs = names(&mut theirs.columns.iter().map(|column| &column.column));
        return Some(format!("columns: expected {theirs:?}, got {:?}", names(&mut ours.columns.iter())));
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
    for (theirs, ours) in theirs.columns.iter().zip(&ours.columns) {
        if let Some(text) = shape_difference(&theirs.column, ours) {
            return Some(text);
        }
    }
    let columns = &theirs.columns[..ours.columns.len()];
    match settled {
        Settled::Nothing => as_multisets(columns, &ours.columns, std::slice::from_ref(&(0..theirs.cells)), ours.cells),
        Settled::Runs(runs) => as_multisets(columns, &ours.columns, runs, ours.cells),
        Settled::Fully => columns.iter().zip(&ours.columns).find_map(|(theirs, ours)| in_order(theirs, ours)),
    }
}

fn shape_difference(theirs: &Column, ours: &Column) -> Option<String> {
    let shape = |column: &Column| (column.name.clone(), column.offsets.is_some(), column.validity.is_some());
    let (expected, got) = (shape(theirs), shape(ours));
    (expected != got).then(|| format!("column (name, variable size, nullable): expected {expected:?}, got {got:?}"))
}

/// Returns the first cell that differs.
fn in_order(theirs: &ReadColumn, ours: &Column) -> Option<String> {
    if theirs.column == *ours {
        return None;
    }
    let ours = ReadColumn { datatype: theirs.datatype, cell_val_num: theirs.cell_val_num, column: ours.clone() };
    let valid = |column: &ReadColumn, cell: usize| column.column.validity.as_ref().is_none_or(|bits| bits[cell] != 0);
    let (expected, got) = (theirs.cells(), ours.cells());
    for cell in 0..expected.len() {
        let (a, b) = ((expected[cell], valid(theirs, cell)), (got[cell], valid(&ours, cell)));
        if a != b {
            let text = |(bytes, valid): (&[u8], bool)| one_cell(theirs.datatype, bytes, valid);
            let name = &theirs.column.name;
            return Some(format!("cell {cell} of {name:?}: expected {}, got {}", text(a), text(b)));
        }
    }
    Some(format!("column {:?} differs in no cell, but in its buffers", theirs.column.name))
}

fn one_cell(datatype: Datatype, bytes: &[u8], valid: bool) -> String {
    let text = bytes_as_text(datatype, bytes);
    if valid { text } else { format!("null (over {text})") }
}

/// Concatenates all columns of each cell.
fn rows<'a>(columns: impl Iterator<Item = (&'a Column, usize)>, cells: usize) -> Vec<Vec<u8>> {
    let mut rows = vec![Vec::new(); cells];
    for (column, cell_size) in columns {
        for (index, row) in rows.iter_mut().enumerate() {
            let range = match &column.offsets {
                Some(offsets) => offsets[index] as usize..offsets[index + 1] as usize,
                None => index * cell_size..(index + 1) * cell_size,
            };
            row.extend((range.len() as u64).to_le_bytes());
            // Some releases return offsets beyond the values. Such a cell equals no expected cell.
            row.extend(column.values.get(range).unwrap_or(b"beyond the values"));
            row.extend(column.validity.as_ref().map(|validity| validity[index]));
        }
    }
    rows
}

fn as_multisets(theirs: &[ReadColumn], ours: &[Column], runs: &[Range<usize>], our_cells: usize) -> Option<String> {
    let sizes = theirs.iter().map(|column| column.cell_val_num.unwrap_or(1) as usize * column.datatype.size());
    let sizes: Vec<usize> = sizes.collect();
    let their_cells = theirs.first().map_or(0, ReadColumn::len);
    let expected = rows(theirs.iter().map(|column| &column.column).zip(sizes.iter().copied()), their_cells);
    let got = rows(ours.iter().zip(sizes.iter().copied()), our_cells);
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
        let mut missing =
            counts.values().filter(|(count, _)| *count > 0).map(|(_, places)| places[0]).collect::<Vec<_>>();
        let mut extra =
            counts.values().filter(|(count, _)| *count < 0).map(|(_, places)| places[1]).collect::<Vec<_>>();
        if missing.is_empty() && extra.is_empty() {
            continue;
        }
        missing.sort_unstable();
        extra.sort_unstable();
        let mut text = format!("among the cells {run:?} of {}\n", expected.len());
        for (what, side, rows) in [("missing", true, &missing), ("not expected", false, &extra)] {
            let _ = writeln!(text, "{} cells {what}", rows.len());
            for &row in rows.iter().take(4) {
                let _ = writeln!(text, "  {what}: {}", row_as_text(theirs, ours, row, side));
            }
        }
        return Some(text);
    }
    None
}

fn row_as_text(theirs: &[ReadColumn], ours: &[Column], row: usize, side: bool) -> String {
    let cell = |(theirs, ours): (&ReadColumn, &Column)| {
        let column = if side { theirs.column.clone() } else { ours.clone() };
        let column = ReadColumn { datatype: theirs.datatype, cell_val_num: theirs.cell_val_num, column };
        let valid = column.column.validity.as_ref().is_none_or(|bits| bits[row] != 0);
        format!("{} {}", column.column.name, one_cell(column.datatype, column.cells()[row], valid))
    };
    theirs.iter().zip(ours).map(cell).collect::<Vec<_>>().join(", ")
}
