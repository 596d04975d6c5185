//! The reference library's side.

use tdb_reference::model::{QuerySpec, RangesSpec, bytes_of};
use tdb_reference::{NEWEST, Reference};
use tdb_store_testkit::Seen;
use tdb_types::Layout;

use crate::Result;
use crate::arrays::write_of;
use crate::place::Place;
use crate::task::{FEW, Measured, Task, median};

/// Room for the columns of any result.
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

    /// The library, for arrays on the disk.
    pub(crate) fn on_disk(&mut self) -> Result<&mut Reference> {
        self.reference.config().clear();
        Ok(&mut self.reference)
    }

    /// Does a task once to have connections, then once to count, then by the clock; in a context of its own.
    pub(crate) fn measure(&mut self, place: &Place, task: Task, repeats: usize) -> Result<Measured> {
        let uri = place.uri(task.array());
        self.reference.config().extend(self.settings.iter().cloned());
        self.reference.restart();
        self.reference.open(&uri)?;
        let _ = place.proxy().take();
        let (seen, seconds) = match task {
            Task::Open | Task::OpenMany => {
                self.reference.open(&uri)?;
                let seen = place.proxy().take();
                (seen, self.reads(&uri, &nothing(), repeats)?.1)
            }
            Task::Point | Task::Box | Task::All => {
                let query = query_of(task);
                self.reference.open(&uri)?;
                let opened = place.proxy().take();
                let read = self.reference.read(&uri, &query)?;
                expect(task, read.cells)?;
                let seen = less(&place.proxy().take(), &opened);
                (seen, self.reads(&uri, &query, repeats)?.0)
            }
            Task::Write => {
                // Each call opens once more before the clock runs.
                let write = write_of(0, FEW);
                self.reference.time_writes(&uri, &write, 1)?;
                let one = place.proxy().take();
                let mut seconds = self.reference.time_writes(&uri, &write, 2)?;
                let seen = less(&place.proxy().take(), &one);
                seconds.extend(self.reference.time_writes(&uri, &write, repeats.saturating_sub(2))?);
                (seen, seconds)
            }
        };
        Ok(Measured { requests: seen.requests.len(), round_trips: seen.round_trips, seconds: median(seconds) })
    }

    /// What reading and what opening took each time.
    fn reads(&mut self, uri: &str, query: &QuerySpec, repeats: usize) -> Result<(Vec<f64>, Vec<f64>)> {
        let timed = self.reference.time_reads(uri, query, Some(ROOM), repeats)?;
        Ok(timed.reads.iter().map(|read| (read.seconds - read.open_seconds, read.open_seconds)).unzip())
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

/// A query for a cell that isn't there: only what opening takes counts.
fn nothing() -> QuerySpec {
    let mut query = query_of(Task::Point);
    query.ranges[0].ranges = vec![(bytes_of([crate::task::DOMAIN - 1]), bytes_of([crate::task::DOMAIN - 1]))];
    query
}

fn expect(task: Task, cells: usize) -> Result<()> {
    match cells == task.cells() {
        true => Ok(()),
        false => Err(format!("{cells} cells were read instead of {}", task.cells()).into()),
    }
}

/// What was seen without what a part of it takes.
fn less(seen: &Seen, part: &Seen) -> Seen {
    let mut rest = seen.clone();
    rest.requests.drain(..part.requests.len().min(rest.requests.len()));
    rest.round_trips = rest.round_trips.saturating_sub(part.round_trips);
    rest
}
