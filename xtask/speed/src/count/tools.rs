//! What counts depend on beside the code.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The tools that a program was built and counted with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tools(pub Vec<(String, String)>);

impl Tools {
    /// Those of this machine.
    ///
    /// # Errors
    ///
    /// If one isn't there; says which, and how to get it.
    pub fn here() -> Result<Self, String> {
        let valgrind = first_line("valgrind").ok_or("there is no valgrind: `apt-get install valgrind`")?;
        let of = |program: &str| first_line(program).unwrap_or_else(|| "none".to_owned());
        let tools = [
            ("rustc", of("rustc")),
            // Zstandard is C.
            ("cc", of("cc")),
            // Its functions that copy and compare memory.
            ("libc", of("ldd")),
            ("valgrind", valgrind),
            ("processor", processor().to_owned()),
        ];
        Ok(Self(tools.map(|(tool, version)| (tool.to_owned(), version)).into()))
    }

    /// What is different with others.
    pub fn differences(&self, others: &Self) -> Vec<String> {
        let of = |tools: &Self, tool: &str| {
            let found = tools.0.iter().find(|(name, _)| name == tool);
            found.map_or_else(|| "none".to_owned(), |(_, version)| version.clone())
        };
        let different = others.0.iter().filter(|(tool, version)| of(self, tool) != *version);
        different.map(|(tool, version)| format!("{tool} {:?} there, {version:?} here", of(self, tool))).collect()
    }
}

/// Where a program lies that the user can run.
pub fn program(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|program| program.is_file())
}

fn first_line(program: &str) -> Option<String> {
    // Where a toolchain file may say which compiler is used.
    let output = Command::new(program).arg("--version").current_dir(Path::new(env!("CARGO_MANIFEST_DIR"))).output();
    let output = output.ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).lines().next()?.trim().to_owned())
}

/// Valgrind shows programs one of a few processors, whatever the machine has.
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
    fn differences_name_both_versions() {
        let tools = |rustc: &str| Tools(vec![("rustc".to_owned(), rustc.to_owned())]);
        assert_eq!(tools("1").differences(&tools("1")), Vec::<String>::new());
        assert_eq!(tools("1").differences(&tools("2")), ["rustc \"1\" there, \"2\" here"]);
        assert_eq!(Tools(Vec::new()).differences(&tools("2")), ["rustc \"none\" there, \"2\" here"]);
    }
}
