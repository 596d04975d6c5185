//! Conversion of DataFusion errors to messages of the command.

use std::error::Error;
use std::ops::Range;

use datafusion::arrow::error::ArrowError;
use datafusion::common::Span;
use datafusion::error::DataFusionError;
use datafusion::sql::sqlparser::parser::ParserError;
use tdb_cli::tdb_array::ArrayError;
use tdb_cli::tdb_array::tdb_filters::KeyProblem;
use tdb_cli::{Exit, Failure};

/// A statement within the input: the name of the input, its text, and the range of the statement in
/// bytes.
#[derive(Clone, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
    pub(crate) statement: Range<usize>,
}

impl Place<'_> {
    /// Converts a span of the statement (lines and columns from 1) to a range of bytes in the text.
    fn bytes(&self, span: Span) -> Option<Range<usize>> {
        let at = |line: u64, column: u64| self.byte(line, column);
        Some(at(span.start.line, span.start.column)?..at(span.end.line, span.end.column)?)
    }

    fn byte(&self, line: u64, column: u64) -> Option<usize> {
        let statement = &self.text[self.statement.clone()];
        let (line, column) =
            (usize::try_from(line.checked_sub(1)?).ok()?, usize::try_from(column.checked_sub(1)?).ok()?);
        let begin: usize = statement.split_inclusive('\n').take(line).map(str::len).sum();
        let within: usize = statement[begin..].chars().take(column).map(char::len_utf8).sum();
        Some(self.statement.start + begin + within)
    }

    /// Adds the position in the text to a failure, if known.
    fn mark(&self, failure: Failure, at: Option<Range<usize>>) -> Failure {
        match at {
            Some(at) => failure.in_text(self.text, at),
            None => failure,
        }
    }

    fn named(&self, message: &str, at: Option<&Range<usize>>) -> String {
        match (self.name, at) {
            ("", _) => message.to_owned(),
            (name, Some(at)) => format!("{name}:{}: {message}", self.text[..at.start].matches('\n').count() + 1),
            (name, None) => format!("{name}: {message}"),
        }
    }
}

