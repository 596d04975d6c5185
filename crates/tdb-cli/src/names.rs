//! Comma-separated names.

use tdb_schema::ArraySchema;

use crate::failure::{Failure, Result};

/// Returns the fields named by options. An option may contain several names. A name with a comma is
/// quoted, or is the complete option.
pub(crate) fn fields_in(schema: &ArraySchema, options: &[String]) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for text in options {
        match schema.field(text) {
            Some(_) => names.push(text.clone()),
            None => names.extend(names_in(text)?),
        }
    }
    Ok(names)
}

/// Splits names at commas. Quoted names may contain commas.
pub(crate) fn names_in(text: &str) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if rest.starts_with('"') {
            let mut strings = serde_json::Deserializer::from_str(rest).into_iter::<String>();
            let name = strings.next().and_then(std::result::Result::ok);
            names.push(name.ok_or_else(|| {
                Failure::usage(format!("names {text:?}: the quoted name is not closed"))
                    .with_hint("write quoted names as in JSON: 'a,\"b,c\"'")
            })?);
            rest = rest[strings.byte_offset()..].trim_start();
            if !rest.is_empty() && !rest.starts_with(',') {
                return Err(Failure::usage(format!("names {text:?}: expected a comma at {rest:?}")));
            }
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            names.push(rest[..end].trim().to_owned());
            rest = &rest[end..];
        }
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => return Ok(names),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_fields() {
        assert_eq!(names_in("a, b").unwrap(), ["a", "b"]);
        assert_eq!(names_in(r#"a,"b,c" ,d"#).unwrap(), ["a", "b,c", "d"]);
        assert_eq!(names_in(r#""a \"b\"""#).unwrap(), ["a \"b\""]);
        assert_eq!(names_in(r#"a"b"#).unwrap(), ["a\"b"]);
        assert_eq!(names_in("").unwrap(), [""]);
        assert!(names_in(r#"a,"b"#).unwrap_err().message().contains("is not closed"));
        assert!(names_in(r#""a"b"#).unwrap_err().message().contains("a comma"));
    }
}
