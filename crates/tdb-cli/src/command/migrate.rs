//! `tdb migrate`: an array, or all arrays of a group, in another format, or with other tiles, orders or filters.

mod group;

use std::ffi::OsString;
use std::path::Path;

use clap::ValueEnum;
use tdb_array::Array;
use tdb_array::tdb_filters::FilterPipeline;
use tdb_maintain::{InPlace, Migrate, Migration, MigrationReport, recover_migration};
use tdb_types::{FormatVersion, Layout, PhysicalType, Scalar, saturating_len};

use crate::failure::{Failure, Result};
use crate::key::Key;
use crate::output::{RowFormat, Sheet};
use crate::target::Kind;
use crate::terminal::Terminal;
use crate::time::TimeArgs;
use crate::{location, size, target};

/// Rewrite an array, or all of a group, in another format version, with other tiles, orders or filters
///
/// All of it is written anew and compared with the old array before it takes its place, or the place that --out says. The history stays:
/// each fragment keeps its time, and schemas, deletes and metadata theirs. What a format can't say is refused, all at once,
/// before anything is written. The old array is kept beside the new one as NAME.before-migration. Of a group all arrays in its folder
/// that are members of it, or of groups in it, are rewritten, and the rest is copied: at once, or not at all.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb migrate ARRAY --to 22 --plan                        what would be done, or what stands against it
  tdb migrate ARRAY --to 5 --out COPY                     for readers of release 2.0
  tdb migrate ARRAY --tile-extent x=256 --filters 'a=bitshuffle | zstd(5)'
  tdb migrate ARRAY --flatten --at 2024-06-30 --out COPY  the cells of then, without history
  tdb migrate ARRAY --new-key-file NEW --remove-old       encrypted from now on
  tdb migrate ARRAY --key-file OLD --new-key-file NEW --out COPY
  tdb migrate ARRAY --key-file OLD --no-key --out COPY    not encrypted any more
  tdb migrate GROUP --to 22 --plan                        what of a group would be rewritten")]
pub(crate) struct Args {
    /// An array or a group
    array: OsString,

    /// The format version to write [default: the array's]
    #[arg(long, value_name = "VERSION", value_parser = version)]
    to: Option<FormatVersion>,

    /// Where the new array goes, a folder that isn't there yet [default: in place of the old one]
    #[arg(long, value_name = "FOLDER")]
    out: Option<OsString>,

    /// Removes the old array when the new one is in its place
    #[arg(long, conflicts_with = "out")]
    remove_old: bool,

    /// Another tile extent of a dimension
    #[arg(long, value_name = "DIM=N", value_parser = pair)]
    tile_extent: Vec<(String, String)>,

    /// Another number of cells per tile of a sparse array
    #[arg(long, value_name = "CELLS")]
    capacity: Option<u64>,

    /// Another order of cells in tiles
    #[arg(long, value_enum)]
    cell_order: Option<CellOrder>,

    /// Another order of tiles
    #[arg(long, value_enum)]
    tile_order: Option<TileOrder>,

    /// Other filters of a field, as `tdb schema` prints them, or `no filters`; those that fields share are called __coords,
    /// __offsets and __validity
    #[arg(long, value_name = "FIELD=LIST", value_parser = pair)]
    filters: Vec<(String, String)>,

    /// Encrypts the new array with the key in this file, 32 bytes or 64 hexadecimal digits [default: with the key of the old
    /// one, if it has one]
    #[arg(long, value_name = "FILE", conflicts_with = "no_key")]
    new_key_file: Option<OsString>,

    /// Doesn't encrypt the new array
    #[arg(long)]
    no_key: bool,

    /// Leaves out the history: one fragment with the cells of now, or those of the time of --at
    #[arg(long)]
    flatten: bool,

    #[command(flatten)]
    time: TimeArgs,

    /// Memory that cells may take, such as 256MiB
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    budget: Option<u64>,

    /// Only say what would be done
    #[arg(long)]
    plan: bool,

