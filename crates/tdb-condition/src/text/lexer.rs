//! Tokens: words, symbols and quoted text.

use std::ops::Range;

use tdb_types::hex;

use super::place::Wrong;
use crate::tree::Operator;

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// The byte range of the token.
    pub(super) at: Range<usize>,
}

/// The kind of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A run of other characters: a name, a keyword, a number or a date.
    Word,
    /// The text within quotes of this kind.
    Quoted(char, String),
    /// The bytes of a literal like `x'00ff'`.
    Bytes(Vec<u8>),
    Operator(Operator),
    Open,
    Close,
    Comma,
    And,
    Or,
    Not,
    End,
}

/// A tokenizer of condition text.
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

/// Symbols, longest first.
const SIGNS: [(&str, TokenKind); 17] = [
    ("<=", TokenKind::Operator(Operator::LessOrEqual)),
    (">=", TokenKind::Operator(Operator::GreaterOrEqual)),
    ("==", TokenKind::Operator(Operator::Equal)),
    ("!=", TokenKind::Operator(Operator::NotEqual)),
    ("<>", TokenKind::Operator(Operator::NotEqual)),
    ("&&", TokenKind::And),
    ("||", TokenKind::Or),
    ("<", TokenKind::Operator(Operator::Less)),
    (">", TokenKind::Operator(Operator::Greater)),
    ("=", TokenKind::Operator(Operator::Equal)),
    ("&", TokenKind::And),
    ("|", TokenKind::Or),
    ("!", TokenKind::Not),
    ("(", TokenKind::Open),
    (")", TokenKind::Close),
    (",", TokenKind::Comma),
    ("\u{2260}", TokenKind::Operator(Operator::NotEqual)),
];

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the next token.
    pub(super) fn next(&mut self) -> Result<Token, Wrong> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        let (start, rest) = (self.at, self.text[self.at..].trim_start());
        if let Some((sign, kind)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
            self.at += sign.len();
            return Ok(Token { kind: kind.clone(), at: start..self.at });
        }
        let kind = match rest.chars().next() {
            None => TokenKind::End,
            Some(quote @ ('\'' | '"' | '`')) => TokenKind::Quoted(quote, self.quoted(quote)?),
            Some('x' | 'X') if rest[1..].starts_with('\'') => {
                self.at += 1;
                let digits = self.quoted('\'')?;
                let bytes = hex::decode(&digits);
                TokenKind::Bytes(
                    bytes
                        .ok_or_else(|| (start..self.at, "expected two hexadecimal digits for each byte".to_owned()))?,
                )
            }
            Some(_) => {
                let ends = |letter: char| letter.is_whitespace() || "<>=!&|(),'\"`\u{2260}".contains(letter);
                self.at += rest.find(ends).unwrap_or(rest.len());
                TokenKind::Word
            }
        };
        Ok(Token { kind, at: start..self.at })
    }

    /// Parses the quoted text at the current position.
    fn quoted(&mut self, quote: char) -> Result<String, Wrong> {
        let start = self.at;
        let mut letters = self.text[start..].char_indices().skip(1).peekable();
        let mut content = String::new();
        while let Some((at, letter)) = letters.next() {
            if letter == quote {
                if letters.next_if(|(_, next)| *next == quote).is_none() {
                    self.at = start + at + 1;
                    return Ok(content);
                }
                content.push(quote);
            } else if letter == '\\' && quote == '"' {
                let escaped = letters.next().and_then(|(_, code)| escaped(code, &mut letters));
                let end = letters.peek().map_or(self.text.len(), |(at, _)| start + at);
                let wrong = || (start + at..end, "expected one of \\\" \\\\ \\' \\n \\r \\t \\0 \\u{...}".to_owned());
                content.push(escaped.ok_or_else(wrong)?);
            } else {
                content.push(letter);
            }
        }
        Err((start..self.text.len(), format!("missing the closing {quote}")))
    }
}

/// Returns the character of an escape sequence that starts with `code`.
fn escaped(code: char, letters: &mut impl Iterator<Item = (usize, char)>) -> Option<char> {
    Some(match code {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        '0' => '\0',
        '"' | '\\' | '\'' => code,
        'u' => {
            let mut digits = letters.map(|(_, letter)| letter);
            digits.next().filter(|letter| *letter == '{')?;
            // Code points have at most six digits.
            let digits: String = digits.take_while(|letter| *letter != '}').take(7).collect();
            char::from_u32(hex::number(&digits)?.try_into().ok()?)?
        }
        _ => return None,
    })
}
