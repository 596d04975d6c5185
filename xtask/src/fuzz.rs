//! The fuzz targets of all crates in both workspaces. Each parsing crate has a folder `fuzz` with a
//! separate workspace.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::Result;
use crate::cargo::{cargo, has_subcommand, rustup, show, show_with, workspace};

/// The toolchain that cargo-fuzz requires.
const TOOLCHAIN: &str = "nightly";
/// Folders of crates, and the lockfiles of their workspaces.
const PLACES: [(&str, &str); 2] = [("crates", "Cargo.lock"), ("integrations/crates", "integrations/Cargo.lock")];
/// How to install the required tools.
const ADVICE: &str = "`rustup toolchain install nightly` and `cargo install cargo-fuzz`";

/// Arguments of `cargo xtask fuzz`. By default builds and runs all targets.
#[derive(clap::Args)]
pub struct Arguments {
    /// Target to run: NAME, CRATE/NAME if the name is ambiguous, or CRATE for all of its targets
    target: Option<String>,
    /// Duration of each target in seconds
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// List the targets
    #[arg(long, conflicts_with_all = ["check", "seconds"])]
    list: bool,
    /// Check the targets with the default toolchain, without running them
    #[arg(long, conflicts_with = "seconds")]
    check: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    /// The tested crate.
    package: String,
    name: String,
}

/// Runs `cargo xtask fuzz`.
pub fn run(arguments: &Arguments) -> Result {
    let targets = chosen(&all(&workspace())?, arguments.target.as_deref())?;
    if arguments.list {
        targets.iter().for_each(|target| println!("{}/{}", target.package, target.name));
        return Ok(());
    }
    let mut packages: Vec<&str> = targets.iter().map(|target| target.package.as_str()).collect();
    packages.dedup();
    if arguments.check {
        return packages.into_iter().try_for_each(check);
    }
    if let Some(missing) = missing() {
        return Err(format!("fuzzing needs {missing}: {ADVICE}").into());
    }
    packages.into_iter().try_for_each(build)?;
    targets.iter().try_for_each(|target| fuzz(target, arguments.seconds))
}

/// Checks the targets of all crates with the compiler.
pub fn check_all() -> Result {
    run(&Arguments { target: None, seconds: 0, list: false, check: true })
}

/// Returns the missing tool, if any.
fn missing() -> Option<&'static str> {
    match rustup(&["toolchain", "list"]).lines().any(|line| line.starts_with(TOOLCHAIN)) {
        false => Some("the nightly toolchain"),
        true if !has_subcommand("fuzz") => Some("cargo-fuzz"),
        true => None,
    }
}

/// Returns the sorted targets of all crates.
fn all(root: &Path) -> Result<Vec<Target>> {
    let mut targets = Vec::new();
    let mut packages: Vec<PathBuf> = Vec::new();
    for (place, _) in PLACES {
        let entries = fs::read_dir(root.join(place))?.map(|entry| Ok(entry?.path()));
        packages.extend(entries.collect::<std::io::Result<Vec<_>>>()?);
    }
    packages.sort();
    for package in packages {
        if !package.join("fuzz/Cargo.toml").exists() {
            continue;
        }
        let described = cargo(&package.join("fuzz"), &["metadata", "--no-deps", "--format-version", "1"])?;
        let name = package.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let names = names(&described)?;
        targets.extend(names.into_iter().map(|target| Target { package: name.clone(), name: target }));
    }
    Ok(targets)
}

/// Returns the sorted names of the programs in cargo's metadata.
fn names(described: &str) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Described {
        packages: Vec<Package>,
    }
    #[derive(Deserialize)]
    struct Package {
        targets: Vec<Program>,
    }
    #[derive(Deserialize)]
    struct Program {
        name: String,
        kind: Vec<String>,
    }
    let described: Described = serde_json::from_str(described)?;
    let programs = described.packages.into_iter().flat_map(|package| package.targets);
    let mut names: Vec<_> = programs.filter(|program| program.kind == ["bin"]).map(|program| program.name).collect();
    names.sort();
    Ok(names)
}

/// Returns the targets that an argument selects.
fn chosen(all: &[Target], word: Option<&str>) -> Result<Vec<Target>> {
    let Some(word) = word else { return Ok(all.to_vec()) };
    let of_crate: Vec<_> = all.iter().filter(|target| target.package == word).cloned().collect();
    if !of_crate.is_empty() {
        return Ok(of_crate);
    }
    let is_meant = |target: &&Target| match word.split_once('/') {
        Some((package, name)) => target.package == package && target.name == name,
        None => target.name == word,
    };
    let found: Vec<_> = all.iter().filter(is_meant).cloned().collect();
    match found.len() {
        1 => Ok(found),
        0 => Err(format!("no fuzz target or crate {word:?}; `cargo xtask fuzz --list` shows them").into()),
        _ => {
            let names: Vec<_> = found.iter().map(|target| format!("{}/{}", target.package, target.name)).collect();
            Err(format!("several fuzz targets have the name {word:?}: {}", names.join(", ")).into())
        }
    }
}

