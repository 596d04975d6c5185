//! Checks the state that each kind of failure leaves.

use std::sync::Arc;

use tdb_storage::{LocalStorage, MemoryStorage, Result, Storage};
use tdb_testkit::{Fault, FaultyStorage};

/// Performs eight modifying operations.
fn work(storage: &dyn Storage) -> Result<()> {
    storage.create_folder("d")?;
    let d = storage.sub("d")?;
    let mut file = d.create_file("f")?;
    file.append(b"0123")?;
    file.append(b"4567")?;
    file.finish()?;
    d.sync_folder("")?;
    d.create_new("g", b"89")?;
    d.remove_file("g")
}

/// Returns the contents of the folder after a failure of operation `n`.
fn left(disk: &Arc<dyn Storage>, fault: Fault, n: u64) -> String {
    let storage = FaultyStorage::new(disk.clone(), fault, n);
    work(&storage).unwrap_err();
    assert_eq!(storage.changes(), n + 1);
    assert_eq!(storage.list("").is_err(), fault != Fault::Fails);
    let Ok(entries) = disk.list("d") else { return "no folder".to_owned() };
    let read = |name: &str| String::from_utf8(disk.read(&format!("d/{name}")).unwrap()).unwrap();
    entries.iter().map(|entry| format!("{}={} ", entry.name, read(&entry.name))).collect()
}

#[test]
fn faults_leave_the_expected_state() {
    let sound = FaultyStorage::sound(Arc::new(MemoryStorage::new()));
    work(&sound).unwrap();
    assert_eq!(sound.changes(), 8);
    let f = "f=01234567 ";
    let cases = [
        (Fault::Fails, ["no folder", "", "", "", "", f, f, "f=01234567 g=89 "]),
        (
            Fault::Stops,
            ["no folder", "", "f=01 ", "f=012345 ", f, f, ".tdb-half-0.tmp=8 f=01234567 ", "f=01234567 g=89 "],
        ),
        (Fault::LosesPower, ["no folder", "", "", "", "", "", f, "f=01234567 g=89 "]),
    ];
    for (fault, expected) in cases {
        for (n, expected) in (0..).zip(expected) {
            let folder = tempfile::tempdir().unwrap();
            assert_eq!(left(&(Arc::new(LocalStorage::new(folder.path())) as _), fault, n), expected, "{fault:?} {n}");
            assert_eq!(left(&(Arc::new(MemoryStorage::new()) as _), fault, n), expected, "{fault:?} {n}");
        }
    }
}
