//! Where statements end in a text.

use std::ops::Range;

/// The statements of a text, as the bytes that they take, without the semicolons that end them; those that say nothing are left
/// out. Whether the last one was ended, too.
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

/// The bytes without the spaces around them.
fn trimmed(text: &str, bytes: Range<usize>) -> Range<usize> {
    let of = &text[bytes.clone()];
    let start = bytes.start + (of.len() - of.trim_start().len());
    start..start + of.trim().len()
}

/// How long the comment is that a text begins with. Comments may lie within each other.
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

/// How long the quoted text is that a text begins with. A quote within stands twice, which looks like two texts.
fn quoted(text: &str, quote: u8) -> usize {
    let end = text.as_bytes()[1..].iter().position(|byte| *byte == quote);
    end.map_or(text.len(), |end| end + 2)
}

/// The same of `$tag$ … $tag$`; a dollar alone is one.
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
    fn at_semicolons() {
        assert_eq!(parts("SELECT 1; SELECT 2 ;\n"), (vec!["SELECT 1", "SELECT 2"], true));
        assert_eq!(parts("SELECT 1; SELECT 2"), (vec!["SELECT 1", "SELECT 2"], false));
        assert_eq!(parts(""), (vec![], true));
        assert_eq!(parts(" ;; -- nothing\n;/* nor ; here */"), (vec![], true));
    }

    #[test]
    fn not_within_quotes_and_comments() {
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
        // What never ends takes all there is.
        for text in ["SELECT ';", "SELECT 1 /* ; /* */", "SELECT $$ ; $", "SELECT \"a;", "SELECT é$;é$;"] {
            let (found, _) = split(text);
            assert!(found.iter().all(|bytes| text.get(bytes.clone()).is_some()), "{text}");
        }
        assert_eq!(parts("SELECT '; SELECT 1").0.len(), 1);
        assert_eq!(parts("SELECT $1; SELECT 2").0.len(), 2);
    }
}
