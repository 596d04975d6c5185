//! The static command for Linux with musl, which needs no libraries.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::cargo::{install, run, workspace};
use crate::servers::zig;
use crate::toolchain::{Target, Toolchain};

pub const TARGET: Target = Target { name: "x86_64-unknown-linux-musl", panic: "panic_unwind" };

const TARGETS: [Target; 2] = [TARGET, Target { name: "aarch64-unknown-linux-musl", panic: "panic_unwind" }];

/// The array that the command reads without libraries.
const ARRAY: &str = "fixtures/v22-by-2.30.0-sparse-2d/array";

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Build the full command
    #[arg(long)]
    full: bool,
    /// Target, for x86-64 or ARM
    #[arg(long, default_value = TARGET.name, value_parser = target)]
    target: Target,
}

/// Returns the target of a name.
pub fn target(name: &str) -> Result<Target, String> {
    let found = TARGETS.into_iter().find(|target| target.name == name);
    found.ok_or_else(|| format!("expected {}", TARGETS.map(|target| target.name).join(" or ")))
}

/// Runs `cargo xtask static`.
pub fn run_task(arguments: &Arguments) -> Result {
    let program = build(&Toolchain::find(arguments.target)?, arguments.full)?;
    println!("{}: {} bytes", program.display(), fs::metadata(&program)?.len());
    Ok(())
}

/// Builds the command, and reads an array in a folder that contains only the program and the array.
pub fn check(toolchain: &Toolchain) -> Result {
    runs_alone(&build(toolchain, false)?)
}

/// Builds the command, and returns its path. Zig links, because it contains the C library. The command
/// contains a list of its dependencies, which `cargo audit bin` reads.
pub fn build(toolchain: &Toolchain, full: bool) -> Result<PathBuf> {
    let (zig, tools) = (zig()?, install("cargo-auditable", "0.7.7", &[])?);
    let (target, name) = (workspace().join("target/static"), toolchain.target());
    let (manifest, package) =
        if full { ("integrations/Cargo.toml", "tdb-full") } else { ("Cargo.toml", "tdb-command") };
    let arguments = ["zigbuild", "--locked", "--profile", "dist", "--bin", "tdb", "--package", package];
    let mut command = toolchain.command(zig.join("cargo-zigbuild"), &arguments);
    command.args(["--manifest-path", manifest, "--target-dir"]).arg(&target);
    command.env("PATH", path_with([zig, tools])?);
    command.env(format!("CARGO_TARGET_{}_RUSTFLAGS", name.to_uppercase().replace('-', "_")), flags(toolchain)?);
    // `cargo auditable` would set the absolute path of the wrapper. Cargo hashes the path into the
    // names of symbols, so the program would depend on the folder.
    command.env("RUSTC_WORKSPACE_WRAPPER", "cargo-auditable");
    command.env("CARGO_AUDITABLE_ORIG_ARGS", r#"{"offline":false,"locked":true,"frozen":false,"config":[]}"#);
    run(&mut command, &[])?;
    Ok(target.join(name).join("dist/tdb"))
}

/// Returns the compiler flags. The program does not depend on the folders of this machine.
fn flags(toolchain: &Toolchain) -> Result<OsString> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    let mut flags = OsString::new();
    for (folder, name) in [(workspace(), "/tdb"), (home.ok_or("no home folder")?, "/cargo")] {
        flags.push("--remap-path-prefix=");
        flags.push(folder);
        flags.push(format!("={name} "));
    }
    if toolchain.is_unpacked() {
        // The unpacked compiler has no start files of its own.
        flags.push("-C link-self-contained=no");
    }
    Ok(flags)
}

/// Returns the search path of programs, with folders in front.
fn path_with(folders: [PathBuf; 2]) -> Result<OsString> {
    let others = env::var_os("PATH").unwrap_or_default();
    Ok(env::join_paths(folders.into_iter().chain(env::split_paths(&others)))?)
}

/// Reads an array with the program, in a folder without libraries.
pub fn runs_alone(program: &Path) -> Result {
    let root = workspace().join("target/static/root");
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    fs::create_dir_all(&root)?;
    fs::copy(program, root.join("tdb"))?;
    run(Command::new("cp").arg("-r").arg(workspace().join(ARRAY)).arg(root.join("array")), &[])?;
    for arguments in [&["read", "/array", "--limit", "8"][..], &["verify", "/array"]] {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--root"]).arg(&root).arg("/tdb").args(arguments);
        run(&mut command, &[])?;
    }
    Ok(())
}
