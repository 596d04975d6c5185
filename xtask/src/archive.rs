//! Archives and Debian packages of the command, for releases.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::cargo::{install, run, workspace};
use crate::static_program::{self, TARGET};
use crate::toolchain::Toolchain;

/// The folder of the results, and of the files during packing.
const FOLDER: &str = "target/archives";

/// The completion script of each shell.
const SHELLS: [(&str, &str); 5] =
    [("bash", "tdb.bash"), ("elvish", "tdb.elv"), ("fish", "tdb.fish"), ("powershell", "_tdb.ps1"), ("zsh", "_tdb")];

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Target of the program
    #[arg(long, default_value = TARGET.name)]
    target: String,
    /// Program for the target, built elsewhere. By default, the static command is built
    #[arg(long)]
    program: Option<PathBuf>,
}

/// Runs `cargo xtask archive`.
pub fn run_task(arguments: &Arguments) -> Result {
    build(&arguments.target, arguments.program.as_deref()).map(drop)
}

/// Builds an archive and a Debian package, and reads an array with the program of the package.
pub fn check() -> Result {
    let package = build(TARGET.name, None)?.ok_or("no Debian package")?;
    let root = empty("root")?;
    run(Command::new("dpkg-deb").arg("-x").arg(package).arg(&root), &[])?;
    static_program::runs_alone(&root.join("usr/bin/tdb"))
}

/// Builds an archive, and for Linux a Debian package, whose path it returns. The files contain the time
/// of the last commit.
fn build(target: &str, program: Option<&Path>) -> Result<Option<PathBuf>> {
    let native = static_program::build(&Toolchain::find(TARGET)?, false)?;
    let program = match program {
        Some(program) => program.to_owned(),
        None => static_program::build(&Toolchain::find(static_program::target(target)?)?, false)?,
    };
    let stage = stage(&program, &native, target)?;
    let package = target.contains("linux").then(|| debian_package(target)).transpose()?;
    let version = output(Command::new(&native).arg("--version"))?.replace(' ', "-");
    let name = format!("{version}-{target}");
    let folder = workspace().join(FOLDER).join(&name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::rename(stage, &folder)?;
    pack(&name)?;
    Ok(package)
}

/// Copies and generates all files of an archive. `native` writes the manual pages and completions.
fn stage(program: &Path, native: &Path, target: &str) -> Result<PathBuf> {
    let stage = empty("stage")?;
    fs::copy(program, stage.join(if target.contains("windows") { "tdb.exe" } else { "tdb" }))?;
    // This README contains no links to files of the repository.
    for file in ["crates/tdb-cli/README.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        let file = workspace().join(file);
        fs::copy(&file, stage.join(file.file_name().ok_or("no name")?))?;
    }
    run(Command::new(native).arg("man").arg(stage.join("man")), &[])?;
    fs::create_dir(stage.join("completions"))?;
    for (shell, name) in SHELLS {
        fs::write(stage.join("completions").join(name), output(Command::new(native).args(["completions", shell]))?)?;
    }
    licenses(target, &stage.join("licenses.txt"))?;
    fs::write(stage.join("tdb.cdx.json"), bill_of_materials(target)?)?;
    Ok(stage)
}

/// Writes the licenses of the dependencies, which require a copy of their text.
fn licenses(target: &str, file: &Path) -> Result {
    let mut about = Command::new(install("cargo-about", "0.9.3", &["cli"])?.join("cargo-about"));
    about.args(["generate", "--offline", "--locked", "--fail", "--manifest-path", "crates/tdb-cli/Cargo.toml"]);
    about.args(["--config", "xtask/about/about.toml", "--target", target, "xtask/about/licenses.hbs"]);
    run(about.arg("--output-file").arg(file), &[])
}

/// Returns the dependencies in the format CycloneDX.
fn bill_of_materials(target: &str) -> Result<String> {
    // The program writes a file next to each manifest of the workspace.
    let copy = empty("sources")?;
    let sources = copy.with_extension("tar");
    let mut git = Command::new("git");
    git.args(["archive", "--output"]).arg(&sources);
    run(git.args(["HEAD", "Cargo.toml", "Cargo.lock", "crates", "xtask", "benches"]), &[])?;
    run(Command::new("tar").arg("-xf").arg(&sources).arg("-C").arg(&copy), &[])?;
    let mut cyclonedx = Command::new(install("cargo-cyclonedx", "0.5.9", &[])?.join("cargo-cyclonedx"));
    cyclonedx.args(["cyclonedx", "--quiet", "--format", "json", "--spec-version", "1.5", "--target", target]);
    cyclonedx.args(["--override-filename", "sbom", "--manifest-path"]).arg(copy.join("crates/tdb-cli/Cargo.toml"));
    run(&mut cyclonedx, &[("SOURCE_DATE_EPOCH", &time()?)])?;
    let text = fs::read_to_string(copy.join("crates/tdb-cli/sbom.json"))?;
    Ok(text.replace(copy.to_str().ok_or("the path of the workspace is not UTF-8")?, "/tdb"))
}

/// Builds a Debian package of the staged files, by `package.metadata.deb` of the crate.
fn debian_package(target: &str) -> Result<PathBuf> {
    let mut deb = Command::new(install("cargo-deb", "3.8.0", &[])?.join("cargo-deb"));
    deb.args(["--no-build", "--no-strip", "--locked", "--package", "tdb-command", "--target", target]);
    deb.args(["--output", FOLDER]).current_dir(workspace()).env("SOURCE_DATE_EPOCH", time()?);
    let package = workspace().join(output(&mut deb)?);
    report(&package)?;
    Ok(package)
}

/// Packs a folder with sorted names and the time of the last commit.
fn pack(name: &str) -> Result {
    let archive = format!("{FOLDER}/{name}.tar.gz");
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u+rw,go=rX"]);
    tar.arg(format!("--mtime=@{}", time()?)).args(["-czf", &archive, "-C", FOLDER, name]);
    run(&mut tar, &[])?;
    report(&workspace().join(archive))
}

/// Prints the size of a file.
fn report(file: &Path) -> Result {
    println!("{}: {} bytes", file.display(), fs::metadata(file)?.len());
    Ok(())
}

/// Returns the time of the last commit, which replaces the present time in the files.
fn time() -> Result<String> {
    output(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(workspace()))
}

/// Returns the output of a program.
fn output(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?}: {}\n{message}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// Creates an empty folder next to the archives.
fn empty(name: &str) -> Result<PathBuf> {
    let folder = workspace().join(FOLDER).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}
