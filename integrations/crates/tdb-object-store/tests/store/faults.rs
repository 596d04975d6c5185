//! Network faults, and the resulting errors.

use std::time::{Duration, Instant};

use tdb_object_store::{Connector, StoreOptions, StoreProblem, object_store};
use tdb_storage::{EntryKind, Request, Storage, StorageError};
use tdb_store_testkit::{Fault, Method, What};

use crate::watched::{RETRIES, Watched, bytes, options, problem};

/// Reads the file by every method of a storage.
fn read_all_ways(storage: &dyn Storage, expected: &[u8]) {
    let len = expected.len() as u64;
    assert_eq!(storage.list("").unwrap().len(), 1);
    assert!(storage.read("f").unwrap() == expected);
    let answers =
        storage.fetch(&[Request::all("f", len), Request::last("f", 1000), Request::range("f", 5..70_000, len)]);
    for (answer, range) in
        answers.into_iter().zip([0..expected.len(), expected.len() - 1000..expected.len(), 5..70_000])
    {
        assert!(answer.unwrap().bytes == expected[range.clone()], "{range:?}");
    }
    assert_eq!(storage.open("f").unwrap().size(), len);
}

#[test]
fn reads_survive_temporary_faults() {
    let watched = Watched::start();
    let (storage, expected) = (watched.storage(), bytes(200_000));
    watched.server.put("root/f", expected.clone());
    for what in [
        What::Refused(503, "SlowDown"),
        What::Refused(500, "InternalError"),
        What::Refused(429, "TooManyRequests"),
        What::Reset,
        What::DoneAndReset,
        What::Cut(0),
        What::Cut(100),
        What::Cut(40_000),
        What::Cut(66_000),
    ] {
        watched.proxy.only(Fault::new(what.clone()).each(2));
        let _ = watched.proxy.take();
        read_all_ways(&*storage, &expected);
        let seen = watched.proxy.take();
        assert!(seen.faults >= 3, "{what:?} happened {} times", seen.faults);
    }
}

/// Bytes received before a connection broke are not requested again.
#[test]
fn truncated_bodies_are_resumed() {
    let watched = Watched::start();
    let (storage, expected) = (watched.storage(), bytes(300_000));
    watched.server.put("root/f", expected.clone());
    for what in [What::Cut(100_000), What::Short(100_000)] {
        watched.proxy.only(Fault::new(what).on(Method::GET).first(2));
        let _ = watched.proxy.take();
        let mut read = vec![0; 250_000];
        storage.open_sized("f", 300_000).unwrap().read_into(50_000, &mut read).unwrap();
        assert!(read == expected[50_000..]);
        assert_eq!(watched.proxy.take().requests.len(), 3);
    }
}

#[test]
fn permanent_faults_are_errors() {
    let (watched, storage) = Watched::open();
    watched.server.put("root/f", bytes(1000));
    let failed = |what: What| {
        watched.proxy.only(Fault::new(what));
        let error = storage.fetch_one(&Request::range("f", 0..1000, 1000)).unwrap_err();
        assert_eq!(error.path(), "s3://bucket/root/f");
        error
    };
    for (status, code) in [(503, "SlowDown"), (500, "InternalError"), (429, "TooManyRequests")] {
        let _ = watched.proxy.take();
        let error = failed(What::Refused(status, code));
        assert!(matches!(problem(&error), StoreProblem::Busy { .. }), "{error}");
        assert_eq!(watched.proxy.take().requests.len(), 1 + RETRIES, "{error}");
    }
    let error = failed(What::Reset);
    assert!(matches!(problem(&error), StoreProblem::CutOff { .. }), "{error}");
    let error = failed(What::Cut(0));
    assert!(matches!(problem(&error), StoreProblem::CutOff { .. }), "{error}");
    let error = failed(What::Short(1000));
    assert!(matches!(problem(&error), StoreProblem::WrongLength { asked: 1000, got: 0 }), "{error}");
}

