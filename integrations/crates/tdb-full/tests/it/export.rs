//! Exports to Parquet and Arrow files.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use crate::command::{tdb, text};
use arrow_array::cast::AsArray;
use arrow_array::{RecordBatch, RecordBatchReader as _};
use arrow_select::concat::concat_batches;
use arrow_select::take::take;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use tdb_arrow::arrow_schema::{DataType, Schema};
use tdb_arrow::tdb_array::Array;
use tdb_arrow::tdb_array::tdb_schema::FieldRef;
use tdb_arrow::{ArrowOptions, Reader};
use tdb_testkit::fixtures::{self, Fixture};

/// Reads a file as one batch.
fn cells_in(path: &Path) -> RecordBatch {
    let file = File::open(path).unwrap();
    let (schema, batches): (_, Vec<RecordBatch>) = match path.extension().unwrap().to_str().unwrap() {
        "parquet" => {
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
            // Batches lack the metadata of the file.
            let schema = reader.schema().clone();
            let batches = reader.build().unwrap().map(Result::unwrap);
            (schema.clone(), batches.map(|batch| batch.with_schema(schema.clone()).unwrap()).collect())
        }
        "arrows" => {
            let reader = arrow_ipc::reader::StreamReader::try_new(file, None).unwrap();
            (reader.schema(), reader.map(Result::unwrap).collect())
        }
        _ => {
            let reader = arrow_ipc::reader::FileReader::try_new(file, None).unwrap();
            (reader.schema(), reader.map(Result::unwrap).collect())
        }
    };
    concat_batches(&schema, &batches).unwrap()
}

/// Reads all dimensions and attributes with tdb-arrow.
fn told(array: &Array, options: &ArrowOptions) -> Result<RecordBatch, tdb_arrow::Error> {
    let schema = array.schema();
    let dimensions = (0..schema.dimensions().len()).map(FieldRef::Dimension);
    let fields = dimensions.chain((0..schema.attributes().len()).map(FieldRef::Attribute));
    let query = array.read().select(fields.map(|field| schema.field_name(field).unwrap()))?;
    let reader = Reader::new(query, options)?;
    let schema = reader.schema();
    Ok(concat_batches(&schema, &reader.collect::<Result<Vec<_>, _>>()?)?)
}

/// Replaces dictionaries of fixed-size binary by plain values, because readers reject such
/// dictionaries in Parquet files.
fn without_fixed_dictionaries(batch: &RecordBatch) -> RecordBatch {
    let mut columns = Vec::new();
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let (field, column) = match (field.data_type(), column.as_any_dictionary_opt()) {
            (DataType::Dictionary(_, values), Some(dictionary)) if matches!(**values, DataType::FixedSizeBinary(_)) => {
                let plain = take(dictionary.values(), dictionary.keys(), None).unwrap();
                (Arc::new(field.as_ref().clone().with_data_type((**values).clone())), plain)
            }
            _ => (field.clone(), column.clone()),
        };
        columns.push((field, column));
    }
    let (fields, columns): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let schema = Schema::new_with_metadata(fields, batch.schema().metadata().clone());
    RecordBatch::try_new(Arc::new(schema), columns).unwrap()
}

/// Returns unencrypted arrays of the newest format. Dense arrays only with a small domain.
pub(crate) fn small_arrays() -> impl Iterator<Item = Fixture> {
    fixtures::all().into_iter().filter(|fixture| {
        if !fixture.name().starts_with("v22-") || fixture.expected().key().is_some() {
            return false;
        }
        let array = Array::open(fixture.array_dir()).unwrap();
        let lengths = array.schema().dimensions().iter().map(|dimension| {
            let (low, high) = dimension.domain_keys().unwrap_or((0, u64::MAX));
            u128::from(high - low) + 1
        });
        !array.schema().is_dense() || lengths.product::<u128>() < 100_000
    })
}

#[test]
fn exported_files_contain_the_cells() {
    let folder = tempfile::tempdir().unwrap();
    let (mut same, mut refused) = (0, 0);
    for fixture in small_arrays() {
        let array = Array::open(fixture.array_dir()).unwrap();
        let place = fixture.array_dir();
        for (ending, options) in [
            ("parquet", ArrowOptions::new().milliseconds_for_seconds()),
            ("arrow", ArrowOptions::new()),
            ("arrows", ArrowOptions::new()),
        ] {
            let path = folder.path().join(format!("{}.{ending}", fixture.name()));
            let run = tdb(&["export", place.to_str().unwrap(), path.to_str().unwrap(), "--all"]);
            match told(&array, &options) {
                Ok(expected) => {
                    let expected = if ending == "parquet" { without_fixed_dictionaries(&expected) } else { expected };
                    assert!(run.status.success(), "{}: {}", path.display(), text(&run.stderr));
                    let found = cells_in(&path);
                    assert_eq!(found.schema(), expected.schema(), "{}", path.display());
                    assert!(found == expected, "{}", path.display());
                    same += 1;
                }
                Err(error) => {
                    assert_eq!(run.status.code(), Some(4), "{error}: {}", text(&run.stderr));
                    assert!(text(&run.stderr).contains("field") && !path.exists(), "{}", text(&run.stderr));
                    refused += 1;
                }
            }
        }
    }
    assert!(same > 60 && refused > 0 && refused < same / 10, "{same} {refused}");
}

