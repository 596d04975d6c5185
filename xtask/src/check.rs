//! Checks that neither the compiler nor the tests do:
//!
//! - fixtures match their manifest
//! - every system accepts all file names
//! - files and modules do not import each other in a cycle
//! - crates and dependency trees stay below their size limits
//! - builds without codecs, the examples of downstream crates and the examples of pages work

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use tdb_testkit::fixtures::{self, Fixture};

use crate::Result;
use crate::cargo::{cargo, output, workspace};

mod circles;
mod files;
mod links;
mod paths;
mod prose;
mod sizes;
mod snippets;

/// Arguments of `cargo xtask check`.
#[derive(Default, clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    only: Option<Only>,
}

/// A check that can run alone.
#[derive(clap::Subcommand)]
enum Only {
    /// Measure doc comments, comments, messages and Markdown, and print the worst sentences
    Prose(prose::Arguments),
}

/// Crates for separate use, with the maximum number of external packages. Build-time macros do not
/// count.
const BUDGETS: [(&str, usize); 30] = [
    ("tdb-types", 8),
    ("tdb-storage", 4),
    ("tdb-filters", 25),
    ("tdb-rtree", 8),
    ("tdb-aggregate", 8),
    ("tdb-generic-tile", 25),
    ("tdb-schema", 25),
    ("tdb-metadata", 25),
    ("tdb-condition", 25),
    ("tdb-fragment", 25),
    ("tdb-cells", 20),
    ("tdb-snapshot", 40),
    ("tdb-query", 40),
    ("tdb-dense", 40),
    ("tdb-sparse", 40),
    ("tdb-read", 40),
    ("tdb-write", 40),
    ("tdb-group", 40),
    ("tdb-consolidate", 40),
    ("tdb-array", 40),
    ("tdb-exchange", 60),
    ("tdb-job", 45),
    ("tdb-maintain", 45),
    ("tdb-verify", 48),
    ("tdb-diff", 48),
    ("tdb-relocate", 48),
    ("tdb-migrate", 48),
    ("tdb-advise", 45),
    ("tdb-report", 48),
    ("tdb-print", 70),
];

/// Build-time dependencies of derive macros, which are not part of the built program.
const MACROS: [&str; 5] = ["thiserror-impl", "proc-macro2", "quote", "syn", "unicode-ident"];

/// The codecs. Each is a feature of `tdb-filters` and of the crates in [`CRATES_OF_CELLS`].
const CODECS: [&str; 8] = ["zstd", "zlib", "lz4", "bzip2", "checksum", "aes", "webp", "webp-lossy"];

/// Crates that read and write cells. They forward each codec feature by name.
pub const CRATES_OF_CELLS: [&str; 12] = [
    "tdb-array",
    "tdb-exchange",
    "tdb-job",
    "tdb-maintain",
    "tdb-verify",
    "tdb-diff",
    "tdb-relocate",
    "tdb-migrate",
    "tdb-advise",
    "tdb-report",
    "tdb-library",
    "tdb-command",
];

/// Crates that are also built without any codec.
const WITHOUT_CODECS: [&str; 14] = [
    "tdb-generic-tile",
    "tdb-schema",
    "tdb-metadata",
    "tdb-condition",
    "tdb-fragment",
    "tdb-snapshot",
    "tdb-array",
    "tdb-job",
    "tdb-maintain",
    "tdb-verify",
    "tdb-diff",
    "tdb-relocate",
    "tdb-migrate",
    "tdb-advise",
];

/// Packages that build C code or search for C libraries.
const BUILD_C: [&str; 4] = ["cc", "cmake", "pkg-config", "bindgen"];

/// Runs the checks that need no compilation.
pub fn run(arguments: &Arguments) -> Result {
    if let Some(Only::Prose(arguments)) = &arguments.only {
        return prose::run(&workspace(), arguments);
    }
    crate::fixtures::check()?;
    paths::check(&workspace())?;
    circles::check(&workspace())?;
    sizes::check(&workspace())?;
    links::check(&workspace())?;
    prose::run(&workspace(), &prose::Arguments::default())?;
    dependencies()?;
    pure_rust()
}

/// Runs builds with other features than the tests, and builds of downstream crates.
pub fn features() -> Result {
    builds()?;
    without_features()?;
    examples()?;
    snippets::compile()
}

