//! `tdb migrate`: an array, or all arrays of a group, in another format, or with other tiles, orders or filters.

mod args;
mod group;

use tdb_maintain::{InPlace, Migration, MigrationReport, recover_migration};

use crate::failure::{Failure, Result};
use crate::key::Key;
use crate::output::{RowFormat, Sheet};
use crate::target::Kind;
use crate::terminal::Terminal;
use crate::{location, target};
pub(crate) use args::Args;

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    if args.time.range().is_some() && !args.flatten {
        return Err(Failure::usage(
            "--at and --between are for --flatten: with its history an array is copied of all times",
        ));
    }
    // Before anything is looked at: a key that can't be read is no reason to have begun.
    let new_key = args.new_key(key)?;
    let local = location::local(&args.array)?;
    // Whoever only looks changes nothing.
    let interrupted = if args.plan { InPlace::Nothing } else { recover_migration(&local)? };
    match interrupted {
        InPlace::Finished => {
            eprintln!("a migration that was interrupted is finished now; nothing else was done");
            return Ok(());
        }
        InPlace::Undone => eprintln!("a migration that was interrupted is undone"),
        _ => {}
    }
    if let (path, Kind::Group) = target::find(&args.array)? {
        return group::run(args, &path, key, &new_key, terminal);
    }
    let (path, array) = target::open_array(&args.array, 0, &args.time, key, target::local_storage)?;
    let migration = args.migrate(Some(&array))?.plan(&array)?;
    let format = RowFormat::or_default(args.format, terminal);
    if args.plan {
        return print_plan(&migration, format, terminal);
    }
    let options = new_key.create_options();
    let report = match &args.out {
        Some(out) => migration.into_folder(&location::local(out)?, &options)?,
        None => migration.in_place(&path, &options, args.remove_old)?,
    };
    print_report(&migration, &report, format, terminal)?;
    if args.out.is_none() {
        args.tell_of_old("array", &path, key);
    }
    Ok(())
}

const COLUMNS: [(&str, bool); 2] = [("what", false), ("count", true)];

fn print_plan(migration: &Migration, format: RowFormat, terminal: Terminal) -> Result<()> {
    let mut sheet = Sheet::new(&COLUMNS);
    sheet.push(vec!["format".into(), u64::from(migration.version().number()).into()]);
    sheet.push(vec!["fragments".into(), (migration.fragment_count() as u64).into()]);
    sheet.print(format, terminal)
}

fn print_report(migration: &Migration, report: &MigrationReport, format: RowFormat, terminal: Terminal) -> Result<()> {
    let mut sheet = Sheet::new(&COLUMNS);
    sheet.push(vec!["format".into(), u64::from(migration.version().number()).into()]);
    let counts = [
        ("schemas", report.schemas),
        ("fragments", report.fragments),
        ("cells", report.cells),
        ("deletes", report.deletes),
        ("metadata", report.metadata),
    ];
    counts.into_iter().for_each(|(what, count)| sheet.push(vec![what.into(), count.into()]));
    sheet.print(format, terminal)
}
