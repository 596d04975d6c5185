//! Digests of the contents that readers see: cells at every time, statistics, and the rest.

use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use tdb_array::tdb_filters::EncryptionKey;
use tdb_array::{Array, ArrayError, ArrayOptions, Fragment, GroupOptions, NodeKind, Order, TimeRange};
use tdb_storage::Storage;
use tdb_types::{ArrayType, Limits};

/// Digests of the visible contents. `None` for contents that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// All cells at all times. For a group, its members and the cells of arrays.
    pub cells: Option<u64>,
    /// Metadata, and the non-empty domain of an array.
    pub told: Option<u64>,
    /// Statistics, MBRs and non-empty domains of fragments.
    pub statistics: Option<u64>,
    /// Schemas, list of visible files, metadata.
    pub structure: Option<u64>,
}

/// Returns the options to open arrays.
pub fn options(key: Option<[u8; 32]>) -> ArrayOptions {
    ArrayOptions::new().threads(1).limits(Limits::SMALL).key(key.map(EncryptionKey::new))
}

impl Seen {
    /// Reads an array at the given times.
    pub(crate) fn of_array(storage: &Arc<dyn Storage>, key: Option<[u8; 32]>, times: &[u64]) -> Self {
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
        Self {
            cells: read.is_ok().then(|| cells.finish()),
            told: told_of(storage, key).ok(),
            statistics: matches!(described, Ok(Ok(()))).then(|| statistics.finish()),
            structure: described.is_ok().then(|| structure.finish()),
        }
    }

    /// Reads a group.
    pub(crate) fn of_group(storage: &Arc<dyn Storage>, key: Option<[u8; 32]>) -> Self {
        let (mut cells, mut told) = (DefaultHasher::new(), DefaultHasher::new());
        let is_read = hash_group(storage, key, &mut cells, &mut told).is_ok();
        let digest = |hasher: DefaultHasher| is_read.then(|| hasher.finish());
        Self { cells: digest(cells), told: digest(told), statistics: None, structure: None }
    }
}

/// Returns a digest of an array's metadata and non-empty domain.
fn told_of(storage: &Arc<dyn Storage>, key: Option<[u8; 32]>) -> Result<u64, ArrayError> {
    let mut to = DefaultHasher::new();
    let array = options(key).open_on(storage.clone())?;
    hash_debug((array.metadata()?, array.non_empty_domain()?), &mut to);
    Ok(to.finish())
}

fn group_options(key: Option<[u8; 32]>) -> GroupOptions {
    GroupOptions::new().limits(Limits::SMALL).key(key.map(EncryptionKey::new))
}

/// Hashes the members at all depths and the cells of arrays. Hashes the metadata of all groups into
/// `told`.
fn hash_group(
    storage: &Arc<dyn Storage>,
    key: Option<[u8; 32]>,
    to: &mut DefaultHasher,
    told: &mut DefaultHasher,
) -> Result<(), ArrayError> {
    for node in group_options(key).open_on(storage.clone())?.tree().nodes() {
        (node.depth, &node.name).hash(to);
        hash_debug(&node.member, to);
        match (node.kind, &node.storage) {
            (NodeKind::Failed(error), _) => return Err(error),
            (NodeKind::Array, Some(inner)) => {
                "array".hash(to);
                hash_cells(&options(key).open_on(inner.clone())?, to)?;
            }
            (NodeKind::Group, Some(inner)) => {
                "group".hash(to);
                hash_debug(group_options(key).open_on(inner.clone())?.metadata()?, told);
            }
            (kind, _) => hash_debug(kind, to),
        }
    }
    Ok(())
}

fn hash_cells(array: &Array, to: &mut DefaultHasher) -> Result<(), ArrayError> {
    let order = match array.schema().array_type() {
        ArrayType::Dense => Order::RowMajor,
        ArrayType::Sparse => Order::Global,
    };
    let fields = array.schema().fields().filter_map(|field| array.schema().field_name(field));
    let fields: Vec<String> = fields.map(str::to_owned).collect();
    let mut query = array.read().select(fields)?.order(order);
    // A dense array may be much larger than its written part.
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

pub(crate) fn all_fragments(array: &Array) -> Result<Vec<Fragment>, ArrayError> {
    let (replaced, _) = array.superseded_fragments()?;
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
