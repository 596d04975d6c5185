//! The fragments of an array, loaded on first use: one read per footer or consolidated file, and
//! one per schema.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tdb_cells::Workers;
use tdb_schema::{ArraySchema, Dimension};
use tdb_storage::Storage;
use tdb_types::Layout;
use tdb_types::names::{FRAGMENT_META_FOLDER, LEGACY_SCHEMA, SCHEMA_FOLDER};

use super::early::{AT_ONCE, Early, EarlyReads, named_schema};
use super::footers::{Footers, is_of_copy};
use super::{Inner, Place, Snapshot};
use crate::access::Access;
use crate::damage::{Damaged, Findings};
use crate::fragment::UnparsedFragment;
use crate::{ArrayError, Fragment, FragmentEntry, Result};

/// Loaded fragments, and damaged parts that were skipped.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) fragments: Vec<Fragment>,
    pub(super) damaged: Vec<Damaged>,
}

impl Loaded {
    /// Loads all fragments of an array.
    pub(super) fn of(array: &Snapshot) -> Result<Self> {
        Self::of_entries(array, &array.inner.directory.fragments)
    }

    /// Loads the fragments of these entries. Known fragments are not read again.
    pub(super) fn of_entries(array: &Snapshot, entries: &[FragmentEntry]) -> Result<Self> {
        let inner = &*array.inner;
        let known = |entry: &FragmentEntry| {
            let is_it = |known: &&Fragment| known.entry() == entry;
            let is_kept = |kept: &&Fragment| is_it(kept) && kept.is_unchanged(&*inner.place.storage);
            let kept = inner.kept.get(&entry.folder).filter(is_kept).cloned();
            kept.or_else(|| inner.known.get(&entry.folder).filter(is_it).map(Fragment::afresh))
        };
        let mut all: Vec<Option<Fragment>> = entries.iter().map(known).collect();
        if all.iter().all(Option::is_none) {
            return Self::read(array, entries);
        }
        let missing = entries.iter().zip(&all).filter(|(_, known)| known.is_none());
        let missing: Vec<FragmentEntry> = missing.map(|(entry, _)| entry.clone()).collect();
        let Self { fragments, damaged } = Self::read(array, &missing)?;
        // `fragments` does not contain skipped fragments.
        let mut read = fragments.into_iter().peekable();
        for (place, entry) in all.iter_mut().zip(entries).filter(|(place, _)| place.is_none()) {
            *place = read.next_if(|fragment| fragment.entry() == entry);
        }
        Ok(Self { fragments: all.into_iter().flatten().collect(), damaged })
    }

    fn read(array: &Snapshot, entries: &[FragmentEntry]) -> Result<Self> {
        let inner = &*array.inner;
        let Place { storage, access, .. } = &inner.place;
        let loader = Loader { storage, workers: array.workers(), access, inner };
        let EarlyReads { footers, mut damaged, early } = match inner.early.take() {
            Some(reads) => reads,
            None => EarlyReads::of(storage, array.workers(), access, &inner.sources(), entries)?,
        };
        let mut findings = Findings::new(inner.skip_damaged);
        let loaded = loader.fragments(entries, &footers, early, &mut findings);
        let found = findings.into_damaged();
        let wrong = match loaded {
            Ok(fragments) if found.is_empty() || footers.is_empty() => {
                damaged.extend(found);
                return Ok(Self { fragments, damaged });
            }
            Ok(_) => found,
            Err(error) if footers.is_empty() || !is_of_copy(&error) => return Err(error),
            Err(error) => vec![Damaged { path: FRAGMENT_META_FOLDER.to_owned(), error }],
        };
        // The consolidated copies alone may be wrong. The fragments' own files are authoritative.
        drop(footers);
        let mut findings = Findings::new(inner.skip_damaged);
        let fragments = loader.fragments(entries, &Footers::default(), Early::default(), &mut findings)?;
        let own = findings.into_damaged();
        let of_copies = wrong.into_iter().filter(|wrong| own.iter().all(|own| own.path != wrong.path));
        damaged.extend(of_copies.map(|Damaged { error, .. }| Damaged { path: FRAGMENT_META_FOLDER.to_owned(), error }));
        damaged.extend(own);
        Ok(Self { fragments, damaged })
    }
}

struct Loader<'a> {
    storage: &'a Arc<dyn Storage>,
    workers: &'a Workers,
    access: &'a Access,
    inner: &'a Inner,
}

/// Cost of parsing a footer with few fields, in bytes of work. Parsing takes 1 to 2 microseconds.
const WEIGHT_OF_A_FOOTER: u64 = 256;

/// Schemas by path. `None` if a schema cannot be read.
type Schemas = BTreeMap<String, Option<Arc<ArraySchema>>>;

