//! Storages on object stores: in memory, and on each URL in `TDB_STORES`. `cargo xtask servers`
//! starts servers and prints their URLs.
#![allow(clippy::unwrap_used)]

mod arrays;
mod broken_arrays;
mod counted;
mod emptied;
mod excess;
mod faults;
mod manifest;
mod promises;
mod refused;
mod relocate;
mod requests;
mod stores;
mod watched;
mod web;
mod writes;
