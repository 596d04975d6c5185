//! The package for browsers and Node: the WebAssembly module and its TypeScript.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::Result;
use crate::cargo::{cargo, has_program, run, workspace};
use crate::toolchain::{Target, Toolchain};

pub const TARGET: Target = Target { name: "wasm32-unknown-unknown", panic: "panic_abort" };

/// The folder of the package.
const PACKAGE: &str = "integrations/web/package";

/// The largest compressed size of the module and its JavaScript, in bytes.
const LARGEST: usize = 1_500_000;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Run the tests of the package in Node
    #[arg(long)]
    test: bool,
}

pub fn run_task(arguments: &Arguments) -> Result {
    build(&tools()?)?;
    if arguments.test { test() } else { Ok(()) }
}

/// Finds or downloads the compiler and `wasm-bindgen`. Fails if another tool is missing.
pub fn tools() -> Result<Toolchain> {
    for program in ["clang", "npm"] {
        if !has_program(program) {
            return Err(format!("`apt-get install {program}`").into());
        }
    }
    let toolchain = Toolchain::find(TARGET)?;
    install_bindgen()?;
    Ok(toolchain)
}

/// Runs cargo for wasm32. The compilers have separate target folders.
pub fn cargo_for_wasm(toolchain: &Toolchain, arguments: &[&str]) -> Result {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = toolchain.command(cargo, arguments);
    command.arg("--target-dir").arg(target());
    // Browsers have these instructions since 2023.
    command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", "-C target-feature=+simd128");
    command.env("CFLAGS_wasm32_unknown_unknown", "-msimd128");
    if toolchain.is_unpacked() {
        command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker()?);
    }
    run(&mut command, &[])
}

/// Returns the linker of rustup's toolchain.
fn linker() -> Result<PathBuf> {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).current_dir(workspace()).output()?;
    let sysroot = PathBuf::from(String::from_utf8(sysroot.stdout)?.trim());
    let hosts = fs::read_dir(sysroot.join("lib/rustlib"))?;
    let mut linkers = hosts.filter_map(|host| Some(host.ok()?.path().join("bin/rust-lld")));
    Ok(linkers.find(|linker| linker.is_file()).ok_or("no rust-lld in the toolchain of rustup")?)
}

fn target() -> PathBuf {
    workspace().join("target/wasm")
}

fn bindgen() -> PathBuf {
    workspace().join("target/wasm-tools/bin/wasm-bindgen")
}

/// Builds `wasm-bindgen` unless the version of the lockfile is installed.
fn install_bindgen() -> Result {
    let version = locked_version("wasm-bindgen")?;
    let installed = Command::new(bindgen()).arg("--version").output();
    if installed.is_ok_and(|output| output.stdout.trim_ascii().ends_with(format!(" {version}").as_bytes())) {
        return Ok(());
    }
    let root = workspace().join("target/wasm-tools");
    // Without `--locked`: the lockfile of the release names crates that were withdrawn.
    let install = ["install", "wasm-bindgen-cli", "--version", &version, "--root"];
    run(Command::new("cargo").args(install).arg(&root).arg("--target-dir").arg(root.join("build")), &[])
}

/// Returns the version of a crate in the lockfile of the second workspace.
fn locked_version(name: &str) -> Result<String> {
    let manifest = "integrations/Cargo.toml";
    let id = cargo(&workspace(), &["pkgid", "--manifest-path", manifest, "--package", name])?;
    let version = id.trim().rsplit(['#', '@']).next().map(str::to_owned);
    version.ok_or_else(|| format!("no version of {name} in {id}").into())
}

/// Builds the module and the package, and checks the size.
pub fn build(toolchain: &Toolchain) -> Result {
    let package = workspace().join(PACKAGE);
    let place = ["--manifest-path", "integrations/Cargo.toml", "--package", "tdb-wasm"];
    let arguments = [&["build", "--profile", "wasm", "--features", "zstd", "--locked"][..], &place].concat();
    cargo_for_wasm(toolchain, &arguments)?;
    let module = target().join(TARGET.name).join("wasm/tdb_wasm.wasm");
    let generated = package.join("src/wasm");
    let mut bindgen = Command::new(bindgen());
    bindgen.args(["--target", "web", "--remove-name-section", "--out-dir"]).arg(&generated).arg(module);
    run(&mut bindgen, &[])?;
    npm(&package, &["ci", "--no-audit", "--no-fund"])?;
    let out = package.join("dist");
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    npm(&package, &["run", "build"])?;
    fs::create_dir_all(out.join("wasm"))?;
    for entry in fs::read_dir(&generated)? {
        let entry = entry?;
        fs::copy(entry.path(), out.join("wasm").join(entry.file_name()))?;
    }
    let (size, compressed) = sizes(&out)?;
    println!("{PACKAGE}/dist: {size} bytes, {compressed} compressed with gzip");
    if compressed > LARGEST {
        return Err(format!("the package has {compressed} compressed bytes, more than {LARGEST}").into());
    }
    Ok(())
}

/// Runs the tests of the package, in Node.
pub fn test() -> Result {
    npm(&workspace().join(PACKAGE), &["test"])
}

fn npm(package: &Path, arguments: &[&str]) -> Result {
    let mut command = Command::new("npm");
    let prefix: [OsString; 2] = ["--prefix".into(), package.into()];
    run(command.args(arguments).args(prefix), &[])
}

/// Returns the size of the module and the JavaScript, and the compressed size.
fn sizes(folder: &Path) -> Result<(usize, usize)> {
    let (mut size, mut compressed) = (0, 0);
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            let inner = sizes(&path)?;
            (size, compressed) = (size + inner.0, compressed + inner.1);
        } else if path.extension().is_some_and(|extension| extension == "js" || extension == "wasm") {
            let bytes = fs::read(&path)?;
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(&bytes)?;
            (size, compressed) = (size + bytes.len(), compressed + encoder.finish()?.len());
        }
    }
    Ok((size, compressed))
}
