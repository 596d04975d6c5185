//! The viewer: types, lints, unit tests, and tests in Chromium.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::apt;
use super::report::Outcome;
use crate::Result;
use crate::cargo::{self, has_program, show, workspace};

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
    // The tests compare the page with cells that this command prints.
    show(&["build", "--package", "tdb-cli"], &[])?;
    let command = workspace().join("target/debug").join(PROGRAM);
    let server = workspace().join("integrations/target/debug").join(PROGRAM);
    if !server.is_file() {
        return Err("the step `integrations` builds the program of `tdb-full` that the tests start".into());
    }
    for folder in FOLDERS {
        npm(folder, &["ci", "--no-audit", "--no-fund"])?;
    }
    npm(FOLDERS[0], &["run", "check"])?;
    npm(FOLDERS[0], &["test"])?;
    npm(FOLDERS[0], &["run", "build"])?;
    let mut tests = Command::new("npm");
    tests.args(["test", "--prefix"]).arg(workspace().join(FOLDERS[1]));
    cargo::run(tests.env("TDB", command).env("TDB_SERVE", server).env("CHROMIUM", browser), &[])
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
