//! File formats of extensions.

mod folders;

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tdb_array::Query;
use tdb_exchange::ColumnFiles;
use tdb_types::Datatype;

use crate::failure::{Failure, Result};

pub use folders::{CellObserver, FolderExport, FolderFormat, FolderImport, FolderImported, Target, Whole};

/// A file format of an extension, which `tdb export` writes and `tdb import` reads.
pub trait FileFormat: Send + Sync {
    /// Returns the file extensions, in lower case and without the dot.
    fn endings(&self) -> &'static [&'static str];

    /// Returns the supported names of `--option NAME=VALUE`.
    fn options(&self) -> &'static [FileOption];

    /// Writes the cells of a query, and returns their number. The caller names the file afterwards,
    /// or removes it after a failure.
    ///
    /// # Errors
    /// Fails if the cells cannot be read, if the format cannot hold them, or if the file cannot be
    /// written.
    fn export(&self, export: Export<'_>) -> Result<u64>;

    /// Opens files for an import.
    ///
    /// # Errors
    /// Fails if the files cannot be read, have another format, or have different columns.
    fn import(&self, import: Import) -> Result<Box<dyn ColumnFiles>>;
}

/// An option of a file format.
#[derive(Clone, Copy, Debug)]
pub struct FileOption {
    /// The name.
    pub name: &'static str,
    /// A short description.
    pub what: &'static str,
}

/// An export: the cells and the file.
#[derive(Debug)]
#[non_exhaustive]
pub struct Export<'a> {
    /// The cells.
    pub query: Query,
    /// The path of the file.
    pub path: &'a Path,
    /// The empty file, or standard output, or a pipe. The writer must flush it. The command makes
    /// it durable.
    pub file: File,
    /// Names and values of options, in the order of the command line. All names are known to the
    /// format.
    pub options: Vec<(String, String)>,
    /// Approximate memory limit of the writer in bytes, in addition to the query.
    pub budget: usize,
}

impl Export<'_> {
    /// Returns the value of an option, or `None` if the option is not given.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// An import: the files and the options.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Import {
    /// The files, at least one, all of the same kind.
    pub paths: Vec<PathBuf>,
    /// Approximate memory limit of the reader in bytes.
    pub budget: usize,
    /// Target types of some columns, by name.
    pub types: Vec<(String, Datatype)>,
}

impl Import {
    pub(crate) fn new(paths: Vec<PathBuf>, budget: usize, types: Vec<(String, Datatype)>) -> Self {
        Self { paths, budget, types }
    }
}

/// File name extensions of formats that only the full build supports.
pub(crate) const COLUMNS: &[&str] = &["parquet", "arrow", "arrows", "feather", "zarr"];

static FORMATS: OnceLock<Vec<Box<dyn FileFormat>>> = OnceLock::new();
static FOLDERS: OnceLock<Vec<Box<dyn FolderFormat>>> = OnceLock::new();

/// Registers the formats of extensions. Must be called once.
pub(crate) fn begin(formats: Vec<Box<dyn FileFormat>>, folders: Vec<Box<dyn FolderFormat>>) {
    // No earlier call has initialized the values.
    let _ = FORMATS.set(formats);
    let _ = FOLDERS.set(folders);
}

fn folders() -> &'static [Box<dyn FolderFormat>] {
    FOLDERS.get().map_or(&[], Vec::as_slice)
}

/// Returns the folder format of a path, by its extension or by `said`.
pub(crate) fn folder_format(path: &Path, said: Option<&str>) -> Option<&'static dyn FolderFormat> {
    let said = said.map(|name| name.trim_start_matches('.').to_ascii_lowercase());
    let ending = said.or_else(|| ending(path))?;
    folders().iter().find(|format| format.endings().contains(&ending.as_str())).map(|format| &**format)
}

fn formats() -> &'static [Box<dyn FileFormat>] {
    FORMATS.get().map_or(&[], Vec::as_slice)
}

/// Returns the file format with this extension.
pub(crate) fn format_of(ending: &str) -> Option<&'static dyn FileFormat> {
    formats().iter().find(|format| format.endings().contains(&ending)).map(|format| &**format)
}

/// Returns the extensions of all added file and folder formats.
pub(crate) fn endings() -> impl Iterator<Item = &'static str> {
    let of_folders = folders().iter().flat_map(|format| format.endings());
    formats().iter().flat_map(|format| format.endings()).chain(of_folders).copied()
}

/// Returns the extension of a path in lower case.
pub(crate) fn ending(path: &Path) -> Option<String> {
    path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase)
}

/// Checks that the format knows all options.
///
/// # Errors
/// Fails for an unknown option, and lists the known ones.
pub(crate) fn check_known(options: &[(String, String)], known: &[FileOption]) -> Result<()> {
    let is_known = |name: &str| known.iter().any(|known| known.name == name);
    let Some((name, _)) = options.iter().find(|(name, _)| !is_known(name)) else { return Ok(()) };
    let known: Vec<String> = known.iter().map(|option| format!("{}: {}", option.name, option.what)).collect();
    let failure = Failure::usage(format!("--option {name}: unknown option for this format"));
    Err(failure.with_hint(format!("the options are {}", known.join("; "))))
}

/// Splits each option at its first `=` into name and value.
///
/// # Errors
/// Fails for an option without `=`, or for a repeated name.
pub(crate) fn options(given: &[String]) -> Result<Vec<(String, String)>> {
    let split = |text: &String| match text.split_once('=') {
        Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
        None => Err(Failure::usage(format!("--option {text}: expected NAME=VALUE"))),
    };
    let options = given.iter().map(split).collect::<Result<Vec<_>>>()?;
    check_once("--option", &options)?;
    Ok(options)
}

/// Checks that all settings have distinct names, since a second setting would override the first.
///
/// # Errors
/// Fails for a repeated name.
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
