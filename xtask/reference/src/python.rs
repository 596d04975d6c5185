//! Python environments with packages from PyPI, stored next to the releases.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::install::cache_folder;
use super::{Error, Result};

/// Returns a Python interpreter in the environment `name` with these packages, for example `numpy`
/// or `pandas<3`. Creates the environment if needed.
///
/// # Errors
/// Fails if the environment cannot be created.
pub fn python(name: &str, packages: &[&str]) -> Result<PathBuf> {
    let folder = cache_folder().join(name);
    let python = folder.join("bin/python");
    let names = packages.iter().filter_map(|package| package.split(['<', '>', '=', '!', '~']).next());
    let imports = format!("import {}", names.collect::<Vec<_>>().join(", "));
    let imported = Command::new(&python).args(["-c", &imports]).stderr(Stdio::null()).status();
    if !imported.is_ok_and(|status| status.success()) {
        let run = |command: &mut Command| {
            let failed = |reason: String| Error::Python { packages: packages.join(", "), reason };
            let status = command.status().map_err(|error| failed(format!("{command:?}: {error}")))?;
            if status.success() { Ok(()) } else { Err(failed(format!("{command:?}: {status}"))) }
        };
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let mut pip = Command::new(&python);
        run(pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages))?;
    }
    Ok(python)
}
