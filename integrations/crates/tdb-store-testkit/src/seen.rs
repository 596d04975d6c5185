//! What was asked, and how often somebody had to wait for an answer before asking on.

use std::collections::BTreeMap;
use std::fmt;

use hyper::Method;

/// What a proxy has seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Seen {
    /// The requests, in the order in which they came.
    pub requests: Vec<Asked>,
    /// Of the requests, the longest chain of which each came after the one before was answered: how often somebody who asks for all
    /// that he can ask for at once has to wait.
    pub round_trips: usize,
    /// How many connections were made.
    pub connections: usize,
    /// How many requests were [done something to](crate::Fault).
    pub faults: usize,
    /// Requests that their clients gave up before they were answered.
    pub given_up: usize,
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asked {
    /// Its method.
    pub method: Method,
    /// Its path with what follows a `?`.
    pub target: String,
}

impl Seen {
    /// How many requests there were of each method; listings of folders are called `LIST`.
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
