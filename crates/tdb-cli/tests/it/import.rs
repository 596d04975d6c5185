//! Tests of `tdb import`: the output of `tdb read` imports as the same array, and invalid rows are
//! reported by line.

use std::fs;
use std::path::Path;

use crate::support::{places, run_on as run};
use tdb_testkit::fixtures;

/// Returns all lines in sorted order, which does not depend on the writer.
fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn what_is_read_is_imported_again() {
    let (_folder, [schema, rows, again]) = places(["s.toml", "rows", "again"]);
    let mut imported = 0;
    for fixture in fixtures::all() {
        let name = fixture.name();
        if !name.starts_with("v22") || name.contains("encrypted") {
            continue;
        }
        let array = fixture.array_dir();
        fs::write(&schema, run(&["schema", "@", "--format", "toml"], &[array]).stdout).unwrap();
        let text = fs::read_to_string(&schema).unwrap();
        let is_lossy = text.contains("\"webp\"") && !text.contains("lossless = true");
        let mut is_ambiguous = false;
        for format in ["jsonl", "csv"] {
            let read = |array: &Path| run(&["read", "@", "--format", format, "--order", "row-major"], &[array]);
            let cells = read(array);
            // In CSV, digits of invalid UTF-8 look like text.
            is_ambiguous |= cells.stdout.contains("{\"hex\"");
            assert_eq!(cells.code, Some(0), "{name}: {cells}");
            if is_ambiguous && format == "csv" {
                continue;
            }
            fs::write(&rows, &cells.stdout).unwrap();
            let words = ["import", "@", "@", "--format", format, "--schema", "@"];
            let import = run(&words, &[&again, &rows, &schema]);
            assert_eq!(import.code, Some(0), "{name}: {import}");
            let (found, given) = (read(&again).stdout, cells.stdout);
            if is_lossy {
                // The import is lossy.
                assert_eq!(found.lines().count(), given.lines().count(), "{name}, {format}");
            } else {
                assert_eq!(lines(&found), lines(&given), "{name}, {format}");
            }
            imported += 1;
            let _ = fs::remove_dir_all(&again);
        }
    }
    assert!(imported > 150, "{imported}");
}

const ROWS: &str = "\
chrom,pos,qual,alt,when
chr1,100,3.5,A,2020-01-02T10:00:00.5
chr1,50,,C,2020-01-03
chr2,7,1e3,\"G,T\",2021-05-06
";

#[test]
fn a_schema_is_made_and_shown() {
    let (_folder, [rows, array]) = places(["rows.csv", "array"]);
    fs::write(&rows, ROWS).unwrap();
    let dry = run(&["import", "@", "@", "--dimensions", "chrom,pos", "--dry-run"], &[&array, &rows]).exits(0);
    assert!(!array.exists() && dry.stderr == "3 rows can be imported\n", "{dry}");
    insta::assert_snapshot!(dry.stdout);
    let import = run(&["import", "@", "@", "--dimensions", "chrom,pos"], &[&array, &rows]);
    assert!(
        import.stderr.contains(&dry.stdout) && import.stderr.ends_with("3 cells written in 1 fragment\n"),
        "{import}"
    );
    let read = run(&["read", "@", "--order", "row-major", "--format", "csv"], &[&array]);
    assert_eq!(
        read.stdout,
        "chrom,pos,qual,alt,when\nchr1,50,,C,2020-01-03T00:00:00.000\nchr1,100,3.5,A,2020-01-02T10:00:00.500\n\
         chr2,7,1000.0,\"G,T\",2021-05-06T00:00:00.000\n"
    );
}

