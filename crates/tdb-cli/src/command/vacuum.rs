//! `tdb vacuum`: deletion of superseded files.

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

/// Delete fragments and files that consolidation has replaced
///
/// Includes consolidation by other libraries. A file is deleted only after the replacement was
/// found and verified. Otherwise the file stays and is reported, and the exit code is 1. Readers
/// with an open array may miss deleted files.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb vacuum ARRAY --plan                print the files to delete, and the times that become unreadable
  tdb vacuum ARRAY --what fragments
  tdb vacuum GROUP")]
pub(crate) struct Args {
    /// Array or group
    path: OsString,

    /// Kind of files to delete
    #[arg(long, value_enum, default_value = "all")]
    what: What,

    /// Also delete the commit files of deletes that were consolidated with other commits. Release
    /// 2.30.0 can then no longer consolidate commits
    #[arg(long)]
    delete_files: bool,

    /// Print the plan without running it
    #[arg(long)]
    plan: bool,

    /// Continue although another process seems to maintain the array or group. Use only if it has
    /// certainly stopped
    #[arg(long)]
    take_over: bool,

    /// Output format [default: table on a terminal, else jsonl]
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

/// A kind of files to delete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Fragments that were consolidated into others
    Fragments,
    /// Commits that were consolidated, and superseded files of consolidated commits
    Commits,
    /// Superseded files of consolidated footers
    Footers,
    /// Metadata files that were consolidated
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
        return Err(Failure::usage("a group has only metadata to vacuum"));
    }
    let plan = job.plan(target)?.take_over(args.take_over);
    maintained::finish(plan, args.plan, RowFormat::or_default(args.format, terminal), terminal)
}
