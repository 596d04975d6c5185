//! Submission of plans to the scheduler, and tracking of progress.

use std::time::{Duration, Instant};

use ballista_core::serde::protobuf::execute_query_params::Query;
use ballista_core::serde::protobuf::execute_query_result::Result as Answer;
use ballista_core::serde::protobuf::get_job_status_result::FlightProxy;
use ballista_core::serde::protobuf::job_status::Status;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{
    CancelJobParams, CleanJobDataParams, ExecuteQueryParams, GetJobMetricsParams, GetJobMetricsResult,
    GetJobStatusParams, KeyValuePair, PartitionLocation,
};
use ballista_core::utils::{GrpcClientConfig, create_grpc_client_endpoint};
use ballista_core::{BALLISTA_VERSION, version};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tonic::transport::Channel;

use crate::cluster::{Address, Cluster};
use crate::{Error, Result};

/// Connection timeout.
const CONNECT: Duration = Duration::from_secs(10);
/// Response timeout.
const ANSWER: Duration = Duration::from_secs(120);
/// Delay between status requests. Starts short, and doubles.
const SOONEST: Duration = Duration::from_millis(5);
const LATEST: Duration = Duration::from_millis(100);
/// Interval of requests about executors.
const PROBE: Duration = Duration::from_secs(1);
/// Maximum time for which the scheduler may not know a new job.
const UNKNOWN: Duration = Duration::from_secs(10);

/// A serialized plan, with the session settings.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) plan: Vec<u8>,
    /// Number of partitions of the result.
    pub(super) partitions: usize,
    pub(super) settings: Vec<KeyValuePair>,
    pub(super) session: String,
}

/// Location of the result.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) partitions: Vec<PartitionLocation>,
    /// Proxy for fetching results, in place of the executors.
    pub(super) proxy: Option<FlightProxy>,
}

/// Status of a job.
enum Look {
    Finished(Finished),
    Running,
    /// Not started yet, or forgotten.
    Unknown,
}

/// A submitted plan. Dropping it before the end cancels the job.
pub(super) struct Job {
    scheduler: Address,
    client: SchedulerGrpcClient<Channel>,
    id: String,
    wait: Duration,
    is_over: bool,
}

