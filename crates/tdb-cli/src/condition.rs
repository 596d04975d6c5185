//! Parsing of `--where`.

use tdb_array::Array;
use tdb_condition::{Condition, ConditionText, ConditionTextError};
use tdb_schema::FieldRef;

use crate::failure::{Failure, Result};

/// Parses conditions and combines them with `and`. Returns `None` without conditions.
///
/// # Errors
/// Fails if a text is no condition, or if a condition does not fit the array. The error marks the
/// position and gives the reason. Also fails if an enumeration cannot be read.
pub(crate) fn all_of(array: &Array, texts: &[String]) -> Result<Option<Condition>> {
    let conditions = texts.iter().map(|text| one(array, text));
    conditions.reduce(|all, next| Ok(all?.and(next?))).transpose()
}

fn one(array: &Array, text: &str) -> Result<Condition> {
    let failed = |error: ConditionTextError| Failure::condition(&error);
    let parsed: ConditionText = text.parse().map_err(failed)?;
    let schema = array.schema();
    // Reports an unreadable enumeration as such, not as an invalid condition.
    for field in parsed.condition().fields() {
        if let Some(FieldRef::Attribute(index)) = schema.field(field)
            && let Some(name) = schema.attributes()[index].enumeration()
        {
            array.enumeration(name)?;
        }
    }
    parsed.resolve(schema, |name| array.enumeration(name).ok()).map_err(failed)
}