#[test]
fn rows_that_are_no_cells_are_told_by_their_lines() {
    let (_folder, [rows, array]) = places(["rows.csv", "array"]);
    fs::write(&rows, ROWS).unwrap();
    assert_eq!(run(&["import", "@", "@", "--dimensions", "chrom,pos"], &[&array, &rows]).code, Some(0));
    let before = run(&["info", "@"], &[&array]).stdout;
    let bad = "chrom,pos,qual,alt,when\nchr3,x,1,A,2020-01-01\nchr3,1,,B,2020-13-01\nchr3,2\nchr3,3,1,C,2020-01-01\n";
    fs::write(&rows, bad).unwrap();
    let import = run(&["import", "@", "@"], &[&array, &rows]).exits(1);
    let told = import.stderr.replace(&*rows.to_string_lossy(), "rows.csv");
    insta::assert_snapshot!(told);
    assert_eq!(run(&["info", "@"], &[&array]).stdout, before);

    let import = run(&["import", "@", "@", "--skip-rejects"], &[&array, &rows]).exits(1);
    assert!(import.stderr.ends_with("1 cell written in 1 fragment\n"), "{import}");
    assert!(run(&["read", "@", "--range", "chrom=chr3"], &[&array]).stdout.contains("\"pos\":3"));
}

#[test]
fn rows_of_one_place_are_an_error_or_the_last_counts() {
    let (folder, [rows, array]) = places(["rows.jsonl", "array"]);
    fs::write(&rows, "{\"x\":1,\"a\":1}\n{\"x\":2,\"a\":2}\n\n{\"x\":1,\"a\":3}\n").unwrap();
    for words in [&[][..], &["--dry-run"], &["--budget", "1"]] {
        let import = run(&[&["import", "@", "@", "--dimensions", "x"], words].concat(), &[&array, &rows])
            .exits(1)
            .says(":4: repeats the coordinates of line 1");
        assert!(import.stderr.contains("nothing was written") && !array.exists(), "{import}");
    }
    // The command succeeds with the option from the hint. The second run imports to an existing
    // array, without `--dimensions`.
    for words in [&["--keep-last", "--dimensions", "x"][..], &["--keep-last"]] {
        run(&[&["import", "@", "@"], words].concat(), &[&array, &rows]).exits(0);
        run(&["read", "@", "--order", "row-major", "--format", "csv"], &[&array]).prints("x,a\n1,3\n2,2\n");
    }
    let all = folder.path().join("all");
    run(&["import", "@", "@", "--dimensions", "x", "--allow-duplicates"], &[&all, &rows]).exits(0);
    assert_eq!(run(&["read", "@"], &[&all]).stdout.lines().count(), 3);
}

/// Each fragment alone has no duplicates.
#[test]
fn rows_of_one_place_are_found_in_the_whole_file() {
    let (_folder, [rows, array]) = places(["rows.csv", "array"]);
    let mut text = "x,a\n".to_owned();
    text.extend((0..5000).chain([7, 8]).map(|x| format!("{x},{x}\n")));
    fs::write(&rows, &text).unwrap();
    let words = ["import", "@", "@", "--dimensions", "x", "--budget", "1KiB"];
    let import = run(&words, &[&array, &rows]).exits(1);
    for told in [":5002: repeats the coordinates of line 9", ":5003: repeats the coordinates of line 10"] {
        assert!(import.stderr.contains(told), "{import}");
    }
    assert!(!array.exists());
    run(&[&words[..], &["--keep-last"]].concat(), &[&array, &rows]).exits(0).says("5002 cells written in ");
    assert_eq!(run(&["read", "@"], &[&array]).stdout.lines().count(), 5000);
}

/// A failed import leaves a new array in place. It removes nothing, because another process may
/// have changed the array.
#[test]
fn a_failed_import_keeps_the_new_array() {
    let (folder, [rows, array]) = places(["rows.csv", "array"]);
    let schema = folder.path().join("s.toml");
    let text = "array_type = \"sparse\"\n[[dimension]]\nname = \"x\"\ndatatype = \"int32\"\ndomain = [1, 9]\n\
                [[attribute]]\nname = \"a\"\ndatatype = \"int32\"\n\
                filters = [\"positive_delta\"]\n";
    fs::write(&schema, text).unwrap();
    // The filter accepts only ascending values.
    fs::write(&rows, "x,a\n1,2\n2,1\n").unwrap();
    let import = run(&["import", "@", "@", "--schema", "@"], &[&array, &rows, &schema]);
    assert_ne!(import.code, Some(0), "{import}");
    assert!(import.stderr.contains("nothing was written; the array was created, and stays"), "{import}");
    fs::write(&rows, "x,a\n1,1\n2,2\n").unwrap();
    assert_eq!(run(&["import", "@", "@"], &[&array, &rows]).code, Some(0));
}

