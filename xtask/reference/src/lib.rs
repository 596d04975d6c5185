//! Drives releases of the reference library, libtiledb.
//!
//! * `releases`: which releases there are, and in which wheel;
//! * `model`: arrays, cells and queries as plain data, which jobs are described in;
//! * `abilities`: what each of them can do;
//! * `install`: fetches a release; `python`: a Python with other packages, beside them;
//! * `capi`: the library's C interface, in safe Rust;
//! * `protocol`: the jobs that it can be given, as plain data;
//! * `worker`: the process that loads one release and does jobs (one release per process, and it may crash);
//! * `check`: sees whether a release can be driven here;
//! * `client`: starts that process, gives it jobs, and survives its crashes.
//!
//! The process is the running program, started a second time. A program that uses a [`Reference`] calls [`serve`] before all
//! else in `main`, and ends if that gives something.

#![deny(unsafe_code)]

mod abilities;
mod capi;
mod check;
mod client;
mod install;
mod memory;
pub mod model;
mod protocol;
mod python;
mod releases;
mod stopwatch;
mod worker;

use std::io;
use std::path::PathBuf;

pub use abilities::{ABILITIES, Ability};
pub use check::{check, check_all};
pub use client::Reference;
pub use memory::{peak_memory, reset_peak_memory};
pub use protocol::{Job, TimedRead, TimedReads};
pub use python::python;
pub use releases::{NEWEST, RELEASES, Release, release};
pub use stopwatch::{Stopwatch, cpu_seconds};
pub use worker::serve;

/// What can go wrong with the reference library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A release that no wheel is known for.
    #[error("no release {0:?} of the reference library is known; xtask/reference/src/releases.rs lists those that are")]
    UnknownRelease(String),
    /// The wheel couldn't be fetched or unpacked.
    #[error("can't install release {release} of the reference library: {reason}")]
    Install {
        /// The release wanted.
        release: String,
        /// What happened, and what to do.
        reason: String,
    },
    /// A Python with packages couldn't be made.
    #[error("can't make a Python with {packages}: {reason}")]
    Python {
        /// What it should have.
        packages: String,
        /// What happened.
        reason: String,
    },
    /// The shared library couldn't be loaded.
    #[error("can't load {path}")]
    Load {
        /// The shared library.
        path: PathBuf,
        /// The loader's reason.
        source: libloading::Error,
    },
    /// The shared library isn't one of the reference library.
    #[error("{path} has no function tiledb_version")]
    NotTheReference {
        /// The shared library.
        path: PathBuf,
    },
    /// The library reported an error.
    #[error("the reference library says: {0}")]
    Library(String),
    /// The process that held the library ended during the job.
    #[error("the reference library crashed ({status}) in the job {job}")]
    Crashed {
        /// How the process ended.
        status: String,
        /// The kind of the job.
        job: &'static str,
    },
    /// The library didn't come to an end in the time that was given.
    #[error("the reference library was stopped after {seconds} seconds in the job {job}")]
    TimedOut {
        /// How long it was given.
        seconds: u64,
        /// The kind of the job.
        job: &'static str,
    },
    /// Talking to the process failed.
    #[error("talking to the process that holds the reference library")]
    Io(#[from] io::Error),
    /// The process said what wasn't expected.
    #[error("the process that holds the reference library gave no proper answer: {0}")]
    Protocol(String),
}

/// A result of driving the reference library.
pub type Result<T> = std::result::Result<T, Error>;
