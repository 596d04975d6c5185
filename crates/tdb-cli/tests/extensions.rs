//! Tests of extensions. The test program has extensions, and runs itself as the command.

#![allow(clippy::unwrap_used)] // test helpers may panic

#[path = "it/support/mod.rs"]
mod support;

use std::env;
use std::io::Write;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use tdb_cli::clap::{self, ArgMatches};
use tdb_cli::tdb_array::{WriteBatch, WriteColumn};
use tdb_cli::tdb_storage::{LocalStorage, Storage, StorageError};
use tdb_cli::{
    ColumnBatch, ColumnFiles, ColumnResult, Context, Exit, Export, Extensions, Failure, FileColumn, FileFormat,
    FileOption, FurtherCommand, Import, Result,
};
use tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
use tdb_types::{CellValNum, Datatype};

use support::Run;

/// The variable that makes the process run as the program.
const PROGRAM: &str = "TDB_TEST_PROGRAM";

fn main() -> ExitCode {
    if env::var_os(PROGRAM).is_some() {
        return program();
    }
    arrays_are_opened_by_uris();
    commands_work_on_uris();
    commands_are_added();
    files_are_added();
    columns_are_imported();
    columns_of_the_wrong_length_are_rejected();
    println!("extensions: ok");
    ExitCode::SUCCESS
}

fn program() -> ExitCode {
    let open = |uri: &str| -> Result<Arc<dyn Storage>, StorageError> {
        Ok(tdb_testkit::fixtures::named(uri.strip_prefix("fixture://").unwrap()).array_storage())
    };
    // Local folders behind URIs, in place of a store that every test run would need.
    let folder = |uri: &str| -> Result<Arc<dyn Storage>, StorageError> {
        Ok(Arc::new(LocalStorage::new(uri.strip_prefix("folder://").unwrap())))
    };
    tdb_cli::run(
        Extensions::new()
            .storage("fixture", open)
            .storage("folder", folder)
            .command(CountCells)
            .format(OnlyCounts)
            .format(Pairs),
    )
}

/// A further command.
struct CountCells;

impl FurtherCommand for CountCells {
    fn command(&self) -> clap::Command {
        clap::Command::new("count").about("Count cells").arg(clap::Arg::new("array").required(true))
    }

    fn run(&self, matches: &ArgMatches, context: &Context) -> Result<()> {
        let array = context.open_array(matches.get_one::<String>("array").unwrap().as_ref())?;
        let mut cells = 0;
        for batch in array.read().batches()? {
            cells += batch?.len();
        }
        println!("{cells}");
        match cells {
            0 => Err(Failure::new(Exit::Finding, "there are none")),
            _ => Ok(()),
        }
    }
}

/// A file format that stores only the number of cells.
struct OnlyCounts;

impl FileFormat for OnlyCounts {
    fn endings(&self) -> &'static [&'static str] {
        &["count"]
    }

    fn options(&self) -> &'static [FileOption] {
        &[FileOption { name: "unit", what: "what stands behind the number" }]
    }

    fn export(&self, mut export: Export<'_>) -> Result<u64> {
        let unit = export.option("unit").unwrap_or("cells").to_owned();
        let mut cells = 0;
        for batch in export.query.batches()? {
            cells += batch?.len() as u64;
        }
        writeln!(export.file, "{cells} {unit}")?;
        Ok(cells)
    }

    fn import(&self, _: Import) -> Result<Box<dyn ColumnFiles>> {
        Err(Failure::new(Exit::Unsupported, "nothing is in such files"))
    }
}

/// A file format with an integer and a text per line, where `-` is null.
struct Pairs;

/// Rows per batch.
const ROWS: usize = 3;

struct PairFiles {
    import: Import,
    columns: Vec<FileColumn>,
}

impl FileFormat for Pairs {
    fn endings(&self) -> &'static [&'static str] {
        &["pairs"]
    }

    fn options(&self) -> &'static [FileOption] {
        &[]
    }

    fn export(&self, _: Export<'_>) -> Result<u64> {
        Err(Failure::new(Exit::Unsupported, "nobody writes them"))
    }

    fn import(&self, import: Import) -> Result<Box<dyn ColumnFiles>> {
        let column = |name: &str, kind| FileColumn { name: name.to_owned(), kind: Some(kind) };
        let text = (Datatype::StringUtf8, CellValNum::Var);
        let columns = vec![column("k", (Datatype::Int64, CellValNum::ONE)), column("v", text)];
        Ok(Box::new(PairFiles { import, columns }))
    }
}

