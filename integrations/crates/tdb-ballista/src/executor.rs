//! The executor process.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ballista_core::config::TaskSchedulingPolicy;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use datafusion_proto::physical_plan::PhysicalExtensionCodec;
use tdb_datafusion::Opener;
use tempfile::TempDir;
use tokio::net::TcpStream;

use crate::cluster::{Address, MESSAGE_BYTES};
use crate::codec::PhysicalCodec;
use crate::{Error, Result};

/// Delay between attempts to reach the scheduler.
const PAUSE: Duration = Duration::from_millis(200);

/// Options of an executor.
#[derive(Clone, Debug)]
#[must_use = "options have no effect until an executor runs with them"]
pub struct ExecutorOptions {
    scheduler: Address,
    listen: IpAddr,
    ports: [u16; 2],
    host: Option<String>,
    slots: usize,
    memory: Option<u64>,
    folder: Option<PathBuf>,
    heartbeat: Duration,
    connect: Duration,
    codec: Arc<dyn PhysicalExtensionCodec>,
}

impl ExecutorOptions {
    /// Creates options for a scheduler and an opener. Defaults: listens on localhost at two free
    /// ports, with as many slots as processors, and 70 % of the memory.
    pub fn new(scheduler: Address, opener: Opener) -> Self {
        Self {
            scheduler,
            listen: IpAddr::from([127, 0, 0, 1]),
            ports: [0, 0],
            host: None,
            slots: std::thread::available_parallelism().map_or(1, usize::from),
            memory: None,
            folder: None,
            heartbeat: Duration::from_secs(5),
            connect: Duration::from_secs(30),
            codec: Arc::new(PhysicalCodec::of_executors(opener)),
        }
    }

    /// Sets the address and two ports: `rows` serves results and intermediate rows, `tasks` serves
    /// the scheduler. 0 selects a free port.
    pub fn listen(mut self, address: IpAddr, rows: u16, tasks: u16) -> Self {
        self.listen = address;
        self.ports = [rows, tasks];
        self
    }

    /// Sets the host name or address for the scheduler, other executors and clients. Default: as
    /// seen by the scheduler.
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.host = Some(host.into());
        self
    }

    /// Sets the number of concurrent partitions.
    pub fn slots(mut self, slots: usize) -> Self {
        self.slots = slots.max(1);
        self
    }

    /// Limits the memory of operators in bytes, over all tasks. Each slot gets an equal share.
    /// Operators that need more spill or fail.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Sets the parent folder for intermediate rows. The executor creates a subfolder, and removes
    /// the subfolder when stopping. Default: the system's temporary folder.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Sets the heartbeat interval, in whole seconds, at least 1.
    pub fn heartbeat(mut self, interval: Duration) -> Self {
        self.heartbeat = interval.max(Duration::from_secs(1));
        self
    }

    /// Sets the maximum time to reach the scheduler at startup.
    pub fn connect(mut self, patience: Duration) -> Self {
        self.connect = patience.max(Duration::from_secs(1));
        self
    }

    /// Sets the codec, for plans with custom nodes. Either wraps [`PhysicalCodec::of_executors`],
    /// or is that codec with [another inner codec](PhysicalCodec::with_inner).
    pub fn codec(mut self, codec: Arc<dyn PhysicalExtensionCodec>) -> Self {
        self.codec = codec;
        self
    }
}

/// An executor that is ready to run.
#[derive(Debug)]
pub struct Executor {
    options: ExecutorOptions,
    folder: TempDir,
}

impl Executor {
    /// Creates the folder, and selects the ports.
    ///
    /// # Errors
    /// [`Error::Folder`], [`Error::Listen`].
    pub fn new(mut options: ExecutorOptions) -> Result<Self> {
        let within = options.folder.clone().unwrap_or_else(std::env::temp_dir);
        let failed = |source| Error::Folder { folder: within.display().to_string(), source };
        std::fs::create_dir_all(&within).map_err(failed)?;
        let folder = tempfile::Builder::new().prefix("tdb-executor-").tempdir_in(&within).map_err(failed)?;
        options.ports = free(options.listen, options.ports)?;
        Ok(Self { options, folder })
    }

    /// Returns the address that serves rows.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        SocketAddr::new(self.options.listen, self.options.ports[0])
    }

    /// Runs tasks until the process receives Ctrl-C or SIGTERM. Then finishes running tasks, and
    /// accepts no more. Dropping the future stops immediately.
    ///
    /// # Errors
    /// [`Error::NoScheduler`], or [`Error::Process`] if a port is taken.
    pub async fn run(self) -> Result<()> {
        let Self { options, folder } = self;
        reach(&options.scheduler, options.connect).await?;
        let listen = match options.listen {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        let config = ExecutorProcessConfig {
            bind_host: listen,
            external_host: options.host,
            port: options.ports[0],
            grpc_port: options.ports[1],
            scheduler_host: options.scheduler.host().to_owned(),
            scheduler_port: options.scheduler.port(),
            // `reach` has waited already. Ballista would wait without limit.
            scheduler_connect_timeout_seconds: 0,
            vcores: options.slots,
            task_scheduling_policy: TaskSchedulingPolicy::PushStaged,
            work_dir: Some(folder.path().display().to_string()),
            memory_pool_size: options.memory,
            grpc_max_decoding_message_size: MESSAGE_BYTES as u32,
            grpc_max_encoding_message_size: MESSAGE_BYTES as u32,
            executor_heartbeat_interval_seconds: options.heartbeat.as_secs(),
            override_physical_codec: Some(options.codec),
            ..ExecutorProcessConfig::default()
        };
        let ended = start_executor_process(Arc::new(config)).await;
        ended.map_err(|source| Error::Process { process: "the executor", source })
    }
}

/// Waits until the scheduler accepts connections.
async fn reach(scheduler: &Address, patience: Duration) -> Result<()> {
    let end = Instant::now() + patience;
    loop {
        let connected = TcpStream::connect((scheduler.host(), scheduler.port()));
        let why = match tokio::time::timeout_at(end.into(), connected).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "timed out".to_owned(),
        };
        if Instant::now() + PAUSE >= end {
            return Err(Error::NoScheduler { scheduler: scheduler.to_string(), why });
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Replaces zeros by free ports. Finds free ports by listening briefly. If another process takes
/// the port first, the executor fails.
fn free(address: IpAddr, ports: [u16; 2]) -> Result<[u16; 2]> {
    let mut listeners = Vec::new();
    for port in ports {
        let at = SocketAddr::new(address, port);
        let failed = |source| Error::Listen { address: at, source };
        let listener = TcpListener::bind(at).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        listeners.push((listener, port));
    }
    Ok([listeners[0].1, listeners[1].1])
}

/// Completes when the process receives SIGTERM, or Ctrl-Break on Windows.
pub async fn terminated() {
    if ballista_executor::terminate::sig_term().await.is_err() {
        // Without a signal handler, never completes.
        std::future::pending::<()>().await;
    }
}
