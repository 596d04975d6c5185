//! The scheduler that queries are sent to.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::{Error, Result};

/// The address of a scheduler: `HOST:PORT`, where a host is a name, an IPv4 address, or an IPv6 address in brackets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    host: String,
    port: u16,
}

impl Address {
    /// The host, without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::Address { address: text.to_owned() };
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let port = port.parse().ok().filter(|port| *port != 0).ok_or_else(wrong)?;
        let is_bracketed = host.starts_with('[') && host.ends_with(']') && host.len() > 2;
        let is_name = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
        let is_address = is_bracketed && host[1..host.len() - 1].parse::<std::net::Ipv6Addr>().is_ok();
        match !host.is_empty() && (is_name || is_address) {
            true => Ok(Self { host: host.to_owned(), port }),
            false => Err(wrong()),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// A scheduler, and how it is used.
#[derive(Clone, Debug)]
#[must_use = "a cluster does nothing until a session is made for it"]
pub struct Cluster {
    pub(crate) scheduler: Address,
    pub(crate) partitions: usize,
    pub(crate) wait: Duration,
    pub(crate) message_bytes: usize,
}

/// Bytes that a message may have: a plan names all fragments that each of its partitions reads.
pub(crate) const MESSAGE_BYTES: usize = 256 << 20;

impl Cluster {
    /// The one whose scheduler has this address: with 16 partitions for a scan, and a minute's patience with a scheduler that has no
    /// executors.
    pub fn new(scheduler: Address) -> Self {
        Self { scheduler, partitions: 16, wait: Duration::from_secs(60), message_bytes: MESSAGE_BYTES }
    }

    /// Into how many partitions scans and joins are divided: two or three times as many as the executors have slots, so that none of
    /// them waits for the slowest one.
    pub fn partitions(mut self, count: usize) -> Self {
        self.partitions = count.max(1);
        self
    }

    /// For how long a query waits while the scheduler has no executors.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }
}
