//! The viewer: types, lints, unit tests, and tests in Chromium on a test server, on the full command
//! and on an S3 server.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::apt;
use super::report::Outcome;
use crate::Result;
use crate::cargo::{self, INTEGRATIONS, LINTED, has_program, show, workspace};
use crate::servers::{Running, Server, Variables, of_one, python};

/// The viewer and its browser tests.
const FOLDERS: [&str; 2] = ["integrations/web/viewer", "integrations/web/tests"];

/// The build of the package for browsers, on which the viewer depends.
const PACKAGE: &str = "integrations/web/package/dist/index.js";

/// The command, in both workspaces.
const PROGRAM: &str = if cfg!(windows) { "tdb.exe" } else { "tdb" };

/// Names of the programs of Chromium.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

pub fn run() -> Outcome {
    if !workspace().join(PACKAGE).is_file() {
        return Outcome::Skipped("the step `wasm` builds the package that the viewer needs".to_owned());
    }
    if !has_program("npm") {
        return Outcome::Skipped("`apt-get install npm`".to_owned());
    }
    if browser().is_none() {
        apt::install("chromium");
    }
    match browser() {
        Some(browser) => checks(&browser).into(),
        None => Outcome::Skipped("`apt-get install chromium`".to_owned()),
    }
}

fn checks(browser: &Path) -> Result {
    for folder in FOLDERS {
        npm(folder, &["ci", "--no-audit", "--no-fund"])?;
    }
    npm(FOLDERS[0], &["run", "check"])?;
    npm(FOLDERS[0], &["test"])?;
    npm(FOLDERS[0], &["run", "build"])?;
    // The tests compare the page with cells that this command prints.
    show(&["build", "--package", "tdb-command"], &[])?;
    let command = workspace().join("target/debug").join(PROGRAM);
    let server = full_command()?;
    let (running, store) = store()?;
    let mut tests = Command::new("npm");
    tests.args(["test", "--prefix"]).arg(workspace().join(FOLDERS[1]));
    tests.env("TDB", command).env("TDB_SERVE", server).env("CHROMIUM", browser);
    tests.env("TDB_S3_PYTHON", python("python")).envs(store);
    let tested = cargo::run(&mut tests, &[]);
    drop(running);
    tested
}

/// Builds the full command with the viewer in it, and returns its path.
fn full_command() -> Result<PathBuf> {
    let viewer = workspace().join(FOLDERS[0]).join("dist");
    let viewer = viewer.to_str().ok_or("the path of the workspace is not UTF-8")?;
    // The programs of the integration tests. The step `integrations` has compiled all other crates
    // with the same features.
    let programs = ["test", "--workspace", "--test", "it", "--no-run"];
    show(&[&programs[..], INTEGRATIONS].concat(), &[&LINTED[..], &[("TDB_VIEWER", viewer)]].concat())?;
    Ok(workspace().join("integrations/target/debug").join(PROGRAM))
}

/// Starts an S3 server. Returns it with the environment variables of its clients.
fn store() -> Result<(Running, Variables)> {
    let running = Running::start(&[Server::Seaweedfs]);
    if !running.missing.is_empty() {
        return Err(running.missing.join("; ").into());
    }
    let port = running.port(Server::Seaweedfs).ok_or("the S3 server has ended")?;
    let (_, variables) = of_one(Server::Seaweedfs, port).ok_or("the S3 server does not support writes")?;
    Ok((running, variables))
}

fn npm(folder: &str, arguments: &[&str]) -> Result {
    let mut npm = Command::new("npm");
    cargo::run(npm.args(arguments).arg("--prefix").arg(workspace().join(folder)), &[])
}

/// Returns the path of an installed Chromium.
pub fn browser() -> Option<PathBuf> {
    let folders: Vec<_> = env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
    let paths = folders.iter().flat_map(|folder| BROWSERS.map(|name| folder.join(name)));
    paths.into_iter().find(|path| path.is_file())
}
