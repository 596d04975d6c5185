use super::*;

fn int() -> Dimension {
    Dimension::new("x", -10i32..=10)
}

fn ends(dimension: &Dimension, text: &str) -> String {
    let show = |end: Bound<Coordinate>| match end {
        Bound::Included(coordinate) => coordinate.to_string(),
        Bound::Excluded(coordinate) => format!("before {coordinate}"),
        Bound::Unbounded => "open".to_owned(),
    };
    match parse(Axis::Dimension(dimension), text) {
        Ok((start, end)) => format!("{} to {}", show(start), show(end)),
        Err(why) => why,
    }
}

#[test]
fn numbers() {
    assert_eq!(ends(&int(), "-3..5"), "-3 to 5");
    assert_eq!(ends(&int(), " -3 ..= 1_000 "), "-3 to 1000");
    assert_eq!(ends(&int(), "-3..<5"), "-3 to before 5");
    assert_eq!(ends(&int(), "7"), "7 to 7");
    assert_eq!(ends(&int(), "7.."), "7 to open");
    assert_eq!(ends(&int(), "..7"), "open to 7");
    assert_eq!(ends(&int(), ".."), "open to open");
    assert_eq!(ends(&int(), ""), "the range is empty; give at least one end, or a value");
    assert_eq!(ends(&int(), "1.5"), "\"1.5\" is not a valid coordinate of int32");
    assert_eq!(ends(&int(), "1..2..3"), "unexpected text \"..3\" after the range");
    let float = Dimension::new("x", 0.0f64..=1.0);
    assert_eq!(ends(&float, "0.25..1e-1"), "0.25 to 0.1");
    assert_eq!(ends(&float, "1...5"), "1 to 0.5");
    assert_eq!(ends(&float, "nan"), "\"nan\" is not a valid coordinate of float64");
}

#[test]
fn strings() {
    let string = Dimension::string("s");
    assert_eq!(ends(&string, "chr1..chr2"), "\"chr1\" to \"chr2\"");
    assert_eq!(ends(&string, r#""a..b".."c \"d\"""#), r#""a..b" to "c \"d\"""#);
    assert_eq!(ends(&string, r#""""#), r#""" to """#);
    assert_eq!(ends(&string, "a..<b"), "\"a\" to before \"b\"");
    assert_eq!(ends(&string, r#"..<"b""#), "open to before \"b\"");
    assert_eq!(ends(&string, "a..<"), "expected an end after `..<`");
    assert_eq!(ends(&string, "chr*"), "\"chr\" to before \"chs\"");
    assert_eq!(ends(&string, r#""chr*""#), r#""chr*" to "chr*""#);
    assert_eq!(ends(&string, "*"), "\"\" to open");
    assert_eq!(ends(&string, "12"), "\"12\" to \"12\"");
    assert_eq!(ends(&string, r#""a"#), "the quoted string is not closed");
    assert_eq!(ends(&string, r#""a"b"#), "expected `..` at \"b\"");
}

#[test]
fn dates() {
    let day = |datatype| Dimension::new("d", 0i64..=i64::MAX - 1000).with_datatype(datatype);
    assert_eq!(ends(&day(Datatype::DatetimeDay), "1970-01-02..1970-02"), "1 to 58");
    assert_eq!(ends(&day(Datatype::DatetimeDay), "17..\"1970-02-01\""), "17 to 31");
    assert_eq!(ends(&day(Datatype::DatetimeSec), "1970-01-01"), "0 to 86399");
    assert_eq!(ends(&day(Datatype::DatetimeYear), "1975..1980"), "5 to 10");
    assert_eq!(ends(&day(Datatype::DatetimeYear), "5..10"), "5 to 10");
    assert_eq!(ends(&day(Datatype::DatetimeDay), "2016..2018"), "16801 to 17896");
    assert_eq!(ends(&day(Datatype::DatetimeMs), "1970..<\"1971\""), "0 to before 31536000000");
    assert_eq!(ends(&day(Datatype::DatetimeDay), "2016D..17896D"), "2016 to 17896");
    assert!(ends(&day(Datatype::DatetimeDay), "16801..17896").contains("write a date as in 2024-05-01, or 16801D"));
    assert!(ends(&day(Datatype::DatetimeDay), "5s").contains("is not in the unit of datetime_day"));
    let wrong = "\"yesterday\" is not a date that datetime_day can represent; write for example 2020-01-31";
    assert_eq!(ends(&day(Datatype::DatetimeDay), "yesterday"), wrong);
}

#[test]
fn shown_ranges_are_parsed_back() {
    let day = Dimension::new("d", -5i64..=400).with_datatype(Datatype::DatetimeDay);
    assert_eq!(domain(&day).as_deref(), Some("1969-12-27..1971-02-05"));
    assert_eq!(ends(&day, "1969-12-27..1971-02-05"), "-5 to 400");
    let years = Dimension::new("d", -2000i64..=8030).with_datatype(Datatype::DatetimeYear);
    assert_eq!(domain(&years).as_deref(), Some("-2000Y..8030Y"));
    assert_eq!(ends(&years, "-2000Y..8030Y"), "-2000 to 8030");
    let strings = DimRange::strings("a\"b", "c");
    let kind = DimensionKind::var(Datatype::StringAscii);
    assert_eq!(show(kind, &strings), r#""a\"b".."c""#);
    assert_eq!(ends(&Dimension::string("s"), &show(kind, &strings)), r#""a\"b" to "c""#);
}
