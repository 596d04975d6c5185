//! Completion of keywords and names.

use rustyline::completion::{Completer, FilenameCompleter};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper, Result};

use crate::run::Runner;

/// Common keywords, sorted.
const KEYWORDS: [&str; 62] = [
    "ALL",
    "ANALYZE",
    "AND",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "CASE",
    "CAST",
    "COPY",
    "CREATE",
    "CROSS",
    "DELETE",
    "DESC",
    "DESCRIBE",
    "DISTINCT",
    "DROP",
    "ELSE",
    "END",
    "EXCEPT",
    "EXISTS",
    "EXPLAIN",
    "EXTERNAL",
    "FALSE",
    "FROM",
    "FULL",
    "GROUP",
    "HAVING",
    "IN",
    "INNER",
    "INSERT",
    "INTERSECT",
    "INTO",
    "IS",
    "JOIN",
    "LEFT",
    "LIKE",
    "LIMIT",
    "LOCATION",
    "NOT",
    "NULL",
    "OFFSET",
    "ON",
    "OPTIONS",
    "OR",
    "ORDER",
    "OUTER",
    "OVER",
    "PARTITION",
    "RIGHT",
    "SELECT",
    "SET",
    "SHOW",
    "STORED",
    "TABLE",
    "TABLES",
    "THEN",
    "TRUE",
    "UNION",
    "VALUES",
    "WHEN",
    "WHERE",
];

/// The known names.
#[derive(Debug)]
pub(super) struct WriteIds {
    names: Vec<String>,
}

/// Lists the tables, columns and functions.
pub(super) async fn names(runner: &Runner<'_>) -> Vec<String> {
    let mut names = Vec::new();
    for query in [
        "SELECT table_name FROM information_schema.tables WHERE table_schema <> 'information_schema'",
        "SELECT column_name FROM information_schema.columns WHERE table_schema <> 'information_schema'",
        "SELECT routine_name FROM information_schema.routines",
    ] {
        names.extend(runner.texts(query).await);
    }
    names.sort_unstable();
    names.dedup();
    names
}

impl WriteIds {
    pub(super) fn new(names: Vec<String>) -> Self {
        Self { names }
    }

    /// Returns the start of the word before the cursor, and its completions. Within double quotes,
    /// completes names. Elsewhere, completes names, quoted if necessary, and keywords.
    fn of(&self, line: &str, end: usize) -> (usize, Vec<String>) {
        let before = line.get(..end).unwrap_or(line);
        if let Some(start) = open_quote(before, '"') {
            let begun = before[start + 1..].replace("\"\"", "\"");
            let names = self.names.iter().filter(|name| begins(name, &begun));
            return (start, names.map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect());
        }
        let start = before.rfind(|c: char| c != '_' && !c.is_alphanumeric());
        let start = start.map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let word = &before[start..];
        if word.is_empty() {
            return (start, Vec::new());
        }
        let keywords = KEYWORDS.iter().copied().filter(|keyword| begins(keyword, word)).map(|keyword| {
            // Uses the case of the typed letters.
            if word.chars().all(char::is_lowercase) { keyword.to_lowercase() } else { keyword.to_owned() }
        });
        let names = self.names.iter().filter(|name| begins(name, word)).map(|name| quoted(name));
        (start, names.chain(keywords).collect())
    }
}

/// `true` if a name has this prefix, ignoring the case of ASCII letters.
fn begins(name: &str, begin: &str) -> bool {
    name.get(..begin.len()).is_some_and(|found| found.eq_ignore_ascii_case(begin))
}

/// Returns the position of an unclosed quote of this kind. Quotes of other kinds are skipped, and a
/// doubled quote is a literal quote.
fn open_quote(text: &str, quote: char) -> Option<usize> {
    let mut open: Option<(usize, char)> = None;
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        open = match open {
            None if matches!(c, '"' | '\'' | '`') => Some((at, c)),
            Some((_, with)) if with == c && rest.next_if(|(_, next)| *next == with).is_none() => None,
            other => other,
        };
    }
    open.filter(|(_, with)| *with == quote).map(|(at, _)| at)
}

/// `true` for keywords.
pub(super) fn is_keyword(name: &str) -> bool {
    KEYWORDS.binary_search(&&*name.to_ascii_uppercase()).is_ok()
}

impl Completer for WriteIds {
    type Candidate = String;

    /// Completes paths within single quotes, and names elsewhere.
    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> Result<(usize, Vec<String>)> {
        if open_quote(line.get(..pos).unwrap_or(line), '\'').is_none() {
            return Ok(self.of(line, pos));
        }
        let (start, paths) = FilenameCompleter::new().complete_path(line, pos)?;
        Ok((start, paths.into_iter().map(|path| path.replacement).collect()))
    }
}

impl Hinter for WriteIds {
    type Hint = String;
}

impl Highlighter for WriteIds {}

impl Validator for WriteIds {}

impl Helper for WriteIds {}

/// Returns a name as SQL: in double quotes, unless it consists of lower-case letters, digits and
/// underscores, and is no keyword.
pub(crate) fn quoted(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c == '_' || c.is_ascii_lowercase())
        && name.chars().all(|c| c == '_' || c.is_ascii_lowercase() || c.is_ascii_digit())
        && !is_keyword(name);
    if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_completed() {
        let names = WriteIds::new(["chrom", "café", "select_me"].map(str::to_owned).to_vec());
        assert_eq!(names.of("SEL", 3), (0, vec!["select_me".to_owned(), "SELECT".to_owned()]));
        assert_eq!(names.of("select ch", 9), (7, vec!["chrom".to_owned()]));
        assert_eq!(names.of("é caf, b", 6), (3, vec!["\"café\"".to_owned()]));
        assert_eq!(names.of("a.wh", 4), (2, vec!["when".to_owned(), "where".to_owned()]));
        assert_eq!(names.of("", 0), (0, vec![]));
        assert_eq!(names.of("caé", 4), (0, vec![]));
    }

    #[test]
    fn names_are_quoted_if_necessary() {
        let names = WriteIds::new(["soma_dim_0", "Soma", "order", "a\"b"].map(str::to_owned).to_vec());
        assert_eq!(names.of("SELECT so", 9), (7, vec!["soma_dim_0".to_owned(), "\"Soma\"".to_owned()]));
        assert_eq!(names.of("SELECT \"So", 10), (7, vec!["\"soma_dim_0\"".to_owned(), "\"Soma\"".to_owned()]));
        assert_eq!(names.of("SELECT \"a\"\"", 11), (7, vec!["\"a\"\"b\"".to_owned()]));
        assert_eq!(names.of("ord", 3), (0, vec!["\"order\"".to_owned(), "order".to_owned()]));
        assert_eq!(
            names.of("SELECT \"a b\" or", 15),
            (13, vec!["\"order\"".to_owned(), "or".to_owned(), "order".to_owned()])
        );
    }

    #[test]
    fn unclosed_quotes_are_found_by_kind() {
        assert_eq!(open_quote("SELECT 'a", '\''), Some(7));
        assert_eq!(open_quote("SELECT 'a\"", '"'), None);
        assert_eq!(open_quote("SELECT 'it''s", '\''), Some(7));
        assert_eq!(open_quote("SELECT 'a'", '\''), None);
    }

    #[test]
    fn keywords_are_in_order() {
        assert!(KEYWORDS.is_sorted());
    }
}
