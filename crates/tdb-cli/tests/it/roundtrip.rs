//! Tests that `tdb import` reads the files of `tdb export` as the same cells, bit for bit.

use crate::every_type::{Cells, Field, check, create, fields};
use crate::support::good_on as run;
use tdb_testkit::hostile::SplitMix64;
use tdb_types::CellValNum;

/// NaT is exported as null, and stays null in a nullable field.
fn copied(field: &Field) -> Cells {
    let is_one = field.attribute.cell_val_num() == CellValNum::ONE && field.attribute.is_nullable();
    let no_time = i64::MIN.to_le_bytes();
    let is_no_time = |cell: &Vec<u8>| match &field.enumeration {
        Some(values) => values.datatype().is_datetime() && values.value(cell[0].into()) == Some(&no_time),
        None => field.attribute.datatype().is_datetime() && *cell == no_time,
    };
    field.cells.iter().map(|cell| cell.clone().filter(|cell| !is_one || !is_no_time(cell))).collect()
}

#[test]
fn exported_cells_of_every_type_import_unchanged() {
    for seed in 0..2 {
        let folder = tempfile::tempdir().unwrap();
        let array = folder.path().join("array");
        let fields = fields(&mut SplitMix64::new(seed));
        create(&array, &fields, seed == 1);
        let expected: Vec<Cells> = fields.iter().map(copied).collect();
        let schema = folder.path().join("schema.toml");
        std::fs::write(&schema, run(&["schema", "@", "--format", "toml"], &[&array])).unwrap();
        for format in ["csv", "json", "jsonl"] {
            let (file, copy) = (folder.path().join(format!("cells.{format}")), folder.path().join(format));
            run(&["export", "@", "@"], &[&array, &file]);
            run(&["import", "@", "@", "--schema", "@"], &[&copy, &file, &schema]);
            check(&copy, &expected);
        }
        // With a marker of nulls that is also the text of a cell.
        let (file, copy) = (folder.path().join("marked.csv"), folder.path().join("marked"));
        run(&["export", "@", "@", "--option", "null=NA"], &[&array, &file]);
        run(&["import", "@", "@", "--schema", "@", "--null", "NA"], &[&copy, &file, &schema]);
        check(&copy, &expected);
    }
}
