//! Ignore files for consolidated commits.

use tdb_array::{Array, TimeRange, WriteIds};
use tdb_metadata::PathList;
use tdb_types::names::{COMMITS_FOLDER, IGNORE_EXTENSION, file_name};
use tdb_types::{ByteWriter, FormatVersion, NameForm, TimestampedName};

use crate::step::Planned;
use tdb_job::Result;

/// Returns the ignore file for consolidated commits. `paths` are the paths of the commits, as
/// written in the consolidated files. Returns `None` if there are no valid paths.
pub(crate) fn ignoring(array: &Array, names: &WriteIds, mut paths: Vec<String>) -> Result<Option<Planned>> {
    paths.sort_unstable();
    paths.dedup();
    let mut time: Option<TimeRange> = None;
    paths.retain(|path| {
        let Some(name) = TimestampedName::parse(file_name(path)) else { return false };
        let all = time.get_or_insert(TimeRange { start: name.start(), end: name.end() });
        *all = TimeRange { start: all.start.min(name.start()), end: all.end.max(name.end()) };
        true
    });
    let Some(time) = time else { return Ok(None) };
    let form = NameForm::Versioned(FormatVersion::DEFAULT.number());
    let name = array.small_files().new_name(names, form, time)?;
    let count = paths.len();
    let mut file = ByteWriter::new();
    PathList { paths }.write(&mut file);
    let path = format!("{COMMITS_FOLDER}/{name}.{IGNORE_EXTENSION}");
    Ok(Some(Planned::write(path, file.into_bytes(), "an ignore file for consolidated commits", count)))
}
