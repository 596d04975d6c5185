//! Digests that show whether both sides read the same cells.

use std::error::Error;

use sha2::{Digest, Sha256};
use tdb_array::{Aggregates, Column, Query};

use tdb_reference::model::Bytes;

/// Returns the digest of a query's cells, see
/// [`TimedReads::digest`](tdb_reference::TimedReads::digest). For several queries, the digest
/// covers the cells of all queries column by column. The cells must then be fixed-size and not
/// nullable.
pub fn of_cells(
    queries: impl ExactSizeIterator<Item = Result<Query, Box<dyn Error>>>,
) -> Result<Bytes, Box<dyn Error>> {
    let is_one = queries.len() == 1;
    let mut hash = Sha256::new();
    let mut columns: Vec<Vec<u8>> = Vec::new();
    for query in queries {
        for batch in query?.batches()? {
            let batch = batch?;
            if is_one {
                batch.columns().iter().for_each(|column| add(column, &mut hash));
                continue;
            }
            columns.resize_with(batch.columns().len(), Vec::new);
            for (all, column) in columns.iter_mut().zip(batch.columns()) {
                all.extend_from_slice(column.bytes());
            }
        }
    }
    columns.iter().for_each(|column| hash.update(column));
    Ok(Bytes(hash.finalize().to_vec()))
}

fn add(column: &Column, hash: &mut Sha256) {
    hash.update(column.bytes());
    let size = column.datatype().size() as u64;
    for offset in column.offsets().into_iter().flatten() {
        hash.update((offset * size).to_le_bytes());
    }
    if column.validity().is_some() {
        (0..column.len()).for_each(|cell| hash.update([u8::from(column.is_valid(cell))]));
    }
}

/// Returns the digest of aggregates of fields that are not nullable. Sums round equally on both
/// sides only if all partial sums are exact, which holds for the cases.
pub fn of_aggregates(aggregates: &Aggregates) -> Bytes {
    let mut hash = Sha256::new();
    aggregates.batch().columns().iter().for_each(|column| hash.update(column.bytes()));
    Bytes(hash.finalize().to_vec())
}

/// Returns the digest of an array's fragments in name order: the name of each fragment, and its
/// number of cells.
pub fn of_fragments(fragments: impl Iterator<Item = (String, u64)>) -> Bytes {
    let mut fragments: Vec<(String, u64)> = fragments.collect();
    fragments.sort();
    let mut hash = Sha256::new();
    for (name, cells) in fragments {
        // The library returns complete paths.
        hash.update(name.rsplit('/').next().unwrap_or_default());
        hash.update(cells.to_le_bytes());
    }
    Bytes(hash.finalize().to_vec())
}
