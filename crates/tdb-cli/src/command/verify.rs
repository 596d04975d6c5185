//! `tdb verify`: verification of arrays and groups.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tdb_array::{ArrayError, Monitor};
use tdb_verify::{FileChange, Finding, Manifest, Severity, VerifyReport};

use crate::failure::{Exit, Failure, Result};
use crate::interrupt;
use crate::key::Key;
use crate::new_file::NewFile;
use crate::progress::QueryProgress;
use crate::size::{Bytes, counted};
use crate::{session, stores, target};
use tdb_print::Terminal;
use tdb_print::{Entry, RowFormat, Sheet};

/// Verify arrays and groups: structure, every tile, and every statistic against the cells
///
/// Recomputes statistics from the cells, which reveals changed cells even without checksums. A note
/// is a deviation that some releases are known to write, or a file without any reader. The exit
/// code is 1 if there are findings other than notes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb verify ARRAY
  tdb verify GROUP ANOTHER --format json
  tdb verify FOLDER                          all arrays and groups in a folder
  tdb verify ARRAY --digest array.sha256     compare all bytes with recorded digests")]
pub(crate) struct Args {
    /// Arrays, groups, or folders of arrays and groups
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<OsString>,

    /// Write the SHA-256 of every file to this file, or compare with the file if it exists
    #[arg(long, value_name = "FILE")]
    digest: Option<PathBuf>,

    /// Maximum number of threads, or 0 for one per processor
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    threads: usize,

    /// Do not print notes
    #[arg(short, long)]
    quiet: bool,

    /// Output format [default: table on a terminal, else jsonl]
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

const COLUMNS: [(&str, bool); 6] =
    [("severity", false), ("kind", false), ("file", false), ("field", false), ("tile", true), ("what", false)];

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    if args.digest.is_some() && args.paths.len() > 1 {
        return Err(Failure::usage("--digest applies to a single path").with_hint("give each path a separate file"));
    }
    let monitor = Monitor::new();
    interrupt::cancels(&monitor);
    let verify = key.verify().threads(args.threads).monitor(&monitor);
    let mut sheet = Sheet::new(&COLUMNS);
    let (mut findings, mut totals) = (0, VerifyReport::default());
    for argument in &args.paths {
        let (path, _) = target::find(argument)?;
        let report = {
            let _watched = QueryProgress::of(&monitor, terminal.stderr);
            match stores::open(argument) {
                Some(storage) => verify.storage(storage.map_err(ArrayError::from)?)?,
                None => verify.folder(&path)?,
            }
        };
        session::counted(report.counters);
        if report.arrays + report.groups == 0 && report.findings.is_empty() {
            let failure = Failure::new(Exit::Unavailable, format!("{}: no array or group found", path.display()));
            return Err(failure.with_hint(format!("run `tdb ls {}` to list the folder", path.display())));
        }
        findings += report.counts().0;
        for finding in report.findings.iter().filter(|finding| !args.quiet || finding.severity == Severity::Finding) {
            sheet.push(row(finding));
        }
        totals.absorb(report);
        if let Some(file) = &args.digest {
            findings += digest(&path, file, args, &monitor, &mut sheet)?;
        }
    }
    let format = RowFormat::or_default(args.format, terminal);
    if format != RowFormat::Table || !sheet.is_empty() {
        sheet.print(format, terminal)?;
    }
    if format == RowFormat::Table {
        let verdict = if findings == 0 { "no problems found" } else { "problems found" };
        writeln!(io::stdout(), "{}: {verdict}", text(&totals))?;
    }
    if findings == 0 {
        return Ok(());
    }
    let paths: Vec<String> = args.paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    Err(Failure::new(Exit::Finding, format!("{}: {}", paths.join(", "), counted(findings as u64, "finding"))))
}

fn row(finding: &Finding) -> Vec<Entry> {
    vec![
        finding.severity.name().into(),
        finding.kind.name().into(),
        finding.file.as_str().into(),
        finding.field.as_deref().map_or_else(Entry::none, Entry::from),
        finding.tile.map_or_else(Entry::none, Entry::from),
        finding.what.as_str().into(),
    ]
}

/// Writes the digests of the files, or compares them with earlier digests. Returns the number of
/// findings.
fn digest(path: &Path, file: &Path, args: &Args, monitor: &Monitor, sheet: &mut Sheet) -> Result<usize> {
    let io = |error: io::Error| Failure::io(file.display(), &error);
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_inside = match (fs::canonicalize(parent), fs::canonicalize(path)) {
        (Ok(parent), Ok(path)) => parent.starts_with(path),
        _ => false,
    };
    if is_inside {
        let failure = Failure::usage(format!("{}: cannot be inside the verified folder", file.display()));
        return Err(failure.with_hint("keep it outside, preferably on another disk"));
    }
    let threads = match args.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let now = Manifest::of(&*target::storage(path.as_os_str())?, threads, monitor)?;
    let old = match fs::read_to_string(file) {
        Ok(text) => Manifest::parse(&text).map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let new = NewFile::begin(file)?;
            new.file()?.write_all(now.to_string().as_bytes()).map_err(io)?;
            new.finish()?;
            return Ok(0);
        }
        Err(error) => return Err(io(error)),
    };
    let mut findings = 0;
    for (name, change) in old.changes(&now) {
        let (severity, what) = match change {
            FileChange::Changed => (Severity::Finding, "the bytes have changed"),
            FileChange::Missing => (Severity::Finding, "the file is missing"),
            FileChange::New => (Severity::Note, "the file is new"),
        };
        findings += usize::from(severity == Severity::Finding);
        if !args.quiet || severity == Severity::Finding {
            let whole = path.join(&name).to_string_lossy().into_owned();
            let entries = [severity.name().into(), change.name().into(), whole.into(), Entry::none(), Entry::none()];
            sheet.push(entries.into_iter().chain([what.into()]).collect());
        }
    }
    Ok(findings)
}

/// Formats the counts of verified objects.
fn text(report: &VerifyReport) -> String {
    let groups = (report.groups > 0).then(|| counted(report.groups, "group"));
    let counts = [(report.arrays, "array"), (report.fragments, "fragment"), (report.tiles, "tile")];
    let others = counts.map(|(count, what)| counted(count, what));
    let all: Vec<String> = groups.into_iter().chain(others).chain([Bytes(report.bytes).to_string()]).collect();
    all.join(", ")
}
