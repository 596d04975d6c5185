//! Downloads the wheel of a release with pip, and unpacks it to a cache folder.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::releases::Release;
use super::{Error, Result};

/// Environment variable with a cache folder to use instead of `.reference` in the workspace.
const CACHE_VARIABLE: &str = "TDB_REFERENCE_DIR";

/// Platforms of wheels over the years. pip selects the newest that fits.
const PLATFORMS: [&str; 4] = ["manylinux_2_28", "manylinux2014", "manylinux2010", "manylinux1"];

/// Returns the path of the release's shared library. Downloads the release if needed.
///
/// Several processes may install a release at the same time. Each process unpacks the release to a
/// temporary folder. The first process to finish renames the folder atomically.
pub fn install(release: Release) -> Result<PathBuf> {
    let cache = cache_folder();
    let home = cache.join(release.library);
    if !home.is_dir() {
        let failed = |reason: String| Error::Install { release: release.library.to_owned(), reason };
        fs::create_dir_all(&cache).map_err(|error| failed(format!("{}: {error}", cache.display())))?;
        let unpacked = tempfile::Builder::new().prefix(".unpacking-").tempdir_in(&cache);
        let unpacked = unpacked.map_err(|error| failed(format!("{}: {error}", cache.display())))?;
        fetch_and_unpack(release, unpacked.path()).map_err(&failed)?;
        let renamed = fs::rename(unpacked.path(), &home);
        if !home.is_dir() {
            renamed.map_err(|error| failed(format!("{}: {error}", home.display())))?;
        }
    }
    find_library(&home).ok_or_else(|| Error::Install {
        release: release.library.to_owned(),
        reason: format!("no libtiledb in {}; remove that folder and try again", home.display()),
    })
}

/// Returns the folder of releases and of other downloads.
pub(super) fn cache_folder() -> PathBuf {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.reference");
    env::var_os(CACHE_VARIABLE).map_or_else(default, PathBuf::from)
}

fn fetch_and_unpack(release: Release, folder: &Path) -> std::result::Result<(), String> {
    let wheels = folder.join("wheel");
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]);
    pip.args(["--disable-pip-version-check", "--python-version", release.python_version()]);
    for platform in PLATFORMS {
        pip.arg("--platform").arg(format!("{platform}_{}", env::consts::ARCH));
    }
    pip.arg("--dest").arg(&wheels).arg(format!("tiledb=={}", release.wheel));
    run(&mut pip)?;
    let wheel = fs::read_dir(&wheels).map_err(|error| error.to_string())?.next();
    let wheel = wheel.ok_or("pip downloaded nothing")?.map_err(|error| error.to_string())?.path();
    run(Command::new("python3").args(["-m", "zipfile", "--extract"]).arg(&wheel).arg(folder))?;
    fs::remove_dir_all(&wheels).map_err(|error| error.to_string())
}

fn run(command: &mut Command) -> std::result::Result<(), String> {
    let output = command.output().map_err(|error| {
        format!("cannot start python3: {error}; install python3 and pip, which download the wheels")
    })?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?} failed ({}): {}", output.status, String::from_utf8_lossy(&output.stderr).trim()))
}

/// Finds the shared library in a wheel: in `tiledb`, `tiledb.libs` or `tiledb/.libs`, next to
/// Python's extension modules.
fn find_library(home: &Path) -> Option<PathBuf> {
    ["tiledb.libs", "tiledb/.libs", "tiledb"].into_iter().find_map(|folder| {
        let entries = fs::read_dir(home.join(folder)).ok()?;
        entries.flatten().map(|entry| entry.path()).find(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            name.starts_with("libtiledb") && name.contains(".so") && !name.contains("cpython")
        })
    })
}
