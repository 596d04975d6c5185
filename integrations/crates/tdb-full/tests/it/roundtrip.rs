//! Round trips of cells of every type through Parquet and Arrow, compared bit for bit.

#[path = "../../../../../crates/tdb-cli/tests/it/every_type/mod.rs"]
mod every_type;

use crate::command::{path, stdout as run, tdb, text};
use every_type::{Cells, Field, ROWS, check, create, fields};
use tdb_array::tdb_schema::{Attribute, Enumeration};
use tdb_array::tdb_types::{CellValNum, Datatype};
use tdb_testkit::hostile::SplitMix64;

const ENDINGS: [&str; 3] = ["parquet", "arrow", "arrows"];
const NO_TIME: i64 = i64::MIN;

/// Returns the minimum and maximum of a date or time in a file. Exports reject other values. `None`
/// if every value fits.
fn held(datatype: Datatype, ending: &str) -> Option<(i64, i64)> {
    // Parquet stores milliseconds for seconds.
    let per_second = if ending == "parquet" { 1000 } else { 1 };
    let (days, times) = ((i32::MIN.into(), i32::MAX.into()), (i64::from(i32::MIN), i64::from(i32::MAX)));
    let within = |(first, last): (i64, i64), each: i64| Some((first / each, last / each));
    match datatype {
        // The first day has to fit 32 bits: -5877641-06-24 to 5881580-07-11.
        Datatype::DatetimeYear => Some((-5_879_610, 5_879_610)),
        Datatype::DatetimeMonth => Some((-70_555_326, 70_555_326)),
        Datatype::DatetimeWeek => within(days, 7),
        Datatype::DatetimeDay => Some(days),
        Datatype::DatetimeHr => within((i64::MIN, i64::MAX), 3600 * per_second),
        Datatype::DatetimeMin => within((i64::MIN, i64::MAX), 60 * per_second),
        Datatype::DatetimeSec if per_second > 1 => within((i64::MIN, i64::MAX), per_second),
        Datatype::TimeHr => within(times, 3600 * per_second),
        Datatype::TimeMin => within(times, 60 * per_second),
        Datatype::TimeSec => within(times, per_second),
        Datatype::TimeMs => Some(times),
        _ => None,
    }
}

/// Clamps dates and times, except NaT.
fn clamp(cell: &mut [u8], first: i64, last: i64) {
    for value in cell.as_chunks_mut::<8>().0 {
        let number = i64::from_le_bytes(*value);
        let number = if number == NO_TIME { number } else { number.clamp(first, last) };
        *value = number.to_le_bytes();
    }
}

/// Clamps dates and times to the range of the file, makes strings UTF-8 unless the export writes
/// binary, and gives NaNs a payload.
fn holdable(mut fields: Vec<Field>, ending: &str, is_binary: bool) -> Vec<Field> {
    for field in &mut fields {
        let datatype = field.attribute.datatype();
        if let Some(values) = &field.enumeration
            && values.cell_val_num() == CellValNum::ONE
            && let Some((first, last)) = held(values.datatype(), ending)
        {
            let mut data = values.data().to_vec();
            clamp(&mut data, first, last);
            field.enumeration = Some(Enumeration::fixed(values.name(), "", values.datatype(), data).unwrap());
        }
        for cell in field.cells.iter_mut().flatten() {
            if let Some((first, last)) = held(datatype, ending) {
                clamp(cell, first, last);
            }
            match datatype {
                Datatype::Float32 => cell.as_chunks_mut::<4>().0.iter_mut().for_each(|value| {
                    if f32::from_le_bytes(*value).is_nan() {
                        *value = 0xffc1_2345_u32.to_le_bytes();
                    }
                }),
                Datatype::Float64 => cell.as_chunks_mut::<8>().0.iter_mut().for_each(|value| {
                    if f64::from_le_bytes(*value).is_nan() {
                        *value = 0x7ff8_dead_beef_0001_u64.to_le_bytes();
                    }
                }),
                Datatype::StringAscii | Datatype::StringUtf8 | Datatype::GeomWkt
                    if !is_binary && field.attribute.cell_val_num().is_var() =>
                {
                    *cell = String::from_utf8_lossy(cell).into_owned().into_bytes();
                }
                _ => {}
            }
        }
    }
    fields
}

fn is_time(datatype: Datatype) -> bool {
    datatype.is_datetime() || datatype.is_time()
}

