//! Helpers for tests of object stores.
//!
//! * [`Server`]: a small in-memory S3 server. Checks credentials like Amazon's servers.
//! * [`Proxy`]: a proxy for this or any other server. Counts requests and round trips, delays
//!   responses, and injects the faults of networks and stores: [`Fault`].
//!
//! Both listen on loopback, on background threads, until dropped.

mod connection;
mod fault;
mod proxy;
mod seen;
mod server;
mod serving;

pub use fault::{Fault, What};
pub use proxy::Proxy;
pub use seen::{Asked, Seen};
pub use server::{Access, Server};

pub use hyper::Method;
