//! The array before the migration, and the newest release's reads.

use std::path::Path;

use tdb_cases::case::{Case, Step};
use tdb_cases::history::{Deed, History, Side};
use tdb_cases::limits::orders_otherwise;
use tdb_cases::ours;
use tdb_cases::reads::read_again;
use tdb_cases::their_errors::in_short;
use tdb_cases::verdict::{End, by_us as caught};
use tdb_cases::writer::carry_out;
use tdb_reference::model::{Evolution, MetadataEntry, QuerySpec, ReadResult};
use tdb_reference::{Ability, Error, Reference};
use tdb_types::{ArrayType, Layout};

use crate::maintain::{self, Window};

/// The cells and metadata at a time.
pub(super) struct Seen {
    pub(super) window: Window,
    pub(super) cells: ReadResult,
    pub(super) metadata: Vec<MetadataEntry>,
}

/// Creates the array by both sides alternately.
pub(super) fn make(history: &History, newest: &mut Reference, uri: &str) -> Result<(), End> {
    let case = history.case();
    let refused = |what, error| End::Excused(format!("cannot be {what}: {}", in_short(&error, 16)));
    match history.creator {
        Side::Ours => caught("create", || ours::create(uri, &case, history.version))?,
        Side::Theirs => newest.create(uri, &history.array).map_err(|error| refused("created", error))?,
    }
    maintain::date_schema(Path::new(uri), history)?;
    for (number, turn) in (0_u64..).zip(&history.turns) {
        match turn.side {
            Side::Ours => {
                caught(turn.deed.name(), || maintain::by_us(history, turn, uri, number.wrapping_mul(7)).map(drop))?;
            }
            Side::Theirs => match maintain::by_them(history, turn, newest, uri) {
                // A refusal before the first write leaves a sound array.
                Err(Error::Library(message)) if maintain::refused(&message).is_some() => {}
                done => done.map_err(|error| refused("written by 2.30.0", error))?,
            },
        }
    }
    Ok(())
}

/// Returns the windows to read: up to the time of each operation, before all operations, and up to
/// now.
pub(super) fn windows(history: &History) -> Vec<Window> {
    maintain::windows(history).into_iter().filter(|(start, _)| *start == 0).collect()
}

/// Reads an array at a time with a release.
pub(super) fn read(side: &mut Reference, array: &Moment<'_>) -> tdb_reference::Result<ReadResult> {
    let mut result = read_again(side, array.uri, &array.query(array.layout())).0;
    // Some crashes depend on the order of cells, so the read is repeated in another order.
    if array.is_sparse() && matches!(result, Err(Error::Crashed { .. } | Error::TimedOut { .. })) {
        result = read_again(side, array.uri, &array.query(Layout::RowMajor)).0;
    }
    let mut result = result?;
    // In the first formats an anonymous attribute has this name.
    result
        .columns
        .iter_mut()
        .filter(|column| column.column.name == "__attr")
        .for_each(|column| column.column.name.clear());
    Ok(result)
}

/// All cells of an array at a time.
pub(super) struct Moment<'a> {
    pub(super) case: &'a Case,
    pub(super) uri: &'a str,
    pub(super) window: Window,
    /// `true` if cells may be stored in an order that the reader does not know.
    pub(super) unordered: bool,
}

impl Moment<'_> {
    pub(super) fn is_sparse(&self) -> bool {
        self.case.array.array_type == ArrayType::Sparse
    }

    fn layout(&self) -> Layout {
        if self.is_sparse() && !self.unordered { Layout::Unordered } else { Layout::RowMajor }
    }

    fn query(&self, layout: Layout) -> QuerySpec {
        let timestamps = (self.window != (0, u64::MAX)).then_some(self.window);
        QuerySpec { timestamps, ..QuerySpec::all(layout) }
    }
}

/// Reads the array at each time with the newest release. Skips times with errors.
pub(super) fn seen(history: &History, newest: &mut Reference, uri: &str) -> Vec<Seen> {
    let case = history.case();
    let view = |window: Window| {
        let moment = Moment { case: &case, uri, window, unordered: false };
        let cells = read(newest, &moment).ok()?;
        let metadata = newest.metadata(uri, (window != (0, u64::MAX)).then_some(window)).ok()?;
        Some(Seen { window, cells, metadata })
    };
    windows(history).into_iter().filter_map(view).collect()
}

/// Creates an array with the release itself and the writes up to `until`. Reads of this array show
/// the release's own mistakes.
pub(super) fn twin(
    history: &History,
    until: u64,
    (older, newest): (&mut Reference, &mut Reference),
    uri: &str,
) -> tdb_reference::Result<()> {
    older.create(uri, &history.array)?;
    maintain::date_schema(Path::new(uri), history)?;
    let writes_for_later_ones = older.release().format >= 7;
    let mut steps = history.case().steps;
    if !older.release().can(Ability::WriteTimes) {
        steps.retain(|step| matches!(step, Step::Write(write) if write.timestamp.is_some_and(|time| time <= until)));
        steps.sort_by_key(|step| Deed::Step(step.clone()).time());
        let writes = steps.iter_mut().filter_map(|step| if let Step::Write(write) = step { Some(write) } else { None });
        writes.for_each(|write| write.timestamp = None);
    }
    for step in &steps {
        match step {
            // Before release 2.7.0 an evolution cannot be given a time.
            Step::Evolve(evolution) if older.release().numbers() < [2, 7, 0] => {
                carry_out(&Step::Evolve(Evolution { timestamp: None, ..evolution.clone() }), older, uri)?;
            }
            Step::Write(_) | Step::Delete(..) if writes_for_later_ones => carry_out(step, newest, uri)?,
            _ => carry_out(step, older, uri)?,
        }
    }
    let changes = history.turns.iter().filter(|turn| matches!(turn.deed, Deed::Metadata { .. }));
    let changes = changes.filter(|_| older.release().can(Ability::Metadata));
    changes.into_iter().try_for_each(|turn| maintain::by_them(history, turn, newest, uri))
}

/// `true` if the release has another global order for this array.
pub(super) fn is_ordered_otherwise(case: &Case, side: &Reference) -> bool {
    orders_otherwise(&case.array, side.release())
}
