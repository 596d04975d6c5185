//! Tests of imported text: JSON arrays, time zones, nulls, booleans, types, and invalid text.

use std::fs;

use crate::support::{Run, places, run_on as run};

/// Imports a text into a new array, and reads the array.
fn imported(name: &str, text: &str, options: &[&str]) -> (Run, Run) {
    let (_folder, [file, array]) = places([name, "array"]);
    fs::write(&file, text).unwrap();
    let import = run(&[&["import", "@", "@"], options].concat(), &[&array, &file]);
    let read = run(&["read", "@", "--format", "jsonl", "--order", "row-major"], &[&array]);
    (import, read)
}

#[test]
fn json_arrays_are_read_as_json_lines_are() {
    let rows = ["{\"x\":1,\"a\":\"]},\"}", "{\"x\":2,\"a\":null}", "{\"x\":3,\"a\":\"b\"}"];
    let options = ["--dimensions", "x"];
    let (_, lines) = imported("a.jsonl", &rows.join("\n"), &options);
    assert_eq!(lines.stdout.lines().count(), 3, "{lines}");
    let indented = rows.join(",").replace(",\"a\"", ",\n\t\"a\"").replace('{', "{\n");
    for text in [
        format!("[{}]", rows.join(",")),
        format!("\u{feff} [\n{}\n]\r\n\r\n", rows.join(",\n")),
        format!("\n\n[{indented}]"),
    ] {
        for name in ["a.json", "a.jsonl"] {
            let (import, read) = imported(name, &text, &options);
            assert_eq!((import.code, &read.stdout), (Some(0), &lines.stdout), "{import}");
        }
    }
}

#[test]
fn invalid_json_is_reported_by_line_and_writes_nothing() {
    let deep = format!("[{{\"x\":1,\"a\":{}{}}}]", "[".repeat(100_000), "]".repeat(100_000));
    for (text, line, why) in [
        ("[\n{\"x\":1}", 2, "the JSON array is not closed"),
        ("[{\"x\":1},\n{\"x\":2,", 2, "the row is not closed"),
        ("[{\"x\":1},\n{\"x\":\"", 2, "the row is not closed"),
        ("[{\"x\":1}\n{\"x\":2}]", 2, "expected a comma or the end of the JSON array"),
        ("[{\"x\":1}]\n{\"x\":2}", 2, "unexpected text after the end of the JSON array"),
        ("[{\"x\":1},\n7]", 2, "invalid JSON object"),
        ("[{\"x\":1},\n{\"x\":2,\n\"x\":3}]", 3, "two members are named \"x\""),
        ("[{\"x\":1},{\"x\":\n1e999}]", 2, "number out of range"),
        ("[{\"x\":1},\n{\"x\":2,\"b\":[1}]", 2, "invalid JSON object"),
        (&deep, 1, "invalid JSON object"),
        ("{\"x\":1}\n{\"x\":2", 2, "invalid JSON object"),
    ] {
        let (import, read) = imported("a.json", text, &["--dimensions", "x"]);
        let place = format!("a.json:{line}: ");
        let shown = &text[..text.len().min(60)];
        assert!(
            import.code == Some(1) && import.stderr.contains(&place) && import.stderr.contains(why),
            "{shown}: {import}"
        );
        assert_ne!(read.code, Some(0), "{shown}: {read}");
    }
}

#[test]
fn times_with_an_offset_are_read_in_utc() {
    let text = "x,t\n1,2026-02-13T10:00:00Z\n2,2026-02-13T10:00:00+02:00\n3,2026-02-13 23:30:00.5-05:30\n4,2026-02-13T10:00:00\n";
    let (import, read) = imported("a.csv", text, &["--dimensions", "x"]);
    assert!(import.stderr.contains("datetime_ms"), "{import}");
    let times: Vec<&str> = read.stdout.lines().map(|line| &line[12..31]).collect();
    assert_eq!(times, ["2026-02-13T10:00:00", "2026-02-13T08:00:00", "2026-02-14T05:00:00", "2026-02-13T10:00:00"]);
    let text = "{\"x\":1,\"t\":\"2026-02-13T10:00:00+01:00\"}\n{\"x\":2,\"t\":\"2026-02-13T10:00:00+24:00\"}\n";
    imported("a.json", text, &["--dimensions", "x"]).1.shows("+24:00");
    imported("a.json", text, &["--dimensions", "x", "--type", "t=datetime_sec"]).0.exits(1).says(":2: t: ");
}

