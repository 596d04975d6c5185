//! Compilers for targets whose standard library the compiler of rustup may lack.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::cargo::{run, rustup, workspace};

/// Debian's compiler with its sources, and the libraries that it needs.
const PACKAGES: [&str; 5] = ["rustc-web", "libstd-rust-web-dev", "rust-web-src", "libllvm22", "libstd-rust-web-1.96"];

/// A target, and the crate of the standard library that handles panics.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub name: &'static str,
    pub panic: &'static str,
}

/// A compiler with a standard library for a target.
#[derive(Debug)]
pub struct Toolchain {
    target: Target,
    /// The folder of a compiler that builds the standard library from its sources. `None` if the
    /// compiler of rustup has the standard library.
    home: Option<PathBuf>,
}

impl Toolchain {
    /// Finds a compiler for a target. If rustup lacks the target, downloads Debian's compiler.
    pub fn find(target: Target) -> Result<Self> {
        let name = target.name;
        if rustup(&["target", "list", "--installed"]).lines().any(|line| line == name) {
            return Ok(Self { target, home: None });
        }
        let home = workspace().join("target/toolchain");
        if !home.join("usr/bin/rustc").is_file() {
            unpack(&home).map_err(|error| format!("`rustup target add {name}` ({error})"))?;
        }
        Ok(Self { target, home: Some(home) })
    }

    /// Returns the name of the target.
    pub fn target(&self) -> &'static str {
        self.target.name
    }

    /// `true` if the compiler builds the standard library from its sources.
    pub fn is_unpacked(&self) -> bool {
        self.home.is_some()
    }

    /// Returns a command that builds for the target. `program` is cargo or a program that calls it.
    pub fn command(&self, program: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
        let Target { name, panic } = self.target;
        let mut command = Command::new(program);
        command.args(arguments).args(["--target", name]);
        if let Some(home) = &self.home {
            command.args(["-Z", &format!("build-std=std,{panic}")]);
            command.env("RUSTC", home.join("usr/bin/rustc")).env("RUSTC_BOOTSTRAP", "1");
            command.env("LD_LIBRARY_PATH", home.join("usr/lib/x86_64-linux-gnu"));
            // `cargo xtask` sets the variable for the compiler of rustup.
            command.env_remove("RUSTUP_TOOLCHAIN");
        }
        command
    }
}

/// Downloads Debian's compiler to a folder. Does not install it, because the packages conflict with
/// rustup.
fn unpack(home: &Path) -> Result {
    let downloads = home.join("packages");
    fs::create_dir_all(&downloads)?;
    // Fails without root privileges. Then the known packages may still exist.
    let _ = Command::new("apt-get").args(["update", "--quiet"]).status();
    run(Command::new("apt-get").arg("download").args(PACKAGES).current_dir(&downloads), &[])?;
    for package in fs::read_dir(&downloads)? {
        run(Command::new("dpkg-deb").arg("-x").arg(package?.path()).arg(home), &[])?;
    }
    Ok(())
}
