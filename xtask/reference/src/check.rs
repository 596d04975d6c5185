//! Checks that releases run on this machine.

use std::error::Error as StdError;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tdb_types::Datatype::{Float64, Int32, StringAscii};
use tdb_types::Layout::{self, ColMajor, RowMajor, Unordered};

use super::{ABILITIES, Ability, Error, Job, NEWEST, RELEASES, Reference};
use crate::model::{
    ArraySpec, Cells, FilterSpec, QuerySpec, RangesSpec, WriteSpec, attribute, column, dimension, ends, nullable,
    var_column,
};

/// Checks every release.
pub fn check_all() -> Result<(), Box<dyn StdError>> {
    for release in RELEASES {
        check(release.library).map_err(|error| format!("release {}: {error}", release.library))?;
    }
    Ok(())
}

/// Checks a release. Writes small arrays and reads them with this release and the newest. Verifies
/// the table of abilities by the library's functions. Then crashes the library, and writes and
/// reads again.
pub fn check(release: &str) -> Result<(), Box<dyn StdError>> {
    let mut reference = Reference::start(release)?;
    let known = reference.release();
    let version = reference.version()?;
    println!("loaded {version}, which writes format {}", known.format);
    if version != release {
        return Err(format!("expected {release}, found {version}").into());
    }
    abilities(&mut reference)?;
    let mut newest = Reference::start(NEWEST)?;
    sparse(&mut reference, &mut newest)?;
    dense(&mut reference, &mut newest)?;
    // Release 2.2.2 does not read back nulls.
    if !known.can(Ability::Nullable) || release == "2.2.2" {
        return Ok(());
    }
    round_trip(&mut reference)?;
    println!("read back an array of numbers, nulls and strings");
    match crash(&mut reference) {
        Err(Error::Crashed { .. }) => println!("detected a crash"),
        Err(error) => println!("this release reports an error where 2.30.0 crashes: {error}"),
        Ok(()) => println!("this release does not crash where 2.30.0 does"),
    }
    round_trip(&mut reference)?;
    println!("ran the next job in a new process");
    Ok(())
}

/// Compares the table of abilities with the library's functions.
fn abilities(reference: &mut Reference) -> Result<(), Box<dyn StdError>> {
    for row in ABILITIES {
        let Some(function) = row.function else { continue };
        let has = reference.done(Job::Function { name: function.to_owned() }).is_ok();
        if has != reference.release().can(row.ability) {
            return Err(format!("the table of abilities is wrong about {:?}, see {function}", row.ability).into());
        }
    }
    Ok(())
}

const TIMES: [u64; 2] = [1_700_000_000_000, 1_700_000_001_000];

/// Writes at two times. Compares the reads of both releases, now and at the first time, with the
/// expected cells.
fn compare(
    reference: &mut Reference,
    newest: &mut Reference,
    (spec, mut writes): (&ArraySpec, [WriteSpec; 2]),
    mut questions: Vec<(QuerySpec, Cells)>,
) -> Result<(), Box<dyn StdError>> {
    let folder = tempfile::tempdir()?;
    let uri = folder.path().join("array").to_string_lossy().into_owned();
    reference.create(&uri, spec)?;
    let mut then = TIMES[0];
    let first_cells = writes[0].cells.clone();
    for (index, write) in writes.iter_mut().enumerate() {
        write.timestamp = reference.release().can(Ability::WriteTimes).then_some(TIMES[index]);
        reference.write(&uri, write)?;
        if index == 0 && write.timestamp.is_none() {
            thread::sleep(Duration::from_millis(5));
            then = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?;
            thread::sleep(Duration::from_millis(5));
        }
    }
    questions.push((QuerySpec { timestamps: Some((0, then)), ..QuerySpec::all(RowMajor) }, first_cells));
    for (query, expected) in questions {
        for reader in [&mut *reference, &mut *newest] {
            let read = reader.read(&uri, &query)?;
            if !read.columns.iter().map(|read| &read.column).eq(&expected) {
                let (by, columns) = (reader.release().library, read.columns);
                return Err(format!("release {by} reads {columns:?} instead of {expected:?}").into());
            }
        }
    }
    Ok(())
}

fn write(layout: Layout, subarray: Option<[[i32; 2]; 2]>, cells: Cells) -> WriteSpec {
    WriteSpec { layout, subarray: subarray.map(|ranges| ranges.map(ends).to_vec()), timestamp: None, cells }
}