impl Loader<'_> {
    /// Reads the footers, then the schemas named in the footers, and parses each footer with the
    /// schema.
    fn fragments(
        &self,
        entries: &[FragmentEntry],
        footers: &Footers,
        mut early: Early,
        findings: &mut Findings,
    ) -> Result<Vec<Fragment>> {
        let mut unparsed = Vec::new();
        // The bytes kept until the schemas arrive share the limit of one file.
        let kept = AtomicU64::new(0);
        let keep = |mut fragment: UnparsedFragment| {
            let bytes = fragment.kept();
            if kept.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) > self.access.limits.generic_tile_bytes {
                kept.fetch_sub(bytes, Ordering::Relaxed);
                fragment.let_go();
            }
            fragment
        };
        // A long list of missing fragments fails at the first chunk.
        for entries in entries.chunks(AT_ONCE) {
            let is_here =
                |entry: &FragmentEntry| early.fragments.contains_key(&entry.folder) || footers.get(entry).is_some();
            let missing = entries.iter().filter(|entry| !is_here(entry)).collect();
            let read = |entry: &&FragmentEntry| {
                Ok::<_, ArrayError>(UnparsedFragment::read(self.storage.clone(), entry, self.access).map(keep))
            };
            let mut read = self.workers.ask(self.storage.profile(), missing, read)?.into_iter();
            for entry in entries {
                let here = early.fragments.remove(&entry.folder).or_else(|| self.consolidated(footers, entry));
                if let Some(fragment) = here.or_else(|| read.next()) {
                    unparsed.extend(findings.of(&entry.folder, fragment)?);
                }
            }
        }
        let schemas = self.schemas(&unparsed, early.schemas, findings)?;
        let weight = unparsed.iter().map(|fragment| WEIGHT_OF_A_FOOTER + fragment.kept() / 8).sum();
        let parsed = self.workers.map(weight, unparsed, |fragment, _| {
            let folder = fragment.folder().to_owned();
            Ok::<_, ArrayError>((
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
        Ok(fragments)
    }

    /// Returns the schemas that fragments name.
    fn schemas(
        &self,
        unparsed: &[UnparsedFragment],
        mut early: HashMap<String, Result<Option<ArraySchema>>>,
        findings: &mut Findings,
    ) -> Result<Schemas> {
        let mut schemas = Schemas::from([(self.inner.schema_path.clone(), Some(self.inner.schema.clone()))]);
        let named: BTreeSet<String> = unparsed.iter().map(|fragment| schema_path(fragment.schema_name())).collect();
        let named: Vec<String> = named.into_iter().filter(|path| !schemas.contains_key(path)).collect();
        let missing = named.iter().filter(|path| !early.contains_key(*path)).cloned().collect();
        let read =
            |path: &String| Ok::<_, ArrayError>((path.clone(), named_schema(&**self.storage, path, self.access)));
        early.extend(self.workers.ask(self.storage.profile(), missing, read)?);
        for path in named {
            let schema = early.remove(&path).unwrap_or(Ok(None));
            let schema = schema.and_then(|schema| schema.map(|schema| self.checked(&path, schema)).transpose());
            let schema = findings.of(&path, schema)?.flatten();
            schemas.insert(path, schema);
        }
        Ok(schemas)
    }

    /// Returns a fragment with the footer from a consolidated file. Returns `None` if no file
    /// contains the footer.
    fn consolidated(&self, footers: &Footers, entry: &FragmentEntry) -> Option<Result<UnparsedFragment>> {
        let (file, footer) = footers.get(entry)?;
        Some(UnparsedFragment::consolidated(self.storage.clone(), entry, self.access, file, footer))
    }

    /// Checks a schema that a fragment names against the array's schema. All schemas of an array
    /// must agree on the positions of cells.
    fn checked(&self, path: &str, schema: ArraySchema) -> Result<Arc<ArraySchema>> {
        if let Some(what) = differs_in_space(&schema, &self.inner.schema) {
            let what = format!("{what}; only the attributes of an array can change");
            return Err(ArrayError::Corrupt { file: self.storage.describe(path), what });
        }
        Ok(Arc::new(schema))
    }
}

/// Describes a difference of two schemas that affects the positions of cells. Reading relies on
/// their agreement.
pub(super) fn differs_in_space(schema: &ArraySchema, current: &ArraySchema) -> Option<String> {
    let orders = |schema: &ArraySchema| (schema.array_type(), schema.tile_order(), schema.cell_order());
    if orders(schema) != orders(current) {
        return Some("the array type or the orders differ from the current schema".to_owned());
    }
    let (own, others) = (schema.dimensions(), current.dimensions());
    if own.len() != others.len() {
        return Some(format!("found {} dimensions, expected {} as in the current schema", own.len(), others.len()));
    }
    // Tiles do not matter with Hilbert order. Schema evolution adds an extent to dimensions without
    // one.
    let tiling = |dimension: &Dimension| (current.cell_order() != Layout::Hilbert).then(|| dimension.tiling());
    let space = |dimension: &Dimension| (dimension.kind(), dimension.domain_keys(), tiling(dimension));
    let differing = own.iter().zip(others).find(|(own, other)| space(own) != space(other))?.0;
    Some(format!("dimension {:?} differs from the current schema", differing.name()))
}

/// Returns the path of the schema that a footer names. Before format 10, footers name no schema and
/// an array has only one.
pub(super) fn schema_path(name: Option<&str>) -> String {
    match name {
        None | Some(LEGACY_SCHEMA) => LEGACY_SCHEMA.to_owned(),
        Some(name) => format!("{SCHEMA_FOLDER}/{name}"),
    }
}