fn dependencies() -> Result {
    println!("{:<18} {:>9} {:>6}", "crate", "packages", "limit");
    let mut over = Vec::new();
    for (package, limit) in BUDGETS {
        let names = packages_of(package, "normal", &[])?;
        let count = names.iter().filter(|name| !name.starts_with("tdb") && !MACROS.contains(&name.as_str())).count();
        println!("{package:<18} {count:>9} {limit:>6}");
        if count > limit {
            over.push(package);
        }
    }
    if over.is_empty() { Ok(()) } else { Err(format!("too many packages: {}", over.join(", ")).into()) }
}

/// Returns the names of the packages in a dependency tree.
fn packages_of(package: &str, edges: &str, features: &[&str]) -> Result<BTreeSet<String>> {
    let arguments = ["tree", "--package", package, "--edges", edges, "--prefix", "none"];
    let tree = cargo(&workspace(), &[&arguments, features].concat())?;
    let names = tree.lines().filter_map(|line| line.split(' ').next()).filter(|name| !name.is_empty());
    Ok(names.map(str::to_owned).collect())
}

/// Builds without some codecs, which must not have warnings. Codec features change code only in
/// `tdb-filters`.
fn builds() -> Result {
    let each_alone = CODECS.into_iter().map(str::to_owned);
    let each_left_out = CODECS.into_iter().map(all_but);
    for features in std::iter::once(String::new()).chain(each_alone).chain(each_left_out) {
        check(&["tdb-filters"], &features)?;
    }
    check(&WITHOUT_CODECS, "")?;
    // Tests this crate with its own features only. Builds of the command and the workspace enable
    // all features.
    let alone = ["test", "--quiet", "--package", "tdb-filters", "--test", "it", "images"];
    println!("cargo {}", alone.join(" "));
    cargo(&workspace(), &alone).map(drop)
}

/// Returns all codecs except one. Without `webp`, also leaves out the dependent codec `webp-lossy`.
fn all_but(codec: &str) -> String {
    let others: Vec<&str> = CODECS.into_iter().filter(|other| !other.starts_with(codec)).collect();
    others.join(",")
}

/// Checks several packages in one build with shared dependencies. None of the packages may enable a
/// feature that another package must lack.
fn check(packages: &[&str], features: &str) -> Result {
    let mut arguments = vec!["check", "--no-default-features", "--features", features];
    arguments.extend(packages.iter().flat_map(|package| ["--package", package]));
    without_warnings(&arguments)
}

fn without_warnings(arguments: &[&str]) -> Result {
    println!("cargo {}", arguments.join(" "));
    let warnings = output(&workspace(), &[&["--quiet"], arguments].concat())?.1;
    if warnings.is_empty() { Ok(()) } else { Err(format!("cargo {}:\n{warnings}", arguments.join(" ")).into()) }
}

/// Checks that builds without `zstd` need no C compiler, and that the default features include
/// `zstd`.
fn pure_rust() -> Result {
    for package in CRATES_OF_CELLS {
        let builders = |features: &[&str]| -> Result<Vec<&str>> {
            let names = packages_of(package, "normal,build", features)?;
            Ok(BUILD_C.into_iter().filter(|name| names.contains(*name)).collect())
        };
        let without = builders(&["--no-default-features", "--features", &all_but("zstd")])?;
        let with = builders(&[])?;
        println!("{package}: C by {with:?}, without zstd by {without:?}");
        if !without.is_empty() || with.is_empty() {
            return Err(format!("{package}: depends on C code without zstd, or lacks zstd by default").into());
        }
    }
    Ok(())
}

/// Builds the command without some codecs. Reads with a missing codec must fail with an error that
/// names the feature.
///
/// The build uses the target folder of the tests, which have the same dependencies.
fn without_features() -> Result {
    for (features, expected) in [
        ("zlib,zstd", [("sparse-2d", None), ("sparse-encrypted", Some("aes")), ("dense-webp-lossless", Some("webp"))]),
        ("", [("sparse-2d", Some("zlib")), ("dense-1d", Some("zlib")), ("dense-webp-lossless", Some("zlib"))]),
    ] {
        let build = ["build", "--package", "tdb-command", "--no-default-features", "--features", features];
        without_warnings(&build)?;
        // The command is built already, and cargo prints its path.
        let told = cargo(&workspace(), &[&build, &["--quiet", "--message-format", "json"][..]].concat())?;
        let command = executable(&told).ok_or("cargo built no command")?;
        let read = |(fixture, missing)| read(&command, &format!("v22-by-2.30.0-{fixture}"), missing);
        let result = expected.into_iter().try_for_each(read);
        // Removes the incomplete command to prevent accidental use. The next build recreates the
        // command.
        std::fs::remove_file(&command)?;
        result?;
    }
    Ok(())
}

