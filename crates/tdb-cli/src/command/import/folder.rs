//! Import of arrays and groups from folder formats.

use std::path::PathBuf;

use tdb_array::{ArrayError, Monitor};
use tdb_types::saturating_len;

use super::args::Args;
use crate::failure::{Exit, Failure, Result};
use crate::files::{self, FolderFormat, FolderImport, Target};
use crate::key::Key;
use crate::progress::{CELLS, CopyProgress};
use crate::size::counted;
use crate::{interrupt, location, session, stores};
use tdb_print::Terminal;

/// Returns the folder to import as an array or group, or `None` if the files are of another kind.
///
/// # Errors
/// Fails if other files are given with the folder, or if a path is not local.
pub(super) fn named(args: &Args) -> Result<Option<(&'static dyn FolderFormat, PathBuf)>> {
    let files = args.files.iter().filter(|name| *name != "-");
    let paths = files.map(|name| location::local(name)).collect::<Result<Vec<_>>>()?;
    let found =
        paths.iter().find_map(|path| files::folder_format(path, args.format.as_deref()).map(|format| (format, path)));
    match found {
        Some(_) if args.files.len() > 1 => {
            Err(Failure::usage("each folder of this kind becomes an array or a group")
                .with_hint("import one at a time"))
        }
        found => Ok(found.map(|(format, path)| (format, path.clone()))),
    }
}

pub(super) fn run(args: &Args, format: &dyn FolderFormat, path: PathBuf, key: &Key, terminal: Terminal) -> Result<()> {
    let said = [
        ("--null", !args.null.is_empty()),
        ("--delimiter", args.delimiter.is_some()),
        ("--ignore-others", args.ignore_others),
        ("--skip-rejects", args.skip_rejects),
        ("--keep-last", args.keep_last),
        ("--schema", args.schema.is_some()),
        ("--dimensions", !args.dimensions.is_empty()),
        ("--type", !args.types.is_empty()),
        ("--dry-run", args.dry_run),
    ];
    if let Some((option, _)) = said.iter().find(|(_, is_said)| *is_said) {
        return Err(Failure::usage(format!("{option} needs files of rows, but this is a complete array or group")));
    }
    let target = target(args)?;
    let monitor = Monitor::only_cancelling();
    interrupt::cancels(&monitor);
    let bar = CopyProgress::new(terminal.stderr);
    let imported = format.import(FolderImport {
        path,
        target,
        key: key.bytes().cloned(),
        names: args.stamp.names(),
        budget: saturating_len(args.budget),
        threads: args.threads,
        observer: Box::new(bar.observer(CELLS, &monitor)),
    });
    bar.finish();
    let imported = imported.map_err(|failure| if monitor.is_cancelled() { Failure::interrupted() } else { failure })?;
    imported.notes.iter().for_each(|note| session::warn(note, terminal));
    let groups = match imported.groups {
        0 => String::new(),
        groups => format!(" in {}", counted(groups, "group")),
    };
    eprintln!("{} written in {}{groups}", counted(imported.cells, "cell"), counted(imported.arrays, "array"));
    Ok(())
}

/// Returns the target of an import, which must not exist.
fn target(args: &Args) -> Result<Target> {
    let taken = |place: String| {
        let failure = Failure::new(Exit::Unavailable, format!("{place}: already exists"));
        failure.with_hint("choose another path: a folder of this format becomes a new array or group")
    };
    if let Some(storage) = stores::open(&args.array) {
        let storage = storage.map_err(ArrayError::from)?;
        return match storage.list("") {
            Ok(entries) if !entries.is_empty() => Err(taken(storage.describe(""))),
            Err(error) if !error.is_not_found() => Err(ArrayError::from(error).into()),
            _ => Ok(Target::Storage(storage)),
        };
    }
    let path = location::local(&args.array)?;
    if path.symlink_metadata().is_ok() { Err(taken(path.display().to_string())) } else { Ok(Target::Folder(path)) }
}
