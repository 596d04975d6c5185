//! Opens an arbitrary array and reads it in every possible way.

use std::sync::Arc;

use tdb_array::tdb_condition::{Condition, field};
use tdb_array::tdb_filters::EncryptionKey;
use tdb_array::tdb_schema::{Attribute, Dimension};
use tdb_array::tdb_storage::Storage;
use tdb_array::tdb_types::{ArrayType, Limits};
use tdb_array::{Array, ArrayError, ArrayOptions, Batch, ErrorCategory, GroupOptions, Order};

/// Bytes per batch. Small, so that allocations caused by damage stand out.
pub const BUDGET: usize = 128 << 10;

/// Maximum number of batches. A valid dense array may have 2^64 cells, and further batches test
/// nothing new.
const MOST_BATCHES: usize = 12;

const ORDERS: [Order; 4] = [Order::RowMajor, Order::ColMajor, Order::Global, Order::Unordered];

/// Opens and reads the array, with a key if encrypted. `variant` selects the way to read. Returns
/// the number of cells.
///
/// # Panics
///
/// If a result is inconsistent, or if the error blames the caller.
pub fn read_everything(storage: Arc<dyn Storage>, key: Option<[u8; 32]>, variant: usize) -> Result<u64, ArrayError> {
    let read = open(storage, key).and_then(|array| read(&array, variant));
    if let Err(error) = &read {
        assert_ne!(error.category(), ErrorCategory::Usage, "the reader is blamed: {error}");
        let _ = format!("{error} {error:?}");
    }
    read
}

fn open(storage: Arc<dyn Storage>, key: Option<[u8; 32]>) -> Result<Array, ArrayError> {
    ArrayOptions::new().threads(1).limits(Limits::SMALL).key(key.map(EncryptionKey::new)).open_on(storage)
}

/// Opens the folder as a group and walks the tree below.
///
/// # Panics
///
/// If the walk does not end, or if the error blames the caller.
pub fn walk_everything(storage: Arc<dyn Storage>, key: Option<[u8; 32]>, variant: usize) -> Result<u64, ArrayError> {
    let options = GroupOptions::new().limits(Limits::SMALL).key(key.map(EncryptionKey::new));
    let walked = options.open_on(storage).map(|group| {
        let _ = group.metadata().map(|metadata| metadata.iter().count());
        let tree = if variant.is_multiple_of(2) { group.tree() } else { group.tree().depth(variant % 5) };
        tree.nodes().map(|node| node.name.len() as u64).sum()
    });
    if let Err(error) = &walked {
        assert_ne!(error.category(), ErrorCategory::Usage, "the reader is blamed: {error}");
    }
    walked
}

fn read(array: &Array, variant: usize) -> Result<u64, ArrayError> {
    let order = match (variant % 6, array.schema().array_type()) {
        (0 | 1, ArrayType::Dense) => Order::RowMajor,
        (0 | 1, ArrayType::Sparse) => Order::Unordered,
        (other, _) => ORDERS[other - 2],
    };
    // Small batches exercise the most code paths.
    let budget = if variant.is_multiple_of(2) { BUDGET } else { 1 + variant * 61 % 400 };
    let _ = array.non_empty_domain()?;
    let _: Result<Vec<u64>, _> = array.fragments()?.iter().map(tdb_array::Fragment::bytes).collect();
    let _ = array.metadata().map(|metadata| metadata.iter().count());
    let _ = array.leftovers().map(|leftovers| leftovers.len());
    // Damaged enumerations must not prevent reading the cells.
    let names: Vec<String> = array.schema().enumerations().iter().map(|one| one.name.clone()).collect();
    for name in names {
        if let Ok(enumeration) = array.enumeration(&name) {
            assert!((0..enumeration.len()).all(|index| enumeration.value(index).is_some()), "values of {name}");
        }
    }
    let dimensions = array.schema().domain().dimensions().iter().map(|dimension| dimension.name().to_owned());
    let attributes = array.schema().attributes().iter().map(|attribute| attribute.name().to_owned());
    let query = array.read().order(order).budget(budget);
    let query = match variant % 3 {
        0 => query.select(dimensions.chain(attributes))?,
        1 => query.select(attributes)?,
        _ => query,
    };
    let _ = query.plan()?.to_string();
    let mut cells = 0;
    for batch in query.batches()?.take(MOST_BATCHES) {
        let batch = batch?;
        check(&batch);
        cells += batch.len() as u64;
    }
    // Only queries with a condition use statistics and unfilter a part of the tiles.
    if let Some(condition) = filter(array, variant) {
        for batch in array.read().order(order).budget(budget).filter(condition).batches()?.take(MOST_BATCHES) {
            check(&batch?);
        }
    }
    Ok(cells)
}

/// Returns a condition on the first comparable field. In every third variant, combines conditions
/// on all fields.
fn filter(array: &Array, variant: usize) -> Option<Condition> {
    let schema = array.schema();
    let fields =
        schema.attributes().iter().map(Attribute::name).chain(schema.domain().dimensions().iter().map(Dimension::name));
    let conditions = fields.filter_map(|name| {
        let condition = match variant % 4 {
            0 => field(name).is_in(["1", "3", "a"]),
            1 => field(name).is_not_null(),
            2 => field(name).ge(3) & !field(name).eq(5),
            _ => field(name).le("3") | field(name).is_null(),
        };
        let is_sound = condition.bind(schema, |name| array.enumeration(name).ok()).is_ok();
        is_sound.then_some(condition)
    });
    if variant.is_multiple_of(3) { conditions.reduce(Condition::or) } else { conditions.take(1).next() }
}

/// Checks every guarantee of a batch.
fn check(batch: &Batch) {
    for column in batch.columns() {
        assert_eq!(column.len(), batch.len());
        let size = column.datatype().size();
        match (column.offsets(), column.cell_val_num().fixed()) {
            (Some(offsets), None) => {
                assert_eq!(offsets.len(), column.len() + 1, "offsets of {}", column.name());
                assert!(offsets.is_sorted() && offsets[0] == 0, "offsets of {}", column.name());
                assert_eq!(offsets[column.len()] as usize * size, column.bytes().len(), "end of {}", column.name());
            }
            (None, Some(number)) => {
                assert_eq!(column.bytes().len(), column.len() * size * number as usize, "size of {}", column.name());
            }
            _ => panic!("offsets of {} contradict its type", column.name()),
        }
        assert!(column.validity().is_none_or(|bits| bits.len() == column.len().div_ceil(8)));
        assert!(column.null_count() <= column.len());
        for cell in
            [0, column.len() / 2, column.len().saturating_sub(1)].into_iter().filter(|&cell| cell < column.len())
        {
            let _ = (column.cell(cell), column.is_valid(cell));
        }
    }
}
