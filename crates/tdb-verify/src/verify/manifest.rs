//! Verification of manifests.

use tdb_storage::{MANIFEST_NAME, Manifest, Storage, StorageError};

use super::finding::{Finding, FindingKind, unreadable};
use super::report::VerifyReport;

/// Compares the manifest of an array or group, if one exists, with the files.
pub(super) fn check_manifest(storage: &dyn Storage, report: &mut VerifyReport) {
    let path = storage.describe(MANIFEST_NAME);
    let text = match storage.read_up_to(MANIFEST_NAME, Manifest::LIMIT) {
        Ok(text) => text,
        Err(StorageError::NotFound { .. }) => return,
        Err(error) => return report.push(unreadable(&path, &error)),
    };
    let mut wrong = |what: String| report.push(Finding::wrong(FindingKind::Manifest, path.clone(), what));
    let listed = match Manifest::parse(&text) {
        Ok(listed) => listed,
        Err(error) => return wrong(format!("{error}; run `tdb manifest` again")),
    };
    match Manifest::of(storage) {
        Ok(now) => {
            if let Some(what) = listed.difference(&now) {
                wrong(format!("older than the files ({what}); run `tdb manifest` again"));
            }
        }
        Err(error) => wrong(format!("cannot be compared with the files: {error}")),
    }
}
