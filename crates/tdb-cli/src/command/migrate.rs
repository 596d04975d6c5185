//! `tdb migrate`: conversion of arrays and groups to another format version, or to other tiles,
//! orders or filters.

mod args;
mod group;

use tdb_migrate::{InPlace, Migration, MigrationReport, recover_migration};

use crate::failure::{Exit, Failure, Result};
use crate::key::Key;
use crate::place::Place;
use crate::target::{self, Kind};
pub(crate) use args::Args;
use tdb_print::Terminal;
use tdb_print::{RowFormat, Sheet};

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    if args.time.range().is_some() && !args.flatten {
        return Err(Failure::usage("--at and --between need --flatten: a migration with history includes all times"));
    }
    // An unreadable key must fail before any work begins.
    let new_key = args.new_key(key)?;
    let place = Place::of(&args.array)?;
    let interrupted = match &place {
        // A plan must not modify files.
        _ if args.plan => InPlace::Nothing,
        Place::Local(path) => recover_migration(path)?,
        Place::Store(_) if args.out.is_some() => InPlace::Nothing,
        Place::Store(place) => return Err(not_in_place(&place.uri)),
    };
    match interrupted {
        InPlace::Finished => {
            eprintln!("completed an interrupted migration; no other changes");
            return Ok(());
        }
        InPlace::Restored => eprintln!("rolled back an interrupted migration"),
        _ => {}
    }
    if let (path, Kind::Group) = target::find(&args.array)? {
        return group::run(args, &path, key, &new_key, terminal);
    }
    let (path, array) = target::open_to_read(&args.array, 0, &args.time, key)?;
    let migration = args.migrate(Some(&array))?.plan(&array)?;
    let format = RowFormat::or_default(args.format, terminal);
    if args.plan {
        return print_plan(&migration, format, terminal);
    }
    let options = new_key.create_options();
    let report = match &args.out {
        Some(out) => match Place::of(out)? {
            Place::Local(out) => migration.into_folder(&out, &options)?,
            Place::Store(out) => migration.into_place(&out.parent, &out.name, &options)?,
        },
        None => migration.in_place(&path, &options, args.remove_old)?,
    };
    print_report(&migration, &report, format, terminal)?;
    if args.out.is_none() {
        args.tell_of_old("array", &path, key);
    }
    Ok(())
}

/// Returns the failure of a migration in place on a store, which cannot exchange two folders
/// atomically.
fn not_in_place(uri: &str) -> Failure {
    let message = format!("{uri}: cannot migrate in place on a store, which cannot rename a folder atomically");
    Failure::new(Exit::Unsupported, message).with_hint("use --out to write the new array or group to another path")
}

const COLUMNS: [(&str, bool); 2] = [("what", false), ("count", true)];

fn print_plan(migration: &Migration, format: RowFormat, terminal: Terminal) -> Result<()> {
    let mut sheet = Sheet::new(&COLUMNS);
    sheet.push(vec!["format".into(), u64::from(migration.version().number()).into()]);
    sheet.push(vec!["fragments".into(), (migration.fragment_count() as u64).into()]);
    Ok(sheet.print(format, terminal)?)
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
    Ok(sheet.print(format, terminal)?)
}
