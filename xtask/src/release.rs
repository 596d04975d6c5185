//! The release of the published crates: packages the crates, and builds programs from the packages
//! instead of the repository.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::cargo::{cargo, run as run_program, show, workspace};
use crate::check;
use crate::published::{CORE, INTEGRATIONS, Package, published};

/// The package with the version of the release.
const LIBRARY: &str = "tdb-library";

/// The array that the programs read.
const ARRAY: &str = "fixtures/v22-by-2.30.0-sparse-2d/array";

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Package all crates, and build and run programs from the packages
    #[arg(long)]
    dry_run: bool,
}

/// Runs `cargo xtask release`. Without `--dry-run`, prints the commands that publish the crates.
pub fn run(arguments: &Arguments) -> Result {
    if arguments.dry_run {
        return dry_run();
    }
    for manifest in [CORE, INTEGRATIONS] {
        for Package { name, .. } in in_order(published(manifest)?)? {
            println!("cargo publish --manifest-path {manifest} --package {name}");
        }
    }
    Err("this task publishes nothing; to publish the crates, run these commands in this order".into())
}

/// Packages all published crates, and builds and runs programs from the packages alone. Works
/// offline, so that no crate of another project replaces a package.
pub fn dry_run() -> Result {
    let folder = workspace().join("target/dry-run");
    // All files of a package have the same time, so cargo would not notice that a file has changed.
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(folder.join("packages"))?;
    let [core, integrations] = [CORE, INTEGRATIONS].map(|manifest| published(manifest).and_then(in_order));
    let (core, integrations) = (core?, integrations?);
    let package = |name: &str| core.iter().find(|package| package.name == name).ok_or(format!("no package {name}"));
    let version = &package(LIBRARY)?.version;

    println!("== changes of {version}");
    let changelog = fs::read_to_string(workspace().join("CHANGELOG.md"))?;
    println!("{}", section(&changelog, version).ok_or("CHANGELOG.md: no section of the version, and none unreleased")?);

    println!("\n== packages, in the order of publication");
    make_packages(CORE, &core, &folder)?;
    make_packages(INTEGRATIONS, &integrations, &folder)?;

    println!("\n== programs from the packages");
    let filters = package("tdb-filters")?;
    add_program(&folder, "decode-tile", "docs/examples/decode-tile/src/main.rs", filters)?;
    add_program(&folder, "read", "crates/tdb/examples/read.rs", package(LIBRARY)?)?;
    fs::write(folder.join("Cargo.toml"), manifest(core.iter().chain(&integrations))?)?;
    // The third-party crates of this lock file have been downloaded.
    fs::copy(workspace().join("integrations/Cargo.lock"), folder.join("Cargo.lock"))?;
    let offline = |arguments: &[&str]| {
        println!("cargo {}", arguments.join(" "));
        cargo(&folder, &[&["--quiet", "--offline"], arguments].concat())
    };
    check::run_example("decode-tile", &folder.join("programs/decode-tile"), &["--offline"])?;
    let array = workspace().join(ARRAY);
    let array = array.to_str().ok_or("the workspace's path is not UTF-8")?;
    print!("{}", offline(&["run", "--package", "read", "--", array])?);

    let command = format!("packages/{}", package("tdb-command")?.stem());
    // Builds without optimization, which has no influence on the contents of packages.
    offline(&["install", "--debug", "--locked", "--root", "installed", "--path", &command])?;
    let mut tdb = Command::new(folder.join("installed/bin/tdb"));
    run_program(tdb.args(["read", array, "--limit", "8"]), &[])?;

    let names = integrations.iter().flat_map(|package| ["--package", &package.name]);
    offline(&[vec!["check"], names.collect()].concat())?;
    fs::remove_dir_all(&folder)?;
    println!("\n{} crates are ready to publish", core.len() + integrations.len());
    Ok(())
}

/// Sorts crates so that dependencies precede dependents. Ignores dev-dependencies, because packages
/// omit them.
fn in_order(mut packages: Vec<Package>) -> Result<Vec<Package>> {
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    let mut ordered = Vec::new();
    while !packages.is_empty() {
        let waiting: BTreeSet<String> = packages.iter().map(|package| package.name.clone()).collect();
        let (ready, others): (Vec<_>, Vec<_>) = packages.into_iter().partition(|package| {
            let mut dependencies = package.dependencies.iter().filter(|dependency| !dependency.is_dev());
            dependencies.all(|dependency| !waiting.contains(&dependency.name))
        });
        if ready.is_empty() {
            return Err(format!("cycle of dependencies: {waiting:?}").into());
        }
        ordered.extend(ready);
        packages = others;
    }
    Ok(ordered)
}

