#![allow(clippy::single_range_in_vec_init)] // single-range lists are intended

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::*;
use crate::{CountingStorage, MemoryStorage, StorageError};

/// A slow storage with a remote profile.
#[derive(Debug)]
struct Slow {
    inner: MemoryStorage,
    fetches: AtomicUsize,
    /// Fetches of at least this many ranges fail.
    fails_from: usize,
    profile: ReadProfile,
}

impl Slow {
    fn new(len: usize) -> Arc<Self> {
        let inner = MemoryStorage::new();
        let bytes: Vec<u8> = (0..len).map(byte).collect();
        inner.create_new("a", &bytes).unwrap();
        inner.create_new("b", &bytes).unwrap();
        Arc::new(Self {
            inner,
            fetches: AtomicUsize::new(0),
            fails_from: usize::MAX,
            profile: ReadProfile::new(8, 100, 4),
        })
    }
}

fn byte(place: usize) -> u8 {
    (place % 251) as u8
}

impl Storage for Slow {
    forward_storage!(|this| this.inner => list, open, kind, sub, describe, create_folder, create_new, create_file);
    forward_storage!(|this| this.inner => sync_folder, remove_file, remove_folder);

    fn profile(&self) -> ReadProfile {
        self.profile
    }
    fn fetch(&self, requests: &[Request]) -> Vec<Result<Fetched>> {
        thread::sleep(Duration::from_millis(5));
        self.fetches.fetch_add(1, Ordering::SeqCst);
        let fails = requests.len() >= self.fails_from;
        let fail = |request: &Request| Err(StorageError::NotFound { path: request.path.clone() });
        requests.iter().map(|request| if fails { fail(request) } else { self.inner.fetch_one(request) }).collect()
    }
}

fn planned(path: &str, ranges: Vec<Range<u64>>) -> PlannedFile {
    PlannedFile { path: path.to_owned(), size: 10_000, ranges }
}

/// Reads the range and compares the bytes with the file.
fn check(file: &dyn ReadAt, range: Range<usize>) {
    let mut bytes = vec![0; range.len()];
    file.read_into(range.start as u64, &mut bytes).unwrap();
    assert!(bytes.iter().zip(range.clone()).all(|(found, place)| *found == byte(place)), "{range:?}");
}

#[test]
fn ranges_within_the_budget_are_fetched_at_once() {
    let slow = Slow::new(10_000);
    let counting = CountingStorage::new(slow.clone());
    let storage = AheadStorage::new(Arc::new(counting.clone()));
    let ahead =
        storage.read_ahead(vec![planned("a", vec![0..50, 55..300, 900..1000]), planned("b", vec![0..10])], 1000);
    let (a, b) = (storage.open_sized("a", 10_000).unwrap(), storage.open_sized("b", 10_000).unwrap());
    for range in [0..50, 250..300, 40..60, 900..1000, 10..290] {
        check(&*a, range);
    }
    check(&*b, 0..10);
    // Five blocks, gaps included: four of at most 100 bytes in file a, and one in file b. Up to
    // four may be in flight.
    assert_eq!(slow.fetches.load(Ordering::SeqCst), 2);
    assert_eq!((counting.counters().reads, counting.counters().opens), (5, 0));
    // Unplanned bytes are read on demand, even if the read starts in a planned block.
    check(&*a, 990..1100);
    check(&*a, 5000..5001);
    assert_eq!(counting.counters().reads, 7);
    drop(ahead);
    // The fetching thread may still run.
    while !storage.queues("a").current().is_empty() {
        thread::yield_now();
    }
    check(&*a, 0..50);
    assert_eq!(counting.counters().reads, 8);
}

#[test]
fn immediate_requests_are_made_before_the_call_returns() {
    let mut slow = Slow::new(10_000);
    Arc::get_mut(&mut slow).unwrap().profile = ReadProfile::new(8, 100, 4).immediate();
    let storage = AheadStorage::new(slow.clone());
    let _ahead = storage.read_ahead(vec![planned("a", vec![0..50, 900..1000])], 1000);
    assert_eq!(slow.fetches.load(Ordering::SeqCst), 1);
    check(&*storage.open_sized("a", 10_000).unwrap(), 900..1000);
    assert_eq!(slow.fetches.load(Ordering::SeqCst), 1);
}

#[test]
fn ranges_beyond_the_budget_arrive_window_by_window() {
    let slow = Slow::new(10_000);
    let counting = CountingStorage::new(slow.clone());
    let storage = AheadStorage::new(Arc::new(counting.clone()));
    let ahead = storage.read_ahead(vec![planned("a", vec![0..10_000])], 1500);
    let file = storage.open_sized("a", 10_000).unwrap();
    let held = || ahead.queue.held();
    let mut most = 0;
    for start in (0..10_000).step_by(70) {
        check(&*file, start..10_000.min(start + 70));
        most = most.max(held());
    }
    // 100 blocks, requested whenever a quarter of 1500 bytes was read.
    let fetches = slow.fetches.load(Ordering::SeqCst);
    assert!(counting.counters().reads == 100 && fetches <= 30, "{} {fetches}", counting.counters());
    assert!(most <= 1600, "{most}");
    // The first block was evicted, so the bytes are read on demand.
    check(&*file, 0..70);
    assert_eq!(counting.counters().reads, 101);
}

