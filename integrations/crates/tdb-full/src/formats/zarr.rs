//! Zarr.

use tdb_cli::{
    Exit, Failure, FileOption, FolderExport, FolderFormat, FolderImport, FolderImported, Result, Target, Whole,
};
use tdb_zarr::{Compression, Error, Export, Import};

use super::foreign;
use super::options::{compression, wrong};

/// Format of `.zarr`.
#[derive(Debug)]
pub(crate) struct ZarrFolders;

const COMPRESSION: FileOption =
    compression("same (the default: the filters of the array), zstd or gzip, with a level as in zstd:5, or none");
const CHUNKS: FileOption =
    FileOption { name: "chunks", what: "chunk lengths per dimension, as in 100,100, instead of the tile extents" };
const OUTSIDE: FileOption =
    FileOption { name: "outside", what: "follow: export members outside of the folder of their group too" };

impl FolderFormat for ZarrFolders {
    fn endings(&self) -> &'static [&'static str] {
        &["zarr"]
    }

    fn options(&self) -> &'static [FileOption] {
        &[COMPRESSION, CHUNKS, OUTSIDE]
    }

    fn export(&self, whole: Whole<'_>, export: FolderExport<'_>) -> Result<u64> {
        let mut to = Export::new().compression(packed(&export)?);
        if let Some(text) = export.option(CHUNKS.name) {
            let chunks: Option<Vec<u64>> = text.split(',').map(|len| len.trim().parse().ok()).collect();
            to = to.chunks(chunks.ok_or_else(|| wrong(CHUNKS, text))?);
        }
        match export.option(OUTSIDE.name) {
            None => {}
            Some("follow") => to = to.follow_outside(true),
            Some(other) => return Err(wrong(OUTSIDE, other)),
        }
        let FolderExport { path, arrays, budget, threads, observer, .. } = export;
        to = to.budget(budget).threads(threads).array_options(arrays).observer(observer);
        let exported = match whole {
            Whole::Array { array, attributes, ranges } => {
                if let Some(attributes) = attributes {
                    to = to.select(attributes);
                }
                let ranged = ranges.iter().fold(to, |to, (name, range)| to.range(name, range.clone()));
                ranged.array(array, path)
            }
            Whole::Group(group) => to.group(group, path),
            _ => return Err(Failure::new(Exit::Unsupported, "Zarr supports arrays and groups only")),
        };
        exported.map(|exported| exported.cells).map_err(failure)
    }

    fn import(&self, import: FolderImport) -> Result<FolderImported> {
        foreign::hush();
        let FolderImport { path, target, key, names, budget, threads, observer, .. } = import;
        let from = Import::new().ids(names).budget(budget).threads(threads).observer(observer);
        let from = match key {
            Some(key) => from.key(key),
            None => from,
        };
        let imported = match target {
            Target::Folder(target) => from.to_folder(path, target),
            Target::Storage(storage) => from.to_storage(path, &storage),
            _ => return Err(Failure::new(Exit::Unsupported, "arrays can only be created in folders and on stores")),
        };
        let imported = imported.map_err(failure)?;
        Ok(FolderImported {
            arrays: imported.arrays,
            groups: imported.groups,
            cells: imported.cells,
            notes: imported.notes,
        })
    }
}

fn packed(export: &FolderExport<'_>) -> Result<Compression> {
    let Some(text) = export.option(COMPRESSION.name) else { return Ok(Compression::Same) };
    let unknown = || wrong(COMPRESSION, text);
    let (name, level) = text.split_once(':').map_or((text, None), |(name, level)| (name, Some(level)));
    let level = |usual: i8, allowed: std::ops::RangeInclusive<i8>| match level {
        None => Ok(usual),
        Some(level) => level.parse().ok().filter(|level| allowed.contains(level)).ok_or_else(unknown),
    };
    match name {
        "same" if !text.contains(':') => Ok(Compression::Same),
        "none" if !text.contains(':') => Ok(Compression::None),
        "zstd" => Ok(Compression::Zstd(level(3, -7..=22)?)),
        "gzip" => Ok(Compression::Gzip(level(6, 0..=9)?.unsigned_abs())),
        _ => Err(unknown()),
    }
}

fn failure(error: Error) -> Failure {
    let told = error.to_string();
    match error {
        Error::Array(error) => error.into(),
        Error::Metadata { .. } | Error::Chunk { .. } | Error::Shard { .. } => Failure::new(Exit::Corrupt, told),
        Error::Unsupported { .. } | Error::Refused { .. } | Error::Cell { .. } | Error::Schema { .. } => {
            Failure::new(Exit::Unsupported, told).with_hint("see docs/guides/zarr.md for the supported types")
        }
        Error::Stopped => Failure::new(Exit::Interrupted, "interrupted"),
        Error::AlreadyThere { .. } => Failure::new(Exit::Unavailable, told).with_hint("choose another name"),
        _ => Failure::new(Exit::Unavailable, told),
    }
}
