//! Queries on a scheduler and executors, as processes on this machine, give what they give in one process: from folders always, and from
//! each URL that `TDB_STORES` names (`cargo xtask servers` starts servers and says which).
#![cfg(feature = "sql")]

mod arrays;
mod equal;
mod killed;
mod processes;
mod refused;
mod slt;
mod snapshot;
