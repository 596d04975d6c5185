//! `tdb consolidate`: consolidation of fragments, commits, footers and metadata.

mod fragments;

use std::ffi::OsString;

use clap::ValueEnum;
use tdb_maintain::tdb_job::Target;
use tdb_maintain::{Consolidate, Consolidation};

use fragments::FragmentArgs;

use super::maintained;
use crate::failure::{Failure, Result};
use crate::key::Key;
use crate::size::counted;
use crate::time::TimeArgs;
use tdb_print::RowFormat;
use tdb_print::Terminal;

/// Consolidate fragments, commits, footers or metadata
///
/// Consolidated files stay on disk until deleted by `tdb vacuum`, and readers ignore these files.
/// Every point in time reads as before.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb consolidate ARRAY --plan                   print the plan only
  tdb consolidate ARRAY --max-fragment-size 1GiB
  tdb consolidate ARRAY --what commits
  tdb consolidate ARRAY --what footers
  tdb consolidate GROUP --what metadata --between ..2024-12-31")]
pub(crate) struct Args {
    /// Array or group
    path: OsString,

    /// Kind of files to consolidate
    #[arg(long, value_enum, default_value_t = What::Fragments)]
    what: What,

    /// Print the plan without running it
    #[arg(long)]
    plan: bool,

    /// Continue although another process seems to maintain the array or group. Use only if it has
    /// certainly stopped
    #[arg(long)]
    take_over: bool,

    #[command(flatten)]
    time: TimeArgs,

    #[command(flatten, next_help_heading = "Fragments")]
    fragments: FragmentArgs,

    /// Output format [default: table on a terminal, else jsonl]
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

/// A kind of files to consolidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Fragments of an array, into as few as possible
    Fragments,
    /// Commits of writes and deletes, into one file
    Commits,
    /// Footers of all fragments, into one file
    Footers,
    /// Metadata of an array or group, into one file
    Metadata,
}

impl What {
    /// Returns the job for all kinds other than fragments.
    fn job(self) -> Option<Consolidation> {
        match self {
            Self::Fragments => None,
            Self::Commits => Some(Consolidate::commits()),
            Self::Footers => Some(Consolidate::footers()),
            Self::Metadata => Some(Consolidate::metadata()),
        }
    }
}

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    if args.time.range().is_some() && matches!(args.what, What::Commits | What::Footers) {
        let failure = Failure::usage(
            "--at and --between apply to fragments and metadata; commits and footers are consolidated completely",
        );
        return Err(failure.with_hint("leave out the option; consolidated commits and footers keep all times"));
    }
    let Some(job) = args.what.job() else { return join_fragments(args, key, terminal) };
    if args.fragments.is_any() {
        return Err(Failure::usage("these options need --what fragments"));
    }
    let target = maintained::open(&args.path, &args.time, key)?;
    if matches!(target, Target::Group(_)) && args.what != What::Metadata {
        return Err(Failure::usage("a group has only metadata to consolidate"));
    }
    let plan = job.plan(target)?.take_over(args.take_over);
    let savings = plan.savings();
    let is_planned = !plan.is_empty();
    maintained::finish(plan, args.plan, RowFormat::or_default(args.format, terminal), terminal)?;
    let fewer =
        |verb: &str, count: u64, what: &str| (count > 0).then(|| format!("{verb} {} fewer", counted(count, what)));
    let saved = [fewer("lists", savings.names, "name"), fewer("reads", savings.reads, "file")];
    let saved: Vec<String> = saved.into_iter().flatten().collect();
    if is_planned && !saved.is_empty() {
        let who = match args.what {
            What::Footers => "opening all fragments",
            What::Commits => "after a vacuum, opening the array",
            What::Metadata | What::Fragments => "after a vacuum, reading the metadata",
        };
        eprintln!("{who} {}", saved.join(" and "));
    }
    Ok(())
}

fn join_fragments(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    match maintained::open(&args.path, &TimeArgs::default(), key)? {
        Target::Array(array) => {
            fragments::run(&array, &args.fragments, args.time.range(), (args.plan, args.take_over), terminal)
        }
        Target::Group(_) => {
            Err(Failure::usage("a group has no fragments").with_hint("use --what metadata to consolidate its metadata"))
        }
    }
}
