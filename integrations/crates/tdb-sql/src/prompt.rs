//! The prompt.

mod completion;
mod history;

use std::cell::RefCell;
use std::io::{self, Write};

use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};
use tdb_cli::{Exit, Failure, Result};
use tokio::runtime::Runtime;

use crate::error::Place;
use crate::run::Runner;
use crate::statements;
use completion::Names;

const HELP: &str = "\
A statement ends with ; and may take several lines. Tab completes keywords and names, the arrows go back in history.

  \\d            tables                \\d TABLE      a table's columns
  \\?            this help             \\q or Ctrl-D  the end
  Ctrl-C ends the statement that runs, or drops the lines that were typed
";

/// Asks for statements until somebody has enough, and runs them.
pub(crate) fn ask(runtime: &Runtime, runner: &Runner<'_>) -> Result<()> {
    let failed = |error: ReadlineError| Failure::new(Exit::Unavailable, format!("the terminal: {error}"));
    let config = Config::builder().completion_type(CompletionType::List).history_ignore_space(true).build();
    let mut editor: Editor<Names, FileHistory> = Editor::with_config(config).map_err(failed)?;
    let names = RefCell::new(runtime.block_on(completion::names(runner)));
    editor.set_helper(Some(Names::new(names.borrow().clone())));
    let history = history::file();
    if let Some(file) = &history {
        // There may be none yet.
        let _ = editor.load_history(file);
    }
    say("SQL over arrays. \\? says what there is, \\q ends it.");
    let mut typed = String::new();
    loop {
        let prompt = if typed.is_empty() { "tdb> " } else { "...> " };
        match editor.readline(prompt) {
            Ok(line) => {
                if typed.is_empty() && line.trim().is_empty() {
                    continue;
                }
                if typed.is_empty()
                    && let Some(command) = Command::of(&line)
                {
                    let _ = editor.add_history_entry(line.as_str());
                    match command {
                        Command::Quit => break,
                        Command::Help => say(HELP),
                        Command::Sql(statement) => run(runtime, runner, &statement),
                    }
                    continue;
                }
                typed.push_str(&line);
                typed.push('\n');
                let (found, ended) = statements::split(&typed);
                if !ended {
                    continue;
                }
                let _ = editor.add_history_entry(typed.trim());
                if !found.is_empty() {
                    run(runtime, runner, &typed);
                    // A statement may have made tables.
                    editor.set_helper(Some(Names::new(runtime.block_on(completion::names(runner)))));
                }
                typed.clear();
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

/// Runs statements one after the other, and says what went wrong with the first that fails.
fn run(runtime: &Runtime, runner: &Runner<'_>, text: &str) {
    for statement in statements::split(text).0 {
        let place = Place { name: "", text, statement };
        if let Err(failure) = runtime.block_on(runner.timed(&place)) {
            runner.context.report(&failure);
            break;
        }
    }
}

fn say(text: &str) {
    // Nobody may be listening.
    let _ = writeln!(io::stderr(), "{text}");
}

/// What is no SQL.
#[derive(Debug, PartialEq, Eq)]
enum Command {
    Quit,
    Help,
    /// Short for a statement.
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

/// A table as SQL names it: in quotes if it is a path.
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
    fn what_is_no_sql() {
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
