//! `tdb advise`: advice on slow or large arrays.

use std::ffi::OsString;
use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};
use tdb_advise::{Advice, AdviceLevel, AdviceReport, Advise, Costs, FieldTrials, Figure, FigureUnit, Sample};
use tdb_array::{Array, Group, Monitor, NodeKind};
use tdb_maintain::tdb_job::Target;

use super::maintained;
use crate::failure::Result;
use crate::key::Key;
use crate::setter::with;
use crate::size::{Bytes, counted};
use crate::time::TimeArgs;
use crate::{interrupt, session, size, target};
use tdb_print::{Entry, RowFormat, Sheet, stdout};
use tdb_print::{Terminal, printable};

/// Suggest how to make an array smaller or faster
///
/// Prints each problem, the cost, and the commands to run. Reads only names, footers and other
/// metadata, unless --sample is given. The sampled tiles are then encoded again with various
/// filters and tile sizes. Advice is omitted if it saves less than --worth, except for some notes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb advise ARRAY
  tdb advise ARRAY --sample 16             try other filters on 16 tiles of each field
  tdb advise ARRAY --sample 5%
  tdb advise GROUP --format jsonl
  tdb advise ARRAY --latency 0 --worth 10  for a local disk without request latency")]
pub(crate) struct Args {
    /// Array, or group to examine with all its arrays
    path: OsString,

    /// Decode this many tiles of each field, or a share of all tiles, and try various filters and
    /// tile sizes
    #[arg(long, value_name = "TILES|SHARE%", value_parser = sample)]
    sample: Option<Sample>,

    #[command(flatten)]
    costs: CostArgs,

    /// Do not print notes
    #[arg(short, long)]
    quiet: bool,

    /// Output format [default: table on a terminal, else jsonl]
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

/// The read costs of the storage.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct CostArgs {
    /// Latency of a storage request, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = default_of(Costs::default().request))]
    latency: u64,

    /// Bandwidth of the storage per second, such as 100MB [default: 100000000 bytes]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    bandwidth: Option<u64>,

    /// Minimum time that advice must save per full read of the array, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = default_of(Costs::default().worth))]
    worth: u64,
}

fn default_of(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl CostArgs {
    pub(crate) fn costs(self) -> Costs {
        let mut costs = Costs::default();
        costs.request = Duration::from_millis(self.latency);
        costs.worth = Duration::from_millis(self.worth);
        costs.transfer = self.bandwidth.unwrap_or(costs.transfer).max(1);
        costs
    }
}

/// Parses `16` or `5%`.
pub(crate) fn sample(text: &str) -> Result<Sample, String> {
    let problem = || format!("expected a number of tiles, such as 16, or a percentage, such as 5%, found {text:?}");
    match text.strip_suffix('%') {
        None => match text.parse() {
            Ok(tiles) if tiles > 0 => Ok(Sample::Tiles(tiles)),
            _ => Err(problem()),
        },
        Some(share) => match share.trim().parse::<f64>() {
            Ok(share) if share > 0.0 && share <= 100.0 => Ok(Sample::Share(share / 100.0)),
            _ => Err(problem()),
        },
    }
}

const COLUMNS: [(&str, bool); 8] = [
    ("path", false),
    ("level", false),
    ("kind", false),
    ("field", false),
    ("what", false),
    ("figures", false),
    ("saves_ms", true),
    ("commands", false),
];

/// The report about one array or group.
struct Found {
    path: String,
    report: AdviceReport,
}

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    let monitor = Monitor::new();
    interrupt::cancels(&monitor);
    let advise = with(Advise::new().costs(args.costs.costs()).monitor(&monitor), args.sample, Advise::sample);
    let given = args.path.to_string_lossy().into_owned();
    let found = match maintained::open(&args.path, &TimeArgs::default(), key)? {
        Target::Array(array) => vec![Found { path: given, report: advised(&advise, &array)? }],
        Target::Group(group) => of_group(&advise, &group, &given, key)?,
    };
    let format = RowFormat::or_default(args.format, terminal);
    let is_wanted = |advice: &&Advice| !args.quiet || advice.level != AdviceLevel::Note;
    if format == RowFormat::Table {
        return text(&found, is_wanted, terminal);
    }
    let mut sheet = Sheet::new(&COLUMNS);
    for Found { path, report } in &found {
        report.advice.iter().filter(is_wanted).for_each(|advice| sheet.push(row(path, advice)));
    }
    Ok(sheet.print(format, terminal)?)
}

fn advised(advise: &Advise, array: &Array) -> Result<AdviceReport> {
    let report = advise.run(array)?;
    session::counted(report.read);
    Ok(report)
}

/// Returns the reports on a group and on all its members.
fn of_group(advise: &Advise, group: &Group, path: &str, key: &Key) -> Result<Vec<Found>> {
    let mut found = vec![Found { path: path.to_owned(), report: advise.run(group)? }];
    for node in group.tree().nodes().skip(1) {
        let Some(storage) = &node.storage else { continue };
        let path = storage.describe("").trim_end_matches('/').to_owned();
        let report = match &node.kind {
            NodeKind::Array => {
                advised(advise, &target::options(1, &TimeArgs::default(), key).open_on(storage.clone())?)?
            }
            NodeKind::Group => advise.run(&key.group_options().open_on(storage.clone())?)?,
            _ => continue,
        };
        found.push(Found { path, report });
    }
    Ok(found)
}

