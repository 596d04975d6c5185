//! The steps of continuous integration.

use std::env;
use std::process::Command;

use super::report::Outcome;
use super::{api, apt, counts, packages, python, viewer};
use crate::Result;
use crate::cargo::{INTEGRATIONS, LINTED, has_program, has_subcommand, run, rustup, show, show_with, workspace};
use crate::published::{CORE, published};
use crate::servers::{self, Running, spell_checker};
use crate::stores::SERVERS;
use crate::toolchain::Toolchain;
use crate::{archive, check, fuzz, release, static_program, wasm};

/// A step of continuous integration.
#[derive(Debug)]
pub struct Step {
    pub name: &'static str,
    pub about: &'static str,
    /// `true` if only the long form runs the step.
    pub is_long: bool,
    pub run: fn() -> Outcome,
}

const fn short(name: &'static str, about: &'static str, run: fn() -> Outcome) -> Step {
    Step { name, about, is_long: false, run }
}

const fn long(name: &'static str, about: &'static str, run: fn() -> Outcome) -> Step {
    Step { name, about, is_long: true, run }
}

/// All steps in execution order: quick steps first, then steps that share compiled crates.
pub const STEPS: &[Step] = &[
    short("formatting", "rustfmt in both workspaces", formatting),
    short("lints", "clippy, with warnings as errors", || {
        of(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
    }),
    short("documentation", "rustdoc, with warnings as errors", || api::document().into()),
    short("api", "public items, compared with the api.txt of each crate", api::check),
    short("check", "fixtures, paths, import cycles, sizes, links, prose, dependency trees", || {
        check::run(&check::Arguments::default()).into()
    }),
    short("spelling", "typos, with the word list in typos.toml", spelling),
    long("book", "the documentation as a book, with mdBook", book),
    long("features", "builds without codecs, and the examples of downstream crates and of pages", || {
        check::features().into()
    }),
    short("conformance", "the reference library's arrays, short form", || own(&["conformance", "--short"]).into()),
    short("maintenance", "arrays that both libraries maintain alternately, short form", || {
        own(&["conformance", "maintain", "--short"]).into()
    }),
    long("browser", "pages of tdb-report in a real browser", browser),
    short("integrations", "the second workspace: lints, and tests on servers", integrations),
    short("python", "the Python package: wheel, tests, stubs and types", python::package),
    long("python-compatibility", "the tests of TileDB-Py on the Python package", python::compatibility),
    long("python-wheel", "the wheel of a release of the Python package, and its size", python::wheel),
    long("stores", "arrays of both libraries on store servers, short form", stores),
    long("integrations-documentation", "rustdoc of the second workspace", || {
        let arguments = [&["doc", "--workspace", "--no-deps"], INTEGRATIONS].concat();
        show(&arguments, &[("RUSTDOCFLAGS", "-D warnings")]).into()
    }),
    long("fuzz-targets", "the fuzz targets of all crates build", || fuzz::check_all().into()),
    long("counts", "instruction counts of key paths, compared with xtask/speed/counts.txt", counts::run),
    long("packages", "the published crates, packaged and built from the packages", packages::run),
    long("release", "the dry run of a release: programs built from the packages", || release::dry_run().into()),
    long("msrv", "the minimum supported Rust version", oldest_rust),
    long("wasm", "the library crates for wasm32-unknown-unknown, and the package with its tests", package_of_wasm),
    long("static", "the static command for Linux, in a folder without libraries", static_command),
    long("archive", "the archive and the Debian package of the static command", static_archive),
    long("browser-viewer", "the viewer for browsers: lints, and tests in Chromium", viewer::run),
    long("32-bit", "the library crates for i686-unknown-linux-gnu", || other_target("i686-unknown-linux-gnu")),
    long("deny", "advisories, licenses, bans and sources of dependencies, with cargo-deny (deny.toml)", deny),
    long("semver", "API changes since the last release, with cargo-semver-checks", semver),
];

/// Crates that are not built for other targets. All library crates are.
const NATIVE: [&str; 2] = ["tdb-command", "tdb-print"];

/// All codecs except `zstd`, which needs a C compiler for the target.
const PURE_CODECS: [&str; 6] = ["zlib", "lz4", "bzip2", "checksum", "aes", "webp"];

/// Runs cargo.
fn of(arguments: &[&str]) -> Outcome {
    show(arguments, &[]).into()
}

/// Runs this program.
fn own(arguments: &[&str]) -> Result {
    run(Command::new(env::current_exe()?).args(arguments), &[])
}

fn formatting() -> Outcome {
    let check = |more: &[&str]| show(&[&["fmt", "--all", "--check"], more].concat(), &[]);
    check(&[]).and_then(|()| check(&INTEGRATIONS[..2])).into()
}

fn spelling() -> Outcome {
    match spell_checker() {
        Ok(typos) => run(&mut Command::new(typos), &[]).into(),
        Err(error) => Outcome::Skipped(error.to_string()),
    }
}

fn book() -> Outcome {
    if !has_program("mdbook") {
        return Outcome::Skipped("`cargo install mdbook`".to_owned());
    }
    let target = workspace().join("target/book");
    run(Command::new("mdbook").args(["build", "docs", "--dest-dir"]).arg(target), &[]).into()
}

/// Runs the tests of the second workspace in memory, and on all servers that are available on this
/// machine.
///
/// Clippy compiles and lints the tests in the same build. A separate run of Clippy would compile
/// all dependencies again.
fn integrations() -> Outcome {
    let running = Running::start(&servers::ALL);
    let tests = running.variables().and_then(|variables| {
        let mut variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        variables.extend(LINTED);
        show(&[&["test", "--workspace"], INTEGRATIONS].concat(), &variables)
    });
    match tests {
        Ok(()) if !running.missing.is_empty() => {
            Outcome::Skipped(format!("tests passed, except on missing servers: {}", running.missing.join("; ")))
        }
        tests => tests.into(),
    }
}

/// Compares arrays on store servers, if all servers are available.
fn stores() -> Outcome {
    let running = Running::start(&SERVERS);
    match running.missing.is_empty() {
        true => own(&["conformance", "stores", "--cases", "20"]).into(),
        false => Outcome::Skipped(running.missing.join("; ")),
    }
}

/// Checks the published crates with the toolchain in `rust-version`.
fn oldest_rust() -> Outcome {
    let version = env!("CARGO_PKG_RUST_VERSION");
    match toolchain(&rustup(&["toolchain", "list"]), version) {
        Some(toolchain) => {
            let target = workspace().join("target/msrv");
            // A separate target folder, because this compiler would overwrite the files of the
            // default compiler.
            let target = target.to_string_lossy();
            show_with(&toolchain, &["check", "--target-dir", &target], &[]).into()
        }
        None => Outcome::Skipped(format!("`rustup toolchain install {version} --profile minimal`")),
    }
}

/// Returns the installed toolchain of a version. `1.88` matches `1.88-x86_64-…` and
/// `1.88.1-x86_64-…`.
fn toolchain(listed: &str, version: &str) -> Option<String> {
    let mut names = listed.lines().filter_map(|line| line.split(' ').next());
    let is_it = |name: &&str| name.strip_prefix(version).is_some_and(|rest| rest.starts_with(['-', '.']));
    names.find(is_it).map(str::to_owned)
}

/// Checks the library crates for wasm32, builds the package, and runs its tests.
fn package_of_wasm() -> Outcome {
    if !has_program("clang") {
        apt::install("clang");
    }
    let toolchain = match wasm::tools() {
        Ok(toolchain) => toolchain,
        Err(missing) => return Outcome::Skipped(missing.to_string()),
    };
    let checked = || {
        let arguments = check_arguments(&library_crates()?);
        wasm::cargo_for_wasm(&toolchain, &arguments.iter().map(String::as_str).collect::<Vec<_>>())?;
        wasm::build(&toolchain)?;
        wasm::test()
    };
    checked().into()
}

fn static_command() -> Outcome {
    match Toolchain::find(static_program::TARGET) {
        Ok(toolchain) => static_program::check(&toolchain).into(),
        Err(error) => Outcome::Skipped(error.to_string()),
    }
}

fn static_archive() -> Outcome {
    match Toolchain::find(static_program::TARGET) {
        Ok(_) => archive::check().into(),
        Err(error) => Outcome::Skipped(error.to_string()),
    }
}

/// Runs `cargo check` on crates for another target, without C code.
fn other_target(target: &str) -> Outcome {
    if !rustup(&["target", "list", "--installed"]).lines().any(|line| line == target) {
        return Outcome::Skipped(format!("`rustup target add {target}`"));
    }
    let check = |packages: Vec<String>| {
        let mut arguments = check_arguments(&packages);
        arguments.extend(["--target".to_owned(), target.to_owned()]);
        show(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), &[])
    };
    library_crates().and_then(check).into()
}

