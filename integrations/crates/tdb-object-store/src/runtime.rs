//! The runtime for requests: one per process, started with the first request.

use std::future::{Future, ready};
use std::io;
use std::sync::OnceLock;
use std::sync::mpsc::{channel, sync_channel};

use futures_util::{Stream, StreamExt};
use tdb_storage::CancelToken;
use tokio::runtime::{Builder, Runtime};

/// Two threads are enough, because requests mostly wait.
const THREADS: usize = 2;

static RUNTIME: OnceLock<Result<Runtime, io::ErrorKind>> = OnceLock::new();

fn runtime() -> io::Result<&'static Runtime> {
    let begin = || {
        let built =
            Builder::new_multi_thread().worker_threads(THREADS).thread_name("tdb-requests").enable_all().build();
        built.map_err(|error| error.kind())
    };
    RUNTIME.get_or_init(begin).as_ref().map_err(|kind| io::Error::new(*kind, "cannot start the threads for requests"))
}

/// Runs a future on the runtime and blocks until it completes. Blocks on a plain channel, and
/// therefore works on threads of another runtime too.
pub(crate) fn wait<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> io::Result<T> {
    let (sender, receiver) = sync_channel(1);
    runtime()?.spawn(async move {
        // The send fails only if the waiting thread has ended.
        let _ = sender.send(future.await);
    });
    receiver.recv().map_err(|_| io::Error::other("a request ended without a response"))
}

/// Runs a stream on the runtime, and passes its items to `take` on this thread. Stops at the end of
/// the stream. Cancellation drops pending requests.
pub(crate) fn each<T: Send + 'static>(
    stream: impl Stream<Item = T> + Send + 'static,
    cancel: &CancelToken,
    take: impl FnMut(T),
) -> io::Result<()> {
    let (sender, receiver) = channel();
    let task = runtime()?.spawn(stream.for_each(move |item| {
        let _ = sender.send(item);
        ready(())
    }));
    let _hook = cancel.on_cancel(move || task.abort());
    receiver.into_iter().for_each(take);
    Ok(())
}

/// Runs a future without waiting for it.
pub(crate) fn leave(future: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = runtime() {
        runtime.spawn(future);
    }
}