/// Returns the path of the program that cargo has built, from cargo's messages.
fn executable(messages: &str) -> Option<PathBuf> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    messages.filter_map(|message| Some(PathBuf::from(message.get("executable")?.as_str()?))).next_back()
}

/// Reads a fixture. If `missing` names a feature, the read must fail with an error that names the
/// feature.
fn read(command: &Path, fixture: &str, missing: Option<&str>) -> Result {
    let mut command = Command::new(command);
    let kept = fixtures::named(fixture);
    command.arg("read").arg(kept.array_dir());
    command.env_remove("TDB_KEY_FILE").env_remove("TDB_KEY");
    if fixture.ends_with("encrypted") {
        command.env("TDB_KEY", "3031323334353637383961626364656630313233343536373839414243444546");
    }
    let output = command.output()?;
    let message = String::from_utf8_lossy(&output.stderr);
    let named = missing.is_none_or(|feature| message.contains(&format!("enable the feature `{feature}`")));
    let code = if missing.is_some() { 4 } else { 0 };
    if output.status.code() == Some(code) && named {
        return Ok(());
    }
    Err(format!("{fixture}, without {missing:?}: {}\n{message}", output.status).into())
}

/// An example of a downstream crate, and its input files from a fixture.
struct Example {
    name: &'static str,
    fixture: &'static str,
    /// Paths below the fixture's array, where `*` matches one path component.
    files: &'static [&'static str],
}

const EXAMPLES: [Example; 2] = [
    Example { name: "decode-tile", fixture: "v22-by-2.30.0-sparse-1d", files: &["__fragments/*/d0.tdb"] },
    Example {
        name: "tile-offsets",
        fixture: "v22-by-2.30.0-sparse-2d",
        files: &["__schema/*", "__fragments/*/__fragment_metadata.tdb"],
    },
];

fn examples() -> Result {
    // All examples build the same crates.
    let target = workspace().join("target/examples");
    let target = target.to_str().ok_or("the workspace's path is not UTF-8")?;
    EXAMPLES.iter().try_for_each(|example| {
        let folder = workspace().join("docs/examples").join(example.name);
        run_example(example.name, &folder, &["--target-dir", target])
    })
}

/// Builds an example in a folder, runs it, and compares the output with the expected output.
pub fn run_example(name: &str, folder: &Path, options: &[&str]) -> Result {
    println!("example {name}");
    let example = EXAMPLES.iter().find(|example| example.name == name).ok_or("no such example")?;
    let fixture = fixtures::named(example.fixture);
    let files = example.files.iter().map(|pattern| find(&fixture, pattern));
    let files: Vec<String> = files.collect::<Result<_>>()?;
    let mut arguments = [&["run", "--quiet"], options, &["--"]].concat();
    arguments.extend(files.iter().map(String::as_str));
    let printed = cargo(folder, &arguments)?;
    let expected = std::fs::read_to_string(workspace().join("docs/examples").join(name).join("expected.txt"))?;
    if printed == expected { Ok(()) } else { Err(format!("{name} prints\n{printed}instead of\n{expected}").into()) }
}

/// Returns the path of the first file of the array that matches the pattern. A component `*`
/// matches any name.
fn find(fixture: &Fixture, pattern: &str) -> Result<String> {
    let wanted: Vec<&str> = pattern.split('/').collect();
    let is_match = |path: &&str| {
        let names: Vec<&str> = path.split('/').collect();
        names.len() == wanted.len() && names.iter().zip(&wanted).all(|(name, wanted)| *wanted == "*" || name == wanted)
    };
    let path = fixture.array_files().find(is_match).ok_or_else(|| format!("no file {pattern}"))?;
    Ok(fixture.array_dir().join(path).to_str().ok_or("the fixture's path is not UTF-8")?.to_owned())
}
