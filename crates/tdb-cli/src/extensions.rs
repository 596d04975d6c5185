//! What programs add to the commands.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use clap::ArgMatches;
use tdb_array::Array;
use tdb_filters::EncryptionKey;
use tdb_storage::{CountingStorage, LocalStorage, Storage, StorageError};

use crate::failure::{Failure, Result};
use crate::files::{self, FileFormat, FolderFormat};
use crate::key::Key;
use crate::stores::{self, OpenStorage};
use crate::time::TimeArgs;
use crate::{interrupt, location, session, target};
use tdb_print::Terminal;
use tdb_print::{RowColumn, RowFormat, RowPrinter};

/// What a program adds to the commands: ways to open the arrays that URIs name, kinds of files, and further commands.
#[derive(Default)]
#[must_use]
pub struct Extensions {
    storages: Vec<(&'static str, OpenStorage)>,
    formats: Vec<Box<dyn FileFormat>>,
    folders: Vec<Box<dyn FolderFormat>>,
    commands: Vec<Box<dyn FurtherCommand>>,
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schemes: Vec<_> = self.storages.iter().map(|(scheme, _)| scheme).collect();
        let commands: Vec<_> = self.commands.iter().map(|command| command.command().get_name().to_owned()).collect();
        let formats = self.formats.iter().map(|format| format.endings());
        let formats: Vec<_> = formats.chain(self.folders.iter().map(|format| format.endings())).collect();
        let mut text = f.debug_struct("Extensions");
        text.field("storages", &schemes).field("formats", &formats).field("commands", &commands).finish()
    }
}

impl Extensions {
    /// Nothing: local files, and the commands of this crate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens URIs of a scheme (`s3` for `s3://…`), with all commands.
    pub fn storage(
        mut self,
        scheme: &'static str,
        open: impl Fn(&str) -> Result<Arc<dyn Storage>, StorageError> + Send + Sync + 'static,
    ) -> Self {
        self.storages.push((scheme, Box::new(open)));
        self
    }

    /// Adds a kind of files, for `tdb export` and `tdb import`.
    pub fn format(mut self, format: impl FileFormat + 'static) -> Self {
        self.formats.push(Box::new(format));
        self
    }

    /// Adds a kind of folders that hold whole arrays and groups, for `tdb export` and `tdb import`.
    pub fn folder_format(mut self, format: impl FolderFormat + 'static) -> Self {
        self.folders.push(Box::new(format));
        self
    }

    /// Adds a command. One that is called as a command of this crate takes its place.
    pub fn command(mut self, command: impl FurtherCommand + 'static) -> Self {
        self.commands.push(Box::new(command));
        self
    }
}

/// A command that a program adds.
pub trait FurtherCommand: Send + Sync {
    /// Its name, options and help.
    fn command(&self) -> clap::Command;

    /// Runs it.
    ///
    /// # Errors
    /// Why it ends without a result.
    fn run(&self, matches: &ArgMatches, context: &Context) -> Result<()>;
}

/// What commands have in common.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    terminal: Terminal,
}

impl Context {
    /// Opens an array as the other commands do: a path or a URI, with the key that the command line or the environment
    /// names.
    ///
    /// # Errors
    /// There is no array, or it can't be opened.
    pub fn open_array(&self, argument: &OsStr) -> Result<Array> {
        let key = Key::given(session::options().key_file.as_deref())?;
        Ok(target::open_to_read(argument, 0, &TimeArgs::default(), &key)?.1)
    }

    /// The key of encrypted arrays that the command line or the environment names, if there is one.
    ///
    /// # Errors
    /// What is there is no key, or can't be read.
    pub fn key(&self) -> Result<Option<EncryptionKey>> {
        Ok(Key::given(session::options().key_file.as_deref())?.bytes().cloned())
    }

    /// The storage that a path of this machine or a URI names. With `--stats` it says at the end what was asked of it.
    ///
    /// # Errors
    /// URIs of this kind can't be opened.
    pub fn storage(&self, argument: &str) -> Result<Arc<dyn Storage>, StorageError> {
        let storage = match stores::open(argument.as_ref()) {
            Some(opened) => opened?,
            None => {
                let refused = |failure: Failure| {
                    let why = io::Error::new(io::ErrorKind::Unsupported, failure.message().to_owned());
                    StorageError::from_io(argument.to_owned(), why)
                };
                Arc::new(LocalStorage::new(location::local(argument.as_ref()).map_err(refused)?))
            }
        };
        if !session::options().stats {
            return Ok(storage);
        }
        let counting = CountingStorage::new(storage);
        session::counting(&counting);
        Ok(Arc::new(counting))
    }

    /// Why no array is at a path or URI, with names that are near it; none if there is one.
    #[must_use]
    pub fn why_no_array(&self, argument: &str) -> Option<Failure> {
        match target::find(argument.as_ref()) {
            Ok((_, target::Kind::Array)) => None,
            Ok((path, kind)) => Some(target::not_an_array(&path, kind)),
            Err(failure) => Some(failure),
        }
    }

    /// The schemes of URIs that can be opened (`s3` of `s3://…`), apart from `file`.
    #[must_use]
    pub fn schemes(&self) -> Vec<&'static str> {
        stores::schemes()
    }

    /// Prints rows in a format, or if none was asked for in the one that the other commands would choose. `null` is what CSV
    /// shows for a null cell.
    ///
    /// # Errors
    /// The columns' names can't be printed.
    pub fn row_printer(&self, format: Option<RowFormat>, columns: Vec<RowColumn>, null: &str) -> Result<RowPrinter> {
        Ok(RowPrinter::new(RowFormat::or_default(format, self.terminal), columns, null, self.terminal)?)
    }

    /// Has Ctrl-C call a function, on a thread of its own, in place of ending the process. Once in a run.
    pub fn on_interrupt(&self, call: impl FnMut() + Send + 'static) {
        interrupt::calls(call);
    }

    /// Says on standard error what went wrong, for commands that go on.
    pub fn report(&self, failure: &Failure) {
        failure.report(self.terminal);
    }
}

static COMMANDS: OnceLock<Vec<Box<dyn FurtherCommand>>> = OnceLock::new();

/// Notes what there is; once.
pub(crate) fn begin(Extensions { storages, formats, folders, commands }: Extensions) {
    stores::begin(storages, !commands.is_empty() || !formats.is_empty() || !folders.is_empty());
    files::begin(formats, folders);
    // Nobody has asked for them yet.
    let _ = COMMANDS.set(commands);
}

fn commands() -> &'static [Box<dyn FurtherCommand>] {
    COMMANDS.get().map_or(&[], Vec::as_slice)
}

/// The command line with the commands that were added.
pub(crate) fn with_commands(mut line: clap::Command) -> clap::Command {
    for command in commands().iter().map(|further| further.command()) {
        let name = command.get_name().to_owned();
        line = match line.find_subcommand(&name) {
            Some(_) => line.mut_subcommand(name, |_| command),
            None => line.subcommand(command),
        };
    }
    line
}

/// Whether a command was added.
pub(crate) fn is_command(name: &str) -> bool {
    commands().iter().any(|further| further.command().get_name() == name)
}

/// Runs a command that was added.
pub(crate) fn run_command(name: &str, matches: &ArgMatches, terminal: Terminal) -> Result<()> {
    match commands().iter().find(|further| further.command().get_name() == name) {
        Some(command) => command.run(matches, &Context { terminal }),
        // The parser knows those that there are.
        None => Ok(()),
    }
}
