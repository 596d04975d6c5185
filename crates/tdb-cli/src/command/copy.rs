//! `tdb copy`: copies of arrays and groups.

use std::ffi::OsString;

use tdb_array::Monitor;
use tdb_migrate::Migrate;
use tdb_relocate::{Copied, CopyTo};

use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::key::Key;
use crate::place::Place;
use crate::progress::{BYTES, CopyProgress};
use crate::session;
use crate::size::Bytes;
use crate::target;
use crate::time::TimeArgs;
use tdb_print::Terminal;
use tdb_print::{Entry, RowFormat, Sheet};

/// Copy an array or group with its complete history
///
/// Copies all files of the folder byte by byte, even of an encrypted array without the key. The
/// copy appears only when complete. Existing files are never overwritten. Absolute paths of members
/// inside the folder of a group become relative. Members elsewhere are not copied, and are named in
/// a warning. Temporary files and files quarantined by tdb doctor are not copied.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb copy ARRAY BACKUP
  tdb copy ARRAY MAY --flatten --at 2024-05-31   cells as of that day, in one fragment
  tdb copy GROUP /mnt/disk/GROUP
  tdb copy ARRAY s3://bucket/ARRAY               to an object store, with the full tdb")]
pub(crate) struct Args {
    /// Array or group
    source: OsString,

    /// Path of the copy, which must not exist
    destination: OsString,

    /// Omit the history of an array: copy the cells of now, or of the time of --at or --between, to
    /// one fragment, or to several if dense cells are far apart. The cells are decoded and written
    /// anew, and an encrypted array needs its key
    #[arg(long)]
    flatten: bool,

    #[command(flatten)]
    time: TimeArgs,

    /// Output format [default: table on a terminal, else jsonl]
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    if args.flatten {
        return flatten(args, key, terminal);
    }
    if args.time.range().is_some() {
        return Err(Failure::usage(
            "a copy of the files includes all times; use --flatten to copy the cells of one time",
        ));
    }
    let (from, to) = (Place::of(&args.source)?, Place::of(&args.destination)?);
    let progress = CopyProgress::new(terminal.stderr);
    let copied = copy(&CopyTo::new().observer(observed(&progress)), &from, &to);
    progress.finish();
    let copied = copied?;
    let mut sheet = sheet();
    rows(&copied, &mut sheet);
    sheet.print(RowFormat::or_default(args.format, terminal), terminal)?;
    warn_of_shared(&copied, terminal);
    Ok(())
}

/// Returns an observer that draws the progress, and cancels the copy on Ctrl-C.
pub(super) fn observed(progress: &CopyProgress) -> impl Fn(u64, u64) -> bool + Send + Sync + use<> {
    let monitor = Monitor::new();
    interrupt::cancels(&monitor);
    progress.observer(BYTES, &monitor)
}

fn copy(copy: &CopyTo, from: &Place, to: &Place) -> Result<Copied> {
    if let (Place::Local(from), Place::Local(to)) = (from, to) {
        return Ok(copy.folder(from, to)?);
    }
    let (parent, name) = to.to_fill()?;
    Ok(copy.run(&from.storage()?, &parent, &name)?)
}

/// Copies the cells of one point in time.
fn flatten(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    let (_, array) = target::open_to_read(&args.source, 1, &args.time, key)?;
    let migration = Migrate::new().flatten().plan(&array)?;
    let report = match Place::of(&args.destination)? {
        Place::Local(to) => migration.into_folder(&to, &key.create_options())?,
        Place::Store(to) => migration.into_place(&to.parent, &to.name, &key.create_options())?,
    };
    let mut sheet = Sheet::new(&[("what", false), ("fragments", true), ("cells", true), ("metadata", true)]);
    sheet.push(vec!["copied".into(), report.fragments.into(), report.cells.into(), report.metadata.into()]);
    Ok(sheet.print(RowFormat::or_default(args.format, terminal), terminal)?)
}

pub(super) fn sheet() -> Sheet {
    Sheet::new(&[("what", false), ("path", false), ("files", true), ("size", true)])
}

/// Adds a row for the copied files, and a row for each file that was rewritten or left out.
pub(super) fn rows(copied: &Copied, sheet: &mut Sheet) {
    let size = Entry::shown(Bytes(copied.bytes).to_string(), copied.bytes);
    sheet.push(vec!["copied".into(), Entry::none(), copied.files.into(), size]);
    listed([("rewritten", &copied.rewritten), ("left out", &copied.left_out)], sheet);
}

/// Adds a row for each path.
pub(super) fn listed(lists: [(&str, &Vec<String>); 2], sheet: &mut Sheet) {
    for (what, paths) in lists {
        paths.iter().for_each(|path| sheet.push(vec![what.into(), path.as_str().into(), Entry::none(), Entry::none()]));
    }
}

pub(super) fn warn_of_shared(copied: &Copied, terminal: Terminal) {
    for uri in &copied.shared {
        session::warn(
            &format!("{uri} is outside of the group and was not copied: both groups have it as a member"),
            terminal,
        );
    }
    warn_of_unread(&copied.unread, terminal);
}

pub(super) fn warn_of_unread(groups: &[String], terminal: Terminal) {
    for path in groups {
        let path = if path.is_empty() { "." } else { path };
        let what = "cannot be read, for example without its key: members with absolute paths are unchanged";
        session::warn(&format!("group {path} {what}"), terminal);
    }
}
