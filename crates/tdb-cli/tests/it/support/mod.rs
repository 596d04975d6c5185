//! Runs the real binary on fixtures.
#![allow(dead_code, clippy::unwrap_used)] // each test binary uses some of the helpers, and helpers may panic

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{fmt, fs};

use tdb_array::{Array, WriteBatch, WriteColumn};
use tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_testkit::fixtures;
use tdb_types::Datatype;

/// The result of a run of `tdb`.
pub(crate) struct Run {
    line: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "$ {}", self.line)?;
        f.write_str(&self.stdout)?;
        if !self.stderr.is_empty() {
            write!(f, "--- stderr\n{}", self.stderr)?;
        }
        match self.code {
            Some(0) => Ok(()),
            Some(code) => writeln!(f, "--- exit code {code}"),
            None => writeln!(f, "--- killed"),
        }
    }
}

impl Run {
    /// Returns the result of `tdb` with these words.
    pub(crate) fn of(words: &str, output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the output is UTF-8");
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Self { line: format!("tdb {words}"), code: output.status.code(), stdout, stderr }
    }

    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// Asserts success without a message.
    #[track_caller]
    pub(crate) fn quiet(self) -> Self {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{self}");
        self
    }

    /// Asserts the standard output.
    #[track_caller]
    pub(crate) fn prints(self, text: &str) -> Self {
        assert_eq!(self.stdout, text, "{self}");
        self
    }

    /// Asserts that standard output contains a text.
    #[track_caller]
    pub(crate) fn shows(self, text: &str) -> Self {
        assert!(self.stdout.contains(text), "{self}");
        self
    }

    /// Asserts that standard error contains a text.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "{self}");
        self
    }
}

/// The output of several runs, for one snapshot that reads like a terminal.
#[derive(Default)]
pub(crate) struct Transcript(String);

impl Transcript {
    /// Runs `tdb` with the words of a line.
    pub(crate) fn run(&mut self, line: &str) {
        self.add(run(line));
    }

    /// Adds the output of a run.
    pub(crate) fn add(&mut self, output: impl fmt::Display) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.0.push_str(output.to_string().trim_end_matches('\n'));
        self.0.push('\n');
    }
}

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the command, in the folder of the fixtures.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tdb"));
    command
        .current_dir(fixtures::root())
        .env_remove("NO_COLOR")
        .env_remove("TDB_KEY")
        .env_remove("TDB_KEY_FILE")
        .stdin(Stdio::null());
    command
}

