//! Sees whether a release can be driven on this machine.

use std::error::Error as StdError;

use tdb_types::Datatype::{Float64, Int32, StringAscii};
use tdb_types::Layout::{RowMajor, Unordered};

use super::{Error, Reference};
use crate::model::{ArraySpec, FilterSpec, QuerySpec, WriteSpec, attribute, column, dimension, nullable, var_column};

/// Writes a small array and reads it back; then has the library crash, and does the same again.
pub fn check(release: &str) -> Result<(), Box<dyn StdError>> {
    let mut reference = Reference::start(release)?;
    println!("loaded {}", reference.version()?);
    round_trip(&mut reference)?;
    println!("an array of numbers, nulls and strings comes back");
    match crash(&mut reference) {
        Err(Error::Crashed { .. }) => println!("a crash is noticed"),
        Err(error) => return Err(error.into()),
        Ok(()) => println!("this release doesn't crash where 2.30.0 does"),
    }
    round_trip(&mut reference)?;
    println!("and the next job gets a new process");
    Ok(())
}

fn round_trip(reference: &mut Reference) -> Result<(), Box<dyn StdError>> {
    let folder = tempfile::tempdir()?;
    let uri = folder.path().join("array").to_string_lossy().into_owned();
    let attributes = [attribute("a", Float64).nullable(), attribute("s", StringAscii).var()];
    reference.create(&uri, &ArraySpec::sparse([dimension("x", Int32, [1, 100_000], 100)], attributes))?;
    // Enough for several submissions of the read.
    let count = 90_000;
    let cells = vec![
        column("x", 1..=count),
        nullable(column("a", (1..=count).map(f64::from)), (1..=count).map(|cell| cell % 3 > 0)),
        var_column("s", (1..=count).map(|cell| "s".repeat(cell as usize % 20))),
    ];
    let spec = WriteSpec { layout: Unordered, subarray: None, timestamp: None, cells: cells.clone() };
    reference.write(&uri, &spec)?;
    let read = reference.read(&uri, &QuerySpec::all(RowMajor))?;
    let same = read.columns.iter().map(|read| &read.column).eq(&cells);
    if !same || read.submits < 2 {
        return Err(format!("the cells came back otherwise, in {} submissions", read.submits).into());
    }
    let timed = reference.time_reads(&uri, &QuerySpec::all(RowMajor), None, 2)?;
    let seconds: Vec<_> = timed.reads.iter().map(|read| read.seconds).collect();
    println!("{} bytes in {seconds:?} seconds, at most {} bytes of memory", timed.bytes, timed.peak_memory);
    Ok(())
}

/// Reducing the bit width of an empty tile divides by zero.
fn crash(reference: &mut Reference) -> super::Result<()> {
    let folder = tempfile::tempdir()?;
    let uri = folder.path().join("array").to_string_lossy().into_owned();
    let attributes = [attribute("v", Int32).var().filters([FilterSpec::BIT_WIDTH_REDUCTION])];
    reference.create(&uri, &ArraySpec::dense([dimension("x", Int32, [1, 2], 2)], attributes))?;
    let cells = vec![var_column("v", ["", ""])];
    reference.write(&uri, &WriteSpec { layout: RowMajor, subarray: None, timestamp: None, cells })
}
