//! Display of conditions.

use std::fmt::{self, Display, Formatter, Write};

use tdb_schema::ArraySchema;
use tdb_types::{Datatype, Scalar, datetime};

use crate::literal::LiteralKind;
use crate::text::is_keyword;
use crate::tree::Condition;

/// Displays numbers in decimal, and other values as text if printable, else as hexadecimal bytes.
/// [`Condition::display`] uses the types of a schema instead.
impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        print(self, None, f)
    }
}

impl Condition {
    /// Displays the condition with values formatted by the schema's field types.
    pub fn display<'a>(&'a self, schema: &'a ArraySchema) -> impl Display + 'a {
        Displayed { condition: self, schema }
    }
}

struct Displayed<'a> {
    condition: &'a Condition,
    schema: &'a ArraySchema,
}

impl Display for Displayed<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        print(self.condition, Some(self.schema), f)
    }
}

fn print(condition: &Condition, schema: Option<&ArraySchema>, f: &mut Formatter<'_>) -> fmt::Result {
    let datatype = |field: &str| Some(schema?.field_type(schema?.field(field)?)?.datatype);
    match condition {
        Condition::Compare { field, operator, value } => {
            name(field, f)?;
            write!(f, " {} ", operator.symbol())?;
            print_value(value.bytes(), value.kind(), datatype(field), f)
        }
        Condition::Member { field, negated, values } => {
            name(field, f)?;
            f.write_str(if *negated { " not in (" } else { " in (" })?;
            for (index, value) in values.iter().enumerate() {
                f.write_str(if index > 0 { ", " } else { "" })?;
                print_value(value, values.kind(), datatype(field), f)?;
            }
            f.write_char(')')
        }
        Condition::Null { field, negated } => {
            name(field, f)?;
            f.write_str(if *negated { " is not null" } else { " is null" })
        }
        Condition::Nan { field, negated } => {
            name(field, f)?;
            f.write_str(if *negated { " is not nan" } else { " is nan" })
        }
        Condition::Constant { truth, .. } => Display::fmt(truth, f),
        Condition::And(nodes) => list(nodes, " and ", "true", schema, f),
        Condition::Or(nodes) => list(nodes, " or ", "false", schema, f),
        Condition::Not(node) => {
            f.write_str("not ")?;
            nested(node, schema, f)
        }
    }
}

fn list(
    nodes: &[Condition],
    between: &str,
    empty: &str,
    schema: Option<&ArraySchema>,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    if nodes.is_empty() {
        return f.write_str(empty);
    }
    for (index, node) in nodes.iter().enumerate() {
        f.write_str(if index > 0 { between } else { "" })?;
        nested(node, schema, f)?;
    }
    Ok(())
}

fn nested(node: &Condition, schema: Option<&ArraySchema>, f: &mut Formatter<'_>) -> fmt::Result {
    if matches!(node, Condition::And(nodes) | Condition::Or(nodes) if !nodes.is_empty()) {
        f.write_char('(')?;
        print(node, schema, f)?;
        return f.write_char(')');
    }
    print(node, schema, f)
}

/// Writes the name of a field, quoted unless it is a single word and not a keyword.
fn name(field: &str, f: &mut Formatter<'_>) -> fmt::Result {
    let is_word = !field.is_empty()
        && !field.starts_with(|letter: char| letter.is_ascii_digit())
        && field.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
        && !is_keyword(field);
    if is_word { f.write_str(field) } else { write!(f, "{field:?}") }
}

fn print_value(value: &[u8], kind: LiteralKind, datatype: Option<Datatype>, f: &mut Formatter<'_>) -> fmt::Result {
    let is_text = |text: &&str| text.chars().all(|letter| !letter.is_control());
    let number = match (kind, datatype) {
        (LiteralKind::Text, _) | (_, Some(Datatype::Char | Datatype::StringAscii | Datatype::StringUtf8)) => None,
        (LiteralKind::Number(physical), _) => Scalar::from_le_bytes(physical, value),
        (LiteralKind::Cell, datatype) => datatype.and_then(|known| Scalar::from_le_bytes(known.physical(), value)),
    };
    match (number, std::str::from_utf8(value).ok().filter(is_text)) {
        (Some(Scalar::I64(value)), _) if datatype.is_some_and(Datatype::is_datetime) => {
            f.write_str(&datatype.and_then(|datatype| datetime::display(datatype, value)).unwrap_or_default())
        }
        (Some(number), _) => Display::fmt(&number, f),
        (None, Some(text)) => write!(f, "{text:?}"),
        (None, None) => {
            f.write_str("x'")?;
            value.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
            f.write_char('\'')
        }
    }
}
