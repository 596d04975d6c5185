//! Extensions of the command.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use clap::ArgMatches;
use tdb_array::Array;
use tdb_filters::EncryptionKey;
use tdb_storage::{CountingStorage, Storage, StorageError};

use crate::failure::{Failure, Result};
use crate::files::{self, FileFormat, FolderFormat};
use crate::key::Key;
use crate::stores::{self, OpenStorage};
use crate::time::TimeArgs;
use crate::{interrupt, location, session, target};
use tdb_print::Terminal;
use tdb_print::{RowColumn, RowFormat, RowPrinter};

/// Extensions of the command: storages for URIs, file formats, folder formats, and further
/// commands.
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
    /// Creates an empty set of extensions: only local files, and only the commands of this crate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a storage for URIs of a scheme, such as `s3` for `s3://…`. All commands accept these
    /// URIs.
    pub fn storage(
        mut self,
        scheme: &'static str,
        open: impl Fn(&str) -> Result<Arc<dyn Storage>, StorageError> + Send + Sync + 'static,
    ) -> Self {
        self.storages.push((scheme, Box::new(open)));
        self
    }

    /// Adds a file format for `tdb export` and `tdb import`.
    pub fn format(mut self, format: impl FileFormat + 'static) -> Self {
        self.formats.push(Box::new(format));
        self
    }

    /// Adds a folder format of arrays and groups for `tdb export` and `tdb import`.
    pub fn folder_format(mut self, format: impl FolderFormat + 'static) -> Self {
        self.folders.push(Box::new(format));
        self
    }

    /// Adds a command. It replaces a command of this crate with the same name.
    pub fn command(mut self, command: impl FurtherCommand + 'static) -> Self {
        self.commands.push(Box::new(command));
        self
    }
}

/// A command of an extension.
pub trait FurtherCommand: Send + Sync {
    /// Returns the name, options and help of the command.
    fn command(&self) -> clap::Command;

    /// Runs the command.
    ///
    /// # Errors
    /// Returns the failure of the command.
    fn run(&self, matches: &ArgMatches, context: &Context) -> Result<()>;
}

/// The environment of a running command.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    terminal: Terminal,
}

impl Context {
    /// Opens an array at a path or URI, with the key from the command line or the environment.
    ///
    /// # Errors
    /// Fails if the array does not exist or cannot be opened, or if the key is invalid or cannot be
    /// read.
    pub fn open_array(&self, argument: &OsStr) -> Result<Array> {
        let key = Key::given(session::options().key_file.as_deref())?;
        Ok(target::open_to_read(argument, 0, &TimeArgs::default(), &key)?.1)
    }

    /// Returns the key for encrypted arrays from the command line or the environment, or `None`
    /// without a key.
    ///
    /// # Errors
    /// Fails if the key is invalid or cannot be read.
    pub fn key(&self) -> Result<Option<EncryptionKey>> {
        Ok(Key::given(session::options().key_file.as_deref())?.bytes().cloned())
    }

    /// Opens the storage of a local path or a URI. With `--stats`, its requests are reported at the
    /// end of the run.
    ///
    /// # Errors
    /// Fails if the storage of the URI cannot be opened, or if the scheme is not supported.
    pub fn storage(&self, argument: &str) -> Result<Arc<dyn Storage>, StorageError> {
        let storage = match stores::open(argument.as_ref()) {
            Some(opened) => opened?,
            None => {
                let refused = |failure: Failure| {
                    let why = io::Error::new(io::ErrorKind::Unsupported, failure.message().to_owned());
                    StorageError::from_io(argument.to_owned(), why)
                };
                target::local_storage(&location::local(argument.as_ref()).map_err(refused)?)
            }
        };
        if !session::options().stats {
            return Ok(storage);
        }
        let counting = CountingStorage::new(storage);
        session::counting(&counting);
        Ok(Arc::new(counting))
    }

    /// Explains why no array is at a path or URI, and suggests similar names. Returns `None` if an
    /// array exists there.
    #[must_use]
    pub fn why_no_array(&self, argument: &str) -> Option<Failure> {
        match target::find(argument.as_ref()) {
            Ok((_, target::Kind::Array)) => None,
            Ok((path, kind)) => Some(target::not_an_array(&path, kind)),
            Err(failure) => Some(failure),
        }
    }

    /// Returns the schemes of supported URIs (`s3` of `s3://…`), without `file`.
    #[must_use]
    pub fn schemes(&self) -> Vec<&'static str> {
        stores::schemes()
    }

    /// Creates a printer of rows. `format` defaults to the format of the other commands. `null` is
    /// the text of a null cell in CSV.
    ///
    /// # Errors
    /// Fails if the name of a column cannot be encoded as JSON.
    pub fn row_printer(&self, format: Option<RowFormat>, columns: Vec<RowColumn>, null: &str) -> Result<RowPrinter> {
        Ok(RowPrinter::new(RowFormat::or_default(format, self.terminal), columns, null, self.terminal)?)
    }

    /// Calls a function on a separate thread when Ctrl-C is pressed, instead of ending the process.
    /// Only the first call in a process has an effect.
    pub fn on_interrupt(&self, call: impl FnMut() + Send + 'static) {
        interrupt::calls(call);
    }

    /// Prints a failure to standard error, for commands that continue.
    pub fn report(&self, failure: &Failure) {
        failure.report(self.terminal);
    }
}

static COMMANDS: OnceLock<Vec<Box<dyn FurtherCommand>>> = OnceLock::new();

/// Registers the extensions. Must be called once, before any command runs.
pub(crate) fn begin(Extensions { storages, formats, folders, commands }: Extensions) {
    stores::begin(storages, !commands.is_empty() || !formats.is_empty() || !folders.is_empty());
    files::begin(formats, folders);
    // No earlier call has initialized the value.
    let _ = COMMANDS.set(commands);
}

fn commands() -> &'static [Box<dyn FurtherCommand>] {
    COMMANDS.get().map_or(&[], Vec::as_slice)
}

/// Adds the commands of extensions to the command line.
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

/// Returns the command of an extension with this name.
pub(crate) fn command(name: &str) -> Option<&'static dyn FurtherCommand> {
    commands().iter().find(|further| further.command().get_name() == name).map(|command| &**command)
}

/// Runs the command of an extension. The parser accepts only known commands.
pub(crate) fn run_command(name: &str, matches: &ArgMatches, terminal: Terminal) -> Result<()> {
    command(name).map_or(Ok(()), |command| command.run(matches, &Context { terminal }))
}
