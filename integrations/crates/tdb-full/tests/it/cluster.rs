//! Queries on a scheduler and executors, as local processes, give the same rows as in one process.
//! Reads from folders, and from each URL in `TDB_STORES` (`cargo xtask servers` starts servers and
//! prints their URLs).
#![cfg(feature = "sql")]

mod arrays;
mod equal;
mod killed;
mod processes;
mod refused;
mod slt;
mod snapshot;
