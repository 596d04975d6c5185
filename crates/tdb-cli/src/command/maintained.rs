//! Common functions of the maintenance commands.

use std::ffi::OsStr;

use tdb_array::TimeRange;
use tdb_maintain::tdb_job::Target;
use tdb_maintain::{Action, Plan, Retained, Step};
use tdb_types::TimestampedName;

use super::describe::show_time;
use crate::failure::Result;
use crate::key::Key;
use crate::session;
use crate::size::Bytes;
use crate::target::{self, Kind};
use crate::time::TimeArgs;
use tdb_print::Terminal;
use tdb_print::{Entry, RowFormat, Sheet};

/// Opens the group or array at a path.
pub(crate) fn open(argument: &OsStr, time: &TimeArgs, key: &Key) -> Result<Target> {
    let (path, kind) = target::find(argument)?;
    if kind == Kind::Group {
        return Ok(Target::from(&target::open_group(&path, time, key)?));
    }
    Ok(Target::Array(target::open_to_read(argument, 1, time, key)?.1))
}

/// Runs a plan, or only prints it if `only_plan`. Prints all steps.
pub(crate) fn finish(plan: Plan, only_plan: bool, format: RowFormat, terminal: Terminal) -> Result<()> {
    let mut past: Vec<TimeRange> = plan.past().copied().collect();
    let mut sheet = Sheet::new(&[("action", false), ("path", false), ("what", false), ("size", true), ("for", true)]);
    let has_left = if only_plan {
        plan.steps().for_each(|step| sheet.push(row(step, &path_of_plan(step))));
        plan.retained().for_each(|left| sheet.push(row_of_left(left)));
        plan.retained().next().is_some()
    } else {
        let report = plan.run()?;
        past.clone_from(&report.past);
        if report.recovered > 0 {
            let what = "interrupted consolidations of fragments were completed or rolled back first";
            session::warn(&format!("{} {what}", report.recovered), terminal);
        }
        report.steps.iter().for_each(|step| sheet.push(row(step, &step.path)));
        report.left.iter().for_each(|left| sheet.push(row_of_left(left)));
        !report.left.is_empty()
    };
    sheet.print(format, terminal)?;
    if has_left {
        session::found();
    }
    for TimeRange { start, end } in past {
        let (first, last) = (show_time(start), show_time(end));
        let lost = if only_plan { "will be lost" } else { "is lost" };
        session::warn(
            &format!("the history from {first} to {last} {lost}: only the consolidated state is kept"),
            terminal,
        );
    }
    Ok(())
}

fn row(step: &Step, path: &str) -> Vec<Entry> {
    let size = Entry::shown(Bytes(step.bytes).to_string(), step.bytes);
    let joins = if step.action == Action::Write { (step.supersedes as u64).into() } else { Entry::none() };
    vec![step.action.to_string().into(), path.into(), step.what.into(), size, joins]
}

fn row_of_left(left: &Retained) -> Vec<Entry> {
    vec!["leave".into(), left.path.as_str().into(), left.why.to_string().into(), Entry::none(), Entry::none()]
}

/// Returns the path of a planned file. Replaces the unique part by `…`, because the name is chosen
/// when the file is created.
fn path_of_plan(step: &Step) -> String {
    let path = &step.path;
    let name = path.rsplit('/').next().unwrap_or_default();
    match TimestampedName::parse(name).filter(|_| step.action == Action::Write) {
        Some(_) => path.split('_').map(|part| if is_unique(part) { "…" } else { part }).collect::<Vec<_>>().join("_"),
        None => path.clone(),
    }
}

fn is_unique(part: &str) -> bool {
    let digits = part.split('.').next().unwrap_or_default();
    digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}
