//! `cargo xtask conformance stores`: starts servers, and runs a program of the second workspace for
//! each. This workspace does not depend on object stores.

use tdb_conformance::CaseArguments;

use crate::Result;
use crate::cargo::show;
use crate::servers::{Running, Server, of_one};

/// The servers on which arrays are compared.
pub const SERVERS: [Server; 3] = [Server::Seaweedfs, Server::Moto, Server::Azurite];

/// Runs the cases on the server with this name, or on all servers.
///
/// # Errors
/// Fails if a server cannot be started or cases fail.
pub fn run(only: Option<&str>, cases: &CaseArguments) -> Result {
    let servers: Vec<Server> =
        SERVERS.into_iter().filter(|server| only.is_none_or(|only| only == server.name())).collect();
    if servers.is_empty() {
        return Err(format!("unknown server; expected one of {}", SERVERS.map(Server::name).join(", ")).into());
    }
    let running = Running::start(&servers);
    if !running.missing.is_empty() {
        return Err(running.missing.join("; ").into());
    }
    let mut failed = Vec::new();
    for server in servers {
        let port = running.port(server).ok_or("a server has ended")?;
        println!("on {}, {}", server.name(), server.address(port));
        let (bucket, variables) = of_one(server, port).ok_or("the server does not support writes")?;
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