#[test]
fn export_options_apply() {
    let fixture = fixtures::named("v22-by-2.30.0-sparse-2d");
    let array = fixture.array_dir().to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let export = |name: &str, more: &[&str]| {
        let path = folder.path().join(name);
        let run = tdb(&[&["export", array, path.to_str().unwrap()], more].concat());
        assert!(run.status.success(), "{more:?}: {}", text(&run.stderr));
        path
    };
    let some = ["--select", "x,s", "--where", "x > 20", "--stats"];
    let cells = cells_in(&export("cells.arrow", &some));
    assert!(cells.schema().metadata().contains_key("tdb.schema"));
    let csv = tdb(&["read", array, "--select", "x,s", "--where", "x > 20", "--format", "csv"]);
    assert_eq!(text(&csv.stdout).lines().count(), cells.num_rows() + 1);
    assert!(cells.num_rows() > 0);
    for codec in ["none", "snappy", "gzip", "lz4", "zstd"] {
        let option = format!("compression={codec}");
        let path = export(&format!("{codec}.parquet"), &[&some[..], &["--option", &option]].concat());
        assert_eq!(cells_in(&path), cells, "{codec}");
    }
    for codec in ["none", "lz4", "zstd"] {
        let option = format!("compression={codec}");
        let path = export(&format!("{codec}.feather"), &[&some[..], &["--option", &option]].concat());
        assert_eq!(cells_in(&path), cells, "{codec}");
    }
    let few = export("few.parquet", &["--option", "row_group=2", "--option", "strings=binary"]);
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(few).unwrap()).unwrap();
    assert!(reader.metadata().row_groups().iter().all(|group| group.num_rows() <= 2));
    assert!(reader.schema().field_with_name("s").unwrap().data_type().is_binary());
}

#[test]
fn failed_export_neither_leaves_nor_overwrites_files() {
    let fixture = fixtures::named("v22-by-2.30.0-sparse-2d");
    let array = fixture.array_dir().to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    assert!(tdb(&["export", array, &path("a.parquet")]).status.success());
    for (arguments, code, says) in [
        (&["export", array, &path("a.parquet")][..], 5, "hint: choose another name"),
        (&["export", "no/such/array", &path("b.parquet")], 5, "not found"),
        (&["export", array, &path("b.parquet"), "--where", "x >"], 2, "--where"),
        (&["export", array, &path("b.parquet"), "--option", "compression=best"], 2, "snappy"),
        (&["export", array, &path("b.parquet"), "--option", "row_group=0"], 2, "row_group"),
        (&["export", array, &path("b.parquet"), "--option", "colour=red"], 2, "compression"),
        (&["export", array, &path("b.parquet"), "--option", "compression"], 2, "NAME=VALUE"),
        (&["export", array, &path("b.xlsx")], 2, ".parquet"),
    ] {
        let run = tdb(arguments);
        assert_eq!(run.status.code(), Some(code), "{arguments:?}: {}", text(&run.stderr));
        assert!(text(&run.stderr).contains(says), "{arguments:?}: {}", text(&run.stderr));
    }
    let names: Vec<_> = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["a.parquet"]);
}

#[test]
fn streams_go_to_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = fixtures::named("v22-by-2.30.0-sparse-2d");
    let array = fixture.array_dir().to_str().unwrap();
    for format in ["arrows", "arrow"] {
        let file = folder.path().join(format!("cells.{format}"));
        assert!(tdb(&["export", array, file.to_str().unwrap()]).status.success());
        let output = tdb(&["export", array, "-", "--format", format]);
        assert!(output.status.success() && output.stdout == std::fs::read(file).unwrap(), "{format}");
    }
    let output = tdb(&["export", array, "-", "--format", "parquet"]);
    assert!(output.status.success() && output.stdout.starts_with(b"PAR1") && output.stdout.ends_with(b"PAR1"));
    let output = tdb(&["export", array, "-", "--format", "zarr"]);
    assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{}", text(&output.stderr));
}

/// Exports many small batches.
#[cfg(target_os = "linux")]
#[test]
fn terminated_export_leaves_no_file() {
    use std::process::{Command, Stdio};

    use tdb_arrow::tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
    use tdb_arrow::tdb_array::tdb_types::Datatype;
    use tdb_arrow::tdb_array::{WriteBatch, WriteColumn};

    const CELLS: i64 = 2_000_000;
    let folder = tempfile::tempdir().unwrap();
    let array = folder.path().join("array");
    let x = Dimension::new("x", 0i64..=CELLS - 1).with_tile(1000);
    let schema = SchemaBuilder::dense().dimension(x).attribute(Attribute::new("a", Datatype::Int64)).build().unwrap();
    Array::create(&array, schema).unwrap();
    let values: Vec<i64> = (0..CELLS).collect();
    Array::open(&array).unwrap().write().cells(WriteBatch::new().with("a", WriteColumn::values(&values))).unwrap();
    let names = || -> Vec<String> {
        let names = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name != "array").collect()
    };
    for (ending, signal) in [("parquet", "-TERM"), ("arrow", "-HUP"), ("zarr", "-HUP"), ("zarr", "-INT")] {
        let file = folder.path().join(format!("cells.{ending}"));
        // Resets signals, because tests may run under nohup or in the background of a shell.
        let mut export = Command::new("env");
        let export = export
            .args(["--default-signal", env!("CARGO_BIN_EXE_tdb"), "export"])
            .args([&array, &file])
            .args(["--budget", "128KiB"])
            .stderr(Stdio::null());
        let mut child = export.spawn().unwrap();
        while names().is_empty() {
            assert!(
                child.try_wait().unwrap().is_none(),
                "{ending}: the export ended before its temporary file appeared"
            );
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        // The process may have exited before the second signal.
        let _ = Command::new("kill").args([signal, &child.id().to_string()]).stderr(Stdio::null()).status();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{ending}");
        assert_eq!(names(), [""; 0], "{ending}");
    }
}
