//! Completion of keywords and names.

use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper, Result};

use crate::run::Runner;

/// The words that statements are made of most.
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

/// What can be completed.
#[derive(Debug)]
pub(super) struct Names {
    names: Vec<String>,
}

/// The tables, columns and functions that there are.
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

impl Names {
    pub(super) fn new(names: Vec<String>) -> Self {
        Self { names }
    }

    /// Where the word begins that ends at a place, and what it may become.
    fn of(&self, line: &str, end: usize) -> (usize, Vec<String>) {
        let before = line.get(..end).unwrap_or(line);
        let start = before.rfind(|c: char| c != '_' && !c.is_alphanumeric());
        let start = start.map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let word = &before[start..];
        if word.is_empty() {
            return (start, Vec::new());
        }
        let begins = |name: &&str| name.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
        let keywords = KEYWORDS.iter().copied().filter(begins).map(|keyword| {
            // As the beginning was typed.
            if word.chars().all(char::is_lowercase) { keyword.to_lowercase() } else { keyword.to_owned() }
        });
        let names = self.names.iter().map(String::as_str).filter(begins).map(str::to_owned);
        (start, names.chain(keywords).collect())
    }
}

impl Completer for Names {
    type Candidate = String;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> Result<(usize, Vec<String>)> {
        Ok(self.of(line, pos))
    }
}

impl Hinter for Names {
    type Hint = String;
}

impl Highlighter for Names {}

impl Validator for Names {}

impl Helper for Names {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_completed() {
        let names = Names::new(["chrom", "café", "select_me"].map(str::to_owned).to_vec());
        assert_eq!(names.of("SEL", 3), (0, vec!["select_me".to_owned(), "SELECT".to_owned()]));
        assert_eq!(names.of("select ch", 9), (7, vec!["chrom".to_owned()]));
        assert_eq!(names.of("é caf, b", 6), (3, vec!["café".to_owned()]));
        assert_eq!(names.of("a.wh", 4), (2, vec!["when".to_owned(), "where".to_owned()]));
        assert_eq!(names.of("", 0), (0, vec![]));
        assert_eq!(names.of("caé", 4), (0, vec![]));
    }

    #[test]
    fn keywords_are_in_order() {
        assert!(KEYWORDS.is_sorted());
    }
}
