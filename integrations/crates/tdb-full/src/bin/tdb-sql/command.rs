//! The commands of this program.

mod executor;
mod scheduler;
mod sql;

use std::future::Future;

pub(crate) use executor::ExecutorCommand;
pub(crate) use scheduler::SchedulerCommand;
pub(crate) use sql::sql;

use clap::{Args, ValueEnum};
use log::LevelFilter;
use tdb_ballista::Error;
use tdb_cli::{Exit, Failure, Result};
use tokio::runtime::{Builder, Runtime};

use crate::logger;

/// Stack size in bytes. Plans are traversed recursively, and may be deep.
const STACK: usize = 32 << 20;

/// Verbosity of the log.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Level {
    /// Failures only
    Error,
    /// Failures and warnings
    #[default]
    Warn,
    /// Also progress
    Info,
    /// Also details
    Debug,
}

#[derive(Debug, Args)]
struct LogArgs {
    /// Log level of messages on standard error
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t)]
    log: Level,
}

impl LogArgs {
    fn begin(&self) {
        logger::begin(match self.log {
            Level::Error => LevelFilter::Error,
            Level::Warn => LevelFilter::Warn,
            Level::Info => LevelFilter::Info,
            Level::Debug => LevelFilter::Debug,
        });
    }
}

fn runtime() -> Result<Runtime> {
    let runtime = Builder::new_multi_thread().thread_stack_size(STACK).enable_all().build();
    runtime.map_err(|error| Failure::new(Exit::Unavailable, format!("cannot start threads: {error}")))
}

fn failed(error: Error) -> Failure {
    match error {
        Error::Address { .. } => Failure::usage(error),
        _ => Failure::new(Exit::Unavailable, error),
    }
}

/// Completes on Ctrl-C or SIGTERM.
async fn told_to_stop() {
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = tdb_ballista::terminated() => {}
    }
}

/// Runs a future. Returns `None` on the second stop signal.
async fn unless_told_twice<T>(future: impl Future<Output = T>) -> Option<T> {
    let twice = async {
        told_to_stop().await;
        told_to_stop().await;
    };
    tokio::select! {
        ended = future => Some(ended),
        () = twice => None,
    }
}
