//! Where servers are installed, and where they keep what they have.

use std::env;
use std::path::{self, PathBuf};

use crate::cargo::workspace;

/// Names another folder than `target/servers` in the workspace.
const FOLDER_VARIABLE: &str = "TDB_SERVERS_DIR";

/// The folder of all servers.
pub fn folder() -> PathBuf {
    let folder = env::var_os(FOLDER_VARIABLE).map_or_else(|| workspace().join("target/servers"), PathBuf::from);
    // Servers run in folders of their own.
    path::absolute(&folder).unwrap_or(folder)
}

/// Programs that pip has installed.
pub fn python(program: &str) -> PathBuf {
    folder().join("python/bin").join(program)
}

/// Programs that npm has installed.
pub fn node(program: &str) -> PathBuf {
    folder().join("node/node_modules/.bin").join(program)
}
