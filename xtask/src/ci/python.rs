//! The Python package: a wheel, its tests, its stubs and its types.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::report::Outcome;
use crate::Result;
use crate::cargo::{INTEGRATIONS, LINTED, run, show, workspace};
use crate::servers::{newer_pandas, python_tools};

/// The largest wheel, in bytes.
const LARGEST_WHEEL: u64 = 12_000_000;

/// The settings of the package and of its tools.
const SETTINGS: &str = "integrations/python/pyproject.toml";

/// The crate of the native module.
const MANIFEST: &str = "integrations/python/Cargo.toml";

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

/// Builds a wheel for tests, installs it in an empty environment, and runs the tests of the package,
/// `stubtest` and pyright.
pub fn package() -> Outcome {
    let (tools, newer_pandas) = match (python_tools(), newer_pandas()) {
        (Ok(tools), Ok(newer)) => (tools, newer),
        (Err(error), _) | (_, Err(error)) => return Outcome::Skipped(error.to_string()),
    };
    let checked = || {
        let wheel = packed(&tools)?;
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
        let wheel = built(&tools)?;
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
        let python = in_empty_environment(&packed(&tools)?)?;
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(OF_TILEDB_PY), &[])?;
        run(Command::new(python).args(["integrations/python/tests/compat/run.py", "--minimum", PASSED]), &[])
    };
    checked().into()
}

/// Compares the speed and the memory of the wheel of a release with TileDB-Py.
pub fn compare(arguments: &[String]) -> Result {
    let tools = python_tools()?;
    install(&tools, &built(&tools)?)?;
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

/// Packs a wheel for tests, and returns its path. The native module is built with the crates of the
/// step `integrations`, because maturin would compile nearly all crates again, with other features.
/// Clippy compiles it.
fn packed(tools: &Path) -> Result<PathBuf> {
    // `--tests` selects the features of these crates.
    show(&[&["build", "--workspace", "--lib", "--tests"], INTEGRATIONS].concat(), &LINTED)?;
    let (files, out) = (empty_folder("files")?, empty_folder("test")?);
    let mut maturin = Command::new(tools.join("maturin"));
    maturin.args(["pep517", "write-dist-info", "--manifest-path", MANIFEST, "--metadata-directory"]).arg(&files);
    // It prints each of its decisions.
    run(maturin.stdout(Stdio::null()).stderr(Stdio::null()), &[])?;
    run(Command::new("cp").args(["-r", "integrations/python/python/tdb"]).arg(&files), &[])?;
    let module = workspace().join("integrations/target/debug/libtdb_python.so");
    fs::copy(module, files.join("tdb/_native.abi3.so"))?;
    let pack = ["-m", "wheel", "pack"];
    run(Command::new(tools.join("python")).args(pack).arg(&files).arg("--dest-dir").arg(&out), &[])?;
    wheel_in(&out)
}

/// Builds the wheel of a release, and returns its path.
fn built(tools: &Path) -> Result<PathBuf> {
    let out = empty_folder("dist")?;
    let mut maturin = Command::new(tools.join("maturin"));
    maturin.args(["build", "--quiet", "--locked", "--profile", "dist", "--manifest-path", MANIFEST, "--out"]).arg(&out);
    run(&mut maturin, &[])?;
    wheel_in(&out)
}

fn empty_folder(name: &str) -> Result<PathBuf> {
    let folder = workspace().join("target/python").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Returns the only file of a folder.
fn wheel_in(folder: &Path) -> Result<PathBuf> {
    let wheel = fs::read_dir(folder)?.next().ok_or("no wheel was written")??;
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