fn row(path: &str, advice: &Advice) -> Vec<Entry> {
    let figures: Vec<Value> = advice.figures.iter().map(figure).collect();
    let shown: Vec<String> = advice.figures.iter().map(Figure::to_string).collect();
    let commands: Vec<String> = advice.remedy.iter().map(|remedy| remedy.line(path)).collect();
    vec![
        path.into(),
        advice.level.name().into(),
        advice.kind.name().into(),
        advice.field.as_deref().map_or_else(Entry::none, Entry::from),
        advice.what.as_str().into(),
        Entry::shown(shown.join("; "), figures),
        default_of(advice.saves).into(),
        Entry::shown(commands.join("; "), commands),
    ]
}

fn figure(figure: &Figure) -> Value {
    let unit = match figure.unit {
        FigureUnit::Count => "count",
        FigureUnit::Bytes => "bytes",
        FigureUnit::Percent => "percent",
        _ => "nanoseconds",
    };
    json!({ "name": figure.name, "unit": unit, "now": figure.now, "then": figure.then })
}

/// Prints each piece of advice as a paragraph.
fn text(found: &[Found], is_wanted: impl Fn(&&Advice) -> bool, terminal: Terminal) -> Result<()> {
    let mut out = stdout();
    let paint = terminal.paint();
    for Found { path, report } in found {
        if found.len() > 1 {
            writeln!(out, "{}", paint.bold(&printable(path)))?;
        }
        for advice in report.advice.iter().filter(&is_wanted) {
            let field = advice.field.as_ref().map_or(String::new(), |field| format!(" {}", printable(field)));
            let saves = match advice.level {
                AdviceLevel::Note => String::new(),
                _ if advice.saves.as_millis() == 0 => String::new(),
                _ => format!(", saves about {}", shown(advice.saves)),
            };
            let head = format!("{}{field}", advice.kind.name());
            writeln!(out, "{} ({}{saves})", paint.bold(&head), advice.level.name())?;
            writeln!(out, "  {}", printable(&advice.what))?;
            for figure in &advice.figures {
                writeln!(out, "    {figure}")?;
            }
            for remedy in &advice.remedy {
                writeln!(out, "  $ {}", printable(&remedy.line(path)))?;
            }
        }
        report.trials.iter().try_for_each(|trials| tried(&mut out, trials))?;
        writeln!(out, "{}", looked_at(report))?;
    }
    Ok(out.flush()?)
}

/// Prints the filters that were tried on a field, as ratios to the current filters.
#[allow(clippy::cast_precision_loss)] // shown with two digits
fn tried(out: &mut impl Write, trials: &FieldTrials) -> Result<()> {
    let Some(own) = trials.trials.first() else { return Ok(()) };
    let (name, tiles, cells) = (printable(&trials.name), trials.tiles, trials.cells);
    writeln!(out, "tried on {name}: {tiles} tiles, {cells} cells, {}", Bytes(trials.decoded))?;
    let ratio = |a: u64, b: u64| if b == 0 { 0.0 } else { a as f64 / b as f64 };
    for trial in &trials.trials {
        writeln!(
            out,
            "  {:<44} {:>10}  size \u{d7}{:<6.2} filter \u{d7}{:<6.2} unfilter \u{d7}{:.2}",
            trial.filters,
            Bytes(trial.stored).to_string(),
            ratio(trial.stored, own.stored),
            ratio(trial.encoding, own.encoding),
            ratio(trial.decoding, own.decoding),
        )?;
    }
    for (share, stored) in &trials.sizes {
        let times = format!("in tiles of {share}% of the cells");
        writeln!(
            out,
            "  {times:<44} {:>10}  size \u{d7}{:.2}",
            Bytes(*stored).to_string(),
            ratio(*stored, own.stored)
        )?;
    }
    Ok(())
}

fn shown(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        seconds @ 1..100 => format!("{seconds}.{} s", time.subsec_millis() / 100),
        seconds => format!("{seconds} s"),
    }
}

/// Summarizes the examined data and the cost of reading it.
fn looked_at(report: &AdviceReport) -> String {
    let verdict = match report.advice.iter().filter(|advice| advice.level != AdviceLevel::Note).count() {
        0 => "no advice".to_owned(),
        more => counted(more as u64, "suggestion"),
    };
    let read = report.read;
    let sections = match report.fragments.saturating_sub(report.looked_into) {
        0 => String::new(),
        rest => format!(" (of {rest} of them only the footers)"),
    };
    format!(
        "{}{sections}, {}, {}, {} of cells and {} of metadata; read {} in {}: {verdict}",
        counted(report.fragments, "fragment"),
        counted(report.tiles, "tile"),
        counted(report.cells, "cell"),
        Bytes(report.stored),
        Bytes(report.metadata),
        Bytes(read.bytes),
        counted(read.lists + read.reads, "request"),
    )
}
