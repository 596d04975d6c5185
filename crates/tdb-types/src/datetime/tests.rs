use super::*;

const UNITS: [Datatype; 13] = [
    Datatype::DatetimeYear,
    Datatype::DatetimeMonth,
    Datatype::DatetimeWeek,
    Datatype::DatetimeDay,
    Datatype::DatetimeHr,
    Datatype::DatetimeMin,
    Datatype::DatetimeSec,
    Datatype::DatetimeMs,
    Datatype::DatetimeUs,
    Datatype::DatetimeNs,
    Datatype::DatetimePs,
    Datatype::DatetimeFs,
    Datatype::DatetimeAs,
];

/// What NumPy prints for `np.datetime64(1, unit)` and `np.datetime64(-1, unit)`, with the seconds that it leaves out.
#[test]
fn one_unit_after_and_before_1970() {
    let shown: Vec<String> =
        UNITS.iter().map(|unit| format!("{} {}", format(*unit, 1).unwrap(), format(*unit, -1).unwrap())).collect();
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
fn what_is_printed_is_read_as_itself() {
    for unit in UNITS {
        for value in [0, 1, -1, 365, 29_220, -719_000, 1_700_000_000_123] {
            if let Some(text) = format(unit, value) {
                assert_eq!(parse(unit, &text), Some((value, value)), "{unit} {text}");
            }
        }
    }
}

#[test]
fn what_is_no_date() {
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
    // In range for a date, but not for 64 bits of attoseconds.
    assert_eq!(parse(Datatype::DatetimeAs, "2020"), None);
}

#[test]
fn a_coarse_date_stands_for_all_that_lies_in_it() {
    assert_eq!(parse(Datatype::DatetimeDay, "2020-02"), Some((18_293, 18_321)));
    assert_eq!(parse(Datatype::DatetimeDay, "1970"), Some((0, 364)));
    assert_eq!(parse(Datatype::DatetimeSec, "1970-01-01T00:01Z"), Some((60, 119)));
    assert_eq!(parse(Datatype::DatetimeMs, "1970-01-01 00:00:00.5"), Some((500, 599)));
    assert_eq!(parse(Datatype::DatetimeNs, "1970-01-01"), Some((0, 86_399_999_999_999)));
}

#[test]
fn a_fine_date_on_a_coarse_unit_holds_what_begins_in_it() {
    assert_eq!(parse(Datatype::DatetimeMonth, "1970-02-01"), Some((1, 1)));
    // No month begins on the second of February.
    assert_eq!(parse(Datatype::DatetimeMonth, "1970-02-02"), Some((2, 1)));
    // Weeks begin on Thursdays, as 1970-01-01 was one.
    assert_eq!(parse(Datatype::DatetimeWeek, "1970-01-08"), Some((1, 1)));
    assert_eq!(parse(Datatype::DatetimeYear, "1971"), Some((1, 1)));
}

#[test]
fn timestamps() {
    assert_eq!(timestamp(1_700_000_000_123).as_deref(), Some("2023-11-14T22:13:20.123Z"));
    assert_eq!(timestamp(u64::MAX), None);
}

/// Texts of dates as nearly all are written, and such that look like it.
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
fn arithmetic_reads_what_the_calendar_reads() {
    for text in plain_texts() {
        for datatype in UNITS {
            let unit = unit(datatype).unwrap();
            assert_eq!(parse(datatype, &text), parse_any(unit, &text), "{datatype} {text}");
        }
    }
}

#[test]
fn arithmetic_prints_what_the_calendar_prints() {
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
