//! Encrypted arrays with the right key, a wrong key, and no key.

use std::sync::Arc;

use tdb_array::{Array, ArrayError, ArrayOptions, ErrorCategory};
use tdb_filters::{EncryptionKey, KeyProblem};
use tdb_storage::MemoryStorage;
use tdb_testkit::fixtures;

fn open(storage: &Arc<MemoryStorage>, key: Option<[u8; 32]>) -> Result<Array, ArrayError> {
    ArrayOptions::new().key(key.map(EncryptionKey::new)).open_on(storage.clone())
}

/// Checks that the error reports this problem with the key.
fn check(error: &ArrayError, wanted: KeyProblem, name: &str) {
    assert!(matches!(error, ArrayError::Key { problem, .. } if *problem == wanted), "{name}: {error:?}");
    assert_eq!((error.key_problem(), error.category()), (Some(wanted), ErrorCategory::Key), "{name}");
}

#[test]
fn the_key_is_missing_wrong_or_not_needed() {
    let (mut encrypted, mut clear) = (0, 0);
    for fixture in fixtures::all().into_iter().chain(fixtures::of_older_releases()) {
        let (storage, name) = (fixture.array_storage(), fixture.name());
        match fixture.expected().key() {
            Some(key) => {
                let array = open(&storage, Some(key)).unwrap();
                let printed = format!("{array:?}");
                assert!(!printed.contains("48, 49, 50") && !printed.contains("0123456789abcdef"), "{printed}");
                check(&open(&storage, None).unwrap_err(), KeyProblem::Missing, name);
                let mut other = key;
                other[31] ^= 1;
                let wrong = open(&storage, Some(other)).unwrap_err();
                check(&wrong, KeyProblem::Wrong, name);
                assert!(!format!("{wrong:?} {wrong}").contains("0123456789"), "{wrong:?}");
                encrypted += 1;
            }
            None => {
                check(&open(&storage, Some([7; 32])).unwrap_err(), KeyProblem::NotNeeded, name);
                clear += 1;
            }
        }
    }
    assert!(encrypted >= 30 && clear >= 300, "{encrypted} encrypted, {clear} in clear");
}

/// If the key fits the schema, a file that does not decrypt is damaged or was added without the
/// key.
#[test]
fn damage_is_not_blamed_on_the_key() {
    let fixture = fixtures::named("v22-by-2.30.0-sparse-encrypted");
    let key = fixture.expected().key();
    let mut damaged = 0;
    for path in fixture.array_files().filter(|path| path.ends_with(".tdb")) {
        let storage = fixture.array_storage();
        let mut bytes = fixture.read(path);
        // Position of an authentication tag: in metadata after the header of the first tile, in
        // cells after the header of the first chunk, past IVs and lengths.
        let at = if path.ends_with("__fragment_metadata.tdb") { 57 + 20 + 8 + 20 } else { 20 + 8 + 20 };
        // The offsets file of strings with embedded offsets has no chunks and nothing to encrypt.
        if at >= bytes.len() {
            continue;
        }
        bytes[at] ^= 1;
        storage.insert(path, bytes).unwrap();
        let read = || -> Result<usize, ArrayError> {
            let array = open(&storage, key)?;
            array.fragments().unwrap().iter().try_for_each(|fragment| fragment.rtree().map(drop))?;
            array.read().batches()?.map(|batch| batch.map(|batch| batch.len())).sum()
        };
        let error = read().unwrap_err();
        assert_eq!(error.key_problem(), Some(KeyProblem::Wrong), "{path}: {error}");
        assert_eq!(error.category(), ErrorCategory::Corrupt, "{path}: {error}");
        damaged += 1;
    }
    assert!(damaged >= 4, "{damaged} files");
}

fn schema_of(fixture: &fixtures::Fixture) -> String {
    fixture.array_files().find(|path| path.starts_with("__schema/__1")).unwrap().to_owned()
}

/// Checks that the error names the clear and the encrypted file, and does not blame the key.
fn check_partly(error: &ArrayError, [clear, encrypted]: [&str; 2]) {
    let ArrayError::PartlyEncrypted { clear: in_clear, encrypted: other } = error else { panic!("{error:?}") };
    assert!(in_clear.contains(clear) && other.contains(encrypted), "{error}");
    assert_eq!((error.key_problem(), error.category()), (None, ErrorCategory::Corrupt), "{error}");
    let text = error.to_string();
    assert!(text.contains("is not encrypted, but") && !text.contains("give") && !text.contains("pass"), "{text}");
}

/// A clear schema among encrypted ones is foreign. The error blames neither a superfluous nor a
/// missing key.
#[test]
fn a_schema_in_clear_among_encrypted_ones() {
    let (encrypted, clear) =
        (fixtures::named("v22-by-2.30.0-sparse-encrypted"), fixtures::named("v22-by-2.30.0-sparse-2d"));
    let storage = encrypted.array_storage();
    let name = "__9999999999999_9999999999999_00000000000000000000000000000001";
    storage.insert(&format!("__schema/{name}"), clear.read(&schema_of(&clear))).unwrap();
    let open = |key: Option<[u8; 32]>| {
        let options = ArrayOptions::new().at(9_999_999_999_999).key(key.map(EncryptionKey::new));
        options.open_on(storage.clone()).and_then(|array| array.fragments().map(drop)).unwrap_err()
    };
    check_partly(&open(encrypted.expected().key()), [name, &schema_of(&encrypted)]);
    check_partly(&open(None), ["the array's schema", &schema_of(&encrypted)]);
}

/// The only schema is replaced by a clear copy. The rest is encrypted.
#[test]
fn the_only_schema_in_clear() {
    for fixture in ["v22-by-2.30.0-sparse-encrypted", "v22-by-2.30.0-dense-enumeration-encrypted"] {
        let fixture = fixtures::named(fixture);
        let key = fixture.expected().key();
        let storage = fixture.array_storage();
        let schema = open(&storage, key).unwrap().schema().to_file().unwrap();
        storage.insert(&schema_of(&fixture), schema).unwrap();
        let metadata = "__fragment_metadata.tdb";
        check_partly(&open(&storage, key).unwrap_err(), [&schema_of(&fixture), metadata]);
        // Footers are never encrypted.
        let array = open(&storage, None).unwrap();
        let error = array.fragments().unwrap().iter().find_map(|fragment| fragment.rtree().err()).unwrap();
        check_partly(&error, ["the array's schema", metadata]);
        let read = || -> Result<(), ArrayError> { array.read().batches()?.try_for_each(|batch| batch.map(drop)) };
        check_partly(&read().unwrap_err(), ["the array's schema", metadata]);
        if !fixture.expected().metadata.is_empty() {
            check_partly(&array.metadata().unwrap_err(), ["the array's schema", "__meta/"]);
        }
    }
}