#[test]
fn several_texts_may_mark_nulls() {
    let text = "x,a,s\n1,NA,NA\n2,-,\n3,4,\"NA\"\n4,,\"\"\n";
    let nulls = ["--dimensions", "x", "--null", "NA", "--null", "-", "--null", ""];
    let (import, read) = imported("a.csv", text, &nulls);
    assert_eq!(import.code, Some(0), "{import}");
    let rows = [
        r#"{"x":1,"a":null,"s":null}"#,
        r#"{"x":2,"a":null,"s":null}"#,
        r#"{"x":3,"a":4,"s":"NA"}"#,
        r#"{"x":4,"a":null,"s":""}"#,
    ];
    assert_eq!(read.stdout.lines().collect::<Vec<_>>(), rows);
    // Some programs quote all cells. An empty number is null.
    let (_, read) =
        imported("a.csv", "\"x\",\"a\",\"s\"\n\"1\",\"\",\"\"\n\"2\",\"7\",\"t\"\n", &["--dimensions", "x"]);
    assert_eq!(read.stdout, "{\"x\":1,\"a\":null,\"s\":\"\"}\n{\"x\":2,\"a\":7,\"s\":\"t\"}\n");
}

#[test]
fn truths_may_be_written_in_any_case() {
    let (import, read) = imported("a.csv", "x,a\n1,True\n2,FALSE\n3,true\n4,fAlSe\n", &["--dimensions", "x"]);
    assert!(import.stderr.contains("datatype = \"bool\""), "{import}");
    let truths: Vec<bool> = read.stdout.lines().map(|line| line.contains("true")).collect();
    assert_eq!(truths, [true, false, true, false], "{read}");
}

#[test]
fn columns_may_be_given_a_type() {
    let text = "pos,price,code\n1,1.5,007\n2,,008\n";
    let types = ["--dimensions", "pos", "--type", "pos=uint32", "--type", "price=float32", "--type", "code=int16"];
    let (import, read) = imported("a.csv", text, &types);
    for datatype in ["uint32", "float32", "int16"] {
        assert!(import.stderr.contains(&format!("datatype = \"{datatype}\"")), "{import}");
    }
    assert_eq!(read.stdout, "{\"pos\":1,\"price\":1.5,\"code\":7}\n{\"pos\":2,\"price\":null,\"code\":8}\n");
    imported("a.csv", text, &["--dimensions", "pos", "--type", "price=int8"])
        .0
        .exits(1)
        .says("a.csv:2: price: \"1.5\" is not a valid int8");
    for (option, why) in
        [("price", "expected NAME=TYPE"), ("price=decimal", "no type is named"), ("cost=int8", "no column is named")]
    {
        imported("a.csv", text, &["--dimensions", "pos", "--type", option]).0.exits(2).says(why);
    }
    // With --type, JSON numbers become text unless the parser may have lost digits.
    let text = "{\"x\":1,\"a\":7,\"b\":\"7\"}\n{\"x\":2,\"a\":-1.5,\"b\":\"8\"}\n{\"x\":3,\"a\":true,\"b\":\"-1\"}\n";
    let types = ["--dimensions", "x", "--type", "a=string_utf8", "--type", "b=int8"];
    let (_, read) = imported("a.jsonl", text, &types);
    let numbers = text.replace("7,\"b\":\"7\"", "\"7\",\"b\":7").replace("-1.5,\"b\":\"8\"", "\"-1.5\",\"b\":8");
    assert_eq!(read.stdout, numbers.replace("true,\"b\":\"-1\"", "\"true\",\"b\":-1"));
    imported("a.jsonl", "{\"x\":1,\"a\":123456789012345678901234}", &types[..4])
        .0
        .exits(1)
        .says("write the number in quotes to keep all digits");
    let (import, read) = imported("a.jsonl", "{\"x\":1,\"a\":\"123456789012345678901234\"}", &types[..4]);
    assert!(import.code == Some(0) && read.stdout.contains("\"123456789012345678901234\""), "{import}");
}

#[test]
fn repeated_types_and_options_of_other_formats_are_refused() {
    let json = "[{\"x\":1,\"a\":2}]";
    for (name, text, more, why) in [
        ("a.csv", "x,a\n1,2\n", &["--type", "a=int8", "--type", "a=int16"][..], "--type a: given twice"),
        ("a.json", json, &["--null", "NA"], "leave out --null"),
        ("a.jsonl", json, &["--delimiter", ";"], "leave out --delimiter"),
    ] {
        imported(name, text, &[&["--dimensions", "x"], more].concat()).0.exits(2).says(why);
    }
    // An explicit comma overrides the tab of a .tsv file.
    imported("a.tsv", "x,a\n1,2\n", &["--dimensions", "x", "--delimiter", ","]).1.prints("{\"x\":1,\"a\":2}\n");
    imported("a.tsv", "x\ta\n1\t2\n", &["--dimensions", "x"]).1.prints("{\"x\":1,\"a\":2}\n");
}

