//! Oversized, endless or mislabeled responses.

use std::sync::Arc;

use tdb_array::ArrayOptions;
use tdb_object_store::StoreProblem;
use tdb_storage::{EntryKind, Request, Storage, StorageError};
use tdb_store_testkit::{Fault, Method, What};

use crate::watched::{LISTING, RETRIES, Watched, bytes, problem};

/// Bytes that connections and the proxy buffer of an abandoned response.
const ON_THE_WAY: u64 = 16 << 20;

/// Creates a storage with a file in a folder, on a store with faulty listings.
fn listed(what: What) -> (Watched, Arc<dyn Storage>) {
    let watched = Watched::start();
    watched.server.put("root/a/f", bytes(10));
    watched.proxy.fault(Fault::new(what).of("list-type"));
    let storage = watched.storage();
    (watched, storage)
}

/// Checks that every complete listing fails within `most` requests, without changes.
fn refuses_to_list(watched: &Watched, storage: &Arc<dyn Storage>, most: usize) {
    let listings = [
        ("list", (|storage| storage.list("a").map(drop)) as fn(&dyn Storage) -> Result<(), StorageError>),
        ("remove", |storage| storage.remove_folder("a")),
        ("rename", |storage| storage.rename("a", "b")),
    ];
    for (name, list) in listings {
        let _ = watched.proxy.take();
        let error = list(&**storage).unwrap_err();
        let asked = watched.proxy.take().requests.len();
        assert!(matches!(problem(&error), StoreProblem::TooMuch { .. }), "{name}: {error}");
        assert!(error.to_string().starts_with("s3://bucket/root/"), "{name}: {error}");
        assert!(asked <= most, "{name}: {asked} requests");
    }
    let error = ArrayOptions::new().open_on(storage.clone()).unwrap_err().to_string();
    assert!(error.contains("s3://bucket/root") && error.contains("too large or endless"), "{error}");
    assert_eq!(watched.server.names(), ["root/a/f"]);
}

#[test]
fn circular_listings_end() {
    let (watched, storage) = listed(What::Circling);
    // A rename checks two names, with two requests each.
    refuses_to_list(&watched, &storage, 7);
    assert_eq!(storage.kind("a").unwrap(), Some(EntryKind::Folder));
}

#[test]
fn endless_listings_fail() {
    let (watched, storage) = listed(What::Endless);
    refuses_to_list(&watched, &storage, (LISTING >> 16) as usize + 6);
}

#[test]
fn endless_pages_fail() {
    let (watched, storage) = listed(What::Flood(200));
    for error in [storage.list("a").unwrap_err(), storage.remove_folder("a").unwrap_err()] {
        assert!(matches!(problem(&error), StoreProblem::TooMuch { .. }), "{error}");
    }
    let given = watched.proxy.flooded();
    assert!(given < 2 * (LISTING + ON_THE_WAY), "{given}");
}

/// Responses that are neither files nor listings.
#[test]
fn endless_responses_fail() {
    let (watched, storage) = Watched::open();
    watched.server.put("root/a/f", bytes(10));
    watched.proxy.fault(Fault::new(What::Flood(200)).on(Method::POST));
    let removed = storage.remove_folder("a").unwrap_err();
    let mut file = storage.create_file("g").unwrap();
    let written = file.append(&bytes(6 << 20)).unwrap_err();
    for error in [removed, written] {
        assert!(matches!(problem(&error), StoreProblem::TooMuch { .. }), "{error}");
    }
    assert!(watched.proxy.flooded() < 2 * ((16 << 20) + ON_THE_WAY));
}

#[test]
fn endless_error_responses_fail() {
    for status in [403, 503] {
        let watched = Watched::start();
        watched.proxy.fault(Fault::new(What::Flood(status)));
        let storage = watched.storage();
        let errors = [
            storage.list("a").unwrap_err(),
            storage.fetch_one(&Request::all("a/f", 1000)).unwrap_err(),
            storage.fetch_one(&Request::range("a/f", 0..10, 1000)).unwrap_err(),
            storage.remove_folder("a").unwrap_err(),
            storage.create_file("f").unwrap().finish().unwrap_err(),
        ];
        for error in &errors {
            match problem(error) {
                StoreProblem::Denied { said } => assert_eq!((status, said.as_str()), (403, "403 Forbidden")),
                StoreProblem::Busy { .. } => assert_eq!(status, 503),
                other => panic!("{other:?}"),
            }
        }
        let requests = watched.proxy.take().requests.len() as u64;
        assert!(watched.proxy.flooded() < requests * ON_THE_WAY / 2, "{requests}");
    }
}

/// The length in a header allocates nothing.
#[test]
fn claimed_lengths_allocate_nothing() {
    let (watched, storage) = Watched::open();
    watched.server.put("root/a/f", bytes(1000));
    for length in [1 << 50, i64::MAX as u64] {
        watched.proxy.only(Fault::new(What::Claimed(length)));
        let _ = watched.proxy.take();
        let error = storage.list("a").unwrap_err();
        assert!(matches!(problem(&error), StoreProblem::CutOff { .. }), "{error}");
        assert_eq!(watched.proxy.take().requests.len(), 1 + RETRIES);
        // All bytes have arrived when the connection ends.
        let fetched = storage.fetch_one(&Request::range("a/f", 0..1000, 1000)).unwrap();
        assert!(fetched.bytes == bytes(1000));
        let error = storage.fetch_one(&Request::all("a/f", 1000)).unwrap_err();
        assert!(matches!(error, StorageError::OverLimit { .. }), "{error}");
        // Error responses of any length are recognized.
        let error = storage.fetch_one(&Request::range("a/g", 0..1000, 1000)).unwrap_err();
        assert!(error.is_not_found(), "{error}");
    }
}

#[test]
fn impossible_ranges_are_errors() {
    let (watched, storage) = Watched::open();
    watched.server.put("root/f", bytes(1000));
    for range in [
        "bytes 0-18446744073709551615/18446744073709551615",
        "bytes 18446744073709551615-18446744073709551615/1000",
        "bytes 9-0/1000",
        "bytes 0-99/18446744073709551615",
        "bytes 0-99/0",
        "bytes */1000",
        "",
    ] {
        watched.proxy.only(Fault::new(What::Ranged(range)));
        for request in [Request::range("f", 0..100, 1000), Request::last("f", 100)] {
            match storage.fetch_one(&request) {
                Ok(fetched) => assert!(fetched.bytes == bytes(1000)[..100], "{range}: {request:?}"),
                Err(error) => {
                    assert_eq!(error.path(), "s3://bucket/root/f");
                    assert!(!error.to_string().contains("ended without a response"), "{range}: {error}");
                }
            }
        }
    }
}

/// Pages of proxies have any encoding.
#[test]
fn error_responses_may_have_any_encoding() {
    let watched = Watched::start();
    watched.server.put("root/f", bytes(10));
    let storage = watched.storage();
    watched.proxy.fault(Fault::new(What::Said(403, b"<html>Acc\xe8s refus\xe9</html>")));
    for error in [storage.list("").unwrap_err(), storage.read("f").unwrap_err()] {
        assert!(matches!(problem(&error), StoreProblem::Denied { .. }), "{error}");
    }
    watched.proxy.only(Fault::new(What::Said(400, b"<Error><Code>ExpiredToken</Code><Message>\xff</Message></Error>")));
    let error = storage.list("").unwrap_err();
    assert_eq!(problem(&error), &StoreProblem::Unauthenticated { said: "ExpiredToken".to_owned() });
}
