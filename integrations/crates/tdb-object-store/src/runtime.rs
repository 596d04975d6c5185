//! The runtime that requests are made on: one for the process, begun with the first request.

use std::future::{Future, ready};
use std::io;
use std::sync::OnceLock;
use std::sync::mpsc::{channel, sync_channel};

use futures_util::{Stream, StreamExt};
use tdb_storage::CancelToken;
use tokio::runtime::{Builder, Runtime};

/// Requests wait rather than compute: few threads serve many.
const THREADS: usize = 2;

static RUNTIME: OnceLock<Result<Runtime, io::ErrorKind>> = OnceLock::new();

fn runtime() -> io::Result<&'static Runtime> {
    let begin = || {
        let built =
            Builder::new_multi_thread().worker_threads(THREADS).thread_name("tdb-requests").enable_all().build();
        built.map_err(|error| error.kind())
    };
    RUNTIME
        .get_or_init(begin)
        .as_ref()
        .map_err(|kind| io::Error::new(*kind, "the threads for requests could not be started"))
}

/// Runs a future on the runtime and waits for it. The waiting is a plain channel's: it works on any thread, those of somebody
/// else's runtime too.
pub(crate) fn wait<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> io::Result<T> {
    let (sender, receiver) = sync_channel(1);
    runtime()?.spawn(async move {
        // Nobody listens any more if the waiting thread was ended.
        let _ = sender.send(future.await);
    });
    receiver.recv().map_err(|_| io::Error::other("a request ended without an answer"))
}

/// Runs a stream on the runtime and gives what comes of it to `take`, on this thread, until it ends or isn't wanted any more: then
/// whatever it waits for is dropped.
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

/// Lets a future run without waiting for it.
pub(crate) fn leave(future: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = runtime() {
        runtime.spawn(future);
    }
}