/// Many cells, each of them twice, not in the order of coordinates.
#[test]
fn the_last_rows_of_many_cells_count() {
    let (_folder, [rows, array, schema]) = places(["rows.csv", "array", "dense.toml"]);
    write_dense(&schema);
    let row = |x: u32, b: u32| format!("1,{},p,{b}\n", x * 37 % 100 + 1);
    let text: String = (0..200).map(|line| row(line % 100, line)).collect();
    fs::write(&rows, format!("y,x,a,b\n{text}")).unwrap();
    run(&["import", "@", "@", "--schema", "@", "--keep-last"], &[&array, &rows, &schema])
        .exits(0)
        .says("100 cells written");
    let read = run(&["read", "@", "--range", "y=1", "--select", "b", "--format", "csv"], &[&array]);
    let mut found: Vec<u32> = read.stdout.lines().filter_map(|line| line.rsplit(',').next()?.parse().ok()).collect();
    found.sort_unstable();
    assert_eq!(found, (100..200).collect::<Vec<_>>(), "{read}");
}

/// A failed import keeps and reports the fragments written before.
#[test]
fn a_failed_import_reports_written_fragments() {
    let (_folder, [rows, array, schema]) = places(["rows.csv", "array", "s.toml"]);
    let text = "array_type = \"sparse\"\n[[dimension]]\nname = \"x\"\ndatatype = \"int32\"\ndomain = [1, 9999]\n\
                [[attribute]]\nname = \"a\"\ndatatype = \"int32\"\nfilters = [\"positive_delta\"]\n";
    fs::write(&schema, text).unwrap();
    let ascending: String = (1..1000).map(|x| format!("{x},{x}\n")).collect();
    fs::write(&rows, format!("x,a\n{ascending}1000,2\n1001,1\n")).unwrap();
    let import = run(&["import", "@", "@", "--schema", "@", "--budget", "2KiB"], &[&array, &rows, &schema]);
    assert!(import.code != Some(0) && import.stderr.contains("cells were written before the failure"), "{import}");
    let read = run(&["read", "@", "--format", "csv"], &[&array]).stdout;
    let cells = read.lines().count() - 1;
    assert!(
        cells > 100 && import.stderr.contains(&format!("{cells} cells were written before the failure")),
        "{cells}: {import}"
    );
}

fn write_dense(schema: &Path) {
    let dimension =
        |name| format!("[[dimension]]\nname = \"{name}\"\ndatatype = \"int32\"\ndomain = [1, 100]\ntile_extent = 10\n");
    let text = format!(
        "array_type = \"dense\"\n{}{}[[attribute]]\nname = \"a\"\ndatatype = \"string_utf8\"\nvalues_per_cell = \"var\"\n\
         [[attribute]]\nname = \"b\"\ndatatype = \"int64\"\nnullable = true\n",
        dimension("y"),
        dimension("x")
    );
    fs::write(schema, text).unwrap();
}

#[test]
fn dense_arrays_take_boxes_in_any_order_and_by_parts() {
    let (_folder, [rows, array, schema]) = places(["rows.csv", "array", "dense.toml"]);
    write_dense(&schema);
    let mut all = Vec::new();
    for y in 3..=40 {
        all.extend((5..=30).map(|x| {
            format!("{y},{x},{},{}\n", "w".repeat(x % 5), if x % 3 == 0 { String::new() } else { (y * x).to_string() })
        }));
    }
    let sorted = format!("y,x,a,b\n{}", all.concat());
    all.reverse();
    all.swap(3, 700);
    let header = "y,x,a,b\n".to_owned();
    for (text, budget, fragments) in
        [(&sorted, "1KiB", 2..40), (&sorted, "64MiB", 1..2), (&(header + &all.concat()), "1KiB", 1..2)]
    {
        fs::write(&rows, text).unwrap();
        run(&["import", "@", "@", "--schema", "@", "--budget", budget], &[&array, &rows, &schema]).exits(0);
        let count = fs::read_dir(array.join("__fragments")).unwrap().count();
        assert!(fragments.contains(&count), "{count}");
        run(&["read", "@", "--range", "y=3..40", "--range", "x=5..30", "--format", "csv"], &[&array]).prints(&sorted);
        fs::remove_dir_all(&array).unwrap();
    }
}

