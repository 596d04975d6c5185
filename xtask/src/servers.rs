//! Servers of stores on this machine, which tests run against: `cargo xtask servers`.
//!
//! * `kind`: which there are, and how each is started; `place`: where they lie; `install`: how they come there;
//! * `process`: starts and stops them; `buckets`: makes a bucket on each;
//! * `environment`: what programs have to know of them.

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
pub use install::spell_checker;
pub use kind::Server;

/// The first of the ports, if nobody chooses another.
const FIRST_PORT: u16 = 18330;

/// What to do with the servers.
#[derive(Args, Debug)]
pub struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand, Debug)]
enum Task {
    /// Installs and starts them, waits until they answer, makes a bucket on each, and prints the environment to use
    Start {
        #[command(flatten)]
        which: Which,
        /// The first of some 20 ports in a row
        #[arg(long, default_value_t = FIRST_PORT)]
        ports: u16,
    },
    /// Ends those that were started, and removes what they held
    Stop {
        #[command(flatten)]
        which: Which,
    },
    /// Which of them run, and where
    Status,
}

#[derive(Args, Debug)]
struct Which {
    /// These alone; all if none is named
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
///
/// If a server can't be installed, started or stopped.
pub fn run(arguments: &Arguments) -> Result {
    match &arguments.task {
        Task::Start { which, ports } => {
            let mut missing = Vec::new();
            for server in which.servers() {
                if let Err(error) = start(*server, *ports) {
                    missing.push(error.to_string());
                }
            }
            // As a shell takes it: eval "$(cargo xtask servers start)"
            for (name, value) in variables()? {
                println!("export {name}='{value}'");
            }
            if missing.is_empty() { Ok(()) } else { Err(missing.join("; ").into()) }
        }
        Task::Stop { which } => {
            for server in which.servers() {
                let stopped = process::stop(*server).map_err(|error| format!("{}: {error}", server.name()))?;
                println!("{}: {}", server.name(), if stopped { "stopped" } else { "didn't run" });
            }
            Ok(())
        }
        Task::Status => {
            for server in kind::ALL {
                let state = process::running(server).map_or("doesn't run".to_owned(), |first| {
                    format!("runs at {}", server.address(server.port(first)))
                });
                println!("{}: {state}", server.name());
            }
            Ok(())
        }
    }
}

/// Starts a server, if it doesn't run.
fn start(server: Server, first: u16) -> Result {
    let failed = |error: Box<dyn std::error::Error>| format!("{}: {error}", server.name());
    if let Some(runs) = process::running(server) {
        if runs != first {
            return Err(failed(format!("it runs already, with --ports {runs}").into()).into());
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

/// The variables for the servers that run.
fn variables() -> Result<Variables> {
    fs::create_dir_all(place::folder())?;
    let running = kind::ALL.into_iter().filter_map(|server| Some((server, server.port(process::running(server)?))));
    environment::of(&running.collect::<Vec<_>>())
}

/// Servers that run as long as this is there; those that ran before go on.
#[derive(Debug, Default)]
pub struct Running {
    started: Vec<Server>,
    /// Why some don't.
    pub missing: Vec<String>,
}

impl Running {
    /// Starts those of these that don't run.
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

    /// All of them.
    pub fn start_all() -> Self {
        Self::start(&kind::ALL)
    }

    /// The variables for tests.
    pub fn variables(&self) -> Result<Variables> {
        variables()
    }

    /// The port of a server.
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
