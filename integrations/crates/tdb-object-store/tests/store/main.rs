//! Storages on object stores: in memory always, and on each URL that `TDB_STORES` names (`cargo xtask servers` starts servers and
//! says which).
#![allow(clippy::unwrap_used)]

mod arrays;
mod broken_arrays;
mod counted;
mod emptied;
mod excess;
mod faults;
mod promises;
mod refused;
mod relocate;
mod requests;
mod stores;
mod watched;
mod web;
mod writes;