/// More rows than fit into the budget, unsorted, from two files. Each cell must have the values of
/// its last row.
#[test]
fn rows_of_a_dense_array_are_sorted_however_many_they_are() {
    let (_folder, [one, other, array, schema]) = places(["one.csv", "other.csv", "array", "dense.toml"]);
    write_dense(&schema);
    for (height, width) in [(90, 90), (1, 99), (100, 1)] {
        let row = |cell: usize| {
            let (y, x) = (cell / width + 1, cell % width + 1);
            let b = if cell.is_multiple_of(3) { String::new() } else { cell.to_string() };
            format!("{y},{x},{}{},{b}\n", "ä".repeat(cell % 7), 9999 - cell)
        };
        let cells = height * width;
        // The prime 4999 is coprime to these numbers, so each cell occurs once.
        let shuffled: Vec<usize> = (0..cells).map(|cell| cell * 4999 % cells).collect();
        let text = |cells: &[usize]| cells.iter().map(|cell| row(*cell)).collect::<String>();
        let (first, last) = shuffled.split_at(cells / 3);
        let outdated: String = last.iter().step_by(2).map(|cell| row(*cell).replace("9,", "8,")).collect();
        fs::write(&one, format!("y,x,a,b\n{outdated}1,1,no number,z\n{}", text(first))).unwrap();
        fs::write(&other, format!("y,x,a,b\n{}", text(last))).unwrap();
        let words = ["import", "@", "@", "@", "--schema", "@", "--budget", "64KiB", "--keep-last", "--skip-rejects"];
        run(&words, &[&array, &one, &other, &schema]).says(&format!("{cells} cells written"));
        let fragments = fs::read_dir(array.join("__fragments")).unwrap().count();
        let wanted = if cells == 8100 { 5..30 } else { 1..2 };
        assert!(wanted.contains(&fragments), "{fragments} fragments of {cells} cells");
        let ranges = [format!("y=1..{height}"), format!("x=1..{width}")];
        let words = ["read", "@", "--range", &ranges[0], "--range", &ranges[1], "--format", "csv"];
        let all: Vec<usize> = (0..cells).collect();
        assert!(run(&words, &[&array]).stdout == format!("y,x,a,b\n{}", text(&all)), "{height} rows of {width} cells");
        fs::remove_dir_all(&array).unwrap();
    }
}

#[test]
fn a_box_with_holes_is_an_error() {
    let (_folder, [rows, array, schema]) = places(["rows.csv", "array", "dense.toml"]);
    write_dense(&schema);
    for (text, told) in [
        ("1,1,p,1\n1,2,p,1\n2,1,p,1\n", "3 rows do not fill the 4 cells of the subarray y=1..2, x=1..2"),
        ("1,1,p,1\n1,2,p,1\n2,1,p,1\n2,1,p,1\n", ":5: repeats the coordinates of line 4"),
        ("1,1,p,1\n2,2,p,1\n2,1,p,1\n2,1,p,1\n", ":5: repeats the coordinates of line 4"),
        ("1,101,p,1\n", ":2: x: 101 is outside of the domain 1..100"),
    ] {
        fs::write(&rows, format!("y,x,a,b\n{text}")).unwrap();
        run(&["import", "@", "@", "--schema", "@"], &[&array, &rows, &schema]).exits(1).says(told);
        assert!(!array.exists());
    }
}

#[test]
fn the_last_row_of_each_cell_of_a_dense_array_counts() {
    let (_folder, [rows, array, schema]) = places(["rows.csv", "array", "dense.toml"]);
    write_dense(&schema);
    fs::write(&rows, "y,x,a,b\n1,1,p,1\n1,2,q,2\n1,1,r,3\n1,1,s,4\n").unwrap();
    let words = ["import", "@", "@", "--schema", "@"];
    let import = run(&words, &[&array, &rows, &schema]).exits(1);
    for told in [":4: repeats the coordinates of line 2", ":5: repeats the coordinates of line 2"] {
        assert!(import.stderr.contains(told), "{import}");
    }
    run(&[&words[..], &["--keep-last"]].concat(), &[&array, &rows, &schema]).exits(0).says("2 cells written");
    run(&["read", "@", "--range", "y=1", "--range", "x=1..2", "--format", "csv"], &[&array])
        .prints("y,x,a,b\n1,1,s,4\n1,2,q,2\n");
}

