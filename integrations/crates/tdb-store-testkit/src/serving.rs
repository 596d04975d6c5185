//! HTTP serving on loopback.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::CONTENT_LENGTH;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use crate::connection::Connection;

/// Response to a request.
#[derive(Debug)]
pub(crate) enum Answer {
    /// A complete response. The headers may be wrong about the body.
    Whole(Response<Bytes>),
    /// A response closed after this number of body bytes.
    Cut(Response<Bytes>, usize),
    /// A response that pauses after this number of body bytes, for this duration.
    Paused(Response<Bytes>, usize, Duration),
    /// A response that claims this body length, closed after the actual body.
    Claimed(Response<Bytes>, u64),
    /// An endless body. The counter receives the bytes sent.
    Flood(Response<Bytes>, Arc<AtomicU64>),
    /// A connection reset.
    Reset,
}

pub(crate) type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// A request handler.
pub(crate) trait Answers: Send + Sync + 'static {
    fn answer(self: Arc<Self>, request: Request<Bytes>) -> Answering;

    /// Records a new connection. Does nothing by default.
    fn connected(&self) {}
}

/// A listener. Stops when dropped.
#[derive(Debug)]
pub(crate) struct Serving {
    address: SocketAddr,
    listening: JoinHandle<()>,
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// Two threads are enough, because servers mostly wait.
const THREADS: usize = 2;

pub(crate) fn runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: OnceLock<Result<Runtime, io::ErrorKind>> = OnceLock::new();
    let begin = || {
        let built =
            Builder::new_multi_thread().worker_threads(THREADS).thread_name("store-testkit").enable_all().build();
        built.map_err(|error| error.kind())
    };
    RUNTIME.get_or_init(begin).as_ref().map_err(|kind| io::Error::from(*kind))
}

impl Serving {
    /// Listens on a free loopback port.
    pub(crate) fn start(answers: Arc<impl Answers>) -> io::Result<Self> {
        let runtime = runtime()?;
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let listening = runtime.spawn(async move {
            let Ok(listener) = TcpListener::from_std(listener) else { return };
            while let Ok((stream, _)) = listener.accept().await {
                answers.connected();
                tokio::spawn(serve(stream, answers.clone()));
            }
        });
        Ok(Self { address, listening })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Serves a connection, request by request.
async fn serve(stream: TcpStream, answers: Arc<impl Answers>) {
    let _ = stream.set_nodelay(true);
    let resets = Arc::new(AtomicBool::new(false));
    let connection = TokioIo::new(Connection::new(stream, resets.clone()));
    let service = service_fn(move |request: Request<Incoming>| {
        let (answers, resets) = (answers.clone(), resets.clone());
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
            match answers.answer(Request::from_parts(head, body)).await {
                Answer::Whole(response) => Ok(whole(response)),
                // Empty bodies, as for HEAD, cannot be cut.
                Answer::Cut(response, _) if response.body().is_empty() => Ok(whole(response)),
                Answer::Cut(response, after) => {
                    let length = response.body().len() as u64;
                    Ok(cut(response, length, after))
                }
                Answer::Paused(response, after, pause) => Ok(paused(response, after, pause)),
                Answer::Claimed(response, length) => Ok(cut(response, length, usize::MAX)),
                Answer::Flood(response, given) => Ok(flood(response, given)),
                Answer::Reset => {
                    resets.store(true, Ordering::Relaxed);
                    Err(io::Error::from(io::ErrorKind::ConnectionReset))
                }
            }
        }
    });
    // Errors are closed connections, by the client or by a fault.
    let _ = http1::Builder::new().serve_connection(connection, service).await;
}

type Body = BoxBody<Bytes, io::Error>;

fn whole(response: Response<Bytes>) -> Response<Body> {
    let said = response.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let (head, bytes) = response.into_parts();
    let body = match said {
        // Bodies with the claimed length, and empty bodies for HEAD.
        None => Full::new(bytes).map_err(|never| match never {}).boxed(),
        Some(said) if said == bytes.len() || bytes.is_empty() => {
            Full::new(bytes).map_err(|never| match never {}).boxed()
        }
        // A stream has no length. The false header therefore stays.
        Some(_) => StreamBody::new(stream::iter([Ok(Frame::data(bytes))])).boxed(),
    };
    Response::from_parts(head, body)
}

/// Sends the start of a body in two pieces under the claimed length, then closes the connection.
fn cut(response: Response<Bytes>, length: u64, after: usize) -> Response<Body> {
    let (mut head, mut bytes) = response.into_parts();
    head.headers.insert(CONTENT_LENGTH, length.into());
    bytes.truncate(after);
    let rest = bytes.split_off(bytes.len() / 2);
    let end = Err(io::Error::from(io::ErrorKind::BrokenPipe));
    // Sends pieces separately. Otherwise the close would overtake earlier bytes.
    let pieces = stream::unfold(vec![end, Ok(Frame::data(rest)), Ok(Frame::data(bytes))], |mut left| async move {
        let piece = left.pop()?;
        if left.len() < 2 {
            tokio::time::sleep(GAP).await;
        }
        Some((piece, left))
    });
    Response::from_parts(head, BodyExt::boxed(StreamBody::new(pieces)))
}

fn paused(response: Response<Bytes>, after: usize, pause: Duration) -> Response<Body> {
    let (mut head, mut first) = response.into_parts();
    head.headers.insert(CONTENT_LENGTH, first.len().into());
    let rest = first.split_off(after.min(first.len()));
    let pieces = stream::unfold(vec![rest, first], move |mut left| async move {
        let piece = left.pop()?;
        if left.is_empty() {
            tokio::time::sleep(pause).await;
        }
        Some((Ok(Frame::data(piece)), left))
    });
    Response::from_parts(head, BodyExt::boxed(StreamBody::new(pieces)))
}

/// Returns an endless body.
fn flood(response: Response<Bytes>, given: Arc<AtomicU64>) -> Response<Body> {
    static WATER: [u8; 32 << 10] = [b' '; 32 << 10];
    let pieces = stream::repeat_with(move || {
        given.fetch_add(WATER.len() as u64, Ordering::SeqCst);
        Ok(Frame::data(Bytes::from_static(&WATER)))
    });
    response.map(|_| BodyExt::boxed(StreamBody::new(pieces)))
}

/// Long enough to send earlier bytes.
const GAP: Duration = Duration::from_millis(2);
