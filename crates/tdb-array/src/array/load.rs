//! Opening: one listing per folder, one read per schema, one read per footer or per file of consolidated footers.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tdb_filters::KeyProblem;
use tdb_generic_tile::GenericTileDecoder;
use tdb_schema::{ArraySchema, Dimension, SchemaError};
use tdb_storage::{CountingStorage, Storage, StorageError};
use tdb_types::names::{COMMITS_FOLDER, FRAGMENT_METADATA, LEGACY_SCHEMA, SCHEMA_FOLDER};
use tdb_types::{ArrayType, ByteReader, Layout, Limits};

use super::damage::Findings;
use super::footers::Footers;
use super::{Array, ArrayOptions, Inner};
use crate::access::Access;
use crate::directory::{FragmentFiles, Listing};
use crate::fragment::UnparsedFragment;
use crate::workers::{WEIGHT_OF_A_READ, Workers};
use crate::{ArrayDirectory, ArrayError, Fragment, FragmentEntry, Result, TimeRange};

pub(super) fn load(options: &ArrayOptions, storage: Arc<dyn Storage>) -> Result<Array> {
    let counting = CountingStorage::new(storage);
    let storage: Arc<dyn Storage> = Arc::new(counting.clone());
    let (access, time) = (options.access.clone(), options.time());
    let workers = Workers::new(options.threads, access.limits);
    let mut findings = Findings::new(options.skip_damaged);
    let listing = list(&*storage, &workers, &access.limits, &mut findings)?;
    let schema_path = listing.schema_at(time).ok_or_else(|| ArrayError::Corrupt {
        file: storage.describe(SCHEMA_FOLDER),
        what: "the folder of schemas is empty; without one of them nothing can be read".to_owned(),
    })?;
    // The first file that the key is tried on: if it doesn't fit, it is the wrong one.
    let schema = load_schema(&*storage, &schema_path, &access).map_err(|error| {
        let needless = error.key_problem() == Some(KeyProblem::NotNeeded);
        match needless.then(|| encrypted_file(&*storage, &listing)).flatten() {
            Some(encrypted) => ArrayError::PartlyEncrypted { clear: storage.describe(&schema_path), encrypted },
            None => error.blaming_the_key(),
        }
    })?;
    let schema = Arc::new(schema);
    let resolved = ArrayDirectory::resolve_with(&listing, schema.array_type(), time, &mut findings);
    // A listing knows no more than paths below the array's folder.
    findings.locate(&*storage);
    let mut directory = resolved.map_err(|error| error.located(&*storage))?;
    let footers = Footers::read(&*storage, &listing, &directory, &access, &mut findings)?;
    let loader = Loader { storage: &storage, workers: &workers, access: &access, footers };
    let schemas = BTreeMap::from([(schema_path.clone(), schema.clone())]);
    let fragments = loader.fragments(&mut directory, schemas, &schema, &mut findings)?;
    Ok(Array {
        inner: Arc::new(Inner {
            counting,
            storage,
            access,
            workers,
            time,
            schema_path,
            schema,
            directory,
            fragments,
            damaged: findings.into_damaged(),
            enumerations: std::sync::Mutex::default(),
            metadata: std::sync::OnceLock::new(),
            deletes: std::sync::OnceLock::new(),
        }),
    })
}

/// Lists the folders that say what the array consists of, and reads the small files that speak of others.
fn list(storage: &dyn Storage, workers: &Workers, limits: &Limits, findings: &mut Findings) -> Result<Listing> {
    let root = match storage.list("") {
        Ok(root) => root,
        Err(StorageError::NotFound { path }) => return Err(ArrayError::NotFound { path }),
        Err(error) => return Err(error.into()),
    };
    let mut listing = Listing { root, ..Listing::default() };
    if let Some((name, what)) = listing.older_than_format_1() {
        return Err(ArrayError::Unsupported { file: storage.describe(name), what });
    }
    if !listing.is_array() {
        let hint = if listing.is_group() { "; it is a group" } else { "" };
        return Err(ArrayError::NotAnArray { path: storage.describe(""), hint });
    }
    let has = |folder: &str| listing.root.iter().any(|entry| entry.name == folder);
    let (has_schemas, has_commits) = (has(SCHEMA_FOLDER), has(COMMITS_FOLDER));
    if has_schemas {
        listing.schemas = storage.list(SCHEMA_FOLDER)?;
    }
    if has_commits {
        listing.commits = storage.list(COMMITS_FOLDER)?;
    }
    let mut left = limits.commit_bytes;
    for path in listing.wanted_files() {
        let bytes = findings.of(&path, storage.read_up_to(&path, left).map_err(ArrayError::from))?;
        left -= bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        listing.commit_files.extend(bytes.map(|bytes| (path, bytes)));
    }
    let folders = listing.legacy_candidates();
    let weight = folders.len() as u64 * WEIGHT_OF_A_READ;
    let files = workers.map(weight, folders.clone(), |folder, _| Ok(storage.list(&folder)?))?;
    listing.legacy_folders = folders.into_iter().zip(files).collect();
    Ok(listing)
}

impl Array {
    /// All committed fragments as they are now, whatever the time that was opened.
    pub(crate) fn fragment_files(&self) -> Result<Vec<FragmentFiles>> {
        let listing = list(&**self.storage(), self.workers(), self.limits(), &mut Findings::strict())?;
        FragmentFiles::of(&listing).map_err(|error| error.located(&**self.storage()))
    }
}

pub(crate) fn load_schema(storage: &dyn Storage, path: &str, access: &Access) -> Result<ArraySchema> {
    let bytes = access.read(storage, path)?;
    let tile = access.decoder().decode_file(&bytes, None).map_err(SchemaError::from);
    tile.and_then(|tile| ArraySchema::parse_tile(&tile, None))
        .map_err(|source| ArrayError::Schema { file: storage.describe(path), source })
}

