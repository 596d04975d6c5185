//! Export of arrays and groups to folder formats.

use std::path::Path;

use tdb_array::Monitor;
use tdb_schema::FieldRef;
use tdb_types::saturating_len;

use super::args::Args;
use crate::command::selection::{Selected, selected};
use crate::failure::{Exit, Failure, Result};
use crate::files::{self, FolderExport, FolderFormat, Whole};
use crate::interrupt;
use crate::key::Key;
use crate::new_file::STDOUT;
use crate::progress::{CELLS, CopyProgress};
use crate::size::counted;
use crate::target::{self, Kind};
use tdb_print::Terminal;

pub(super) fn run(args: &Args, format: &dyn FolderFormat, path: &Path, key: &Key, terminal: Terminal) -> Result<()> {
    let options = files::options(&args.options)?;
    files::check_known(&options, format.options())?;
    if args.order.is_some() {
        return Err(Failure::usage("--order: folder formats have a fixed order"));
    }
    if path == Path::new(STDOUT) {
        return Err(Failure::usage("-: cannot write a folder to standard output"));
    }
    if path.symlink_metadata().is_ok() {
        let message = format!("{}: already exists; existing files are never overwritten", path.display());
        let failure = Failure::new(Exit::Unavailable, message);
        return Err(failure.with_hint("choose another name, or remove the existing file or folder"));
    }
    let monitor = Monitor::only_cancelling();
    interrupt::ends(&monitor);
    let bar = CopyProgress::new(terminal.stderr);
    let export = FolderExport {
        path,
        options,
        arrays: target::options(args.threads, &args.time, key),
        budget: saturating_len(args.budget),
        threads: args.threads,
        observer: Box::new(bar.observer(CELLS, &monitor)),
    };
    let is_group = matches!(target::find(&args.array), Ok((_, Kind::Group)));
    let written = if is_group { group(args, format, export, key) } else { array(args, format, export, key) };
    bar.finish();
    let cells = written.map_err(|failure| if monitor.is_cancelled() { Failure::interrupted() } else { failure })?;
    eprintln!("{} written", counted(cells, "cell"));
    Ok(())
}

fn group(args: &Args, format: &dyn FolderFormat, export: FolderExport<'_>, key: &Key) -> Result<u64> {
    if !args.select.is_empty() || !args.which.is_all() {
        let failure = Failure::usage("--select and --range need a single array, but this is a group");
        return Err(failure.with_hint("export the array by its path"));
    }
    let (path, _) = target::find(&args.array)?;
    format.export(Whole::Group(&target::open_group(&path, &args.time, key)?), export)
}

fn array(args: &Args, format: &dyn FolderFormat, export: FolderExport<'_>, key: &Key) -> Result<u64> {
    let (_, array) = target::open_to_read(&args.array, args.threads, &args.time, key)?;
    let schema = array.schema();
    let ranges = args.which.only_ranges(schema)?;
    let mut attributes = Vec::new();
    for field in selected(schema, &args.select)? {
        match field {
            Selected::Field(FieldRef::Attribute(_)) => attributes.push(field.name(schema).to_owned()),
            // The format always stores the coordinates.
            Selected::Field(FieldRef::Dimension(_)) => {}
            Selected::Label(label) => {
                return Err(Failure::usage(format!("--select {}: folder formats have no labels", label.name)));
            }
        }
    }
    let attributes = (!args.select.is_empty()).then_some(attributes.as_slice());
    format.export(Whole::Array { array: &array, attributes, ranges: &ranges }, export)
}
