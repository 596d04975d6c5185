//! Vacuum of consolidated footers files that newer files supersede.

use std::collections::HashSet;

use tdb_array::{Array, ArrayError};

use crate::draft::{Draft, Reason, Retained};
use crate::step::Planned;
use tdb_job::Result;
use tdb_job::footer_files;

pub(crate) fn draft(array: &Array) -> Result<Draft> {
    let files = array.small_files();
    let listing = array.listing()?;
    let inventory = array.commit_inventory(&listing)?;
    let mut missing: HashSet<&str> = inventory.fragments.iter().map(|fragment| fragment.entry.name.as_str()).collect();
    let mut draft = Draft::default();
    for file in footer_files(&listing) {
        match files.read_footers(&file.path) {
            Ok(footers) => {
                let before = missing.len();
                for (name, _) in footers.iter() {
                    missing.remove(name);
                }
                if missing.len() == before {
                    let what = "superseded consolidated fragment metadata";
                    draft.steps.push(Planned::remove_file(file.path, file.bytes, what));
                }
            }
            // Another process may have deleted the file.
            Err(ArrayError::Storage(error)) if error.is_not_found() => {}
            Err(error) => draft.left.push(Retained { path: file.path, why: Reason::Unreadable(Box::new(error)) }),
        }
    }
    Ok(draft)
}