/// Returns the expected cells after a round trip: the same cells, with these exceptions.
///
/// - NaT of a nullable field becomes null, unless in a list.
/// - A position outside of the enumeration, or of NaT, becomes null. Without validity, it becomes
///   the position of NaT. If the enumeration lacks NaT, Parquet returns the fill value, and Arrow
///   files keep the position.
/// - Booleans other than 0 become 1.
fn comes_back(field: &Field, ending: &str) -> Cells {
    let (datatype, nullable) = (field.attribute.datatype(), field.attribute.is_nullable());
    let cell = |cell: Vec<u8>| -> Option<Vec<u8>> {
        if let Some(values) = &field.enumeration {
            let has_no_time = is_time(values.datatype()) && values.cell_val_num() == CellValNum::ONE;
            let no_time = values.index_of(&NO_TIME.to_le_bytes()).filter(|_| has_no_time);
            let position = usize::from(cell[0]);
            return match values.value(position) {
                Some(_) if no_time != Some(position) => Some(cell),
                _ if nullable => None,
                // Keys in Arrow files are the positions, even for nulls. Booleans have no keys.
                None if ending != "parquet" && no_time.is_none() && values.data().iter().any(|byte| *byte > 1) => {
                    Some(cell)
                }
                _ => Some(vec![no_time.map_or(u8::MAX, |position| position as u8)]),
            };
        }
        let is_null = is_time(datatype) && field.attribute.cell_val_num() == CellValNum::ONE && nullable;
        match datatype {
            _ if is_null && cell == NO_TIME.to_le_bytes() => None,
            Datatype::Bool => Some(cell.iter().map(|byte| u8::from(*byte != 0)).collect()),
            _ => Some(cell),
        }
    };
    field.cells.iter().map(|one| one.clone().and_then(cell)).collect()
}

#[test]
fn exported_cells_of_every_type_import_unchanged() {
    for (seed, ending) in ENDINGS.into_iter().enumerate().flat_map(|(at, ending)| [(at, ending), (at + 10, ending)]) {
        let (is_dense, is_binary) = (seed >= 10, seed % 2 == 0);
        let folder = tempfile::tempdir().unwrap();
        let (array, copy) = (folder.path().join("array"), folder.path().join("copy"));
        let file = folder.path().join(format!("cells.{ending}"));
        let fields = holdable(fields(&mut SplitMix64::new(seed as u64)), ending, is_binary);
        create(&array, &fields, is_dense);
        let strings = if is_binary { "strings=binary" } else { "strings=text" };
        run(&["export", path(&array), path(&file), "--option", strings]);
        run(&["import", path(&copy), path(&file)]);
        check(&copy, &fields.iter().map(|field| comes_back(field, ending)).collect::<Vec<_>>());
    }
}

/// Tests the values next to the minimum and the maximum.
#[test]
fn dates_beyond_the_file_type_are_refused_by_field_and_cell() {
    for datatype in Datatype::ALL {
        for ending in ENDINGS {
            let Some((first, last)) = held(*datatype, ending) else { continue };
            let before = first.checked_sub(1).filter(|before| *before != NO_TIME);
            for value in [before, last.checked_add(1)].into_iter().flatten() {
                let folder = tempfile::tempdir().unwrap();
                let (array, file) = (folder.path().join("array"), folder.path().join(format!("cells.{ending}")));
                let mut cells: Cells = vec![Some(vec![0; 8]); ROWS];
                cells[3] = Some(value.to_le_bytes().into());
                create(&array, &[Field { attribute: Attribute::new("a", *datatype), cells, enumeration: None }], false);
                let refused = tdb(&["export", path(&array), path(&file)]);
                let said = text(&refused.stderr);
                assert_eq!(refused.status.code(), Some(4), "{datatype} {value} {ending}: {said}");
                assert!(said.contains("cell 3, field \"a\"") && said.contains("export .csv or .jsonl"), "{said}");
                // The hint works.
                let (csv, copy) = (folder.path().join("cells.csv"), folder.path().join("copy"));
                run(&["export", path(&array), path(&csv)]);
                let schema = folder.path().join("schema.toml");
                std::fs::write(&schema, tdb(&["schema", path(&array), "--format", "toml"]).stdout).unwrap();
                run(&["import", path(&copy), path(&csv), "--schema", path(&schema)]);
                run(&["diff", path(&array), path(&copy)]);
            }
        }
    }
}