/// Returns the names of all published crates except the [native](NATIVE) ones.
fn library_crates() -> Result<Vec<String>> {
    let names = published(CORE)?.into_iter().map(|package| package.name);
    Ok(names.filter(|name| !NATIVE.contains(&name.as_str())).collect())
}

/// Returns the arguments of `cargo check` for crates without C code.
fn check_arguments(packages: &[String]) -> Vec<String> {
    let mut arguments: Vec<String> = ["check", "--no-default-features"].map(Into::into).to_vec();
    arguments.extend(packages.iter().flat_map(|package| ["--package".to_owned(), package.clone()]));
    let has_codecs =
        |package: &&String| *package == "tdb-filters" || check::CRATES_OF_CELLS.contains(&package.as_str());
    let with_codecs = packages.iter().filter(has_codecs);
    let features = with_codecs.flat_map(|package| PURE_CODECS.map(|codec| format!("{package}/{codec}")));
    arguments.extend(["--features".to_owned(), features.collect::<Vec<_>>().join(",")]);
    arguments
}

/// Runs the browser tests with a required Chromium. In the other tests, Chromium is optional.
fn browser() -> Outcome {
    if viewer::browser().is_none() {
        return Outcome::Skipped("`apt-get install chromium`".to_owned());
    }
    show(&["test", "--package", "tdb-report", "--test", "it", "browser"], &[("TDB_BROWSER", "required")]).into()
}

