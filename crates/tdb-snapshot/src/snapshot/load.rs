//! Opening: one listing per folder, and one read of the schema. Fragments are known by name. Their
//! contents are read on first use.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tdb_cells::Workers;
use tdb_filters::KeyProblem;
use tdb_generic_tile::GenericTileDecoder;
use tdb_metadata::CommitKind;
use tdb_schema::ArraySchema;
use tdb_storage::{AheadStorage, CountingStorage, Entry, EntryKind, Storage, StorageError};
use tdb_types::names::{COMMITS_FOLDER, FRAGMENT_META_FOLDER, FRAGMENT_METADATA, SCHEMA_FOLDER};
use tdb_types::{ArrayType, ByteReader, Limits};

use super::early::{AtOpening, EarlyReads, Sources, both};
use super::footers::FooterFiles;
use super::schema_file::load_schema;
use super::seen::Seen;
use super::{Inner, Open, Options, Place, Snapshot};
use crate::access::Access;
use crate::damage::Findings;
use crate::directory::{CommitInventory, CommittedFragment, Listing};
use crate::named::{list_named, or_nothing};
use crate::tiles::BlockRoom;
use crate::{ArrayDirectory, ArrayError, FragmentEntry, Result, TimeRange};

/// The maximum number of attempts to open an array, if a concurrent job removes listed files.
const ATTEMPTS: usize = 8;

impl Open for Snapshot {
    fn open_on(storage: Arc<dyn Storage>, _: Option<&Path>, options: &Options<Self>) -> Result<Self> {
        load(&*storage, || {
            let counting = CountingStorage::new(storage.clone());
            let counted: Arc<dyn Storage> = Arc::new(counting.clone());
            let ahead = counted.profile().is_remote().then(|| AheadStorage::new(counted.clone()));
            let access = Access { blocks: BlockRoom::default(), ..options.access.clone() };
            let workers = Workers::new(options.threads, access.limits);
            let storage = ahead.clone().map_or(counted, |ahead| Arc::new(ahead));
            load_once(options, Place { counting, storage, ahead, access, workers }, None)
        })
    }
}

impl Snapshot {
    /// Reopens the array at a time range, by default as of now. Uses the same storage, key, limits
    /// and number of threads. Folders are listed again. Schemas, fragments, enumerations and
    /// commits that are still present are not read again. Both snapshots share all cached data.
    /// Only listing the folders and reading new files takes time.
    ///
    /// Later writes change neither snapshot. [`counters`](Self::counters) count the requests of
    /// both snapshots together.
    ///
    /// A file counts as unchanged if name and size are the same, because names are never reused. On
    /// a [remote storage](tdb_storage::ReadProfile::is_remote), sizes of fragment metadata are not
    /// checked.
    ///
    /// ```
    /// use tdb_snapshot::Snapshot;
    ///
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-sparse-2d/array");
    /// let array = Snapshot::open(folder)?;
    /// let before = array.fragments()?.len();
    /// // Another writer may have added fragments.
    /// let now = array.refreshed(None)?;
    /// assert!(now.fragments()?.len() >= before);
    /// # Ok::<(), tdb_snapshot::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// The same as [`Snapshot::open`].
    pub fn refreshed(&self, time: Option<TimeRange>) -> Result<Self> {
        let own = &*self.inner;
        let options = Options { time, skip_damaged: own.skip_damaged, ..Options::new() };
        load(&**self.storage(), || load_once(&options, own.place.clone(), Some(self)))
    }
}

/// Loads an array, and tries again if files were removed meanwhile.
fn load(storage: &dyn Storage, once: impl Fn() -> Result<Snapshot>) -> Result<Snapshot> {
    for _ in 1..ATTEMPTS {
        match once() {
            // A concurrent vacuum has removed the file. The next listing contains its replacement.
            Err(ArrayError::Storage(StorageError::NotFound { path })) if !is_there(storage, &path)? => {}
            loaded => return loaded,
        }
    }
    once()
}

