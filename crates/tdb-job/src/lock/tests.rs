//! Tests of the lock, in memory.
#![allow(clippy::unwrap_used)]

use tdb_array::GroupOptions;
use tdb_storage::MemoryStorage;

use super::*;
use tdb_array::SmallFiles;

fn files() -> SmallFiles {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    storage.create_folder("__group").unwrap();
    GroupOptions::new().open_on(storage).unwrap().small_files()
}

/// Returns a dead owner. No process has the maximum number.
fn dead(token: &str) -> Owner {
    Owner { process: u32::MAX, ..Owner::this(token.to_owned()) }
}

fn put(files: &SmallFiles, path: &str, owner: &Owner) {
    files.storage().create_new(path, owner.to_string().as_bytes()).unwrap();
}

fn names(files: &SmallFiles) -> Vec<String> {
    let entries = files.storage().list("").unwrap().into_iter().map(|entry| entry.name);
    entries.filter(|name| name.starts_with('.')).collect()
}

#[test]
fn only_one_process_holds_the_lock() {
    let files = files();
    let lock = Lock::take(files.storage(), false).unwrap();
    let error = Lock::take(files.storage(), false).unwrap_err();
    assert!(matches!(&error, MaintainError::Busy { who, .. } if who.contains("process")), "{error}");
    lock.check().unwrap();
    drop(lock);
    let lock = Lock::take(files.storage(), false).unwrap();
    // Takes over by request.
    let other = Lock::take(files.storage(), true).unwrap();
    assert!(matches!(lock.check(), Err(MaintainError::Busy { .. })));
    drop(lock);
    other.check().unwrap();
    drop(other);
    assert_eq!(names(&files), [""; 0]);
}

#[test]
fn locks_of_dead_processes_are_taken_over() {
    let own = Owner::this("t".to_owned());
    let first = dead("a");
    assert_eq!(Owner::parse(&first.to_string()), Some(first.clone()));
    let files_of = |owner: &Owner| {
        let files = files();
        put(&files, MAINTENANCE_LOCK, owner);
        files
    };
    let files = files_of(&first);
    assert_eq!(Lock::take(files.storage(), false).is_ok(), !own.place.is_empty());
    assert_eq!(names(&files).is_empty(), !own.place.is_empty());
    let elsewhere = Owner { place: "elsewhere".to_owned(), ..first };
    let files = files_of(&elsewhere);
    assert!(matches!(Lock::take(files.storage(), false), Err(MaintainError::Busy { .. })));
    drop(Lock::take(files.storage(), true).unwrap());
    assert_eq!(names(&files), [""; 0]);
}

#[test]
fn interrupted_takeovers_are_taken_over() {
    if Owner::this(String::new()).place.is_empty() {
        return;
    }
    let files = files();
    let mut path = MAINTENANCE_LOCK.to_owned();
    for number in 0..4 {
        let owner = dead(&number.to_string());
        put(&files, &path, &owner);
        path = takeover_path(owner.to_string().as_bytes());
    }
    drop(Lock::take(files.storage(), false).unwrap());
    assert_eq!(names(&files), [""; 0]);
}

#[test]
fn a_running_takeover_blocks_other_processes() {
    let files = files();
    let first = dead("a");
    put(&files, MAINTENANCE_LOCK, &first);
    // A living process is taking over.
    let guard = takeover_path(first.to_string().as_bytes());
    put(&files, &guard, &Owner { process: std::process::id(), ..dead("b") });
    let before = names(&files);
    assert!(matches!(Lock::take(files.storage(), false), Err(MaintainError::Busy { .. })));
    if !Owner::this(String::new()).place.is_empty() {
        assert!(matches!(Lock::take(files.storage(), true), Err(MaintainError::Busy { .. })));
    }
    assert_eq!(names(&files), before);
}

#[test]
fn locks_of_a_former_boot_are_taken_over() {
    let own = Owner {
        process: 1,
        place: "host boot-2 pid:[1]".to_owned(),
        token: "t".to_owned(),
        machine: "0123456789abcdef0123456789abcdef".to_owned(),
    };
    assert_eq!(Owner::parse(&own.to_string()), Some(own.clone()));
    let former = Owner { place: "host boot-1 pid:[1]".to_owned(), ..own.clone() };
    assert!(former.is_dead(&own) && !former.is_alive(&own));
    let others = [
        Owner { machine: String::new(), ..former.clone() },
        Owner { machine: "f".repeat(32), ..former.clone() },
        Owner { place: "other boot-1 pid:[1]".to_owned(), ..former.clone() },
        Owner { place: String::new(), ..former.clone() },
    ];
    assert!(others.iter().all(|other| !other.is_dead(&own)), "{others:?}");
    // The form of earlier versions of this library.
    let text = former.to_string();
    let old = text.lines().take(3).collect::<Vec<_>>().join("\n");
    assert_eq!(Owner::parse(&old), Some(Owner { machine: String::new(), ..former.clone() }));

    let own = Owner::this("t".to_owned());
    if let (Some((host, _)), false) = (own.host_and_boot(), own.machine.is_empty()) {
        let files = files();
        put(&files, MAINTENANCE_LOCK, &Owner { place: format!("{host} another pid:[1]"), ..own.clone() });
        drop(Lock::take(files.storage(), false).unwrap());
        assert_eq!(names(&files), [""; 0]);
    }
}

#[test]
fn busy_errors_name_the_owner_and_the_remedy() {
    let files = files();
    files.storage().create_new(MAINTENANCE_LOCK, b"process 1\non elsewhere\ntoken a\nmachine b\n").unwrap();
    let error = Lock::take(files.storage(), false).unwrap_err().to_string();
    assert!(error.contains("take over") && error.contains("locked by process 1, on elsewhere;"), "{error}");
}

#[test]
fn files_that_are_not_locks_are_reported() {
    for is_folder in [false, true] {
        let files = files();
        match is_folder {
            true => files.storage().create_folder(&format!("{MAINTENANCE_LOCK}/mine")).unwrap(),
            false => files.storage().create_new(MAINTENANCE_LOCK, &[b'x'; 5000]).unwrap(),
        }
        for take_over in [false, true] {
            let error = Lock::take(files.storage(), take_over).unwrap_err();
            assert!(
                matches!(&error, MaintainError::NotALock { path, .. } if path.contains(MAINTENANCE_LOCK)),
                "{error}"
            );
            assert!(error.to_string().contains("move it elsewhere"), "{error}");
        }
        assert_eq!(names(&files), [MAINTENANCE_LOCK]);
    }
}

#[cfg(unix)]
#[test]
fn dangling_links_are_not_locks() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/nothing/is/there", folder.path().join(MAINTENANCE_LOCK)).unwrap();
    let storage: Arc<dyn Storage> = Arc::new(tdb_storage::LocalStorage::new(folder.path()));
    for take_over in [false, true] {
        let error = Lock::take(&storage, take_over).unwrap_err();
        assert!(matches!(error, MaintainError::NotALock { .. }), "{error}");
    }
}