/// Timeouts apply to the time without data, not to the whole request, because large transfers take
/// long on slow networks.
#[test]
fn timeouts_apply_to_silence() {
    let watched = Watched::start();
    let silence = Duration::from_millis(300);
    let storage = watched.storage_by(watched.builder().with_http_connector(Connector::default().silence(silence)));
    let expected = bytes(300_000);
    watched.server.put("root/f", expected.clone());
    // Waits for a body that pauses briefly. After a long pause, requests the rest.
    for (pause, requests) in [(silence / 2, 1), (silence * 4, 2)] {
        watched.proxy.fault(Fault::new(What::Paused(200_000, pause)).on(Method::GET).first(1));
        let _ = watched.proxy.take();
        assert!(storage.fetch_one(&Request::range("f", 0..300_000, 300_000)).unwrap().bytes == expected);
        assert_eq!(watched.proxy.take().requests.len(), requests, "{pause:?}");
        watched.proxy.only(Fault::new(What::Paused(50, pause)).on(Method::GET).first(1));
        assert_eq!(storage.list("").unwrap().len(), 1);
        assert_eq!(watched.proxy.take().requests.len(), requests, "{pause:?}");
        watched.proxy.calm();
    }
    // The response to a large upload may take longer.
    let slow = What::Slow(silence * 2);
    watched.proxy.fault(Fault::new(slow.clone()).on(Method::PUT).of("partNumber"));
    let mut file = storage.create_file("large").unwrap();
    file.append(&bytes(10 << 20)).unwrap();
    let _ = watched.proxy.take();
    file.finish().unwrap();
    assert!(watched.server.object("root/large").unwrap() == bytes(10 << 20));
    let begun = Instant::now();
    watched.proxy.fault(Fault::new(slow));
    let error = storage.list("").unwrap_err();
    assert!(matches!(problem(&error), StoreProblem::CutOff { .. }), "{error}");
    assert!(begun.elapsed() < silence * 2 * (RETRIES as u32 + 1), "{:?}", begun.elapsed());
    // A timeout set in the client options applies to the whole request.
    let options = object_store::ClientOptions::new().with_allow_http(true).with_timeout(silence * 10);
    let patient = watched.storage_by(watched.builder().with_client_options(options));
    assert_eq!(patient.list("").unwrap().len(), 2);
}

/// Each retry waits longer than the one before.
#[test]
fn retries_back_off() {
    let watched = Watched::start();
    watched.server.put("root/f", bytes(10));
    watched.proxy.fault(Fault::new(What::Refused(503, "SlowDown")).first(3));
    let backoff = object_store::BackoffConfig::default();
    let retry = object_store::RetryConfig { backoff, ..object_store::RetryConfig::default() };
    let storage = watched.storage_by(watched.builder().with_retry(retry));
    let begun = Instant::now();
    assert_eq!(storage.read("f").unwrap(), bytes(10));
    assert!(begun.elapsed() >= Duration::from_millis(200), "{:?}", begun.elapsed());
}

/// Sizes and ranges from the store are never trusted.
#[test]
fn wrong_sizes_and_ranges_are_detected() {
    let watched = Watched::start();
    let (storage, expected) = (watched.storage(), bytes(1000));
    watched.server.put("root/f", expected.clone());
    let asked = [Request::range("f", 100..200, 1000), Request::last("f", 100), Request::all("f", 1 << 40)];
    for (what, fails) in [
        (What::Long(7), [true, true, false]),
        (What::Shifted(1), [true, true, false]),
        (What::Unranged, [true, true, false]),
        // The size is reported as claimed, but reading fails if the bytes are missing.
        (What::Sized(150), [true, true, false]),
        (What::Sized(1 << 39), [false, true, false]),
    ] {
        watched.proxy.only(Fault::new(what.clone()));
        for (request, fails) in asked.iter().zip(fails) {
            match storage.fetch_one(request) {
                Ok(fetched) => assert!(
                    !fails && expected.windows(fetched.bytes.len()).any(|part| part == fetched.bytes)
                        || matches!(what, What::Long(_)),
                    "{what:?}: {request:?}"
                ),
                Err(error) => {
                    assert!(fails, "{what:?}: {request:?}: {error}");
                    assert_eq!(error.path(), "s3://bucket/root/f");
                    assert!(!matches!(StoreProblem::of(&error), Some(StoreProblem::Other { .. })), "{error}");
                }
            }
        }
    }
}