/// Returns `true` if a file is still listed in the folders with commits, or is a schema. Schemas
/// are never removed.
fn is_there(storage: &dyn Storage, described: &str) -> Result<bool> {
    if described.starts_with(&storage.describe(SCHEMA_FOLDER)) {
        return Ok(true);
    }
    let is_it = |folder: &str, name: &str| match folder {
        "" => storage.describe(name) == described,
        _ => storage.describe(&format!("{folder}/{name}")) == described,
    };
    for folder in ["", COMMITS_FOLDER] {
        match storage.list(folder) {
            Ok(entries) if entries.iter().any(|entry| is_it(folder, &entry.name)) => return Ok(true),
            Ok(_) | Err(StorageError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(false)
}

/// Returns the error for a schema folder without schemas.
fn without_schema(storage: &dyn Storage) -> ArrayError {
    // Some stores list folders after all their files are deleted.
    if storage.profile().is_remote() && matches!(storage.kind(""), Ok(None)) {
        return ArrayError::NotFound { path: storage.describe("") };
    }
    let what = "no schema found; an array without a schema is unreadable".to_owned();
    ArrayError::Corrupt { file: storage.describe(SCHEMA_FOLDER), what }
}

/// Loads an array. Reuses unchanged parts of the snapshot `last`.
fn load_once(options: &Options<Snapshot>, place: Place, last: Option<&Snapshot>) -> Result<Snapshot> {
    let Place { storage, access, workers, .. } = &place;
    let time = access.time(options.time)?;
    let mut findings = Findings::new(options.skip_damaged);
    let mut listing = list(&**storage, workers, options.with_footers)?;
    let schema_paths = listing.schemas();
    let schema_path = listing.schema_at(time).ok_or_else(|| without_schema(&**storage))?;
    let with_footers = options.with_footers && storage.profile().is_remote();
    let wanted = if with_footers { FragmentEntry::probable(&listing, time) } else { None };
    let footers = FooterFiles::of(&listing);
    let skip_damaged = options.skip_damaged;
    let sources = Sources { footers: &footers, schema_paths: &schema_paths, schema_path: &schema_path, skip_damaged };
    let known = last.and_then(|last| last.same_schema(&schema_path, &listing));
    if let Some(last) = last {
        listing.commit_files = last.inner.seen.files_of(&listing);
    }
    let wanted_small = WantedSmall { schema: known.is_none().then_some(&*schema_path), footers: last.is_none() };
    let small = (&mut listing, &mut findings);
    let read_schema = || read_small(&**storage, workers, access, wanted_small, small);
    let (early, schema) = match wanted {
        // An error here occurs again when the fragments are loaded.
        Some(wanted) => both(|| Ok(EarlyReads::of(storage, workers, access, &sources, &wanted).ok()), read_schema)?,
        None => (None, read_schema()?),
    };
    let schema = match known {
        Some(known) => known,
        None => {
            let schema = schema.unwrap_or_else(|| load_schema(&**storage, &schema_path, access));
            Arc::new(schema.map_err(|error| first_file_error(error, &**storage, &listing, &schema_path))?)
        }
    };
    let resolved = ArrayDirectory::resolve_with(&listing, schema.array_type(), time, &mut findings);
    // The errors recorded so far contain only paths below the array's folder.
    findings.locate(&**storage);
    let directory = resolved.map_err(|error| error.located(&**storage))?;
    // `read_small` may have listed the footers' folder.
    let footers = FooterFiles::of(&listing);
    let seen = Arc::new(Seen::of(&listing, &schema_path, &directory));
    let kept = last.map(|last| last.kept(&directory, &schema, &seen)).unwrap_or_default();
    Ok(Snapshot {
        inner: Arc::new(Inner {
            place,
            time,
            schema_path,
            schema_paths,
            schema,
            directory,
            footers,
            skip_damaged,
            damaged: findings.into_damaged(),
            early: AtOpening::new(early),
            fragments: std::sync::OnceLock::new(),
            known: std::collections::HashMap::new(),
            enumerations: Mutex::new(kept.enumerations),
            metadata: std::sync::OnceLock::new(),
            deletes: kept.deletes,
            kept: kept.fragments,
            seen,
        }),
        watched: None,
    })
}

/// Returns the error of an unreadable schema. The schema is the first file decrypted with the key,
/// so that a mismatch means a wrong key.
#[cold]
fn first_file_error(error: ArrayError, storage: &dyn Storage, listing: &Listing, path: &str) -> ArrayError {
    let needless = error.key_problem() == Some(KeyProblem::NotNeeded);
    match needless.then(|| encrypted_file(storage, listing)).flatten() {
        Some(encrypted) => ArrayError::PartlyEncrypted { clear: storage.describe(path), encrypted },
        None => error.into_key_error(),
    }
}

/// Folders that define the array's contents, in addition to the array's own folder.
const FOLDERS: [&str; 3] = [SCHEMA_FOLDER, COMMITS_FOLDER, FRAGMENT_META_FOLDER];

/// Lists the folders that define the array's contents. Includes the folder of consolidated footers
/// on a remote storage if `with_footers`. The listed files are still to be [read](read_small).
fn list(storage: &dyn Storage, workers: &Workers, with_footers: bool) -> Result<Listing> {
    let is_remote = storage.profile().is_remote();
    let folders = FOLDERS.into_iter().filter(|folder| with_footers || *folder != FRAGMENT_META_FOLDER);
    // On a remote storage, listing all folders at once saves the round trip for the root.
    let (root, early) = match is_remote {
        true => list_at_once(storage, workers, folders)?,
        false => (storage.list(""), Vec::new()),
    };
    let root = match root {
        Ok(root) => root,
        Err(StorageError::NotFound { path }) => return Err(ArrayError::NotFound { path }),
        Err(error) => return Err(error.into()),
    };
    let mut listing = Listing { root, ..Listing::default() };
    if let Some((name, what)) = listing.older_than_format_1() {
        return Err(ArrayError::Unsupported { file: storage.describe(name), what });
    }
    if !listing.is_array() {
        let hint = if listing.is_group() { "; the folder is a group" } else { "" };
        return Err(ArrayError::NotAnArray { path: storage.describe(""), hint });
    }
    let has = |folder: &str| has(&listing, folder);
    let listed: Vec<(&str, Listed)> = match is_remote {
        true => early.into_iter().filter(|(folder, _)| has(folder)).collect(),
        // `read_small` or loading the fragments lists the folder of footers.
        false => {
            let wanted = FOLDERS.into_iter().filter(|folder| *folder != FRAGMENT_META_FOLDER && has(folder));
            let list = |folder| if folder == COMMITS_FOLDER { commits(storage) } else { storage.list(folder) };
            wanted.map(|folder| (folder, list(folder))).collect()
        }
    };
    for (folder, entries) in listed {
        let entries = or_nothing(storage, entries)?;
        match folder {
            SCHEMA_FOLDER => listing.schemas = entries,
            COMMITS_FOLDER => listing.commits = entries,
            _ => listing.footers = Some(entries),
        }
    }
    Ok(listing)
}

/// Lists the commits of a local storage. Does not read the sizes of commit files of fragments.
/// These files are empty, and as many as the fragments.
fn commits(storage: &dyn Storage) -> Listed {
    let mut entries = Vec::new();
    for (name, kind) in storage.names(COMMITS_FOLDER)? {
        let is_sized = kind == EntryKind::File && CommitKind::of(&name) != Some(CommitKind::Write);
        let size = match is_sized {
            true => storage.file_size(&format!("{COMMITS_FOLDER}/{name}"))?,
            false => Some(0),
        };
        match (kind, size) {
            (EntryKind::File, Some(size)) => entries.push(Entry::file(name, size)),
            (EntryKind::Folder, _) => entries.push(Entry::folder(name)),
            // The file was removed after the listing. The listing may lack the replacement.
            (EntryKind::File, None) => return storage.list(COMMITS_FOLDER),
        }
    }
    Ok(entries)
}

fn has(listing: &Listing, name: &str) -> bool {
    listing.root.iter().any(|entry| entry.name == name)
}

type Listed = Result<Vec<Entry>, StorageError>;

/// Lists the array's own folder and the folders that it may contain, in one round trip.
fn list_at_once(
    storage: &dyn Storage,
    workers: &Workers,
    folders: impl Iterator<Item = &'static str>,
) -> Result<(Listed, Vec<(&'static str, Listed)>)> {
    let folders = [""].into_iter().chain(folders).collect();
    let mut listed = workers
        .ask(storage.profile(), folders, |folder| Ok::<_, ArrayError>((*folder, storage.list(folder))))?
        .into_iter();
    let root = listed.next().map_or(Ok(Vec::new()), |(_, root)| root);
    Ok((root, listed.collect()))
}

/// A read of a file or folder that the listings name.
enum Small {
    /// A file that lists other files.
    File(String),
    /// A folder that may be a fragment of formats 1 to 4.
    Folder(String),
    /// The folder of consolidated footers.
    Footers,
    Schema(String),
}

/// The result of a [`Small`].
enum Found {
    File(String, Result<Vec<u8>>),
    Folder(String, Vec<Entry>),
    Footers(Listed),
    Schema(Box<Result<ArraySchema>>),
}

/// Additional reads in the same round trip as the files that list others.
#[derive(Clone, Copy, Default)]
struct WantedSmall<'a> {
    schema: Option<&'a str>,
    /// The folder of footers, on a remote storage.
    footers: bool,
}

/// Reads the files that list others, unless they are known, the folders that may be legacy
/// fragments, and the `wanted` extras.
fn read_small(
    storage: &dyn Storage,
    workers: &Workers,
    access: &Access,
    wanted: WantedSmall<'_>,
    (listing, findings): (&mut Listing, &mut Findings),
) -> Result<Option<Result<ArraySchema>>> {
    let known: HashSet<&str> = listing.commit_files.iter().map(|(path, _)| path.as_str()).collect();
    let files: Vec<String> = listing.wanted_files().into_iter().filter(|path| !known.contains(path.as_str())).collect();
    let held = listing.commit_files.iter().map(|(_, bytes)| bytes.len() as u64).fold(0, u64::saturating_add);
    let files = files.into_iter().map(Small::File);
    let folders = listing.legacy_candidates().into_iter().map(Small::Folder);
    // On a local storage the folder is listed when the fragments are loaded.
    let footers = wanted.footers
        && storage.profile().is_remote()
        && listing.footers.is_none()
        && has(listing, FRAGMENT_META_FOLDER);
    let schema = wanted.schema.map(|path| Small::Schema(path.to_owned()));
    let left = AtomicU64::new(access.limits.commit_bytes.saturating_sub(held));
    let read_file = |path: &str| {
        let bytes = storage.read_up_to(path, left.load(Ordering::Relaxed)).map_err(ArrayError::from)?;
        let size = bytes.len() as u64;
        let spend = |left: u64| Some(left.saturating_sub(size));
        let before = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).unwrap_or_default();
        match before.checked_sub(size) {
            Some(_) => Ok(bytes),
            None => Err(StorageError::OverLimit { path: storage.describe(path), size, limit: before }.into()),
        }
    };
    let read = |small: &Small| {
        Ok::<_, ArrayError>(match small {
            Small::File(path) => Found::File(path.clone(), read_file(path)),
            Small::Folder(folder) => Found::Folder(folder.clone(), list_named(storage, folder)?),
            Small::Footers => Found::Footers(list_named(storage, FRAGMENT_META_FOLDER)),
            Small::Schema(path) => Found::Schema(Box::new(load_schema(storage, path, access))),
        })
    };
    let mut schema_found = None;
    let wanted = files.chain(folders).chain(footers.then_some(Small::Footers)).chain(schema).collect();
    for found in workers.ask(storage.profile(), wanted, read)? {
        match found {
            Found::File(path, bytes) => {
                let bytes = findings.of(&path, bytes)?;
                listing.commit_files.extend(bytes.map(|bytes| (path, bytes)));
            }
            Found::Folder(folder, entries) => {
                listing.legacy_folders.insert(folder, entries);
            }
            Found::Footers(entries) => listing.footers = Some(entries?),
            Found::Schema(schema) => schema_found = Some(*schema),
        }
    }
    if held > 0 {
        // Restores the order of a complete read.
        let order: HashMap<String, usize> = listing.wanted_files().into_iter().zip(0..).collect();
        listing.commit_files.sort_by_key(|(path, _)| order.get(path).copied());
    }
    Ok(schema_found)
}

const ALL_BUT_SCHEMA: WantedSmall<'static> = WantedSmall { schema: None, footers: true };

impl Snapshot {
    /// Lists the array's folders as they are now, independent of the opened time.
    ///
    /// # Errors
    /// A folder cannot be listed, or a file that lists others cannot be read.
    /// [`Options::skip_damaged`](crate::Options::skip_damaged) does not prevent these errors.
    pub fn listing(&self) -> Result<Listing> {
        let mut listing = self.listing_without_footers()?;
        if listing.footers.is_none() && has(&listing, FRAGMENT_META_FOLDER) {
            listing.footers = Some(list_named(&**self.storage(), FRAGMENT_META_FOLDER)?);
        }
        Ok(listing)
    }

    /// Parses the commit files of a listing of this array.
    ///
    /// # Errors
    /// A commit list is damaged, a commit file is not allowed in its folder, or a fragment has an
    /// unknown format version.
    pub fn commit_inventory(&self, listing: &Listing) -> Result<CommitInventory> {
        CommitInventory::of(listing).map_err(|error| error.located(&**self.storage()))
    }

    /// Returns all committed fragments as of now, independent of the opened time.
    ///
    /// # Errors
    /// The same as [`listing`](Self::listing) and [`commit_inventory`](Self::commit_inventory).
    pub fn fragment_files(&self) -> Result<Vec<CommittedFragment>> {
        Ok(self.commit_inventory(&self.listing_without_footers()?)?.fragments)
    }

    fn listing_without_footers(&self) -> Result<Listing> {
        let (storage, mut findings) = (&**self.storage(), Findings::strict());
        let mut listing = list(storage, self.workers(), false)?;
        read_small(storage, self.workers(), self.access(), ALL_BUT_SCHEMA, (&mut listing, &mut findings))?;
        Ok(listing)
    }
}

/// Returns the path of an encrypted schema, or else of the first fragment's metadata if encrypted.
/// If such a file exists, the array needs the key, and an unencrypted schema is foreign.
fn encrypted_file(storage: &dyn Storage, listing: &Listing) -> Option<String> {
    let is_encrypted = |path: &String| {
        let limits = Limits::default();
        let decoded = storage.read_up_to(path, limits.generic_tile_bytes).map(|bytes| {
            let mut decoder = GenericTileDecoder::new(limits);
            decoder.decode(&mut ByteReader::new(&bytes)).map(drop)
        });
        decoded.is_ok_and(|decoded| decoded.is_err_and(|error| error.key_problem() == Some(KeyProblem::Missing)))
    };
    let directory = ArrayDirectory::resolve(listing, ArrayType::Sparse, TimeRange::ALL).ok();
    let fragment = directory.and_then(|directory| directory.fragments.into_iter().next());
    let metadata = fragment.map(|fragment| format!("{}/{FRAGMENT_METADATA}", fragment.folder));
    let path = listing.schemas().into_iter().chain(metadata).find(is_encrypted)?;
    Some(storage.describe(&path))
}
