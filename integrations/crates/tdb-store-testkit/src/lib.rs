//! What tests of object stores share.
//!
//! * [`Server`]: a small S3 server in memory, which judges who asks as Amazon's does;
//! * [`Proxy`]: stands before that server, or any other one, counts requests and round trips, makes each wait, and does what
//!   networks and stores do to requests: [`Fault`].
//!
//! Both listen on loopback, on threads of their own, until they are dropped.

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