/// A write with a lost response happens once, and reports success.
#[test]
fn writes_with_lost_responses_succeed_once() {
    for what in
        [What::DoneAndReset, What::DoneAndRefused(503, "SlowDown"), What::Reset, What::Refused(500, "InternalError")]
    {
        let (watched, storage) = Watched::open();
        // Shows that the store honors conditions.
        storage.create_new("first", b"1").unwrap();
        watched.proxy.fault(Fault::new(what.clone()).on(Method::PUT).first(1));
        storage.create_new("f", b"bytes").unwrap_or_else(|error| panic!("{what:?}: {error}"));
        assert_eq!(storage.read("f").unwrap(), b"bytes", "{what:?}");
        // A file of another writer with the same bytes is still a conflict.
        let other = watched.storage();
        watched.proxy.fault(Fault::new(what.clone()).on(Method::PUT).first(1));
        let error = other.create_new("f", b"bytes").unwrap_err();
        assert!(matches!(error, StorageError::AlreadyExists { .. }), "{what:?}: {error}");
    }
}

/// Deletions with lost responses, and failed ones.
#[test]
fn removals_survive_temporary_faults() {
    for what in
        [What::DoneAndReset, What::Reset, What::Refused(503, "SlowDown"), What::DoneAndRefused(500, "InternalError")]
    {
        let (watched, storage) = Watched::open();
        for name in ["root/f", "root/a/1", "root/a/b/2"] {
            watched.server.put(name, bytes(10));
        }
        watched.proxy.fault(Fault::new(what.clone()).on(Method::POST).first(2));
        storage.remove_file("f").unwrap_or_else(|error| panic!("{what:?}: {error}"));
        storage.remove_folder("a").unwrap_or_else(|error| panic!("{what:?}: {error}"));
        assert_eq!(watched.server.names(), [""; 0], "{what:?}");
        assert!(watched.proxy.take().faults > 0);
    }
}

/// Truncated responses to recursive listings.
#[test]
fn recursive_listings_survive_truncation() {
    let (watched, storage) = Watched::open();
    for name in ["root/a/1", "root/a/b/2"] {
        watched.server.put(name, bytes(10));
    }
    let cut = || {
        let _ = watched.proxy.take();
        watched.proxy.only(Fault::new(What::Cut(300)).on(Method::GET).of("list-type").first(2));
    };
    let was_cut = || watched.proxy.take().faults == 2;
    cut();
    assert_eq!(storage.kind("a").unwrap(), Some(EntryKind::Folder));
    assert!(was_cut());
    cut();
    storage.rename("a", "c").unwrap();
    assert!(was_cut());
    assert_eq!(watched.server.names(), ["root/c/1", "root/c/b/2"]);
    cut();
    storage.remove_folder("c").unwrap();
    assert!(was_cut());
    assert_eq!(watched.server.names(), [""; 0]);
}

/// If only the trial of the conditions fails, the file is still written.
#[test]
fn failed_trial_does_not_fail_the_write() {
    for what in [What::DoneAndReset, What::Reset, What::Refused(403, "AccessDenied")] {
        let (watched, storage) = Watched::open();
        watched.proxy.fault(Fault::new(what.clone()).on(Method::PUT).nth(1));
        storage.create_new("f", b"bytes").unwrap_or_else(|error| panic!("{what:?}: {error}"));
        // The trial repeats with the next file.
        watched.proxy.calm();
        let _ = watched.proxy.take();
        storage.create_new("g", b"bytes").unwrap();
        assert_eq!(watched.proxy.take().requests.len(), 3, "{what:?}");
        assert_eq!(watched.server.names(), ["root/f", "root/g"]);
    }
}

#[test]
fn uploads_with_lost_responses_succeed_once() {
    let expected = bytes(12 << 20);
    for (what, method) in [
        (What::DoneAndReset, Method::POST),
        (What::DoneAndReset, Method::PUT),
        (What::Refused(503, "SlowDown"), Method::PUT),
        (What::DoneAndRefused(500, "InternalError"), Method::POST),
    ] {
        let (watched, storage) = Watched::open();
        watched.proxy.fault(Fault::new(what.clone()).on(method).of("uploadId").first(1));
        let mut file = storage.create_file("f").unwrap();
        file.append(&expected).unwrap();
        file.finish().unwrap_or_else(|error| panic!("{what:?}: {error}"));
        assert!(watched.server.object("root/f").unwrap() == expected, "{what:?}");
        assert_eq!(watched.server.uploads(), 0);
    }
}

