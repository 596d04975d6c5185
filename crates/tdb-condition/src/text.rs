//! Conditions as text.
//!
//! ```text
//! condition := all { OR all }
//! all       := one { AND one }
//! one       := NOT one | '(' condition ')' | test | TRUE | FALSE
//! test      := field operator value | value operator field
//!            | field [NOT] IN '(' [ value { ',' value } ] ')'
//!            | field [NOT] BETWEEN value AND value
//!            | field IS [NOT] NULL | field IS [NOT] NAN
//! operator  := '<' | '<=' | '>' | '>=' | '=' | '==' | '!=' | '<>'
//! field     := word | "quoted" | `quoted`
//! value     := word | 'quoted' | "quoted" | x'hexadecimal digits'
//! ```
//!
//! Keywords are case-insensitive. The symbols `||` and `|` mean OR, `&&` and `&` mean AND, `!`
//! means NOT, and `≠` means `!=`. Within quotes, double the quote character to include it. Double
//! quotes also support the escapes `\"`, `\'`, `\n`, `\r`, `\t`, `\0`, `\\` and `\u{1F600}`. The
//! type of the field determines the meaning of a value.

mod lexer;
mod parser;
mod place;

pub(crate) use parser::is_keyword;

use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::sync::Arc;

use tdb_schema::{ArraySchema, Enumeration};

use crate::error::ConditionError;
use crate::resolve::{Place, Resolver};
use crate::tree::Condition;
use place::{TestPlace, Wrong};

/// The maximum length of a text in bytes.
const LONGEST: usize = 16 << 20;

/// A parsed condition that is not resolved against a schema yet.
///
/// ```
/// use tdb_condition::{Condition, ConditionText, field};
/// use tdb_schema::{Attribute, Dimension, SchemaBuilder};
/// use tdb_types::Datatype;
///
/// let schema = SchemaBuilder::sparse()
///     .dimension(Dimension::new("day", 0i64..=99_999).with_datatype(Datatype::DatetimeDay))
///     .attribute(Attribute::new("qual", Datatype::Float32))
///     .build()?;
/// let text: ConditionText = "qual > 30 and not day = 1970-02".parse()?;
/// let condition = text.resolve(&schema, |_| None)?;
/// assert_eq!(condition.display(&schema).to_string(), "qual > 30 and not (day >= 1970-02-01 and day <= 1970-02-28)");
///
/// let text: ConditionText = "qual > 30 or qual < low".parse()?;
/// let error = text.resolve(&schema, |_| None).unwrap_err();
/// assert_eq!(error.to_string(), "condition, character 21: \"low\" is not a value of float32, the type of field \"qual\"");
/// assert_eq!(error.at(), 20..23);
/// // Parse a `Condition` directly if positions are not needed.
/// let condition: Condition = "qual > 30".parse()?;
/// assert_eq!(condition.to_string(), r#"qual > "30""#);
/// # let _ = field("qual");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionText {
    text: String,
    condition: Condition,
    tests: Vec<TestPlace>,
}

impl ConditionText {
    /// Returns the condition. Its values are text, or bytes for `x'...'`.
    #[must_use]
    pub fn condition(&self) -> &Condition {
        &self.condition
    }

    /// Converts text to bytes of cells, like [`Condition::resolve`].
    ///
    /// # Errors
    /// As [`Condition::resolve`]. The error contains the position in the text.
    pub fn resolve(
        &self,
        schema: &ArraySchema,
        enumerations: impl Fn(&str) -> Option<Arc<Enumeration>>,
    ) -> Result<Condition, ConditionTextError> {
        let mut resolver = Resolver { schema, enumerations: &enumerations, place: Place::default() };
        resolver.node(&self.condition).map_err(|error| {
            let Place { test, value } = resolver.place;
            let place = self.tests.get(test).cloned().unwrap_or_default();
            let at = value.and_then(|value| place.values.get(value).cloned()).unwrap_or(place.field);
            let what = error.to_string();
            let what = what.strip_prefix("condition: ").unwrap_or(&what).into();
            ConditionTextError { text: self.text.as_str().into(), at, what, source: Some(Box::new(error)) }
        })
    }
}

impl std::str::FromStr for ConditionText {
    type Err = ConditionTextError;

    fn from_str(text: &str) -> Result<Self, ConditionTextError> {
        let failed = |(at, what): Wrong| ConditionTextError { text: text.into(), at, what: what.into(), source: None };
        if text.len() > LONGEST {
            return Err(failed((0..0, format!("found {} bytes, expected at most {LONGEST}", text.len()))));
        }
        let (condition, tests) = parser::parse(text).map_err(failed)?;
        Ok(Self { text: text.to_owned(), condition, tests })
    }
}

impl std::str::FromStr for Condition {
    type Err = ConditionTextError;

    /// Parses a condition such as `qual > 30 and chrom in ('chr1', 'chr2') and filter is not null`.
    ///
    /// The errors of [`ConditionText`] also give the position of a value that does not fit a
    /// schema.
    fn from_str(text: &str) -> Result<Self, ConditionTextError> {
        text.parse::<ConditionText>().map(|text| text.condition)
    }
}

/// An error in the text of a condition, or a mismatch with the schema.
#[derive(Debug)]
pub struct ConditionTextError {
    text: Box<str>,
    at: Range<usize>,
    what: Box<str>,
    source: Option<Box<ConditionError>>,
}

impl ConditionTextError {
    /// Returns the text of the condition.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the byte range of the error. The range is empty at the end of the text if a token is
    /// missing, and empty at the start if the text is too long.
    #[must_use]
    pub fn at(&self) -> Range<usize> {
        self.at.clone()
    }

    /// Returns the error message.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.what
    }
}

impl Display for ConditionTextError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let before = self.text.get(..self.at.start).unwrap_or(&self.text);
        write!(f, "condition, character {}: {}", before.chars().count() + 1, self.what)
    }
}

impl std::error::Error for ConditionTextError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The message already includes the message of the source.
        self.source.as_deref().and_then(std::error::Error::source)
    }
}
