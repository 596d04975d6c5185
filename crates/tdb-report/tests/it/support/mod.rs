//! Arrays for the tests.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)] // not every test uses all helpers, and helpers may panic

use std::sync::Arc;

use tdb_array::tdb_filters::EncryptionKey;
use tdb_array::tdb_schema::{
    ArrayDefinition, ArraySchema, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder,
};
use tdb_array::{Array, ArrayOptions, CreateOptions, MetadataValue, TimeRange, WriteBatch, WriteIds};
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::fixtures::{self, Fixture};
use tdb_types::Datatype;

pub fn open(fixture: &Fixture) -> tdb_array::Result<Array> {
    let options = ArrayOptions::new().threads(1).key(fixture.expected().key().map(EncryptionKey::new));
    options.open_on(fixture.array_storage())
}

pub fn named(name: &str) -> Array {
    open(&fixtures::named(name)).unwrap()
}

/// Text with markup and control characters.
pub const HOSTILE: &str =
    "</title></text><script>alert('1')</script>\"><img src=x onerror=alert(1)>&amp;\u{1b}[31m\u{202e}";

fn create(schema: ArraySchema, enumerations: Option<Enumeration>) -> Arc<dyn Storage> {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let mut definition = ArrayDefinition::new(schema).unwrap();
    if let Some(enumeration) = enumerations {
        definition = definition.with_enumeration(enumeration).unwrap();
    }
    CreateOptions::new().create_on(&storage, &definition).unwrap();
    storage
}

pub fn array_on(storage: &Arc<dyn Storage>) -> Array {
    ArrayOptions::new().threads(1).between(TimeRange::ALL).open_on(storage.clone()).unwrap()
}

/// Returns an array whose names are all hostile.
pub fn hostile() -> Array {
    let values = Enumeration::strings(HOSTILE, "values", Datatype::StringUtf8, [HOSTILE, "b"]).unwrap();
    let dimension = |suffix: &str| Dimension::new(format!("{HOSTILE}{suffix}"), 0i32..=999);
    let schema = SchemaBuilder::sparse()
        .dimension(dimension("x"))
        .dimension(dimension("y"))
        .enumeration(EnumerationRef::unplaced(HOSTILE))
        .attribute(Attribute::new(HOSTILE, Datatype::UInt8).with_enumeration(HOSTILE))
        .attribute(Attribute::new(format!("{HOSTILE}{HOSTILE}"), Datatype::Float64))
        .build()
        .unwrap();
    let storage = create(schema, Some(values));
    let (x, y) = (format!("{HOSTILE}x"), format!("{HOSTILE}y"));
    for _ in 0..3 {
        let values = [0.5f64, f64::NAN, 1e300];
        let cells =
            WriteBatch::new().with(&*x, &[1i32, 500, 999]).with(&*y, &[7i32, 400, 3]).with(HOSTILE, &[0u8, 1, 1]);
        let cells = cells.with(format!("{HOSTILE}{HOSTILE}"), &values);
        array_on(&storage).write().cells(cells).unwrap();
    }
    array_on(&storage).write_metadata().put(HOSTILE, MetadataValue::text(HOSTILE).unwrap()).commit().unwrap();
    array_on(&storage)
}

/// Returns a sparse array of `count` small fragments, with two dimensions. The second dimension
/// grows with time.
pub fn many_fragments(count: u32) -> Array {
    let dimension = |name| Dimension::new(name, 0u32..=999_999);
    let schema = SchemaBuilder::sparse()
        .dimension(dimension("x"))
        .dimension(dimension("y"))
        .attribute(Attribute::new("a", Datatype::UInt32))
        .build()
        .unwrap();
    let storage = create(schema, None);
    let array = array_on(&storage);
    for number in 0..count {
        let names = WriteIds::new().at(1_700_000_000_000 + u64::from(number) * 60_000);
        let x = number.wrapping_mul(7919) % 999_000;
        let (x, y, a) = ([x, x + 900], [number * 10, number * 10 + 500], [number, number + 1]);
        let cells = WriteBatch::new().with("x", &x).with("y", &y).with("a", &a);
        array.write().ids(names).cells(cells).unwrap();
    }
    array_on(&storage)
}