fn deny() -> Outcome {
    if !has_subcommand("deny") {
        return Outcome::Skipped("`cargo install cargo-deny`".to_owned());
    }
    // Each workspace has a `deny.toml` next to its manifest.
    let check = |arguments: &[&str]| {
        ["Cargo.toml", "integrations/Cargo.toml"].into_iter().try_for_each(|manifest| {
            let deny = ["deny", "--manifest-path", manifest, "--workspace", "check"];
            show(&[&deny, arguments].concat(), &[])
        })
    };
    if let Err(error) = check(&["licenses", "bans", "sources"]) {
        return Outcome::Failed(error.to_string());
    }
    // The advisory database is maintained elsewhere and must be downloaded.
    if show(&["deny", "fetch", "db"], &[]).is_err() {
        return Outcome::Skipped("advisories cannot be downloaded; licenses, bans and sources passed".to_owned());
    }
    check(&["--disable-fetch", "advisories"]).into()
}

fn semver() -> Outcome {
    if !has_subcommand("semver-checks") {
        return Outcome::Skipped("`cargo install cargo-semver-checks`".to_owned());
    }
    let mut git = Command::new("git");
    let tag = git.args(["describe", "--tags", "--abbrev=0", "--match", "v*"]).current_dir(workspace()).output();
    match tag.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()) {
        Ok(tag) if !tag.is_empty() => of(&["semver-checks", "--baseline-rev", &tag]),
        _ => Outcome::Skipped("no release tag (`v…`) to compare the crates with".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{STEPS, check_arguments, toolchain};

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<&str> = STEPS.iter().map(|step| step.name).collect();
        assert_eq!(names.len(), STEPS.len());
    }

    #[test]
    fn toolchain_is_found_by_version() {
        let listed = "stable-x86_64-unknown-linux-gnu (active, default)\n1.920.0-x86_64-unknown-linux-gnu\n\
                      1.92.1-x86_64-unknown-linux-gnu\n";
        assert_eq!(toolchain(listed, "1.92").as_deref(), Some("1.92.1-x86_64-unknown-linux-gnu"));
        assert_eq!(
            toolchain("1.92-x86_64-unknown-linux-gnu\n", "1.92").as_deref(),
            Some("1.92-x86_64-unknown-linux-gnu")
        );
        assert_eq!(toolchain(listed, "1.93"), None);
        assert_eq!(toolchain("", "1.92"), None);
    }

    #[test]
    fn other_targets_are_built_without_c_code() {
        let arguments = check_arguments(&["tdb-types", "tdb-filters"].map(str::to_owned));
        let expected = "check --no-default-features --package tdb-types --package tdb-filters --features \
                        tdb-filters/zlib,tdb-filters/lz4,tdb-filters/bzip2,tdb-filters/checksum,tdb-filters/aes,tdb-filters/webp";
        assert_eq!(arguments.join(" "), expected);
    }
}
