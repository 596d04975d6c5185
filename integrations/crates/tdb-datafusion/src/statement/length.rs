//! Limits the number of chained operators in a statement.
//!
//! The parser only limits the nesting of parentheses. `a + b + c …` and `SELECT … UNION SELECT …`
//! nest as deeply without parentheses, because each operation is an operand of the next. DataFusion
//! recurses into all of them.

use datafusion::config::Dialect;
use datafusion::error::Result;
use datafusion::sql::sqlparser::dialect::dialect_from_str;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

use crate::error;

/// Maximum number of operators, including keywords such as IS NULL, between two commas.
const MOST_OPERATORS: usize = 10_000;
/// Maximum number of queries and tables combined by UNION, JOIN and similar.
const MOST_QUERIES: usize = 2_000;

/// Rejects a statement with longer chains.
pub(super) fn check(sql: &str, dialect: Dialect) -> Result<()> {
    // Each operator takes at least two bytes.
    if sql.len() <= 2 * MOST_QUERIES {
        return Ok(());
    }
    let Some(dialect) = dialect_from_str(dialect) else { return Ok(()) };
    // The parser reports invalid tokens.
    let Ok(tokens) = Tokenizer::new(dialect.as_ref(), sql).tokenize() else { return Ok(()) };
    let mut outer: Vec<Chain> = Vec::new();
    let mut chain = Chain::default();
    for token in &tokens {
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => {
                // A chain of subscripts nests as well.
                chain.operators += 1;
                outer.push(std::mem::take(&mut chain));
            }
            Token::RParen | Token::RBracket | Token::RBrace => chain = outer.pop().unwrap_or_default(),
            Token::Comma => chain.operators = 0,
            Token::SemiColon => chain = Chain::default(),
            Token::Word(word) => match word.keyword {
                Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT | Keyword::MINUS | Keyword::JOIN => {
                    chain = Chain { queries: chain.queries + 1, operators: 0 };
                }
                Keyword::NoKeyword => {}
                _ => chain.operators += 1,
            },
            Token::Whitespace(_)
            | Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::DoubleQuotedString(_)
            | Token::Period => {}
            _ => chain.operators += 1,
        }
        chain.check()?;
    }
    Ok(())
}

#[derive(Clone, Copy, Default)]
struct Chain {
    operators: usize,
    queries: usize,
}

impl Chain {
    fn check(self) -> Result<()> {
        if self.operators > MOST_OPERATORS {
            return Err(error::plan(format!(
                "the statement chains more than {MOST_OPERATORS} operators; write IN (…), or a table of VALUES"
            )));
        }
        if self.queries > MOST_QUERIES {
            return Err(error::plan(format!(
                "the statement combines more than {MOST_QUERIES} queries or tables; write a table of VALUES, or several statements"
            )));
        }
        Ok(())
    }
}
