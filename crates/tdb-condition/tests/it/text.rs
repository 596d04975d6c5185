//! Conditions as text: meaning, errors, and round trips.

use std::sync::Arc;

use proptest::prelude::*;
use tdb_condition::{Condition, ConditionText, Operator, field};
use tdb_schema::{ArraySchema, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder};
use tdb_types::{CellValNum, Datatype};

fn schema() -> ArraySchema {
    let dimension = Dimension::new("day", 0i64..=99_999).with_datatype(Datatype::DatetimeDay);
    let var = |name, datatype| Attribute::new(name, datatype).with_cell_val_num(CellValNum::Var);
    let reference = EnumerationRef { name: "colours".to_owned(), file_name: "file".to_owned() };
    SchemaBuilder::sparse()
        .dimension(dimension)
        .attribute(Attribute::new("qual", Datatype::Float32).nullable(false))
        .attribute(Attribute::new("depth", Datatype::UInt16))
        .attribute(Attribute::new("ok", Datatype::Bool))
        .attribute(Attribute::new("year", Datatype::DatetimeYear))
        .attribute(Attribute::new("time", Datatype::DatetimeMs))
        .attribute(Attribute::new("not a word", Datatype::Int32))
        .attribute(Attribute::new("code", Datatype::StringAscii).with_cell_val_num(CellValNum::from_code(3).unwrap()))
        .attribute(var("chrom", Datatype::StringAscii))
        .attribute(var("blob", Datatype::Blob))
        .attribute(Attribute::new("colour", Datatype::UInt8).with_enumeration("colours"))
        .enumeration(reference)
        .build()
        .unwrap()
}

fn colours(_: &str) -> Option<Arc<Enumeration>> {
    Some(Arc::new(Enumeration::strings("colours", "file", Datatype::StringAscii, ["red", "green"]).unwrap()))
}

fn resolved(text: &str) -> String {
    let text: ConditionText = text.parse().unwrap();
    let schema = schema();
    text.resolve(&schema, colours).unwrap().display(&schema).to_string()
}

