//! The line of a text that contains an error, with the error marked.

use std::ops::Range;

use tdb_print::printable;

/// Maximum number of characters to show on each side of the start of the error.
const BESIDE: usize = 60;

/// A line of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// Line number, from 1.
    pub(crate) line: usize,
    /// Column in characters, from 1.
    pub(crate) column: usize,
    shown: String,
    /// The marked columns of `shown`: their start and number.
    before: usize,
    marked: usize,
}

impl Excerpt {
    /// Returns the line that contains the start of a byte range. Returns `None` if the range does
    /// not start at a character boundary of the text.
    pub(crate) fn new(text: &str, span: Range<usize>) -> Option<Self> {
        let before = text.get(..span.start)?;
        let begin = before.rfind('\n').map_or(0, |end| end + 1);
        let end = text[span.start..].find('\n').map_or(text.len(), |end| span.start + end);
        let head: Vec<char> = text[begin..span.start].chars().collect();
        let marked = text.get(span.start..span.end.clamp(span.start, end)).unwrap_or_default();
        let column = head.len() + 1;
        let skipped = head.len().saturating_sub(BESIDE);
        let ahead: String = head[skipped..].iter().collect();
        let ahead = if skipped > 0 { format!("…{}", printable(&ahead)) } else { printable(&ahead) };
        let rest = text[span.start..end].trim_end_matches('\r');
        let cut: String = rest.chars().take(BESIDE).collect();
        let more = if cut.len() < rest.len() { "…" } else { "" };
        let marked: String = marked.chars().take(BESIDE).collect();
        Some(Self {
            line: before.matches('\n').count() + 1,
            column,
            before: ahead.chars().count(),
            marked: printable(&marked).chars().count().max(1),
            shown: format!("{ahead}{}{more}", printable(&cut)),
        })
    }

    /// Returns the line, followed by a line of `^` marks.
    pub(crate) fn lines(&self) -> [String; 2] {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        [
            format!("  {number} | {}", self.shown),
            format!("  {margin} | {}{}", " ".repeat(self.before), "^".repeat(self.marked)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, marked: &str) -> String {
        let start = text.find(marked).unwrap();
        let excerpt = Excerpt::new(text, start..start + marked.len()).unwrap();
        format!("{}:{}\n{}", excerpt.line, excerpt.column, excerpt.lines().join("\n"))
    }

    #[test]
    fn errors_are_marked() {
        assert_eq!(lines("a = 1\nb = [2]\n", "[2]"), "2:5\n  2 | b = [2]\n    |     ^^^");
        assert_eq!(lines("a = 1", ""), "1:1\n  1 | a = 1\n    | ^");
        assert_eq!(lines("\ta = \"x\ny\"", "\"x\ny\""), "1:6\n  1 | \\ta = \"x\n    |       ^^");
        let long = format!("{}!{}", "é".repeat(5000), "z".repeat(5000));
        let shown = lines(&long, "!");
        assert!(shown.starts_with("1:5001\n  1 | …é") && shown.ends_with("^") && shown.len() < 400, "{shown}");
        assert_eq!(Excerpt::new("é", 1..2), None);
    }
}
