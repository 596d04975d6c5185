//! The interactive prompt.

mod completion;
mod history;

use std::io::{self, Write};
use std::ops::ControlFlow;

use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};
use tdb_cli::{Exit, Failure, Result};
use tokio::runtime::Runtime;

use crate::error::Place;
use crate::run::Runner;
use crate::statements;
use completion::WriteIds;
pub(crate) use completion::quoted;

const HELP: &str = "\
A statement ends with ; and may span several lines. Tab completes keywords and names, arrow keys browse the history.

  \\d            tables                \\d TABLE      columns of a table
  \\?            this help             \\q or Ctrl-D  quit
  Ctrl-C cancels the running statement, or discards the typed lines
";

/// Reads and runs statements until the user quits.
pub(crate) fn ask(runtime: &Runtime, runner: &Runner<'_>) -> Result<()> {
    let failed = |error: ReadlineError| Failure::new(Exit::Unavailable, format!("cannot use the terminal: {error}"));
    let config = Config::builder().completion_type(CompletionType::List).history_ignore_space(true).build();
    let mut editor: Editor<WriteIds, FileHistory> = Editor::with_config(config).map_err(failed)?;
    editor.set_helper(Some(WriteIds::new(runtime.block_on(completion::names(runner)))));
    let history = history::file();
    if let Some(file) = &history {
        // The file may not exist yet.
        let _ = editor.load_history(file);
    }
    say("SQL over arrays. Type \\? for help, \\q to quit.");
    let mut typed = String::new();
    loop {
        let prompt = if typed.is_empty() { "tdb> " } else { "...> " };
        match editor.readline(prompt) {
            Ok(line) => {
                // Pasted text may contain many lines.
                let steps: Vec<Step> = line.split('\n').flat_map(|line| Step::all(&mut typed, line)).collect();
                for step in &steps {
                    let _ = editor.add_history_entry(step.text());
                }
                if do_all(runtime, runner, &steps).is_break() {
                    break;
                }
                if steps.iter().any(|step| matches!(step, Step::Sql(_))) {
                    // A statement may have created tables.
                    editor.set_helper(Some(WriteIds::new(runtime.block_on(completion::names(runner)))));
                }
            }
            Err(ReadlineError::Interrupted) => typed.clear(),
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(failed(error)),
        }
    }
    if let Some(file) = &history {
        history::keep(&mut editor, file);
    }
    Ok(())
}

/// Runs steps in order. Reports the first failure, and skips the rest. `Break` ends the prompt.
fn do_all(runtime: &Runtime, runner: &Runner<'_>, steps: &[Step]) -> ControlFlow<()> {
    for step in steps {
        let statement = match step {
            Step::Command(Command::Quit, _) => return ControlFlow::Break(()),
            Step::Command(Command::Help, _) => {
                say(HELP);
                continue;
            }
            Step::Command(Command::Sql(statement), _) | Step::Sql(statement) => statement,
        };
        for part in statements::split(statement).0 {
            let place = Place { name: "", text: statement, statement: part };
            if let Err(failure) = runtime.block_on(runner.timed(&place)) {
                runner.context.report(&failure);
                return ControlFlow::Continue(());
            }
        }
    }
    ControlFlow::Continue(())
}

/// An input to execute.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// A command, and the line as typed.
    Command(Command, String),
    /// Complete statements.
    Sql(String),
}

impl Step {
    /// Adds a line to the input, and returns the next step. Incomplete statements stay in `typed`.
    fn all(typed: &mut String, line: &str) -> Option<Self> {
        if typed.is_empty() {
            if line.trim().is_empty() {
                return None;
            }
            if let Some(command) = Command::of(line) {
                return Some(Self::Command(command, line.to_owned()));
            }
        }
        typed.push_str(line);
        typed.push('\n');
        let (found, ended) = statements::split(typed);
        if ended {
            let all = std::mem::take(typed);
            return (!found.is_empty()).then_some(Self::Sql(all));
        }
        // Runs complete statements without waiting for the rest.
        let [.., _, last] = &found[..] else { return None };
        let rest = typed.split_off(last.start);
        Some(Self::Sql(std::mem::replace(typed, rest)))
    }

