//! A proxy that counts, delays and disturbs requests.

mod altered;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{IF_NONE_MATCH, RANGE};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::serving::{Answer, Answering, Answers, Serving};
use crate::{Asked, Fault, Seen, What};

/// A proxy in front of a server.
///
/// Forwards requests unchanged, including the host header, which signatures cover. Give clients the
/// [address of the proxy](Self::endpoint) as the server address.
#[derive(Debug)]
pub struct Proxy {
    serving: Serving,
    inside: Arc<Inside>,
}

#[derive(Debug)]
struct Inside {
    server: SocketAddr,
    client: Client<HttpConnector, Full<Bytes>>,
    faults: RwLock<Vec<Fault>>,
    delay: Mutex<Duration>,
    seen: Mutex<Seen>,
    /// Number of pending requests.
    waiting: AtomicUsize,
    flooded: Arc<AtomicU64>,
    meanwhile: Mutex<Option<Meanwhile>>,
}

/// A job to run before a request is forwarded.
struct Meanwhile {
    /// Substring of the path or query.
    part: String,
    job: Box<dyn FnOnce() + Send>,
}

impl fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meanwhile").field("part", &self.part).finish_non_exhaustive()
    }
}

impl Proxy {
    /// Starts a proxy in front of a server.
    ///
    /// # Errors
    /// No port is available.
    pub fn before(server: SocketAddr) -> io::Result<Self> {
        let client = Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build_http();
        let inside = Arc::new(Inside {
            server,
            client,
            faults: RwLock::default(),
            delay: Mutex::default(),
            seen: Mutex::default(),
            waiting: AtomicUsize::new(0),
            flooded: Arc::default(),
            meanwhile: Mutex::default(),
        });
        Ok(Self { serving: Serving::start(inside.clone())?, inside })
    }

    /// Returns the listening address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.serving.address()
    }

    /// Returns the URL of the proxy, as an endpoint for S3 clients.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Adds a fault. The first matching fault applies.
    pub fn fault(&self, fault: Fault) {
        self.inside.faults.write().unwrap_or_else(PoisonError::into_inner).push(fault);
    }

    /// Runs a job once, before the next request with this text in the path or query is forwarded.
    /// Simulates changes between two requests.
    pub fn meanwhile(&self, part: &str, job: impl FnOnce() + Send + 'static) {
        *lock(&self.inside.meanwhile) = Some(Meanwhile { part: part.to_owned(), job: Box::new(job) });
    }

    /// Replaces all faults by this one.
    pub fn only(&self, fault: Fault) {
        *self.inside.faults.write().unwrap_or_else(PoisonError::into_inner) = vec![fault];
    }

    /// Removes all faults.
    pub fn calm(&self) {
        self.inside.faults.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Sets a delay for each response.
    pub fn delay(&self, delay: Duration) {
        *lock(&self.inside.delay) = delay;
    }

    /// Returns the records since the last call.
    #[must_use]
    pub fn take(&self) -> Seen {
        std::mem::take(&mut *lock(&self.inside.seen))
    }

    /// Returns the number of bytes sent in [endless bodies](What::Flood), including bytes in
    /// connection buffers.
    #[must_use]
    pub fn flooded(&self) -> u64 {
        self.inside.flooded.load(Ordering::SeqCst)
    }

    /// Returns the number of pending requests.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.inside.waiting.load(Ordering::SeqCst)
    }
}

/// A pending request. Dropped before the response, the request counts as given up.
struct Waiting {
    inside: Arc<Inside>,
    is_answered: bool,
}

impl Waiting {
    fn new(inside: Arc<Inside>) -> Self {
        inside.waiting.fetch_add(1, Ordering::SeqCst);
        Self { inside, is_answered: false }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.inside.waiting.fetch_sub(1, Ordering::SeqCst);
        if !self.is_answered {
            lock(&self.inside.seen).given_up += 1;
        }
    }
}

