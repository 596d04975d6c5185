//! What neither the compiler nor the tests see: fixtures against their manifest, sizes of dependency trees, builds without
//! codecs, the examples of downstream crates.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A crate that others are meant to depend on alone, and the most packages from elsewhere that it may pull in, its
/// build-time macros aside.
const BUDGETS: [(&str, usize); 10] = [
    ("tdb-types", 8),
    ("tdb-storage", 4),
    ("tdb-filters", 25),
    ("tdb-rtree", 8),
    ("tdb-generic-tile", 25),
    ("tdb-schema", 25),
    ("tdb-metadata", 25),
    ("tdb-condition", 25),
    ("tdb-fragment", 25),
    ("tdb-array", 40),
];

/// What derive macros need while they run; none of it is in what users build.
const MACROS: [&str; 5] = ["thiserror-impl", "proc-macro2", "quote", "syn", "unicode-ident"];

/// Builds that leave something out.
const BUILDS: [&[&str]; 8] = [
    &["--package", "tdb-filters", "--no-default-features"],
    &["--package", "tdb-filters", "--no-default-features", "--features", "aes"],
    &["--package", "tdb-filters", "--no-default-features", "--features", "webp"],
    &["--package", "tdb-schema", "--no-default-features"],
    &["--package", "tdb-metadata", "--no-default-features"],
    &["--package", "tdb-condition", "--no-default-features"],
    &["--package", "tdb-fragment", "--no-default-features"],
    &["--package", "tdb-array", "--no-default-features"],
];

type Result<T = (), E = Box<dyn Error>> = std::result::Result<T, E>;

pub fn run() -> Result {
    dependencies()?;
    for build in BUILDS {
        println!("cargo check {}", build.join(" "));
        cargo(&workspace(), &[&["check", "--quiet"], build].concat())?;
    }
    without_features()?;
    examples()
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs cargo and gives what it prints.
fn cargo(folder: &Path, arguments: &[&str]) -> Result<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(arguments).current_dir(folder).output()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo {}: {}\n{message}", arguments.join(" "), output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
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

/// The command without encryption and images: what needs them is refused, and the error names what the build lacks.
fn without_features() -> Result {
    let target = workspace().join("target/without-features");
    let target = target.to_str().ok_or("a path that is not UTF-8")?;
    let build = ["build", "--quiet", "--package", "tdb-cli", "--no-default-features", "--target-dir", target];
    println!("cargo {}", build[..5].join(" "));
    cargo(&workspace(), &build)?;
    for (fixture, code, feature) in [
        ("v22-by-2.30.0-sparse-2d", 0, None),
        ("v22-by-2.30.0-sparse-encrypted", 4, Some("aes")),
        ("v22-by-2.30.0-dense-webp-lossless", 4, Some("webp")),
    ] {
        let mut command = Command::new(Path::new(target).join("debug/tdb"));
        command.arg("read").arg(workspace().join("fixtures").join(fixture).join("array"));
        command.env_remove("TDB_KEY_FILE").env_remove("TDB_KEY");
        if feature == Some("aes") {
            command.env("TDB_KEY", "3031323334353637383961626364656630313233343536373839414243444546");
        }
        let output = command.output()?;
        let message = String::from_utf8_lossy(&output.stderr);
        let named = feature.is_none_or(|feature| message.contains(&format!("enable the feature `{feature}`")));
        if output.status.code() != Some(code) || !named {
            return Err(format!("{fixture}, without features: {}\n{message}", output.status).into());
        }
    }
    Ok(())
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
        let array = workspace().join("fixtures").join(example.fixture).join("array").canonicalize()?;
        let files: Vec<String> = example.files.iter().map(|pattern| find(&array, pattern)).collect::<Result<_>>()?;
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