    /// Returns the input as typed.
    fn text(&self) -> &str {
        match self {
            Self::Command(_, line) => line,
            Self::Sql(statements) => statements.trim(),
        }
    }
}

fn say(text: &str) {
    // Standard error may be closed.
    let _ = writeln!(io::stderr(), "{text}");
}

/// A command other than SQL.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Command {
    Quit,
    Help,
    /// Abbreviation of a statement.
    Sql(String),
}

impl Command {
    fn of(line: &str) -> Option<Self> {
        let line = line.trim().trim_end_matches(';').trim_end();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        Some(match (word.to_ascii_lowercase().as_str(), rest.trim()) {
            ("\\q" | "quit" | "exit", "") => Self::Quit,
            ("\\?" | "\\h" | "help", "") => Self::Help,
            ("\\d", "") => Self::Sql("SHOW TABLES".to_owned()),
            ("\\d", table) => Self::Sql(format!("DESCRIBE {}", as_name(table))),
            (word, _) if word.starts_with('\\') => Self::Help,
            _ => return None,
        })
    }
}

/// Quotes a table name if it is a path.
fn as_name(table: &str) -> String {
    let is_plain = table.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '"' | '\''));
    match is_plain && !table.starts_with('.') {
        true => table.to_owned(),
        false => format!("'{}'", table.replace('\'', "''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_steps_at_statement_ends() {
        let steps = |text: &str| {
            let mut typed = String::new();
            let steps: Vec<Step> = text.split('\n').flat_map(|line| Step::all(&mut typed, line)).collect();
            let steps: Vec<String> = steps.iter().map(|step| step.text().to_owned()).collect();
            (steps, typed)
        };
        let is = |text: &str, expected: &[&str], left: &str| {
            let expected = expected.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
            assert_eq!(steps(text), (expected, left.to_owned()), "{text}");
        };
        is("SELECT 1;", &["SELECT 1;"], "");
        is("SELECT\n1\n;", &["SELECT\n1\n;"], "");
        is(
            "SELECT 1;\n\nSELECT 2;\n\\d\nSELECT 3; SELECT 4;",
            &["SELECT 1;", "SELECT 2;", "\\d", "SELECT 3; SELECT 4;"],
            "",
        );
        is("SELECT 1; SELECT\n", &["SELECT 1;"], "SELECT\n\n");
        is("SELECT 'a;\n\\q\n'; SELECT 2", &["SELECT 'a;\n\\q\n';"], "SELECT 2\n");
        is("-- a comment\nSELECT 1;", &["SELECT 1;"], "");
        is("  \n;\n", &[], "");
    }

    #[test]
    fn paths_are_quoted_as_names() {
        assert_eq!(quoted("pos_1"), "pos_1");
        assert_eq!(quoted("Pos"), "\"Pos\"");
        assert_eq!(quoted("1st"), "\"1st\"");
        assert_eq!(quoted("order"), "\"order\"");
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
        assert_eq!(quoted(""), "\"\"");
    }

    #[test]
    fn backslash_commands_are_parsed() {
        assert_eq!(Command::of(" \\q "), Some(Command::Quit));
        assert_eq!(Command::of("EXIT;"), Some(Command::Quit));
        assert_eq!(Command::of("help"), Some(Command::Help));
        assert_eq!(Command::of("\\x y"), Some(Command::Help));
        assert_eq!(Command::of("\\d"), Some(Command::Sql("SHOW TABLES".to_owned())));
        assert_eq!(Command::of("\\d a.b;"), Some(Command::Sql("DESCRIBE a.b".to_owned())));
        assert_eq!(Command::of("\\d ../a'b"), Some(Command::Sql("DESCRIBE '../a''b'".to_owned())));
        assert_eq!(Command::of("SELECT 1"), None);
        assert_eq!(Command::of("exit_codes"), None);
    }
}
