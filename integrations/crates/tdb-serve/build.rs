//! Embeds the built files of the viewer, if the environment variable `TDB_VIEWER` names their
//! folder.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-env-changed=TDB_VIEWER");
    println!("cargo:rerun-if-changed=build.rs");
    let mut files = Vec::new();
    if let Some(folder) = env::var_os("TDB_VIEWER").filter(|folder| !folder.is_empty()) {
        let folder = fs::canonicalize(&folder)
            .map_err(|error| io::Error::new(error.kind(), format!("TDB_VIEWER: {}: {error}", folder.display())))?;
        println!("cargo:rerun-if-changed={}", folder.display());
        collect(&folder, "", &mut files)?;
        if !files.iter().any(|(name, _)| name == "index.html") {
            let what =
                format!("TDB_VIEWER: {}: expected the built files of the viewer with index.html", folder.display());
            return Err(io::Error::other(what));
        }
    }
    files.sort();
    let mut code = String::from("&[\n");
    for (name, path) in files {
        // Writing to a string does not fail.
        let _ = writeln!(code, "({name:?}, include_bytes!({path:?}) as &[u8]),");
    }
    code.push(']');
    let target = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("viewer.rs");
    fs::write(target, code)
}

/// Adds the files below a folder, with their paths.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let no_text = |_| io::Error::other(format!("{}: the name is not UTF-8", folder.display()));
        let name = entry.file_name().into_string().map_err(no_text)?;
        let path = entry.path();
        let inside = format!("{prefix}{name}");
        if path.is_dir() {
            println!("cargo:rerun-if-changed={}", path.display());
            collect(&path, &format!("{inside}/"), files)?;
        } else if !name.ends_with(".map") {
            println!("cargo:rerun-if-changed={}", path.display());
            files.push((inside, path.to_string_lossy().into_owned()));
        }
    }
    Ok(())
}
