//! `tdb migrate` of a group.

use std::path::Path;

use tdb_migrate::{GroupMigration, GroupMigrationReport};

use super::args::Args;
use crate::failure::{Failure, Result};
use crate::key::Key;
use crate::place::Place;
use crate::time::TimeArgs;
use crate::{session, target};
use tdb_print::Terminal;
use tdb_print::{Entry, RowFormat, Sheet};

pub(super) fn run(args: &Args, path: &Path, key: &Key, new_key: &Key, terminal: Terminal) -> Result<()> {
    if args.time.range().is_some() {
        return Err(Failure::usage("--at and --between need an array: a group is migrated as it is now"));
    }
    let migrate = args.migrate(None)?;
    let group = target::open_group(path, &TimeArgs::default(), key)?;
    let migration = migrate.plan_group(&group, key.bytes())?;
    let format = RowFormat::or_default(args.format, terminal);
    let report = match &args.out {
        _ if args.plan => None,
        Some(out) => Some(match Place::of(out)? {
            Place::Local(out) => migration.into_folder(&out, new_key.bytes())?,
            Place::Store(out) => migration.into_place(&out.parent, &out.name, new_key.bytes())?,
        }),
        None => Some(migration.in_place(path, new_key.bytes(), args.remove_old)?),
    };
    print(&migration, report.as_ref(), format, terminal)?;
    for uri in migration.unchanged() {
        session::warn(&format!("the member {uri} is unchanged: it is outside of the group, or missing"), terminal);
    }
    if report.is_some() && args.out.is_none() {
        args.tell_of_old("group", path, key);
    }
    Ok(())
}

/// Prints the plan, or the report after the migration.
fn print(
    migration: &GroupMigration,
    report: Option<&GroupMigrationReport>,
    format: RowFormat,
    terminal: Terminal,
) -> Result<()> {
    let mut sheet =
        Sheet::new(&[("path", false), ("what", false), ("format", true), ("fragments", true), ("cells", true)]);
    for group in migration.groups() {
        let path = if group.is_empty() { "." } else { group };
        sheet.push(vec![path.into(), "group".into(), Entry::none(), Entry::none(), Entry::none()]);
    }
    for (number, (path, array)) in migration.arrays().enumerate() {
        let written = report.and_then(|report| Some(&report.arrays.get(number)?.1));
        let planned = array.fragment_count() as u64;
        sheet.push(vec![
            path.into(),
            "array".into(),
            u64::from(array.version().number()).into(),
            written.map_or(planned, |written| written.fragments).into(),
            written.map_or_else(Entry::none, |written| written.cells.into()),
        ]);
    }
    Ok(sheet.print(format, terminal)?)
}
