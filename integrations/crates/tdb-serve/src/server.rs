//! The server.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::answer::{Shared, answer};
use crate::idle::Idle;
use crate::page::Viewer;
use crate::site::Site;

/// Maximum size of the headers of a request in bytes.
const HEADERS: usize = 16 << 10;
/// Maximum number of headers of a request.
const HEADER_COUNT: usize = 64;
/// Maximum number of concurrent lookups of paths and walks of folders.
const LOOKUPS: usize = 32;

/// The settings of a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServeOptions {
    /// Folders of arrays and groups.
    pub folders: Vec<PathBuf>,
    /// The address to listen on. On a loopback address, the header `Host` of
    /// requests must name the local machine.
    pub address: IpAddr,
    /// The port to listen on, or 0 for a free port.
    pub port: u16,
    /// A folder with the built files of the viewer. `None` for the embedded files.
    pub viewer: Option<PathBuf>,
    /// Origins with access to the data, or `*` for all. Pages of the local machine have access.
    pub origins: Vec<String>,
    /// Maximum number of connections.
    pub connections: usize,
    /// Maximum time for the headers of a request.
    pub header_time: Duration,
    /// Maximum time without a byte sent or received.
    pub idle_time: Duration,
    /// Maximum time for running responses after the server was stopped.
    pub stop_time: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            folders: Vec::new(),
            address: Ipv4Addr::LOCALHOST.into(),
            port: 8080,
            viewer: None,
            origins: Vec::new(),
            connections: 256,
            header_time: Duration::from_secs(10),
            idle_time: Duration::from_secs(60),
            stop_time: Duration::from_secs(5),
        }
    }
}

/// An error at the start of a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// A folder cannot be opened.
    #[error("{path}: {source}")]
    Folder {
        /// The path of the folder.
        path: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The folder of the viewer has no file `index.html`.
    #[error("{path}: expected the built files of the viewer with index.html: {source}")]
    Viewer {
        /// The path of the folder.
        path: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The server cannot listen on its address.
    #[error("cannot listen on {address}: {source}")]
    Address {
        /// The address with the port.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// A listening web server for folders of arrays and groups. [`run`](Self::run) answers requests.
///
/// ```
/// use tdb_serve::{ServeOptions, Server};
///
/// # let folder = tempfile::tempdir()?;
/// let mut options = ServeOptions::default();
/// options.folders.push(folder.path().to_owned());
/// options.port = 0;
/// let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
/// runtime.block_on(async {
///     let server = Server::bind(&options).await?;
///     assert!(server.url().starts_with("http://127.0.0.1:"));
///     server.run(async {}).await; // stops at once
///     Ok::<(), Box<dyn std::error::Error>>(())
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
    options: ServeOptions,
}

impl Server {
    /// Opens the folders and listens.
    ///
    /// # Errors
    /// A folder cannot be opened, or the address is not available.
    pub async fn bind(options: &ServeOptions) -> Result<Self, ServeError> {
        let viewer = match &options.viewer {
            Some(path) => {
                Viewer::open(path).map_err(|source| ServeError::Viewer { path: path.display().to_string(), source })?
            }
            None => Viewer::Embedded,
        };
        for path in &options.folders {
            let check =
                || if std::fs::metadata(path)?.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) };
            check().map_err(|source| ServeError::Folder { path: path.display().to_string(), source })?;
        }
        let names = || options.folders.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
        let site =
            Site::open(&options.folders, viewer).map_err(|source| ServeError::Folder { path: names(), source })?;
        let address = SocketAddr::new(options.address, options.port);
        let failed = |source| ServeError::Address { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let lookups = Arc::new(Semaphore::new(LOOKUPS));
        let shared = Arc::new(Shared { site, address: address.ip(), origins: options.origins.clone(), lookups });
        Ok(Self { listener, address, shared, options: options.clone() })
    }

    /// Returns the URL of the start page.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Returns the URLs of the served folders.
    #[must_use]
    pub fn folders(&self) -> Vec<String> {
        self.shared.site.names().map(|name| format!("{}data/{}/", self.url(), crate::site::encoded(name))).collect()
    }

    /// Returns `true` if the start page is the viewer.
    #[must_use]
    pub fn has_viewer(&self) -> bool {
        self.shared.site.viewer.is_there()
    }

    /// Answers requests until `stop` is ready. Then waits for the running responses, for a limited
    /// time.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self { listener, shared, options, .. } = self;
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(options.header_time);
        http.max_buf_size(HEADERS).max_headers(HEADER_COUNT);
        let graceful = GracefulShutdown::new();
        let free = Arc::new(Semaphore::new(options.connections.clamp(1, Semaphore::MAX_PERMITS)));
        let mut stop = pin!(stop);
        loop {
            // Further connections wait in the queue of the operating system.
            let accepted = async {
                let permit = free.clone().acquire_owned().await;
                (listener.accept().await, permit)
            };
            let (accepted, permit) = tokio::select! {
                () = &mut stop => break,
                accepted = accepted => accepted,
            };
            let Ok((stream, _)) = accepted else {
                // The process has too many open files, for example.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let _ = stream.set_nodelay(true);
            let shared = shared.clone();
            let service = service_fn(move |request: hyper::Request<Incoming>| {
                let shared = shared.clone();
                async move { Ok::<_, io::Error>(answer(shared, request).await) }
            });
            let stream = TokioIo::new(Idle::new(stream, options.idle_time));
            let connection = graceful.watch(http.serve_connection(stream, service));
            tokio::spawn(async move {
                // An error ends the connection: the client has left, or sent an invalid request.
                let _ = connection.await;
                drop(permit);
            });
        }
        drop(listener);
        let _ = tokio::time::timeout(options.stop_time, graceful.shutdown()).await;
    }
}
