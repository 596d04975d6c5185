//! Streams return the same batches as iterators, do not block, and stop when dropped.
#![allow(clippy::unwrap_used)] // test helpers unwrap like tests

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use tdb_array::{Array, ArrayError, ArrayOptions, Monitor, Order};
use tdb_storage::LocalStorage;
use tdb_stream::StreamBatches;
use tdb_testkit::LatentStorage;

fn fixture() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/v22-by-2.30.0-sparse-2d/array")
}

/// Opens an array on a storage with latency.
fn far_away() -> (LatentStorage, Array) {
    let storage = LatentStorage::new(Arc::new(LocalStorage::new(fixture())), Duration::from_millis(20), 1 << 30);
    let array = ArrayOptions::new().open_on(Arc::new(storage.clone())).unwrap();
    (storage, array)
}

#[tokio::test]
async fn stream_returns_the_batches_of_the_iterator() {
    let array = Array::open(fixture()).unwrap();
    for order in [Order::RowMajor, Order::Unordered, Order::Global] {
        let query = array.read().order(order).batch_cells(3);
        let expected: Vec<_> = query.clone().batches().unwrap().map(|batch| format!("{:?}", batch.unwrap())).collect();
        let got: Vec<_> = query.stream().map(|batch| format!("{:?}", batch.unwrap())).collect().await;
        assert!(expected.len() > 1, "{}", expected.len());
        assert_eq!(got, expected);
    }
}

#[tokio::test]
async fn stream_does_not_block_other_tasks() {
    let (_, array) = far_away();
    let ticks = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&ticks);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_millis(1)).await;
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    let batches: Vec<_> = array.read().stream().collect().await;
    assert!(batches.iter().all(Result::is_ok));
    // The read waited for several responses of 20 ms in sequence.
    assert!(ticks.load(Ordering::Relaxed) > 5, "{ticks:?}");
}

#[tokio::test]
async fn error_is_the_last_item() {
    let array = Array::open(fixture()).unwrap();
    let monitor = Monitor::new();
    monitor.cancel();
    let mut stream = array.read().monitor(&monitor).stream();
    assert!(matches!(stream.next().await, Some(Err(ArrayError::Cancelled))));
    assert!(stream.next().await.is_none());
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn dropped_stream_sends_no_more_requests() {
    let (storage, array) = far_away();
    // Reading starts with the first poll.
    storage.take_requests();
    drop(array.read().stream());
    assert_eq!(storage.take_requests(), 0);

    let mut stream = array.read().batch_cells(1).stream();
    assert!(stream.next().await.unwrap().is_ok());
    drop(stream);
    // Earlier requests may still complete.
    tokio::time::sleep(Duration::from_millis(200)).await;
    storage.take_requests();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(storage.take_requests(), 0);
}

#[tokio::test]
async fn shared_monitor_is_not_cancelled() {
    let array = Array::open(fixture()).unwrap();
    let monitor = Monitor::new();
    let mut stream = array.read().batch_cells(1).monitor(&monitor).stream();
    assert!(stream.next().await.unwrap().is_ok());
    drop(stream);
    assert!(!monitor.is_cancelled());
}
