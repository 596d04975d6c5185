//! The files to import.

use std::ffi::OsString;
use std::io::{Read, stdin};
use std::path::{Path, PathBuf};

use tdb_exchange::{Input, RowsFormat, Source};
use tdb_types::Datatype;

use crate::failure::{Exit, Failure, Result};
use crate::files::{self, FileFormat, Import};
use crate::location;

/// The name of standard input in messages.
const STDIN: &str = "standard input";

/// Options for reading files.
#[derive(Clone, Copy)]
pub(super) struct How<'a> {
    pub(super) format: Option<&'a str>,
    pub(super) delimiter: Option<u8>,
    pub(super) nulls: &'a [String],
    pub(super) types: &'a [(String, Datatype)],
    pub(super) budget: usize,
}

/// The kind of a file.
enum Kind {
    Rows(RowsFormat),
    Columns(&'static dyn FileFormat),
}

/// Opens the named files, and the files in the named folders.
///
/// # Errors
/// Fails if a file or folder cannot be read, if the format of a file is unknown or unsupported, if
/// the formats differ, or if an option does not apply to the format.
pub(super) fn source(named: &[OsString], how: How<'_>) -> Result<Source> {
    let mut paths = Vec::new();
    for name in named {
        if name == "-" {
            if paths.contains(&None) {
                return Err(Failure::usage("standard input can only be read once"));
            }
            paths.push(None);
            continue;
        }
        let path = location::local(name)?;
        if path.is_dir() {
            paths.extend(files_in(&path, how.format)?.into_iter().map(Some));
        } else {
            paths.push(Some(path));
        }
    }
    let kinds = paths.iter().map(|path| Kind::of(path.as_deref(), how.format)).collect::<Result<Vec<_>>>()?;
    let (mut formats, mut columns) = (Vec::new(), None);
    for kind in kinds {
        match kind {
            Kind::Rows(format) => formats.push(format),
            Kind::Columns(format) => columns = Some(format),
        }
    }
    let is_one_kind = match &columns {
        Some(format) => {
            let of = |path: &Option<PathBuf>| path.as_deref().and_then(files::ending).unwrap_or_default();
            let known = |path: &Option<PathBuf>| how.format.is_some() || format.endings().contains(&&*of(path));
            formats.is_empty() && paths.iter().all(known)
        }
        None => formats.windows(2).all(|pair| pair[0] == pair[1]),
    };
    if !is_one_kind {
        return Err(
            Failure::usage("the files have different formats").with_hint("import the files of each format separately")
        );
    }
    let is_csv = columns.is_none() && formats.iter().all(|format| *format == RowsFormat::Csv);
    let only_csv = [("--null", !how.nulls.is_empty()), ("--delimiter", how.delimiter.is_some())];
    if let Some((option, _)) = only_csv.into_iter().find(|(_, is_given)| *is_given && !is_csv) {
        let failure = Failure::usage(format!("{option}: applies to CSV files only"));
        return Err(failure.with_hint(format!("leave out {option}")));
    }
    match columns {
        Some(format) => of_columns(format, paths, how),
        None => of_rows(paths.into_iter().zip(formats), how),
    }
}

fn of_columns(format: &'static dyn FileFormat, paths: Vec<Option<PathBuf>>, how: How<'_>) -> Result<Source> {
    if paths.iter().any(Option::is_none) {
        return Err(
            Failure::usage("files of this format cannot be read from standard input").with_hint("give a file name")
        );
    }
    let paths: Vec<PathBuf> = paths.into_iter().flatten().collect();
    let names = paths.iter().map(|path| path.display().to_string()).collect();
    let files = format.import(Import::new(paths, how.budget, how.types.to_vec()))?;
    Ok(Source::Columns { files, names })
}

fn of_rows(files: impl Iterator<Item = (Option<PathBuf>, RowsFormat)>, how: How<'_>) -> Result<Source> {
    let input = |(path, format)| match path {
        Some(path) => Ok(Input::file(path, format, how.delimiter)?),
        None => {
            let mut bytes = Vec::new();
            let read = stdin().read_to_end(&mut bytes);
            read.map_err(|error| Failure::io(STDIN, &error))?;
            Ok(Input::bytes(STDIN, bytes, format, how.delimiter))
        }
    };
    let inputs = files.map(input).collect::<Result<_>>()?;
    let nulls = if how.nulls.is_empty() { vec![String::new()] } else { how.nulls.to_vec() };
    Ok(Source::Rows { inputs, nulls, types: how.types.to_vec() })
}

impl Kind {
    fn of(path: Option<&Path>, named: Option<&str>) -> Result<Self> {
        let name = path.map_or_else(|| STDIN.to_owned(), |path| path.display().to_string());
        let ending = named.map(|name| name.trim_start_matches('.').to_ascii_lowercase());
        let ending = ending.or_else(|| path.and_then(files::ending)).unwrap_or_default();
        match ending.as_str() {
            "csv" | "tsv" | "txt" => return Ok(Self::Rows(RowsFormat::Csv)),
            "jsonl" | "ndjson" | "json" => return Ok(Self::Rows(RowsFormat::Json)),
            _ => {}
        }
        if let Some(format) = files::format_of(&ending) {
            return Ok(Self::Columns(format));
        }
        let known: Vec<&str> = ["csv", "jsonl"].into_iter().chain(files::endings()).collect();
        if files::COLUMNS.contains(&ending.as_str()) {
            let message = format!("{name}: this build of tdb imports .{} only", known.join(", ."));
            let hint = location::elsewhere("convert the file to CSV");
            return Err(Failure::new(Exit::Unsupported, message).with_hint(hint));
        }
        let hint = format!("pass --format {}", known.join(" or --format "));
        Err(Failure::usage(format!("{name}: the format of the file is unknown")).with_hint(hint))
    }
}

/// Returns the files in a folder with an importable extension, sorted by name.
fn files_in(folder: &Path, format: Option<&str>) -> Result<Vec<PathBuf>> {
    let broken = |error: std::io::Error| Failure::io(folder.display(), &error);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(broken)? {
        let path = entry.map_err(broken)?.path();
        let ending = files::ending(&path);
        let is_wanted = match format {
            Some(format) => ending.as_deref() == Some(&format.trim_start_matches('.').to_ascii_lowercase()),
            None => {
                Kind::of(Some(&path), None).is_ok() || ending.is_some_and(|ending| files::COLUMNS.contains(&&*ending))
            }
        };
        // Programs hide unfinished and internal files by this prefix.
        let is_hidden = path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b".") || name.as_encoded_bytes().starts_with(b"_"));
        if is_wanted && !is_hidden && path.is_file() {
            found.push(path);
        }
    }
    found.sort_unstable();
    if found.is_empty() {
        let message = format!("{}: the folder has no importable files", folder.display());
        return Err(Failure::usage(message).with_hint("name the files, and pass their format with --format"));
    }
    Ok(found)
}
