//! HTTP connections that limit response sizes, ignore claimed lengths, and tolerate slow networks.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt, StreamBody};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
    ReqwestConnector,
};
use object_store::{ClientConfigKey, ClientOptions};

use crate::excess::{Excess, Listing};

/// Maximum bytes read of an error response. Error codes and messages are short, and pages of
/// proxies are not shown.
const REFUSAL: usize = 64 << 10;
/// Maximum bytes of a response other than a file read or a listing. A deletion of a thousand files
/// names each file.
const ANSWER: u64 = 16 << 20;
/// Maximum bytes of a listing without a limit from [`Listing::of`].
const LISTED: u64 = 64 << 20;

/// Default time without any data before a request fails.
const SILENCE: Duration = Duration::from_secs(30);
/// Minimum upload rate in bytes per second. Extends the time to wait for a response.
const SLOWEST: u64 = 64 << 10;

/// HTTP connections of [`open`](crate::open). For [configured stores](crate::ObjectStorage::new),
/// call `with_http_connector(Connector::default())` on the builder.
///
/// By itself, `object_store` reads every response except file contents into memory, preallocates
/// the length in the header, and lists until the last page. Requests also fail after 30 seconds,
/// too early for large transfers on slow networks. These connections behave differently:
///
/// - The length in a header allocates nothing.
/// - A listing ends at [`StoreOptions::listing`](crate::StoreOptions::listing) bytes, or when a
///   page repeats.
/// - Other responses end at 16 MiB. Error responses are read up to 64 KiB, and may have any
///   encoding.
/// - A request fails after 30 seconds without data, however long it takes in total. Each 64 KiB of
///   upload adds a second. If the client options change the timeout from the `object_store`
///   default, it applies to whole requests instead.
///
/// File contents are not limited here: the reader counts them.
#[derive(Clone, Copy, Debug)]
pub struct Connector {
    silence: Duration,
}

impl Default for Connector {
    fn default() -> Self {
        Self { silence: SILENCE }
    }
}

impl Connector {
    /// Sets the time without any data before a request fails.
    #[must_use]
    pub fn silence(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let timeout = |options: &ClientOptions| options.get_config_value(&ClientConfigKey::Timeout);
        let is_chosen = timeout(options) != timeout(&ClientOptions::new());
        let (options, silence) = match is_chosen {
            true => (options.clone(), Duration::MAX),
            false => (options.clone().with_timeout_disabled(), self.silence),
        };
        Ok(HttpClient::new(Bounded { client: ReqwestConnector::default().connect(&options)?, silence }))
    }
}

#[derive(Debug)]
struct Bounded {
    client: HttpClient,
    silence: Duration,
}

/// Timeout without data. The words `response body` let [`broke_off`](crate::said::broke_off)
/// recognize a truncated body.
#[derive(Debug, thiserror::Error)]
#[error("received no data of the {what} for {silence:?}")]
struct Silent {
    what: &'static str,
    silence: Duration,
}

/// Waits for data from the store, up to `silence`.
async fn heard<T>(silence: Duration, what: &'static str, coming: impl Future<Output = T>) -> Result<T, HttpError> {
    let silent = |_| HttpError::new(HttpErrorKind::Timeout, Silent { what, silence });
    tokio::time::timeout(silence, coming).await.map_err(silent)
}

#[async_trait::async_trait]
impl HttpService for Bounded {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let is_get = request.method().as_str() == "GET";
        let page = is_listing(&request).then(|| request.uri().to_string());
        let sending = Duration::from_secs(request.body().content_length() as u64 / SLOWEST);
        let silence = self.silence;
        let answer = self.client.execute(request);
        let mut response = heard(silence.saturating_add(sending), "response", answer).await??;
        if !response.status().is_success() {
            return Ok(refusal(response, silence).await);
        }
        let most = match page {
            Some(url) => Most::Listing(listing(&url)?),
            None if is_get => Most::Any,
            None => Most::Left(ANSWER),
        };
        // This end of a range would overflow in `object_store`.
        if response.headers().get("content-range").is_some_and(ends_nowhere) {
            response.headers_mut().remove("content-range");
        }
        Ok(response.map(|body| bounded(body, most, silence)))
    }
}

fn ends_nowhere(range: &impl AsRef<[u8]>) -> bool {
    let end = u64::MAX.to_string();
    range.as_ref().windows(end.len()).any(|part| part == end.as_bytes())
}

/// Returns `true` for a request of a listing page, in the forms of S3 and Google, Azure, and
/// WebDAV.
fn is_listing(request: &HttpRequest) -> bool {
    let mut parameters = request.uri().query().unwrap_or_default().split('&');
    match request.method().as_str() {
        "PROPFIND" => true,
        "GET" => parameters.any(|parameter| matches!(parameter, "list-type=2" | "comp=list")),
        _ => false,
    }
}

/// Returns the listing of a received page.
fn listing(url: &str) -> Result<Arc<Listing>, HttpError> {
    let listing = Listing::current().unwrap_or_else(|| Listing::new(LISTED));
    listing.page(url).map_err(too_much)?;
    Ok(listing)
}

/// Creates an error of a kind without retries in `object_store`.
fn too_much(excess: Excess) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, excess)
}

/// Reads the start of an error response. Replaces invalid UTF-8, because `object_store` would
/// report a broken connection.
async fn refusal(response: HttpResponse, silence: Duration) -> HttpResponse {
    let (head, mut body) = response.into_parts();
    let mut said = Vec::new();
    while said.len() < REFUSAL
        && let Ok(Some(Ok(frame))) = heard(silence, "response body", body.frame()).await
    {
        let piece = frame.into_data().unwrap_or_default();
        said.extend_from_slice(&piece[..piece.len().min(REFUSAL - said.len())]);
    }
    HttpResponse::from_parts(head, String::from_utf8_lossy(&said).into_owned().into())
}

/// Limit for the size of a body.
#[derive(Clone)]
enum Most {
    Any,
    Left(u64),
    Listing(Arc<Listing>),
}

impl Most {
    fn take(&mut self, count: u64) -> Result<(), Excess> {
        match self {
            Self::Any => Ok(()),
            Self::Listing(listing) => listing.bytes(count),
            Self::Left(left) => {
                *left = left.checked_sub(count).ok_or(Excess::Answer(ANSWER))?;
                Ok(())
            }
        }
    }
}

/// Wraps a body with a size limit and without a claimed length.
fn bounded(body: HttpResponseBody, most: Most, silence: Duration) -> HttpResponseBody {
    let frames = stream::unfold(Some((body, most)), move |state| async move {
        let (mut body, mut most) = state?;
        let frame = match heard(silence, "response body", body.frame()).await {
            Ok(Some(Ok(frame))) => frame,
            Ok(None) => return None,
            Ok(Some(Err(error))) | Err(error) => return Some((Err(error), None)),
        };
        match most.take(frame.data_ref().map_or(0, Bytes::len) as u64) {
            Ok(()) => Some((Ok(frame), Some((body, most)))),
            Err(excess) => Some((Err(too_much(excess)), None)),
        }
    });
    HttpResponseBody::new(StreamBody::new(frames))
}
