//! Kinds of files that a program has added.

mod columns;
mod folders;

use std::collections::HashSet;
use std::fs::File;
use std::path::Path;
use std::sync::OnceLock;

use tdb_array::Query;

use crate::failure::{Failure, Result};

pub(crate) use columns::Columns;
pub use columns::{ColumnFiles, Import};
pub use folders::{CellObserver, FolderExport, FolderFormat, FolderImport, FolderImported, Target, Whole};

/// A kind of file that a program adds: `tdb export` writes such files, and `tdb import` reads them.
pub trait FileFormat: Send + Sync {
    /// How the names of such files end, without the dot and in small letters.
    fn endings(&self) -> &'static [&'static str];

    /// What `--option NAME=VALUE` may say about them.
    fn options(&self) -> &'static [FileOption];

    /// Writes the cells of a query, and says how many these are. The file gets its name afterwards, and is removed after a failure.
    ///
    /// # Errors
    /// The cells can't be read, such files can't hold them, or the file can't be written.
    fn export(&self, export: Export<'_>) -> Result<u64>;

    /// Opens files to be imported.
    ///
    /// # Errors
    /// They can't be read, are no such files, or don't have the same columns.
    fn import(&self, import: Import) -> Result<Box<dyn ColumnFiles>>;
}

/// Something that may be said about a kind of files.
#[derive(Clone, Copy, Debug)]
pub struct FileOption {
    /// Its name.
    pub name: &'static str,
    /// What it is for, in a few words.
    pub what: &'static str,
}

/// Cells, and the file that they go to.
#[derive(Debug)]
#[non_exhaustive]
pub struct Export<'a> {
    /// The cells.
    pub query: Query,
    /// How the file is called.
    pub path: &'a Path,
    /// The file, which is empty, or standard output or a pipe. The writer flushes it; the command makes it durable.
    pub file: File,
    /// Names and values of options, in the order in which they were given; all of these names are known.
    pub options: Vec<(String, String)>,
    /// About how many bytes of memory the writer may use, beside what the query does.
    pub budget: usize,
}

impl Export<'_> {
    /// The last value of an option.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Endings of files that hold whole columns or arrays, which need more than this crate has.
pub(crate) const COLUMNS: &[&str] = &["parquet", "arrow", "arrows", "feather", "zarr"];

static FORMATS: OnceLock<Vec<Box<dyn FileFormat>>> = OnceLock::new();
static FOLDERS: OnceLock<Vec<Box<dyn FolderFormat>>> = OnceLock::new();

/// Notes what there is; once.
pub(crate) fn begin(formats: Vec<Box<dyn FileFormat>>, folders: Vec<Box<dyn FolderFormat>>) {
    // Nobody has asked for them yet.
    let _ = FORMATS.set(formats);
    let _ = FOLDERS.set(folders);
}

fn folders() -> &'static [Box<dyn FolderFormat>] {
    FOLDERS.get().map_or(&[], Vec::as_slice)
}

/// The kind of folders whose names end so, or as was said in place of that.
pub(crate) fn folder_format(path: &Path, said: Option<&str>) -> Option<&'static dyn FolderFormat> {
    let said = said.map(|name| name.trim_start_matches('.').to_ascii_lowercase());
    let ending = said.or_else(|| ending(path))?;
    folders().iter().find(|format| format.endings().contains(&ending.as_str())).map(|format| &**format)
}

fn formats() -> &'static [Box<dyn FileFormat>] {
    FORMATS.get().map_or(&[], Vec::as_slice)
}

/// The kind of files whose names end so.
pub(crate) fn format_of(ending: &str) -> Option<&'static dyn FileFormat> {
    formats().iter().find(|format| format.endings().contains(&ending)).map(|format| &**format)
}

/// How the names of all files and folders end that were added.
pub(crate) fn endings() -> impl Iterator<Item = &'static str> {
    let of_folders = folders().iter().flat_map(|format| format.endings());
    formats().iter().flat_map(|format| format.endings()).chain(of_folders).copied()
}

/// How the name of a file ends, in small letters.
pub(crate) fn ending(path: &Path) -> Option<String> {
    path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase)
}

/// Checks that all options are known.
///
/// # Errors
/// One isn't.
pub(crate) fn check_known(options: &[(String, String)], known: &[FileOption]) -> Result<()> {
    let is_known = |name: &str| known.iter().any(|known| known.name == name);
    let Some((name, _)) = options.iter().find(|(name, _)| !is_known(name)) else { return Ok(()) };
    let known: Vec<String> = known.iter().map(|option| format!("{}: {}", option.name, option.what)).collect();
    let failure = Failure::usage(format!("--option {name}: such files know no option of this name"));
    Err(failure.with_hint(format!("they know {}", known.join("; "))))
}

/// Splits each option at its first `=` into name and value.
///
/// # Errors
/// An option without `=`; a name given twice.
pub(crate) fn options(given: &[String]) -> Result<Vec<(String, String)>> {
    let split = |text: &String| match text.split_once('=') {
        Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
        None => Err(Failure::usage(format!("--option {text}: NAME=VALUE is needed"))),
    };
    let options = given.iter().map(split).collect::<Result<Vec<_>>>()?;
    check_once("--option", &options)?;
    Ok(options)
}

/// Checks that all settings have distinct names, since a second setting would override the first.
///
/// # Errors
/// A name given twice.
pub(crate) fn check_once<T>(argument: &str, settings: &[(String, T)]) -> Result<()> {
    let mut seen = HashSet::new();
    match settings.iter().find(|(name, _)| !seen.insert(name)) {
        Some((name, _)) => {
            Err(Failure::usage(format!("{argument} {name}: given twice"))
                .with_hint(format!("give {argument} {name} once")))
        }
        None => Ok(()),
    }
}