/// Returns the folder of a crate's fuzz targets, and the lockfile of its workspace.
fn found(package: &str) -> (PathBuf, PathBuf) {
    let all = PLACES.map(|(place, lock)| (workspace().join(place).join(package).join("fuzz"), workspace().join(lock)));
    let [first, second] = all;
    if first.0.exists() { first } else { second }
}

fn folder(package: &str) -> PathBuf {
    found(package).0
}

/// Converts a path to an argument.
fn text(path: &Path) -> Result<&str> {
    Ok(path.to_str().ok_or("the path is not UTF-8")?)
}

/// Copies the workspace's lockfile to get the same versions of dependencies. The copy is not
/// committed.
fn lock(package: &str) -> Result {
    let (folder, of_workspace) = found(package);
    let lock = folder.join("Cargo.lock");
    if !lock.exists() {
        fs::copy(of_workspace, lock)?;
    }
    Ok(())
}

fn check(package: &str) -> Result {
    lock(package)?;
    println!("fuzz targets of {package}");
    let (manifest, target) = (folder(package).join("Cargo.toml"), workspace().join("target/fuzz-check"));
    // Nothing is linked. This avoids the build of libFuzzer, which takes longer than the rest.
    let no_fuzzer = ("CUSTOM_LIBFUZZER_PATH", "target/fuzz-check/libnone.a");
    show(&["check", "--quiet", "--manifest-path", text(&manifest)?, "--target-dir", text(&target)?], &[no_fuzzer])
}

fn build(package: &str) -> Result {
    lock(package)?;
    show_with(TOOLCHAIN, &["fuzz", "build", "--fuzz-dir", text(&folder(package))?], &[])
}

/// Runs a target. New inputs are stored below `target`, separately from the committed corpus.
fn fuzz(target: &Target, seconds: u64) -> Result {
    let folder = folder(&target.package);
    let found = workspace().join("target/fuzz-corpus").join(&target.package).join(&target.name);
    fs::create_dir_all(&found)?;
    println!("{}/{}, for {seconds} seconds", target.package, target.name);
    let limit = format!("-max_total_time={seconds}");
    let mut arguments = vec!["fuzz", "run", "--fuzz-dir", text(&folder)?, &target.name, text(&found)?];
    let kept = folder.join("corpus").join(&target.name);
    if kept.is_dir() {
        arguments.push(text(&kept)?);
    }
    arguments.extend(["--", &limit]);
    show_with(TOOLCHAIN, &arguments, &[])
}

#[cfg(test)]
mod tests {
    use super::{Target, all, chosen, names};
    use crate::cargo::workspace;

    fn target(package: &str, name: &str) -> Target {
        Target { package: package.to_owned(), name: name.to_owned() }
    }

    #[test]
    fn argument_selects_targets() {
        let all = [target("tdb-a", "schema"), target("tdb-a", "tile"), target("tdb-b", "schema")];
        assert_eq!(chosen(&all, None).expect("all"), all);
        assert_eq!(chosen(&all, Some("tile")).expect("one"), all[1..2]);
        assert_eq!(chosen(&all, Some("tdb-a")).expect("the targets of a crate"), all[..2]);
        assert_eq!(chosen(&all, Some("tdb-b/schema")).expect("one"), all[2..]);
        let error = chosen(&all, Some("schema")).expect_err("an ambiguous name");
        assert_eq!(error.to_string(), "several fuzz targets have the name \"schema\": tdb-a/schema, tdb-b/schema");
        chosen(&all, Some("tdb-b/tile")).expect_err("an unknown target");
    }

    #[test]
    fn programs_are_the_targets() {
        let described = r#"{"packages":[{"targets":[{"name":"x_fuzz","kind":["lib"]},{"name":"b","kind":["bin"]},
            {"name":"a","kind":["bin"]}]}]}"#;
        assert_eq!(names(described).expect("a description"), ["a", "b"]);
    }

    #[test]
    fn each_folder_of_fuzz_targets_has_some() {
        let targets = all(&workspace()).expect("cargo describes them");
        let has = |package: &str| targets.iter().any(|target| target.package == package);
        let places = super::PLACES.map(|(place, _)| std::fs::read_dir(workspace().join(place)).expect("crates"));
        let with_fuzz =
            places.into_iter().flatten().flatten().map(|entry| entry.path()).filter(|path| path.join("fuzz").is_dir());
        for path in with_fuzz {
            assert!(has(&path.file_name().expect("a name").to_string_lossy()), "{}", path.display());
        }
        assert!(!targets.is_empty());
    }
}
