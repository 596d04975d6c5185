//! What `--where` says.

use tdb_array::Array;
use tdb_condition::{Condition, ConditionText, ConditionTextError};
use tdb_schema::FieldRef;

use crate::failure::{Failure, Result};

/// The conditions, all of which must hold, held against the array; `None` if there are none.
///
/// # Errors
/// One of them is no condition, or not one on this array: which character is wrong, and why. An enumeration can't be read.
pub(crate) fn all_of(array: &Array, texts: &[String]) -> Result<Option<Condition>> {
    let conditions = texts.iter().map(|text| one(array, text));
    conditions.reduce(|all, next| Ok(all?.and(next?))).transpose()
}

fn one(array: &Array, text: &str) -> Result<Condition> {
    let failed = |error: ConditionTextError| Failure::condition(&error);
    let parsed: ConditionText = text.parse().map_err(failed)?;
    let schema = array.schema();
    // Those that can't be read are an error of their own, and not one of the condition.
    for field in parsed.condition().fields() {
        if let Some(FieldRef::Attribute(index)) = schema.field(field)
            && let Some(name) = schema.attributes()[index].enumeration()
        {
            array.enumeration(name)?;
        }
    }
    parsed.resolve(schema, |name| array.enumeration(name).ok()).map_err(failed)
}
