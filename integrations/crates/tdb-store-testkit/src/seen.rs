//! Records of requests and round trips.

use std::collections::BTreeMap;
use std::fmt;

use hyper::Method;

/// Records of a proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Seen {
    /// Requests in order of arrival.
    pub requests: Vec<Asked>,
    /// Length of the longest chain of requests, each after the previous response. Equals the number
    /// of waits of a client with maximum concurrency.
    pub round_trips: usize,
    /// Number of connections.
    pub connections: usize,
    /// Number of requests with a [fault](crate::Fault).
    pub faults: usize,
    /// Number of requests abandoned by clients before the response.
    pub given_up: usize,
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asked {
    /// Method.
    pub method: Method,
    /// Path with query.
    pub target: String,
}

impl Seen {
    /// Returns the number of requests by method. Listings count as `LIST`.
    #[must_use]
    pub fn by_method(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for asked in &self.requests {
            *counts.entry(asked.name()).or_insert(0) += 1;
        }
        counts
    }
}

impl Asked {
    fn name(&self) -> &str {
        match self.target.contains("list-type=2") {
            true => "LIST",
            false => self.method.as_str(),
        }
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.target)
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} requests, {} round trips", self.requests.len(), self.round_trips)
    }
}
