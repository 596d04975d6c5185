//! Runs a path under callgrind.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::path::{CountedPath, Work};
use super::tools;
use crate::outcome::Result;
use crate::tdb;

/// Name of a copy of this program in the folder of the inputs. The path has the same length on
/// every machine. Arguments precede other memory, and the alignment of buffers affects how memory
/// is copied.
const PROGRAM: &str = "counted";

/// Copies the program into the folder.
pub fn prepare(folder: &Path) -> Result<()> {
    fs::copy(std::env::current_exe()?, folder.join(PROGRAM))?;
    Ok(())
}

/// Returns the instruction count of the counted part of a path. `folder` contains the inputs.
pub fn count(path: &CountedPath, folder: &Path) -> Result<u64> {
    let out = tempfile::NamedTempFile::new()?;
    let mut command = Command::new(tools::program("valgrind").ok_or("valgrind is not installed")?);
    command
        // The environment would shift the stack, which changes a few instructions.
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        // Resolves symbols of shared libraries before counting starts.
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

/// Parses the total count in callgrind's output file.
fn total(text: &str) -> Result<u64> {
    let total = text.lines().find_map(|line| line.strip_prefix("totals:")).ok_or("callgrind wrote no totals")?;
    match total.trim().parse()? {
        0 => Err("nothing was counted; the program may lack symbols".into()),
        count => Ok(count),
    }
}

#[cfg(test)]
mod tests {
    use super::total;

    #[test]
    fn total_is_parsed_and_zero_is_an_error() {
        assert_eq!(total("version: 1\nevents: Ir\nfn=(1) main\n0 5\n\ntotals: 1234\n").expect("a total"), 1234);
        total("version: 1\ntotals: 0\n").expect_err("nothing was counted");
        total("version: 1\n").expect_err("there is no total");
    }
}
