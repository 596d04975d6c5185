//! Fetching of results from executors.

use std::collections::BTreeSet;

use ballista_core::client::BallistaClient;
use ballista_core::serde::protobuf::PartitionLocation;
use ballista_core::serde::protobuf::get_job_status_result::FlightProxy;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::Result as DataFusionResult;
use futures_util::StreamExt as _;
use tokio::sync::mpsc::Sender;

use super::submit::Finished;
use crate::cluster::{Address, Cluster};
use crate::{Error, Result};

/// Maximum number of result bytes held back before the first row is sent. If an executor disappears
/// earlier, the query restarts without repeating rows.
const HELD: usize = 64 << 20;
/// Number of attempts to reach an executor, with pauses.
const TRIES: u8 = 3;
const PAUSE_MS: u64 = 200;

/// Outcome of fetching results.
pub(super) enum Given {
    /// All rows were sent, or the receiver is gone.
    All,
    /// No row was sent, because an executor or the location of a partition is lost.
    None(Error),
}

/// Sends the rows of all partitions to `to`, one partition after the other. `wanted` is the
/// expected number of partitions.
///
/// # Errors
/// Fails if an executor disappears after some rows were sent.
pub(super) async fn give(
    cluster: &Cluster,
    finished: &Finished,
    wanted: usize,
    to: &Sender<DataFusionResult<RecordBatch>>,
) -> Result<Given> {
    let there =
        finished.partitions.iter().filter_map(|location| location.partition_id.as_ref().map(|id| id.partition_id));
    let there = there.collect::<BTreeSet<_>>().len();
    if there < wanted {
        return Ok(Given::None(Error::Incomplete { there, wanted }));
    }
    let mut rows = Rows { held: Some((Vec::new(), 0)), to };
    for location in &finished.partitions {
        match one(cluster, location, finished.proxy.as_ref(), &mut rows).await {
            Ok(true) => {}
            Ok(false) => return Ok(Given::All),
            Err(error) if rows.held.is_some() => return Ok(Given::None(error)),
            Err(error) => return Err(error),
        }
    }
    rows.release().await;
    Ok(Given::All)
}

/// Destination of batches. Holds back the first batches, up to [`HELD`] bytes.
struct Rows<'a> {
    held: Option<(Vec<RecordBatch>, usize)>,
    to: &'a Sender<DataFusionResult<RecordBatch>>,
}

impl Rows<'_> {
    /// Adds a batch. Returns `false` if no more are wanted.
    async fn take(&mut self, batch: RecordBatch) -> bool {
        let Some((batches, bytes)) = &mut self.held else { return self.to.send(Ok(batch)).await.is_ok() };
        *bytes = bytes.saturating_add(batch.get_array_memory_size());
        batches.push(batch);
        *bytes <= HELD || self.release().await
    }

    async fn release(&mut self) -> bool {
        for batch in self.held.take().unwrap_or_default().0 {
            if self.to.send(Ok(batch)).await.is_err() {
                return false;
            }
        }
        true
    }
}

/// Fetches the rows of one partition. Returns `false` if no more are wanted.
async fn one(
    cluster: &Cluster,
    location: &PartitionLocation,
    proxy: Option<&FlightProxy>,
    rows: &mut Rows<'_>,
) -> Result<bool> {
    let executor = location.executor_meta.clone().unwrap_or_default();
    let gone = |why: String| Error::Result { executor: executor.id.clone(), why };
    let port = u16::try_from(executor.port).map_err(|_| gone(format!("{} is not a port", executor.port)))?;
    let Some(partition) = location.partition_id.clone() else {
        return Err(gone("the partition has no id".to_owned()));
    };
    let (at, through) = match proxy {
        Some(FlightProxy::External(address)) => {
            let address: Address = address.parse()?;
            (address.host().to_owned(), address.port())
        }
        Some(FlightProxy::Local(true)) => (cluster.scheduler.host().to_owned(), cluster.scheduler.port()),
        Some(FlightProxy::Local(false)) | None => (executor.host.clone(), port),
    };
    let host = if at.contains(':') { format!("[{at}]") } else { at };
    let client =
        BallistaClient::try_new(&host, through, cluster.message_bytes, false, None, TRIES, PAUSE_MS, 0, 0).await;
    let mut client = client.map_err(|error| gone(error.to_string()))?;
    let layout = location.layout();
    let partition = partition.into();
    let batches =
        client.fetch_partition_proxied(&executor.id, &partition, location.file_id, layout, &executor.host, port, true);
    let mut batches = batches.await.map_err(|error| gone(error.to_string()))?;
    while let Some(batch) = batches.next().await {
        if !rows.take(batch.map_err(|error| gone(error.to_string()))?).await {
            return Ok(false);
        }
    }
    Ok(true)
}
