//! The same writes by the reference library and by ours, into arrays in memory, where no disk stands in the way.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use tdb_array::{ArrayOptions, NewCells, NewColumn, Order};
use tdb_types::{Datatype, Layout};

use super::arguments::Arguments;
use super::arrays::{SpeedArray, dense, dense_of, sparse, strings};
use super::{limits, report};
use tdb_reference::model::{Bytes, Column, FilterSpec, Pipeline, Rule, WriteSpec, attribute};
use tdb_reference::{NEWEST, Reference};

/// One write.
struct Case {
    name: &'static str,
    array: SpeedArray,
    layout: Layout,
}

fn cases(scale: f64) -> Vec<Case> {
    let side = (8192.0 * scale.sqrt() / 512.0).round().max(1.0) as u64 * 512;
    let cells = |millions: f64| (millions * 1e6 * scale).max(1000.0) as u64;
    let zstd = || Pipeline::from([FilterSpec::Zstd { level: Some(3) }]);
    let none = || Pipeline::from([]);
    let words = attribute("word", Datatype::StringUtf8).var();
    let case = |name, array, layout| Case { name, array, layout };
    let points = |name, filters, order| sparse(name, cells(10.0), 1, filters, order);
    vec![
        case("dense, unfiltered, row-major", dense("plain", side, none()), Layout::RowMajor),
        case("dense, unfiltered, col-major", dense("plain", side, none()), Layout::ColMajor),
        case("dense, unfiltered, global", dense("plain", side, none()), Layout::GlobalOrder),
        case("dense, zstd, row-major", dense("zstd", side, zstd()), Layout::RowMajor),
        case("dense, strings, row-major", dense_of("words", side / 4, words, Rule::Word { seed: 9 }), Layout::RowMajor),
        case("sparse, unfiltered, unordered", points("plain", none(), Layout::RowMajor), Layout::Unordered),
        case("sparse, unfiltered, global", points("plain", none(), Layout::RowMajor), Layout::GlobalOrder),
        case("sparse, zstd coordinates, unordered", points("zstd", zstd(), Layout::RowMajor), Layout::Unordered),
        case("sparse, zstd coordinates, global", points("zstd", zstd(), Layout::RowMajor), Layout::GlobalOrder),
        case("sparse, Hilbert, unordered", points("hilbert", none(), Layout::Hilbert), Layout::Unordered),
        case("sparse, strings, unordered", strings(cells(2.0)), Layout::Unordered),
        case("sparse, strings, global", strings(cells(2.0)), Layout::GlobalOrder),
    ]
}

pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let cases = cases(arguments.scale);
    let wanted = cases.iter().filter(|case| arguments.only.as_ref().is_none_or(|only| case.name.contains(only)));
    let threads = limits::threads();
    println!(
        "| write | cells | reference, 1 thread | ours, 1 thread | ratio | reference, {threads} threads | ours, \
         {threads} threads | ratio |\n| --- | --: | --: | --: | --: | --: | --: | --: |"
    );
    for case in wanted {
        if arguments.list {
            println!("{}", case.name);
            continue;
        }
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())?;
        let mut reference = Reference::start(NEWEST)?;
        reference.patience(std::time::Duration::from_secs(1800));
        let spec = cells_of(case, &mut reference, folder.path())?;
        let mut line = format!("| {} | {} ", case.name, case.array.writes[0].cells);
        let bytes: usize = spec.cells.iter().map(bytes_of_column).sum();
        for threads in [1, threads] {
            for setting in ["sm.compute_concurrency_level", "sm.io_concurrency_level"] {
                reference.config().insert(setting.to_owned(), threads.to_string());
            }
            reference.restart();
            let [theirs, ours] = ["theirs", "ours"].map(|name| folder.path().join(name).to_string_lossy().into_owned());
            reference.create(&theirs, &case.array.spec)?;
            reference.create(&ours, &case.array.spec)?;
            let theirs = report::median(reference.time_writes(&theirs, &spec, arguments.repeats)?.into_iter());
            let times = (0..arguments.repeats).map(|_| write(&ours, &spec, threads)).collect::<Result<Vec<_>, _>>()?;
            let ours = report::median(times.into_iter());
            let text = |seconds| format!("{} ({:.0} MB/s)", report::time(seconds), bytes as f64 / seconds / 1e6);
            line.push_str(&format!("| {} | {} | **{:.1}** ", text(theirs), text(ours), theirs / ours));
            for name in ["theirs", "ours"] {
                std::fs::remove_dir_all(folder.path().join(name))?;
            }
        }
        println!("{line}|");
    }
    Ok(())
}

fn bytes_of_column(column: &Column) -> usize {
    column.values.len() + column.offsets.as_ref().map_or(0, |offsets| 8 * offsets.len())
}

/// The cells, those in global order as an array gave them back in that order.
fn cells_of(case: &Case, reference: &mut Reference, folder: &Path) -> Result<WriteSpec, Box<dyn Error>> {
    let mut spec = case.array.writes[0].materialise();
    spec.timestamp = None;
    if case.layout == Layout::GlobalOrder {
        let uri = folder.join("sorted").to_string_lossy().into_owned();
        reference.create(&uri, &case.array.spec)?;
        write(&uri, &spec, 2)?;
        let array = ArrayOptions::new().open(&uri)?;
        let names: Vec<&str> = spec.cells.iter().map(|column| column.name.as_str()).collect();
        let query = array.read().select(names)?.order(Order::Global).budget(usize::MAX);
        let batch = query.batches()?.next().ok_or("no cells")??;
        let column = |column: &tdb_array::Column| Column {
            name: column.name().to_owned(),
            values: Bytes(column.bytes().to_vec()),
            offsets: column.offsets().map(<[u64]>::to_vec),
            validity: None,
        };
        spec.cells = batch.columns().iter().map(column).collect();
        std::fs::remove_dir_all(&uri)?;
    }
    spec.layout = case.layout;
    Ok(spec)
}

/// Seconds from before the array is opened until the fragment is committed.
fn write(uri: &str, spec: &WriteSpec, threads: usize) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    let array = ArrayOptions::new().threads(threads).open(uri)?;
    let mut cells = NewCells::new();
    for column in &spec.cells {
        let values = NewColumn::bytes(&column.values);
        // All strings here are of bytes.
        let new = column.offsets.as_ref().map_or(values.clone(), |offsets| values.with_offsets(offsets));
        cells = cells.with(column.name.as_str(), new);
    }
    match spec.layout {
        Layout::GlobalOrder => {
            let mut writer = array.write().global_order()?;
            writer.push(&cells)?;
            writer.commit()?;
        }
        layout => {
            let order = if layout == Layout::ColMajor { Order::ColMajor } else { Order::RowMajor };
            array.write().order(order).cells(&cells)?;
        }
    }
    Ok(start.elapsed().as_secs_f64())
}
