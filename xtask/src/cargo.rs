//! Runs cargo and related tools in the workspace.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Result;

/// Returns the folder of the workspace.
pub fn workspace() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// Returns the path of the cargo that runs this program.
fn own_cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Runs cargo and returns its standard output.
pub fn cargo(folder: &Path, arguments: &[&str]) -> Result<String> {
    Ok(output(folder, arguments)?.0)
}

/// Runs cargo and returns its standard output and standard error.
pub fn output(folder: &Path, arguments: &[&str]) -> Result<(String, String)> {
    let output = Command::new(own_cargo()).args(arguments).current_dir(folder).output()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo {}: {}\n{message}", arguments.join(" "), output.status).into());
    }
    Ok((String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?))
}

/// Runs cargo in the workspace with inherited output.
pub fn show(arguments: &[&str], variables: &[(&str, &str)]) -> Result {
    run(Command::new(own_cargo()).args(arguments), variables)
}

/// Runs cargo of another toolchain in the workspace with inherited output.
pub fn show_with(toolchain: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Result {
    run(Command::new("rustup").args(["run", toolchain, "cargo"]).args(arguments), variables)
}

/// Runs a program in the workspace with inherited output.
pub fn run(command: &mut Command, variables: &[(&str, &str)]) -> Result {
    let status = command.current_dir(workspace()).envs(variables.iter().copied()).status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}").into()) }
}

/// Cargo arguments that select the second workspace.
pub const INTEGRATIONS: &[&str] = &["--manifest-path", "integrations/Cargo.toml", "--locked"];

/// Lets Clippy compile the crates of a workspace, with `-D warnings` in the encoding of `cargo
/// clippy`.
pub const LINTED: [(&str, &str); 2] =
    [("RUSTC_WORKSPACE_WRAPPER", "clippy-driver"), ("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__")];

/// `true` if a cargo subcommand is installed.
pub fn has_subcommand(name: &str) -> bool {
    let mut command = Command::new(own_cargo());
    command.args([name, "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// `true` if a program is installed. The program must support `--version`.
pub fn has_program(name: &str) -> bool {
    let status = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Installs a program from its sources, unless this version is installed. Returns the folder of the
/// program.
pub fn install(package: &str, version: &str, features: &[&str]) -> Result<PathBuf> {
    let root = workspace().join("target/tools");
    let mut command = Command::new(own_cargo());
    command.args(["install", "--quiet", "--locked", package, "--version", version, "--root"]).arg(&root);
    command.arg("--features").arg(features.join(","));
    run(command.arg("--target-dir").arg(root.join("build")), &[])?;
    Ok(root.join("bin"))
}

/// Returns the output of rustup, or an empty string if rustup is not installed.
pub fn rustup(arguments: &[&str]) -> String {
    let output = Command::new("rustup").args(arguments).current_dir(workspace()).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}
