//! The scheduler process.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::BallistaError;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service_with_listener};
use datafusion_proto::physical_plan::PhysicalExtensionCodec;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use tokio::net::TcpListener;

use crate::cluster::MESSAGE_BYTES;
use crate::codec::PhysicalCodec;
use crate::{Error, Result};

/// Options of a scheduler.
#[derive(Clone, Debug)]
#[must_use = "options have no effect until a scheduler runs with them"]
pub struct SchedulerOptions {
    listen: SocketAddr,
    host: Option<String>,
    executor_timeout: Duration,
    proxy: bool,
    codec: Option<Arc<dyn PhysicalExtensionCodec>>,
}

/// Interval of checks for dead executors, in seconds.
const LOOK: u64 = 2;

impl SchedulerOptions {
    /// Creates options with an address to listen at. Port 0 selects a free port.
    pub fn new(listen: SocketAddr) -> Self {
        Self { listen, host: None, executor_timeout: Duration::from_secs(30), proxy: false, codec: None }
    }

    /// Sets the host name or address for executors. Default: the listening address.
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.host = Some(host.into());
        self
    }

    /// Sets the time without a heartbeat until an executor counts as dead. Other executors take
    /// over the tasks. In whole seconds, at least 3.
    pub fn executor_timeout(mut self, timeout: Duration) -> Self {
        self.executor_timeout = timeout.max(Duration::from_secs(3));
        self
    }

    /// Routes results through the scheduler, for clients that cannot reach the executors.
    pub fn proxy_results(mut self, proxy: bool) -> Self {
        self.proxy = proxy;
        self
    }

    /// Sets the codec, for plans with custom nodes. Either wraps [`PhysicalCodec::of_plans`], or is
    /// that codec with [another inner codec](PhysicalCodec::with_inner).
    pub fn codec(mut self, codec: Arc<dyn PhysicalExtensionCodec>) -> Self {
        self.codec = Some(codec);
        self
    }

    fn config(self, listens: SocketAddr) -> SchedulerConfig {
        let codec = self.codec.unwrap_or_else(|| Arc::new(PhysicalCodec::of_plans()));
        let timeout = self.executor_timeout.as_secs();
        SchedulerConfig {
            bind_host: listens.ip().to_string(),
            bind_port: listens.port(),
            external_host: self.host.unwrap_or_else(|| listens.ip().to_string()),
            scheduling_policy: TaskSchedulingPolicy::PushStaged,
            executor_timeout_seconds: timeout,
            expire_dead_executor_interval_seconds: LOOK,
            no_executors_grace_period_seconds: timeout.saturating_mul(2),
            enable_embedded_flight_proxy: self.proxy,
            grpc_server_max_decoding_message_size: MESSAGE_BYTES as u32,
            grpc_server_max_encoding_message_size: MESSAGE_BYTES as u32,
            grpc_client_max_message_size: MESSAGE_BYTES as u32,
            override_physical_codec: Some(codec),
            ..SchedulerConfig::default()
        }
    }
}

/// A scheduler that listens, but does not respond yet.
pub struct Scheduler {
    listener: TcpListener,
    config: Arc<SchedulerConfig>,
    address: SocketAddr,
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Scheduler {
    /// Starts listening.
    ///
    /// # Errors
    /// [`Error::Listen`].
    pub async fn bind(options: SchedulerOptions) -> Result<Self> {
        let failed = |source| Error::Listen { address: options.listen, source };
        let listener = TcpListener::bind(options.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, config: Arc::new(options.config(address)), address })
    }

    /// Returns the listening address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves requests until the future is dropped. Jobs and executors are only kept in memory.
    /// Executors reconnect to a new scheduler at the same address.
    ///
    /// # Errors
    /// [`Error::Process`].
    pub async fn run(self) -> Result<()> {
        let failed = |source: BallistaError| Error::Process { process: "the scheduler", source };
        let cluster = BallistaCluster::new_from_config(&self.config).await.map_err(failed)?;
        let created = create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, self.config).await;
        start_grpc_service_with_listener(self.listener, created.map_err(failed)?).await.map_err(failed)
    }
}