#[test]
fn wrong_use_is_reported_before_any_change() {
    let (folder, [rows, array]) = places(["rows.csv", "array"]);
    fs::write(&rows, ROWS).unwrap();
    let named = folder.path().join("rows.dat");
    fs::write(&named, ROWS).unwrap();
    let header = folder.path().join("header.csv");
    fs::write(&header, "a,b\n").unwrap();
    let cases: [(&[&str], &Path, &str); 7] = [
        (&["--dimensions", "a"], &header, "no row"),
        (&["--dimensions", "c"], &header, ""),
        (&[], &rows, "pass some of the columns chrom, pos, qual, alt, when with --dimensions"),
        (&["--dimensions", "chr"], &rows, "no column is named \"chr\""),
        (&["--dimensions", "qual"], &rows, "column \"qual\" cannot be a dimension: empty in 1 rows"),
        (&["--dimensions", "pos"], &named, "pass --format csv or --format jsonl"),
        (&["--dimensions", "pos", "--delimiter", "xy"], &rows, "a single ASCII character"),
    ];
    for (words, file, told) in cases {
        run(&[&["import", "@", "@"], words].concat(), &[&array, file]).exits(2).says(told);
        assert!(!array.exists());
    }
    let missing = folder.path().join("missing.csv");
    assert_eq!(run(&["import", "@", "@", "--dimensions", "x"], &[&array, &missing]).code, Some(5));
}

/// Rows are reported by line for all line endings, and all rows are imported.
#[test]
fn lines_end_in_any_way() {
    let (folder, [rows, array]) = places(["rows.csv", "array"]);
    let text = "\u{feff}x,t\n1,\"a\nb\"\n\n2,c\n\n\nz,d\n1,e\n";
    for end in ["\n", "\r\n", "\r"] {
        fs::write(&rows, text.replace('\n', end)).unwrap();
        let import = run(&["import", "@", "@", "--dimensions", "x"], &[&array, &rows]);
        assert!(import.code == Some(1) || import.code == Some(2), "{import}");
        let words = ["import", "@", "@", "--dry-run", "--skip-rejects", "--schema", "@"];
        let schema = folder.path().join("schema.toml");
        fs::write(
            &schema,
            "array_type = \"dense\"\n[[dimension]]\nname = \"x\"\ndatatype = \"int64\"\ndomain = [1, 2]\ntile_extent = 2\n\
             [[attribute]]\nname = \"t\"\ndatatype = \"string_utf8\"\nvalues_per_cell = \"var\"\n",
        )
        .unwrap();
        let import = run(&words, &[&array, &rows, &schema]);
        assert!(import.stderr.contains("rows.csv:8: "), "{end:?}: {import}");
        assert!(import.stderr.contains("rows.csv:9: repeats the coordinates of line 2"), "{end:?}: {import}");
        let words = ["import", "@", "@", "--skip-rejects", "--keep-last", "--schema", "@"];
        let import = run(&words, &[&array, &rows, &schema]);
        assert!(import.stderr.ends_with("2 cells written in 1 fragment\n"), "{end:?}: {import}");
        let read = run(&["read", "@", "--format", "csv"], &[&array]);
        assert_eq!(read.stdout, "x,t\n1,e\n2,c\n", "{end:?}");
        fs::remove_dir_all(&array).unwrap();
    }
}

/// A pipe cannot be read twice.
#[cfg(unix)]
#[test]
fn pipes_are_read_once() {
    let (_folder, [pipe, array]) = places(["rows", "array"]);
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::write(pipe, "{\"x\":1,\"a\":2}\n{\"x\":2,\"a\":3}\n")
    });
    let import = run(&["import", "@", "@", "--format", "jsonl", "--dimensions", "x"], &[&array, &pipe]);
    writer.join().unwrap().unwrap();
    assert!(import.stderr.ends_with("2 cells written in 1 fragment\n"), "{import}");
}
