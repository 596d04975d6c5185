//! Cells deleted by a condition.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use tdb_condition::{BoundCondition, Condition, ConditionError};
use tdb_metadata::CommitKind;
use tdb_schema::ArraySchema;
use tdb_types::names::file_name;
use tdb_types::{Limits, TimestampedName};

use super::Snapshot;
use crate::once::try_init;
use crate::{ArrayError, Fragment, Result};

/// The limit on the nodes of all delete conditions together, as a multiple of `condition_nodes`.
/// The limit bounds the time, because each condition is evaluated for each cell.
const TOGETHER: u32 = 16;

/// The remaining budget for loading delete commits.
pub(super) struct Left {
    nodes: u32,
    /// The remaining unfiltered bytes of conditions.
    bytes: u64,
}

impl Left {
    pub(super) fn of(limits: &Limits) -> Self {
        Self { nodes: limits.condition_nodes.saturating_mul(TOGETHER), bytes: limits.generic_tile_bytes }
    }
}

/// A delete commit.
#[derive(Debug)]
pub(super) struct Delete {
    /// The path of the commit file below the array's folder.
    path: String,
    /// The time of the delete, in milliseconds since 1970.
    time: u64,
    /// The condition that surviving cells meet.
    stays: Condition,
    /// `stays`, bound to each fragment schema that was used so far.
    bound: Mutex<Vec<(Arc<ArraySchema>, Arc<BoundCondition>)>>,
}

/// A delete commit, bound to one fragment.
#[derive(Debug)]
pub struct FragmentDelete {
    /// The condition that surviving cells meet.
    pub stays: Arc<BoundCondition>,
    /// The last write time affected by the delete: later cells survive. `None` if the delete
    /// applies to all cells of the fragment.
    pub until: Option<u64>,
    /// The time of the delete, in milliseconds since 1970.
    pub time: u64,
    /// The path of the commit file below the array's folder.
    pub path: String,
}

impl Delete {
    /// Binds the condition to the schema of a fragment, once for each schema.
    pub(super) fn bind(
        &self,
        fragment: &Arc<ArraySchema>,
        array: &ArraySchema,
    ) -> Result<Arc<BoundCondition>, ConditionError> {
        let mut bound = self.bound.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = bound.iter().find(|(schema, _)| Arc::ptr_eq(schema, fragment)) {
            return Ok(known.clone());
        }
        let stays = Arc::new(self.stays.bind_stored(fragment, array)?);
        bound.push((fragment.clone(), stays.clone()));
        Ok(stays)
    }
}

impl Snapshot {
    /// Returns the deletes that are still to be applied to the cells of this fragment.
    ///
    /// # Errors
    /// A delete commit or the fragment's metadata cannot be read.
    pub fn deletes_for(&self, fragment: &Fragment) -> Result<Vec<FragmentDelete>> {
        if self.directory().deletes.is_empty() {
            return Ok(Vec::new());
        }
        let deletes = self.deletes()?;
        let name = fragment.name();
        let has_times = fragment.footer().header().has_timestamps;
        // According to the format, a condition also applies to cells written in the same
        // millisecond.
        let mut applying = deletes.iter().filter(|delete| delete.time >= name.start()).peekable();
        if applying.peek().is_none() {
            return Ok(Vec::new());
        }
        let processed = fragment.processed_conditions()?;
        let processed: HashSet<&str> = processed.iter().map(String::as_str).collect();
        applying
            .filter(|delete| !processed.contains(delete.path.as_str()))
            .map(|delete| {
                let stays = delete.bind(fragment.schema(), self.schema());
                let stays = stays.map_err(|source| self.delete_error(&delete.path, source))?;
                let until = (has_times && delete.time < name.end()).then_some(delete.time);
                Ok(FragmentDelete { stays, until, time: delete.time, path: delete.path.clone() })
            })
            .collect()
    }

    /// Returns the delete commits of the opened time range, read on first use.
    fn deletes(&self) -> Result<&Arc<[Delete]>> {
        try_init(&self.inner.deletes, || {
            let mut left = Left::of(self.limits());
            self.directory().deletes.iter().map(|path| self.load_delete(path, &mut left)).collect()
        })
    }

    /// Loads a delete commit within the remaining budget `left`.
    pub(super) fn load_delete(&self, path: &str, left: &mut Left) -> Result<Delete> {
        if CommitKind::of(path) == Some(CommitKind::Update) {
            let what = "update commits are not supported: cells of this array were updated by a condition".to_owned();
            return Err(ArrayError::Unsupported { file: self.storage().describe(path), what });
        }
        let stored;
        let embedded = self.directory().embedded_deletes.get(path);
        let bytes = match embedded {
            Some(embedded) => &embedded.bytes[..],
            None => {
                stored = self.access().read(&**self.storage(), path)?;
                &stored[..]
            }
        };
        let mut access = self.access().clone();
        access.limits.generic_tile_bytes = left.bytes;
        access.limits.condition_nodes = access.limits.condition_nodes.min(left.nodes);
        let tile = access.decoder().decode_file(bytes, None).map_err(ConditionError::from);
        let stays = tile.and_then(|tile| {
            left.bytes = left.bytes.saturating_sub(tile.payload.len() as u64);
            let stays = Condition::parse_tile(&tile, &access.limits, None)?;
            left.nodes = left.nodes.saturating_sub(stays.node_count());
            Ok(stays)
        });
        let place = embedded.map_or_else(|| path.to_owned(), |embedded| format!("{}: {path}", embedded.file));
        let stays = stays.map_err(|source| self.delete_error(&place, source))?;
        // The directory lists only commits with a time.
        let time = TimestampedName::parse(file_name(path)).map_or(u64::MAX, |name| name.end());
        Ok(Delete { path: path.to_owned(), time, stays, bound: Mutex::default() })
    }

    #[cold]
    pub(super) fn delete_error(&self, path: &str, source: ConditionError) -> ArrayError {
        ArrayError::Condition { file: self.storage().describe(path), source }
    }
}
