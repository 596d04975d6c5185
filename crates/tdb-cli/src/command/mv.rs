//! `tdb move`: an array or a group somewhere else.

use std::ffi::OsString;

use tdb_array::Monitor;
use tdb_relocate::{MoveTo, Moved};

use super::copy;
use crate::failure::Result;
use crate::interrupt;
use crate::place::Place;
use crate::progress::CopyProgress;
use crate::session;
use tdb_print::Terminal;
use tdb_print::{Entry, RowFormat};

/// Move an array or a group, or rename it
///
/// At once on one disk. Else, and on stores, it is copied, every byte of the copy is compared, and only then the old one is removed; what tdb
/// doctor has moved aside goes along. Nobody else maintains it meanwhile, nor any array or group in its folder. Members that a group has by whole paths in its own folder are made relative before. Groups that are known to have it as a member are
/// told: they have it at its old place.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb move ARRAY RENAMED
  tdb move GROUP /mnt/disk/GROUP")]
pub(crate) struct Args {
    /// An array or a group
    source: OsString,

    /// Where it is to lie; nothing may be there
    destination: OsString,

    /// Copy, compare and remove, also where it could be renamed
    #[arg(long)]
    by_copying: bool,

    /// How to print; a table on a terminal, else JSON lines
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

pub(crate) fn run(args: &Args, terminal: Terminal) -> Result<()> {
    let (from, to) = (Place::of(&args.source)?, Place::of(&args.destination)?);
    let monitor = Monitor::new();
    interrupt::cancels(&monitor);
    let progress = CopyProgress::new(terminal.stderr);
    let observer = progress.observer(&monitor);
    let moved = go(&MoveTo::new().by_copying(args.by_copying).observer(observer), &from, &to);
    progress.finish();
    let moved = moved?;
    let mut sheet = copy::sheet();
    match &moved.copied {
        Some(copied) => copy::rows(copied, &mut sheet),
        None => sheet.push(vec!["renamed".into(), Entry::none(), Entry::none(), Entry::none()]),
    }
    for (what, paths) in [("made relative", &moved.made_relative), ("left behind", &moved.left)] {
        for path in paths {
            sheet.push(vec![what.into(), path.as_str().into(), Entry::none(), Entry::none()]);
        }
    }
    sheet.print(RowFormat::or_default(args.format, terminal), terminal)?;
    match &moved.copied {
        Some(copied) => copy::warn_of_shared(copied, terminal),
        None => copy::warn_of_unread(&moved.unread, terminal),
    }
    for group in &moved.held_by {
        session::warn(&format!("the group {group} has it as a member at its old place"), terminal);
    }
    Ok(())
}

/// On stores nothing is renamed: it is copied, compared and removed.
fn go(move_to: &MoveTo, from: &Place, to: &Place) -> Result<Moved> {
    if let (Place::Local(from), Place::Local(to)) = (from, to) {
        return Ok(move_to.folder(from, to)?);
    }
    let ((old_parent, old), (new_parent, new)) = (from.to_fill()?, to.to_fill()?);
    Ok(move_to.between((&old_parent, &old), (&new_parent, &new))?)
}
