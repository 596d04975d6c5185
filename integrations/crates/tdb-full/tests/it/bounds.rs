//! Edge cases of imports: more rows than a batch part, wrong sizes, duplicate names.

use std::fs::{self, File};
use std::sync::Arc;

use crate::command::{path, told, write};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int64Array, RecordBatch};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use tdb_arrow::arrow_schema::{DataType, Field, Schema};

/// Creates a batch of integer columns.
fn batch(columns: &[(&str, Vec<Option<i64>>)]) -> RecordBatch {
    let fields: Vec<Field> = columns.iter().map(|(name, _)| Field::new(*name, DataType::Int64, true)).collect();
    let columns = columns.iter().map(|(_, values)| Arc::new(Int64Array::from(values.clone())) as ArrayRef);
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.collect()).unwrap()
}

/// Returns incompressible numbers.
fn noise(rows: i64) -> Vec<Option<i64>> {
    (0..rows).map(|row| Some(row.wrapping_mul(0x1e37_79b9_7f4a_7c15))).collect()
}

#[test]
fn row_numbers_continue_across_batch_parts() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.arrow");
    let places = (0..70_000).map(|row| (row != 69_998).then_some(row)).collect();
    write(&file, &[batch(&[("pos", places), ("x", noise(70_000))])]);
    let array = folder.path().join("array");
    let said = told(&["import", path(&array), path(&file), "--dimensions", "pos"], 1);
    assert!(said.contains("rows.arrow, row 69999: pos: null"), "{said}");
}

#[test]
fn row_groups_take_half_of_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    let (file, array) = (folder.path().join("in.parquet"), folder.path().join("array"));
    write(&file, &[batch(&[("pos", (0..200_000).map(Some).collect()), ("x", noise(200_000))])]);
    told(&["import", path(&array), path(&file), "--dimensions", "pos"], 0);
    for (budget, several) in [("1MiB", true), ("256MiB", false)] {
        let out = folder.path().join(format!("{budget}.parquet"));
        told(&["export", path(&array), path(&out), "--budget", budget], 0);
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(out).unwrap()).unwrap();
        assert_eq!(reader.metadata().num_row_groups() > 1, several, "{budget}");
        assert_eq!(reader.metadata().file_metadata().num_rows(), 200_000);
    }
}

#[test]
fn batch_with_too_large_uncompressed_size_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (file, array) = (folder.path().join("packed.arrow"), folder.path().join("array"));
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME)).unwrap();
    let cells = batch(&[("pos", (0..10_000).map(Some).collect()), ("x", vec![Some(0); 10_000])]);
    let mut writer = FileWriter::try_new_with_options(File::create(&file).unwrap(), &cells.schema(), options).unwrap();
    writer.write(&cells).unwrap();
    writer.finish().unwrap();
    told(&["import", path(&array), path(&file), "--dimensions", "pos", "--dry-run"], 0);
    let mut bytes = fs::read(&file).unwrap();
    // The size, and the magic number of an LZ4 frame.
    let begin = [&80_000_u64.to_le_bytes()[..], &[0x04, 0x22, 0x4d, 0x18]].concat();
    let at = bytes.windows(begin.len()).position(|window| window == begin).unwrap();
    bytes[at..at + 8].copy_from_slice(&(1_u64 << 33).to_le_bytes());
    fs::write(&file, &bytes).unwrap();
    let said = told(&["import", path(&array), path(&file), "--dimensions", "pos", "--dry-run"], 3);
    assert!(said.contains("expected at most 4294967296 uncompressed bytes"), "{said}");
}

#[test]
fn column_names_are_unique_and_equal_in_all_files() {
    let folder = tempfile::tempdir().unwrap();
    let array = folder.path().join("array");
    let twice = batch(&[("pos", vec![Some(1)]), ("x", vec![Some(2)]), ("x", vec![Some(3)])]);
    let (parquet, arrow) = (folder.path().join("twice.parquet"), folder.path().join("twice.arrow"));
    write(&parquet, std::slice::from_ref(&twice));
    write(&arrow, &[twice]);
    for file in [&parquet, &arrow] {
        let said = told(&["import", path(&array), path(file), "--dimensions", "pos"], 2);
        assert!(said.contains("two columns are named \"x\""), "{said}");
    }
    let (both, one) = (folder.path().join("both.parquet"), folder.path().join("one.parquet"));
    write(&both, &[batch(&[("pos", vec![Some(1)]), ("x", vec![Some(2)])])]);
    write(&one, &[batch(&[("pos", vec![Some(2)])])]);
    let said = told(&["import", path(&array), path(&both), path(&one), "--dimensions", "pos"], 2);
    assert!(said.contains("one.parquet: lacks column \"x\", unlike "), "{said}");
    let said = told(&["import", path(&array), path(&one), path(&both), "--dimensions", "pos"], 2);
    assert!(said.contains("both.parquet: has an additional column \"x\", unlike "), "{said}");
    assert!(!array.exists());
}

#[test]
fn dictionaries_of_a_stream_may_change() {
    let folder = tempfile::tempdir().unwrap();
    let (file, array) = (folder.path().join("kinds.arrows"), folder.path().join("array"));
    let part = |from: i64, kinds: [&str; 2]| {
        let places: ArrayRef = Arc::new(Int64Array::from(vec![from, from + 1]));
        let kinds: ArrayRef = Arc::new(DictionaryArray::<Int32Type>::from_iter(kinds));
        RecordBatch::try_from_iter([("pos", places), ("kind", kinds)]).unwrap()
    };
    let parts = [part(0, ["a", "b"]), part(2, ["c", "a"])];
    write(&file, &parts);
    told(&["import", path(&array), path(&file), "--dimensions", "pos"], 0);
    let cells = told(&["read", path(&array), "--format", "csv"], 0);
    assert_eq!(cells, "pos,kind\n0,a\n1,b\n2,c\n3,a\n");
}
