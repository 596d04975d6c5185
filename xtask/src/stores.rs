//! `cargo xtask conformance stores`: starts servers, and has a program of the second workspace compare on each, since object stores
//! are no part of this one.

use tdb_conformance::CaseArguments;

use crate::Result;
use crate::cargo::show;
use crate::servers::{Running, Server, of_one};

/// The servers that arrays are compared on.
pub const SERVERS: [Server; 3] = [Server::Seaweedfs, Server::Moto, Server::Azurite];

/// Runs cases on the server of that name, or on all.
///
/// # Errors
///
/// If a server can't be started, or cases failed.
pub fn run(only: Option<&str>, cases: &CaseArguments) -> Result {
    let servers: Vec<Server> =
        SERVERS.into_iter().filter(|server| only.is_none_or(|only| only == server.name())).collect();
    if servers.is_empty() {
        return Err(format!("the servers are {}", SERVERS.map(Server::name).join(", ")).into());
    }
    let running = Running::start(&servers);
    if !running.missing.is_empty() {
        return Err(running.missing.join("; ").into());
    }
    let mut failed = Vec::new();
    for server in servers {
        let port = running.port(server).ok_or("a server has ended")?;
        println!("on {}, {}", server.name(), server.address(port));
        let (bucket, variables) = of_one(server, port).ok_or("nothing is written there")?;
        let uri = format!("{bucket}/conformance");
        let mut arguments = vec!["run", "--quiet", "--manifest-path", "integrations/Cargo.toml", "--locked"];
        arguments.extend(["--package", "tdb-store-conformance", "--", &uri]);
        let options = cases.options();
        arguments.extend(options.iter().map(String::as_str));
        let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        if let Err(error) = show(&arguments, &variables) {
            failed.push(format!("{}: {error}", server.name()));
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ").into()) }
}