impl ColumnFiles for PairFiles {
    fn columns(&self) -> &[FileColumn] {
        &self.columns
    }

    fn definition(&self) -> ColumnResult<Option<ArrayDefinition>> {
        Ok(None)
    }

    fn new_array(&self, builder: SchemaBuilder, dimensions: Vec<Dimension>) -> ColumnResult<ArrayDefinition> {
        let builder = dimensions.into_iter().fold(builder, SchemaBuilder::dimension);
        let v = Attribute::new("v", Datatype::StringUtf8).with_cell_val_num(CellValNum::Var).nullable(false);
        Ok(ArrayDefinition::new(builder.attribute(v).build().unwrap()).unwrap())
    }

    fn walk(
        &self,
        _: &ArrayDefinition,
        fields: &[String],
        each: &mut dyn FnMut(ColumnBatch<'_>) -> ColumnResult<()>,
    ) -> ColumnResult<()> {
        for (file, path) in self.import.paths.iter().enumerate() {
            let text = std::fs::read_to_string(path).map_err(Failure::from)?;
            let lines: Vec<&str> = text.lines().collect();
            for (batch, lines) in lines.chunks(ROWS).enumerate() {
                let (mut k, mut v, mut rejected) = (Vec::new(), Vec::new(), Vec::new());
                for (row, line) in lines.iter().enumerate() {
                    let (number, text) = line.split_once(' ').unwrap();
                    match number.parse::<i64>() {
                        Ok(number) => {
                            k.push(number);
                            v.push((text != "-").then_some(text));
                        }
                        Err(error) => rejected.push((row, format!("k: {error}"))),
                    }
                }
                if lines.iter().any(|line| line.ends_with("lie")) {
                    v.pop();
                }
                let mut cells = WriteBatch::new();
                for field in fields {
                    cells = match field.as_str() {
                        "k" => cells.with("k", &k),
                        _ => cells.with("v", WriteColumn::optional_strings(v.iter().copied())),
                    };
                }
                each(ColumnBatch { file, first: (batch * ROWS) as u64, rows: lines.len(), cells, rejected })?;
            }
        }
        Ok(())
    }

    fn progress(&self) -> (u64, u64) {
        (1, 0)
    }
}

fn run(arguments: &[&str]) -> Run {
    let output = Command::new(env::current_exe().unwrap()).args(arguments).env(PROGRAM, "1").output().unwrap();
    Run::of(&arguments.join(" "), output)
}

fn told(arguments: &[&str]) -> String {
    run(arguments).exits(0).stdout
}

const ARRAY: &str = "fixture://v22-by-2.30.0-sparse-2d";

fn arrays_are_opened_by_uris() {
    assert!(told(&["read", ARRAY, "--format", "csv"]).lines().count() > 10);
    assert!(told(&["schema", ARRAY]).contains("sparse"));
    // A program with extensions must not suggest to install a fuller program.
    let other = run(&["read", "s3://bucket/array"]).exits(4);
    assert!(!other.stderr.contains("cargo install"), "{other}");
}

/// All commands except for those that move complete folders.
fn commands_work_on_uris() {
    let folder = tempfile::tempdir().unwrap();
    let local = folder.path().to_str().unwrap();
    let uri = |name: &str| format!("folder://{local}/{name}");
    let (csv, schema) = (folder.path().join("rows.csv"), folder.path().join("schema.toml"));
    std::fs::write(&csv, "x,a\n1,2\n5,6\n").unwrap();

    told(&["group", "create", &uri("group")]);
    told(&["import", &uri("group/array"), csv.to_str().unwrap(), "--dimensions", "x"]);
    std::fs::write(&csv, "x,a\n3,4\n").unwrap();
    told(&["import", &uri("group/array"), csv.to_str().unwrap()]);
    std::fs::write(&schema, told(&["schema", &uri("group/array"), "--format", "toml"])).unwrap();
    told(&["create", &uri("group/other"), "--schema", schema.to_str().unwrap()]);
    run(&["create", &uri("group/other"), "--schema", schema.to_str().unwrap()]).exits(2);
    told(&["group", "add", &uri("group"), "array"]);
    told(&["group", "add", &uri("group"), "other"]);
    told(&["meta", &uri("group"), "--put", "title=string_utf8:Rain"]);

    let array = uri("group/array");
    let (of_array, of_group) = (told(&[&array]), told(&["info", &uri("group")]));
    assert!(of_array.contains("sparse") && of_group.contains("group"), "{of_array}{of_group}");
    assert!(told(&["meta", &uri("group"), "--format", "csv"]).contains("Rain"));
    assert_eq!(told(&["tree", &uri("group"), "--format", "csv"]).lines().count(), 4);
    let listed = told(&["ls", &uri(""), "--recursive", "--format", "csv"]);
    assert_eq!(
        listed,
        "kind,size,path\ngroup,,group\nfolder,,group/__group\n".to_owned() + &listed[listed.find("file,").unwrap()..]
    );
    for line in ["array,,group/array", "array,,group/other", "rows.csv"] {
        assert!(listed.contains(line), "{listed}");
    }
    assert_eq!(told(&["fragments", &array, "--format", "csv"]).lines().count(), 3);
    told(&["verify", &uri("group")]);
    told(&["consolidate", &array]);
    told(&["vacuum", &array]);
    told(&["consolidate", &uri("group"), "--what", "metadata"]);
    assert_eq!(told(&["fragments", &array, "--format", "csv"]).lines().count(), 2);
    told(&["advise", &array]);
    assert!(told(&["report", &array]).contains("<svg"));
    told(&["doctor", &array]);
    told(&["diff", &array, &array]);
    assert_eq!(told(&["read", &array, "--format", "csv", "--order", "row-major"]), "x,a\n1,2\n3,4\n5,6\n");
    is_relocated(&array, &uri);
    run(&["info", &uri("nothing")]).exits(5);
}

/// Copies, moves, migrates and removes an array at a URI of an added scheme, and inspects its
/// files.
fn is_relocated(array: &str, uri: &impl Fn(&str) -> String) {
    let cells = |array: &str| told(&["read", array, "--format", "csv", "--order", "row-major"]);
    let expected = cells(array);
    told(&["copy", array, &uri("copy")]);
    told(&["move", &uri("copy"), &uri("moved")]);
    run(&["info", &uri("copy")]).exits(5);
    told(&["migrate", array, "--flatten", "--out", &uri("flat")]);
    let folder = tempfile::tempdir().unwrap();
    let local = folder.path().join("local");
    told(&["copy", &uri("flat"), local.to_str().unwrap()]);
    for copy in [&uri("moved"), &uri("flat"), local.to_str().unwrap()] {
        assert_eq!(cells(copy), expected, "{copy}");
    }
    let only = |folder: &str| {
        let names = std::fs::read_dir(local.join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter_map(|name| name.into_string().ok()).find(|name| name != "__enumerations").unwrap()
    };
    let (fragment, schema) = (format!("__fragments/{}", only("__fragments")), format!("__schema/{}", only("__schema")));
    for (file, kind) in [
        (format!("{fragment}/__fragment_metadata.tdb"), "fragment metadata"),
        (format!("{fragment}/a0.tdb"), "data file"),
        (schema, "array schema"),
    ] {
        let file = format!("{}/{file}", uri("flat"));
        let shown = told(&["inspect", &file]);
        assert!(shown.contains(kind) && shown.contains(&file) && !shown.contains("cannot use the metadata"), "{shown}");
    }
    told(&["remove", &uri("moved"), "--yes"]);
    run(&["info", &uri("moved")]).exits(5);
    run(&["migrate", array, "--flatten"]).exits(4).says("--out");
    run(&["inspect", array]).exits(5);
}

fn commands_are_added() {
    let lines = told(&["read", ARRAY, "--format", "csv"]).lines().count() - 1;
    assert_eq!(told(&["count", ARRAY]).trim().parse(), Ok(lines));
    assert!(told(&["--help"]).contains("Count cells") && told(&["completions", "bash"]).contains("count"));
    run(&["count"]).exits(2);
}

fn files_are_added() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cells.count");
    told(&["export", ARRAY, file.to_str().unwrap(), "--option", "unit=rows"]);
    let lines = told(&["read", ARRAY, "--format", "csv"]).lines().count() - 1;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("{lines} rows\n"));
}

