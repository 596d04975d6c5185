//! Writes.

use tdb_array::{Array, ArrayOptions, Order, WriteBatch};
use tdb_reference::model::{Bytes, Column};
use tdb_reference::{Stopwatch, TimedReads, peak_memory, repeated, reset_peak_memory};
use tdb_types::{Layout, Scalar};

use crate::cells::new_cells;
use crate::outcome::Result;
use crate::task::{Request, WriteTask};

pub fn work(request: &Request, task: &WriteTask) -> Result<TimedReads> {
    let columns = match &task.sorted {
        Some(sorted) => columns_in_global_order(sorted, task.write.columns.iter().map(|(name, _)| name.as_str()))?,
        None => task.write.materialise().cells,
    };
    let cells = new_cells(&columns);
    let options = ArrayOptions::new().threads(request.threads);
    reset_peak_memory();
    let before = peak_memory();
    let mut timed = repeated(request.repeats, || -> Result<_> {
        let start = Stopwatch::start();
        for _ in 0..task.fragments {
            write(&options.open(&request.uri)?, task, &cells)?;
        }
        Ok(start.taken(0.0, task.fragments))
    })?;
    // The memory of the given cells does not count.
    timed.peak_memory = timed.peak_memory.saturating_sub(before);
    timed.cells = usize::try_from(task.write.cells)? * task.fragments;
    timed.bytes = columns.iter().map(Column::byte_count).sum::<u64>() * task.fragments as u64;
    Ok(timed)
}

fn write(array: &Array, task: &WriteTask, cells: &WriteBatch<'_>) -> Result<()> {
    let mut write = array.write();
    for (dimension, (first, last)) in array.schema().dimensions().iter().zip(task.write.subarray.iter().flatten()) {
        let physical = dimension.datatype().physical();
        let value = |bytes: &Bytes| Scalar::from_le_bytes(physical, bytes).ok_or("a bound has the wrong size");
        write = write.range(dimension.name(), value(first)?..=value(last)?)?;
    }
    match task.write.layout {
        Layout::GlobalOrder => {
            let mut writer = write.global_order()?;
            writer.push(cells)?;
            writer.commit()?;
        }
        Layout::ColMajor => drop(write.order(Order::ColMajor).cells(cells)?),
        _ => drop(write.cells(cells)?),
    }
    Ok(())
}

/// Reads the cells of an array as columns in global order.
pub fn columns_in_global_order<'a>(uri: &str, names: impl Iterator<Item = &'a str>) -> Result<Vec<Column>> {
    let array = Array::open(uri)?;
    let query = array.read().select(names)?.order(Order::Global).budget(usize::MAX);
    let batch = query.batches()?.next().ok_or("no cells")??;
    let column = |column: &tdb_array::Column| Column {
        name: column.name().to_owned(),
        values: Bytes(column.bytes().to_vec()),
        offsets: column.offsets().map(<[u64]>::to_vec),
        validity: column
            .validity()
            .map(|_| Bytes((0..column.len()).map(|cell| u8::from(column.is_valid(cell))).collect())),
    };
    Ok(batch.columns().iter().map(column).collect())
}
