//! Round trips of the schemas of all fixtures, and arrays created from the text.

use std::sync::Arc;

use tdb_array::{Array, ArrayOptions, CreateOptions};
use tdb_filters::EncryptionKey;
use tdb_schema::{ArrayDefinition, ArraySchema, SchemaBuilder};
use tdb_schema_text::{from_toml, to_toml};
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::fixtures::{self, Fixture};

/// Returns options to open the array of a fixture, and to create a similar array.
fn options(fixture: &Fixture) -> (ArrayOptions, CreateOptions) {
    match fixture.expected().key() {
        Some(key) => {
            let key = || EncryptionKey::new(key);
            (ArrayOptions::new().key(key()), CreateOptions::new().key(key()))
        }
        None => (ArrayOptions::new(), CreateOptions::new()),
    }
}

fn every_array() -> impl Iterator<Item = Fixture> {
    fixtures::all().into_iter().chain(fixtures::of_older_releases())
}

/// Returns the schema with fixed names instead of random names.
fn placed(definition: &ArrayDefinition) -> ArraySchema {
    definition.clone().place_enumerations(|| Ok::<_, tdb_schema::SchemaError>("e".to_owned())).unwrap().schema().clone()
}

#[test]
fn print_create_print_is_a_fixed_point_for_every_fixture() {
    let mut count = 0;
    for fixture in every_array() {
        let name = fixture.name();
        let (open, create) = options(&fixture);
        let array = open.open_on(fixture.array_storage()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let definition = array.definition().unwrap_or_else(|error| panic!("{name}: {error}"));
        let text = to_toml(&definition).unwrap();
        let read = from_toml(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        assert_eq!(placed(&read), placed(&definition), "{name}\n{text}");
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        create.create_on(&storage, &read).unwrap();
        let made: Array = open.open_on(storage).unwrap();
        assert_eq!(made.schema().version(), array.schema().version());
        assert_eq!(to_toml(&made.definition().unwrap()).unwrap(), text, "{name}");
        count += 1;
    }
    assert!(count > 300, "{count}");
}

#[test]
fn a_builder_gives_back_the_schema_that_it_was_made_from() {
    let mut refused = Vec::new();
    for fixture in every_array() {
        let schema = options(&fixture).0.open_on(fixture.array_storage()).unwrap().schema().clone();
        match SchemaBuilder::from(ArraySchema::clone(&schema)).build() {
            Ok(built) => assert_eq!(built, *schema),
            Err(error) => refused.push(format!("{}: {error}", fixture.name())),
        }
    }
    assert_eq!(refused, [""; 0]);
}
