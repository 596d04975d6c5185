//! Tests of the metadata and contents of published packages.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{CORE, INTEGRATIONS, published};
use crate::cargo::{cargo, workspace};

/// The crates that are not published: helpers for tests, comparisons and benchmarks, and the native
/// part of the package for browsers.
const UNPUBLISHED: [&str; 6] =
    ["tdb-sql-speed", "tdb-store-conformance", "tdb-store-speed", "tdb-store-testkit", "tdb-testkit", "tdb-wasm"];

/// Returns the manifests of the published crates, as printed by `cargo metadata`.
fn manifests() -> Vec<Value> {
    let of_workspace = |manifest| {
        let arguments = ["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path", manifest];
        let metadata: Value = serde_json::from_str(&cargo(&workspace(), &arguments).expect("it runs")).expect("JSON");
        let names = names(manifest);
        let packages = metadata["packages"].as_array().expect("packages").clone();
        packages.into_iter().filter(move |package| names.contains(package["name"].as_str().expect("a name")))
    };
    [CORE, INTEGRATIONS].into_iter().flat_map(of_workspace).collect()
}

fn names(manifest: &str) -> BTreeSet<String> {
    published(manifest).expect("crates").into_iter().map(|package| package.name).collect()
}

/// Returns the folder of a crate.
fn folder(package: &Value) -> PathBuf {
    let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
    manifest.parent().expect("a folder").to_owned()
}

#[test]
fn all_other_crates_are_published() {
    let found: BTreeSet<PathBuf> = manifests().iter().map(folder).collect();
    let entries = ["crates", "integrations/crates"].into_iter().flat_map(|group| {
        let entries = fs::read_dir(workspace().join(group)).expect("crates");
        entries.map(|entry| entry.expect("an entry").path())
    });
    let is_published = |path: &PathBuf| !UNPUBLISHED.iter().any(|name| path.ends_with(name));
    assert_eq!(found, entries.filter(is_published).collect());
}

#[test]
fn each_package_has_complete_metadata() {
    let mut seen = BTreeSet::new();
    for package in manifests() {
        let name = package["name"].as_str().expect("a name");
        let text = |key: &str| package[key].as_str().unwrap_or_else(|| panic!("{name} has no {key}")).to_owned();
        assert!(seen.insert(text("description")), "{name}: duplicate description");
        assert_eq!(text("license"), "MIT OR Apache-2.0");
        // Some crates of the second workspace need a newer compiler.
        if folder(&package).starts_with(workspace().join("crates")) {
            assert_eq!(text("rust_version"), env!("CARGO_PKG_RUST_VERSION"));
        }
        assert_eq!(text("documentation"), format!("https://docs.rs/{name}"));
        assert_eq!(text("readme"), "README.md");
        assert!(text("repository").starts_with("https://"));
        assert_eq!(package["metadata"]["docs"]["rs"]["all-features"], true, "{name}");
        let words = |key: &str| package[key].as_array().expect("a list").clone();
        // Limits of registries.
        assert!((1..=5).contains(&words("keywords").len()) && (1..=5).contains(&words("categories").len()), "{name}");
        for keyword in words("keywords") {
            let keyword = keyword.as_str().expect("a word");
            assert!(
                keyword.len() <= 20 && keyword.bytes().all(|byte| byte.is_ascii_alphanumeric()),
                "{name}: {keyword}"
            );
        }
    }
}

/// Dependencies on crates of both workspaces have a version for the registry. Dev-dependencies have
/// only a path.
#[test]
fn dependencies_have_versions() {
    let packages = manifests();
    let versions: Vec<(&str, &str)> = packages
        .iter()
        .map(|package| (package["name"].as_str().expect("a name"), package["version"].as_str().expect("a version")))
        .collect();
    for package in &packages {
        let dependencies = package["dependencies"].as_array().expect("a list");
        let ours = dependencies.iter().filter(|dependency| !dependency["path"].is_null());
        for dependency in ours {
            let (name, kind) = (dependency["name"].as_str().expect("a name"), dependency["kind"].as_str());
            let required = dependency["req"].as_str().expect("a requirement");
            match versions.iter().find(|(other, _)| *other == name) {
                Some((_, version)) if kind.is_none() => assert_eq!(required, format!("^{version}"), "{package}"),
                Some(_) => {}
                None => assert_eq!((kind, required), (Some("dev"), "*"), "{} on {name}", package["name"]),
            }
        }
    }
}

/// A package contains sources, examples, the README and the licenses, but no tests, because the
/// package lacks their fixtures.
#[test]
fn packages_contain_only_the_required_files() {
    for package in manifests() {
        let (name, folder) = (package["name"].as_str().expect("a name"), folder(&package));
        let list = ["package", "--list", "--offline", "--allow-dirty", "--exclude-lockfile"];
        let list = cargo(&folder, &list).expect("it can be packaged");
        let (sources, others): (Vec<&str>, Vec<&str>) =
            list.lines().partition(|file| file.starts_with("src/") || file.starts_with("examples/"));
        let is_source = |file: &&str| [".rs", ".css"].iter().any(|extension| file.ends_with(extension));
        assert!(sources.iter().all(is_source), "{name}: {sources:?}");
        let optional = [".cargo_vcs_info.json", "build.rs"];
        let others: Vec<&str> = others.into_iter().filter(|file| !optional.contains(file)).collect();
        let expected = ["Cargo.toml", "Cargo.toml.orig", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];
        assert_eq!(others, expected, "{name}");
        for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
            let read = |folder: &Path| fs::read(folder.join(license)).expect("a file");
            assert!(read(&folder) == read(&workspace()), "{name}: {license}");
        }
    }
}
