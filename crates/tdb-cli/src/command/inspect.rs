//! `tdb inspect`: a file of an array, field by field.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::Write;

use serde_json::{Value, json};
use tdb_types::{Span, hex};

use crate::failure::{Exit, Failure, Result};
use crate::inspect::{Located, Report, inspect};
use crate::key::Key;
use crate::target::{self, Kind};
use tdb_print::{Paint, Terminal, printable};
use tdb_print::{TextFormat, print_json, stdout};

/// Show a file of an array field by field: offset, bytes, value and meaning
///
/// Supports schemas, enumerations, fragment metadata, data files, commits, array metadata and group
/// details. The contents of a compressed tile follow the tile, with offsets relative to the start
/// of the payload.
///
/// For a damaged file, shows everything up to the damage. The exit code is then 3.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb inspect ARRAY/__schema/__1700000000000_1700000000000_0123…
  tdb inspect ARRAY/__fragments/__1_1_0123…_22/__fragment_metadata.tdb
  tdb inspect ARRAY/__fragments/__1_1_0123…_22/a0.tdb --tiles 5
  tdb inspect FILE --format json | jq '.fields[] | select(.name == \"tile extent\")'")]
pub(crate) struct Args {
    /// File in an array or group
    file: OsString,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: TextFormat,

    /// Maximum number of tiles of a data file to show
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    tiles: u64,
}

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    let located = match Located::on_store(&args.file) {
        Some(located) => located?,
        None => local(&args.file)?,
    };
    let report = inspect(&located, args.tiles, key)?;
    match args.format {
        TextFormat::Text => text(&report, terminal.paint())?,
        TextFormat::Json => print_json(&document(&report))?,
    }
    report.failure.map_or(Ok(()), |failure| Err(failure.hinted(None)))
}

fn local(argument: &OsStr) -> Result<Located> {
    let (path, kind) = target::find_local(argument)?;
    if kind != Kind::File {
        let failure = Failure::new(Exit::Unavailable, format!("{}: not a file, but {}", path.display(), kind.a()));
        return Err(failure.with_hint(format!("run `tdb {}` for a summary", path.display())));
    }
    Ok(Located::local(&path))
}

fn text(report: &Report, paint: Paint) -> Result<()> {
    let mut out = stdout();
    let Report { path, kind, size, .. } = report;
    writeln!(out, "{}", paint.bold(&format!("{}: {}, {size} bytes", printable(path), kind.name())))?;
    for note in &report.notes {
        writeln!(out, "{}", printable(note))?;
    }
    let mut space = 0;
    for span in &report.spans {
        if span.space != space {
            space = span.space;
            let name = report.spaces.get(space as usize).map_or("", String::as_str);
            writeln!(out, "{}", paint.bold(&format!("-- {}", printable(name))))?;
        }
        writeln!(out, "{}", line(span, paint))?;
    }
    if report.left_out > 0 {
        writeln!(out, "… {} more fields", report.left_out)?;
    }
    Ok(out.flush()?)
}

/// Maximum bytes of a field in text output.
const SHOWN_BYTES: usize = 8;

fn line(span: &Span, paint: Paint) -> String {
    let mut bytes = hex::encode(&span.bytes[..span.bytes.len().min(SHOWN_BYTES)]);
    if span.len > SHOWN_BYTES as u64 && !bytes.is_empty() {
        bytes.push('…');
    }
    let indent = "  ".repeat(usize::try_from(span.depth).unwrap_or(0).min(20));
    let name = format!("{indent}{}", printable(&span.name));
    let mut line = paint.dim(&format!("{:08x}  {bytes:<17}", span.offset));
    if span.value.is_empty() && span.bytes.is_empty() && span.len > 0 {
        let size = paint.dim(&format!("({} bytes)", span.len));
        let _ = write!(line, "  {} {size}", paint.bold(&name));
        return line;
    }
    // If the value only repeats the bytes, the meaning suffices.
    let is_hex = !span.bytes.is_empty() && span.value.starts_with(&hex::encode(&span.bytes));
    let shown = if is_hex && !span.meaning.is_empty() {
        printable(&span.meaning)
    } else if span.meaning.is_empty() {
        printable(&span.value)
    } else {
        format!("{}  {}", printable(&span.value), paint.dim(&printable(&span.meaning)))
    };
    let _ = write!(line, "  {name:<36} {shown}");
    line.truncate(line.trim_end().len());
    line
}

fn document(report: &Report) -> Value {
    let fields = report.spans.iter().map(|span| {
        json!({
            "space": report.spaces.get(span.space as usize),
            "offset": span.offset,
            "length": span.len,
            "depth": span.depth,
            "name": span.name,
            "value": span.value,
            "meaning": span.meaning,
            "bytes": hex::encode(&span.bytes),
        })
    });
    let mut document = json!({
        "file": report.path,
        "kind": report.kind.name(),
        "size": report.size,
        "notes": report.notes,
        "fields": fields.collect::<Vec<_>>(),
        "error": report.failure.as_ref().map(Failure::message),
    });
    if report.left_out > 0 {
        document["fields_left_out"] = report.left_out.into();
    }
    document
}