/// Converts an error about a statement.
pub(crate) fn failure(error: &DataFusionError, place: &Place<'_>) -> Failure {
    let at = position(error, place);
    let exit = exit(error);
    let failure = Failure::new(exit, place.named(&message(error), at.as_ref()));
    let failure = place.mark(failure, at);
    match hint(error) {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

/// Converts an error with another message about a name. Without a span, searches for the name in
/// the statement.
pub(crate) fn failure_at(error: &DataFusionError, place: &Place<'_>, says: (Exit, &str), name: &str) -> Failure {
    let at = position(error, place).or_else(|| {
        let start = place.statement.start + place.text[place.statement.clone()].find(name)?;
        Some(start..start + name.len())
    });
    let (exit, message) = says;
    place.mark(Failure::new(exit, place.named(message, at.as_ref())), at)
}

/// Converts an error that is not about a statement.
pub(crate) fn of_session(error: &DataFusionError) -> Failure {
    failure(error, &Place { name: "", text: "", statement: 0..0 })
}

/// Returns the position of the error in the text, if known.
fn position(error: &DataFusionError, place: &Place<'_>) -> Option<Range<usize>> {
    if let Some(span) = error.diagnostic().and_then(|found| found.span) {
        return place.bytes(span);
    }
    // The parser appends the position to its message: "… at Line: 1, Column: 8".
    let text = error.to_string();
    if text.contains("found: EOF") {
        return Some(place.statement.end..place.statement.end);
    }
    let (_, rest) = text.rsplit_once("Line: ")?;
    let (line, rest) = rest.split_once(", Column: ")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let start = place.byte(line.parse().ok()?, rest[..digits].parse().ok()?)?;
    Some(start..start)
}

/// Returns the message as a single line. Omits the position, because the excerpt shows it.
fn message(error: &DataFusionError) -> String {
    if let Some(error) = of_array(error) {
        return error.to_string();
    }
    let text = match error.find_root() {
        DataFusionError::SQL(error, _) => match error.as_ref() {
            ParserError::ParserError(text) | ParserError::TokenizerError(text) => {
                let place = text.find(" at Line: ").unwrap_or(text.len());
                format!("SQL: {}", &text[..place])
            }
            ParserError::RecursionLimitExceeded => "SQL: the statement is nested too deeply".to_owned(),
        },
        _ => error.strip_backtrace(),
    };
    if let Some(value) = value_that_is_null(&text) {
        return format!("value {value} of a row of VALUES is NULL, but its column is NOT NULL");
    }
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns the number of the null value if a row of VALUES violates NOT NULL. Its columns have no
/// names.
fn value_that_is_null(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("Column 'column")?;
    let (number, _) = rest.split_once("' is declared as non-nullable but contains null values")?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}

/// Returns the array error among the sources of an error.
fn of_array(error: &DataFusionError) -> Option<&ArrayError> {
    let mut source: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = source {
        if let Some(found) = error.downcast_ref::<ArrayError>() {
            return Some(found);
        }
        // `source` skips the error inside of `External`.
        source = match error.downcast_ref::<DataFusionError>() {
            Some(DataFusionError::External(inner)) => Some(inner.as_ref()),
            _ => error.source(),
        };
    }
    None
}

fn exit(error: &DataFusionError) -> Exit {
    if let Some(error) = of_array(error) {
        return error.category().into();
    }
    match error.find_root() {
        DataFusionError::SQL(..)
        | DataFusionError::Plan(_)
        | DataFusionError::SchemaError(..)
        | DataFusionError::Configuration(_)
        | DataFusionError::Diagnostic(..)
        | DataFusionError::Execution(_)
        | DataFusionError::ArrowError(..) => Exit::Usage,
        DataFusionError::NotImplemented(_) => Exit::Unsupported,
        DataFusionError::ParquetError(_) => Exit::Corrupt,
        _ => Exit::Unavailable,
    }
}

fn hint(error: &DataFusionError) -> Option<String> {
    if let Some(found) = of_array(error) {
        return Exit::Key.eq(&found.category().into()).then(|| match found.key_problem() {
            // All arrays of a session share a key.
            Some(KeyProblem::NotNeeded) => "leave out `--key-file`, and unset TDB_KEY and TDB_KEY_FILE".to_owned(),
            _ => "pass `--key-file FILE`, or set TDB_KEY or TDB_KEY_FILE".to_owned(),
        });
    }
    if let Some(found) = error.diagnostic() {
        let helps = found.helps.iter().map(|help| help.message.as_str());
        let notes = found.notes.iter().map(|note| note.message.as_str());
        if found.message.ends_with("is ambiguous") {
            return Some(which(notes));
        }
        if let Some(more) = helps.chain(notes).next() {
            return Some(more.to_owned());
        }
    }
    match error.find_root() {
        // In `SELECT a, order FROM b`, the parser ends the list before the keyword.
        DataFusionError::SQL(error, _) => {
            let text = error.to_string();
            let word = text.split_once("end of statement, found: ")?.1.split(' ').next()?;
            let is_word = word.chars().all(|c| c == '_' || c.is_alphanumeric());
            is_word.then(|| format!("if {word} is a name, write it in double quotes, because it is also a keyword"))
        }
        DataFusionError::ArrowError(error, _) if matches!(**error, ArrowError::ArithmeticOverflow(_)) => {
            Some("use CAST(… AS BIGINT) or CAST(… AS DECIMAL(38)) to compute in a wider type".to_owned())
        }
        DataFusionError::ResourcesExhausted(_) => {
            Some("pass a larger `--memory SIZE`, or `--threads 1` to share it among fewer threads".to_owned())
        }
        _ => None,
    }
}

/// Suggests how to qualify an ambiguous column. DataFusion lists the candidates without quotes.
fn which<'a>(notes: impl Iterator<Item = &'a str>) -> String {
    let columns: Vec<&str> = notes.filter_map(|note| note.strip_prefix("possible column ")).collect();
    let is_plain = |name: &&str| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.".contains(c));
    let are_distinct = columns.iter().enumerate().all(|(place, name)| !columns[..place].contains(name));
    match columns.len() > 1 && are_distinct && columns.iter().all(is_plain) {
        true => format!("write {}", columns.join(" or ")),
        false => "give each table a name, such as FROM 'PATH' AS a, and write a.COLUMN".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use datafusion::common::Location;

    use super::*;

    #[test]
    fn error_positions_are_found() {
        let text = "SELECT 1;\n SELECT é,\n  b FROM c";
        let place = Place { name: "", text, statement: 11..text.len() };
        let location = |line, column| Location { line, column };
        let bytes = place.bytes(Span::new(location(2, 3), location(2, 4))).unwrap();
        assert_eq!(&text[bytes], "b");
        let bytes = place.bytes(Span::new(location(1, 8), location(1, 9))).unwrap();
        assert_eq!(&text[bytes], "é");
        // A position beyond the text maps to its end.
        assert_eq!(place.byte(9, 9), Some(text.len()));
        assert_eq!(place.byte(0, 0), None);
    }

    #[test]
    fn array_errors_are_found_among_sources() {
        let inner = ArrayError::NotAnArray { path: "a".to_owned(), hint: "" };
        let category = inner.category();
        let error = DataFusionError::External(Box::new(inner)).context("table \"a\"").context("scan");
        assert_eq!(exit(&error), Exit::from(category));
    }
}
