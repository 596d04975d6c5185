//! Positions of schema parts in a text.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Returns the position of the value of `key` in the part `what`, such as `dimension "rows"`.
///
/// Falls back to the name of the part. If `what` is not a named part, returns the position of the
/// array's `key`, or of the key `what` if `key` is `None`.
pub(crate) fn find(text: &str, what: &str, key: Option<&str>) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let document = document.get_ref();
    let value = |table: &DeTable<'_>, key: &str| table.get(key).map(Spanned::span);
    let Some((kind, name)) = what.find(" \"").map(|end| what.split_at(end)) else {
        return value(document, key.unwrap_or(what));
    };
    let kind = if kind == "dimension label" { "label" } else { kind };
    let DeValue::Array(parts) = document.get(kind)?.get_ref() else { return None };
    let is_named = |table: &&DeTable<'_>| {
        let known = table.get("name").and_then(|name| name.get_ref().as_str());
        known.is_some_and(|known| format!("{known:?}") == name.trim_start())
    };
    let mut parts = parts.iter().filter_map(|part| match part.get_ref() {
        DeValue::Table(table) => Some(table),
        _ => None,
    });
    let part = parts.find(is_named)?;
    key.and_then(|key| value(part, key)).or_else(|| value(part, "name"))
}

/// Guesses the key of the invalid value from an error message that names no key.
pub(crate) fn key(why: &str) -> Option<&'static str> {
    const WORDS: [(&str, &str); 7] = [
        ("current domain", "current_domain"),
        ("tile extent", "tile_extent"),
        ("bound", "domain"),
        ("domain", "domain"),
        ("filter", "filters"),
        ("fill value", "fill"),
        ("enumeration", "enumeration"),
    ];
    WORDS.into_iter().find_map(|(word, key)| why.contains(word).then_some(key))
}

#[cfg(test)]
mod tests {
    use crate::from_toml;

    /// Returns the marked text and the message of the error in an invalid schema.
    fn marked(text: &str) -> (String, String) {
        let error = from_toml(text).unwrap_err();
        let span = error.span(text).map_or_else(String::new, |span| text[span].to_owned());
        (span, error.message())
    }

    #[test]
    fn errors_point_at_the_invalid_value() {
        let good = "array_type = \"sparse\"\ncapacity = 10\n[[dimension]]\nname = \"x y\"\ndatatype = \"int32\"\n\
                    domain = [1, 9]\ntile_extent = 3\n[[attribute]]\nname = \"a\"\ndatatype = \"int8\"\nfilters = [\"zstd\"]\n";
        from_toml(good).unwrap();
        for (part, bad, span, why) in [
            ("domain =", "domian =", "domian", "unknown field `domian`"),
            ("[1, 9]", "[1, \"p\"]", "[1, \"p\"]", "is not a value of int32"),
            ("[1, 9]", "[9, 1]", "[9, 1]", "lower bound 9 is above upper bound 1"),
            ("[1, 9]\ntile_extent = 3", "[9, 1]", "[9, 1]", "lower bound 9 is above upper bound 1"),
            ("tile_extent = 3", "tile_extent = -3", "-3", "is not a valid tile extent"),
            ("\"int8\"", "\"int9\"", "\"int9\"", "unknown datatype \"int9\""),
            ("\"sparse\"", "\"thin\"", "\"thin\"", "invalid array_type \"thin\""),
            ("[\"zstd\"]", "[\"zstt\"]", "[\"zstt\"]", "unknown filter \"zstt\""),
            ("capacity = 10", "capacity = -1", "-1", "invalid capacity -1"),
            ("capacity = 10", "capacity 10", "", "key with no value"),
            ("capacity = 10", "tile_order = \"up\"", "\"up\"", "invalid tile_order \"up\""),
        ] {
            assert!(good.contains(part));
            let (marked, message) = marked(&good.replacen(part, bad, 1));
            assert!(message.contains(why) && !message.contains('\n'), "{bad}: {message}");
            assert_eq!(marked, span, "{bad}: {message}");
        }
    }

    #[test]
    fn errors_of_dates_show_a_valid_date() {
        let text = "array_type = \"sparse\"\n[[dimension]]\nname = \"t\"\ndatatype = \"datetime_day\"\n\
                    domain = [\"2000-01-01\", \"2024-01-01\"]\n[[attribute]]\nname = \"a\"\ndatatype = \"int8\"\n";
        from_toml(text).unwrap();
        for (bad, why) in [
            (
                "\"2024\"",
                "\"2024\" covers several values of datetime_day; write a more precise date, as in \"2024-01-01\"",
            ),
            ("2024-01-01", "2024-01-01 is not a value of datetime_day; write a date in quotes, as in \"2024-05-01\""),
            ("\"soon\"", "write a date in quotes, as in \"2024-05-01\""),
            ("\"20240101\"", "or 20240101D for days since 1970"),
            ("\"7h\"", "write a number of days, as in 7D"),
        ] {
            let (marked, message) = marked(&text.replace("\"2024-01-01\"", bad));
            assert!(message.contains(why) && marked.contains(bad), "{bad}: {message}");
        }
    }
}
