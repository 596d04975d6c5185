//! `tdb doctor`: repair after interrupted work and moves.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::{Span, SpanRelativeTo};
use tdb_array::Array;
use tdb_array::tdb_rtree::{DimRange, NdRange};
use tdb_array::tdb_schema::Dimension;
use tdb_maintain::tdb_job::Target;
use tdb_types::Scalar;
use tdb_verify::{Diagnosis, Doctor, Rebuild, Remedy, Repaired, Restored, Severity};

use super::maintained;
use crate::failure::{Exit, Failure, Result};
use crate::key::Key;
use crate::session;
use crate::setter::with;
use crate::size::{Bytes, counted};
use crate::target;
use crate::time::TimeArgs;
use tdb_print::Terminal;
use tdb_print::{Entry, RowFormat, Sheet};

/// Find and repair leftovers of interrupted writes, vacuums and moves
///
/// Finds uncommitted fragments, commits of missing fragments, temporary files, lists of missing
/// files, and group members with outdated paths. Reports only, unless --fix is given. The exit code
/// is 1 if a problem was found and not repaired.
///
/// With --fix nothing is deleted. Superfluous files move to the quarantine folder .tdb-quarantine
/// of the array or group, which readers ignore, and --undo moves the files back. A running write
/// looks like an interrupted one. Therefore --fix repairs only problems of files without recent
/// changes. Repairs that change the results of readers also need --only.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb doctor ARRAY
  tdb doctor ARRAY --fix
  tdb doctor ARRAY --fix --older-than 0s         if no writer is running
  tdb doctor ARRAY --fix --only __commits/NAME.vac
  tdb doctor ARRAY --undo
  tdb doctor ARRAY --rebuild FRAGMENT            rebuild lost or damaged metadata
  tdb doctor ARRAY --rebuild FRAGMENT --domain row=1..4 --domain column=1..8")]
pub(crate) struct Args {
    /// Array or group
    path: OsString,

    /// Apply the proposed repairs
    #[arg(long)]
    fix: bool,

    /// Repair only the problem with this path in the array, or this member (repeatable). Includes
    /// repairs that change the results of readers
    #[arg(long, value_name = "PATH", requires = "fix")]
    only: Vec<String>,

    /// Repair only problems of files that have not changed for this long
    #[arg(long, value_name = "DURATION", default_value = "1d", value_parser = duration, requires = "fix")]
    older_than: Duration,

    /// Move quarantined files back, and remove files that repairs have written
    #[arg(long, conflicts_with = "fix")]
    undo: bool,

    /// Rebuild the metadata of this fragment from its data files, and quarantine the old metadata
    #[arg(long, value_name = "FRAGMENT", conflicts_with_all = ["fix", "undo"])]
    rebuild: Option<String>,

    /// Range of a dimension of a rebuilt dense fragment, in stored numbers (once per dimension)
    #[arg(long, value_name = "DIMENSION=FIRST..LAST", requires = "rebuild")]
    domain: Vec<String>,

    /// Keep the tiles of a sparse fragment before the first damaged one, and discard the rest
    #[arg(long, requires = "rebuild")]
    salvage: bool,

    /// Output format [default: table on a terminal, else jsonl]
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

fn duration(text: &str) -> Result<Duration, String> {
    let span: Span = text.parse().map_err(|_| format!("{text:?} is not a duration; write for example 12h, or 2d"))?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|error| error.to_string())?;
    duration.try_into().map_err(|_| "a duration cannot be negative".to_owned())
}

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    let (path, _) = target::find(&args.path)?;
    let target = maintained::open(&args.path, &TimeArgs::default(), key)?;
    let format = RowFormat::or_default(args.format, terminal);
    let doctor = Doctor::new().only(args.only.iter().cloned());
    if let Some(fragment) = &args.rebuild {
        let Target::Array(array) = &target else {
            return Err(Failure::usage("a group has no fragments"));
        };
        return rebuild(array, fragment, args, format, terminal);
    }
    if args.undo {
        let undone = doctor.undo(target)?;
        return tell_undone(&path, &undone, format, terminal);
    }
    let plan = doctor.plan(target)?;
    let found = plan.found().to_vec();
    if let Some(unknown) = args.only.iter().find(|only| !found.iter().any(|one| one.path == **only)) {
        let failure = Failure::usage(format!("{}: no problem found at {unknown:?}", path.display()));
        return Err(failure.with_hint("pass a path from the output of `tdb doctor` to --only"));
    }
    // Repaired files no longer exist afterwards.
    let ages: Vec<Duration> = found.iter().map(|one| age(&path, one)).collect();
    let is_young =
        |(one, age): (&Diagnosis, &Duration)| (plan.repairs(one) && *age < args.older_than).then(|| one.clone());
    let young: Vec<Diagnosis> = found.iter().zip(&ages).filter_map(is_young).collect();
    let mended = if args.fix { plan.retain(|one| !young.contains(one)).run()? } else { Repaired::default() };
    let columns = [
        ("path", false),
        ("what", false),
        ("why", false),
        ("size", true),
        ("unchanged for", true),
        ("proposal", false),
    ];
    let mut sheet = Sheet::new(&[&columns[..], &[("done", false)]].concat());
    for (one, age) in found.iter().zip(ages) {
        let is_done = if mended.done.contains(one) { "yes" } else { "no" };
        let age = if has_age(one) { rough(age).into() } else { Entry::none() };
        sheet.push(vec![
            one.path.as_str().into(),
            one.what.into(),
            one.why.as_str().into(),
            Bytes(one.bytes).to_string().into(),
            age,
            one.remedy.to_string().into(),
            is_done.into(),
        ]);
    }
    sheet.print(format, terminal)?;
    let left: Vec<&Diagnosis> =
        found.iter().filter(|one| one.severity == Severity::Finding && !mended.done.contains(one)).collect();
    tell_left(&path, &left, &young, args)
}

