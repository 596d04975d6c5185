//! Drives releases of the reference library, libtiledb.
//!
//! - `releases`: the known releases, and the wheel of each
//! - `model`: arrays, cells and queries as plain data
//! - `abilities`: abilities of each release
//! - `install`: downloads a release
//! - `python`: installs Python packages next to the releases
//! - `capi`: safe Rust bindings of the library's C interface
//! - `protocol`: jobs for the library, as plain data
//! - `worker`: a process that loads one release and runs jobs (it may crash)
//! - `check`: checks that a release runs on this machine
//! - `client`: starts the process, sends jobs, and survives crashes
//!
//! The process is a second instance of the running program. A program that uses a [`Reference`]
//! must call [`serve`] first in `main`, and exit if it returns a value.

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
pub use stopwatch::{Stopwatch, cpu_seconds, repeated};
pub use worker::serve;

/// Errors of the reference library and its process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no known wheel of the release.
    #[error("unknown release {0:?} of the reference library; xtask/reference/src/releases.rs lists the known releases")]
    UnknownRelease(String),
    /// The wheel could not be downloaded or unpacked.
    #[error("cannot install release {release} of the reference library: {reason}")]
    Install {
        /// The release.
        release: String,
        /// The reason, and a hint.
        reason: String,
    },
    /// The Python packages could not be installed.
    #[error("cannot install Python packages {packages}: {reason}")]
    Python {
        /// The packages.
        packages: String,
        /// The reason.
        reason: String,
    },
    /// The shared library could not be loaded.
    #[error("cannot load {path}")]
    Load {
        /// Path of the shared library.
        path: PathBuf,
        /// The error of the loader.
        source: libloading::Error,
    },
    /// The shared library is not the reference library.
    #[error("{path} has no function tiledb_version")]
    NotTheReference {
        /// Path of the shared library.
        path: PathBuf,
    },
    /// The library reported an error.
    #[error("the reference library reports: {0}")]
    Library(String),
    /// The process with the library ended during a job.
    #[error("the reference library crashed ({status}) in the job {job}")]
    Crashed {
        /// The exit status of the process.
        status: String,
        /// The kind of the job.
        job: String,
    },
    /// The job timed out.
    #[error("the reference library was stopped after {seconds} seconds in the job {job}")]
    TimedOut {
        /// The timeout in seconds.
        seconds: u64,
        /// The kind of the job.
        job: String,
    },
    /// The communication with the process failed.
    #[error("cannot communicate with the process of the reference library")]
    Io(#[from] io::Error),
    /// The process sent an unexpected message.
    #[error("unexpected answer from the process of the reference library: {0}")]
    Protocol(String),
}

/// The result of a job or of driving the reference library.
pub type Result<T> = std::result::Result<T, Error>;
