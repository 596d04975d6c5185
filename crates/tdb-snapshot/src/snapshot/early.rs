//! Early reads: data that fragments will need, fetched before the need is certain. On a remote
//! storage an unused read costs less than a further round trip.

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

/// The number of fragments read at once. The results are checked before the next fragments are
/// read.
pub(super) const AT_ONCE: usize = 1024;

/// The maximum number of schemas read early. If there are more, each schema is read only when a
/// fragment needs it.
const FEW_SCHEMAS: usize = 64;

/// Sources of footers and schemas.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sources<'a> {
    /// Files that hold the footers of several fragments.
    pub(super) footers: &'a FooterFiles,
    pub(super) schema_paths: &'a [String],
    /// The path of the array's schema, which opening reads anyway.
    pub(super) schema_path: &'a str,
    pub(super) skip_damaged: bool,
}

/// Fragments read from their own files, and schemas that the fragments may name.
#[derive(Debug, Default)]
pub(super) struct Early {
    /// By folder.
    pub(super) fragments: HashMap<String, Result<UnparsedFragment>>,
    /// By path. `None` if the file does not exist.
    pub(super) schemas: HashMap<String, Result<Option<ArraySchema>>>,
}

/// Consolidated footers, and early reads from the same round trip.
#[derive(Debug)]
pub(super) struct EarlyReads {
    pub(super) footers: Footers,
    /// Copies of footers that cannot be used.
    pub(super) damaged: Vec<Damaged>,
    pub(super) early: Early,
}

impl EarlyReads {
    /// Reads the consolidated footers of these fragments. On a remote storage, also reads the other
    /// data that these fragments probably need, in the same round trip.
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
    /// Reads the fragments that consolidated footers probably lack, and the schemas that footers
    /// may name, all at once.
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

/// Reads a schema that a fragment names. Returns `None` if the schema does not exist. Loading the
/// fragment then fails.
pub(super) fn named_schema(storage: &dyn Storage, path: &str, access: &Access) -> Result<Option<ArraySchema>> {
    match load_schema(storage, path, access) {
        Err(ArrayError::Storage(StorageError::NotFound { .. })) => Ok(None),
        schema => schema.map(Some).map_err(ArrayError::or_partly_encrypted),
    }
}

/// Reads made at opening, kept until the first use of fragments.
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

/// Runs two storage reads concurrently, or one after the other if no thread can be started.
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
