//! Runs a path under callgrind.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::path::{CountedPath, Work};
use super::tools;
use crate::outcome::Result;
use crate::tdb;

/// The copy of this program in the folder of the inputs. Its path is as long on every machine: arguments lie in memory before all else,
/// and where buffers begin changes how memory is copied.
const PROGRAM: &str = "counted";

/// Puts the program into the folder.
pub fn prepare(folder: &Path) -> Result<()> {
    fs::copy(std::env::current_exe()?, folder.join(PROGRAM))?;
    Ok(())
}

/// How many instructions the counted part of a path takes; `folder` has the inputs.
pub fn count(path: &CountedPath, folder: &Path) -> Result<u64> {
    let out = tempfile::NamedTempFile::new()?;
    let mut command = Command::new(tools::program("valgrind").ok_or("there is no valgrind")?);
    command
        // What stands in the environment would move the stack, and with it a few instructions.
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        // Symbols of shared libraries are looked up before anything counts.
        .env("LD_BIND_NOW", "1")
        .args(["--tool=callgrind", "--quiet", "--toggle-collect=*counted_part*"])
        .arg(format!("--callgrind-out-file={}", out.path().display()))
        .arg(Path::new(".").join(PROGRAM))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    match &path.work {
        Work::Here(_) => command.args(["speed-count", &path.name]),
        Work::Command { arguments, .. } => command.env(tdb::VARIABLE, tdb::COUNTED).args(*arguments),
    };
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim()).into());
    }
    total(&fs::read_to_string(out.path())?)
}

/// What the file of callgrind says was counted in all.
fn total(text: &str) -> Result<u64> {
    let total = text.lines().find_map(|line| line.strip_prefix("totals:")).ok_or("callgrind has written no totals")?;
    match total.trim().parse()? {
        0 => Err("nothing was counted: has the program lost its symbols?".into()),
        count => Ok(count),
    }
}

#[cfg(test)]
mod tests {
    use super::total;

    #[test]
    fn the_total_is_found_and_nothing_counted_is_an_error() {
        assert_eq!(total("version: 1\nevents: Ir\nfn=(1) main\n0 5\n\ntotals: 1234\n").expect("a total"), 1234);
        total("version: 1\ntotals: 0\n").expect_err("nothing was counted");
        total("version: 1\n").expect_err("there is no total");
    }
}
