//! The tools on which counts depend.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The tools with which a program was built and counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tools(pub Vec<(String, String)>);

impl Tools {
    /// Returns the tools of this machine.
    ///
    /// # Errors
    /// Returns the missing tool, and how to install it.
    pub fn here() -> Result<Self, String> {
        let valgrind = first_line("valgrind").ok_or("valgrind is not installed: run `apt-get install valgrind`")?;
        let of = |program: &str| first_line(program).unwrap_or_else(|| "none".to_owned());
        let tools = [
            ("rustc", of("rustc")),
            // Compiles Zstandard.
            ("cc", of("cc")),
            // Provides functions that copy and compare memory.
            ("libc", of("ldd")),
            ("valgrind", valgrind),
            ("processor", processor().to_owned()),
        ];
        Ok(Self(tools.map(|(tool, version)| (tool.to_owned(), version)).into()))
    }

    /// Describes the tools that differ from `others`.
    pub fn differences(&self, others: &Self) -> Vec<String> {
        let of = |tools: &Self, tool: &str| {
            let found = tools.0.iter().find(|(name, _)| name == tool);
            found.map_or_else(|| "none".to_owned(), |(_, version)| version.clone())
        };
        let different = others.0.iter().filter(|(tool, version)| of(self, tool) != *version);
        different.map(|(tool, version)| format!("{tool}: recorded {:?}, found {version:?}", of(self, tool))).collect()
    }
}

/// Returns the path of an executable in `PATH`.
pub fn program(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|program| program.is_file())
}

fn first_line(program: &str) -> Option<String> {
    // Runs in the crate's folder, where a toolchain file may select the compiler.
    let output = Command::new(program).arg("--version").current_dir(Path::new(env!("CARGO_MANIFEST_DIR"))).output();
    let output = output.ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).lines().next()?.trim().to_owned())
}

/// Returns the processor that Valgrind emulates. It supports only a few.
#[cfg(target_arch = "x86_64")]
fn processor() -> &'static str {
    if std::arch::is_x86_feature_detected!("avx2") { "x86_64 with AVX2" } else { "x86_64 without AVX2" }
}

#[cfg(not(target_arch = "x86_64"))]
fn processor() -> &'static str {
    std::env::consts::ARCH
}

#[cfg(test)]
mod tests {
    use super::Tools;

    #[test]
    fn differences_contain_both_versions() {
        let tools = |rustc: &str| Tools(vec![("rustc".to_owned(), rustc.to_owned())]);
        assert_eq!(tools("1").differences(&tools("1")), Vec::<String>::new());
        assert_eq!(tools("1").differences(&tools("2")), ["rustc: recorded \"1\", found \"2\""]);
        assert_eq!(Tools(Vec::new()).differences(&tools("2")), ["rustc: recorded \"none\", found \"2\""]);
    }
}
