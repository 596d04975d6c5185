//! Tests of the metadata and contents of published packages.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::published;
use crate::cargo::{cargo, workspace};

/// Returns the manifests of the published crates, as printed by `cargo metadata`.
fn manifests() -> Vec<Value> {
    let metadata =
        cargo(&workspace(), &["metadata", "--no-deps", "--offline", "--format-version", "1"]).expect("it runs");
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    let names: BTreeSet<String> = published().expect("crates").into_iter().map(|package| package.name).collect();
    let packages = metadata["packages"].as_array().expect("packages").iter();
    packages.filter(|package| names.contains(package["name"].as_str().expect("a name"))).cloned().collect()
}

#[test]
fn all_crates_except_testkit_are_published() {
    let names: BTreeSet<String> = published().expect("crates").into_iter().map(|package| package.name).collect();
    let folders = fs::read_dir(workspace().join("crates")).expect("crates").flatten();
    let mut folders: BTreeSet<String> = folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    assert!(folders.remove("tdb-testkit"));
    assert_eq!(names, folders);
}

#[test]
fn each_package_has_complete_metadata() {
    let mut seen = BTreeSet::new();
    for package in manifests() {
        let name = package["name"].as_str().expect("a name");
        let text = |key: &str| package[key].as_str().unwrap_or_else(|| panic!("{name} has no {key}")).to_owned();
        assert!(seen.insert(text("description")), "{name}: duplicate description");
        assert_eq!(text("license"), "MIT OR Apache-2.0");
        assert_eq!(text("rust_version"), env!("CARGO_PKG_RUST_VERSION"));
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

/// Dependencies on workspace crates have a version for the registry. Dev-dependencies have only a
/// path.
#[test]
fn dependencies_have_versions() {
    let versions: Vec<(String, String)> =
        published().expect("crates").into_iter().map(|package| (package.name, package.version)).collect();
    for package in manifests() {
        let dependencies = package["dependencies"].as_array().expect("a list");
        let ours = dependencies.iter().filter(|dependency| !dependency["path"].is_null());
        for dependency in ours {
            let (name, kind) = (dependency["name"].as_str().expect("a name"), dependency["kind"].as_str());
            let required = dependency["req"].as_str().expect("a requirement");
            match versions.iter().find(|(other, _)| other == name) {
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
    for package in published().expect("crates") {
        let list = ["package", "--list", "--offline", "--allow-dirty", "--package", &package.name];
        let list = cargo(&workspace(), &list).expect("it can be packaged");
        let (sources, others): (Vec<&str>, Vec<&str>) =
            list.lines().partition(|file| file.starts_with("src/") || file.starts_with("examples/"));
        let is_source = |file: &&str| [".rs", ".css"].iter().any(|extension| file.ends_with(extension));
        assert!(sources.iter().all(is_source), "{}: {sources:?}", package.name);
        let others: Vec<&str> = others.into_iter().filter(|file| *file != ".cargo_vcs_info.json").collect();
        let expected = ["Cargo.lock", "Cargo.toml", "Cargo.toml.orig", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];
        assert_eq!(others, expected, "{}", package.name);
        for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
            let read = |folder: &str| fs::read(workspace().join(folder).join(license)).expect("a file");
            assert!(read(&format!("crates/{}", package.name)) == read(""), "{}: {license}", package.name);
        }
    }
}
