//! The store servers, and how to start each.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;

use super::install;
use super::place::{folder, node, python};
use crate::Result;

/// A store server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Server {
    /// S3 server with storage on disk; supports conditional requests
    Seaweedfs,
    /// S3 mock in Python
    Moto,
    /// Azure Blob Storage emulator by Microsoft
    Azurite,
    /// WebDAV server for a folder
    Wsgidav,
}

/// All servers, in the order of their ports.
pub const ALL: [Server; 4] = [Server::Seaweedfs, Server::Moto, Server::Azurite, Server::Wsgidav];

/// Offset of the ports between SeaweedFS's components.
const INNER: u16 = 10;

/// Credentials of the servers. Clients require credentials, but only this machine can reach the
/// servers.
pub const ACCESS_KEY: &str = "tdb";
pub const SECRET_KEY: &str = "known-to-everybody";
pub const ACCOUNT: &str = "tdb";
/// Base64, like all Azure keys.
pub const ACCOUNT_KEY: &str = "a25vd24tdG8tZXZlcnlib2R5";

/// Bucket of SeaweedFS that clients without credentials may read and list. Its tests create it.
const PUBLIC_BUCKET: &str = "open";

impl Server {
    pub fn name(self) -> &'static str {
        match self {
            Self::Seaweedfs => "seaweedfs",
            Self::Moto => "moto",
            Self::Azurite => "azurite",
            Self::Wsgidav => "wsgidav",
        }
    }

    /// Returns the server's port, given the first port of all servers.
    pub fn port(self, first: u16) -> u16 {
        first + self as u16
    }

    /// Returns all ports on which the server listens.
    pub fn ports(self, first: u16) -> Vec<u16> {
        let inner = if self == Self::Seaweedfs { first + INNER..first + INNER + 7 } else { 0..0 };
        std::iter::once(self.port(first)).chain(inner).collect()
    }

    /// `true` for S3 servers.
    pub fn is_s3(self) -> bool {
        matches!(self, Self::Seaweedfs | Self::Moto)
    }

    /// Returns the server's URL.
    pub fn address(self, port: u16) -> String {
        format!("http://127.0.0.1:{port}")
    }

    /// Returns the server's data folder.
    pub fn data(self) -> PathBuf {
        folder().join("data").join(self.name())
    }

    pub fn install(self) -> Result {
        // A Python client creates the bucket.
        install::with_pip()?;
        if self == Self::Azurite { install::with_npm() } else { Ok(()) }
    }

    /// Returns the command that starts the server with an empty data folder. Each command line
    /// contains the folder's path, which identifies the process later.
    pub fn command(self, first: u16) -> Result<Command> {
        let (data, port) = (self.data(), self.port(first).to_string());
        let _ = fs::remove_dir_all(&data);
        fs::create_dir_all(&data)?;
        let mut command = match self {
            Self::Seaweedfs => seaweedfs(&data, first)?,
            Self::Moto => {
                let mut command = Command::new(python("moto_server"));
                command.args(["-H", "127.0.0.1", "-p", &port]);
                command
            }
            Self::Azurite => {
                let mut command = Command::new(node("azurite-blob"));
                command.args(["--silent", "--disableTelemetry", "--skipApiVersionCheck", "--blobHost", "127.0.0.1"]);
                command.args(["--blobPort", &port, "--location"]).arg(&data);
                command.env("AZURITE_ACCOUNTS", format!("{ACCOUNT}:{ACCOUNT_KEY}"));
                command
            }
            Self::Wsgidav => {
                let mut command = Command::new(python("wsgidav"));
                command.args(["--no-config", "--auth=anonymous", "--host=127.0.0.1", "--port", &port]);
                command.arg(option("--root=", &data));
                command
            }
        };
        command.current_dir(&data);
        Ok(command)
    }
}

fn seaweedfs(data: &Path, first: u16) -> Result<Command> {
    let identities = format!(
        r#"{{"identities":[{{"name":"tests","credentials":[{{"accessKey":"{ACCESS_KEY}","secretKey":"{SECRET_KEY}"}}],"#
    ) + r#""actions":["Admin","Read","Write","List","Tagging"]},"#
        // Browsers have no credentials.
        + &format!(r#"{{"name":"anonymous","actions":["Read:{PUBLIC_BUCKET}","List:{PUBLIC_BUCKET}"]}}]}}"#);
    let config = data.join("s3.json");
    fs::write(&config, identities)?;
    let mut command = Command::new(python("weed"));
    command.args(["server", "-s3", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-volume.max=100"]);
    // Disables unused catalogs, whose ports may be in use.
    command.args(["-s3.port.iceberg=0", "-s3.port.lance=0"]);
    // Volumes are allocated at their maximum size.
    command.arg("-master.volumeSizeLimitMB=32").arg(format!("-s3.port={}", Server::Seaweedfs.port(first)));
    let inner = ["master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc"];
    for (name, port) in inner.into_iter().chain(["s3.port.grpc"]).zip(first + INNER..) {
        command.arg(format!("-{name}={port}"));
    }
    command.arg(option("-dir=", data)).arg(option("-s3.config=", &config));
    Ok(command)
}

fn option(name: &str, path: &Path) -> OsString {
    let mut text = OsString::from(name);
    text.push(path);
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::ALL;

    #[test]
    fn server_ports_are_distinct() {
        let ports: Vec<u16> = ALL.iter().flat_map(|server| server.ports(1000)).collect();
        assert_eq!(ports.iter().collect::<BTreeSet<_>>().len(), ports.len());
        assert!(ports.iter().all(|port| (1000..1020).contains(port)), "{ports:?}");
    }
}
