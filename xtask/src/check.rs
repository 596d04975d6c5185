//! What neither the compiler nor the tests see: fixtures against their manifest, names of files that some system refuses,
//! files that import from each other in a circle, sizes of crates and of dependency trees; builds without codecs and the examples of downstream
//! crates.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use tdb_testkit::fixtures;

use crate::Result;
use crate::cargo::{cargo, output, workspace};

mod circles;
mod links;
mod paths;
mod prose;
mod sizes;

/// Which check.
#[derive(Default, clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    only: Option<Only>,
}

/// A check that runs alone.
#[derive(clap::Subcommand)]
enum Only {
    /// Measure doc comments, comments, messages and Markdown, and print the worst sentences
    Prose(prose::Arguments),
}

/// A crate that others are meant to depend on alone, and the most packages from elsewhere that it may pull in, its
/// build-time macros aside.
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

/// What derive macros need while they run; none of it is in what users build.
const MACROS: [&str; 5] = ["thiserror-impl", "proc-macro2", "quote", "syn", "unicode-ident"];

/// The codecs, each a feature of the crates of [cells](CRATES_OF_CELLS), and of `tdb-filters`.
const CODECS: [&str; 8] = ["zstd", "zlib", "lz4", "bzip2", "checksum", "aes", "webp", "webp-lossy"];

/// Crates that read and write cells, and hand on each codec by name.
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
    "tdb",
    "tdb-cli",
];

/// Crates that are built without any codec, too.
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

/// Packages that build C code, or look for it.
const BUILD_C: [&str; 4] = ["cc", "cmake", "pkg-config", "bindgen"];

/// What is seen without compiling anything.
pub fn run(arguments: &Arguments) -> Result {
    if let Some(Only::Prose(arguments)) = &arguments.only {
        return prose::run(&workspace(), arguments);
    }
    crate::fixtures::check()?;
    paths::check(&workspace())?;
    circles::check(&workspace())?;
    sizes::check(&workspace())?;
    links::check(&workspace())?;
    dependencies()?;
    pure_rust()
}

/// Builds with other features than the tests have, and by other crates.
pub fn features() -> Result {
    builds()?;
    without_features()?;
    examples()
}

fn dependencies() -> Result {
    println!("{:<18} {:>9} {:>6}", "crate", "packages", "limit");
    let mut over = Vec::new();
    for (package, limit) in BUDGETS {
        let tree = cargo(&workspace(), &["tree", "--package", package, "--edges", "normal", "--prefix", "none"])?;
        let names: BTreeSet<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
        let foreign =
            names.iter().filter(|name| !name.starts_with("tdb") && !MACROS.contains(name) && !name.is_empty());
        let count = foreign.count();
        println!("{package:<18} {count:>9} {limit:>6}");
        if count > limit {
            over.push(package);
        }
    }
    if over.is_empty() { Ok(()) } else { Err(format!("too many packages: {}", over.join(", ")).into()) }
}

/// Builds that leave codecs out, none of which may have a warning. What they switch on and off is all in `tdb-filters`.
fn builds() -> Result {
    let each_alone = CODECS.into_iter().map(str::to_owned);
    let each_left_out = CODECS.into_iter().map(all_but);
    for features in std::iter::once(String::new()).chain(each_alone).chain(each_left_out) {
        check(&["tdb-filters"], &features)?;
    }
    check(&WITHOUT_CODECS, "")?;
    // As tests, the crate has what it needs of itself; the command's, and the workspace's, have all of it.
    let alone = ["test", "--quiet", "--package", "tdb-filters", "--test", "it", "images"];
    println!("cargo {}", alone.join(" "));
    cargo(&workspace(), &alone).map(drop)
}

/// Without `webp`, without the `webp-lossy` that needs it.
fn all_but(codec: &str) -> String {
    let others: Vec<&str> = CODECS.into_iter().filter(|other| !other.starts_with(codec)).collect();
    others.join(",")
}

/// Packages that are looked at together share what they have in common, and none of them switches on what another lacks.
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

