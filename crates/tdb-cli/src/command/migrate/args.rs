//! The options of `tdb migrate`.

use std::ffi::OsString;
use std::path::Path;

use clap::ValueEnum;
use tdb_array::Array;
use tdb_array::tdb_filters::FilterPipeline;
use tdb_migrate::Migrate;
use tdb_types::{FormatVersion, Layout, PhysicalType, Scalar, saturating_len};

use crate::failure::{Failure, Result};
use crate::key::Key;
use crate::size;
use crate::time::TimeArgs;
use tdb_print::RowFormat;

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
    pub(super) array: OsString,

    /// The format version to write [default: the array's]
    #[arg(long, value_name = "VERSION", value_parser = version)]
    to: Option<FormatVersion>,

    /// Where the new array goes, a folder that isn't there yet [default: in place of the old one]
    #[arg(long, value_name = "FOLDER")]
    pub(super) out: Option<OsString>,

    /// Removes the old array when the new one is in its place, as `tdb remove` does: what isn't of the format stays
    #[arg(long, conflicts_with = "out")]
    pub(super) remove_old: bool,

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
    pub(super) flatten: bool,

    #[command(flatten)]
    pub(super) time: TimeArgs,

    /// Memory that cells may take, such as 256MiB
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    budget: Option<u64>,

    /// Only say what would be done
    #[arg(long)]
    pub(super) plan: bool,

    /// How to print; a table on a terminal, else JSON lines
    #[arg(long, value_enum)]
    pub(super) format: Option<RowFormat>,
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

impl Args {
    /// The key of what is written.
    pub(super) fn new_key(&self, key: &Key) -> Result<Key> {
        match &self.new_key_file {
            Some(file) => Key::from_file(Path::new(file), "--new-key-file"),
            None if self.no_key => Ok(Key::none()),
            None => Ok(key.clone()),
        }
    }

    /// Says what is still there of the old array or group.
    pub(super) fn tell_of_old(&self, what: &str, path: &Path, key: &Key) {
        let old = before(path);
        if !self.remove_old {
            eprintln!("the old {what} is kept as {old}{}", self.of_old_key(key));
        } else if Path::new(&old).exists() {
            eprintln!("{old} keeps what isn't of the {what}");
        }
    }

    /// What people should know of the one that is kept, where the new one has another key.
    fn of_old_key(&self, key: &Key) -> &'static str {
        match (self.new_key_file.is_some(), key.is_given()) {
            (true, false) => "; that one is not encrypted",
            (true, true) => "; that one is encrypted with its old key",
            (false, true) if self.no_key => "; that one is still encrypted",
            _ => "",
        }
    }

    /// What is to be done, to an array or to whatever is in a group.
    pub(super) fn migrate(&self, array: Option<&Array>) -> Result<Migrate> {
        let mut migrate = Migrate::new();
        if let Some(version) = self.to {
            migrate = migrate.to(version);
        }
        for (name, extent) in &self.tile_extent {
            let Some(array) = array else {
                return Err(Failure::usage("--tile-extent is for an array, and a group may have arrays of all kinds"));
            };
            let dimension = array.schema().dimensions().iter().find(|dimension| dimension.name() == name);
            let physical = dimension.map_or(PhysicalType::U64, tdb_schema::Dimension::physical);
            let wrong =
                || Failure::usage(format!("--tile-extent {name}={extent}: no number that the dimension can have"));
            migrate = migrate.tile_extent(name, Scalar::parse(physical, extent).ok_or_else(wrong)?);
        }
        if let Some(cells) = self.capacity {
            migrate = migrate.capacity(cells);
        }
        migrate = match self.cell_order {
            Some(CellOrder::RowMajor) => migrate.cell_order(Layout::RowMajor),
            Some(CellOrder::ColMajor) => migrate.cell_order(Layout::ColMajor),
            Some(CellOrder::Hilbert) => migrate.cell_order(Layout::Hilbert),
            None => migrate,
        };
        migrate = match self.tile_order {
            Some(TileOrder::RowMajor) => migrate.tile_order(Layout::RowMajor),
            Some(TileOrder::ColMajor) => migrate.tile_order(Layout::ColMajor),
            None => migrate,
        };
        for (name, filters) in &self.filters {
            let wrong = |error| Failure::usage(format!("--filters {name}={filters}: {error}"));
            migrate = migrate.filters(name, filters.parse::<FilterPipeline>().map_err(wrong)?);
        }
        if self.flatten {
            migrate = migrate.flatten();
        }
        Ok(match self.budget {
            Some(bytes) => migrate.budget(saturating_len(bytes)),
            None => migrate,
        })
    }
}

/// Where the old one is kept.
fn before(path: &Path) -> String {
    // `.` has no name.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{name}.before-migration")).display().to_string()
}
