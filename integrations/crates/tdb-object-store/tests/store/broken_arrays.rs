//! Arrays on stores that fail sometimes, omit names from listings, or lose files.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tdb_array::{ArrayOptions, MetadataValue, Monitor, Order};
use tdb_maintain::{Consolidate, ConsolidateFragments, Vacuum};
use tdb_storage::Storage;
use tdb_store_testkit::{Fault, Method, What};

use crate::arrays::{CELLS, FRAGMENTS, count, create, read, try_write, try_write_at, write, written};
use crate::watched::Watched;

fn cells(fragments: u32) -> u64 {
    u64::from(CELLS * fragments)
}

/// An array survives a network that fails a tenth of all requests.
#[test]
fn arrays_survive_a_bad_network() {
    let (watched, storage) = Watched::open();
    for (what, share) in [
        (What::Refused(503, "SlowDown"), 30),
        (What::DoneAndReset, 30),
        (What::Reset, 30),
        (What::DoneAndRefused(500, "InternalError"), 30),
    ] {
        watched.proxy.fault(Fault::new(what).share(share));
    }
    watched.proxy.fault(Fault::new(What::Cut(300)).on(Method::GET).share(100));
    create(&storage);
    (0..FRAGMENTS).for_each(|fragment| write(&storage, fragment));
    assert_eq!(read(&storage), written());
    let seen = watched.proxy.take();
    assert!(seen.faults > 10, "{} faults in {seen}", seen.faults);
}

/// A write is atomic whichever request fails permanently, and the writer gets a matching result.
#[test]
fn writes_are_atomic() {
    for what in [What::Refused(403, "AccessDenied"), What::DoneAndRefused(403, "AccessDenied")] {
        let (mut failed, mut fine) = (0, 0);
        for request in 0.. {
            let (watched, storage) = Watched::open();
            create(&storage);
            write(&storage, 0);
            watched.proxy.fault(Fault::new(what.clone()).nth(request));
            let _ = watched.proxy.take();
            let outcome = try_write(&storage, 1);
            let seen = watched.proxy.take();
            watched.proxy.calm();
            let (read, _) = read(&storage);
            match outcome {
                Ok(()) => {
                    fine += 1;
                    assert_eq!(read, cells(2), "{what:?} of request {request}");
                }
                Err(error) => {
                    failed += 1;
                    // The commit file may have been written despite the error. Then all cells
                    // exist.
                    let is_done = matches!(what, What::DoneAndRefused(..)) && read == cells(2);
                    assert!(read == cells(1) || is_done, "{what:?} of request {request}: {read} cells after {error}");
                    assert!(error.contains("s3://bucket/root"), "{error}");
                }
            }
            if seen.faults == 0 {
                break;
            }
        }
        assert!(failed >= 5 && fine >= 1, "{what:?}: {failed} failed");
    }
}

/// A store that ignores conditions is detected before the first commit.
#[test]
fn stores_without_conditions_get_no_commits() {
    let watched = Watched::start();
    create(&watched.storage());
    write(&watched.storage(), 0);
    let before = watched.server.names();
    watched.proxy.fault(Fault::new(What::Unconditional).on(Method::PUT));
    let _ = watched.proxy.take();
    let error = try_write(&watched.storage(), 1).unwrap_err();
    assert!(error.contains("ignores the condition"), "{error}");
    let asked = watched.proxy.take().requests;
    let commits = asked.iter().filter(|asked| asked.method == Method::PUT && asked.target.contains("__commits"));
    assert_eq!(commits.count(), 0, "{asked:#?}");
    // The data files of the fragment are deleted.
    assert_eq!(watched.server.names(), before);
    let array = ArrayOptions::new().open_on(watched.storage()).unwrap();
    array.write_metadata().put("key", MetadataValue::text("value").unwrap()).commit().unwrap_err();
    assert_eq!(watched.server.names(), before);
}

