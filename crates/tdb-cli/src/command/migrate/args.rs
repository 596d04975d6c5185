//! The options of `tdb migrate`.

use std::ffi::OsString;
use std::path::Path;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use tdb_array::Array;
use tdb_array::tdb_filters::FilterPipeline;
use tdb_migrate::Migrate;
use tdb_types::{FormatVersion, Layout, PhysicalType, Scalar, saturating_len};

use crate::command::create::version;
use crate::failure::{Failure, Result};
use crate::key::Key;
use crate::setter::with;
use crate::size;
use crate::time::TimeArgs;
use tdb_print::RowFormat;

/// Rewrite an array or group in another format version, or with other tiles, orders or filters
///
/// The new array is written completely and compared with the old array. Only then does it replace
/// the old array, or appear at --out. History is preserved: fragments, schemas, deletes and
/// metadata keep their times. Data that the format version cannot represent is refused, with a
/// complete list, before anything is written. The old array is kept in the same folder as
/// NAME.before-migration. For a group, rewrites all arrays in its folder that are members of it or
/// of groups in it, and copies the rest, atomically.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb migrate ARRAY --to 22 --plan                        print the plan or the obstacles
  tdb migrate ARRAY --to 5 --out COPY                     readable by release 2.0
  tdb migrate ARRAY --tile-extent x=256 --filters 'a=bitshuffle | zstd(5)'
  tdb migrate ARRAY --flatten --at 2024-06-30 --out COPY  cells as of that day, without history
  tdb migrate ARRAY --new-key-file NEW --remove-old       encrypt the array
  tdb migrate ARRAY --key-file OLD --new-key-file NEW --out COPY
  tdb migrate ARRAY --key-file OLD --no-key --out COPY    decrypt the array
  tdb migrate GROUP --to 22 --plan                        print the members to migrate")]
pub(crate) struct Args {
    /// Array or group
    pub(super) array: OsString,

    /// Format version to write [default: that of the array]
    #[arg(long, value_name = "VERSION", value_parser = version)]
    to: Option<FormatVersion>,

    /// Folder of the new array, which must not exist [default: replace the old array]
    #[arg(long, value_name = "FOLDER")]
    pub(super) out: Option<OsString>,

    /// Remove the old array after the migration, as `tdb remove` does. Files that are not part of
    /// the format stay
    #[arg(long, conflicts_with = "out")]
    pub(super) remove_old: bool,

    /// New tile extent of a dimension (repeatable)
    #[arg(long, value_name = "DIM=N", value_parser = pair)]
    tile_extent: Vec<(String, String)>,

    /// New number of cells per tile of a sparse array
    #[arg(long, value_name = "CELLS")]
    capacity: Option<u64>,

    /// New order of cells in tiles
    #[arg(long, value_name = "CELL_ORDER", value_parser = layouts(["row-major", "col-major", "hilbert"]))]
    cell_order: Option<Layout>,

    /// New order of tiles
    #[arg(long, value_name = "TILE_ORDER", value_parser = layouts(["row-major", "col-major"]))]
    tile_order: Option<Layout>,

    /// New filters of a field as printed by `tdb schema`, or `no filters` (repeatable). The shared
    /// filters are named __coords, __offsets and __validity
    #[arg(long, value_name = "FIELD=LIST", value_parser = pair)]
    filters: Vec<(String, String)>,

    /// Encrypt the new array with the key in this file, 32 bytes or 64 hexadecimal digits [default:
    /// the key of the old array, if any]
    #[arg(long, value_name = "FILE", conflicts_with = "no_key")]
    new_key_file: Option<OsString>,

    /// Do not encrypt the new array
    #[arg(long)]
    no_key: bool,

    /// Omit the history: write the cells of now, or of the time of --at or --between, to one
    /// fragment, or to several if dense cells are far apart
    #[arg(long)]
    pub(super) flatten: bool,

    #[command(flatten)]
    pub(super) time: TimeArgs,

    /// Memory limit for cells, such as 256MiB
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    budget: Option<u64>,

    /// Print the plan without running it
    #[arg(long)]
    pub(super) plan: bool,

    /// Output format [default: table on a terminal, else jsonl]
    #[arg(long, value_enum)]
    pub(super) format: Option<RowFormat>,
}

fn layouts<const N: usize>(names: [&'static str; N]) -> impl TypedValueParser<Value = Layout> {
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Layout>())
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.rsplit_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.trim().to_owned()))
}

impl Args {
    /// Returns the key of the new array.
    pub(super) fn new_key(&self, key: &Key) -> Result<Key> {
        match &self.new_key_file {
            Some(file) => Key::from_file(Path::new(file), "--new-key-file"),
            None if self.no_key => Ok(Key::none()),
            None => Ok(key.clone()),
        }
    }

    /// Prints the location of the remains of the old array or group.
    pub(super) fn tell_of_old(&self, what: &str, path: &Path, key: &Key) {
        let old = before(path);
        if !self.remove_old {
            eprintln!("the old {what} is kept at {old}{}", self.of_old_key(key));
        } else if Path::new(&old).exists() {
            eprintln!("{old} contains the remaining files, which do not belong to the {what}");
        }
    }

    /// Returns the encryption state of the kept array, if the new array has a different key.
    fn of_old_key(&self, key: &Key) -> &'static str {
        match (self.new_key_file.is_some(), key.is_given()) {
            (true, false) => "; it is not encrypted",
            (true, true) => "; it is encrypted with the old key",
            (false, true) if self.no_key => "; it is still encrypted",
            _ => "",
        }
    }

    /// Returns the requested migration. `array` is `None` for a group.
    pub(super) fn migrate(&self, array: Option<&Array>) -> Result<Migrate> {
        let mut migrate = with(Migrate::new(), self.to, Migrate::to);
        for (name, extent) in &self.tile_extent {
            let Some(array) = array else {
                return Err(Failure::usage("--tile-extent needs a single array, but this is a group"));
            };
            let dimension = array.schema().dimensions().iter().find(|dimension| dimension.name() == name);
            let physical = dimension.map_or(PhysicalType::U64, tdb_schema::Dimension::physical);
            let wrong =
                || Failure::usage(format!("--tile-extent {name}={extent}: not a valid number for the dimension"));
            migrate = migrate.tile_extent(name, Scalar::parse(physical, extent).ok_or_else(wrong)?);
        }
        migrate = with(migrate, self.capacity, Migrate::capacity);
        migrate = with(migrate, self.cell_order, Migrate::cell_order);
        migrate = with(migrate, self.tile_order, Migrate::tile_order);
        for (name, filters) in &self.filters {
            let wrong = |error| Failure::usage(format!("--filters {name}={filters}: {error}"));
            migrate = migrate.filters(name, filters.parse::<FilterPipeline>().map_err(wrong)?);
        }
        if self.flatten {
            migrate = migrate.flatten();
        }
        Ok(with(migrate, self.budget.map(saturating_len), Migrate::budget))
    }
}

/// Returns the path of the kept array.
fn before(path: &Path) -> String {
    // Resolves `.`, which has no file name.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{name}.before-migration")).display().to_string()
}