impl Job {
    /// Submits a plan.
    ///
    /// # Errors
    /// No scheduler responds, or the scheduler has another version or cannot read the plan.
    pub(super) async fn submit(cluster: &Cluster, request: Request) -> Result<Self> {
        let scheduler = cluster.scheduler.clone();
        let mut client = connect(cluster).await?;
        let params = ExecuteQueryParams {
            query: Some(Query::PhysicalPlan(request.plan)),
            settings: request.settings,
            session_id: request.session,
            operation_id: String::new(),
        };
        let mut message = tonic::Request::new(params);
        version::insert_version_header(message.metadata_mut());
        let refused = |why: String| Error::Refused { scheduler: scheduler.to_string(), why };
        let answer = client.execute_query(message).await.map_err(|status| refused(status.message().to_owned()))?;
        let is_fit =
            version::check_compatibility(Some(BALLISTA_VERSION), version::version_from_metadata(answer.metadata()));
        let id = match answer.into_inner().result {
            Some(Answer::Success(taken)) => taken.job_id,
            Some(Answer::Failure(failure)) => {
                return Err(refused(is_fit.err().unwrap_or_else(|| format!("{failure:?}"))));
            }
            None => return Err(refused("no response".to_owned())),
        };
        let job = Self { scheduler: cluster.scheduler.clone(), client, id, wait: cluster.wait, is_over: false };
        // A scheduler too old to check versions has started the job. Dropping `job` cancels it.
        is_fit.map(|()| job).map_err(refused)
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Waits for the end of the job.
    ///
    /// # Errors
    /// The job failed, there are no executors, or the scheduler is gone.
    pub(super) async fn finish(&mut self) -> Result<Finished> {
        let (mut pause, mut probed) = (SOONEST, Instant::now());
        let (mut lonely, mut unknown) = (None, None);
        loop {
            match self.look().await? {
                Look::Finished(finished) => return Ok(finished),
                Look::Running => unknown = None,
                Look::Unknown if unknown.get_or_insert_with(Instant::now).elapsed() < UNKNOWN => {}
                Look::Unknown => {
                    let why = format!("unknown job {}", self.id);
                    return Err(Error::Lost { scheduler: self.scheduler.to_string(), why });
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LATEST);
            if probed.elapsed() < PROBE {
                continue;
            }
            probed = Instant::now();
            match has_executors(&self.scheduler).await {
                Some(false) => {
                    let waited = lonely.get_or_insert(probed).elapsed();
                    if waited >= self.wait {
                        self.cancel().await;
                        return Err(Error::NoExecutors { scheduler: self.scheduler.to_string(), waited: self.wait });
                    }
                }
                _ => lonely = None,
            }
        }
    }

    /// Cancels the job, and waits for the request. Dropping only spawns the request. The request
    /// would be lost if the program ends and drops the runtime.
    async fn cancel(&mut self) {
        self.is_over = true;
        if let Err(status) = self.client.cancel_job(CancelJobParams { job_id: self.id.clone() }).await {
            log::debug!("cannot cancel job {}: {}", self.id, status.message());
        }
    }

    async fn look(&mut self) -> Result<Look> {
        let params = GetJobStatusParams { job_id: self.id.clone() };
        let answer = self.client.get_job_status(params).await.map_err(|status| self.lost(&status))?.into_inner();
        match answer.status.map(|status| status.status) {
            None => Ok(Look::Unknown),
            Some(None | Some(Status::Queued(_) | Status::Running(_))) => Ok(Look::Running),
            Some(Some(Status::Failed(failed))) => {
                self.is_over = true;
                let why = plainly(&failed.error);
                Err(Error::Failed { scheduler: self.scheduler.to_string(), job: self.id.clone(), why })
            }
            Some(Some(Status::Successful(done))) => {
                self.is_over = true;
                Ok(Look::Finished(Finished { partitions: done.partition_location, proxy: answer.flight_proxy }))
            }
        }
    }

    /// Returns the operator metrics by stage.
    ///
    /// # Errors
    /// The scheduler is gone.
    pub(super) async fn metrics(&mut self) -> Result<GetJobMetricsResult> {
        let params = GetJobMetricsParams { job_id: self.id.clone() };
        let answer = self.client.get_job_metrics(params).await;
        answer.map(tonic::Response::into_inner).map_err(|status| self.lost(&status))
    }

    /// Asks executors to remove the job's data. Executors remove orphaned data later by themselves.
    pub(super) async fn clean(&mut self) {
        let asked = self
            .client
            .clean_job_data(CleanJobDataParams { job_id: self.id.clone(), remove_stage_ids: Vec::new() })
            .await;
        if let Err(status) = asked {
            log::debug!("cannot remove job {} from its executors yet: {}", self.id, status.message());
        }
    }

    fn lost(&self, status: &tonic::Status) -> Error {
        Error::Lost { scheduler: self.scheduler.to_string(), why: status.message().to_owned() }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let (mut client, job_id) = (self.client.clone(), std::mem::take(&mut self.id));
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { client.cancel_job(CancelJobParams { job_id }).await });
        }
    }
}

/// Shortens an error message of the scheduler, and adds a hint if only an executor knows the cause.
fn plainly(error: &str) -> String {
    let what = error.rsplit("Task failed due to runtime execution error: ").next().unwrap_or(error);
    match what.contains("rejected by executor") {
        true => format!("{what}; see the log of the executor: it may be of another version"),
        false => what.to_owned(),
    }
}

async fn connect(cluster: &Cluster) -> Result<SchedulerGrpcClient<Channel>> {
    let scheduler = &cluster.scheduler;
    let config = GrpcClientConfig {
        connect_timeout_seconds: CONNECT.as_secs(),
        timeout_seconds: ANSWER.as_secs(),
        max_message_size: cluster.message_bytes,
        ..GrpcClientConfig::default()
    };
    let failed = |error: tonic::transport::Error| {
        let why = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
        Error::NoScheduler { scheduler: scheduler.to_string(), why }
    };
    let endpoint = create_grpc_client_endpoint(format!("http://{scheduler}"), Some(&config)).map_err(failed)?;
    let channel = endpoint.connect().await.map_err(failed)?;
    let client = SchedulerGrpcClient::new(channel);
    Ok(client.max_encoding_message_size(cluster.message_bytes).max_decoding_message_size(cluster.message_bytes))
}

/// Asks if the scheduler has executors. `None` without an answer.
async fn has_executors(scheduler: &Address) -> Option<bool> {
    let asked = async {
        let mut connection = TcpStream::connect((scheduler.host(), scheduler.port())).await.ok()?;
        let request = format!("GET /readyz HTTP/1.1\r\nHost: {scheduler}\r\nConnection: close\r\n\r\n");
        connection.write_all(request.as_bytes()).await.ok()?;
        let mut answer = [0; 12];
        connection.read_exact(&mut answer).await.ok()?;
        match &answer {
            b"HTTP/1.1 200" => Some(true),
            b"HTTP/1.1 503" => Some(false),
            _ => None,
        }
    };
    tokio::time::timeout(CONNECT, asked).await.ok()?
}