/// Imports these texts as files of pairs.
fn import(texts: &[&str], more: &[&str]) -> (tempfile::TempDir, Run) {
    let folder = tempfile::tempdir().unwrap();
    for (index, text) in texts.iter().enumerate() {
        std::fs::write(folder.path().join(format!("{index}.pairs")), text).unwrap();
    }
    std::fs::write(folder.path().join("_done"), "").unwrap();
    let array = folder.path().join("array");
    let run = run(&[&["import", array.to_str().unwrap(), folder.path().to_str().unwrap()], more].concat());
    (folder, run)
}

fn cells(folder: &tempfile::TempDir) -> String {
    told(&["read", folder.path().join("array").to_str().unwrap(), "--format", "csv", "--order", "row-major"])
}

fn columns_are_imported() {
    let new = ["--dimensions", "k"];
    let (folder, run) = import(&["5 a\n-7 -\n1000 c\n3 dd\n", "2 e\n"], &new);
    run.exits(0);
    assert_eq!(cells(&folder), "k,v\n-7,\n2,e\n3,dd\n5,a\n1000,c\n");
    let schema = told(&["schema", folder.path().join("array").to_str().unwrap(), "--format", "toml"]);
    assert!(schema.contains("tile_extent = 11"), "{schema}");

    // Rejected rows are reported by position. The count continues across batches and restarts with
    // each file.
    let texts = ["5 a\n6 b\nx c\n8 d\n9 e\n10 f\ny g\n", "1 h\nz i\n5 j\n"];
    let (folder, run) = import(&texts, &new);
    let places = ["0.pairs, row 3: k: ", "0.pairs, row 7: k: ", "1.pairs, row 2: k: ", "3 of 10 rows"];
    places.into_iter().fold(run.exits(1), Run::says);
    assert!(!folder.path().join("array").exists());
    let (_folder, run) = import(&texts, &["--dimensions", "k", "--skip-rejects"]);
    run.says("1.pairs, row 3: repeats the coordinates of ").says("0.pairs, row 1");
    let (folder, run) = import(&texts, &["--dimensions", "k", "--skip-rejects", "--keep-last", "--budget", "1"]);
    run.exits(1);
    assert_eq!(cells(&folder), "k,v\n1,h\n5,j\n6,b\n8,d\n9,e\n10,f\n");
    let (folder, run) = import(&texts, &["--dimensions", "k", "--skip-rejects", "--allow-duplicates"]);
    run.exits(1);
    assert_eq!(cells(&folder).lines().count(), 8);

    // An existing array with a narrower domain and non-nullable cells.
    let schema = "format_version = 22\narray_type = \"dense\"\n[[dimension]]\nname = \"k\"\ndatatype = \"int64\"\n\
         domain = [1, 9]\ntile_extent = 3\n[[attribute]]\nname = \"v\"\ndatatype = \"string_utf8\"\n\
         values_per_cell = \"var\"\n";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("schema.toml");
    std::fs::write(&file, schema).unwrap();
    let dense = ["--schema", file.to_str().unwrap(), "--budget", "40"];
    let (_folder, run) = import(&["1 a\n10 b\n2 -\n"], &dense);
    run.says("row 2: k: 10 is outside of the domain 1..9").says("row 3: v: null, but the field is not nullable");
    let (folder, run) = import(&["2 a\n3 b\n4 c\n5 d\n6 e\n", "7 f\n8 g\n"], &dense);
    assert!(run.code == Some(0) && !run.stderr.contains("in 1 fragment"), "{run}");
    assert_eq!(cells(&folder).replace('\0', "no"), "k,v\n1,no\n2,a\n3,b\n4,c\n5,d\n6,e\n7,f\n8,g\n9,no\n");
}

fn columns_of_the_wrong_length_are_rejected() {
    let (folder, run) = import(&["1 a\n2 lie\n"], &["--dimensions", "k"]);
    run.exits(3).says("column \"v\": expected 2 cells");
    assert!(!folder.path().join("array").exists());
    import(&["1 a\n"], &["--dimensions", "w"]).1.says("the columns are k, v");
    import(&["1 a\n"], &[]).1.says("pass some of the columns k, v with --dimensions");
}
