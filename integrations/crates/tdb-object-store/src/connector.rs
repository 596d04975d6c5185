//! Connections that believe nothing of what stores say of their answers' lengths, read no more than there may be, and are patient with slow lines.

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

/// Most bytes of a refusal that are read: the codes and words of stores are short, and pages of servers in between aren't shown.
const REFUSAL: usize = 64 << 10;
/// Most bytes of what a store answers to anything but a read of a file or a listing: deletions of a thousand files name each.
const ANSWER: u64 = 16 << 20;
/// Most bytes of a listing's page where nobody says how many the listing may have.
const LISTED: u64 = 64 << 20;

/// How long a store may say nothing.
const SILENCE: Duration = Duration::from_secs(30);
/// Bytes that a line takes in a second at least: what is sent adds to the time that an answer may take.
const SLOWEST: u64 = 64 << 10;

/// Connections to stores as [`open`](crate::open) makes them: for stores that are [configured elsewhere](crate::ObjectStorage::new), to
/// be given to their builders as `with_http_connector(Connector::default())`.
///
/// `object_store` reads whole answers into memory where they are no file's bytes, sets aside what their headers claim, lists for
/// as long as there is another page, and gives up a request that takes longer than 30 seconds, which on a slow line is each that brings or sends
/// many bytes. Through these connections:
///
/// - what is set aside doesn't follow a claim;
/// - a listing ends at [`StoreOptions::listing`](crate::StoreOptions::listing) bytes, or where it begins again;
/// - other answers end at 16 MiB, and 64 KiB of a refusal are read, whatever bytes those are;
/// - a request is given up when nothing has come for 30 seconds, however long it takes as a whole. Bytes that are sent add a second for each
///   64 KiB. Where the client's options have another timeout than `object_store`'s default, that one holds, for requests as a whole.
///
/// Bytes of files pass as they come: who reads them counts them.
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
    /// A request is given up when nothing has come for so long.
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

/// That nothing comes any more. It is told apart from other errors by its words: those of a body that broke off.
#[derive(Debug, thiserror::Error)]
#[error("nothing has come of the {what} for {silence:?}")]
struct Silent {
    what: &'static str,
    silence: Duration,
}

/// Waits for something that the store sends.
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
        // The end of such a range can't be counted up to.
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

/// Whether a request asks for a page of a listing: as S3 and Google's, Azure's, and servers of the web are asked.
fn is_listing(request: &HttpRequest) -> bool {
    let mut parameters = request.uri().query().unwrap_or_default().split('&');
    match request.method().as_str() {
        "PROPFIND" => true,
        "GET" => parameters.any(|parameter| matches!(parameter, "list-type=2" | "comp=list")),
        _ => false,
    }
}

/// The listing that a page which came belongs to.
fn listing(url: &str) -> Result<Arc<Listing>, HttpError> {
    let listing = Listing::current().unwrap_or_else(|| Listing::new(LISTED));
    listing.page(url).map_err(too_much)?;
    Ok(listing)
}

/// An error that is none of the connection: the request isn't made again.
fn too_much(excess: Excess) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, excess)
}

/// An answer that refuses, with the beginning of what it says, as far as that comes. It has to be UTF-8 for `object_store`, which would tell
/// of a broken connection otherwise.
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

/// How much of a body may come.
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

/// A body that says nothing of its length beforehand, and ends with an error where it has more than it may.
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
