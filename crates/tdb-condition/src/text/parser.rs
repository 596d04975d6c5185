//! Parser of conditions.

use std::ops::Range;

use super::lexer::{Lexer, Token, TokenKind};
use super::place::{TestPlace, Wrong};
use crate::literal::{Literal, LiteralKind};
use crate::tree::{Condition, Field, Operator, field};

/// The maximum nesting of parentheses and NOT, low enough for any stack.
const DEEPEST: usize = 200;

struct Parser<'t> {
    text: &'t str,
    lexer: Lexer<'t>,
    /// The next token.
    token: Token,
    tests: Vec<TestPlace>,
    depth: usize,
}

/// Parses a condition. Also returns the positions of its tests, from left to right.
pub(super) fn parse(text: &str) -> Result<(Condition, Vec<TestPlace>), Wrong> {
    let mut lexer = Lexer::new(text);
    let token = lexer.next()?;
    let mut parser = Parser { text, lexer, token, tests: Vec::new(), depth: 0 };
    let condition = parser.condition()?;
    match parser.token.kind {
        TokenKind::End => Ok((condition, parser.tests)),
        _ => Err(parser.expected("AND, OR or the end")),
    }
}

impl Parser<'_> {
    fn condition(&mut self) -> Result<Condition, Wrong> {
        let mut any = vec![self.all()?];
        while self.accept(&TokenKind::Or, "or")? {
            any.push(self.all()?);
        }
        Ok(single(any, Condition::Or))
    }

    fn all(&mut self) -> Result<Condition, Wrong> {
        let mut all = vec![self.one()?];
        while self.accept(&TokenKind::And, "and")? {
            all.push(self.one()?);
        }
        Ok(single(all, Condition::And))
    }

    fn one(&mut self) -> Result<Condition, Wrong> {
        if self.depth == DEEPEST {
            return Err((self.token.at.clone(), format!("nested deeper than {DEEPEST} levels")));
        }
        self.depth += 1;
        let condition = if self.accept(&TokenKind::Not, "not")? {
            self.one()?.not()
        } else if self.accept(&TokenKind::Open, "")? {
            let condition = self.condition()?;
            self.expect(&TokenKind::Close, "AND, OR or a closing parenthesis")?;
            condition
        } else if self.accept_word("true")? {
            Condition::And(Vec::new())
        } else if self.accept_word("false")? {
            Condition::Or(Vec::new())
        } else {
            self.test()?
        };
        self.depth -= 1;
        Ok(condition)
    }

    fn test(&mut self) -> Result<Condition, Wrong> {
        let first = self.token.clone();
        if self.is_value_first() {
            let value = self.value()?;
            let operator = self.operator()?;
            if self.is_value_first() {
                self.token = first;
                return Err(self.expected("the name of a field on one side"));
            }
            let (field, at) = self.field()?;
            self.tests.push(TestPlace { field: at, values: vec![first.at] });
            return Ok(field.compare(turned(operator), value));
        }
        let (field, at) = self.field()?;
        let negated = self.accept(&TokenKind::Not, "not")?;
        if self.accept_word("in")? {
            return self.membership(field, &at, negated);
        }
        let mut place = TestPlace { field: at, values: Vec::new() };
        let condition = if self.accept_word("between")? {
            place.values.push(self.token.at.clone());
            let low = self.value()?;
            self.expect(&TokenKind::And, "AND")?;
            place.values.push(self.token.at.clone());
            let high = self.value()?;
            return Ok(self.between(field, negated, [low, high], place));
        } else if negated {
            return Err(self.expected("IN or BETWEEN"));
        } else if self.accept_word("is")? {
            let negated = self.accept(&TokenKind::Not, "not")?;
            if self.accept_word("nan")? {
                if negated { field.is_not_nan() } else { field.is_nan() }
            } else if self.accept_word("null")? {
                if negated { field.is_not_null() } else { field.is_null() }
            } else {
                return Err(self.expected(if negated { "NULL or NAN" } else { "NULL, NAN, NOT NULL or NOT NAN" }));
            }
        } else {
            let operator = self.operator()?;
            place.values.push(self.token.at.clone());
            field.compare(operator, self.value()?)
        };
        self.tests.push(place);
        Ok(condition)
    }

    /// Parses a list of values. Values of several kinds become several tests.
    fn membership(&mut self, field: Field, at: &Range<usize>, negated: bool) -> Result<Condition, Wrong> {
        let (mut literals, mut kinds) = (Vec::new(), Vec::new());
        for (literal, value_at) in self.values()? {
            let place = kinds.iter().position(|kind| *kind == literal.kind()).unwrap_or_else(|| {
                kinds.push(literal.kind());
                self.tests.push(TestPlace { field: at.clone(), values: Vec::new() });
                kinds.len() - 1
            });
            let first = self.tests.len() - kinds.len();
            self.tests[first + place].values.push(value_at);
            literals.push(literal);
        }
        if kinds.is_empty() {
            self.tests.push(TestPlace { field: at.clone(), values: Vec::new() });
        }
        Ok(if negated { field.not_in(literals) } else { field.is_in(literals) })
    }

    fn between(&mut self, field: Field, negated: bool, [low, high]: [Literal; 2], place: TestPlace) -> Condition {
        for value in place.values {
            self.tests.push(TestPlace { field: place.field.clone(), values: vec![value] });
        }
        if negated {
            field.clone().compare(Operator::Less, low).or(field.compare(Operator::Greater, high))
        } else {
            field.clone().compare(Operator::GreaterOrEqual, low).and(field.compare(Operator::LessOrEqual, high))
        }
    }

    /// Returns `true` if the next token is certainly a value: a number, a text in single quotes, or
    /// bytes.
    fn is_value_first(&self) -> bool {
        match &self.token.kind {
            TokenKind::Quoted('\'', _) | TokenKind::Bytes(_) => true,
            TokenKind::Word => {
                self.word().starts_with(|letter: char| letter.is_ascii_digit() || "+-.".contains(letter))
            }
            _ => false,
        }
    }

    fn field(&mut self) -> Result<(Field, Range<usize>), Wrong> {
        let name = match &self.token.kind {
            TokenKind::Word if !is_keyword(self.word()) => self.word().to_owned(),
            TokenKind::Quoted('"' | '`', name) => name.clone(),
            _ => return Err(self.expected("the name of a field")),
        };
        let at = self.advance()?.at;
        Ok((field(name), at))
    }

    fn operator(&mut self) -> Result<Operator, Wrong> {
        let TokenKind::Operator(operator) = self.token.kind else {
            return Err(self.expected("a comparison (< <= > >= = !=), IN, BETWEEN or IS NULL"));
        };
        self.advance()?;
        Ok(operator)
    }

    fn values(&mut self) -> Result<Vec<(Literal, Range<usize>)>, Wrong> {
        self.expect(&TokenKind::Open, "a list in parentheses")?;
        let mut values = Vec::new();
        if self.accept(&TokenKind::Close, "")? {
            return Ok(values);
        }
        loop {
            let at = self.token.at.clone();
            values.push((self.value()?, at));
            if !self.accept(&TokenKind::Comma, "")? {
                self.expect(&TokenKind::Close, "a comma or a closing parenthesis")?;
                return Ok(values);
            }
        }
    }

    fn value(&mut self) -> Result<Literal, Wrong> {
        let literal = match &self.token.kind {
            TokenKind::Word if self.word().eq_ignore_ascii_case("null") => {
                let what = "cannot compare with null; write IS NULL, or 'null' for the text";
                return Err((self.token.at.clone(), what.to_owned()));
            }
            TokenKind::Word if ["true", "false"].iter().any(|truth| self.word().eq_ignore_ascii_case(truth)) => {
                Literal::new(LiteralKind::Text, self.word().to_ascii_lowercase())
            }
            TokenKind::Word if !is_keyword(self.word()) => Literal::new(LiteralKind::Text, self.word()),
            TokenKind::Quoted('\'' | '"', text) => Literal::new(LiteralKind::Text, text.as_str()),
            TokenKind::Bytes(bytes) => Literal::new(LiteralKind::Cell, bytes.as_slice()),
            _ => return Err(self.expected("a value")),
        };
        self.advance()?;
        Ok(literal)
    }

    /// Returns the text of the next token.
    fn word(&self) -> &str {
        &self.text[self.token.at.clone()]
    }

    fn advance(&mut self) -> Result<Token, Wrong> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    /// Consumes the next token if it is this symbol or word. Returns `true` if consumed.
    fn accept(&mut self, kind: &TokenKind, word: &str) -> Result<bool, Wrong> {
        let is_word = || self.token.kind == TokenKind::Word && self.word().eq_ignore_ascii_case(word);
        let is_next = self.token.kind == *kind || is_word();
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    fn accept_word(&mut self, word: &str) -> Result<bool, Wrong> {
        let is_next = self.token.kind == TokenKind::Word && self.word().eq_ignore_ascii_case(word);
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    fn expect(&mut self, kind: &TokenKind, what: &str) -> Result<(), Wrong> {
        let word = if *kind == TokenKind::And { "and" } else { "" };
        if self.accept(kind, word)? { Ok(()) } else { Err(self.expected(what)) }
    }

    #[cold]
    fn expected(&self, what: &str) -> Wrong {
        let at = self.token.at.clone();
        let found = match self.token.kind {
            TokenKind::End => "the end".to_owned(),
            _ => format!("{:?}", &self.text[at.clone()]),
        };
        let is_quoted_name = matches!(self.token.kind, TokenKind::Quoted('\'', _)) && what.starts_with("the name");
        let hint = if is_quoted_name { "; write names in double quotes" } else { "" };
        (at, format!("expected {what}, found {found}{hint}"))
    }
}

/// Returns the only condition, or a list of all conditions.
fn single(mut conditions: Vec<Condition>, list: impl Fn(Vec<Condition>) -> Condition) -> Condition {
    match (conditions.len(), conditions.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            conditions.extend(last);
            list(conditions)
        }
    }
}

/// Returns the operator for exchanged operands.
fn turned(operator: Operator) -> Operator {
    match operator {
        Operator::Less => Operator::Greater,
        Operator::LessOrEqual => Operator::GreaterOrEqual,
        Operator::Greater => Operator::Less,
        Operator::GreaterOrEqual => Operator::LessOrEqual,
        equality => equality,
    }
}

/// Returns `true` for keywords, which need quotes as names of fields.
pub(crate) fn is_keyword(word: &str) -> bool {
    let keywords = ["and", "or", "not", "in", "is", "null", "between", "true", "false"];
    keywords.iter().any(|keyword| word.eq_ignore_ascii_case(keyword))
}