/// Rebuilds the metadata of a fragment, and prints the result.
fn rebuild(array: &Array, name: &str, args: &Args, format: RowFormat, terminal: Terminal) -> Result<()> {
    let rebuild = with(Rebuild::new().salvage(args.salvage), domain(array, &args.domain)?, Rebuild::domain);
    let rebuilt = rebuild.plan(array, name)?.run()?;
    let columns = [("fragment", false), ("schema", false), ("tiles", true), ("cells", true), ("size", true)];
    let mut sheet = Sheet::new(&columns);
    let size = Entry::shown(Bytes(rebuilt.bytes).to_string(), rebuilt.bytes);
    sheet.push(vec![name.into(), rebuilt.schema.as_str().into(), rebuilt.tiles.into(), rebuilt.cells.into(), size]);
    sheet.print(format, terminal)?;
    if !rebuilt.other_schemas.is_empty() {
        let others = rebuilt.other_schemas.join(", ");
        session::warn(
            &format!("it may have been written with another schema with the same fields: {others}"),
            terminal,
        );
    }
    for unknown in &rebuilt.unknown {
        session::warn(&format!("the data files do not record {unknown}"), terminal);
    }
    match rebuilt.lost {
        Some(lost) => {
            Err(Failure::new(Exit::Finding, format!("{name}: recovered only a part of the fragment: {lost}")))
        }
        None => Ok(()),
    }
}

/// Parses `--domain`, which must name each dimension once.
fn domain(array: &Array, words: &[String]) -> Result<Option<NdRange>> {
    if words.is_empty() {
        return Ok(None);
    }
    let range = |dimension: &Dimension| {
        let name = dimension.name();
        let wrong = || Failure::usage(format!("expected --domain {name}=FIRST..LAST once, with numbers"));
        let mut of_it = words.iter().filter_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        let (Some(text), None) = (of_it.next(), of_it.next()) else { return Err(wrong()) };
        let (first, last) = text.split_once("..").ok_or_else(wrong)?;
        let parse = |text: &str| Scalar::parse(dimension.physical(), text).ok_or_else(wrong);
        DimRange::between(parse(first)?, parse(last)?).map_err(|_| wrong())
    };
    let ranges = array.schema().dimensions().iter().map(range).collect::<Result<_>>()?;
    Ok(Some(NdRange(ranges)))
}

/// Returns a failure with a hint if problems remain.
fn tell_left(path: &Path, left: &[&Diagnosis], young: &[Diagnosis], args: &Args) -> Result<()> {
    if left.is_empty() {
        return Ok(());
    }
    let things = if left.len() == 1 { "problem found" } else { "problems found" };
    let failure = Failure::new(Exit::Finding, format!("{}: {} {things}", path.display(), left.len()));
    Err(if left.iter().all(|one| one.remedy == Remedy::None) {
        failure
    } else if !args.fix {
        failure.with_hint("run `tdb doctor PATH --fix` to repair everything that is unchanged for a day")
    } else if left.iter().any(|one| young.contains(one)) {
        failure.with_hint("pass --older-than 0s to repair recent files too, if no write is in progress")
    } else {
        failure.with_hint(
            "pass --fix --only PATH to repair a problem that affects readers, or to take over the lock of a process that may be alive",
        )
    })
}

fn tell_undone(path: &Path, undone: &Restored, format: RowFormat, terminal: Terminal) -> Result<()> {
    let mut sheet = Sheet::new(&[("path", false), ("what", false)]);
    let all = [
        (&undone.restored, "moved back"),
        (&undone.removed, "removed"),
        (&undone.occupied, "occupied"),
        (&undone.outdated, "kept: its fragments are deleted"),
    ];
    for (path, what) in all.iter().flat_map(|(paths, what)| paths.iter().map(move |path| (path, what))) {
        sheet.push(vec![path.as_str().into(), (*what).into()]);
    }
    sheet.print(format, terminal)?;
    if undone.occupied.is_empty() {
        return Ok(());
    }
    let what = format!("{}: cannot move quarantined files back: their former paths are occupied", path.display());
    Err(Failure::new(Exit::Finding, what).with_hint("see .tdb-quarantine/*/where-from.txt for the former paths"))
}

/// Returns `true` if the finding may be a running write.
fn has_age(one: &Diagnosis) -> bool {
    !matches!(one.remedy, Remedy::Relative { .. }) && !one.files.is_empty()
}

/// Returns the time since the last change of any file of the finding, or zero if unknown. Returns
/// the maximum for an outdated path of a member.
fn age(folder: &Path, one: &Diagnosis) -> Duration {
    if matches!(one.remedy, Remedy::Relative { .. }) {
        return Duration::MAX;
    }
    let paths = one.files.iter().chain(std::iter::once(&one.path));
    let changed = |path: &String| std::fs::metadata(folder.join(path)).ok().and_then(|file| changed(&file));
    let ages = paths.map(|path| changed(path).and_then(|changed| SystemTime::now().duration_since(changed).ok()));
    ages.min().flatten().unwrap_or_default()
}

/// Returns the time of the last change of a file, including changes of its metadata. Copies may
/// preserve the modification time, but not the status change time.
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

/// Formats a duration in its largest suitable unit.
fn rough(age: Duration) -> String {
    let (count, unit) = match age.as_secs() {
        seconds @ 0..120 => (seconds, "second"),
        seconds @ 120..7200 => (seconds / 60, "minute"),
        seconds @ 7200..172_800 => (seconds / 3600, "hour"),
        seconds => (seconds / 86_400, "day"),
    };
    counted(count, unit)
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
