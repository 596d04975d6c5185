//! Builds the packages that a registry would receive.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::report::Outcome;
use crate::Result;
use crate::cargo::{cargo, show, workspace};
use crate::published::{CORE, Package, published};

/// Maximum compressed size of a package in bytes. A package contains only sources, no fixtures,
/// corpora or snapshots.
const LARGEST: u64 = 420 << 10;

/// Packages all published crates, and builds each crate from the packaged sources.
///
/// Works offline, because the tests have downloaded the dependencies.
pub fn run() -> Outcome {
    if cargo(&workspace(), &["tree", "--workspace", "--offline"]).is_err() {
        return Outcome::Skipped("sources of dependencies: `cargo fetch`".to_owned());
    }
    packages().into()
}

fn packages() -> Result {
    let packages = published(CORE)?;
    // Cargo reuses the unpacked sources of a crate with the same name, version and folder. A unique
    // folder avoids stale sources.
    let target = workspace().join(format!("target/packages-{}", std::process::id()));
    let folder = target.to_str().ok_or("the workspace's path is not UTF-8")?;
    let mut arguments = vec!["package", "--quiet", "--offline", "--allow-dirty", "--target-dir", folder];
    for package in &packages {
        arguments.extend(["--package", &package.name]);
    }
    let unpacked = unpacked();
    let sizes = show(&arguments, &[]).and_then(|()| check_sizes(&packages, &target.join("package")));
    self::unpacked().difference(&unpacked).for_each(|folder| drop(fs::remove_dir_all(folder)));
    let _ = fs::remove_dir_all(&target);
    sizes
}

/// Returns the folders where cargo has unpacked crates from local registries. Folders of remote
/// registries start with a host name.
fn unpacked() -> BTreeSet<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let entries = home.and_then(|home| fs::read_dir(home.join("registry/src")).ok());
    let folders = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    folders.filter(|path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"-"))).collect()
}

fn check_sizes(packages: &[Package], folder: &Path) -> Result {
    println!("{:<18} {:>8}", "package", "KiB");
    let mut too_large = Vec::new();
    for package in packages {
        let name = &package.name;
        let bytes = fs::metadata(folder.join(format!("{}.crate", package.stem())))?.len();
        println!("{name:<18} {:>8}", bytes.div_ceil(1024));
        if bytes > LARGEST {
            too_large.push(name.as_str());
        }
    }
    if too_large.is_empty() { Ok(()) } else { Err(format!("too large: {}", too_large.join(", ")).into()) }
}