#[test]
fn a_dropped_handle_stops_requests() {
    let slow = Slow::new(10_000);
    let counting = CountingStorage::new(slow.clone());
    let storage = AheadStorage::new(Arc::new(counting.clone()));
    let ahead = storage.read_ahead(vec![planned("a", vec![0..10_000])], 10_000);
    let file = storage.open_sized("a", 10_000).unwrap();
    // The first blocks are readable before the last arrive.
    check(&*file, 0..10);
    drop(ahead);
    // The fetching thread holds the blocks until it ends.
    while !storage.queues("a").current().is_empty() {
        thread::yield_now();
    }
    let asked = counting.counters().reads;
    assert!((4..=20).contains(&asked), "{asked} of 100 blocks");
    check(&*file, 9_000..9_010);
    assert_eq!(counting.counters().reads, asked + 1);
}

/// Partially read blocks stay in memory. Without eviction, a block of every window requested out of
/// order would stay.
#[test]
fn reads_out_of_order_stay_within_the_budget() {
    let slow = Slow::new(10_000);
    let storage = AheadStorage::new(slow.clone());
    let ahead = storage.read_ahead(vec![planned("a", vec![0..10_000]), planned("b", vec![0..10_000])], 1000);
    let (a, b) = (storage.open_sized("a", 10_000).unwrap(), storage.open_sized("b", 10_000).unwrap());
    for start in (0..10_000).step_by(100).rev() {
        check(&*a, start..start + 10);
        check(&*b, start..start + 10);
        // Blocks in flight cannot be evicted: two windows of each file.
        assert!(ahead.queue.held() <= 1400, "{start}: {}", ahead.queue.held());
    }
}

/// The earliest passed blocks are evicted first, because recently read blocks may be read again.
#[test]
fn passed_blocks_are_evicted_first() {
    let slow = Slow::new(10_000);
    let counting = CountingStorage::new(slow.clone());
    let storage = AheadStorage::new(Arc::new(counting.clone()));
    let _ahead = storage.read_ahead(vec![planned("a", vec![0..10_000])], 1000);
    let file = storage.open_sized("a", 10_000).unwrap();
    // The ten windows within the budget, and a window out of order.
    (0..=10).for_each(|block| check(&*file, block * 100..block * 100 + 10));
    let reads = counting.counters().reads;
    check(&*file, 910..950);
    check(&*file, 1010..1050);
    assert_eq!(counting.counters().reads, reads);
    check(&*file, 10..50);
    assert_eq!(counting.counters().reads, reads + 1);
}

#[test]
fn errors_come_from_plain_reads() {
    let slow = Arc::new(Slow { fails_from: 2, ..Arc::into_inner(Slow::new(10_000)).unwrap() });
    let storage = AheadStorage::new(slow);
    let _ahead = storage.read_ahead(vec![planned("a", vec![0..300])], 1000);
    check(&*storage.open_sized("a", 10_000).unwrap(), 0..300);
    let _ahead = storage.read_ahead(vec![planned("nowhere", vec![0..30])], 1000);
    let error = storage.open_sized("nowhere", 100).unwrap().read_into(3, &mut [0; 2]).unwrap_err();
    assert!(matches!(error, StorageError::NotFound { .. }), "{error}");
    let error = storage.open_sized("a", 20).unwrap().read_into(19, &mut [0; 2]).unwrap_err();
    assert!(matches!(error, StorageError::UnexpectedEnd { .. }), "{error}");
}

/// Unchecked sizes cost neither memory nor time.
#[test]
fn files_may_claim_any_size() {
    let storage = AheadStorage::new(Slow::new(10_000));
    let file = PlannedFile { path: "a".to_owned(), size: u64::MAX, ranges: vec![0..u64::MAX] };
    let ahead = storage.read_ahead(vec![file], 1500);
    let file = storage.open_sized("a", u64::MAX).unwrap();
    check(&*file, 0..1000);
    for offset in [9_990, 1 << 40, u64::MAX - 100] {
        assert!(file.read_into(offset, &mut [0; 20]).is_err(), "{offset}");
    }
    assert!(ahead.queue.held() <= 3000, "{}", ahead.queue.held());
}

#[test]
fn supplied_bytes_need_no_request() {
    let counting = CountingStorage::new(Slow::new(10_000));
    let storage = AheadStorage::new(Arc::new(counting.clone()));
    let supplied = storage.supply("a", 10_000, 9_000, (9_000..10_000).map(byte).collect());
    let fetched = storage.fetch(&[Request::last("a", 500)]).remove(0).unwrap();
    assert_eq!((fetched.start, fetched.bytes.len(), fetched.bytes[0]), (9_500, 500, byte(9_500)));
    check(&*storage.open("a").unwrap(), 9_000..10_000);
    assert_eq!(counting.counters(), crate::Counters::default());
    drop(supplied);
    check(&*storage.open("a").unwrap(), 9_000..10_000);
    assert_eq!(counting.counters().reads, 1);
}

#[test]
fn threads_read_one_file() {
    let storage = AheadStorage::new(Slow::new(10_000));
    let _ahead = storage.read_ahead(vec![planned("a", vec![0..10_000])], 2000);
    let file = storage.open_sized("a", 10_000).unwrap();
    let starts: Vec<usize> = (0..10_000).step_by(30).collect();
    crate::at_once(4, &starts, |start| check(&*file, *start..10_000.min(start + 30)));
}