/// A schema, or else the metadata of the first fragment, that is encrypted: then a schema that isn't is foreign, and not the
/// key needless.
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

/// What it takes to load fragments.
struct Loader<'a> {
    storage: &'a Arc<dyn Storage>,
    workers: &'a Workers,
    access: &'a Access,
    footers: Footers,
}

/// Schemas by their paths; none where one can't be had.
type Schemas = BTreeMap<String, Option<Arc<ArraySchema>>>;

/// So many fragments are read before it is seen what came of them.
const AT_ONCE: usize = 1024;

impl Loader<'_> {
    /// Reads the footers, then the schemas that they name, and parses the ones with the others.
    fn fragments(
        &self,
        directory: &mut ArrayDirectory,
        schemas: BTreeMap<String, Arc<ArraySchema>>,
        current: &ArraySchema,
        findings: &mut Findings,
    ) -> Result<Vec<Fragment>> {
        let weight = |fragments: usize| fragments as u64 * WEIGHT_OF_A_READ;
        let mut unparsed = Vec::new();
        // What is read of all files together waits for the schemas, and keeps to the limit of one of them.
        let kept = AtomicU64::new(0);
        let read = |entry| {
            let mut fragment = self.read(entry)?;
            let bytes = fragment.kept();
            if kept.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) > self.access.limits.generic_tile_bytes {
                kept.fetch_sub(bytes, Ordering::Relaxed);
                fragment.let_go();
            }
            Ok(fragment)
        };
        // A list of very many fragments that aren't there ends with the first of them, not with the last.
        for entries in directory.fragments.chunks(AT_ONCE) {
            let read = |entry, _: &mut _| Ok((entry, read(entry)));
            for (entry, fragment) in self.workers.map(weight(entries.len()), entries.iter().collect(), read)? {
                unparsed.extend(findings.of(&entry.folder, fragment)?);
            }
        }
        let mut schemas: Schemas = schemas.into_iter().map(|(path, schema)| (path, Some(schema))).collect();
        let named: BTreeSet<String> = unparsed.iter().map(|fragment| schema_path(fragment.schema_name())).collect();
        for path in named {
            if let Entry::Vacant(vacant) = schemas.entry(path) {
                let schema = self.schema(vacant.key(), current);
                let schema = findings.of(vacant.key(), schema)?.flatten();
                vacant.insert(schema);
            }
        }
        let parsed = self.workers.map(weight(unparsed.len()), unparsed, |fragment, _| {
            let folder = fragment.folder().to_owned();
            Ok((
                folder,
                match schemas.get(&schema_path(fragment.schema_name())) {
                    Some(Some(schema)) => fragment.parse(schema.clone()),
                    _ => Err(fragment.without_schema()),
                },
            ))
        })?;
        let mut fragments = Vec::with_capacity(parsed.len());
        for (folder, fragment) in parsed {
            fragments.extend(findings.of(&folder, fragment)?);
        }
        if fragments.len() < directory.fragments.len() {
            let loaded: BTreeSet<&str> = fragments.iter().map(Fragment::folder).collect();
            directory.fragments.retain(|entry| loaded.contains(entry.folder.as_str()));
        }
        Ok(fragments)
    }

    fn read(&self, entry: &FragmentEntry) -> Result<UnparsedFragment> {
        match self.footers.get(entry) {
            Some((file, footer)) => {
                UnparsedFragment::consolidated(self.storage.clone(), entry, self.access, file, footer)
            }
            None => UnparsedFragment::read(self.storage.clone(), entry, self.access),
        }
    }

    /// A schema that some fragment names; none if it isn't there, which that fragment will say.
    fn schema(&self, path: &str, current: &ArraySchema) -> Result<Option<Arc<ArraySchema>>> {
        let schema = match load_schema(&**self.storage, path, self.access) {
            Err(ArrayError::Storage(StorageError::NotFound { .. })) => return Ok(None),
            schema => schema.map_err(ArrayError::beside_the_schema)?,
        };
        if let Some(what) = differs_in_space(&schema, current) {
            let what = format!("{what}, although an array can change in its attributes only");
            return Err(ArrayError::Corrupt { file: self.storage.describe(path), what });
        }
        Ok(Some(Arc::new(schema)))
    }
}

/// In what two schemas of an array differ that decides where its cells lie; reading relies on their agreement.
fn differs_in_space(schema: &ArraySchema, current: &ArraySchema) -> Option<String> {
    let orders = |schema: &ArraySchema| (schema.array_type(), schema.tile_order(), schema.cell_order());
    if orders(schema) != orders(current) {
        return Some("array type or orders are not those of the current schema".to_owned());
    }
    let (own, others) = (schema.dimensions(), current.dimensions());
    if own.len() != others.len() {
        return Some(format!("it has {} dimensions, the current schema {}", own.len(), others.len()));
    }
    // Along the Hilbert curve tiles don't count, and evolution gives an extent to dimensions that had none.
    let tiling = |dimension: &Dimension| (current.cell_order() != Layout::Hilbert).then(|| dimension.tiling());
    let space = |dimension: &Dimension| (dimension.kind(), dimension.domain_keys(), tiling(dimension));
    let differing = own.iter().zip(others).find(|(own, other)| space(own) != space(other))?.0;
    Some(format!("dimension {:?} is not that of the current schema", differing.name()))
}

/// Where the schema lies that a footer names; before format 10 footers name none, and there was only one.
fn schema_path(name: Option<&str>) -> String {
    match name {
        None | Some(LEGACY_SCHEMA) => LEGACY_SCHEMA.to_owned(),
        Some(name) => format!("{SCHEMA_FOLDER}/{name}"),
    }
}
