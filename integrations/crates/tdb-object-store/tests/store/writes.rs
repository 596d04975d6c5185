//! Concurrent writes of files.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tdb_storage::WriteFile;
use tdb_store_testkit::{Fault, Method, What};

use crate::watched::{Watched, bytes, options};

/// The limit for parts in flight holds over all files and folders of the bucket.
#[test]
fn files_share_the_limit_of_parts() {
    const FILES: usize = 5;
    let watched = Watched::start();
    let mut options = options();
    options.parts_in_flight = 2;
    let storage = watched.storage_as(watched.builder(), options);
    let folders = [storage.sub("a").unwrap(), storage.sub("b").unwrap()];
    let mut files: Vec<Box<dyn WriteFile>> =
        (0..FILES).map(|file| folders[file % 2].create_file(&format!("f{file}")).unwrap()).collect();
    let expected = bytes(16 << 20);
    watched.proxy.delay(Duration::from_millis(20));
    let is_done = AtomicBool::new(false);
    let most = thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let mut most = 0;
            while !is_done.load(Ordering::Relaxed) {
                most = most.max(watched.proxy.waiting());
                thread::sleep(Duration::from_micros(500));
            }
            most
        });
        for piece in expected.chunks(1 << 20) {
            files.iter_mut().for_each(|file| file.append(piece).unwrap());
        }
        is_done.store(true, Ordering::Relaxed);
        watching.join().unwrap()
    });
    // The parts, and a request to start an upload.
    assert!((2..=3).contains(&most), "{most} at once");
    // From several threads, like the files of a fragment.
    thread::scope(|scope| {
        for file in files {
            scope.spawn(|| file.finish().unwrap());
        }
    });
    for file in 0..FILES {
        let name = format!("root/{}/f{file}", ["a", "b"][file % 2]);
        assert!(watched.server.object(&name).unwrap() == expected, "{name}");
    }
    assert_eq!(watched.server.uploads(), 0);
}

/// A failed or abandoned file frees its permits.
#[test]
fn failed_files_free_their_permits() {
    let watched = Watched::start();
    let mut options = options();
    options.parts_in_flight = 1;
    let storage = watched.storage_as(watched.builder(), options);
    let large = bytes(11 << 20);
    for round in 0..3 {
        watched.proxy.fault(Fault::new(What::Refused(403, "AccessDenied")).on(Method::PUT));
        let mut refused = storage.create_file("refused").unwrap();
        refused.append(&large).and_then(|()| refused.finish()).unwrap_err();
        watched.proxy.only(Fault::new(What::Stalled).on(Method::PUT));
        let mut dropped = storage.create_file("dropped").unwrap();
        dropped.append(&large[..6 << 20]).unwrap();
        drop(dropped);
        watched.proxy.calm();
        let name = format!("f{round}");
        let mut file = storage.create_file(&name).unwrap();
        file.append(&large).unwrap();
        file.finish().unwrap();
        assert!(storage.read(&name).unwrap() == large);
    }
    assert_eq!(watched.server.names(), ["root/f0", "root/f1", "root/f2"]);
    assert_eq!(watched.server.uploads(), 0);
}
