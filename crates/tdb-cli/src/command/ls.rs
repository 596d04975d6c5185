//! `tdb ls`: the contents of a folder.

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

/// List arrays, groups and other entries of a folder
///
/// The contents of a folder determine its kind. The contents of arrays are not listed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb ls data
  tdb ls --recursive data
  tdb ls -r --kind array data --format csv")]
pub(crate) struct Args {
    /// Folder to list
    #[arg(default_value = ".")]
    path: OsString,

    /// Also list the contents of subfolders and groups
    #[arg(short, long)]
    recursive: bool,

    /// List only entries of this kind (repeatable)
    #[arg(long, value_name = "KIND", value_parser = ["array", "group", "key-value", "folder", "file", "fragment", "other"])]
    kind: Vec<String>,

    /// Output format [default: table on a terminal, else jsonl]
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
        // Lists the entry itself, as `ls` does for files.
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
    /// Path relative to the listed folder.
    name: String,
    kind: Kind,
    /// Bytes of a file.
    size: Option<u64>,
}

/// The identity of a folder.
#[cfg(unix)]
type FolderId = (u64, u64);
#[cfg(not(unix))]
type FolderId = std::path::PathBuf;

/// Returns the device and inode of a folder. This is much faster for deep folders than resolving
/// links in each part of the path.
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
    /// Visited folders, since links can form cycles.
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
            // A broken link, or a file that was deleted meanwhile.
            let Ok(kind) = Kind::of(&path) else { continue };
            let size = fs::metadata(&path).ok().filter(|_| kind == Kind::File).map(|metadata| metadata.len());
            self.found.push(Found { name: name.clone(), kind, size });
            if self.recursive && matches!(kind, Kind::Folder | Kind::Group) {
                self.folder(&path, &format!("{name}/"))?;
            }
        }
        Ok(())
    }

    /// Lists a folder on a store. Each folder is listed once.
    fn stored(&mut self, folder: &dyn Storage, entries: Vec<StoredEntry>, prefix: &str) -> Result<()> {
        for entry in entries {
            let name = format!("{prefix}{}", entry.name);
            if entry.kind == EntryKind::File {
                self.found.push(Found { name, kind: Kind::File, size: Some(entry.size) });
                continue;
            }
            let folder = folder.sub(&entry.name).map_err(ArrayError::from)?;
            let entries = match folder.list("") {
                // The folder was deleted meanwhile.
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