fn sparse(reference: &mut Reference, newest: &mut Reference) -> Result<(), Box<dyn StdError>> {
    let dimensions = [dimension("y", Int32, [1, 9], 3), dimension("x", Int32, [1, 9], 4)];
    let spec = ArraySpec::sparse(dimensions, [attribute("a", Float64), attribute("s", StringAscii).var()]).capacity(2);
    let cells = |y: &[i32], x: &[i32], a: &[f64], s: &[&str]| {
        let (y, x) = (column("y", y.iter().copied()), column("x", x.iter().copied()));
        vec![y, x, column("a", a.iter().copied()), var_column("s", s)]
    };
    let first = cells(&[1, 2, 9], &[1, 4, 9], &[0.5, 1.5, 2.5], &["one", "two", "three"]);
    let second = cells(&[2, 3], &[4, 1], &[9.5, 8.5], &["TWO", "new"]);
    let all = cells(&[1, 2, 3, 9], &[1, 4, 1, 9], &[0.5, 9.5, 8.5, 2.5], &["one", "TWO", "new", "three"]);
    let some = second.clone();
    let ranges = vec![RangesSpec::new("y", [[2, 3]])];
    let questions = vec![(QuerySpec::all(RowMajor), all), (QuerySpec { ranges, ..QuerySpec::all(RowMajor) }, some)];
    let writes = [write(Unordered, None, first), write(Unordered, None, second)];
    compare(reference, newest, (&spec, writes), questions)?;
    println!("read back a sparse array of two fragments, now and at the first time");
    Ok(())
}

fn dense(reference: &mut Reference, newest: &mut Reference) -> Result<(), Box<dyn StdError>> {
    let dimensions = [dimension("y", Int32, [1, 4], 2), dimension("x", Int32, [1, 4], 3)];
    let spec = ArraySpec::dense(dimensions, [attribute("a", Int32), attribute("s", StringAscii).var()]);
    let words = |count: i32| var_column("s", (0..count).map(|cell| "w".repeat(cell as usize % 3 + 1)));
    let first = vec![column("a", 0..16i32), words(16)];
    let second = vec![column("a", [50, 60, 70, 80i32]), words(4)];
    let writes = [write(RowMajor, Some([[1, 4], [1, 4]]), first), write(ColMajor, Some([[2, 3], [2, 3]]), second)];
    let now = [0, 1, 2, 3, 4, 50, 70, 7, 8, 60, 80, 11, 12, 13, 14, 15i32];
    let only_numbers = QuerySpec { fields: vec!["a".to_owned()], ..QuerySpec::all(RowMajor) };
    compare(reference, newest, (&spec, writes), vec![(only_numbers, vec![column("a", now)])])?;
    println!("read back a dense array of two fragments, now and at the first time");
    Ok(())
}

fn round_trip(reference: &mut Reference) -> Result<(), Box<dyn StdError>> {
    let folder = tempfile::tempdir()?;
    let uri = folder.path().join("array").to_string_lossy().into_owned();
    let attributes = [attribute("a", Float64).nullable(), attribute("s", StringAscii).var()];
    reference.create(&uri, &ArraySpec::sparse([dimension("x", Int32, [1, 100_000], 100)], attributes))?;
    // Enough cells for several submissions of the read.
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
        return Err(format!("read other cells, or in too few submissions ({})", read.submits).into());
    }
    let timed = reference.time_reads(&uri, &QuerySpec::all(RowMajor), None, 2)?;
    let seconds: Vec<_> = timed.reads.iter().map(|read| read.seconds).collect();
    println!("{} bytes in {seconds:?} seconds, at most {} bytes of memory", timed.bytes, timed.peak_memory);
    Ok(())
}

/// Crashes the library: bit-width reduction of an empty tile divides by zero.
fn crash(reference: &mut Reference) -> super::Result<()> {
    let folder = tempfile::tempdir()?;
    let uri = folder.path().join("array").to_string_lossy().into_owned();
    let attributes = [attribute("v", Int32).var().filters([FilterSpec::BIT_WIDTH_REDUCTION])];
    reference.create(&uri, &ArraySpec::dense([dimension("x", Int32, [1, 2], 2)], attributes))?;
    let cells = vec![var_column("v", ["", ""])];
    reference.write(&uri, &WriteSpec { layout: RowMajor, subarray: None, timestamp: None, cells })
}
