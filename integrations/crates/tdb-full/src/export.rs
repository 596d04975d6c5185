//! `tdb export`: cells as an Arrow IPC file.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use arrow_ipc::writer::FileWriter;
use tdb_arrow::arrow_array::RecordBatchReader as _;
use tdb_arrow::{ArrowOptions, Reader};
use tdb_cli::clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use tdb_cli::tdb_array::Query;
use tdb_cli::{Context, Exit, Failure, FurtherCommand, Result};

/// The command.
#[derive(Debug)]
pub(crate) struct Export;

impl FurtherCommand for Export {
    fn command(&self) -> Command {
        let path = |name: &'static str, value: &'static str| {
            Arg::new(name).value_name(value).value_parser(value_parser!(OsString))
        };
        Command::new("export")
            .about("Write cells into an Arrow IPC file, with all that the array's schema says")
            .arg(path("array", "ARRAY").required(true).help("The array"))
            .arg(path("file", "FILE").required(true).help("The file to make, which isn't there yet: `.arrow`"))
            .arg(
                Arg::new("select")
                    .long("select")
                    .value_name("FIELDS")
                    .value_delimiter(',')
                    .action(ArgAction::Append)
                    .help("Only these attributes, dimensions and labels, in this order"),
            )
            .arg(Arg::new("where").long("where").value_name("CONDITION").help("Only cells that fulfil a condition"))
            .arg(
                Arg::new("binary")
                    .long("binary")
                    .action(ArgAction::SetTrue)
                    .help("Strings as binary, whatever their bytes; by default what is no UTF-8 is refused"),
            )
    }

    fn run(&self, matches: &ArgMatches, context: &Context) -> Result<()> {
        let given = |name: &str| matches.get_one::<OsString>(name).map_or(OsStr::new(""), OsString::as_os_str);
        let file = Path::new(given("file"));
        if file.extension().is_none_or(|ending| ending != "arrow") {
            let message = format!("{}: only Arrow IPC files are written, whose names end with .arrow", file.display());
            return Err(Failure::usage(message).with_hint("`tdb read ARRAY --format csv > FILE` writes CSV"));
        }
        let query = query(context.open_array(given("array"))?.read(), matches)?;
        let options = ArrowOptions::new();
        let options = if matches.get_flag("binary") { options.strings_as_binary() } else { options };
        let reader = Reader::new(query, &options).map_err(of_arrow)?;
        let made = File::create_new(file).map_err(|error| unavailable(file, &error))?;
        write(reader, made).inspect_err(|_| {
            // Half a file is none; the error to report is the first one.
            let _ = fs::remove_file(file);
        })
    }
}

/// The cells that are asked for.
fn query(query: Query, matches: &ArgMatches) -> Result<Query> {
    let query = match matches.get_many::<String>("select") {
        Some(fields) => query.select(fields)?,
        None => query,
    };
    match matches.get_one::<String>("where") {
        Some(condition) => {
            let condition = condition.parse().map_err(|error| Failure::usage(format!("--where: {error}")))?;
            Ok(query.filter(condition).only_matching())
        }
        None => Ok(query),
    }
}

fn write(reader: Reader, file: File) -> Result<()> {
    let schema = reader.schema();
    let failed = |error| Failure::new(Exit::Unavailable, format!("can't write the file: {error}"));
    let mut writer = FileWriter::try_new(BufWriter::new(file), &schema).map_err(failed)?;
    for batch in reader {
        let batch = batch.map_err(|error| match error {
            tdb_arrow::arrow_schema::ArrowError::ExternalError(error) => match error.downcast::<tdb_arrow::Error>() {
                Ok(error) => of_arrow(*error),
                Err(error) => failed(tdb_arrow::arrow_schema::ArrowError::ExternalError(error)),
            },
            error => failed(error),
        })?;
        writer.write(&batch).map_err(failed)?;
    }
    let file = writer.into_inner().map_err(failed)?;
    let file = file.into_inner().map_err(|error| failed(error.into_error().into()))?;
    file.sync_all().map_err(|error| failed(error.into()))
}

/// What the array doesn't give, or Arrow can't hold.
fn of_arrow(error: tdb_arrow::Error) -> Failure {
    match error {
        tdb_arrow::Error::Array(error) => error.into(),
        error => Failure::new(Exit::Unsupported, error).with_hint("docs/arrow.md says what becomes of which type"),
    }
}

fn unavailable(file: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Exit::Unavailable, format!("{}: {error}", file.display())).with_hint("choose another name")
}
