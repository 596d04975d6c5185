//! The Python package: a wheel, its tests, its stubs and its types.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::report::Outcome;
use crate::Result;
use crate::cargo::{LINTED, run, workspace};
use crate::servers::{newer_pandas, python_tools};

/// The largest wheel, in bytes.
const LARGEST_WHEEL: u64 = 12_000_000;

/// The settings of the package and of its tools.
const SETTINGS: &str = "integrations/python/pyproject.toml";

/// The modules that `stubtest` does not import.
const ALLOWED: &str = "integrations/python/stubtest.allow";

/// The program that compares the package with TileDB-Py.
const SPEED: &str = "integrations/python/speed";

/// The tests that run with both major releases of pandas.
const OF_PANDAS: &[&str] = &["integrations/python/tests/test_arrow.py", "integrations/python/tests/test_read.py"];

/// Reads an array without any other package.
const SMOKE: &str = "
import sys, tdb
batches = list(tdb.open(sys.argv[1]).read().batches())
assert sum(len(batch) for batch in batches) > 0
assert 'numpy' not in sys.modules
";

/// The packages that the tests of TileDB-Py need.
const OF_TILEDB_PY: &[&str] = &["pytest", "hypothesis", "psutil", "packaging", "numpy", "pandas<3", "pyarrow"];

/// The number of tests of TileDB-Py that pass. docs/reference/python-compatibility.md lists the others.
const PASSED: &str = "952";

/// Prints the fastest of ten imports.
const IMPORT_TIME: &str = "
import subprocess, sys, time
def once(code):
    start = time.perf_counter()
    subprocess.run([sys.executable, '-c', code], check=True)
    return time.perf_counter() - start
best = [min(once(code) for _ in range(10)) for code in ('pass', 'import tdb')]
print(f'import tdb takes {(best[1] - best[0]) * 1000:.0f} ms')
";

/// Builds the wheel with the profile of tests, installs it in an empty environment, and runs the
/// tests of the package, `stubtest` and pyright.
pub fn package() -> Outcome {
    let (tools, newer_pandas) = match (python_tools(), newer_pandas()) {
        (Ok(tools), Ok(newer)) => (tools, newer),
        (Err(error), _) | (_, Err(error)) => return Outcome::Skipped(error.to_string()),
    };
    let checked = || {
        let wheel = built(&tools, "dev")?;
        in_empty_environment(&wheel)?;
        let python = tools.join("python");
        install(&tools, &wheel)?;
        tested(&tools, &["integrations/python/tests"], &[])?;
        tested(&tools, OF_PANDAS, &[("PYTHONPATH", &newer_pandas.to_string_lossy())])?;
        let stubs = ["tdb", "--mypy-config-file", SETTINGS, "--allowlist", ALLOWED];
        run(Command::new(tools.join("stubtest")).args(stubs), &[])?;
        run(Command::new(tools.join("pyright")).args(["--project", SETTINGS, "--pythonpath"]).arg(python), &[])
    };
    checked().into()
}

/// Builds the wheel of a release, and checks its size.
pub fn wheel() -> Outcome {
    let tools = match python_tools() {
        Ok(tools) => tools,
        Err(error) => return Outcome::Skipped(error.to_string()),
    };
    let checked = || {
        let wheel = built(&tools, "dist")?;
        let size = fs::metadata(&wheel)?.len();
        println!("{}: {size} bytes", wheel.display());
        if size > LARGEST_WHEEL {
            return Err(format!("the wheel has {size} bytes, more than {LARGEST_WHEEL}").into());
        }
        let python = in_empty_environment(&wheel)?;
        run(Command::new(python).args(["-c", IMPORT_TIME]), &[])
    };
    checked().into()
}

/// Runs the tests of TileDB-Py on `tdb.compat`. They need CPython 3.11.
pub fn compatibility() -> Outcome {
    let tools = match python_tools() {
        Ok(tools) => tools,
        Err(error) => return Outcome::Skipped(error.to_string()),
    };
    let checked = || {
        let python = in_empty_environment(&built(&tools, "dev")?)?;
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(OF_TILEDB_PY), &[])?;
        run(Command::new(python).args(["integrations/python/tests/compat/run.py", "--minimum", PASSED]), &[])
    };
    checked().into()
}

/// Compares the speed and the memory of the wheel of a release with TileDB-Py.
pub fn compare(arguments: &[String]) -> Result {
    let tools = python_tools()?;
    install(&tools, &built(&tools, "dist")?)?;
    run(Command::new(tools.join("python")).args(["-W", "ignore", SPEED]).args(arguments), &[])
}

fn install(tools: &Path, wheel: &Path) -> Result {
    let mut pip = Command::new(tools.join("python"));
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"]).arg(wheel);
    run(&mut pip, &[])
}

/// Runs tests with the installed wheel.
fn tested(tools: &Path, tests: &[&str], variables: &[(&str, &str)]) -> Result {
    let options = ["-q", "-p", "no:cacheprovider", "-c", SETTINGS];
    run(Command::new(tools.join("pytest")).args(options).args(tests), variables)
}

/// Builds a wheel, and returns its path. Clippy compiles the native module of tests.
fn built(tools: &Path, profile: &str) -> Result<PathBuf> {
    let out = workspace().join("target/python").join(profile);
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    let mut maturin = Command::new(tools.join("maturin"));
    let manifest = ["--manifest-path", "integrations/python/Cargo.toml"];
    maturin.args(["build", "--quiet", "--locked", "--profile", profile]).args(manifest).arg("--out").arg(&out);
    run(&mut maturin, if profile == "dev" { &LINTED } else { &[] })?;
    let wheel = fs::read_dir(&out)?.next().ok_or("maturin built no wheel")??;
    Ok(wheel.path())
}

/// Installs a wheel in a new environment, reads an array, and returns the interpreter.
fn in_empty_environment(wheel: &Path) -> Result<PathBuf> {
    let home = workspace().join("target/python/empty");
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home), &[])?;
    let python = home.join("bin/python");
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).arg(wheel), &[])?;
    let array = workspace().join("fixtures/v22-by-2.30.0-sparse-2d/array");
    run(Command::new(&python).args(["-c", SMOKE]).arg(array), &[])?;
    Ok(python)
}
