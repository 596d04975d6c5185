//! The scheduler of a cluster.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::{Error, Result};

/// Address of a scheduler: `HOST:PORT`. The host is a name, an IPv4 address, or an IPv6 address in
/// brackets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    host: String,
    port: u16,
}

impl Address {
    /// Returns the host, without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// Returns the port.
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

/// A scheduler, with client options.
#[derive(Clone, Debug)]
#[must_use = "a cluster has no effect until a session is created for it"]
pub struct Cluster {
    pub(crate) scheduler: Address,
    pub(crate) partitions: usize,
    pub(crate) wait: Duration,
    pub(crate) message_bytes: usize,
}

/// Maximum message size in bytes. A plan contains the fragment names of each partition.
pub(crate) const MESSAGE_BYTES: usize = 256 << 20;

impl Cluster {
    /// Creates a cluster with 16 partitions per scan, and a wait of a minute for executors.
    pub fn new(scheduler: Address) -> Self {
        Self { scheduler, partitions: 16, wait: Duration::from_secs(60), message_bytes: MESSAGE_BYTES }
    }

    /// Sets the number of partitions of scans and joins. Two or three times the number of executor
    /// slots balances the load.
    pub fn partitions(mut self, count: usize) -> Self {
        self.partitions = count.max(1);
        self
    }

    /// Sets the maximum wait while the scheduler has no executors.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }
}
