//! Splitting of a text into statements.

use std::ops::Range;

/// Splits a text at semicolons. Returns the byte ranges of nonempty statements without the
/// semicolons, and `true` if the last one is terminated.
pub(crate) fn split(text: &str) -> (Vec<Range<usize>>, bool) {
    let mut found = Vec::new();
    let (mut start, mut at) = (0, 0);
    let mut says_something = false;
    let bytes = text.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        let rest = &text[at..];
        let taken = match byte {
            b';' => {
                if says_something {
                    found.push(trimmed(text, start..at));
                }
                (start, says_something) = (at + 1, false);
                1
            }
            b'-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with("/*") => comment(rest),
            b'\'' | b'"' | b'`' => {
                says_something = true;
                quoted(rest, byte)
            }
            b'$' => {
                says_something = true;
                dollar_quoted(rest)
            }
            _ => {
                says_something |= !byte.is_ascii_whitespace();
                rest.chars().next().map_or(1, char::len_utf8)
            }
        };
        at += taken;
    }
    let ended = !says_something;
    if says_something {
        found.push(trimmed(text, start..text.len()));
    }
    (found, ended)
}

/// Trims whitespace from a range.
fn trimmed(text: &str, bytes: Range<usize>) -> Range<usize> {
    let of = &text[bytes.clone()];
    let start = bytes.start + (of.len() - of.trim_start().len());
    start..start + of.trim().len()
}

/// Returns the length of the comment at the start. Comments nest.
fn comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        at += if rest.starts_with(b"/*") {
            depth += 1;
            2
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            2
        } else {
            1
        };
        if depth == 0 {
            break;
        }
    }
    at.min(text.len())
}

/// Returns the length of the quoted text at the start. A doubled quote counts as two adjacent
/// texts.
fn quoted(text: &str, quote: u8) -> usize {
    let end = text.as_bytes()[1..].iter().position(|byte| *byte == quote);
    end.map_or(text.len(), |end| end + 2)
}

/// Returns the length of the `$tag$ … $tag$` text at the start, or 1 for a single dollar.
fn dollar_quoted(text: &str) -> usize {
    let tag = text[1..].find(|c: char| c != '_' && !c.is_alphanumeric()).map_or("", |end| &text[..end + 2]);
    if !tag.ends_with('$') {
        return 1;
    }
    text[tag.len()..].find(tag).map_or(text.len(), |end| end + 2 * tag.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (Vec<&str>, bool) {
        let (found, ended) = split(text);
        (found.into_iter().map(|bytes| &text[bytes]).collect(), ended)
    }

    #[test]
    fn statements_end_at_semicolons() {
        assert_eq!(parts("SELECT 1; SELECT 2 ;\n"), (vec!["SELECT 1", "SELECT 2"], true));
        assert_eq!(parts("SELECT 1; SELECT 2"), (vec!["SELECT 1", "SELECT 2"], false));
        assert_eq!(parts(""), (vec![], true));
        assert_eq!(parts(" ;; -- nothing\n;/* nor ; here */"), (vec![], true));
    }

    #[test]
    fn semicolons_in_quotes_and_comments_are_ignored() {
        for text in [
            "SELECT ';'",
            "SELECT 'it''s;' ",
            "SELECT \"a;b\"",
            "SELECT `a;b`",
            "SELECT 1 -- ;\n + 1",
            "SELECT 1 /* ; /* ; */ ; */ + 1",
            "SELECT $$;$$",
            "SELECT $a$ ; $$ ; $a$",
            "SELECT 'é;' ",
        ] {
            assert_eq!(parts(&format!("{text};")), (vec![text.trim()], true), "{text}");
        }
        // Unterminated texts extend to the end.
        for text in ["SELECT ';", "SELECT 1 /* ; /* */", "SELECT $$ ; $", "SELECT \"a;", "SELECT é$;é$;"] {
            let (found, _) = split(text);
            assert!(found.iter().all(|bytes| text.get(bytes.clone()).is_some()), "{text}");
        }
        assert_eq!(parts("SELECT '; SELECT 1").0.len(), 1);
        assert_eq!(parts("SELECT $1; SELECT 2").0.len(), 2);
    }
}
