//! Consolidation of the footers of all fragments.

use std::borrow::Cow;

use tdb_array::{Array, Fragment, SmallFiles, TimeRange, WriteIds};
use tdb_storage::at_once;
use tdb_types::names::{FOOTERS_EXTENSION, FRAGMENT_META_FOLDER};
use tdb_types::{Feature, NameForm};

use crate::draft::{Draft, Savings};
use crate::step::Planned;
use tdb_job::Result;
use tdb_job::Target;
use tdb_job::{FooterFile, footer_files};

const WHAT: &str = "consolidated fragment metadata";

/// A fragment and its footer.
type Footer<'a> = (&'a Fragment, Vec<u8>);

pub(crate) fn draft(array: &Array, names: &WriteIds) -> Result<Draft> {
    // Reopen the array, because fragments may have been deleted since it was opened. Known footers
    // are reused, because footers never change.
    let array = &array.reopened_after(array)?;
    let files = array.small_files();
    let version = files.version();
    let fragments = array.fragments()?;
    let read = at_once(files.storage().profile().in_flight, fragments, Fragment::footer_bytes);
    let mut footers: Vec<Footer<'_>> = Vec::new();
    for (fragment, footer) in fragments.iter().zip(read) {
        footers.extend(footer?.map(|footer| (fragment, footer)));
    }
    let times = |of: fn(&Fragment) -> u64| footers.iter().map(move |(fragment, _)| of(fragment));
    let (start, end) = (times(|fragment| fragment.name().start()).min(), times(|fragment| fragment.name().end()).max());
    let (Some(start), Some(end)) = (start, end) else { return Ok(Draft::default()) };
    let existing = footer_files(&array.listing()?);
    if footers.len() < 2 || existing.iter().any(|file| is_all(&files, file, &footers)) {
        return Ok(Draft::default());
    }
    let target = Target::Array(array.clone());
    let name_of = |fragment: &Fragment| -> Result<String> {
        match version.has(Feature::RelativeFragmentNames) {
            true => Ok(fragment.name().to_string()),
            false => target.uri(fragment.folder(), WHAT),
        }
    };
    let named: Vec<String> = footers.iter().map(|(fragment, _)| name_of(fragment)).collect::<Result<_>>()?;
    let entries: Vec<(&str, &[u8])> =
        named.iter().zip(&footers).map(|(name, (_, footer))| (name.as_str(), footer.as_slice())).collect();
    let name = files.new_name(names, NameForm::Versioned(version.number()), TimeRange { start, end })?;
    let folder = match version.has(Feature::CommitsFolder) {
        true => Cow::Owned(format!("{FRAGMENT_META_FOLDER}/")),
        false => Cow::Borrowed(""),
    };
    let path = format!("{folder}{name}.{FOOTERS_EXTENSION}");
    let steps = vec![Planned::write(path, files.encode_footers(&entries)?, WHAT, entries.len())];
    // Readers then list the folder as before, and read one file.
    let savings = Savings { names: 0, reads: (entries.len() - 1) as u64 };
    Ok(Draft { steps, savings, ..Draft::default() })
}

/// Returns `true` if a consolidated footers file is readable and contains all of these footers.
fn is_all(files: &SmallFiles, file: &FooterFile, footers: &[Footer<'_>]) -> bool {
    let covers =
        |fragment: &Fragment| file.name.start() <= fragment.name().start() && fragment.name().end() <= file.name.end();
    if !footers.iter().all(|(fragment, _)| covers(fragment)) {
        return false;
    }
    let Ok(read) = files.read_footers(&file.path) else { return false };
    let has = |(fragment, footer): &Footer<'_>| {
        read.get(fragment.name().as_str()).is_some_and(|found| found.rest() == footer.as_slice())
    };
    footers.iter().all(has)
}
