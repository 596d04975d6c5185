//! What fragments will want, read before it is known whether it takes a read of its own: where answers take long, waiting for
//! that takes longer.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tdb_cells::Workers;
use tdb_schema::ArraySchema;
use tdb_storage::{Storage, StorageError};

use super::footers::{FooterFiles, Footers};
use super::schema_file::load_schema;
use crate::access::Access;
use crate::damage::Damaged;
use crate::fragment::UnparsedFragment;
use crate::{ArrayError, FragmentEntry, Result};

/// So many fragments are read before it is seen what came of them.
pub(super) const AT_ONCE: usize = 1024;

/// More schemas are read only as they are needed.
const FEW_SCHEMAS: usize = 64;

/// Where footers and schemas are to be found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sources<'a> {
    /// Files with the footers of several fragments.
    pub(super) footers: &'a FooterFiles,
    /// The paths of all schemas.
    pub(super) schema_paths: &'a [String],
    /// The path of the schema that is read anyway.
    pub(super) schema_path: &'a str,
    pub(super) skip_damaged: bool,
}

/// What was read of fragments themselves, and of the schemas that they may name.
#[derive(Debug, Default)]
pub(super) struct Early {
    /// By their folders.
    pub(super) fragments: HashMap<String, Result<UnparsedFragment>>,
    /// By their paths; `None` for one that isn't there.
    pub(super) schemas: HashMap<String, Result<Option<ArraySchema>>>,
}

/// The footers of fragments, and what was read beside them.
#[derive(Debug)]
pub(super) struct EarlyReads {
    pub(super) footers: Footers,
    /// Copies of footers that can't be used.
    pub(super) damaged: Vec<Damaged>,
    pub(super) early: Early,
}

impl EarlyReads {
    /// Reads the footers of these fragments that stand together in files. Where answers take long, what else these fragments
    /// will probably want is read in the same round trip.
    pub(super) fn of(
        storage: &Arc<dyn Storage>,
        workers: &Workers,
        access: &Access,
        sources: &Sources<'_>,
        entries: &[FragmentEntry],
    ) -> Result<Self> {
        let footers = || Footers::read(&**storage, sources.footers, entries, access, sources.skip_damaged);
        let ((footers, damaged), early) = match storage.profile().is_remote() {
            false => (footers()?, Early::default()),
            true => both(footers, || Early::read(storage, workers, access, sources, entries))?,
        };
        Ok(Self { footers, damaged, early })
    }
}

impl Early {
    /// Reads at once what files of footers probably don't have, and the schemas that footers may name.
    fn read(
        storage: &Arc<dyn Storage>,
        workers: &Workers,
        access: &Access,
        sources: &Sources<'_>,
        entries: &[FragmentEntry],
    ) -> Result<Self> {
        enum Wanted<'a> {
            Fragment(&'a FragmentEntry),
            Schema(&'a String),
        }
        enum Found {
            Fragment(String, Box<Result<UnparsedFragment>>),
            Schema(String, Box<Result<Option<ArraySchema>>>),
        }
        let fragments = entries.iter().take(AT_ONCE).filter(|entry| !sources.footers.may_have(entry));
        let others = || sources.schema_paths.iter().filter(|path| *path != sources.schema_path);
        let schemas = others().take(if others().count() > FEW_SCHEMAS { 0 } else { FEW_SCHEMAS });
        let wanted = fragments.map(Wanted::Fragment).chain(schemas.map(Wanted::Schema)).collect();
        let read = |wanted: &Wanted<'_>| {
            Ok::<_, ArrayError>(match wanted {
                Wanted::Fragment(entry) => {
                    let fragment = UnparsedFragment::read(storage.clone(), entry, access);
                    Found::Fragment(entry.folder.clone(), Box::new(fragment))
                }
                Wanted::Schema(path) => {
                    Found::Schema((*path).clone(), Box::new(named_schema(&**storage, path, access)))
                }
            })
        };
        let mut early = Self::default();
        for found in workers.ask(storage.profile(), wanted, read)? {
            match found {
                Found::Fragment(folder, fragment) => drop(early.fragments.insert(folder, *fragment)),
                Found::Schema(path, schema) => drop(early.schemas.insert(path, *schema)),
            }
        }
        Ok(early)
    }
}

/// A schema that some fragment names; `None` if it isn't there, which that fragment will say.
pub(super) fn named_schema(storage: &dyn Storage, path: &str, access: &Access) -> Result<Option<ArraySchema>> {
    match load_schema(storage, path, access) {
        Err(ArrayError::Storage(StorageError::NotFound { .. })) => Ok(None),
        schema => schema.map(Some).map_err(ArrayError::or_partly_encrypted),
    }
}

/// What was read when the array was opened, until fragments are wanted for the first time.
#[derive(Debug, Default)]
pub(super) struct AtOpening(Mutex<Option<EarlyReads>>);

impl AtOpening {
    pub(super) fn new(reads: Option<EarlyReads>) -> Self {
        Self(Mutex::new(reads))
    }

    pub(super) fn take(&self) -> Option<EarlyReads> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Two things at once that wait for a storage; one after the other where there can't be a thread for it.
pub(super) fn both<A: Send, B>(
    first: impl Fn() -> Result<A> + Sync,
    second: impl FnOnce() -> Result<B>,
) -> Result<(A, B)> {
    thread::scope(|scope| {
        let beside = thread::Builder::new().spawn_scoped(scope, &first);
        let second = second();
        let first = match beside {
            Ok(beside) => beside.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => first(),
        };
        Ok((first?, second?))
    })
}
