//! Verification of what others write and maintain meanwhile.

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

/// A fragment that is younger than this may be committed at any moment.
const YOUNG: u64 = 60_000;
/// Number of looks that wait for commits of young fragments and for unfinished files, and milliseconds before each.
const WAITS: usize = 5;
const PAUSE: u64 = 200;

/// Looks at an array or group until its files stay the same during a look, or nothing new is found wrong. A file that was
/// removed or replaced on purpose meanwhile is no finding, and its replacement is looked at. A finding about a small file in a local
/// folder must persist after a pause during which no file has grown: another process may be writing the file.
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
        // What isn't found twice was being replaced.
        report.findings.retain(|finding| finding.severity == Severity::Note || has(&before, finding));
    }
    report.counters = asked.counters;
    Ok(report)
}

/// Whether a fragment without a commit is so young that its writer may be about to commit it.
fn has_young(report: &VerifyReport) -> bool {
    let Ok(now) = Environment::system().now() else { return false };
    let is_young = |finding: &Finding| {
        let name = TimestampedName::parse(file_name(&finding.file));
        finding.kind == FindingKind::Uncommitted && name.is_some_and(|name| age(&name, now) < YOUNG)
    };
    report.wrong().any(is_young)
}

/// Waits a moment, if the clock can.
fn pause() -> bool {
    let environment = Environment::system();
    environment.now().is_ok_and(|now| environment.wait_until_after(now.saturating_add(PAUSE)).is_ok())
}

/// Files outside of fragments with their sizes, by folder.
type Sizes = Vec<Vec<Entry>>;

/// Whether a finding outside of fragments may come from an unfinished write. Only local folders show unfinished files, and
/// fragments count once they are committed.
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

/// How long ago something was named, in milliseconds: by its time, which a writer may choose, or that of a UUID of version 7.
fn age(name: &TimestampedName, now: u64) -> u64 {
    let of_uuid = name.uuid().and_then(|uuid| u64::try_from(uuid >> 80).ok());
    let age = now.abs_diff(name.end());
    of_uuid.map_or(age, |time| age.min(now.abs_diff(time)))
}
