//! What programs add to the commands.

use std::ffi::OsStr;
use std::fmt;
use std::sync::{Arc, OnceLock};

use clap::ArgMatches;
use tdb_array::Array;
use tdb_storage::{Storage, StorageError};

use crate::failure::Result;
use crate::files::{self, FileFormat, FolderFormat};
use crate::key::Key;
use crate::stores::{self, OpenStorage};
use crate::time::TimeArgs;
use crate::{session, target};

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
pub struct Context(());

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
pub(crate) fn run_command(name: &str, matches: &ArgMatches) -> Result<()> {
    match commands().iter().find(|further| further.command().get_name() == name) {
        Some(command) => command.run(matches, &Context(())),
        // The parser knows those that there are.
        None => Ok(()),
    }
}