    /// How to print; a table on a terminal, else JSON lines
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CellOrder {
    RowMajor,
    ColMajor,
    Hilbert,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TileOrder {
    RowMajor,
    ColMajor,
}

fn version(text: &str) -> Result<FormatVersion, String> {
    let number = text.parse().map_err(|_| format!("{text:?} is no number"))?;
    FormatVersion::new(number).map_err(|error| error.to_string())
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.rsplit_once('=').ok_or("a name, `=` and a value are wanted")?;
    Ok((name.to_owned(), value.trim().to_owned()))
}

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    if args.time.range().is_some() && !args.flatten {
        return Err(Failure::usage(
            "--at and --between are for --flatten: with its history an array is copied of all times",
        ));
    }
    // Before anything is looked at: a key that can't be read is no reason to have begun.
    let new_key = new_key(args, key)?;
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
    let migration = migrate(args, Some(&array))?.plan(&array)?;
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
    if args.out.is_none() && !args.remove_old {
        eprintln!("the old array is kept as {}{}", before(&path), of_old_key(args, key));
    }
    Ok(())
}

/// The key of what is written.
fn new_key(args: &Args, key: &Key) -> Result<Key> {
    match &args.new_key_file {
        Some(file) => Key::from_file(Path::new(file), "--new-key-file"),
        None if args.no_key => Ok(Key::none()),
        None => Ok(key.clone()),
    }
}

/// What people should know of the one that is kept, where the new one has another key.
fn of_old_key(args: &Args, key: &Key) -> &'static str {
    match (args.new_key_file.is_some(), key.is_given()) {
        (true, false) => "; that one is not encrypted",
        (true, true) => "; that one is encrypted with its old key",
        (false, true) if args.no_key => "; that one is still encrypted",
        _ => "",
    }
}

fn before(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{name}.before-migration")).display().to_string()
}

/// What is to be done, to an array or to whatever is in a group.
fn migrate(args: &Args, array: Option<&Array>) -> Result<Migrate> {
    let mut migrate = Migrate::new();
    if let Some(version) = args.to {
        migrate = migrate.to(version);
    }
    for (name, extent) in &args.tile_extent {
        let Some(array) = array else {
            return Err(Failure::usage("--tile-extent is for an array, and a group may have arrays of all kinds"));
        };
        let dimension = array.schema().dimensions().iter().find(|dimension| dimension.name() == name);
        let physical = dimension.map_or(PhysicalType::U64, tdb_schema::Dimension::physical);
        let wrong = || Failure::usage(format!("--tile-extent {name}={extent}: no number that the dimension can have"));
        migrate = migrate.tile_extent(name, Scalar::parse(physical, extent).ok_or_else(wrong)?);
    }
    if let Some(cells) = args.capacity {
        migrate = migrate.capacity(cells);
    }
    migrate = match args.cell_order {
        Some(CellOrder::RowMajor) => migrate.cell_order(Layout::RowMajor),
        Some(CellOrder::ColMajor) => migrate.cell_order(Layout::ColMajor),
        Some(CellOrder::Hilbert) => migrate.cell_order(Layout::Hilbert),
        None => migrate,
    };
    migrate = match args.tile_order {
        Some(TileOrder::RowMajor) => migrate.tile_order(Layout::RowMajor),
        Some(TileOrder::ColMajor) => migrate.tile_order(Layout::ColMajor),
        None => migrate,
    };
    for (name, filters) in &args.filters {
        let wrong = |error| Failure::usage(format!("--filters {name}={filters}: {error}"));
        migrate = migrate.filters(name, filters.parse::<FilterPipeline>().map_err(wrong)?);
    }
    if args.flatten {
        migrate = migrate.flatten();
    }
    Ok(match args.budget {
        Some(bytes) => migrate.budget(saturating_len(bytes)),
        None => migrate,
    })
}

const COLUMNS: [(&str, bool); 2] = [("what", false), ("count", true)];

fn print_plan(migration: &Migration, format: RowFormat, terminal: Terminal) -> Result<()> {
    let mut sheet = Sheet::new(&COLUMNS);
    sheet.push(vec!["format".into(), u64::from(migration.version().number()).into()]);
    let fragments = if migration.keeps_history() { migration.fragments().len() as u64 } else { 1 };
    sheet.push(vec!["fragments".into(), fragments.into()]);
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
