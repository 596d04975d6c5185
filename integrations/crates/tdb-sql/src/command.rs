//! The command `tdb sql`, and the session it uses.

use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;
use std::{panic, thread};

use clap::{ArgMatches, Args, FromArgMatches};
use datafusion::prelude::SessionContext;
use tdb_cli::tdb_array::TimeRange;
use tdb_cli::{Context, Exit, Failure, FurtherCommand, Result};

use crate::args::SqlArgs;
use crate::interrupt::Interrupts;
use crate::prompt;
use crate::run::{Output, Runner};

/// Session settings from the command line.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// Groups to add as catalogs: name, and path or URI.
    pub groups: Vec<(String, String)>,
    /// Time range for reading arrays. `None` for the current state.
    pub at: Option<TimeRange>,
    /// Maximum number of threads per query.
    pub threads: usize,
    /// Memory limit of all queries in bytes. `None` for no limit.
    pub memory: Option<u64>,
    /// Folder for temporary files. `None` for the system default.
    pub temporary: Option<PathBuf>,
    /// DataFusion options: keys and values.
    pub set: Vec<(String, String)>,
    /// Address of a scheduler. `None` to run in this process.
    pub scheduler: Option<String>,
}

/// Stack size of each thread in bytes. The system only allocates the pages in use. DataFusion
/// recurses as deeply as a statement nests, and [`tdb_datafusion::parse`] rejects deeper ones.
const STACK: usize = 256 << 20;

type Begin = dyn Fn(&Settings, &Context) -> Result<SessionContext> + Send + Sync;

/// The command `tdb sql`.
pub struct SqlCommand {
    begin: Box<Begin>,
}

impl std::fmt::Debug for SqlCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SqlCommand")
    }
}

impl SqlCommand {
    /// Creates the command. `begin` creates the session, on a runtime of this command.
    pub fn new(begin: impl Fn(&Settings, &Context) -> Result<SessionContext> + Send + Sync + 'static) -> Self {
        Self { begin: Box::new(begin) }
    }
}

impl FurtherCommand for SqlCommand {
    fn command(&self) -> clap::Command {
        SqlArgs::augment_args(clap::Command::new("sql"))
    }

    fn run(&self, matches: &ArgMatches, context: &Context) -> Result<()> {
        let args = SqlArgs::from_arg_matches(matches).map_err(Failure::usage)?;
        let settings = Settings::of(&args)?;
        let statements = given(&args)?;
        thread::scope(|scope| {
            let run = move || self.run_on_thread(args, &settings, statements, context);
            let run = thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, run)
                .map_err(|error| no_threads(&error))?;
            run.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
        })
    }
}

impl SqlCommand {
    fn run_on_thread(
        &self,
        args: SqlArgs,
        settings: &Settings,
        statements: Option<(String, String)>,
        context: &Context,
    ) -> Result<()> {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(settings.threads).thread_stack_size(STACK).enable_all().build();
        let runtime = runtime.map_err(|error| no_threads(&error))?;
        // The session may start tasks when it is created.
        let session = {
            let _inside = runtime.enter();
            (self.begin)(settings, context)?
        };
        let output = Output { format: args.format, null: args.null };
        let runner = Runner { session, context, interrupts: Interrupts::new(context), output };
        let result = match statements {
            Some((name, text)) => runtime.block_on(runner.all(&name, &text)),
            None => prompt::ask(&runtime, &runner),
        };
        // Does not wait for threads that still read for a cancelled query.
        runtime.shutdown_background();
        result
    }
}

fn no_threads(error: &io::Error) -> Failure {
    Failure::new(Exit::Unavailable, format!("cannot start threads: {error}"))
}

impl Settings {
    fn of(args: &SqlArgs) -> Result<Self> {
        let at = args.at.as_deref().map(|text| tdb_cli::parse_time(text).map_err(|why| wrong("--at", &why)));
        let pair = |text: &String| match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
            _ => Err(wrong("--set", "expected KEY=VALUE")),
        };
        Ok(Self {
            groups: args.groups.iter().map(|text| named_group(text)).collect::<Result<_>>()?,
            at: at.transpose()?,
            threads: match args.threads {
                Some(count) => usize::from(count),
                None => std::thread::available_parallelism().map_or(1, usize::from),
            },
            memory: args.memory,
            temporary: args.temporary.clone(),
            set: args.set.iter().map(pair).collect::<Result<_>>()?,
            scheduler: args.scheduler.clone(),
        })
    }
}

fn wrong(option: &str, why: &str) -> Failure {
    Failure::usage(format!("{option}: {why}"))
}

/// Parses `NAME=PATH`, or a path with its last part as the name.
fn named_group(text: &str) -> Result<(String, String)> {
    let is_name = |name: &str| !name.is_empty() && !name.contains(['/', ':', '\\', '?', '.', '=']);
    if let Some((name, path)) = text.split_once('=')
        && is_name(name)
        && !path.is_empty()
    {
        return Ok((name.to_owned(), path.to_owned()));
    }
    let path = text.split('?').next().unwrap_or(text).trim_end_matches(['/', '\\']);
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    // `cohort.tdb` becomes the catalog `cohort`.
    let name = name.split('.').next().unwrap_or(name);
    match is_name(name) {
        true => Ok((name.to_owned(), text.to_owned())),
        false => Err(wrong("--group", &format!("{text} does not end in a name for the tables; pass NAME={text}"))),
    }
}

/// Returns the name of the input for messages, and the statements. `None` for a prompt.
fn given(args: &SqlArgs) -> Result<Option<(String, String)>> {
    if let Some(text) = &args.statements {
        return Ok(Some((String::new(), text.clone())));
    }
    let from_input = match &args.file {
        Some(file) if file == "-" => true,
        Some(file) => {
            let name = file.to_string_lossy().into_owned();
            let bytes = fs::read(file).map_err(|error| Failure::io(&name, &error))?;
            let text = text_of(&name, &bytes)?;
            return Ok(Some((name, text)));
        }
        None => !io::stdin().is_terminal(),
    };
    if !from_input {
        return Ok(None);
    }
    let (name, mut bytes) = ("standard input", Vec::new());
    io::stdin().read_to_end(&mut bytes).map_err(|error| Failure::io(name, &error))?;
    Ok(Some((name.to_owned(), text_of(name, &bytes)?)))
}

/// Decodes a file, without a byte order mark.
fn text_of(name: &str, bytes: &[u8]) -> Result<String> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(text).map(str::to_owned).map_err(|error| {
        let (before, rest) = text.split_at(error.valid_up_to());
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
        let found = rest.first().map_or_else(String::new, |byte| format!(", found byte 0x{byte:02x}"));
        let message =
            format!("{name}:{line}: cannot read statements: expected UTF-8 at byte {column} of the line{found}");
        Failure::usage(message).with_hint("save the file as UTF-8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_names() {
        let named = |text: &str| named_group(text).ok().map(|(name, path)| format!("{name} {path}"));
        assert_eq!(named("cohort").as_deref(), Some("cohort cohort"));
        assert_eq!(named("/data/cohort.tdb/").as_deref(), Some("cohort /data/cohort.tdb/"));
        assert_eq!(named("s3://bucket/a?profile=b/c").as_deref(), Some("a s3://bucket/a?profile=b/c"));
        assert_eq!(named("g=s3://bucket/a?profile=b").as_deref(), Some("g s3://bucket/a?profile=b"));
        assert_eq!(named("s3://bucket/a?x=y").as_deref(), Some("a s3://bucket/a?x=y"));
        assert_eq!(named(".."), None);
        assert_eq!(named("g="), None);
    }
}
