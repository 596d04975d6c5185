//! Verification of what others write and maintain meanwhile.

use tdb_array::Environment;
use tdb_storage::Storage;
use tdb_types::TimestampedName;
use tdb_types::names::file_name;

use super::finding::{Finding, FindingKind, Severity};
use super::report::VerifyReport;
use crate::Result;
use crate::rounds::{Looked, until_settled};

/// A fragment that is younger than this may be committed at any moment.
const YOUNG: u64 = 60_000;
/// Looks that wait for the commits of young fragments, and milliseconds before each.
const WAITS: usize = 5;
const PAUSE: u64 = 200;

/// Looks at an array or group until its files stay the same during a look, or nothing new is found wrong. A file that was
/// removed or replaced on purpose meanwhile is no finding, and its replacement is looked at.
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
    let (mut report, before) = loop {
        let Looked { last, before } = until_settled(storage, &mut counted, is_sound, is_known);
        let report = last?;
        if before.is_some() || waits == WAITS || !waited_for(&report) {
            break (report, before);
        }
        waits += 1;
    };
    if let Some(before) = before {
        // What isn't found twice was being replaced.
        report.findings.retain(|finding| finding.severity == Severity::Note || has(&before, finding));
    }
    report.counters = asked.counters;
    Ok(report)
}

/// Whether a fragment without a commit is so young that its writer may be about to commit it; waits a moment if so.
fn waited_for(report: &VerifyReport) -> bool {
    let environment = Environment::system();
    let Ok(now) = environment.now() else { return false };
    let is_young = |finding: &Finding| {
        let name = TimestampedName::parse(file_name(&finding.file));
        finding.kind == FindingKind::Uncommitted && name.is_some_and(|name| age(&name, now) < YOUNG)
    };
    report.wrong().any(is_young) && environment.wait_until_after(now.saturating_add(PAUSE)).is_ok()
}

/// How long ago something was named, in milliseconds: by its time, which a writer may choose, or that of a UUID of version 7.
fn age(name: &TimestampedName, now: u64) -> u64 {
    let of_uuid = name.uuid().and_then(|uuid| u64::try_from(uuid >> 80).ok());
    let age = now.abs_diff(name.end());
    of_uuid.map_or(age, |time| age.min(now.abs_diff(time)))
}
