//! Folders of the servers: installations and data.

use std::env;
use std::path::{self, PathBuf};

use crate::cargo::workspace;

/// Environment variable with a folder to use instead of `target/servers` in the workspace.
const FOLDER_VARIABLE: &str = "TDB_SERVERS_DIR";

/// Returns the folder of all servers.
pub fn folder() -> PathBuf {
    let folder = env::var_os(FOLDER_VARIABLE).map_or_else(|| workspace().join("target/servers"), PathBuf::from);
    // Servers run in other working directories and need an absolute path.
    path::absolute(&folder).unwrap_or(folder)
}

/// Returns the path of a program that pip has installed.
pub fn python(program: &str) -> PathBuf {
    folder().join("python/bin").join(program)
}

/// Returns the path of a program that npm has installed.
pub fn node(program: &str) -> PathBuf {
    folder().join("node/node_modules/.bin").join(program)
}
