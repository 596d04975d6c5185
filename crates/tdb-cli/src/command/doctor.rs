//! `tdb doctor`: what interrupted writes have left behind.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::{Span, SpanRelativeTo};
use tdb_array::Leftover;

use crate::failure::{Exit, Failure, Result};
use crate::key::Key;
use crate::output::{RowFormat, Sheet};
use crate::size::Bytes;
use crate::target;
use crate::terminal::Terminal;
use crate::time::TimeArgs;

/// Find, and remove, what interrupted writes have left in an array
///
/// Nothing of it counts for readers: fragments that were never committed, temporary files, enumerations that no schema
/// names. A write that is going on looks the same, so only what hasn't changed for a while is removed. The exit code is 1
/// if something was found and not removed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb doctor ARRAY
  tdb doctor ARRAY --remove
  tdb doctor ARRAY --remove --older-than 0s      nobody writes to it, that is certain")]
pub(crate) struct Args {
    /// The array
    array: OsString,

    /// Remove what is found
    #[arg(long)]
    remove: bool,

    /// Remove only what hasn't changed for so long
    #[arg(long, value_name = "DURATION", default_value = "1d", value_parser = duration, requires = "remove")]
    older_than: Duration,

    /// How to print; a table on a terminal, else JSON lines
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

fn duration(text: &str) -> Result<Duration, String> {
    let span: Span = text.parse().map_err(|_| format!("{text:?} is no duration; write for example 12h, or 2d"))?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|error| error.to_string())?;
    duration.try_into().map_err(|_| "a duration can't be negative".to_owned())
}

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    let (path, array) = target::open_array(&args.array, 1, &TimeArgs::default(), key, target::local_storage)?;
    let leftovers = array.leftovers()?;
    let age = |leftover: &Leftover| age(&path, leftover);
    let ages: Vec<Duration> = leftovers.iter().map(age).collect();
    let old: Vec<Leftover> = leftovers
        .iter()
        .zip(&ages)
        .filter(|(_, age)| **age >= args.older_than)
        .map(|(leftover, _)| leftover.clone())
        .collect();
    let removed = if args.remove { array.remove_leftovers(&old)? } else { Vec::new() };
    let columns = [("path", false), ("what", false), ("size", true), ("unchanged for", true), ("removed", false)];
    let mut sheet = Sheet::new(&columns);
    for (leftover, age) in leftovers.iter().zip(&ages) {
        let is_removed = if removed.contains(leftover) { "yes" } else { "no" };
        let size = Bytes(leftover.bytes).to_string();
        sheet.push(vec![
            leftover.path.as_str().into(),
            leftover.what.into(),
            size.into(),
            rough(*age).into(),
            is_removed.into(),
        ]);
    }
    sheet.print(RowFormat::or_default(args.format, terminal), terminal)?;
    let count = leftovers.len() - removed.len();
    if count == 0 {
        return Ok(());
    }
    let things = if count == 1 { "thing" } else { "things" };
    let failure = Failure::new(Exit::Finding, format!("{}: {count} {things} that no reader looks at", path.display()));
    Err(failure.with_hint(match args.remove {
        false => "--remove takes away what hasn't changed for a day",
        true => "what has changed lately may be a write that is going on; --older-than 0s takes it away all the same",
    }))
}

/// How long nothing of it has changed; no time at all if that isn't known.
fn age(folder: &Path, leftover: &Leftover) -> Duration {
    let paths = leftover.files.iter().chain(std::iter::once(&leftover.path));
    let changed = |path: &String| std::fs::metadata(folder.join(path)).ok().and_then(|file| changed(&file));
    let ages = paths.map(|path| changed(path).and_then(|changed| SystemTime::now().duration_since(changed).ok()));
    ages.min().flatten().unwrap_or_default()
}

/// When a file was last changed: its bytes, or whatever else of it. Copies may keep the former time, but not the latter.
fn changed(file: &std::fs::Metadata) -> Option<SystemTime> {
    let modified = file.modified().ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let status = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(file.ctime().try_into().ok()?))?;
        Some(modified.max(status))
    }
    #[cfg(not(unix))]
    Some(modified)
}

/// A duration as people say it.
fn rough(age: Duration) -> String {
    let (count, unit) = match age.as_secs() {
        seconds @ 0..120 => (seconds, "second"),
        seconds @ 120..7200 => (seconds / 60, "minute"),
        seconds @ 7200..172_800 => (seconds / 3600, "hour"),
        seconds => (seconds / 86_400, "day"),
    };
    if count == 1 { format!("1 {unit}") } else { format!("{count} {unit}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(duration("1d").unwrap(), Duration::from_secs(86_400));
        assert_eq!(duration("2h 30m").unwrap(), Duration::from_secs(9000));
        assert_eq!(duration("0s").unwrap(), Duration::ZERO);
        assert!(duration("-1s").unwrap_err().contains("negative"));
        assert!(duration("soon").unwrap_err().contains("12h"));
        let shown = [1, 119, 7199, 172_799, 864_000].map(|seconds| rough(Duration::from_secs(seconds)));
        assert_eq!(shown, ["1 second", "119 seconds", "119 minutes", "47 hours", "10 days"]);
    }
}
