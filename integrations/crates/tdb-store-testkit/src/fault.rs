//! Faults of requests.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::Method;

/// A fault, and the requests affected.
///
/// ```
/// use tdb_store_testkit::{Fault, Method, What};
///
/// // Every second request for a file's bytes is refused for now.
/// let fault = Fault::new(What::Refused(503, "SlowDown")).on(Method::GET).each(2);
/// ```
#[derive(Debug)]
pub struct Fault {
    pub(crate) what: What,
    method: Option<Method>,
    /// Substring of the path or query.
    part: Option<String>,
    when: When,
    /// Number of matching requests so far.
    met: AtomicUsize,
}

/// Kind of fault.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// Rejects the request with a status and an S3 error code, without execution.
    Refused(u16, &'static str),
    /// Rejects the request with a status and a page that repeats the request headers, like a
    /// debugging proxy.
    Echoed(u16),
    /// Executes the request, and responds with an error.
    DoneAndRefused(u16, &'static str),
    /// Resets the connection instead of a response, without execution.
    Reset,
    /// Executes the request, and resets the connection instead of a response.
    DoneAndReset,
    /// Closes the connection after this number of body bytes.
    Cut(usize),
    /// Shortens the body by this number of bytes, with a matching `Content-Length`.
    Short(usize),
    /// Extends the body by this number of bytes, with a matching `Content-Length`.
    Long(usize),
    /// Shifts the range in the response headers by this number of bytes.
    Shifted(u64),
    /// Reports this file size in responses and listings.
    Sized(u64),
    /// Returns the whole file for a range request. Only for servers without signature checks.
    Unranged,
    /// Omits names with this substring from listings.
    Hidden(String),
    /// Removes write conditions from the request. Only for servers without signature checks.
    Unconditional,
    /// Never responds.
    Stalled,
    /// Delays the response.
    Slow(Duration),
    /// Pauses the body after this number of bytes.
    Paused(usize, Duration),
    /// Rejects the request with a status and this body.
    Said(u16, &'static [u8]),
    /// Responds with this status and an endless body, without execution. The proxy
    /// [counts](crate::Proxy::flooded) the bytes.
    Flood(u16),
    /// Claims this body length, and closes the connection early.
    Claimed(u64),
    /// Claims this range: `bytes FIRST-LAST/SIZE`.
    Ranged(&'static str),
    /// Each page of a listing names the same page as its successor.
    Circling,
    /// Each page of a listing names a further page.
    Endless,
}

#[derive(Clone, Copy, Debug)]
enum When {
    Always,
    First(usize),
    Each(usize),
    Nth(usize),
    /// Out of 1000, in pseudorandom order.
    Share(u64),
}

impl Fault {
    /// Creates a fault of all requests.
    #[must_use]
    pub fn new(what: What) -> Self {
        Self { what, method: None, part: None, when: When::Always, met: AtomicUsize::new(0) }
    }

    /// Restricts to requests with this method.
    #[must_use]
    pub fn on(mut self, method: Method) -> Self {
        self.method = Some(method);
        self
    }

    /// Restricts to requests with this text in the path or query.
    #[must_use]
    pub fn of(mut self, part: impl Into<String>) -> Self {
        self.part = Some(part.into());
        self
    }

    /// Restricts to the first `count` matching requests.
    #[must_use]
    pub fn first(mut self, count: usize) -> Self {
        self.when = When::First(count);
        self
    }

    /// Restricts to every `count`-th matching request.
    #[must_use]
    pub fn each(mut self, count: usize) -> Self {
        self.when = When::Each(count.max(1));
        self
    }

    /// Restricts to a single matching request, counted from 0.
    #[must_use]
    pub fn nth(mut self, index: usize) -> Self {
        self.when = When::Nth(index);
        self
    }

    /// Restricts to a share of the matching requests, in thousandths. The selection is
    /// reproducible.
    #[must_use]
    pub fn share(mut self, of_a_thousand: u64) -> Self {
        self.when = When::Share(of_a_thousand);
        self
    }

    /// `true` if the fault applies to a request. Counts the request.
    pub(crate) fn happens(&self, method: &Method, target: &str) -> bool {
        let is_meant = self.method.as_ref().is_none_or(|wanted| wanted == method)
            && self.part.as_ref().is_none_or(|part| target.contains(part));
        if !is_meant {
            return false;
        }
        let index = self.met.fetch_add(1, Ordering::Relaxed);
        match self.when {
            When::Always => true,
            When::First(count) => index < count,
            When::Each(count) => index % count == count - 1,
            When::Nth(nth) => index == nth,
            When::Share(share) => scattered(index as u64) % 1000 < share,
        }
    }
}

/// Returns a pseudorandom number for an index (splitmix64).
fn scattered(index: u64) -> u64 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_apply_to_matching_requests() {
        let happened = |fault: Fault| (0..6).map(|_| fault.happens(&Method::GET, "/b/f?x")).collect::<Vec<_>>();
        let reset = || Fault::new(What::Reset);
        let (no, yes) = (false, true);
        assert_eq!(happened(reset()), [yes; 6]);
        assert_eq!(happened(reset().first(2)), [yes, yes, no, no, no, no]);
        assert_eq!(happened(reset().each(3)), [no, no, yes, no, no, yes]);
        assert_eq!(happened(reset().nth(4)), [no, no, no, no, yes, no]);
        assert_eq!(happened(reset().on(Method::PUT)), [no; 6]);
        assert_eq!(happened(reset().of("f?x")), [yes; 6]);
        assert_eq!(happened(reset().of("g")), [no; 6]);
        let share = reset().share(250);
        let count = (0..4000).filter(|_| share.happens(&Method::GET, "/")).count();
        assert!((900..1100).contains(&count), "{count}");
    }
}