#[test]
fn words_become_values_of_the_field_type() {
    for (text, expected) in [
        ("qual > 30", "qual > 30"),
        ("30 < qual", "qual > 30"),
        ("qual>=3e1&&depth<>1_000", "qual >= 30 and depth != 1000"),
        ("qual = nan or qual = -inf", "qual == NaN or qual == -inf"),
        ("depth in (1, '2', 0x)", ""),
        ("chrom in ('chr1', \"chr2\", chr3)", r#"chrom in ("chr1", "chr2", "chr3")"#),
        ("chrom NOT IN ()", "chrom not in ()"),
        ("chrom = x'ff00' or chrom = 'it''s'", r#"chrom == x'ff00' or chrom == "it's""#),
        (r#"chrom = "a \"b\" \u{e9}""#, r#"chrom == "a \"b\" é""#),
        ("chrom in ('a', x'62')", r#"chrom in ("a") or chrom in ("b")"#),
        ("ok = true or ok != FALSE or ok = 1", "ok == 1 or ok != 0 or ok == 1"),
        ("\"not a word\" < 3 and `not a word` > -3", r#""not a word" < 3 and "not a word" > -3"#),
        ("colour = red or colour in ('green', 'black')", r#"colour == red or colour in (green, black)"#),
        ("not qual is null or not (ok = 1 and depth = 2)", "not qual is null or not (ok == 1 and depth == 2)"),
        ("a_or_b", ""),
        ("depth between 3 and 5 and ok = 1", "(depth >= 3 and depth <= 5) and ok == 1"),
        ("depth not between 3 and 5", "depth < 3 or depth > 5"),
        ("true and not false", "true and not false"),
        ("qual is not null | ! ok = 1", "qual is not null or not ok == 1"),
        ("blob is null", "blob is null"),
    ] {
        let parsed = text.parse::<ConditionText>();
        if expected.is_empty() {
            let is_wrong = parsed.map_or(true, |text| text.resolve(&schema(), colours).is_err());
            assert!(is_wrong, "{text}");
        } else {
            let found = resolved(text).replace("\"red\"", "red").replace("\"green\"", "green");
            assert_eq!(found.replace("\"black\"", "black"), expected, "{text}");
        }
    }
}

#[test]
fn a_date_covers_all_values_within() {
    for (text, expected) in [
        ("day = 1970-02", "day >= 1970-02-01 and day <= 1970-02-28"),
        ("day != 1970-02", "day < 1970-02-01 or day > 1970-02-28"),
        ("day < 1970-02", "day < 1970-02-01"),
        ("day <= 1970-02", "day <= 1970-02-28"),
        ("day > 1970-02", "day > 1970-02-28"),
        ("day >= 1970-02", "day >= 1970-02-01"),
        ("day in (1970-02, 1970-04-01)", "day in (1970-04-01) or (day >= 1970-02-01 and day <= 1970-02-28)"),
        ("day not in (1970-02)", "day not in () and (day < 1970-02-01 or day > 1970-02-28)"),
        ("day = 31", "day == 1970-02-01"),
        ("year = 1980 or year = 10", "year == 1980 or year == 1980"),
        // The range is empty, because a field of years has no value within a day.
        ("year = 1980-03-01", "year >= 1981 and year <= 1980"),
        ("year < 1980-03-01", "year < 1981"),
        ("time = '2024-05-01T12:00:00.5Z'", "time >= 2024-05-01T12:00:00.500 and time <= 2024-05-01T12:00:00.599"),
        ("time = NaT", "time == NaT"),
    ] {
        assert_eq!(resolved(text), expected, "{text}");
    }
}

#[test]
fn errors_point_at_the_character() {
    let schema = schema();
    let mut shown = String::new();
    for text in [
        "",
        "qual",
        "qual >",
        "qual > 30 and",
        "(qual > 30",
        "qual > 30)",
        "qual > 30 ok = 1",
        "qual in 3",
        "qual in (3",
        "qual in (3,)",
        "qual between 3 or 5",
        "qual is 3",
        "qual is not 3",
        "qual = null",
        "and = 3",
        "'qual' > 3",
        "qual not 3",
        "'qual' > 'x'",
        "3 > 4",
        "code in (abc, de)",
        "chrom = 'a",
        "chrom = \"\\q\"",
        "chrom = x'0'",
        "é = 'ü' and",
        "unknown = 3",
        "qual = low",
        "depth = 70000",
        "depth in (1, 2, -3)",
        "chrom in (a, x'00') and depth = x'00'",
        "blob = 00",
        "colour < red",
        "day = 2024-02-30",
        "ok = 1 and not (depth between 5 and five)",
        "\"unknown\" is null",
        "qual > 30 AND true = 1",
    ] {
        let error = match text.parse::<ConditionText>() {
            Err(error) => error,
            Ok(parsed) => parsed.resolve(&schema, colours).unwrap_err(),
        };
        let at = error.at();
        let width = text[at.clone()].chars().count().max(1);
        shown += &format!("{text}\n{}{} {error}\n", " ".repeat(text[..at.start].chars().count()), "^".repeat(width));
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| format!("{}qual > 1{}", "(".repeat(depth), ")".repeat(depth));
    assert!(nested(150).parse::<Condition>().is_ok());
    assert!(nested(100_000).parse::<Condition>().unwrap_err().to_string().contains("nested deeper"));
    assert!(format!("{}qual > 1", "not ".repeat(100_000)).parse::<Condition>().is_err());
    // A long condition is not deep.
    let long = vec!["qual > 1"; 10_000].join(" or ");
    assert!(matches!(long.parse().unwrap(), Condition::Or(nodes) if nodes.len() == 10_000));
}

/// Fields with an enumeration store indices, and values may have the same number of bytes as an
/// index.
#[test]
fn values_of_enumerations_are_not_indices() {
    let schema = schema();
    let one_letter = |_: &str| {
        let values = ["r", "g"];
        Some(Arc::new(Enumeration::strings("colours", "file", Datatype::StringAscii, values).unwrap()))
    };
    let condition = field("colour").eq("r") | field("colour").is_in(["r", "g"]);
    let shown = |condition: &Condition| condition.display(&schema).to_string();
    let resolved = condition.resolve(&schema, one_letter).unwrap();
    assert_eq!(shown(&resolved), r#"colour == "r" or colour in ("r", "g")"#);
    assert_eq!(resolved.resolve(&schema, one_letter).unwrap(), resolved);
    let stored = condition.to_stored(&schema, one_letter).unwrap();
    assert_eq!(shown(&stored), "colour == 0 or colour in (0, 1)");
}

fn conditions() -> impl Strategy<Value = Condition> {
    let operators = || prop::sample::select(Operator::ALL.to_vec());
    let text = || "[a-z\"'\\\\\n\u{e9} ]{0,4}";
    let leaf = prop_oneof![
        (operators(), any::<f32>()).prop_map(|(operator, value)| field("qual").compare(operator, value)),
        (operators(), any::<u16>()).prop_map(|(operator, value)| field("depth").compare(operator, value)),
        (operators(), 0..99_999_i64).prop_map(|(operator, value)| field("day").compare(operator, value)),
        (operators(), 0..200_i64).prop_map(|(operator, value)| field("year").compare(operator, value)),
        (operators(), any::<i64>()).prop_map(|(operator, value)| field("time").compare(operator, value)),
        (operators(), any::<i32>()).prop_map(|(operator, value)| field("not a word").compare(operator, value)),
        (operators(), text()).prop_map(|(operator, value)| field("chrom").compare(operator, value)),
        prop::collection::vec(any::<u8>(), 0..4).prop_map(|value| field("chrom").eq(value)),
        prop::collection::vec(text(), 0..4).prop_map(|values| field("chrom").is_in(values)),
        prop::collection::vec(any::<u16>(), 0..4).prop_map(|values| field("depth").not_in(values)),
        Just(field("blob").is_null()),
        Just(field("qual").is_not_null()),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Condition::And),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Condition::Or),
            inner.prop_map(Condition::not),
        ]
    })
}

proptest! {
    #[test]
    fn displayed_conditions_parse(condition in conditions()) {
        let schema = schema();
        let condition = condition.resolve(&schema, colours).unwrap();
        let printed = condition.display(&schema).to_string();
        let again: ConditionText = printed.parse().unwrap();
        let again = again.resolve(&schema, colours).unwrap();
        // NaNs lose the payload in text, and lists of text and bytes become two lists.
        if !printed.contains("NaN") && !printed.contains("x'") {
            prop_assert_eq!(&again, &condition, "{}", printed);
        }
        if !printed.contains("x'") {
            prop_assert_eq!(again.display(&schema).to_string(), printed);
        }
    }

    #[test]
    fn any_text_parses_or_is_rejected_at_a_position(text in "[a-z()<>=!'\"`,&| \\\\x0-9\u{e9}.-]{0,40}|[ -~]{0,60}") {
        match text.parse::<ConditionText>() {
            Ok(parsed) => {
                if let Err(error) = parsed.resolve(&schema(), colours) {
                    prop_assert!(text.get(error.at()).is_some());
                }
            }
            Err(error) => prop_assert!(text.get(error.at()).is_some(), "{error}"),
        }
    }
}
