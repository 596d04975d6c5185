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
use crate::cargo::{cargo, has_program, run, rustup, workspace};

pub const TARGET: &str = "wasm32-unknown-unknown";

/// The folder of the package.
const PACKAGE: &str = "integrations/web/package";

/// The largest compressed size of the module and its JavaScript, in bytes.
const LARGEST: usize = 1_500_000;

/// Debian's compiler with its sources, and the libraries that it needs. The compiler of rustup
/// usually lacks the standard library for wasm32.
const PACKAGES: [&str; 5] = ["rustc-web", "libstd-rust-web-dev", "rust-web-src", "libllvm22", "libstd-rust-web-1.96"];

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Download a compiler for wasm32 (Debian) and the tools to `target`
    #[arg(long)]
    fetch: bool,
    /// Run the tests of the package in Node
    #[arg(long)]
    test: bool,
}

pub fn run_task(arguments: &Arguments) -> Result {
    if arguments.fetch {
        fetch()?;
    }
    let toolchain = Toolchain::find()?;
    build(&toolchain)?;
    if arguments.test { test() } else { Ok(()) }
}

/// Returns the reason why the package cannot be built.
pub fn missing() -> Option<String> {
    match Toolchain::find() {
        Err(error) => Some(error.to_string()),
        Ok(_) if !bindgen().is_file() => Some("`cargo xtask wasm --fetch`".to_owned()),
        Ok(_) if !has_program("clang") => Some("`apt-get install clang`".to_owned()),
        Ok(_) if !has_program("npm") => Some("`apt-get install npm`".to_owned()),
        Ok(_) => None,
    }
}

/// A compiler with a standard library for wasm32.
#[derive(Debug)]
pub enum Toolchain {
    /// The compiler of rustup.
    Installed,
    /// A compiler in a folder, which builds the standard library from its sources.
    Unpacked { home: PathBuf, linker: PathBuf },
}

impl Toolchain {
    /// Finds a compiler.
    pub fn find() -> Result<Self> {
        if rustup(&["target", "list", "--installed"]).lines().any(|line| line == TARGET) {
            return Ok(Self::Installed);
        }
        let home = unpacked();
        if !home.join("usr/bin/rustc").is_file() {
            return Err(format!("`rustup target add {TARGET}`, or `cargo xtask wasm --fetch` on Debian").into());
        }
        let sysroot = Command::new("rustc").args(["--print", "sysroot"]).current_dir(workspace()).output()?;
        let sysroot = PathBuf::from(String::from_utf8(sysroot.stdout)?.trim());
        let hosts = fs::read_dir(sysroot.join("lib/rustlib"))?;
        let mut linkers = hosts.filter_map(|host| Some(host.ok()?.path().join("bin/rust-lld")));
        let linker = linkers.find(|linker| linker.is_file()).ok_or("no rust-lld in the toolchain of rustup")?;
        Ok(Self::Unpacked { home, linker })
    }

    /// Runs cargo for wasm32. The compilers have separate target folders.
    pub fn cargo(&self, arguments: &[String]) -> Result {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(arguments).args(["--target", TARGET, "--target-dir"]).arg(target());
        // Browsers have these instructions since 2023.
        command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", "-C target-feature=+simd128");
        command.env("CFLAGS_wasm32_unknown_unknown", "-msimd128");
        if let Self::Unpacked { home, linker } = self {
            let libraries = home.join("usr/lib/x86_64-linux-gnu");
            command.args(["-Z", "build-std=std,panic_abort"]);
            command.env("RUSTC", home.join("usr/bin/rustc")).env("RUSTC_BOOTSTRAP", "1");
            command.env("LD_LIBRARY_PATH", libraries).env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
            // The sources of Debian patch a crate for a target with an operating system.
            command.env_remove("RUSTUP_TOOLCHAIN");
        }
        run(&mut command, &[])
    }
}

fn target() -> PathBuf {
    workspace().join("target/wasm")
}

fn unpacked() -> PathBuf {
    workspace().join("target/wasm-toolchain")
}

fn bindgen() -> PathBuf {
    workspace().join("target/wasm-tools/bin/wasm-bindgen")
}

/// Downloads the compiler if none is installed, and builds `wasm-bindgen`.
fn fetch() -> Result {
    if Toolchain::find().is_err() {
        let home = unpacked();
        let downloads = home.join("packages");
        fs::create_dir_all(&downloads)?;
        // Unpacks without installing, because the packages conflict with rustup.
        let mut apt = Command::new("apt-get");
        apt.arg("download").args(PACKAGES).current_dir(&downloads);
        let status = apt.status()?;
        if !status.success() {
            return Err(format!("{apt:?}: {status}").into());
        }
        for package in fs::read_dir(&downloads)? {
            run(Command::new("dpkg-deb").arg("-x").arg(package?.path()).arg(&home), &[])?;
        }
    }
    let version = locked_version("wasm-bindgen")?;
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
    toolchain.cargo(&arguments.into_iter().map(str::to_owned).collect::<Vec<_>>())?;
    let module = target().join(TARGET).join("wasm/tdb_wasm.wasm");
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