#[test]
fn values_that_a_filter_cannot_represent_are_rejected_rows() {
    let (folder, [schema, array]) = places(["s.toml", "array"]);
    let text = "array_type = \"sparse\"\n[[dimension]]\nname = \"x\"\ndatatype = \"int32\"\ndomain = [1, 9]\n\
                [[attribute]]\nname = \"a\"\ndatatype = \"float32\"\nnullable = true\n\
                filters = [{ filter = \"float_scale\", scale = 1.0, offset = 0.0, byte_width = 1 }]\n";
    fs::write(&schema, text).unwrap();
    let files = [
        ("rows.csv", "x,a\n1,300.0\n2,1.4\n3,NaN\n4,\n5,-inf\n"),
        (
            "rows.json",
            "[{\"x\":1,\"a\":300},\n{\"x\":2,\"a\":1.4},\n{\"x\":3,\"a\":\"NaN\"},{\"x\":4,\"a\":null},\n{\"x\":5,\"a\":\"-inf\"}]",
        ),
    ];
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        let why = "a: float_scale cannot store 300.0, expected -128.0 to 127.0 (scale 1, offset 0, byte width 1)";
        let import = run(&["import", "@", "@", "--schema", "@"], &[&array, &file, &schema]).exits(1).says(why);
        import.says("cannot import 3 of 5 rows; nothing was written");
        assert!(!array.exists());
    }
    let file = folder.path().join("rows.csv");
    run(&["import", "@", "@", "--schema", "@", "--skip-rejects"], &[&array, &file, &schema]).exits(1);
    run(&["read", "@", "--format", "csv"], &[&array]).prints("x,a\n2,1.0\n4,\n");
}

/// Invalid text and invalid cells are reported by file, line and column.
#[test]
fn invalid_text_is_reported_by_position() {
    for (name, text, place) in [
        ("a.csv", "x,a\r\n1,2\r\n2\r\n", "a.csv:3: found 1 fields, expected 2 as in the header"),
        ("a.csv", "x,a\n1,\"2\n", "a.csv:2: a quote that begins in this row is not closed"),
        ("a.csv", "x,x\n1,2\n", "two columns are named \"x\""),
        ("a.csv", "x,b\n1,y\n2,\"cut\n3,y\n4,z", "a.csv:3: a quote that begins in this row"),
        ("a.csv", "x,a\n0.0,1\n1.5,2\n-0.0,3\n", "a.csv:4: repeats the coordinates of line 2"),
        ("a.jsonl", "[1]\n", "a.jsonl:1: invalid JSON object"),
        ("a.jsonl", "{\"x\":1,\"b\":2,\"x\":3}\n", "a.jsonl:1: invalid JSON object: two members are named \"x\""),
        ("a.jsonl", "{\"x\":1\n", "a.jsonl:1: invalid JSON object: EOF while parsing an object, at character "),
        (
            "a.json",
            "{\"x\":1,\"a\":\"t\"}\n{\"x\":2,\"a\":1}\n",
            "a.json:2: a: 1 is not a valid string_utf8; write the value in quotes",
        ),
        ("a.json", "[{\"x\":1,\"a\":2},\n]", "a.json:2: unexpected comma at the end of the JSON array; delete it"),
    ] {
        let (import, read) = imported(name, text, &["--dimensions", "x"]);
        assert!(matches!(import.code, Some(1 | 2)) && import.stderr.contains(place), "{import}");
        assert_ne!(read.code, Some(0), "{read}");
    }
    let (import, _) = imported("a.jsonl", "\u{feff}{\"x\":1,\"b\":2}\n", &["--dimensions", "x"]);
    assert!(import.stderr.ends_with("1 cell written in 1 fragment\n"), "{import}");
    // Zero bytes are preserved, and so is a byte order mark after the start of the file.
    imported("a.csv", "\u{feff}x,a\r\n1,\0\r\n2,\u{feff}\r\n", &["--dimensions", "x"])
        .1
        .prints("{\"x\":1,\"a\":\"\\u0000\"}\n{\"x\":2,\"a\":\"\u{feff}\"}\n");
}
