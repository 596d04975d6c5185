//! Compares with tiledb-py, which uses the reference library, and with pyarrow.

use std::process::Command;

use arrow_array::{RecordBatch, RecordBatchReader as _};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use tdb_arrow::tdb_array::Order;
use tdb_arrow::{ArrowOptions, Reader};

use crate::support::{every_array, open};

/// Writes each fixture as an Arrow IPC file. A script compares the file with `return_arrow=True` of
/// tiledb-py, and writes a copy with pyarrow. The copy has to equal the original.
#[test]
#[ignore = "needs TDB_PYTHON, a Python with pyarrow, tiledb and pandas below 3"]
fn cells_equal_arrow_output_of_tiledb_py() {
    let python = std::env::var("TDB_PYTHON").expect("TDB_PYTHON: a Python with pyarrow, tiledb and pandas below 3");
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for fixture in every_array() {
        let array = open(&fixture);
        let Some(ends) = array.non_empty_coordinates().unwrap() else { continue };
        let names: Vec<String> =
            array.schema().fields().map(|field| array.schema().field_name(field).unwrap().to_owned()).collect();
        let dimensions = array.schema().dimensions().iter().zip(&ends);
        let query = dimensions.fold(array.read().select(&names).unwrap(), |query, (dimension, ends)| {
            query.range(dimension.name(), ends.clone()).unwrap()
        });
        // Fixtures with random bits contain dates beyond Arrow's range and invalid UTF-8.
        let options = ArrowOptions::new().without_definition();
        let read = |options: &ArrowOptions| {
            let reader = Reader::new(query.clone().order(Order::RowMajor), options).unwrap();
            let schema = reader.schema();
            reader.collect::<Result<Vec<_>, _>>().map(|batches| (schema, batches))
        };
        let (schema, batches) =
            read(&options).or_else(|_| read(&options.other_dates_as_integers().strings_as_binary())).unwrap();
        let place = folder.path().join(fixture.name());
        fixture.unpack_into(&place);
        let mut writer =
            FileWriter::try_new(std::fs::File::create(place.join("ours.arrow")).unwrap(), &schema).unwrap();
        batches.iter().for_each(|batch| writer.write(batch).unwrap());
        writer.finish().unwrap();
        files.push((place.join("back.arrow"), schema, batches));
    }
    assert!(files.len() > 300, "{}", files.len());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/arrow/compare.py");
    let status = Command::new(python).arg(script).arg(folder.path()).status().unwrap();
    assert!(status.success());
    let mut back = 0;
    for (file, schema, batches) in files {
        // The script skips arrays misread by this release of the reference library.
        let Ok(opened) = std::fs::File::open(&file) else { continue };
        let reader = FileReader::try_new(opened, None).unwrap();
        assert_eq!(reader.schema(), schema, "{}", file.display());
        let found: Vec<RecordBatch> = reader.collect::<Result<_, _>>().unwrap();
        assert!(found == batches, "{}", file.display());
        back += 1;
    }
    assert!(back > 300, "{back}");
}