/// A failed upload leaves no parts behind while the store is reachable.
#[test]
fn failed_uploads_are_aborted() {
    let (watched, storage) = Watched::open();
    watched.proxy.fault(Fault::new(What::Refused(403, "AccessDenied")).on(Method::PUT).of("partNumber=2"));
    let mut file = storage.create_file("f").unwrap();
    let written = file.append(&bytes(30 << 20)).and_then(|()| file.finish());
    let error = written.unwrap_err();
    assert!(matches!(problem(&error), StoreProblem::Denied { .. }), "{error}");
    assert!(error.to_string().starts_with("s3://bucket/root/f: "), "{error}");
    assert_eq!((watched.server.uploads(), watched.server.names().len()), (0, 0));
}

/// The first file of a fragment is written twice at once, as a trial that may be inconclusive.
#[test]
fn first_file_of_a_fragment_is_the_trial() {
    let file = |name: &str| format!("__fragments/__1_1_00000000000000000000000000000001_22/{name}");
    let create = |watched: &Watched, storage: &dyn Storage, path: &str| {
        let _ = watched.proxy.take();
        let written = storage.create_new(path, b"bytes");
        (written, watched.proxy.take().requests.len())
    };
    let fine = |(written, requests): (Result<(), StorageError>, usize), expected: usize| {
        written.unwrap();
        assert_eq!(requests, expected);
    };
    let (watched, storage) = Watched::open();
    fine(create(&watched, &*storage, &file("a0.tdb")), 2);
    fine(create(&watched, &*storage, "f"), 1);
    // A store with conditions, except for concurrent writes. The trial repeats with the next file.
    let (watched, storage) = Watched::open();
    watched.proxy.fault(Fault::new(What::Unconditional).on(Method::PUT).first(2));
    fine(create(&watched, &*storage, &file("a0.tdb")), 2);
    fine(create(&watched, &*storage, &file("a1.tdb")), 2);
    fine(create(&watched, &*storage, "f"), 1);
    // A store without conditions. No commit file is written.
    let (watched, storage) = Watched::open();
    watched.proxy.fault(Fault::new(What::Unconditional).on(Method::PUT));
    fine(create(&watched, &*storage, &file("a0.tdb")), 2);
    let (refused, _) = create(&watched, &*storage, "f");
    assert_eq!(problem(&refused.unwrap_err()), &StoreProblem::IgnoresConditions);
    assert_eq!(watched.server.names(), [format!("root/{}", file("a0.tdb"))]);
    // Lost responses, and a name taken by another writer.
    for what in [What::DoneAndReset, What::Reset, What::DoneAndRefused(503, "SlowDown")] {
        for nth in 0..2 {
            let (watched, storage) = Watched::open();
            watched.proxy.fault(Fault::new(what.clone()).on(Method::PUT).nth(nth));
            storage.create_new(&file("a0.tdb"), b"bytes").unwrap();
            storage.create_new("f", b"").unwrap();
            watched.server.put(&format!("root/{}", file("theirs")), b"theirs".to_vec());
            for storage in [&storage, &watched.storage()] {
                let error = storage.create_new(&file("theirs"), b"ours").unwrap_err();
                assert!(matches!(error, StorageError::AlreadyExists { .. }), "{error}");
            }
            assert_eq!(watched.server.object(&format!("root/{}", file("theirs"))).unwrap(), "theirs");
        }
    }
}

/// With marks of the writer, and without.
#[test]
fn stores_without_conditions_are_refused() {
    for options in [options(), StoreOptions::default()] {
        let watched = Watched::start();
        watched.proxy.fault(Fault::new(What::Unconditional).on(Method::PUT));
        watched.server.put("root/theirs", b"theirs".to_vec());
        let storage = watched.storage_as(watched.builder(), options);
        let error = storage.create_new("f", b"bytes").unwrap_err();
        assert_eq!(problem(&error), &StoreProblem::IgnoresConditions);
        assert_eq!(error.path(), "s3://bucket/root/f");
        // The file of the other writer still exists.
        let error = storage.create_new("theirs", b"ours").unwrap_err();
        assert!(matches!(error, StorageError::AlreadyExists { .. }), "{error}");
        assert_eq!(watched.server.names(), ["root/theirs"]);
        assert_eq!(watched.server.object("root/theirs").unwrap(), "theirs");
    }
}
