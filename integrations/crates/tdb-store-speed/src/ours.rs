//! Our side.

use std::sync::Arc;
use std::time::Instant;

use tdb_array::{Array, ArrayOptions, NewCells, NewColumn, Order};
use tdb_storage::Storage;

use crate::Result;
use crate::place::Place;
use crate::task::{FEW, Measured, Task, median};

pub(crate) struct Ours {
    storages: Vec<(&'static str, Arc<dyn Storage>)>,
}

impl Ours {
    pub(crate) fn start(place: &Place) -> Result<Self> {
        let storage = |task: Task| Ok((task.array(), place.storage(task.array())?));
        Ok(Self {
            storages: [Task::Open, Task::Write, Task::OpenMany].map(storage).into_iter().collect::<Result<_>>()?,
        })
    }

    /// Does a task once to have connections, then once to count, then by the clock.
    pub(crate) fn measure(&self, place: &Place, task: Task, repeats: usize) -> Result<Measured> {
        let storage = self.storages.iter().find(|(name, _)| *name == task.array());
        let storage = storage.ok_or("no such array")?.1.clone();
        let (mut requests, mut round_trips, mut seconds) = (0, 0, Vec::new());
        for repeat in 0..repeats + 2 {
            let begin = Begun::of(&storage, task)?;
            let _ = place.proxy().take();
            let start = Instant::now();
            begin.done(&storage, task)?;
            let took = start.elapsed().as_secs_f64();
            let seen = place.proxy().take();
            match repeat {
                0 => {}
                1 => (requests, round_trips) = (seen.requests.len(), seen.round_trips),
                _ => seconds.push(took),
            }
        }
        Ok(Measured { requests, round_trips, seconds: median(seconds) })
    }
}

/// What was done before the clock runs.
enum Begun {
    Nothing,
    Open(Box<Array>),
}

impl Begun {
    fn of(storage: &Arc<dyn Storage>, task: Task) -> Result<Self> {
        Ok(match task {
            Task::Open | Task::OpenMany | Task::Write => Self::Nothing,
            Task::Point | Task::Box | Task::All => Self::Open(Box::new(opened(storage)?)),
        })
    }

    fn done(self, storage: &Arc<dyn Storage>, task: Task) -> Result<()> {
        match self {
            Self::Nothing if task == Task::Write => write(storage),
            Self::Nothing => opened(storage).map(drop),
            Self::Open(array) => read(&array, task),
        }
    }
}

/// An array whose fragments are known, as those of the reference library are when it has opened one.
fn opened(storage: &Arc<dyn Storage>) -> Result<Array> {
    let array = ArrayOptions::new().open_on(storage.clone())?;
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

fn write(storage: &Arc<dyn Storage>) -> Result<()> {
    let positions: Vec<u32> = (0..FEW).collect();
    let depths: Vec<f64> = positions.iter().map(|position| f64::from(*position)).collect();
    let cells = NewCells::new()
        .with("position", &positions)
        .with("depth", &depths)
        .with("name", NewColumn::strings(positions.iter().map(|position| format!("n{position}"))));
    ArrayOptions::new().open_on(storage.clone())?.write().cells(cells)?;
    Ok(())
}
