//! Writes with tdb.

use std::ops::Bound;

use tdb_array::{Array, Order, Write, WriteBatch, WriteColumn, WriteIds};
use tdb_schema::FieldRef;
use tdb_types::{FormatVersion, Layout};

use super::select::ends;
use super::{describe, open_with, options};
use crate::case::Case;
use tdb_reference::model::{Column, WriteSpec};

/// Parameters of a write that do not affect the cells.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    pub threads: usize,
    /// Number of cells per batch, for writes in batches.
    pub batch: usize,
    pub budget: usize,
    /// Maximum fragment size in bytes, for writes in global order.
    pub max_fragment_size: Option<u64>,
    /// For writes in global order: `true` if empty batches come first, last and in between.
    pub empty_batches: bool,
    /// Format version of the new fragments, or `None` for the default.
    pub version: Option<FormatVersion>,
}

impl Manner {
    /// Derives parameters from a number.
    pub fn by(chance: u64) -> Self {
        Self {
            threads: 1 + (chance % 2) as usize,
            batch: [1, 7, 100, 1 << 20][(chance / 2 % 4) as usize],
            budget: [1, 4096, 64 << 20][(chance / 8 % 3) as usize],
            max_fragment_size: (chance / 24).is_multiple_of(3).then_some(500),
            empty_batches: (chance / 72).is_multiple_of(2),
            version: None,
        }
    }
}

/// Writes cells to an existing array.
pub fn write(uri: &str, case: &Case, spec: &WriteSpec, manner: Manner) -> Result<(), String> {
    let failed = |error: tdb_array::ArrayError| describe(&error);
    let array = open_with(&options(case).threads(manner.threads), uri)?;
    let mut write = array.write().budget(manner.budget).any_utf8();
    if let Some(time) = spec.timestamp {
        write = write.ids(WriteIds::new().at(time));
    }
    if let Some(version) = manner.version {
        write = write.version(version);
    }
    write = place(&array, spec, write)?;
    let cells = Given::new(&array, &spec.cells);
    if spec.layout != Layout::GlobalOrder {
        write.cells(cells.slice(0..cells.len)).map_err(failed)?;
        return Ok(());
    }
    if let Some(bytes) = manner.max_fragment_size {
        write = write.max_fragment_size(bytes);
    }
    let mut writer = write.global_order().map_err(failed)?;
    let mut start = 0;
    loop {
        if manner.empty_batches {
            writer.push(cells.slice(start..start)).map_err(failed)?;
        }
        if start == cells.len {
            break;
        }
        let end = cells.len.min(start + manner.batch);
        writer.push(cells.slice(start..end)).map_err(failed)?;
        start = end;
    }
    writer.commit().map(drop).map_err(failed)
}

fn place(array: &Array, spec: &WriteSpec, mut write: Write) -> Result<Write, String> {
    if !array.schema().is_dense() {
        return Ok(write);
    }
    write = write.order(if spec.layout == Layout::ColMajor { Order::ColMajor } else { Order::RowMajor });
    for (dimension, (low, high)) in array.schema().dimensions().iter().zip(spec.subarray.iter().flatten()) {
        let (low, high) = (Bound::Included(low.clone()), Bound::Included(high.clone()));
        let ends = ends(dimension.datatype(), false, &low, &high)?;
        write = write.range(dimension.name(), ends).map_err(|error| describe(&error))?;
    }
    Ok(write)
}

/// Cells in tdb's layout.
struct Given<'a> {
    columns: Vec<GivenColumn<'a>>,
    len: usize,
}

struct GivenColumn<'a> {
    column: &'a Column,
    /// Size in bytes of a cell, or of a value if the cells are variable-sized.
    size: usize,
    /// Offsets in values.
    offsets: Option<Vec<u64>>,
}

impl<'a> Given<'a> {
    fn new(array: &Array, columns: &'a [Column]) -> Self {
        let mut len = 0;
        let given = columns.iter().map(|column| {
            let kind = array.schema().field(&column.name).and_then(|field: FieldRef| array.schema().field_type(field));
            let value = kind.map_or(1, |kind| kind.datatype.size());
            let number = kind.and_then(|kind| kind.cell_val_num.fixed()).unwrap_or(1) as usize;
            let offsets: Option<Vec<u64>> =
                column.offsets.as_ref().map(|offsets| offsets.iter().map(|offset| offset / value as u64).collect());
            let size = if offsets.is_some() { value } else { value * number };
            len = column.count(size);
            GivenColumn { column, size, offsets }
        });
        let columns = given.collect();
        Self { columns, len }
    }

    fn slice(&self, range: std::ops::Range<usize>) -> WriteBatch<'static> {
        let mut cells = WriteBatch::new();
        for GivenColumn { column, size, offsets } in &self.columns {
            let validity = column.validity.as_ref().map(|validity| bits(&validity[range.clone()]));
            let (values, offsets) = match offsets {
                None => (&column.values[range.start * size..range.end * size], None),
                Some(offsets) => (&column.values[..], Some(offsets[range.start..=range.end].to_vec())),
            };
            cells = cells.with(column.name.clone(), WriteColumn::owned(values.to_vec(), offsets, validity));
        }
        cells
    }
}

fn bits(validity: &[u8]) -> Vec<u8> {
    validity.chunks(8).map(|eight| (0..).zip(eight).map(|(bit, valid)| u8::from(*valid != 0) << bit).sum()).collect()
}