/// If the data file for the trial disappears or the trial fails, the store does not count as
/// ignoring conditions. The trial repeats.
#[test]
fn failed_trials_repeat() {
    let watched = Watched::start();
    create(&watched.storage());
    let storage = watched.storage();
    let names = || watched.server.names().len();
    // One of six requests for the fragment's files is the trial.
    for what in [What::Reset, What::Refused(403, "AccessDenied"), What::DoneAndReset] {
        for request in 0..6 {
            let storage = watched.storage();
            watched.proxy.only(Fault::new(what.clone()).on(Method::PUT).of("__fragments").nth(request));
            let _ = try_write(&storage, 0);
            assert_eq!(watched.proxy.take().faults, 1, "{what:?}");
            watched.proxy.calm();
            try_write(&storage, 1).unwrap();
        }
    }
    // A data file of the fragment fails, and its folder is removed, including the file kept for the
    // trial.
    watched.proxy.fault(Fault::new(What::Refused(403, "AccessDenied")).on(Method::PUT).of("a1_var"));
    try_write(&storage, 2).unwrap_err();
    watched.proxy.calm();
    let whole = names();
    try_write(&storage, 3).unwrap();
    assert_eq!(names(), whole + 6, "four data files, the metadata, the commit");
}

/// If a listing omits a name, the array reads as before, or an error names the missing file.
#[test]
fn incomplete_listings_read_right_or_fail() {
    let (watched, storage) = Watched::open();
    create(&storage);
    write(&storage, 0);
    write(&storage, 1);
    let names = watched.server.names();
    let last =
        |part: &str| names.iter().rfind(|name| name.contains(part)).unwrap().rsplit('/').next().unwrap().to_owned();
    let commit = last("__commits/");
    let hide = |name: &str| {
        watched.proxy.only(Fault::new(What::Hidden(name.to_owned())));
    };
    hide(&commit);
    assert_eq!(read(&storage).0, cells(1));
    // The commit file is enough. The folder of the fragment need not be listed.
    hide(&format!("__fragments/{}", commit.trim_end_matches(".wrt")));
    assert_eq!(read(&storage).0, cells(2));
    hide("__schema/__");
    let error = ArrayOptions::new().open_on(storage.clone()).unwrap_err().to_string();
    assert!(error.contains("s3://bucket/root"), "{error}");
    watched.proxy.calm();
    assert_eq!(read(&storage).0, cells(2));
}

/// Files disappear after they were listed, or after the array was opened.
#[test]
fn vanished_files_are_errors() {
    let (watched, storage) = Watched::open();
    create(&storage);
    write(&storage, 0);
    let array = ArrayOptions::new().open_on(storage.clone()).unwrap();
    for file in ["__fragment_metadata.tdb", "a0.tdb", "__schema/__"] {
        let name =
            watched.server.names().into_iter().find(|name| name.contains(file) && !name.ends_with("__enumerations"));
        let name = name.unwrap();
        let bytes = watched.server.object(&name).unwrap();
        assert!(watched.server.remove(&name));
        let error = count(&ArrayOptions::new(), &storage).unwrap_err().to_string();
        assert!(error.contains("s3://bucket/root"), "{file}: {error}");
        watched.server.put(&name, bytes);
    }
    assert_eq!(array.read().batches().unwrap().map(|batch| batch.unwrap().len()).sum::<usize>(), CELLS as usize);
}

/// Consolidates all fragments, and vacuums the superseded ones.
fn consolidate_and_vacuum(storage: &Arc<dyn Storage>) {
    let open = || ArrayOptions::new().open_on(storage.clone()).unwrap();
    ConsolidateFragments::new().plan(&open()).unwrap().run().unwrap();
    Vacuum::all().plan(&open()).unwrap().run().unwrap();
}

/// Another process consolidates and vacuums the array between its listing and the reads.
#[test]
fn concurrent_vacuum_is_survived() {
    // A consolidated commits file, read on opening. Footers, loaded on opening. Tiles, read later.
    for (wanted, fails) in [(".con", false), ("__fragment_metadata.tdb", true), ("a0.tdb", true)] {
        let (watched, storage) = Watched::open();
        create(&storage);
        (0..3).for_each(|fragment| write(&storage, fragment));
        Consolidate::commits().plan(&ArrayOptions::new().open_on(storage).unwrap()).unwrap().run().unwrap();
        let (before, other, reader) = (watched.server.names(), watched.storage(), watched.storage());
        watched.proxy.meanwhile(wanted, move || consolidate_and_vacuum(&other));
        match count(&ArrayOptions::new().with_footers(), &reader) {
            Ok(read) => assert_eq!(read, cells(3), "{wanted}"),
            Err(error) => {
                let error = error.to_string();
                assert!(fails && error.contains("s3://bucket/root/__fragments/"), "{wanted}: {error}");
            }
        }
        let after = watched.server.names();
        assert!(before.iter().any(|name| name.contains(wanted) && !after.contains(name)), "{wanted}: {after:#?}");
        // A new attempt reads the new files.
        assert_eq!(read(&reader).0, cells(3), "{wanted}");
    }
}

