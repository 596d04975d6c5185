//! Measurements of the reference library.

use std::time::Instant;

use tdb_reference::model::{QuerySpec, RangesSpec, bytes_of};
use tdb_reference::{NEWEST, Reference};
use tdb_store_testkit::Seen;
use tdb_types::Layout;

use crate::cells::write_of;
use crate::outcome::Result;
use crate::place::Place;
use crate::task::{Measured, Task, median};

/// Size in bytes of each buffer, sufficient for the fields of every result.
const ROOM: usize = 8 << 20;

pub(crate) struct Theirs {
    reference: Reference,
    settings: Vec<(String, String)>,
}

impl Theirs {
    pub(crate) fn start(place: &Place) -> Result<Self> {
        let mut reference = Reference::start(NEWEST)?;
        reference.patience(std::time::Duration::from_secs(1800));
        Ok(Self { reference, settings: place.settings() })
    }

    /// Returns the library, configured for local arrays.
    pub(crate) fn on_disk(&mut self) -> Result<&mut Reference> {
        self.reference.config().clear();
        Ok(&mut self.reference)
    }

    /// Measures a task, each time in a new context, because the library caches reads within a
    /// context.
    pub(crate) fn measure(&mut self, place: &Place, task: Task, repeats: usize) -> Result<Measured> {
        let uri = place.uri(task.array());
        self.reference.config().extend(self.settings.iter().cloned());
        // Requests of the preparation are counted separately, and subtracted.
        let apart = self.seen(place, |reference| match (task, task.written()) {
            (_, Some(cells)) => written(reference, &uri, cells, 1),
            (Task::Point | Task::Box | Task::All, None) => Ok(reference.open(&uri)?),
            _ => Ok(()),
        })?;
        let (mut seconds, mut last) = (Vec::new(), Seen::default());
        for _ in 0..task.repeats(repeats).max(1) {
            last = self.seen(place, |reference| {
                seconds.push(timed(reference, &uri, task)?);
                Ok(())
            })?;
        }
        if let Some(cells) = task.written() {
            last = self.seen(place, |reference| written(reference, &uri, cells, 2))?;
        }
        let seen = less(&last, &apart);
        Ok(Measured { requests: seen.requests.len(), round_trips: seen.round_trips, seconds: median(seconds) })
    }

    /// Records the requests of a job in a new context.
    fn seen(&mut self, place: &Place, mut job: impl FnMut(&mut Reference) -> Result<()>) -> Result<Seen> {
        self.reference.restart();
        // Starts the process, and loads the library.
        self.reference.version()?;
        let _ = place.proxy().take();
        job(&mut self.reference)?;
        Ok(place.proxy().take())
    }
}

fn written(reference: &mut Reference, uri: &str, cells: u32, repeats: usize) -> Result<()> {
    reference.time_writes(uri, &write_of(0, cells), repeats)?;
    Ok(())
}

/// Returns the duration of a task in seconds. Reads exclude the time to open the array.
fn timed(reference: &mut Reference, uri: &str, task: Task) -> Result<f64> {
    if let Some(cells) = task.written() {
        let timed = reference.time_writes(uri, &write_of(0, cells), 1)?;
        return timed.reads.first().map(|write| write.seconds).ok_or_else(|| "no write was timed".into());
    }
    if matches!(task, Task::Open | Task::OpenMany) {
        let start = Instant::now();
        reference.open(uri)?;
        return Ok(start.elapsed().as_secs_f64());
    }
    let timed = reference.time_first_read(uri, &query_of(task), ROOM)?;
    let read = timed.reads.first().ok_or("no read was timed")?;
    match timed.cells == task.cells() {
        true => Ok(read.seconds - read.open_seconds),
        false => Err(format!("{} cells were read instead of {}", timed.cells, task.cells()).into()),
    }
}

fn query_of(task: Task) -> QuerySpec {
    let mut query = QuerySpec::all(Layout::Unordered);
    if let Some((first, last)) = task.range() {
        let ranges = vec![(bytes_of([first]), bytes_of([last]))];
        query.ranges.push(RangesSpec { dimension: "position".to_owned(), ranges });
    }
    query
}

/// Subtracts the requests and round trips of the preparation, `part`.
fn less(seen: &Seen, part: &Seen) -> Seen {
    let mut rest = seen.clone();
    rest.requests.drain(..part.requests.len().min(rest.requests.len()));
    rest.round_trips = rest.round_trips.saturating_sub(part.round_trips);
    rest
}