/// Returns the section of a version in a changelog, or else the section of unreleased changes.
fn section<'a>(changelog: &'a str, version: &str) -> Option<&'a str> {
    let sections = || changelog.split("\n## ").skip(1);
    let titled = |title: &str| sections().find(|section| section.split_whitespace().next() == Some(title));
    titled(version).or_else(|| titled("Unreleased")).map(str::trim_end)
}

/// Packages crates of a workspace, unpacks the packages, and prints their sizes.
fn make_packages(manifest: &str, packages: &[Package], folder: &Path) -> Result {
    let target = folder.join("target");
    let target = target.to_str().ok_or("the workspace's path is not UTF-8")?;
    // Lock files of packages in `integrations` would need the core crates on a registry.
    let mut arguments = vec!["package", "--quiet", "--no-verify", "--exclude-lockfile", "--offline", "--allow-dirty"];
    arguments.extend(["--manifest-path", manifest, "--target-dir", target]);
    arguments.extend(packages.iter().flat_map(|package| ["--package", &package.name]));
    show(&arguments, &[])?;
    for package in packages {
        let file = folder.join(format!("target/package/{}.crate", package.stem()));
        println!("{:<18} {:<8} {:>4} KiB", package.name, package.version, fs::metadata(&file)?.len().div_ceil(1024));
        run_program(Command::new("tar").arg("-xzf").arg(file).arg("-C").arg(folder.join("packages")), &[])?;
    }
    Ok(())
}

/// Adds a program that depends on one package, with source code from the repository.
fn add_program(folder: &Path, name: &str, source: &str, package: &Package) -> Result {
    let folder = folder.join("programs").join(name);
    fs::create_dir_all(folder.join("src"))?;
    fs::copy(workspace().join(source), folder.join("src/main.rs"))?;
    let Package { name: dependency, version, .. } = package;
    let manifest =
        format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n\n[dependencies]\n{dependency} = \"{version}\"\n");
    Ok(fs::write(folder.join("Cargo.toml"), manifest)?)
}

/// Returns the manifest of a workspace of the packages and the programs. Dependencies on the
/// registry refer to the packages.
fn manifest<'a>(packages: impl Iterator<Item = &'a Package>) -> Result<String> {
    let mut manifest = String::from("[workspace]\nresolver = \"3\"\nmembers = [\"packages/*\", \"programs/*\"]\n\n");
    manifest.push_str("[patch.crates-io]\n");
    for package in packages {
        writeln!(manifest, "{} = {{ path = \"packages/{}\" }}", package.name, package.stem())?;
    }
    Ok(manifest)
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::{Package, in_order, section};

    /// Returns a package with the dependencies in the format of `cargo metadata`.
    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Package {
        let dependencies = dependencies.iter().map(|(name, kind)| json!({ "name": name, "kind": kind }));
        let dependencies: Vec<_> = dependencies.collect();
        let mut package = json!({ "name": name, "version": "1.2.3", "publish": null, "dependencies": dependencies });
        package["manifest_path"] = json!("Cargo.toml");
        package["targets"] = json!([]);
        from_value(package).unwrap()
    }

    #[test]
    fn dependencies_precede_dependents() {
        let packages = vec![
            package("a", &[("d", None), ("other", None)]),
            package("b", &[("a", Some("build"))]),
            // A cycle through a dev-dependency does not affect the order.
            package("d", &[("b", Some("dev"))]),
            package("c", &[]),
        ];
        let names: Vec<String> = in_order(packages).unwrap().into_iter().map(|package| package.name).collect();
        assert_eq!(names, ["c", "d", "a", "b"]);
        in_order(vec![package("a", &[("b", None)]), package("b", &[("a", None)])]).expect_err("a cycle");
    }

    #[test]
    fn version_precedes_unreleased_changes() {
        let changelog =
            "# Changelog\n\n## Unreleased\n\nnew\n\n### Added\n\n## 1.2.3 (2026-01-02)\n\nold\n\n## 1.2.30\n";
        assert_eq!(section(changelog, "1.2.3"), Some("1.2.3 (2026-01-02)\n\nold"));
        assert_eq!(section(changelog, "1.2"), Some("Unreleased\n\nnew\n\n### Added"));
        assert_eq!(section("# Changelog\n\n## 1.2.30\n", "1.2.3"), None);
    }
}