/// Wrong sizes: errors or the right cells, without large allocations.
#[test]
fn wrong_sizes_are_harmless() {
    let (watched, storage) = Watched::open();
    create(&storage);
    write(&storage, 0);
    for what in [What::Sized(1 << 40), What::Sized(1), What::Short(3), What::Long(3), What::Shifted(8), What::Unranged]
    {
        watched.proxy.only(Fault::new(what.clone()).on(Method::GET));
        match count(&ArrayOptions::new(), &storage) {
            Ok(read) => assert_eq!(read, cells(1), "{what:?}"),
            Err(error) => assert!(error.to_string().contains("s3://bucket/root"), "{what:?}: {error}"),
        }
    }
}

/// A cancelled read stops its requests, and sends no more.
#[test]
fn cancelled_reads_send_no_more_requests() {
    const MANY: u32 = 60;
    let (watched, storage) = Watched::open();
    create(&storage);
    for fragment in 0..MANY {
        try_write_at(&storage, &(fragment * CELLS..(fragment + 1) * CELLS).collect::<Vec<_>>()).unwrap();
    }
    let array = ArrayOptions::new().open_on(storage.clone()).unwrap();
    assert_eq!(array.fragments().unwrap().len(), MANY as usize);
    let in_flight = storage.profile().in_flight;
    watched.proxy.delay(Duration::from_millis(300));
    let _ = watched.proxy.take();
    let batches = array.read().order(Order::Unordered).batch_cells(100).batches().unwrap();
    let mut seen = 0;
    // The sections of all fragments are read first, then their tiles, with more requests than
    // allowed at once.
    let reading = thread::spawn(move || drop(batches.take(1).collect::<Vec<_>>()));
    while !reading.is_finished() {
        thread::sleep(Duration::from_millis(1));
    }
    reading.join().unwrap();
    drop(array);
    seen += watched.proxy.take().requests.len();
    thread::sleep(Duration::from_millis(1500));
    let after = watched.proxy.take().requests.len();
    println!("{seen} requests before it was given up, {after} behind that, {in_flight} at once");
    assert_eq!(watched.proxy.waiting(), 0);
    assert!(after <= in_flight, "{after} requests more");
}

/// Requests without a response end when the query ends, for any reason.
#[test]
fn pending_requests_end_with_the_query() {
    const MANY: u32 = 12;
    let (watched, storage) = Watched::open();
    create(&storage);
    for fragment in 0..MANY {
        try_write_at(&storage, &(fragment * CELLS..(fragment + 1) * CELLS).collect::<Vec<_>>()).unwrap();
    }
    let array = ArrayOptions::new().open_on(storage).unwrap();
    // The first query loads the fragment metadata.
    array.read().batches().unwrap().for_each(|batch| drop(batch.unwrap()));
    let waits_for = |count: std::ops::RangeInclusive<usize>| {
        let begun = Instant::now();
        while !count.contains(&watched.proxy.waiting()) && begun.elapsed() < Duration::from_secs(5) {
            thread::sleep(Duration::from_millis(5));
        }
        watched.proxy.waiting()
    };
    watched.proxy.fault(Fault::new(What::Stalled));
    let batches = array.read().order(Order::Unordered).batches().unwrap();
    assert!(waits_for(20..=usize::MAX) >= 20);
    drop(batches);
    assert_eq!(waits_for(0..=0), 0, "dropped");
    let monitor = Monitor::new();
    let batches = array.read().order(Order::Unordered).monitor(&monitor).batches().unwrap();
    assert!(waits_for(20..=usize::MAX) >= 20);
    monitor.cancel();
    assert_eq!(waits_for(0..=0), 0, "cancelled");
    drop(batches);
}

/// Callers can cancel waiting for a store that never answers.
#[test]
fn waiting_for_a_silent_store_can_be_cancelled() {
    let watched = Watched::start();
    let storage: Arc<dyn Storage> = watched.storage();
    create(&storage);
    write(&storage, 0);
    let array = ArrayOptions::new().open_on(storage).unwrap();
    array.fragments().unwrap();
    watched.proxy.fault(Fault::new(What::Stalled));
    let begun = Instant::now();
    drop(array.read().batches().unwrap());
    drop(array);
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}
