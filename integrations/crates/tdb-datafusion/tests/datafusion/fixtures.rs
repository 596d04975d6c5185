//! Reads every fixture by SQL: the same cells as `tdb-arrow`, or the same error.

use std::sync::Arc;

use tdb_arrow::{ArrowOptions, Reader};
use tdb_datafusion::datafusion::arrow::array::RecordBatch;
use tdb_datafusion::tdb_array::tdb_filters::EncryptionKey;
use tdb_datafusion::tdb_array::{Array, ArrayOptions};
use tdb_datafusion::tdb_storage::Storage;
use tdb_datafusion::{Opener, TableOptions, TdbTable};
use tdb_testkit::fixtures::{self, Fixture};

use crate::support::{local, run, sorted, text};

fn every_array() -> Vec<Fixture> {
    fixtures::all().into_iter().chain(fixtures::of_older_releases()).collect()
}

fn open(fixture: &Fixture) -> Array {
    let options = ArrayOptions::new().threads(1);
    let options = match fixture.expected().key() {
        Some(key) => options.key(EncryptionKey::new(key)),
        None => options,
    };
    options.open_on(fixture.array_storage()).unwrap()
}

/// Reads the array with `tdb-arrow`. Dense arrays within the non-empty domain.
fn read(array: &Array, options: &ArrowOptions) -> Result<Vec<String>, String> {
    let schema = array.schema();
    let names: Vec<&str> = schema.fields().map(|field| schema.field_name(field).unwrap()).collect();
    let mut query = array.read().select(names).unwrap();
    if schema.is_dense() {
        let Some(ends) = array.non_empty_coordinates().unwrap() else { return Ok(Vec::new()) };
        for (dimension, ends) in schema.dimensions().iter().zip(ends) {
            query = query.range(dimension.name(), ends).unwrap();
        }
    }
    let reader = Reader::new(query, options).map_err(|error| error.to_string())?;
    let batches: Vec<RecordBatch> = reader.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    Ok(sorted(text(&batches)))
}

#[test]
fn select_all_returns_every_cell() {
    let (mut arrays, mut cells, mut refused) = (0, 0, 0);
    for fixture in every_array() {
        let name = fixture.name();
        let array = open(&fixture);
        for binary in [false, true] {
            let (options, arrow) = match binary {
                false => (TableOptions::new().partitions(2), ArrowOptions::new().far_dates_as_null()),
                true => (
                    TableOptions::new().partitions(1).strings_as_binary(),
                    ArrowOptions::new().far_dates_as_null().strings_as_binary(),
                ),
            };
            let found = run(async {
                let session = local(1);
                let table = TdbTable::of(&array, options).map_err(|error| error.to_string())?;
                session.register_table("t", table).map_err(|error| error.to_string())?;
                let all = session.sql("SELECT * FROM t").await.map_err(|error| error.to_string())?;
                let all = all.collect().await.map_err(|error| error.to_string())?;
                let counted = session.sql("SELECT count(*) FROM t").await.unwrap().collect().await.unwrap();
                let rows: usize = all.iter().map(RecordBatch::num_rows).sum();
                assert_eq!(text(&counted), [rows.to_string()], "{name}");
                Ok::<_, String>(sorted(text(&all)))
            });
            match (found, read(&array, &arrow)) {
                (Ok(found), Ok(wanted)) => {
                    assert!(found == wanted, "{name}: {} rows, not {}", found.len(), wanted.len());
                    cells += found.len();
                }
                // Strings that are not UTF-8, and coordinates beyond the date types of Arrow.
                (Err(found), Err(wanted)) => {
                    let known = ["not valid UTF-8", "is out of range of the target"];
                    let named = known.iter().any(|known| wanted.contains(known) && found.contains(known));
                    assert!(named && found.contains("table"), "{name}: {found}; {wanted}");
                    refused += 1;
                }
                (found, wanted) => panic!("{name}: {found:?}, not {wanted:?}"),
            }
            arrays += 1;
        }
    }
    println!("{arrays} arrays, {cells} cells, {refused} refused");
    assert!(arrays > 600 && cells > 40_000 && refused > 0 && refused < arrays / 10, "{arrays} {cells} {refused}");
}

#[test]
fn encrypted_arrays_open_only_with_the_right_key() {
    let encrypted: Vec<Fixture> =
        every_array().into_iter().filter(|fixture| fixture.expected().key().is_some()).collect();
    assert!(!encrypted.is_empty());
    for fixture in &encrypted {
        let key = fixture.expected().key().unwrap();
        let opener = || Opener::new(|name| Ok(fixtures::named(name).array_storage() as Arc<dyn Storage>));
        let name = fixture.name();
        let count = |opener: Opener| {
            run(async {
                let session = tdb_datafusion::session(tdb_datafusion::SessionOptions::new(opener)).unwrap();
                crate::support::rows(&session, &format!("SELECT count(*) FROM '{name}'")).await
            })
        };
        let without = count(opener()).unwrap_err().to_string();
        assert!(without.contains(name) && without.contains("key"), "{without}");
        let wrong = count(opener().with_keys(|_| Some(EncryptionKey::new([7; 32])))).unwrap_err().to_string();
        assert!(wrong.contains(name), "{wrong}");
        let right = count(opener().with_keys(move |_| Some(EncryptionKey::new(key)))).unwrap();
        let wanted = read(&open(fixture), &ArrowOptions::new()).unwrap().len();
        assert_eq!(right, [wanted.to_string()], "{name}");
        // An unencrypted array rejects a key.
        let plain = Opener::new(|_| Ok(fixtures::named("v22-by-2.30.0-sparse-2d").array_storage() as Arc<dyn Storage>));
        let error = count(plain.with_keys(move |_| Some(EncryptionKey::new(key)))).unwrap_err().to_string();
        assert!(error.contains("key") || error.contains("encrypt"), "{error}");
    }
}
