//! What can happen to requests.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::Method;

/// Something that happens to requests, and to which of them.
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
    /// In the path or behind it.
    part: Option<String>,
    when: When,
    /// How many requests it could have happened to.
    met: AtomicUsize,
}

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// The request is refused with a status and one of S3's codes, and not done.
    Refused(u16, &'static str),
    /// The request is refused with a status and a page that repeats its headers, as of a server in between that somebody is
    /// looking for errors in.
    Echoed(u16),
    /// The request is done, and answered as if it had failed.
    DoneAndRefused(u16, &'static str),
    /// The connection is reset instead of an answer, and the request isn't done.
    Reset,
    /// The request is done, and the connection reset instead of an answer.
    DoneAndReset,
    /// The connection ends after so many bytes of the answer's body.
    Cut(usize),
    /// The body has that many bytes less than were asked for, and the length in the header fits.
    Short(usize),
    /// The body has that many bytes more than were asked for, and the length in the header fits.
    Long(usize),
    /// The answer says that it is of a range so many bytes further on than the one it is of.
    Shifted(u64),
    /// The answer, or the listing, says that the file has this size.
    Sized(u64),
    /// The whole file is answered where a range was asked for. Only for servers that don't check signatures.
    Unranged,
    /// Names with this in them are left out of listings.
    Hidden(String),
    /// Conditions of writes don't reach the server. Only for servers that don't check signatures.
    Unconditional,
    /// The request is never answered.
    Stalled,
    /// The answer takes so much longer.
    Slow(Duration),
    /// The answer's body takes so much longer after this many bytes.
    Paused(usize, Duration),
    /// The request is refused with a status and these bytes.
    Said(u16, &'static [u8]),
    /// The answer has this status and a body without an end, and the request isn't done. The proxy
    /// [counts](crate::Proxy::flooded) what it gives of it.
    Flood(u16),
    /// The answer says that its body is so long, and ends earlier.
    Claimed(u64),
    /// The answer says that it is of this range: `bytes FIRST-LAST/SIZE`.
    Ranged(&'static str),
    /// Each page of a listing says that the same page follows.
    Circling,
    /// Each page of a listing says that another one follows.
    Endless,
}

#[derive(Clone, Copy, Debug)]
enum When {
    Always,
    First(usize),
    Each(usize),
    Nth(usize),
    /// Of 1000, in no order.
    Share(u64),
}

impl Fault {
    /// Happens to all requests.
    #[must_use]
    pub fn new(what: What) -> Self {
        Self { what, method: None, part: None, when: When::Always, met: AtomicUsize::new(0) }
    }

    /// Only to requests of this method.
    #[must_use]
    pub fn on(mut self, method: Method) -> Self {
        self.method = Some(method);
        self
    }

    /// Only to requests with this in their path, or in what follows a `?`.
    #[must_use]
    pub fn of(mut self, part: impl Into<String>) -> Self {
        self.part = Some(part.into());
        self
    }

    /// Only to the first so many of them.
    #[must_use]
    pub fn first(mut self, count: usize) -> Self {
        self.when = When::First(count);
        self
    }

    /// Only to every second, third and so on of them.
    #[must_use]
    pub fn each(mut self, count: usize) -> Self {
        self.when = When::Each(count.max(1));
        self
    }

    /// Only to one of them, counted from 0.
    #[must_use]
    pub fn nth(mut self, index: usize) -> Self {
        self.when = When::Nth(index);
        self
    }

    /// Only to so many of a thousand of them, the same ones each time.
    #[must_use]
    pub fn share(mut self, of_a_thousand: u64) -> Self {
        self.when = When::Share(of_a_thousand);
        self
    }

    /// Whether it happens to a request.
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

/// A number without a pattern for each number (splitmix64).
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
    fn faults_happen_to_those_that_are_meant() {
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