/// Without `zstd` no C compiler is needed, and with the default features nothing is missing.
fn pure_rust() -> Result {
    for package in CRATES_OF_CELLS {
        let tree = |features: &[&str]| {
            let arguments = ["tree", "--package", package, "--edges", "normal,build", "--prefix", "none"];
            cargo(&workspace(), &[&arguments, features].concat())
        };
        let builders = |tree: &str| {
            let names: BTreeSet<String> =
                tree.lines().filter_map(|line| Some(line.split(' ').next()?.to_owned())).collect();
            BUILD_C.into_iter().filter(|name| names.contains(*name)).collect::<Vec<_>>()
        };
        let without = builders(&tree(&["--no-default-features", "--features", &all_but("zstd")])?);
        let with = builders(&tree(&[])?);
        println!("{package}: C by {with:?}, without zstd by {without:?}");
        if !without.is_empty() || with.is_empty() {
            return Err(format!("{package}: C code that can't be left out, or zstd that is not there").into());
        }
    }
    Ok(())
}

/// The command without some codecs: what needs them is refused, and the error names what the build lacks.
///
/// It is built where the tests are, which need the same dependencies.
fn without_features() -> Result {
    for (features, expected) in [
        ("zlib,zstd", [("sparse-2d", None), ("sparse-encrypted", Some("aes")), ("dense-webp-lossless", Some("webp"))]),
        ("", [("sparse-2d", Some("zlib")), ("dense-1d", Some("zlib")), ("dense-webp-lossless", Some("zlib"))]),
    ] {
        let build = ["build", "--package", "tdb-cli", "--no-default-features", "--features", features];
        without_warnings(&build)?;
        // It is built already; cargo says where.
        let told = cargo(&workspace(), &[&build, &["--quiet", "--message-format", "json"][..]].concat())?;
        let command = executable(&told).ok_or("cargo built no command")?;
        let read = |(fixture, missing)| read(&command, &format!("v22-by-2.30.0-{fixture}"), missing);
        let result = expected.into_iter().try_for_each(read);
        // Nobody is to take it for the whole command, which the next build puts there again.
        std::fs::remove_file(&command)?;
        result?;
    }
    Ok(())
}

/// The program that cargo has built, by its messages.
fn executable(messages: &str) -> Option<PathBuf> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    messages.filter_map(|message| Some(PathBuf::from(message.get("executable")?.as_str()?))).next_back()
}

/// Reads a fixture, which fails for the want of that feature.
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

/// An example of a downstream crate, and the files of a fixture that it is run on.
struct Example {
    name: &'static str,
    fixture: &'static str,
    /// Below the fixture's array; of a folder's name the beginning, for the rest is random.
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
    for example in &EXAMPLES {
        println!("example {}", example.name);
        let folder = workspace().join("docs/examples").join(example.name);
        let fixture = fixtures::named(example.fixture);
        let files = example.files.iter().map(|pattern| find(fixture.array_dir(), pattern));
        let files: Vec<String> = files.collect::<Result<_>>()?;
        // Both build the same crates.
        let target = workspace().join("target/examples");
        let target = target.to_str().ok_or("a path that is not UTF-8")?;
        let mut arguments = vec!["run", "--quiet", "--target-dir", target, "--"];
        arguments.extend(files.iter().map(String::as_str));
        let printed = cargo(&folder, &arguments)?;
        let expected = std::fs::read_to_string(folder.join("expected.txt"))?;
        if printed != expected {
            return Err(format!("example {} prints\n{printed}instead of\n{expected}", example.name).into());
        }
    }
    Ok(())
}

/// The first path below `folder` that the pattern describes, in which a component `*` stands for any name.
fn find(folder: &Path, pattern: &str) -> Result<String> {
    let mut path = folder.to_path_buf();
    for component in pattern.split('/') {
        if component != "*" {
            path.push(component);
            continue;
        }
        let names =
            std::fs::read_dir(&path)?.map(|entry| Ok(entry?.file_name())).collect::<std::io::Result<Vec<_>>>()?;
        let first = names.into_iter().filter(|name| name != "__enumerations").min();
        path.push(first.ok_or_else(|| format!("nothing in {}", path.display()))?);
    }
    Ok(path.to_str().ok_or("a path that is not UTF-8")?.to_owned())
}
