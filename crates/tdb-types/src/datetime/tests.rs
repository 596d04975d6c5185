use super::*;

fn units() -> [Datatype; 13] {
    count::UNITS.map(|(datatype, ..)| datatype)
}

/// The output of NumPy for `np.datetime64(1, unit)` and `np.datetime64(-1, unit)`, plus the
/// seconds, which NumPy omits.
#[test]
fn one_unit_after_and_before_1970() {
    let shown: Vec<String> =
        units().iter().map(|unit| format!("{} {}", format(*unit, 1).unwrap(), format(*unit, -1).unwrap())).collect();
    let expected = [
        "1971 1969",
        "1970-02 1969-12",
        "1970-01-08 1969-12-25",
        "1970-01-02 1969-12-31",
        "1970-01-01T01:00:00 1969-12-31T23:00:00",
        "1970-01-01T00:01:00 1969-12-31T23:59:00",
        "1970-01-01T00:00:01 1969-12-31T23:59:59",
        "1970-01-01T00:00:00.001 1969-12-31T23:59:59.999",
        "1970-01-01T00:00:00.000001 1969-12-31T23:59:59.999999",
        "1970-01-01T00:00:00.000000001 1969-12-31T23:59:59.999999999",
        "1970-01-01T00:00:00.000000000001 1969-12-31T23:59:59.999999999999",
        "1970-01-01T00:00:00.000000000000001 1969-12-31T23:59:59.999999999999999",
        "1970-01-01T00:00:00.000000000000000001 1969-12-31T23:59:59.999999999999999999",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn formatted_dates_parse_to_the_same_value() {
    for unit in units() {
        for value in [0, 1, -1, 365, 29_220, -719_000, 1_700_000_000_123] {
            if let Some(text) = format(unit, value) {
                assert_eq!(parse(unit, &text), Some((value, value)), "{unit} {text}");
            }
        }
    }
}

#[test]
fn displayed_values_read_back() {
    let any = [i64::MIN, i64::MIN + 1, -719_529, -1971, -1, 0, 54, 2024, 8029, 8030, 19_724, i64::MAX];
    for (unit, value) in units().into_iter().flat_map(|unit| any.map(|value| (unit, value))) {
        let text = display(unit, value).unwrap();
        assert_eq!(read(unit, &text), Ok((value, value)), "{unit} {text}");
    }
    assert_eq!(display(Datatype::DatetimeYear, 8030).as_deref(), Some("8030Y"));
    assert_eq!(unit_of_far("8030Y"), Some(Datatype::DatetimeYear));
    assert_eq!(unit_of_far("253402300800s"), Some(Datatype::DatetimeSec));
    for text in ["3D", "54Y", "2024", "8030", "Y", "", "08030Y", "8030 Y", "8030y"] {
        assert_eq!(unit_of_far(text), None, "{text}");
    }
    assert_eq!(display(Datatype::Int64, 1), None);
}

#[test]
fn four_digits_are_a_year_in_every_unit() {
    for unit in units() {
        assert_eq!(read(unit, "1972").ok(), parse(unit, "1972"), "{unit}");
        assert_eq!(read(unit, "1972"), read(unit, "1972Z"), "{unit}");
    }
    assert_eq!(read(Datatype::DatetimeDay, "2024"), Ok((19_723, 20_088)));
}

#[test]
fn numbers_that_look_like_dates_are_refused() {
    let wrong = |datatype, text| read(datatype, text).unwrap_err().to_string();
    let shown = [
        (Datatype::DatetimeDay, "20240501"),
        (Datatype::DatetimeMs, "202405"),
        (Datatype::DatetimeDay, "19724"),
        (Datatype::DatetimeYear, "-2024"),
        (Datatype::DatetimeHr, "1700000000s"),
    ];
    let shown = shown.map(|(datatype, text)| wrong(datatype, text));
    assert_eq!(
        shown,
        [
            "\"20240501\" is ambiguous: it may be a date or a number of days; write a date as in 2024-05-01, or 20240501D for days since 1970",
            "\"202405\" is ambiguous: it may be a date or a number of milliseconds; write a date as in 2024-05-01, or 202405ms for milliseconds since 1970",
            "\"19724\" is ambiguous: it may be a date or a number of days; write a date as in 2024-05-01, or 19724D for days since 1970",
            "\"-2024\" is ambiguous: it may be a date or a number of years; write a date as in 2024-05-01, or -2024Y for years since 1970",
            "\"1700000000s\" is not in the unit of datetime_hr; write a number of hours, as in 7h",
        ]
    );
    for text in ["+1234", "-12345", "00002024", "99999999"] {
        assert!(matches!(read(Datatype::DatetimeSec, text), Err(WrittenError::Ambiguous { .. })), "{text}");
    }
}

#[test]
fn other_numbers_count_units() {
    let numbers =
        [("7", 7), ("-999", -999), ("+42", 42), ("123456789", 123_456_789), ("2_024", 2024), ("-1_000D", -1000)];
    for (text, value) in numbers {
        assert_eq!(read(Datatype::DatetimeDay, text), Ok((value, value)), "{text}");
    }
    assert_eq!(read(Datatype::DatetimeMin, "12m"), Ok((12, 12)));
    assert_eq!(read(Datatype::DatetimeMonth, "650M"), Ok((650, 650)));
    for text in ["12d", "1.5", "1e3", "", "_", "-", "D", "9223372036854775808", "12 D", "0x10"] {
        assert_eq!(read(Datatype::DatetimeDay, text), Err(WrittenError::NotAValue), "{text:?}");
    }
}

#[test]
fn text_that_is_not_a_date_is_rejected() {
    assert_eq!(format(Datatype::DatetimeDay, i64::MIN).as_deref(), Some("NaT"));
    assert_eq!(format(Datatype::DatetimeDay, i64::MAX), None);
    assert_eq!(format(Datatype::DatetimeYear, 8030), None);
    assert_eq!(format(Datatype::DatetimeYear, 8029).as_deref(), Some("9999"));
    assert_eq!(format(Datatype::DatetimeMonth, i64::MAX), None);
    assert_eq!(format(Datatype::Int64, 1), None);
    for text in
        ["", "20", "20200101", "2020-1-1", "2020-02-30", "2020-13", "2020-01-01T", "2020-01T05", "2020-01-01-01"]
    {
        assert_eq!(parse(Datatype::DatetimeDay, text), None, "{text}");
    }
    for time in ["24", "12:60", "12:00:00.", "12:00.5", "12:00:00.1234567890123456789", "12:00:00:00"] {
        assert_eq!(parse(Datatype::DatetimeNs, &format!("2020-01-01T{time}")), None, "{time}");
    }
    // Valid as a date, but out of range for 64-bit attoseconds.
    assert_eq!(parse(Datatype::DatetimeAs, "2020"), None);
}

#[test]
fn a_coarse_date_covers_every_unit_within() {
    assert_eq!(parse(Datatype::DatetimeDay, "2020-02"), Some((18_293, 18_321)));
    assert_eq!(parse(Datatype::DatetimeDay, "1970"), Some((0, 364)));
    assert_eq!(parse(Datatype::DatetimeSec, "1970-01-01T00:01Z"), Some((60, 119)));
    assert_eq!(parse(Datatype::DatetimeMs, "1970-01-01 00:00:00.5"), Some((500, 599)));
    assert_eq!(parse(Datatype::DatetimeNs, "1970-01-01"), Some((0, 86_399_999_999_999)));
}

#[test]
fn a_fine_date_covers_units_that_begin_within() {
    assert_eq!(parse(Datatype::DatetimeMonth, "1970-02-01"), Some((1, 1)));
    // No month begins on February 2.
    assert_eq!(parse(Datatype::DatetimeMonth, "1970-02-02"), Some((2, 1)));
    // Weeks begin on Thursdays because 1970-01-01 was a Thursday.
    assert_eq!(parse(Datatype::DatetimeWeek, "1970-01-08"), Some((1, 1)));
    assert_eq!(parse(Datatype::DatetimeYear, "1971"), Some((1, 1)));
}

#[test]
fn timestamps() {
    assert_eq!(timestamp(1_700_000_000_123).as_deref(), Some("2023-11-14T22:13:20.123Z"));
    assert_eq!(timestamp(u64::MAX), None);
}

/// Dates in the common forms, and invalid text that looks similar.
fn plain_texts() -> impl Iterator<Item = String> {
    let years = [
        "0000", "0001", "0004", "0100", "0400", "1900", "1969", "1970", "2000", "2023", "2024", "9999", "+123", "20a4",
    ];
    let days = years.into_iter().flat_map(|year| {
        (0..14).flat_map(move |month| [0, 1, 28, 29, 30, 31, 32].map(|day| format!("{year}-{month:02}-{day:02}")))
    });
    let times =
        ["", "T00:00:00", " 23:59:59", "T24:00:00", "T12:60:00", "T12:00:60", "T12:3 :00", "t01:02:03", "T01:02:03Z"];
    days.flat_map(move |day| times.map(|time| format!("{day}{time}")))
}

#[test]
fn the_fast_path_parses_like_the_calendar() {
    for text in plain_texts() {
        for datatype in units() {
            let unit = unit(datatype).unwrap();
            assert_eq!(parse(datatype, &text), parse_any(unit, &text), "{datatype} {text}");
        }
    }
}

#[test]
fn the_fast_path_formats_like_the_calendar() {
    let first = seconds(Date::new(0, 1, 1).unwrap()) as i64;
    let last = seconds(Date::new(9999, 12, 31).unwrap()) as i64 + 86_399;
    let some = (first..=last).step_by(100 * 86_400 + 3_661).chain([first, last, -1, 0]);
    for second in some {
        let calendar = civil_any(second).unwrap();
        assert_eq!(format(Datatype::DatetimeSec, second), Some(calendar.to_string()));
        let day = second.div_euclid(86_400);
        assert_eq!(format(Datatype::DatetimeDay, day), Some(calendar.date().to_string()));
    }
    for second in [first - 1, last + 1] {
        assert_eq!(format(Datatype::DatetimeSec, second), None);
    }
}