/// Returns a folder with the fixtures that the words name. Returns `None` if all of them are stored
/// as folders.
fn fixtures_of<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<tempfile::TempDir> {
    let named: Vec<_> = words.into_iter().filter_map(|word| fixtures::find(word.split('/').next()?)).collect();
    if named.iter().all(|fixture| fixtures::Place::new(&fixtures::root(), fixture.name()).is_folder()) {
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    named.iter().for_each(|fixture| fixture.unpack_into(&folder.path().join(fixture.name())));
    Some(folder)
}

/// Runs `tdb` with arguments, in a folder with the fixtures that they name.
pub(crate) fn tdb<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Run {
    let args: Vec<S> = args.into_iter().collect();
    let words: Vec<_> = args.iter().map(|arg| arg.as_ref().to_string_lossy().into_owned()).collect();
    let folder = fixtures_of(words.iter().map(String::as_str));
    let mut command = command();
    if let Some(folder) = &folder {
        command.current_dir(folder.path());
    }
    Run::of(&words.join(" "), command.args(&args).output().expect("the binary runs"))
}

/// Runs `tdb` with the words of a line.
pub(crate) fn run(line: &str) -> Run {
    tdb(line.split_whitespace())
}

/// Runs `tdb` with these words. Replaces each `@` by the next path.
pub(crate) fn run_on(words: &[&str], paths: &[&Path]) -> Run {
    let mut paths = paths.iter();
    tdb(words.iter().map(|word| if *word == "@" { paths.next().unwrap().as_os_str() } else { (*word).as_ref() }))
}

/// Runs the command, which must succeed, and returns its output.
pub(crate) fn good<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> String {
    tdb(args).exits(0).stdout
}

/// Runs the command on paths as [`run_on`] does. The command must succeed.
pub(crate) fn good_on(words: &[&str], paths: &[&Path]) -> String {
    run_on(words, paths).exits(0).stdout
}

/// Splits a line at spaces, except between single quotes.
pub(crate) fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    let words = parts.flat_map(|(index, part)| match index % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    words.collect()
}

/// Runs the command with the words of a line, in which `@` is a folder.
pub(crate) fn run_in(folder: &Path, line: &str) -> Run {
    let folder = folder.to_string_lossy();
    tdb(words(line).iter().map(|word| word.replace('@', &folder)))
}

/// Creates a temporary folder, and paths of files in it.
pub(crate) fn places<const N: usize>(names: [&str; N]) -> (tempfile::TempDir, [PathBuf; N]) {
    let folder = tempfile::tempdir().unwrap();
    let paths = names.map(|name| folder.path().join(name));
    (folder, paths)
}

/// Creates a dense array with the attribute `a`, whose cells have their coordinates as values.
pub(crate) fn dense_array(path: &Path, cells: i64, extent: i64) {
    let x = Dimension::new("x", 0i64..=cells - 1);
    let builder = SchemaBuilder::dense().dimension(x.with_tile(extent));
    let schema = builder.attribute(Attribute::new("a", Datatype::Int64)).build().unwrap();
    Array::create(path, schema).unwrap();
    let values: Vec<i64> = (0..cells).collect();
    Array::open(path).unwrap().write().cells(WriteBatch::new().with("a", WriteColumn::values(&values))).unwrap();
}

/// A key file.
pub(crate) struct Key(tempfile::NamedTempFile);

impl Key {
    pub(crate) fn new(key: &[u8]) -> Self {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), key).unwrap();
        Self(file)
    }

    /// Returns the arguments that pass the key.
    pub(crate) fn words(&self) -> [String; 2] {
        ["--key-file".to_owned(), self.0.path().to_string_lossy().into_owned()]
    }
}

/// A copy of the folder of a fixture, which may be damaged.
pub(crate) struct Copy {
    folder: tempfile::TempDir,
}

impl Copy {
    pub(crate) fn of(fixture: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fixtures::named(fixture).unpack_into(folder.path());
        Self { folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns a path in the copy, as a word of a command line.
    pub(crate) fn at(&self, name: &str) -> String {
        self.path().join(name).to_string_lossy().into_owned()
    }

    /// Runs `tdb` on a path in the copy. The path of the copy is `COPY` in the output.
    pub(crate) fn run(&self, before: &str, path: &str, after: &str) -> Run {
        let path = self.path().join(path);
        let words = before.split_whitespace().map(OsStr::new);
        let run = tdb(words.chain([path.as_os_str()]).chain(after.split_whitespace().map(OsStr::new)));
        let hide = |text: String| text.replace(&*self.path().to_string_lossy(), "COPY");
        Run { line: hide(run.line), stdout: hide(run.stdout), stderr: hide(run.stderr), code: run.code }
    }

    /// Returns the only file below `folder` whose name ends with `end`.
    pub(crate) fn find(&self, folder: &str, end: &str) -> PathBuf {
        let folder = self.path().join(folder);
        find(&folder, end).unwrap_or_else(|| panic!("no {end} in {}", folder.display()))
    }
}

/// Returns the first file below a folder whose path ends with `end`, sorted by name.
pub(crate) fn find(folder: &Path, end: &str) -> Option<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    entries.into_iter().find_map(|path| {
        if path.is_dir() {
            return find(&path, end);
        }
        path.to_string_lossy().ends_with(end).then_some(path)
    })
}
