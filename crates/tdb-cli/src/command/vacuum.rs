//! `tdb vacuum`: what was replaced is removed.

use std::ffi::OsString;

use clap::ValueEnum;
use tdb_maintain::Vacuum;
use tdb_maintain::tdb_job::Target;

use super::maintained;
use crate::failure::{Failure, Result};
use crate::key::Key;
use crate::time::TimeArgs;
use tdb_print::RowFormat;
use tdb_print::Terminal;

/// Remove the files of an array or group in whose place others stand
///
/// Those are what consolidation has joined, this command's or another library's. Nothing goes before what stands in its
/// place was seen to be there and sound; what isn't is left alone and told, and the exit code is 1. Readers that have the
/// array open meanwhile may miss what goes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb vacuum ARRAY --plan                what would be removed, and of which times nothing is left then
  tdb vacuum ARRAY --what fragments
  tdb vacuum GROUP")]
pub(crate) struct Args {
    /// An array or a group
    path: OsString,

    /// What to remove
    #[arg(long, value_enum, default_value = "all")]
    what: What,

    /// Also remove the own files of deletes that were joined with other commits. Release 2.30.0 can't consolidate commits
    /// any more then
    #[arg(long)]
    delete_files: bool,

    /// Only say what would be done
    #[arg(long)]
    plan: bool,

    /// Go on although somebody else seems to maintain the array or group: it is certain that nobody does
    #[arg(long)]
    take_over: bool,

    /// How to print; a table on a terminal, else JSON lines
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

/// What can be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Fragments that others were consolidated from
    Fragments,
    /// Commits that were joined, and files of joined commits that newer ones stand for
    Commits,
    /// Files of joined footers that newer ones stand for
    Footers,
    /// Files of metadata that were joined
    Metadata,
    /// All of these
    All,
}

impl What {
    fn job(self) -> Vacuum {
        match self {
            Self::Fragments => Vacuum::fragments(),
            Self::Commits => Vacuum::commits(),
            Self::Footers => Vacuum::footers(),
            Self::Metadata => Vacuum::metadata(),
            Self::All => Vacuum::all(),
        }
    }
}

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    let job = args.what.job().delete_files(args.delete_files);
    let target = maintained::open(&args.path, &TimeArgs::default(), key)?;
    if matches!(target, Target::Group(_)) && !matches!(args.what, What::Metadata | What::All) {
        return Err(Failure::usage("a group has nothing to remove but metadata"));
    }
    let plan = job.plan(target)?.take_over(args.take_over);
    maintained::finish(plan, args.plan, RowFormat::or_default(args.format, terminal), terminal)
}
