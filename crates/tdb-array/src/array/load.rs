//! Opening: one listing per folder, one read per schema, one read per footer.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tdb_schema::{ArraySchema, Dimension, SchemaError};
use tdb_storage::{Storage, StorageError};

use super::{Array, ArrayOptions, Inner};
use crate::access::Access;
use crate::directory::{COMMITS_FOLDER, FRAGMENT_METADATA, LEGACY_SCHEMA, Listing, SCHEMA_FOLDER};
use crate::fragment::UnparsedFragment;
use crate::workers::Workers;
use crate::{ArrayDirectory, ArrayError, Fragment, Result};

pub(super) fn load(options: &ArrayOptions, storage: Arc<dyn Storage>) -> Result<Array> {
    let (access, time) = (options.access.clone(), options.time());
    let workers = Workers::new(options.threads, access.limits);
    let listing = list(&*storage)?;
    let schema_path = listing.schema_at(time).ok_or_else(|| ArrayError::Corrupt {
        file: storage.describe(SCHEMA_FOLDER),
        what: "the folder of schemas is empty; without one of them nothing can be read".to_owned(),
    })?;
    // The first file that the key is tried on: if it doesn't fit, it is the wrong one.
    let schema = load_schema(&*storage, &schema_path, &access).map_err(ArrayError::blaming_the_key)?;
    let schema = Arc::new(schema);
    let directory = ArrayDirectory::resolve(&listing, schema.array_type(), time)?;
    let schemas = BTreeMap::from([(schema_path.clone(), schema.clone())]);
    let fragments = load_fragments(&storage, &directory, schemas, &schema, &workers, &access)?;
    Ok(Array {
        inner: Arc::new(Inner {
            storage,
            access,
            workers,
            time,
            schema_path,
            schema,
            directory,
            fragments,
            enumerations: std::sync::Mutex::default(),
        }),
    })
}

/// Lists the folders that say what the array consists of, and reads the small files that speak of others.
fn list(storage: &dyn Storage) -> Result<Listing> {
    let root = match storage.list("") {
        Ok(root) => root,
        Err(StorageError::NotFound { path }) => return Err(ArrayError::NotFound { path }),
        Err(error) => return Err(error.into()),
    };
    let mut listing = Listing { root, ..Listing::default() };
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
    for path in listing.wanted_files() {
        let bytes = storage.read(&path)?;
        listing.commit_files.push((path, bytes));
    }
    for folder in listing.legacy_candidates() {
        if storage.exists(&format!("{folder}/{FRAGMENT_METADATA}"))? {
            listing.legacy_fragments.insert(folder);
        }
    }
    Ok(listing)
}

fn load_schema(storage: &dyn Storage, path: &str, access: &Access) -> Result<ArraySchema> {
    let bytes = storage.read(path)?;
    let tile = access.decoder().decode_file(&bytes, None).map_err(SchemaError::from);
    tile.and_then(|tile| ArraySchema::parse_tile(&tile, None))
        .map_err(|source| ArrayError::Schema { file: storage.describe(path), source })
}

/// Reads the footers, then the schemas that they name, and parses the ones with the others.
fn load_fragments(
    storage: &Arc<dyn Storage>,
    directory: &ArrayDirectory,
    mut schemas: BTreeMap<String, Arc<ArraySchema>>,
    current: &ArraySchema,
    workers: &Workers,
    access: &Access,
) -> Result<Vec<Fragment>> {
    // Reads wait rather than compute: a few are worth a thread whatever their size.
    let weight = directory.fragments.len() as u64 * 64 * 1024;
    let entries = directory.fragments.iter().collect();
    let unparsed = workers.map(weight, entries, |entry, _| UnparsedFragment::read(storage.clone(), entry, access))?;
    let named: BTreeSet<String> = unparsed.iter().map(|fragment| schema_path(fragment.schema_name())).collect();
    for path in named {
        if let Entry::Vacant(vacant) = schemas.entry(path) {
            let schema = match load_schema(&**storage, vacant.key(), access) {
                // The fragment that names it says so below.
                Err(ArrayError::Storage(StorageError::NotFound { .. })) => continue,
                schema => schema?,
            };
            if let Some(what) = differs_in_space(&schema, current) {
                let what = format!("{what}, although an array can change in its attributes only");
                return Err(ArrayError::Corrupt { file: storage.describe(vacant.key()), what });
            }
            vacant.insert(Arc::new(schema));
        }
    }
    workers.map(weight, unparsed, |fragment, _| {
        let schema = schemas.get(&schema_path(fragment.schema_name())).cloned();
        match schema {
            Some(schema) => fragment.parse(schema),
            None => Err(fragment.without_schema()),
        }
    })
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
    let space = |dimension: &Dimension| (dimension.kind(), dimension.domain_keys(), dimension.tiling());
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
