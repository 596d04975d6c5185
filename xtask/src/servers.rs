//! Local store servers for tests: `cargo xtask servers`.
//!
//! - `kind`: the servers, and how to start each
//! - `place`: their folders
//! - `install`: their installation
//! - `process`: starts and stops them
//! - `buckets`: creates a bucket on each
//! - `environment`: environment variables for their clients

mod buckets;
mod environment;
mod install;
mod kind;
mod place;
mod process;

use std::fs;

use clap::{Args, Subcommand};

use crate::Result;

pub use environment::{Variables, of_one};
pub use install::{newer_pandas, python_tools, spell_checker, zig};
pub use kind::{ALL, Server};
pub use place::python;

/// The default first port.
const FIRST_PORT: u16 = 18330;

/// Arguments of `cargo xtask servers`.
#[derive(Args, Debug)]
pub struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand, Debug)]
enum Task {
    /// Install and start servers, create a bucket on each, and print environment variables for
    /// clients
    Start {
        #[command(flatten)]
        which: Which,
        /// First of about 20 consecutive ports
        #[arg(long, default_value_t = FIRST_PORT)]
        ports: u16,
    },
    /// Stop servers and delete their data
    Stop {
        #[command(flatten)]
        which: Which,
    },
    /// Print which servers run, and their addresses
    Status,
}

#[derive(Args, Debug)]
struct Which {
    /// Servers to use; all by default
    servers: Vec<Server>,
}

impl Which {
    fn servers(&self) -> &[Server] {
        if self.servers.is_empty() { &kind::ALL } else { &self.servers }
    }
}

/// Runs `cargo xtask servers`.
///
/// # Errors
/// Fails if a server cannot be installed, started or stopped.
pub fn run(arguments: &Arguments) -> Result {
    match &arguments.task {
        Task::Start { which, ports } => {
            let mut missing = Vec::new();
            for server in which.servers() {
                if let Err(error) = start(*server, *ports) {
                    missing.push(error.to_string());
                }
            }
            // For use in a shell: eval "$(cargo xtask servers start)"
            for (name, value) in variables()? {
                println!("export {name}='{value}'");
            }
            if missing.is_empty() { Ok(()) } else { Err(missing.join("; ").into()) }
        }
        Task::Stop { which } => {
            for server in which.servers() {
                let stopped = process::stop(*server).map_err(|error| format!("{}: {error}", server.name()))?;
                println!("{}: {}", server.name(), if stopped { "stopped" } else { "not running" });
            }
            Ok(())
        }
        Task::Status => {
            for server in kind::ALL {
                let state = process::running(server).map_or("not running".to_owned(), |first| {
                    format!("running at {}", server.address(server.port(first)))
                });
                println!("{}: {state}", server.name());
            }
            Ok(())
        }
    }
}

/// Starts a server unless it is running.
fn start(server: Server, first: u16) -> Result {
    let failed = |error: Box<dyn std::error::Error>| format!("{}: {error}", server.name());
    if let Some(runs) = process::running(server) {
        if runs != first {
            return Err(failed(format!("already running with --ports {runs}; stop it first").into()).into());
        }
        return Ok(());
    }
    fs::create_dir_all(place::folder())?;
    server.install().map_err(failed)?;
    eprintln!("starting {}", server.name());
    let started = process::start(server, first).and_then(|()| buckets::make(server, server.port(first)));
    if let Err(error) = started {
        let _ = process::stop(server);
        return Err(failed(error).into());
    }
    Ok(())
}

/// Returns the environment variables for all running servers.
fn variables() -> Result<Variables> {
    fs::create_dir_all(place::folder())?;
    let running = kind::ALL.into_iter().filter_map(|server| Some((server, server.port(process::running(server)?))));
    environment::of(&running.collect::<Vec<_>>())
}

/// Servers that are stopped on drop. Servers that were running before are not stopped.
#[derive(Debug, Default)]
pub struct Running {
    started: Vec<Server>,
    /// The reasons why servers could not be started.
    pub missing: Vec<String>,
}

impl Running {
    /// Starts servers that are not running.
    pub fn start(servers: &[Server]) -> Self {
        let mut running = Self::default();
        for server in servers {
            if process::running(*server).is_some() {
                continue;
            }
            match start(*server, FIRST_PORT) {
                Ok(()) => running.started.push(*server),
                Err(error) => running.missing.push(error.to_string()),
            }
        }
        running
    }

    /// Returns the environment variables for tests.
    pub fn variables(&self) -> Result<Variables> {
        variables()
    }

    /// Returns the port of a running server.
    pub fn port(&self, server: Server) -> Option<u16> {
        process::running(server).map(|first| server.port(first))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        for server in &self.started {
            if let Err(error) = process::stop(*server) {
                eprintln!("{}: {error}", server.name());
            }
        }
    }
}
