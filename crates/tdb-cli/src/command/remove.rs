//! `tdb remove`: removal of arrays and groups.

use std::ffi::OsString;
use std::io::{self, BufRead, IsTerminal, Write};

use tdb_relocate::{Remove, Removed};

use crate::failure::{Exit, Failure, Result};
use crate::place::Place;
use crate::session;
use tdb_print::Terminal;
use tdb_print::{RowFormat, Sheet};

/// Remove an array or group
///
/// Removes only files of the format. Other files stay and are reported. From the first step on, the
/// rest is no longer recognized as an array, and the next removal completes an interrupted one. The
/// members of a group stay, unless --recursive is given.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb remove ARRAY
  tdb remove GROUP --recursive --plan
  tdb remove ARRAY --yes")]
pub(crate) struct Args {
    /// Array or group
    path: OsString,

    /// Also remove the members in the folder of a group, and their members
    #[arg(short, long)]
    recursive: bool,

    /// Also remove files that tdb doctor has quarantined. Without this option, nothing is removed
    /// if .tdb-quarantine contains files
    #[arg(long)]
    with_quarantine: bool,

    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,

    /// Print the plan without removing anything
    #[arg(long)]
    plan: bool,

    /// Output format [default: table on a terminal, else jsonl]
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

pub(crate) fn run(args: &Args, terminal: Terminal) -> Result<()> {
    let place = Place::of(&args.path)?;
    let remove = Remove::new().recursive(args.recursive).with_quarantine(args.with_quarantine);
    let plan = match &place {
        Place::Local(path) => remove.plan_folder(path)?,
        Place::Store(place) => remove.plan(&place.parent, &place.name)?,
    };
    let format = RowFormat::or_default(args.format, terminal);
    if args.plan {
        return print(plan.removed(), "remove", format, terminal);
    }
    if !args.yes && !is_agreed(&place.to_string(), plan.removed())? {
        return Err(Failure::new(Exit::Finding, format!("{place}: nothing was removed")));
    }
    print(&plan.run()?, "removed", format, terminal)
}

/// Asks for confirmation. Fails without a terminal.
fn is_agreed(path: &str, plan: &Removed) -> Result<bool> {
    if !io::stdin().is_terminal() {
        return Err(Failure::usage(format!("{path}: `remove` needs confirmation")).with_hint("pass --yes"));
    }
    let others = match plan.objects.len() {
        0 | 1 => String::new(),
        count => format!(" and {} members", count - 1),
    };
    let io = |error: io::Error| Failure::io("standard input", &error);
    write!(io::stderr(), "Permanently remove {path}{others}? [y/N] ").map_err(io)?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(io)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn print(removed: &Removed, action: &'static str, format: RowFormat, terminal: Terminal) -> Result<()> {
    let mut sheet = Sheet::new(&[("action", false), ("path", false), ("what", false)]);
    for (path, kind) in &removed.objects {
        let path = if path.is_empty() { "." } else { path.as_str() };
        sheet.push(vec![action.into(), path.into(), kind.name().into()]);
    }
    for path in &removed.links {
        sheet.push(vec![action.into(), path.as_str().into(), "a link; its target is kept".into()]);
    }
    for path in &removed.left {
        sheet.push(vec!["leave".into(), path.as_str().into(), "neither part of the format nor a member".into()]);
    }
    sheet.print(format, terminal)?;
    for group in &removed.held_by {
        session::warn(&format!("the group {group} still has it as a member"), terminal);
    }
    Ok(())
}
