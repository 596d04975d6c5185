//! The published crates, as listed by cargo.

use std::path::PathBuf;

use serde::Deserialize;

use crate::Result;
use crate::cargo::{cargo, workspace};

/// The manifest of the main workspace.
pub const CORE: &str = "Cargo.toml";

/// The manifest of the second workspace.
pub const INTEGRATIONS: &str = "integrations/Cargo.toml";

/// The metadata of a package, as printed by `cargo metadata`.
#[derive(Debug, Deserialize)]
pub struct Package {
    pub name: String,
    pub version: String,
    pub manifest_path: PathBuf,
    targets: Vec<Target>,
    /// Permitted registries. `None` for any registry, and an empty list for packages that are not
    /// published.
    publish: Option<Vec<String>>,
    pub dependencies: Vec<Dependency>,
}

impl Package {
    /// Returns the name of the package's folder.
    pub fn stem(&self) -> String {
        format!("{}-{}", self.name, self.version)
    }

    /// Returns the name of the library in Rust code.
    pub fn library(&self) -> Result<&str> {
        let library = self.targets.iter().find(|target| target.kind.iter().any(|kind| kind == "lib"));
        Ok(&library.ok_or_else(|| format!("{}: no library", self.name))?.name)
    }
}

#[derive(Debug, Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub struct Dependency {
    pub name: String,
    /// `None` for normal dependencies.
    kind: Option<String>,
}

impl Dependency {
    pub fn is_dev(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// Returns the published crates of a workspace.
pub fn published(manifest: &str) -> Result<Vec<Package>> {
    let metadata = ["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path", manifest];
    let metadata = cargo(&workspace(), &metadata)?;
    let Metadata { packages } = serde_json::from_str(&metadata)?;
    Ok(packages.into_iter().filter(|package| package.publish.as_ref().is_none_or(|to| !to.is_empty())).collect())
}

#[cfg(test)]
mod tests;
