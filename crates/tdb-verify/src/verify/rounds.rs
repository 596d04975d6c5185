//! Verification of arrays during concurrent writes and jobs.

use tdb_array::Environment;
use tdb_storage::{Entry, Storage};
use tdb_types::TimestampedName;
use tdb_types::names::{
    COMMITS_FOLDER, ENUMERATIONS_FOLDER, FRAGMENT_META_FOLDER, GROUP_FOLDER, METADATA_FOLDER, SCHEMA_FOLDER, file_name,
};

use super::finding::{Finding, FindingKind, Severity};
use super::report::VerifyReport;
use tdb_job::Result;
use tdb_job::list;
use tdb_job::{Looked, until_settled};

/// Age in milliseconds up to which a writer may still commit an uncommitted fragment.
const YOUNG: u64 = 60_000;
/// Maximum number of pauses for young fragments and unfinished files.
const WAITS: usize = 5;
/// Length of a pause in milliseconds.
const PAUSE: u64 = 200;

/// Repeats a check of an array or group until the files stay the same during a check, or until a
/// check finds no new problem.
///
/// A file that a job deletes or replaces is not reported, and its replacement is checked. In a
/// local folder, another process may be writing a file outside of fragments. Therefore a problem of
/// such a file is reported only if it persists after a pause in which the file does not grow.
pub(super) fn settled(storage: &dyn Storage, mut look: impl FnMut() -> Result<VerifyReport>) -> Result<VerifyReport> {
    let mut asked = VerifyReport::default();
    let mut counted = || look().inspect(|report| asked.count(report.counters));
    let is_sound = |report: &Result<VerifyReport>| report.as_ref().map_or(true, VerifyReport::is_sound);
    let has = |report: &Result<VerifyReport>, finding: &Finding| {
        report.as_ref().is_ok_and(|report| report.findings.contains(finding))
    };
    let is_known = |last: &Result<VerifyReport>, before: &Result<VerifyReport>| {
        last.as_ref().map_or(true, |last| last.wrong().all(|finding| has(before, finding)))
    };
    let mut waits = 0;
    let mut seen: Option<(VerifyReport, Sizes)> = None;
    let (mut report, before) = loop {
        let Looked { last, before } = until_settled(storage, &mut counted, is_sound, is_known);
        let report = last?;
        let sizes = may_be_half_written(storage, &report).then(|| sizes_of(storage));
        let is_settled = match (&sizes, &seen) {
            (None, _) => true,
            (Some(now), Some((seen, sizes))) => {
                now == sizes && report.wrong().all(|finding| seen.findings.contains(finding))
            }
            (Some(_), None) => false,
        };
        if before.is_some() || waits == WAITS || is_settled && !has_young(&report) || !pause() {
            break (report, before);
        }
        seen = sizes.map(|sizes| (report, sizes));
        waits += 1;
    };
    if let Some(before) = before {
        // Drop problems that were found only once, because they come from replacements in progress.
        report.findings.retain(|finding| finding.severity == Severity::Note || has(&before, finding));
    }
    report.counters = asked.counters;
    Ok(report)
}

/// Returns `true` if an uncommitted fragment is so young that a writer may still commit it.
fn has_young(report: &VerifyReport) -> bool {
    let Ok(now) = Environment::system().now() else { return false };
    let is_young = |finding: &Finding| {
        let name = TimestampedName::parse(file_name(&finding.file));
        finding.kind == FindingKind::Uncommitted && name.is_some_and(|name| age(&name, now) < YOUNG)
    };
    report.wrong().any(is_young)
}

/// Waits for [`PAUSE`]. Returns `false` if the clock does not support waiting.
fn pause() -> bool {
    let environment = Environment::system();
    environment.now().is_ok_and(|now| environment.wait_until_after(now.saturating_add(PAUSE)).is_ok())
}

/// Files outside of fragments with their sizes, by folder.
type Sizes = Vec<Vec<Entry>>;

/// Returns `true` if a finding outside of fragments may come from an unfinished write. Only local
/// folders show unfinished files, and fragments are visible only after the commit.
fn may_be_half_written(storage: &dyn Storage, report: &VerifyReport) -> bool {
    let is_of_fragment = |file: &str| {
        let folder = file.rsplit_once('/').map(|(folder, _)| file_name(folder));
        folder.is_some_and(|folder| TimestampedName::parse(folder).is_some())
    };
    let is_other = |finding: &Finding| finding.kind != FindingKind::Uncommitted && !is_of_fragment(&finding.file);
    report.wrong().any(is_other) && storage.uri("").is_some_and(|uri| uri.starts_with("file:"))
}

fn sizes_of(storage: &dyn Storage) -> Sizes {
    let enumerations = format!("{SCHEMA_FOLDER}/{ENUMERATIONS_FOLDER}");
    let folders =
        ["", SCHEMA_FOLDER, &enumerations, COMMITS_FOLDER, FRAGMENT_META_FOLDER, METADATA_FOLDER, GROUP_FOLDER];
    folders.map(|folder| list(storage, folder).unwrap_or_default()).into()
}

/// Returns the age of a name in milliseconds. A writer may choose the timestamp of a name.
/// Therefore returns the smaller of two ages: by the timestamp, and by the time in a UUID of
/// version 7.
fn age(name: &TimestampedName, now: u64) -> u64 {
    let of_uuid = name.uuid().and_then(|uuid| u64::try_from(uuid >> 80).ok());
    let age = now.abs_diff(name.end());
    of_uuid.map_or(age, |time| age.min(now.abs_diff(time)))
}
