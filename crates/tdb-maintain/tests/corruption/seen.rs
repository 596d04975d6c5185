//! What anybody can see of an array: its cells at every time, its statistics, and the rest.

use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use tdb_array::tdb_filters::EncryptionKey;
use tdb_array::{Array, ArrayError, ArrayOptions, Fragment, Order, TimeRange};
use tdb_storage::Storage;
use tdb_types::{ArrayType, Limits};

/// Digests of what can be seen; nothing of what can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) cells: Option<u64>,
    pub(crate) statistics: Option<u64>,
    pub(crate) structure: Option<u64>,
}

pub(crate) fn options(key: Option<[u8; 32]>) -> ArrayOptions {
    let options = ArrayOptions::new().threads(1).limits(Limits::SMALL);
    key.into_iter().fold(options, |options, key| options.key(EncryptionKey::new(key)))
}

impl Seen {
    /// `times` are those at which the array is read.
    pub(crate) fn of(storage: &Arc<dyn Storage>, key: Option<[u8; 32]>, times: &[u64]) -> Self {
        let mut cells = DefaultHasher::new();
        let read = times.iter().try_for_each(|time| {
            let array = options(key).at(*time).open_on(storage.clone())?;
            hash_cells(&array, &mut cells)
        });
        let (mut statistics, mut structure) = (DefaultHasher::new(), DefaultHasher::new());
        let array = options(key).between(TimeRange::ALL).open_on(storage.clone());
        let described = array.and_then(|array| {
            let known = hash_statistics(&array, &mut statistics);
            hash_structure(&array, &mut structure)?;
            Ok(known)
        });
        let (known, described) = match described {
            Ok(known) => (known.is_ok(), true),
            Err(_) => (false, false),
        };
        Self {
            cells: read.is_ok().then(|| cells.finish()),
            statistics: known.then(|| statistics.finish()),
            structure: described.then(|| structure.finish()),
        }
    }
}

fn hash_cells(array: &Array, to: &mut DefaultHasher) -> Result<(), ArrayError> {
    let order = match array.schema().array_type() {
        ArrayType::Dense => Order::RowMajor,
        ArrayType::Sparse => Order::Global,
    };
    let fields = array.schema().fields().filter_map(|field| array.schema().field_name(field));
    let fields: Vec<String> = fields.map(str::to_owned).collect();
    let mut query = array.read().select(fields)?.order(order);
    // A dense array may be much larger than what was written into it.
    if let (ArrayType::Dense, Some(written)) = (array.schema().array_type(), array.non_empty_coordinates()?) {
        for (dimension, range) in array.schema().dimensions().iter().zip(written) {
            query = query.range(dimension.name(), range)?;
        }
    }
    for batch in query.batches()?.take(12) {
        let batch = batch?;
        for column in batch.columns() {
            column.name().hash(to);
            (0..column.len()).for_each(|cell| column.cell(cell).hash(to));
        }
    }
    Ok(())
}

fn all_fragments(array: &Array) -> Result<Vec<Fragment>, ArrayError> {
    let (replaced, _) = array.replaced_fragments()?;
    Ok(array.fragments()?.iter().cloned().chain(replaced).collect())
}

fn hash_debug(what: impl Debug, to: &mut DefaultHasher) {
    format!("{what:?}").hash(to);
}

fn hash_statistics(array: &Array, to: &mut DefaultHasher) -> Result<(), ArrayError> {
    for fragment in all_fragments(array)? {
        let fragment = fragment.reread()?;
        hash_debug(fragment.non_empty_domain(), to);
        hash_debug(fragment.rtree()?, to);
        hash_debug(fragment.stored_totals()?, to);
        for field in fragment.footer().slots().iter() {
            hash_debug(fragment.stored_statistics(field)?, to);
        }
    }
    Ok(())
}

fn hash_structure(array: &Array, to: &mut DefaultHasher) -> Result<(), ArrayError> {
    hash_debug(array.directory(), to);
    for path in array.schema_paths() {
        let schema = array.schema_at(path)?;
        hash_debug(&schema, to);
        for reference in schema.enumerations() {
            hash_debug(array.read_enumeration(reference)?, to);
        }
    }
    if let Some(damaged) = array.damaged_deletes().into_iter().next() {
        return Err(damaged.error);
    }
    hash_debug(array.metadata()?, to);
    for fragment in all_fragments(array)? {
        let fragment = fragment.reread()?;
        let footer = fragment.footer();
        hash_debug((footer.header(), fragment.processed_conditions()?), to);
        let files: Vec<_> = footer.slots().iter().flat_map(|field| fragment.files_of(field)).collect();
        hash_debug(files, to);
    }
    Ok(())
}
