//! `tdb manifest`: lists of files for web servers.

use std::ffi::OsString;
use std::sync::Arc;

use tdb_array::ArrayError;
use tdb_storage::{EntryKind, MANIFEST_NAME, Manifest, Storage, StorageError};

use crate::failure::{Exit, Failure, Result};
use crate::session;
use crate::size::Bytes;
use crate::target::{self, Kind};
use tdb_print::Terminal;
use tdb_print::{Entry, RowFormat, Sheet};

/// Maximum depth of the search for arrays and groups, because links may form cycles.
const DEEPEST: usize = 64;
/// Maximum number of folders in the search, because repeated links to a folder multiply the paths.
const SEARCHED: usize = 1_000_000;

/// Write a list of the files of an array or group, for web servers without listings
///
/// The file tdb-manifest.txt lists all files below the array or group. Web servers and browsers
/// cannot list folders. With the list, they can publish and read the array. Run the command after
/// each write, consolidation and vacuum.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb manifest ARRAY                 write or update ARRAY/tdb-manifest.txt
  tdb manifest GROUP --recursive     also of all arrays and groups in the folder of the group
  tdb manifest ARRAY --check         compare with the files; the exit code is 1 if the list is old
  tdb manifest ARRAY --remove")]
pub(crate) struct Args {
    /// Arrays or groups
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<OsString>,

    /// Include all arrays and groups below the path. The path may then be any folder
    #[arg(short, long)]
    recursive: bool,

    /// Compare the list with the files and write nothing. The exit code is 1 if a list is missing,
    /// malformed or older than the files
    #[arg(long, conflicts_with = "remove")]
    check: bool,

    /// Remove the list
    #[arg(long)]
    remove: bool,

    /// Output format [default: table on a terminal, else jsonl]
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

/// A line of the output.
struct Row {
    what: &'static str,
    path: String,
    manifest: Option<Manifest>,
    detail: Option<String>,
}

pub(crate) fn run(args: &Args, terminal: Terminal) -> Result<()> {
    let mut rows = Vec::new();
    for argument in &args.paths {
        let (path, kind) = target::find(argument)?;
        let storage = target::storage(argument)?;
        match kind {
            Kind::Array | Kind::Group => {}
            Kind::Folder if args.recursive => {}
            _ => {
                let failure = target::unexpected(&path, kind, "neither an array nor a group");
                let hint = format!("run `tdb manifest {} --recursive` for the arrays in it", path.display());
                return Err(if kind == Kind::Folder { failure.with_hint(hint) } else { failure });
            }
        }
        let found = if args.recursive { objects(&storage)? } else { vec![storage] };
        if found.is_empty() {
            let failure = Failure::new(Exit::Unavailable, format!("{}: no array or group found", path.display()));
            return Err(failure.with_hint(format!("run `tdb ls {}` to list the folder", path.display())));
        }
        for storage in found {
            rows.push(one(args, &*storage).map_err(ArrayError::from)?);
        }
    }
    let mut sheet = Sheet::new(&[("what", false), ("path", false), ("files", true), ("size", true), ("detail", false)]);
    for Row { what, path, manifest, detail } in rows {
        let files = manifest.as_ref().map_or_else(Entry::none, |manifest| (manifest.files() as u64).into());
        let size = manifest
            .as_ref()
            .map_or_else(Entry::none, |manifest| Entry::shown(Bytes(manifest.bytes()).to_string(), manifest.bytes()));
        let detail = detail.map_or_else(Entry::none, Entry::from);
        sheet.push(vec![what.into(), path.into(), files, size, detail]);
    }
    Ok(sheet.print(RowFormat::or_default(args.format, terminal), terminal)?)
}

/// Processes the manifest of one array or group.
fn one(args: &Args, storage: &dyn Storage) -> Result<Row, StorageError> {
    let path = storage.describe(MANIFEST_NAME);
    if args.remove {
        let what = match storage.remove_file(MANIFEST_NAME) {
            Ok(()) => "removed",
            Err(error) if error.is_not_found() => "missing",
            Err(error) => return Err(error),
        };
        return Ok(Row { what, path, manifest: None, detail: None });
    }
    let now = Manifest::settled(storage)?;
    let text = match storage.read_up_to(MANIFEST_NAME, Manifest::LIMIT) {
        Ok(text) => Some(text),
        Err(error) if error.is_not_found() => None,
        Err(StorageError::OverLimit { .. }) if !args.check => Some(Vec::new()),
        Err(error) => return Err(error),
    };
    let new = now.to_string();
    let is_current = text.as_deref() == Some(new.as_bytes());
    if !args.check {
        if !is_current {
            storage.replace(MANIFEST_NAME, new.as_bytes())?;
        }
        let what = if is_current { "unchanged" } else { "written" };
        return Ok(Row { what, path, manifest: Some(now), detail: None });
    }
    let (what, detail) = match text.map(|text| Manifest::parse(&text)) {
        None => ("missing", None),
        Some(Err(error)) => ("malformed", Some(error.to_string())),
        Some(Ok(listed)) => match listed.difference(&now) {
            None => ("current", None),
            difference => ("old", difference),
        },
    };
    if what != "current" {
        session::found();
    }
    Ok(Row { what, path, manifest: Some(now), detail })
}

/// Returns the arrays and groups in a folder, sorted by path. The folders of arrays are not
/// searched.
fn objects(root: &Arc<dyn Storage>) -> Result<Vec<Arc<dyn Storage>>> {
    let mut objects = Vec::new();
    let mut folders = vec![(Arc::clone(root), 0)];
    let mut searched = 0;
    while let Some((folder, depth)) = folders.pop() {
        searched += 1;
        if searched > SEARCHED {
            let why = format!("more than {SEARCHED} folders; check for repeated links to a folder");
            return Err(Failure::new(Exit::Unavailable, format!("{}: {why}", root.describe(""))));
        }
        let entries = match folder.list("") {
            // The folder was removed meanwhile.
            Err(error) if error.is_not_found() && depth > 0 => continue,
            entries => entries.map_err(ArrayError::from)?,
        };
        let kind = Kind::of_entries(&entries);
        if matches!(kind, Kind::Array | Kind::Group) {
            objects.push(Arc::clone(&folder));
        }
        if !matches!(kind, Kind::Folder | Kind::Group) {
            continue;
        }
        if depth == DEEPEST {
            let why = "folders are nested too deeply; check for links that form a cycle";
            return Err(Failure::new(Exit::Unavailable, format!("{}: {why}", folder.describe(""))));
        }
        // The last folder is searched first.
        let inner =
            entries.iter().rev().filter(|entry| entry.kind == EntryKind::Folder && !entry.name.starts_with('.'));
        for entry in inner {
            folders.push((folder.sub(&entry.name).map_err(ArrayError::from)?, depth + 1));
        }
    }
    Ok(objects)
}
