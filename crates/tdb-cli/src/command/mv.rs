//! `tdb move`: moves of arrays and groups.

use std::ffi::OsString;

use tdb_relocate::{MoveTo, Moved};

use super::copy;
use crate::failure::Result;
use crate::place::Place;
use crate::progress::CopyProgress;
use crate::session;
use tdb_print::Terminal;
use tdb_print::{Entry, RowFormat};

/// Move or rename an array or group
///
/// Renames atomically on one disk. Otherwise, and on stores, copies, compares every byte of the
/// copy, and only then removes the source. Files quarantined by tdb doctor are moved too.
/// Meanwhile, other processes cannot maintain the source, or any array or group in the folder.
/// Absolute paths of members inside the folder of a group are made relative first. Reports known
/// groups with the source as a member, which still refer to the old path.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb move ARRAY RENAMED
  tdb move GROUP /mnt/disk/GROUP")]
pub(crate) struct Args {
    /// Array or group
    source: OsString,

    /// New path, which must not exist
    destination: OsString,

    /// Copy, compare and remove, even if renaming is possible
    #[arg(long)]
    by_copying: bool,

    /// Output format [default: table on a terminal, else jsonl]
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

pub(crate) fn run(args: &Args, terminal: Terminal) -> Result<()> {
    let (from, to) = (Place::of(&args.source)?, Place::of(&args.destination)?);
    let progress = CopyProgress::new(terminal.stderr);
    let move_to = MoveTo::new().by_copying(args.by_copying).observer(copy::observed(&progress));
    let moved = go(&move_to, &from, &to);
    progress.finish();
    let moved = moved?;
    let mut sheet = copy::sheet();
    match &moved.copied {
        Some(copied) => copy::rows(copied, &mut sheet),
        None => sheet.push(vec!["renamed".into(), Entry::none(), Entry::none(), Entry::none()]),
    }
    copy::listed([("made relative", &moved.made_relative), ("left behind", &moved.left)], &mut sheet);
    sheet.print(RowFormat::or_default(args.format, terminal), terminal)?;
    match &moved.copied {
        Some(copied) => copy::warn_of_shared(copied, terminal),
        None => copy::warn_of_unread(&moved.unread, terminal),
    }
    for group in &moved.held_by {
        session::warn(&format!("the group {group} still has it as a member at its old path"), terminal);
    }
    Ok(())
}

/// Moves an array or group. On a store, this copies, compares and removes, because stores cannot
/// rename folders.
fn go(move_to: &MoveTo, from: &Place, to: &Place) -> Result<Moved> {
    if let (Place::Local(from), Place::Local(to)) = (from, to) {
        return Ok(move_to.folder(from, to)?);
    }
    let ((old_parent, old), (new_parent, new)) = (from.to_fill()?, to.to_fill()?);
    Ok(move_to.between((&old_parent, &old), (&new_parent, &new))?)
}
