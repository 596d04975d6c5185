//! A query on a separate thread.

use std::fmt;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::thread::{self, JoinHandle};

use async_channel::{Receiver, Sender, bounded};
use futures_core::Stream;
use futures_core::stream::FusedStream;
use tdb_array::{Batch, Monitor, Query, Result};
use tdb_storage::StorageError;

/// Number of batches read ahead, in addition to the batch in progress.
const AHEAD: usize = 1;

/// Conversion of queries to streams.
pub trait StreamBatches {
    /// Returns the batches of the query, in query order. Reading starts with the first poll.
    ///
    /// The stream ends after the first error, including errors of [`Query::batches`]. The stream
    /// holds one finished batch in addition to the memory allowed by the query's
    /// [`budget`](Query::budget).
    fn stream(self) -> BatchStream;
}

impl StreamBatches for Query {
    fn stream(self) -> BatchStream {
        BatchStream { state: State::Planned(Box::new(self)), monitor: None }
    }
}

/// Stream of the batches of a query. See [`StreamBatches::stream`].
#[must_use = "nothing is read before it is polled"]
pub struct BatchStream {
    state: State,
    /// Cancels the query on drop. `None` if the query already had a monitor, which may be shared.
    monitor: Option<Monitor>,
}

enum State {
    Planned(Box<Query>),
    Running { batches: Pin<Box<Receiver<Result<Batch>>>>, thread: JoinHandle<()> },
    Ended,
}

impl BatchStream {
    /// Starts the thread.
    fn begin(&mut self, query: Query) -> Result<()> {
        let query = match query.monitored_by() {
            Some(_) => query,
            None => query.monitor(self.monitor.insert(Monitor::only_cancelling())),
        };
        let (sender, receiver) = bounded(AHEAD);
        let thread = thread::Builder::new().name("tdb-stream".to_owned()).spawn(move || run(query, &sender));
        let thread = thread.map_err(|error| StorageError::from_io("a thread for the stream".to_owned(), error))?;
        self.state = State::Running { batches: Box::pin(receiver), thread };
        Ok(())
    }
}

/// Sends batches until the end, or until the receiver is gone.
fn run(query: Query, sender: &Sender<Result<Batch>>) {
    let batches = match query.batches() {
        Ok(batches) => batches,
        Err(error) => {
            let _ = sender.send_blocking(Err(error));
            return;
        }
    };
    for batch in batches {
        let is_last = batch.is_err();
        if sender.send_blocking(batch).is_err() || is_last {
            return;
        }
    }
}

impl Stream for BatchStream {
    type Item = Result<Batch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let State::Planned(_) = self.state
            && let State::Planned(query) = std::mem::replace(&mut self.state, State::Ended)
            && let Err(error) = self.begin(*query)
        {
            return Poll::Ready(Some(Err(error)));
        }
        let State::Running { batches, .. } = &mut self.state else { return Poll::Ready(None) };
        let batch = ready!(batches.as_mut().poll_next(context));
        if !matches!(batch, Some(Ok(_)))
            && let State::Running { thread, .. } = std::mem::replace(&mut self.state, State::Ended)
            && batch.is_none()
            // The thread is about to end, or has panicked.
            && let Err(panic) = thread.join()
        {
            resume_unwind(panic);
        }
        Poll::Ready(batch)
    }
}

impl FusedStream for BatchStream {
    fn is_terminated(&self) -> bool {
        matches!(self.state, State::Ended)
    }
}

impl Drop for BatchStream {
    fn drop(&mut self) {
        if let Some(monitor) = &self.monitor {
            monitor.cancel();
        }
    }
}

impl fmt::Debug for BatchStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Planned(_) => "planned",
            State::Running { .. } => "running",
            State::Ended => "ended",
        };
        write!(f, "BatchStream({state})")
    }
}
