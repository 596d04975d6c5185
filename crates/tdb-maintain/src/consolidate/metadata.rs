//! Consolidation of the metadata of an array or group.

use std::collections::HashSet;

use tdb_array::{TimeRange, WriteIds};
use tdb_metadata::{MetadataChange, PathList};
use tdb_types::names::{METADATA_FOLDER, VACUUM_EXTENSION};
use tdb_types::{ByteWriter, NameForm};

use crate::draft::{Draft, Savings};
use crate::step::Planned;
use tdb_job::Target;
use tdb_job::{MaintainError, Result};
use tdb_job::{MetadataFile, MetadataFiles, merged};

pub(crate) fn draft(target: &Target, names: &WriteIds, time: TimeRange) -> Result<Draft> {
    let files = target.small_files();
    let all = MetadataFiles::list(&files)?;
    let hidden = all.hidden(time);
    let counts = |file: &&MetadataFile| {
        time.contains(file.name.start(), file.name.end()) && !hidden.contains(file.name.as_str())
    };
    let joined: Vec<&MetadataFile> = all.files.iter().filter(counts).collect();
    let (Some(first), Some(last)) = (joined.first(), joined.last()) else { return Ok(Draft::default()) };
    if joined.len() < 2 {
        return Ok(Draft::default());
    }
    let end = joined.iter().map(|file| file.name.end()).max().unwrap_or(last.name.end());
    let range = TimeRange { start: first.name.start(), end };

    // Readers that see the new file also see these other files, or the files that supersede them.
    let hidden = all.hidden(range);
    let taken: HashSet<&str> = joined.iter().map(|file| file.name.as_str()).collect();
    let others = all.files.iter().filter(|file| {
        let name = file.name.as_str();
        !taken.contains(name) && !hidden.contains(name)
    });
    let others: Vec<&MetadataFile> = others.collect();
    // The new file applies at the time of the first source. A file written between the sources
    // would then apply after the values of all sources.
    let between = |file: &&&MetadataFile| (range.start..=last.name.start()).contains(&file.name.start());
    if let Some(other) = others.iter().find(between) {
        return Err(MaintainError::Between { file: files.storage().describe(&other.path()) });
    }
    // Keep deletions even if no older value exists. A slow writer, or a writer with an explicit
    // timestamp, may still add an older value.
    let changes = merged(&files, joined.iter().copied())?.into_iter();
    let changes: Vec<MetadataChange> = changes.map(|(key, value)| MetadataChange { key, value }).collect();

    let name = files.new_name(names, NameForm::Unversioned, range)?;
    let path = format!("{METADATA_FOLDER}/{name}");
    let paths = joined.iter().map(|file| target.line_of_metadata(&file.path())).collect::<Result<_>>()?;
    let mut list = ByteWriter::new();
    PathList { paths }.write(&mut list);
    let mut steps = Vec::new();
    // If the sources contain no changes, write only the vacuum file.
    if !changes.is_empty() {
        let bytes = files.encode_metadata(changes)?;
        steps.push(Planned::write(path.clone(), bytes, "consolidated metadata", joined.len()));
    }
    let list = list.into_bytes();
    let supersedes = joined.len();
    steps.push(Planned::write(
        format!("{path}.{VACUUM_EXTENSION}"),
        list,
        "the vacuum file of the consolidated metadata",
        supersedes,
    ));
    let saved = (supersedes - 1) as u64;
    Ok(Draft { steps, savings: Savings { names: saved, reads: saved }, ..Draft::default() })
}
