//! `tdb ls`: arrays, groups and other things below a path.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use tdb_array::ArrayError;
use tdb_storage::{Entry as StoredEntry, EntryKind, Storage};

use crate::failure::{Failure, Result};
use crate::size::Bytes;
use crate::stores;
use crate::target::{self, Kind};
use tdb_print::Terminal;
use tdb_print::{Entry, RowFormat, Sheet};

/// List arrays, groups and other things in a folder
///
/// The contents of a folder determine its kind. Arrays are not looked into.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb ls data
  tdb ls --recursive data
  tdb ls -r --kind array data --format csv")]
pub(crate) struct Args {
    /// The folder
    #[arg(default_value = ".")]
    path: OsString,

    /// Also list what is in the folders and groups below
    #[arg(short, long)]
    recursive: bool,

    /// List only these
    #[arg(long, value_name = "KIND", value_parser = ["array", "group", "key-value", "folder", "file", "fragment", "other"])]
    kind: Vec<String>,

    /// How to print; a table on a terminal, else JSON lines
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

pub(crate) fn run(args: &Args, terminal: Terminal) -> Result<()> {
    let (path, kind) = target::find(&args.path)?;
    let mut listing = Listing { recursive: args.recursive, seen: HashSet::new(), found: Vec::new() };
    match kind {
        Kind::Folder | Kind::Group if stores::open(&args.path).is_some() => {
            let storage = target::storage(&args.path)?;
            let entries = storage.list("").map_err(ArrayError::from)?;
            listing.stored(&*storage, entries, "")?;
        }
        Kind::Folder | Kind::Group => listing.folder(&path, "")?,
        // The thing itself, as `ls` does with files.
        _ => listing.found.push(Found { name: path.display().to_string(), kind, size: None }),
    }
    let mut sheet = Sheet::new(&[("kind", false), ("size", true), ("path", false)]);
    for found in listing.found {
        if args.kind.is_empty() || args.kind.iter().any(|kind| kind == found.kind.name()) {
            let size = found.size.map_or_else(Entry::none, |size| Entry::shown(Bytes(size).to_string(), size));
            sheet.push(vec![found.kind.name().into(), size, found.name.into()]);
        }
    }
    Ok(sheet.print(RowFormat::or_default(args.format, terminal), terminal)?)
}

struct Found {
    /// Path below the folder that was asked for.
    name: String,
    kind: Kind,
    /// Bytes of a file.
    size: Option<u64>,
}

/// What identifies a folder.
#[cfg(unix)]
type FolderId = (u64, u64);
#[cfg(not(unix))]
type FolderId = std::path::PathBuf;

/// Of a folder far below others this is much faster than to look for links in each part of its path.
#[cfg(unix)]
fn folder_id(folder: &Path) -> io::Result<FolderId> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(folder).map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn folder_id(folder: &Path) -> io::Result<FolderId> {
    fs::canonicalize(folder)
}

struct Listing {
    recursive: bool,
    /// The folders that were looked into, so that links can't lead in circles.
    seen: HashSet<FolderId>,
    found: Vec<Found>,
}

impl Listing {
    fn folder(&mut self, folder: &Path, prefix: &str) -> Result<()> {
        let fail = |error| Failure::io(folder.display(), &error);
        if !self.seen.insert(folder_id(folder).map_err(fail)?) {
            return Ok(());
        }
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder).map_err(fail)? {
            entries.push(entry.map_err(fail)?);
        }
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            // Links that lead nowhere, and files that have gone since.
            let Ok(kind) = Kind::of(&path) else { continue };
            let size = fs::metadata(&path).ok().filter(|_| kind == Kind::File).map(|metadata| metadata.len());
            self.found.push(Found { name: name.clone(), kind, size });
            if self.recursive && matches!(kind, Kind::Folder | Kind::Group) {
                self.folder(&path, &format!("{name}/"))?;
            }
        }
        Ok(())
    }

    /// What is on a store: each folder is listed once.
    fn stored(&mut self, folder: &dyn Storage, entries: Vec<StoredEntry>, prefix: &str) -> Result<()> {
        for entry in entries {
            let name = format!("{prefix}{}", entry.name);
            if entry.kind == EntryKind::File {
                self.found.push(Found { name, kind: Kind::File, size: Some(entry.size) });
                continue;
            }
            let folder = folder.sub(&entry.name).map_err(ArrayError::from)?;
            let entries = match folder.list("") {
                // It has gone since.
                Err(error) if error.is_not_found() => continue,
                entries => entries.map_err(ArrayError::from)?,
            };
            let kind = Kind::of_entries(&entries);
            self.found.push(Found { name: name.clone(), kind, size: None });
            if self.recursive && matches!(kind, Kind::Folder | Kind::Group) {
                self.stored(&*folder, entries, &format!("{name}/"))?;
            }
        }
        Ok(())
    }
}