impl Answers for Inside {
    fn answer(self: Arc<Self>, request: Request<Bytes>) -> Answering {
        Box::pin(async move {
            let mut waiting = Waiting::new(self.clone());
            let depth = self.note(&request);
            let fault = self.what_happens(&request);
            let delay = *lock(&self.delay);
            if !delay.is_zero() {
                tokio::time::sleep(delay).await;
            }
            let job = lock(&self.meanwhile).take_if(|meanwhile| target_of(&request).contains(&meanwhile.part));
            if let Some(Meanwhile { job, .. }) = job {
                // A panic in the job shows by the missing effect.
                let _ = tokio::task::spawn_blocking(job).await;
            }
            let answer = self.answered(request, fault).await;
            let mut seen = lock(&self.seen);
            seen.round_trips = seen.round_trips.max(depth);
            drop(seen);
            waiting.is_answered = true;
            answer
        })
    }

    fn connected(&self) {
        lock(&self.seen).connections += 1;
    }
}

impl Inside {
    /// Records a request. Returns the length of the request chain up to this request.
    fn note(&self, request: &Request<Bytes>) -> usize {
        let mut seen = lock(&self.seen);
        let target = target_of(request).to_owned();
        seen.requests.push(Asked { method: request.method().clone(), target });
        seen.round_trips + 1
    }

    fn what_happens(&self, request: &Request<Bytes>) -> Option<What> {
        let faults = self.faults.read().unwrap_or_else(PoisonError::into_inner);
        let fault = faults.iter().find(|fault| fault.happens(request.method(), target_of(request)))?;
        lock(&self.seen).faults += 1;
        Some(fault.what.clone())
    }

    async fn answered(&self, mut request: Request<Bytes>, fault: Option<What>) -> Answer {
        let is_head = *request.method() == Method::HEAD;
        match &fault {
            Some(What::Refused(status, code)) => return Answer::Whole(refusal(*status, code, is_head)),
            Some(What::Echoed(status)) => return Answer::Whole(page(*status, &request)),
            Some(What::Said(status, bytes)) => return Answer::Whole(plain(*status, Bytes::from_static(bytes))),
            Some(What::Flood(status)) => return Answer::Flood(plain(*status, Bytes::new()), self.flooded.clone()),
            Some(What::Reset) => return Answer::Reset,
            Some(What::Stalled) => std::future::pending().await,
            Some(What::Slow(pause)) => tokio::time::sleep(*pause).await,
            Some(What::Unranged) => drop(request.headers_mut().remove(RANGE)),
            Some(What::Unconditional) => drop(request.headers_mut().remove(IF_NONE_MATCH)),
            _ => {}
        }
        let response = self.forward(request).await;
        match fault {
            Some(What::DoneAndRefused(status, code)) => Answer::Whole(refusal(status, code, is_head)),
            Some(What::DoneAndReset) => Answer::Reset,
            Some(What::Cut(after)) => Answer::Cut(response, after),
            Some(What::Paused(after, pause)) => Answer::Paused(response, after, pause),
            Some(What::Claimed(length)) => Answer::Claimed(response, length),
            Some(other) => Answer::Whole(altered::altered(response, &other)),
            None => Answer::Whole(response),
        }
    }

    /// Forwards a request, and returns the response.
    async fn forward(&self, request: Request<Bytes>) -> Response<Bytes> {
        let (mut head, body) = request.into_parts();
        let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
        let uri = format!("http://{}{target}", self.server).parse::<Uri>();
        let answered = async {
            head.uri = uri.map_err(io::Error::other)?;
            let response = self.client.request(Request::from_parts(head, Full::new(body)));
            let (head, body) = response.await.map_err(io::Error::other)?.into_parts();
            let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
            Ok::<_, io::Error>(Response::from_parts(head, body))
        };
        answered.await.unwrap_or_else(|error| plain(502, format!("the proxy: {error}")))
    }
}

fn target_of(request: &Request<Bytes>) -> &str {
    request.uri().path_and_query().map_or("/", |target| target.as_str())
}

fn plain(status: u16, body: impl Into<Bytes>) -> Response<Bytes> {
    let mut response = Response::new(body.into());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
}

/// Returns a page that repeats the request.
fn page(status: u16, request: &Request<Bytes>) -> Response<Bytes> {
    plain(status, format!("<html>{} {}<br>{:?}</html>", request.method(), target_of(request), request.headers()))
}

/// Returns an S3 error. Responses to HEAD have no body.
fn refusal(status: u16, code: &str, is_head: bool) -> Response<Bytes> {
    let body = format!(
        "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>The proxy refused the request.</Message></Error>"
    );
    plain(status, if is_head { String::new() } else { body })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
