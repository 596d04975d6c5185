//! Measurements of this project.

use std::sync::Arc;
use std::time::Instant;

use tdb_array::{Array, ArrayOptions, Order, WriteBatch, WriteColumn};
use tdb_storage::Storage;
use tdb_store_testkit::Seen;

use crate::outcome::Result;
use crate::place::Place;
use crate::task::{Measured, Task, median};

/// Measures a task, each time with a new store and new connections. Optionally prints the requests
/// of the last run.
pub(crate) fn measure(place: &Place, task: Task, repeats: usize, shows: bool) -> Result<Measured> {
    let (mut seconds, mut last) = (Vec::new(), Seen::default());
    for _ in 0..task.repeats(repeats).max(1) {
        let storage = place.storage(task.array(), task == Task::WriteKnown)?;
        let open = match task {
            Task::Point | Task::Box | Task::All => Some(opened(&storage)?),
            _ => None,
        };
        let _ = place.proxy().take();
        let start = Instant::now();
        match (open, task.written()) {
            (Some(array), _) => read(&array, task)?,
            (None, Some(cells)) => write(&storage, cells)?,
            (None, None) => drop(opened(&storage)?),
        }
        seconds.push(start.elapsed().as_secs_f64());
        last = place.proxy().take();
    }
    if shows {
        last.requests.iter().for_each(|asked| eprintln!("{task:?}: {asked}"));
    }
    Ok(Measured { requests: last.requests.len(), round_trips: last.round_trips, seconds: median(seconds) })
}

/// Opens an array and loads the fragment metadata, like the reference library on opening.
fn opened(storage: &Arc<dyn Storage>) -> Result<Array> {
    let array = ArrayOptions::new().with_footers().open_on(storage.clone())?;
    array.fragments()?;
    Ok(array)
}

fn read(array: &Array, task: Task) -> Result<()> {
    let mut query = array.read().order(Order::Unordered);
    if let Some((first, last)) = task.range() {
        query = query.range("position", first..=last)?;
    }
    let mut cells = 0;
    for batch in query.batches()? {
        cells += batch?.len();
    }
    match cells == task.cells() {
        true => Ok(()),
        false => Err(format!("{cells} cells were read instead of {}", task.cells()).into()),
    }
}

fn write(storage: &Arc<dyn Storage>, cells: u32) -> Result<()> {
    let positions: Vec<u32> = (0..cells).collect();
    let depths: Vec<f64> = positions.iter().map(|position| f64::from(*position)).collect();
    let cells = WriteBatch::new()
        .with("position", &positions)
        .with("depth", &depths)
        .with("name", WriteColumn::strings(positions.iter().map(|position| format!("n{position}"))));
    ArrayOptions::new().open_on(storage.clone())?.write().cells(cells)?;
    Ok(())
}
