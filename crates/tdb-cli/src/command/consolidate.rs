//! `tdb consolidate`: small files are joined.

use std::ffi::OsString;

use clap::ValueEnum;
use tdb_maintain::{Consolidate, Consolidation};

use super::maintained::{self, Maintained};
use crate::failure::{Failure, Result};
use crate::key::Key;
use crate::output::RowFormat;
use crate::terminal::Terminal;
use crate::time::TimeArgs;

/// Join the small files of an array, or the metadata of a group
///
/// What is joined stays until `tdb vacuum` removes it, and counts no more. Readers see the same as before, at every time.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb consolidate ARRAY --what commits --plan    what would be done
  tdb consolidate ARRAY --what footers
  tdb consolidate GROUP --what metadata --between ..2024-12-31")]
pub(crate) struct Args {
    /// An array or a group
    path: OsString,

    /// What to join
    #[arg(long, value_enum)]
    what: What,

    /// Only say what would be done
    #[arg(long)]
    plan: bool,

    #[command(flatten)]
    time: TimeArgs,

    /// How to print; a table on a terminal, else JSON lines
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

/// What can be joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// The commits of writes and deletes, into one file
    Commits,
    /// The footers of all fragments, into one file
    Footers,
    /// The metadata of an array or group, into one file
    Metadata,
}

impl What {
    fn job(self) -> Consolidation {
        match self {
            Self::Commits => Consolidate::commits(),
            Self::Footers => Consolidate::footers(),
            Self::Metadata => Consolidate::metadata(),
        }
    }
}

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    if args.time.range().is_some() && args.what != What::Metadata {
        let failure = Failure::usage("--at and --between are for --what metadata: of the others all is joined");
        return Err(failure.with_hint("no time is lost by joining commits or footers"));
    }
    let job = args.what.job();
    let plan = match maintained::open(&args.path, &args.time, key)? {
        Maintained::Array(array) => job.plan(&array)?,
        Maintained::Group(group) if args.what == What::Metadata => job.plan_group(&group)?,
        Maintained::Group(_) => return Err(Failure::usage("a group has nothing to join but its metadata")),
    };
    let savings = plan.savings();
    let is_planned = !plan.is_empty();
    maintained::finish(plan, args.plan, RowFormat::or_default(args.format, terminal), terminal)?;
    let fewer = |verb: &str, count: u64, what: &str| {
        let plural = if count == 1 { "" } else { "s" };
        (count > 0).then(|| format!("{verb} {count} {what}{plural} fewer"))
    };
    let saved = [fewer("lists", savings.names, "name"), fewer("reads", savings.reads, "file")];
    let saved: Vec<String> = saved.into_iter().flatten().collect();
    if is_planned && !saved.is_empty() {
        let who = match args.what {
            What::Footers => "opening all fragments",
            What::Commits => "after a vacuum, opening the array",
            What::Metadata => "after a vacuum, reading the metadata",
        };
        eprintln!("{who} {}", saved.join(" and "));
    }
    Ok(())
}
